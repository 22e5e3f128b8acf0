#pragma once
// What weightless networks learn from.

#include <cstddef>
#include <span>

#include "base/result.h"

namespace perfcast {

// Row-major rows x inputs, finite; a weight for each row, or none: all alike.
struct LutRows {
  std::span<const float> rows;
  size_t inputs = 0;
  std::span<const float> weights = {};
  size_t count() const { return inputs == 0 ? 0 : rows.size() / inputs; }
};

// "bad-input": no rows, or weights that don't fit them.
Status check_lut_rows(const LutRows& rows);
// "bad-input": targets, row-major rows x outputs, that don't fit the rows or aren't finite.
Status check_lut_targets(const LutRows& rows, std::span<const float> targets, size_t outputs);

}  // namespace perfcast
