#include "fleet/jobs/usage_bins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/random.h"

namespace perfcast::fleet {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

TEST(UsageBins, SpreadsWhatIsHeldOverItsBins) {
  UsageBins bins(10, 50, 4);
  bins.add(15, 45, 2);
  EXPECT_THAT(bins.means(), ElementsAre(DoubleEq(1), DoubleEq(2), DoubleEq(2), DoubleEq(1)));
  bins.add(22, 24, 10);
  EXPECT_THAT(bins.means(), ElementsAre(DoubleEq(1), DoubleEq(4), DoubleEq(2), DoubleEq(1)));
  EXPECT_DOUBLE_EQ(bins.middle_s(3), 45);
}

TEST(UsageBins, LeavesOutWhatLiesOutside) {
  UsageBins bins(0, 10, 2);
  bins.add(-5, 20, 1);
  bins.add(11, 12, 1);
  bins.add(3, 3, 1);
  bins.add(4, 2, 1);
  bins.add(0, std::nan(""), 1);
  EXPECT_THAT(bins.means(), ElementsAre(DoubleEq(1), DoubleEq(1)));
}

TEST(UsageBins, KeepsTheTotal) {
  Random random(3);
  UsageBins bins(0, 100, 37);
  double total = 0;
  for (int i = 0; i < 1000; ++i) {
    const double start = random.uniform(0, 100), end = random.uniform(start, 100), amount = random.uniform();
    bins.add(start, end, amount);
    total += (end - start) * amount;
  }
  const std::vector<double> means = bins.means();
  EXPECT_NEAR(std::accumulate(means.begin(), means.end(), 0.0) * 100 / 37, total, 1e-6);
}

}  // namespace
}  // namespace perfcast::fleet
