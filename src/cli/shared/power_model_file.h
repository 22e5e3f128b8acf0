#pragma once
// The file that `perfcast power fit` writes.

#include <string>

#include "base/result.h"
#include "power/model/power_model.h"

namespace perfcast {

Result<PowerModel> read_power_model(const std::string& path);

}  // namespace perfcast
