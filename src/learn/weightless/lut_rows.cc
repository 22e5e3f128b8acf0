#include "learn/weightless/lut_rows.h"

#include <algorithm>
#include <cmath>

namespace perfcast {

Status check_lut_rows(const LutRows& rows) {
  if (rows.count() == 0 || rows.rows.size() != rows.count() * rows.inputs)
    return Error{"bad-input", "there are no rows to learn from", "", "at least one row of numbers"};
  if (rows.weights.empty()) return {};
  float sum = 0;
  for (const float weight : rows.weights) sum += weight >= 0 && std::isfinite(weight) ? weight : -INFINITY;
  if (rows.weights.size() != rows.count() || !(sum > 0) || !std::isfinite(sum))
    return Error{"bad-input", "the rows' weights don't fit them", "", "one of 0 or more for each row, some above 0"};
  return {};
}

Status check_lut_targets(const LutRows& rows, std::span<const float> targets, size_t outputs) {
  if (outputs == 0 || targets.size() != rows.count() * outputs ||
      !std::all_of(targets.begin(), targets.end(), [](float target) { return std::isfinite(target); }))
    return Error{"bad-input", "the targets don't fit the rows", "", "finite numbers, as many for each row"};
  return {};
}

}  // namespace perfcast
