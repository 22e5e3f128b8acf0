#include "machine/ceiling/packing.h"

#include <gtest/gtest.h>

#include <vector>

namespace perfcast {
namespace {

// A value that tells where it stood.
std::vector<float> numbered(int64_t rows, int64_t columns) {
  std::vector<float> values(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  return values;
}

TEST(Packing, RowsAndColumnsArriveWhereTheRegisterBlockReadsThem) {
  for (const int64_t panel : {6, 12, 16, 32, 5}) {
    for (const int64_t side : {int64_t{1}, panel - 1, panel, panel + 1, 3 * panel + 2}) {
      for (const int64_t depth : {1, 7}) {
        const int64_t padded = round_up(side, panel);
        const int64_t stride_a = depth + 3, stride_b = side + 2;
        const auto a = numbered(side, stride_a), b = numbered(depth, stride_b);
        std::vector<float> rows(static_cast<size_t>(padded * depth), -1), columns = rows;
        pack_rows(a.data(), stride_a, side, depth, panel, rows.data());
        pack_columns(b.data(), stride_b, depth, side, panel, columns.data());
        for (int64_t i = 0; i < padded; ++i) {
          for (int64_t l = 0; l < depth; ++l) {
            const auto at = static_cast<size_t>(i / panel * panel * depth + l * panel + i % panel);
            EXPECT_EQ(rows[at], i < side ? a[static_cast<size_t>(i * stride_a + l)] : 0) << panel << ' ' << side;
            EXPECT_EQ(columns[at], i < side ? b[static_cast<size_t>(l * stride_b + i)] : 0) << panel << ' ' << side;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace perfcast
