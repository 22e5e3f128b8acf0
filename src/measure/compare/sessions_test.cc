#include "measure/compare/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace perfcast::measure {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

BenchmarkRuns benchmark(const std::string& name, std::vector<double> runs_s) {
  BenchmarkRuns made{name, {}, {}};
  made.wall.runs_s = std::move(runs_s);
  return made;
}

// `count` benchmarks of about a second in ten runs each, moved together in each session.
ResultFile session(size_t count, double between, double within, Random& random) {
  ResultFile file;
  file.tool = "hyperfine";
  for (size_t i = 0; i < count; ++i) {
    const double moved = between * random.normal();
    std::vector<double> runs_s;
    runs_s.reserve(10);
    for (int run = 0; run < 10; ++run) runs_s.push_back(std::exp(moved + within * random.normal()));
    file.benchmarks.push_back(benchmark("b" + std::to_string(i), std::move(runs_s)));
  }
  return file;
}

TEST(TrimmedMean, IsYuens) {
  // Ten values lose two at either end; what was cut counts as 3 and 8 in the deviation.
  const TrimmedMean ten = trimmed_mean({1, 2, 3, 4, 5, 6, 7, 8, 9, 1000});
  EXPECT_DOUBLE_EQ(ten.mean, 5.5);
  EXPECT_DOUBLE_EQ(ten.freedom, 5);
  // 3 3 3 4 5 6 7 8 8 8: the sum of squares about 5.5 is 42.5, times 1 / (6 * 5).
  EXPECT_NEAR(ten.squared_error, 42.5 / 30, 1e-12);
  const TrimmedMean four = trimmed_mean({1, 2, 3, 6});
  EXPECT_DOUBLE_EQ(four.mean, 3);
  EXPECT_NEAR(four.squared_error, 14.0 / 3 / 4, 1e-12);  // nothing cut: the usual one
  EXPECT_DOUBLE_EQ(trimmed_mean({7}).freedom, 0);
}

TEST(Sessions, WhereNothingChangedFewAreCalledDifferent) {
  Random random(7);
  int flagged = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    const ResultFile a = session(12, 0.02, 0.01, random), b = session(12, 0.02, 0.01, random);
    const auto compared = compare_sessions(a, b, {});
    ASSERT_TRUE(compared);
    EXPECT_TRUE(compared->is_estimated);
    flagged += compared->any(CompareVerdict::kSlower) || compared->any(CompareVerdict::kFaster) ? 1 : 0;
  }
  EXPECT_LE(flagged, kTrials / 10);  // 5% allowed
}

TEST(Sessions, OneThatChangedIsFoundAmongOthers) {
  Random random(8);
  ResultFile a = session(12, 0.01, 0.01, random), b = session(12, 0.01, 0.01, random);
  for (double& run_s : b.benchmarks[3].wall.runs_s) run_s *= 1.3;
  SessionRequest request;
  const auto compared = compare_sessions(a, b, request);
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->rows[3].verdict, CompareVerdict::kSlower);
  EXPECT_NEAR(compared->rows[3].ratio, 1.3, 0.1);
  for (size_t i = 0; i < 12; ++i) {
    if (i != 3) {
      EXPECT_NE(compared->rows[i].verdict, CompareVerdict::kSlower);
    }
  }
  request.threshold_ratio = 1;
  EXPECT_EQ(compare_sessions(a, b, request)->rows[3].verdict, CompareVerdict::kBelowThreshold);
}

TEST(Sessions, WhereAllMovedAlikeItIsNotClear) {
  Random random(9);
  const ResultFile a = session(10, 0, 0.002, random);
  ResultFile b = session(10, 0, 0.002, random);
  for (BenchmarkRuns& moved : b.benchmarks) {
    for (double& run_s : moved.wall.runs_s) run_s *= 1.1;
  }
  const auto compared = compare_sessions(a, b, {});
  ASSERT_TRUE(compared);
  EXPECT_FALSE(compared->any(CompareVerdict::kSlower));
  EXPECT_THAT(compared->notes, Contains(HasSubstr("can't tell the machine from the change")));
  // Who knows that the machine did not change may say so.
  SessionRequest sure;
  sure.between_sessions = 0;
  EXPECT_EQ(compare_sessions(a, b, sure)->rows[0].verdict, CompareVerdict::kSlower);
}

TEST(Sessions, FewBenchmarksTakeWhatIsAssumed) {
  ResultFile a, b;
  a.benchmarks = {benchmark("old", {1.0, 1.01, 0.99, 1.0})};
  b.benchmarks = {benchmark("new", {1.05, 1.06, 1.04, 1.05})};
  const auto unclear = compare_sessions(a, b, {});
  ASSERT_TRUE(unclear);
  EXPECT_FALSE(unclear->is_estimated);
  EXPECT_EQ(unclear->rows[0].verdict, CompareVerdict::kUnclear);
  EXPECT_NEAR(unclear->rows[0].ratio, 1.05, 1e-3);
  EXPECT_GT(unclear->rows[0].upper, 1.05 * std::exp(1.9 * kAssumedBetweenSessions));
  EXPECT_THAT(unclear->notes, Contains(HasSubstr("B has another benchmark: new")));
  EXPECT_THAT(unclear->notes, Contains(HasSubstr("assumed")));
  b.benchmarks[0].wall.runs_s = {1.5, 1.51, 1.49, 1.5};
  EXPECT_EQ(compare_sessions(a, b, {})->rows[0].verdict, CompareVerdict::kSlower);
}

TEST(Sessions, OneRunOfEachTellsNothing) {
  ResultFile a, b;
  a.benchmarks = {benchmark("x", {1.0})};
  b.benchmarks = {benchmark("x", {9.0})};
  const auto unclear = compare_sessions(a, b, {});
  ASSERT_TRUE(unclear);
  EXPECT_EQ(unclear->rows[0].verdict, CompareVerdict::kUnclear);
  EXPECT_TRUE(std::isinf(unclear->rows[0].upper));
}

TEST(Sessions, RunsThatResembleThoseBeforeThemAreWorthLess) {
  // The same values, in an order that alternates and in one that drifts.
  std::vector<double> drifting, alternating;
  for (int i = 0; i < 20; ++i) drifting.push_back(1 + 0.01 * i);
  for (int i = 0; i < 10; ++i) {
    alternating.push_back(drifting[static_cast<size_t>(i)]);
    alternating.push_back(drifting[static_cast<size_t>(19 - i)]);
  }
  ResultFile a, b, c;
  a.benchmarks = {benchmark("x", alternating)};
  b.benchmarks = {benchmark("x", alternating)};
  c.benchmarks = {benchmark("x", drifting)};
  SessionRequest request;
  request.between_sessions = 0;
  const auto width = [&](const ResultFile& of) {
    const auto compared = compare_sessions(a, of, request);
    return std::log(compared->rows[0].upper / compared->rows[0].lower);
  };
  EXPECT_GT(width(c), 1.5 * width(b));
}

TEST(Sessions, SaysWhatHasNoPartner) {
  ResultFile a, b;
  a.benchmarks = {benchmark("x", {1, 1}), benchmark("y", {1, 1})};
  b.benchmarks = {benchmark("y", {1, 1}), benchmark("z", {1, 1})};
  const auto compared = compare_sessions(a, b, {});
  ASSERT_TRUE(compared);
  EXPECT_THAT(compared->rows, SizeIs(1));
  EXPECT_THAT(compared->unmatched[0], ElementsAre("x"));
  EXPECT_THAT(compared->unmatched[1], ElementsAre("z"));
  SessionRequest cpu;
  cpu.time = ComparedTime::kCpu;
  EXPECT_EQ(compare_sessions(a, b, cpu).error().code, "no-results");
  b.benchmarks = {benchmark("z", {1, 1}), benchmark("w", {1, 1})};
  EXPECT_EQ(compare_sessions(a, b, {}).error().code, "no-results");
}

}  // namespace
}  // namespace perfcast::measure
