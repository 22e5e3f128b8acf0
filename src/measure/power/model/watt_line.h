#pragma once
// Forms that are lines in watts, for each group its own: idle power and costs of at least 0 (a non-negative lasso), and
// plain least squares.

#include <memory>
#include <string>

#include "measure/power/model/power_form.h"

namespace perfcast::measure {

// kNonnegative or kLeastSquares.
std::unique_ptr<PowerForm> make_watt_line(PowerFormKind kind, const PowerFormOptions& options);
Result<std::unique_ptr<PowerForm>> watt_line_from_json(PowerFormKind kind, const Json& json, const std::string& path,
                                                       Eigen::Index inputs, size_t groups);

}  // namespace perfcast::measure
