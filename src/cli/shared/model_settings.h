#pragma once
// Settings of a model's training from a file: shared by `train` and `evaluate`.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "cli/command.h"
#include "program/model/predictor.h"

namespace perfcast::cli {

// Reads the file, holds it against the models that take such settings and gives it with its "schema" filled in, for
// FitOptions::settings; null where `path` is empty. A "seed" in it becomes options.seed where --seed was not given.
// "bad-usage": none of the models takes settings of its schema. "bad-config": an unknown key or a value that can't be.
Result<program::ModelSettings> read_model_settings(const std::string& path, const std::vector<std::string>& models,
                                                   CommonOptions& options);

// The model's defaults as JSON. "bad-usage" where it has no settings.
Result<Json> default_model_settings(const std::string& model);

}  // namespace perfcast::cli
