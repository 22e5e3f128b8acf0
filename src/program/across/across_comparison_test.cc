#include "program/across/across_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "program/across/across_report.h"

namespace perfcast::program {
namespace {

using measure::BenchmarkRuns;
using measure::CompareVerdict;
using measure::ResultFile;
using testing::ElementsAre;
using testing::HasSubstr;

ResultFile file_of(const std::vector<std::pair<std::string, double>>& times_s) {
  ResultFile file;
  file.tool = "hyperfine";
  file.path = "r.json";
  for (const auto& [name, time_s] : times_s) {
    BenchmarkRuns benchmark{name, {}, {}};
    benchmark.wall.runs_s = {time_s, time_s, time_s};
    file.benchmarks.push_back(benchmark);
  }
  return file;
}

// B's machine takes `ratio` times as long; standard deviations of programs and of a server.
MachineFactor factor_of(double ratio, double programs, double server) {
  MachineFactor factor;
  factor.machines[0].cpu = "X";
  factor.machines[1].cpu = "Y";
  factor.machines[1].platform = 1;
  for (NamedMachine& machine : factor.machines) machine.server_variance = server * server;
  factor.log_ratio = std::log(ratio);
  factor.program_variance = programs * programs;
  factor.basis = "application";
  factor.families = 9;
  return factor;
}

AcrossRequest one(double b_s, double ratio = 1.5, double programs = 0.12, double server = 0.05) {
  AcrossRequest request;
  request.a = file_of({{"x", 1}});
  request.b = file_of({{"x", b_s}});
  request.factor = factor_of(ratio, programs, server);
  return request;
}

TEST(AcrossComparison, WhatTheMachinesExplainIsNoChange) {
  const auto result = compare_across(one(1.6));
  ASSERT_TRUE(result) << to_text(result.error());
  EXPECT_EQ(result->overall(), CompareVerdict::kUnclear);
  const double deviation = std::sqrt(0.12 * 0.12 + 2 * 0.05 * 0.05);
  EXPECT_NEAR(result->deviation_log, deviation, 1e-12);
  EXPECT_NEAR(result->measured_ratio, 1.6, 1e-9);
  EXPECT_NEAR(result->expected_ratio, 1.5, 1e-9);
  EXPECT_NEAR(result->expected_upper, 1.5 * std::exp(1.95996 * deviation), 1e-4);
  EXPECT_NEAR(result->ratio, 1.6 / 1.5, 1e-9);
  EXPECT_NEAR(result->lower, 1.6 / 1.5 * std::exp(-1.95996 * deviation), 1e-4);
}

TEST(AcrossComparison, WhatIsLeftBeyondTheIntervalIsAChange) {
  EXPECT_EQ(compare_across(one(3))->overall(), CompareVerdict::kSlower);
  EXPECT_EQ(compare_across(one(0.9))->overall(), CompareVerdict::kFaster);
  AcrossRequest allowed = one(1.55);
  allowed.session.threshold_ratio = 0.5;
  EXPECT_EQ(compare_across(allowed)->overall(), CompareVerdict::kNoDifference);
}

TEST(AcrossComparison, OneRunOfEachIsEnough) {
  AcrossRequest request = one(3);
  request.a.benchmarks[0].wall.runs_s = {1};
  request.b.benchmarks[0].wall.runs_s = {3};
  EXPECT_EQ(compare_across(request)->overall(), CompareVerdict::kSlower);
}

TEST(AcrossComparison, OneOfManyThatStandsOutIsFoundWhateverTheFactor) {
  AcrossRequest request;
  std::vector<std::pair<std::string, double>> a, b;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "b" + std::to_string(i);
    a.emplace_back(name, 1);
    b.emplace_back(name, 1.7 * (1 + 0.004 * (i % 7)) * (i == 5 ? 1.5 : 1));
  }
  request.a = file_of(a);
  request.b = file_of(b);
  request.factor = factor_of(1.5, 0.3, 0.05);
  const auto result = compare_across(request);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, CompareVerdict::kUnclear);
  ASSERT_EQ(result->rows.size(), 40U);
  for (size_t i = 0; i < 40; ++i)
    EXPECT_EQ(result->rows[i].verdict == CompareVerdict::kSlower, i == 5) << i << ' ' << result->rows[i].ratio;
  EXPECT_NEAR(result->rows[5].ratio, 1.5, 0.03);
  EXPECT_EQ(result->overall(), CompareVerdict::kSlower);
}

// One of five: by itself it would widen what it is held against.
TEST(AcrossComparison, OneOfFewThatStandsOutWidensNoIntervalOfItsOwn) {
  AcrossRequest request;
  request.a = file_of({{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}, {"e", 5}});
  request.b = file_of({{"a", 1.52}, {"b", 2.98}, {"c", 4.5}, {"d", 6.03}, {"e", 7.47}});
  request.factor = factor_of(1.5, 0.12, 0.05);
  const auto steady = compare_across(request);
  ASSERT_TRUE(steady);
  for (const AcrossRow& row : steady->rows) EXPECT_EQ(row.verdict, CompareVerdict::kUnclear) << row.name;
  request.b.benchmarks[2].wall.runs_s = {9, 9, 9};
  const auto result = compare_across(request);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->rows.size(), 5U);
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(result->rows[i].verdict == CompareVerdict::kSlower, i == 2) << result->rows[i].lower;
  EXPECT_NEAR(result->rows[2].ratio, 2, 0.01);
  EXPECT_NEAR(result->rows[2].upper / result->rows[2].lower, steady->rows[2].upper / steady->rows[2].lower, 1e-9);
}

TEST(AcrossComparison, AllTogetherMayChange) {
  AcrossRequest request;
  request.a = file_of({{"a", 1}, {"b", 2}, {"c", 3}});
  request.b = file_of({{"a", 3}, {"b", 6.1}, {"c", 8.9}});
  request.factor = factor_of(1.5, 0.12, 0.05);
  const auto result = compare_across(request);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, CompareVerdict::kSlower);
  EXPECT_NEAR(result->measured_ratio, 3, 1e-9);
  for (const AcrossRow& row : result->rows) EXPECT_EQ(row.verdict, CompareVerdict::kUnclear) << row.name;
}

TEST(AcrossComparison, AnEarlierResultLeavesTheNoiseOfServers) {
  AcrossRequest request = one(2.4, 1.5, 0.3, 0.03);
  EXPECT_EQ(compare_across(request)->overall(), CompareVerdict::kUnclear);
  EarlierResult earlier{file_of({{"x", 2}}), request.factor.machines[1]};
  request.earlier = {earlier};
  const auto result = compare_across(request);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->overall(), CompareVerdict::kSlower);
  const double by_a = 0.3 * 0.3 + 0.03 * 0.03, by_earlier = 0.03 * 0.03;
  const double weight = by_a / (by_a + by_earlier);
  EXPECT_NEAR(std::log(result->expected_ratio), weight * std::log(2) + (1 - weight) * std::log(1.5), 1e-9);
  EXPECT_NEAR(result->deviation_log, std::sqrt(0.03 * 0.03 + by_a * by_earlier / (by_a + by_earlier)), 1e-12);
  request.earlier[0].machine.platform = 0;
  EXPECT_EQ(compare_across(request).error().code, "bad-usage");
  request.earlier[0] = {file_of({{"y", 2}, {"z", 2}}), request.factor.machines[1]};
  EXPECT_EQ(compare_across(request).error().code, "no-results");
}

TEST(AcrossComparison, SeveralThreadsAreLeftOut) {
  AcrossRequest request = one(3);
  request.b.benchmarks[0].busy_cpus = 4;
  const auto none = compare_across(request);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("keep several CPUs busy: x"));
  request.a = file_of({{"x", 1}, {"y", 1}, {"z", 1}});
  request.b = file_of({{"x", 1}, {"y", 1}, {"w", 1}});
  request.a.benchmarks[0].busy_cpus = 4;
  const auto result = compare_across(request);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->rows.size(), 1U);
  EXPECT_EQ(result->rows[0].name, "y");
  EXPECT_THAT(result->unmatched[0], ElementsAre("z"));
  EXPECT_THAT(result->unmatched[1], ElementsAre("w"));
}

TEST(AcrossComparison, IsToldInTextAndJson) {
  const auto result = compare_across(one(3));
  ASSERT_TRUE(result);
  const std::string text = across_text(*result, {"old.json", "new.json"});
  EXPECT_THAT(text, HasSubstr("A: old.json on X\nB: new.json on Y\n\nB is slower: B takes 3.00 times as long as A; "));
  EXPECT_THAT(text, HasSubstr("9 families of the kind 'application'"));
  const Json json = across_json(*result, {"old.json", "new.json"});
  EXPECT_EQ(json["schema"], "perfcast.across/1");
  EXPECT_EQ(json["verdict"], "slower");
  EXPECT_EQ(json["a"]["cpu"], "X");
  EXPECT_NEAR(json["expected"]["ratio"].get<double>(), 1.5, 1e-9);
}

}  // namespace
}  // namespace perfcast::program
