#include "studies/watch/nab.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::measure::watch_study {
namespace {

// 1,000 rows; windows of 100 rows at 400 and 700.
NabFile file() {
  NabFile result;
  for (size_t r = 0; r < 1000; ++r) result.stream.time_s.push_back(300.0 * static_cast<double>(r));
  result.windows = {{400, 499}, {700, 799}};
  return result;
}

double sigmoid(double x) { return 2 / (1 + std::exp(5 * x)) - 1; }

TEST(NabScore, IsZeroWithoutAlarmsAndHundredAtTheFirstRows) {
  EXPECT_DOUBLE_EQ(nab_counts(file(), {}).score(), 0);
  EXPECT_DOUBLE_EQ(nab_counts(file(), {400, 700}).score(), 100);
  EXPECT_EQ(nab_counts(file(), {400, 700}).found, 2u);
}

TEST(NabScore, CountsTheEarliestAlarmOfAWindow) {
  const double late = sigmoid(-0.5) / sigmoid(-1);
  EXPECT_DOUBLE_EQ(nab_counts(file(), {450, 460, 499}).sum, late - 1);
  EXPECT_EQ(nab_counts(file(), {450, 460, 499}).false_alarms, 0u);
  EXPECT_DOUBLE_EQ(nab_counts(file(), {499}).sum, sigmoid(-0.01) / sigmoid(-1) - 1);
}

TEST(NabScore, CountsFalseAlarmsByTheirDistance) {
  EXPECT_DOUBLE_EQ(nab_counts(file(), {200}).sum, -2 - 0.11);                 // before any window
  EXPECT_DOUBLE_EQ(nab_counts(file(), {509}).sum, -2 + 0.11 * sigmoid(0.1));  // soon behind one
  EXPECT_DOUBLE_EQ(nab_counts(file(), {149}).sum, -2);                        // the first 15% are for learning
  EXPECT_EQ(nab_counts(file(), {149, 200, 509}).false_alarms, 2u);
}

}  // namespace
}  // namespace perfcast::measure::watch_study
