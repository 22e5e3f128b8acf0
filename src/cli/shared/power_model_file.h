#pragma once
// The file that `perfcast power fit` writes.

#include <string>

#include "base/result.h"
#include "measure/power/model/power_model.h"

namespace perfcast::cli {

Result<measure::PowerModel> read_power_model(const std::string& path);

}  // namespace perfcast::cli
