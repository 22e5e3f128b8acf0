#include "measure/watch/season.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace perfcast::measure {
namespace {

// Two columns, of which one follows a wave of so many rows.
std::vector<float> waves(size_t rows, double period, double noise) {
  Random random(3);
  std::vector<float> z;
  for (size_t r = 0; r < rows; ++r) {
    const double wave = std::sin(2 * 3.14159265358979 * static_cast<double>(r) / period);
    z.push_back(static_cast<float>(wave + noise * random.normal()));
    z.push_back(static_cast<float>(0.5 * wave + noise * random.normal()));
  }
  return z;
}

TEST(Season, IsFoundToHalfARow) {
  EXPECT_NEAR(find_season(waves(1000, 130, 0.1), 2, 60), 130 * 60, 30);
  EXPECT_NEAR(find_season(waves(7000, 1300, 0.1), 2, 2), 2600, 4);
}

TEST(Season, IsADayWhereNothingRecurs) {
  EXPECT_EQ(find_season(waves(1000, 1e9, 1), 2, 60), kDay_s);
  EXPECT_EQ(find_season(waves(100, 20, 0.1), 2, 60), kDay_s);  // too few rows to say
}

TEST(Season, IsADayWhereThatIsAMultiple) { EXPECT_EQ(find_season(waves(1000, 120, 0.1), 2, 60), kDay_s); }

}  // namespace
}  // namespace perfcast::measure
