#include "base/process/duration.h"

#include <array>
#include <utility>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast {

Result<double> parse_duration_s(std::string_view text, const std::string& where) {
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}}};
  std::string_view digits = text;
  double unit_s = 1;
  for (const auto& [name, seconds] : kUnits) {
    if (!text.ends_with(name)) continue;
    digits = text.substr(0, text.size() - name.size());
    unit_s = seconds;
    break;
  }
  const auto value = parse_number(digits);
  if (!value || *value <= 0) {
    return usage_error("bad-usage", "'" + printable(text) + "' is no time", where,
                       "such as 60s, 2m, 500ms, or 1.5 for seconds");
  }
  return *value * unit_s;
}

}  // namespace perfcast
