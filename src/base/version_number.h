#pragma once
// Versions of programs, in order.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast {

// "0.27.1" -> {0, 27, 1}, which std::vector's < compares; what isn't a number counts as 0.
inline std::vector<int64_t> version_parts(std::string_view version) {
  std::vector<int64_t> parts;
  for (const std::string& part : split(version, '.')) {
    const double number = parse_number(part).value_or(0);
    parts.push_back(number > -1e15 && number < 1e15 ? static_cast<int64_t>(number) : 0);
  }
  return parts;
}

}  // namespace perfcast
