#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast {

// "60s", "2m", "1h", "500ms", "100us", "50ns", or seconds ("1.5"), to seconds; above zero. `where` names the option in
// the error ("bad-usage").
Result<double> parse_duration_s(std::string_view text, const std::string& where);

}  // namespace perfcast
