#include "fleet/compare/error_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fleet/testing/small_sweep.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::IsNan;
using testing::SizeIs;

TEST(ErrorSweep, BreaksEvenBetweenItsPoints) {
  const std::vector<BreakEven> makespan = break_evens(small_sweep(), SweepMetric::kMakespan);
  ASSERT_THAT(makespan, SizeIs(2));
  EXPECT_EQ(makespan[0].policy, "mct");
  EXPECT_EQ(makespan[0].baseline, "fcfs");
  EXPECT_EQ(makespan[0].verdict, BreakEven::Verdict::kCrosses);
  EXPECT_DOUBLE_EQ(makespan[0].error_ratio, 0.5 + 0.5 * 20 / 80);
  EXPECT_EQ(makespan[1].verdict, BreakEven::Verdict::kNeverPays);  // at error 0 it is worse, whatever comes later
  EXPECT_THAT(makespan[1].error_ratio, IsNan());
  const std::vector<BreakEven> completion = break_evens(small_sweep(), SweepMetric::kMeanCompletion);
  EXPECT_EQ(completion[0].baseline, "random");
  EXPECT_EQ(completion[0].verdict, BreakEven::Verdict::kAlwaysPays);
  EXPECT_THAT(completion[0].error_ratio, IsNan());
  EXPECT_EQ(completion[1].verdict, BreakEven::Verdict::kNeverPays);
}

TEST(ErrorSweep, TouchingIsNoGain) {
  ErrorSweep sweep;
  sweep.forecast_free = {"fcfs"};
  sweep.points = {{0, "fcfs", 1, 10, 1}, {0, "mct", 1, 5, 1}, {1, "mct", 1, 10, 1}};
  const BreakEven even = break_evens(sweep, SweepMetric::kMakespan)[0];  // the baseline was run once only
  EXPECT_EQ(even.verdict, BreakEven::Verdict::kCrosses);
  EXPECT_DOUBLE_EQ(even.error_ratio, 1);
  EXPECT_EQ(break_evens(sweep, SweepMetric::kMeanCompletion)[0].verdict, BreakEven::Verdict::kNeverPays);
}

TEST(ErrorSweep, TakesMediansOverSeedsAndSkipsWhatIsAbsent) {
  ErrorSweep sweep;
  sweep.points = {
      {0, "mct", 1, 10, 1}, {0, "mct", 2, 30, 1}, {0, "mct", 3, 20, kUnknown}, {0.2, "mct", 1, 7, kUnknown}};
  const std::vector<SweepLine> lines = sweep_lines(sweep);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0].error_ratio, ElementsAre(0, 0.2));
  EXPECT_THAT(lines[0].makespan_s, ElementsAre(20, 7));
  EXPECT_DOUBLE_EQ(lines[0].mean_completion_s[0], 1);
  EXPECT_THAT(lines[0].mean_completion_s[1], IsNan());
  EXPECT_EQ(break_evens(sweep, SweepMetric::kMakespan)[0].verdict, BreakEven::Verdict::kNothingToCompare);
}

}  // namespace
}  // namespace perfcast::fleet
