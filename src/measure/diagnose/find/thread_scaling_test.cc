#include "measure/diagnose/find/thread_scaling.h"

#include <gtest/gtest.h>

namespace perfcast::measure {
namespace {

TEST(SerialShare, IsExactWhereTheLawHolds) {
  std::vector<std::pair<int, double>> runs;
  for (const int threads : {1, 2, 4, 8}) runs.emplace_back(threads, 10 * (0.2 + 0.8 / threads));
  const auto share = fit_serial_share(runs);
  ASSERT_TRUE(share);
  EXPECT_NEAR(share->serial_ratio, 0.2, 1e-12);
  EXPECT_NEAR(share->one_thread_s, 10, 1e-12);
  EXPECT_NEAR(share->lower, 0.2, 1e-9);
  EXPECT_NEAR(share->upper, 0.2, 1e-9);
}

TEST(SerialShare, HoldsTheTruthInItsInterval) {
  // 3% more and less in turns.
  std::vector<std::pair<int, double>> runs;
  int i = 0;
  for (const int threads : {1, 2, 4, 1, 2, 4, 1, 2, 4})
    runs.emplace_back(threads, 10 * (0.3 + 0.7 / threads) * (i++ % 2 == 0 ? 1.03 : 0.97));
  const auto share = fit_serial_share(runs);
  ASSERT_TRUE(share);
  EXPECT_NEAR(share->serial_ratio, 0.3, 0.05);
  EXPECT_LT(share->lower, 0.3);
  EXPECT_GT(share->upper, 0.3);
  EXPECT_GT(share->upper - share->lower, 0.01);
}

TEST(SerialShare, NeedsSeveralNumbersAndRuns) {
  EXPECT_FALSE(fit_serial_share({}));
  EXPECT_FALSE(fit_serial_share({{1, 2.0}, {2, 1.0}}));
  EXPECT_FALSE(fit_serial_share({{2, 2.0}, {2, 1.0}, {2, 1.5}}));
  EXPECT_FALSE(fit_serial_share({{1, 2.0}, {2, 0.0}, {4, 1.5}}));
}

TEST(SerialShare, MayLeaveTheLawsRange) {
  // More threads take longer.
  const auto slower = fit_serial_share({{1, 1.0}, {2, 1.5}, {4, 1.75}});
  ASSERT_TRUE(slower);
  EXPECT_NEAR(slower->serial_ratio, 2, 1e-9);
}

TEST(ThreadsPlace, IsFilledInEveryWord) {
  EXPECT_FALSE(has_threads_placeholder({"prog", "-t", "4"}));
  EXPECT_TRUE(has_threads_placeholder({"prog", "-t{threads}"}));
  EXPECT_EQ(with_threads({"prog", "-t{threads}", "{threads}x{threads}"}, 12),
            (std::vector<std::string>{"prog", "-t12", "12x12"}));
}

TEST(ThreadCurve, NamesItsFastest) {
  ThreadCurve curve;
  EXPECT_EQ(curve.fastest(), nullptr);
  curve.points.resize(3);
  curve.points[0].median_wall_s = 2;
  curve.points[1].median_wall_s = 1;
  curve.points[2].median_wall_s = 1.5;
  EXPECT_EQ(curve.fastest(), &curve.points[1]);
}

}  // namespace
}  // namespace perfcast::measure
