#include "cli/shared/model_settings.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/shared/named_file.h"

namespace perfcast::cli {
namespace {

std::string families_with_settings() {
  std::vector<std::string> names;
  for (const std::string& family : program::predictor_families()) {
    const auto predictor = program::make_predictor(family);
    if (predictor && (*predictor)->settings().is_object()) names.push_back(family);
  }
  return join(names, ", ");
}

}  // namespace

Result<program::ModelSettings> read_model_settings(const std::string& path, const std::vector<std::string>& models,
                                                   CommonOptions& options) {
  if (path.empty()) return program::ModelSettings();
  if (const Status there = check_named_file("--config", path); !there) return there.error();
  const auto text = read_file(path, size_t{1} << 20);
  if (!text) return text.error();
  auto settings = parse_json(*text, path);
  if (!settings) return settings.error();
  if (!settings->is_object()) {
    return Error{"bad-config", "the settings are no JSON object", path, "what perfcast train --print-config prints"};
  }
  bool taken = false;
  for (const std::string& model : models) {
    const auto predictor = program::make_predictor(model);
    if (!predictor) return predictor.error();
    const Json own = (*predictor)->settings();
    if (!own.is_object()) continue;
    if (!settings->contains("schema")) (*settings)["schema"] = own["schema"];
    if ((*settings)["schema"] != own["schema"]) continue;
    if (const Status status = (*predictor)->configure(*settings, path); !status) return status.error();
    taken = true;
    if (settings->contains("seed") && !options.seed_given) options.seed = (*predictor)->settings()["seed"];
  }
  if (!taken) {
    const bool other = settings->contains("schema");
    return usage_error("bad-usage",
                       "none of the models takes the settings: " + join(models, ", ") +
                           (other ? " with schema " + (*settings)["schema"].dump() : ""),
                       "--config",
                       "one of " + families_with_settings() + "; see perfcast train --print-config --model NAME");
  }
  return std::make_shared<const Json>(std::move(*settings));
}

Result<Json> default_model_settings(const std::string& model) {
  const auto predictor = program::make_predictor(model);
  if (!predictor) return usage_error("bad-usage", predictor.error().message, "--model", predictor.error().expected);
  Json settings = (*predictor)->settings();
  if (settings.is_object()) return settings;
  return usage_error("bad-usage", "the model '" + model + "' has no settings", "--model",
                     "one of " + families_with_settings());
}

}  // namespace perfcast::cli
