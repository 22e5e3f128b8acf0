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

// A slowdown of 12% beside five benchmarks that are steady: those say how far the sessions differ.
TEST(Sessions, AFewSteadyOthersTell) {
  ResultFile a, b;
  const double moved[] = {1.01, 0.99, 1.12, 1.0, 1.012, 0.995};
  for (size_t i = 0; i < 6; ++i) {
    const std::string name = "b" + std::to_string(i);
    const double base_s = 1 + static_cast<double>(i);
    a.benchmarks.push_back(benchmark(name, {base_s, 1.004 * base_s, 0.996 * base_s, 1.002 * base_s, 0.998 * base_s}));
    b.benchmarks.push_back(a.benchmarks.back());
    for (double& run_s : b.benchmarks.back().wall.runs_s) run_s *= moved[i];
  }
  const auto compared = compare_sessions(a, b, {});
  ASSERT_TRUE(compared);
  EXPECT_TRUE(compared->is_estimated);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(compared->rows[i].verdict == CompareVerdict::kSlower, i == 2) << compared->rows[i].lower;
  EXPECT_THAT(compared->notes, Contains(HasSubstr("--between-sessions")));
  // Fewer than three others are too few: what is assumed hides it, and the note says what mends that.
  a.benchmarks.resize(3);
  b.benchmarks.resize(3);
  const auto few = compare_sessions(a, b, {});
  ASSERT_TRUE(few);
  EXPECT_FALSE(few->is_estimated);
  EXPECT_EQ(few->rows[2].verdict, CompareVerdict::kUnclear);
  EXPECT_THAT(few->notes, Contains(HasSubstr("give --between-sessions 1%")));
}

TEST(Sessions, AFewThatMoveFarAreRarelyCalledDifferent) {
  Random random(11);
  int flagged = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    const size_t n = 4 + static_cast<size_t>(trial) % 4;
    const ResultFile a = session(n, 0.05, 0.01, random), b = session(n, 0.05, 0.01, random);
    const auto compared = compare_sessions(a, b, {});
    ASSERT_TRUE(compared);
    flagged += compared->any(CompareVerdict::kSlower) || compared->any(CompareVerdict::kFaster) ? 1 : 0;
  }
  EXPECT_LE(flagged, kTrials / 20);
}

TEST(SpreadOfOthers, OfFewIsTheirMeanSquareWithoutOutliers) {
  EXPECT_NEAR(spread_of_others({0.01, 0.01, 0.01}).deviation, 0.01, 1e-12);
  EXPECT_NEAR(spread_of_others({0.01, 0.01, 0.01}).values, 1.8, 1e-12);
  // One that stands out of four others is left out, and one that doesn't is not.
  EXPECT_NEAR(spread_of_others({0.01, 0.01, 0.01, 0.01, 1}).deviation, 0.01, 1e-12);
  EXPECT_NEAR(spread_of_others({0.01, 0.01, 0.01, 0.05}).deviation, std::sqrt((3 * 0.01 * 0.01 + 0.05 * 0.05) / 4),
              1e-12);
  const std::vector<double> many(9, 0.01);
  EXPECT_DOUBLE_EQ(spread_of_others(many).deviation, spread_of_most(many).deviation);
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
