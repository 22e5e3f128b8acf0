#include "fleet/compare/policy_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/testing/small_world.h"
#include "fleet/traces/job_mix.h"

namespace perfcast::fleet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// Half of them at home on A, half on B.
ProgramMix mixed_programs() {
  ProgramMix mix;
  mix.platforms = {"A", "B"};
  mix.programs.resize(20);
  for (size_t i = 0; i < mix.programs.size(); ++i) {
    MixProgram& program = mix.programs[i];
    program.name = "p" + std::to_string(i);
    program.time_s = i % 2 == 0 ? std::vector<double>{10, 30} : std::vector<double>{30, 10};
    program.forecast_s = program.time_s;
  }
  return mix;
}

WorkloadSource stream() {
  return [](uint64_t seed) {
    MixOptions options;
    options.jobs = 400;
    options.arrivals.rate_per_s = 0.25;
    options.seed = seed;
    return draw_jobs(mixed_programs(), options);
  };
}

const Cluster kCluster{{nodes("A", 2, 1), nodes("B", 2, 1)}, ""};

std::vector<std::string> names_of(const ScheduleReport& report) {
  std::vector<std::string> names;
  for (const PolicyRow& row : policy_rows(report)) names.push_back(row.policy);
  return names;
}

TEST(PolicyComparison, RunsWhatWasNamedForEverySeed) {
  ComparisonOptions options;
  options.policies = {Policy::kMinimumCompletion, Policy::kRandom, Policy::kMaxMinAware, Policy::kMinimumCompletion};
  options.seeds = 3;
  const auto report = compare_policies(kCluster, stream(), options);
  ASSERT_TRUE(report) << to_text(report.error());
  EXPECT_THAT(names_of(*report), ElementsAre("mct", "random", "max-min-aware"));
  EXPECT_THAT(seeds_of(*report), ElementsAre(1, 2, 3));
  EXPECT_EQ(report->runs.size(), 9u);
  EXPECT_EQ(report->workload.size(), 400u);
  for (const PolicyRun& run : report->runs) {
    EXPECT_EQ(run.summary.done, 400) << run.summary.policy;
    EXPECT_EQ(run.outcome.jobs.empty(), run.seed != 1) << run.summary.policy;
  }
  // Exact forecasts: mct is the oracle.
  options.policies = {Policy::kMinimumCompletion, Policy::kOracle};
  const auto exact = compare_policies(kCluster, stream(), options);
  ASSERT_TRUE(exact);
  EXPECT_DOUBLE_EQ(policy_rows(*exact)[0].makespan_to_oracle, 1);
  EXPECT_DOUBLE_EQ(policy_rows(*exact)[0].completion_to_oracle, 1);
}

TEST(PolicyComparison, ThreadsChangeNothing) {
  ComparisonOptions options;
  options.seeds = 2;
  const auto one = compare_policies(kCluster, stream(), options);
  options.threads = 4;
  const auto four = compare_policies(kCluster, stream(), options);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(one->notes, four->notes);
  ASSERT_EQ(one->runs.size(), four->runs.size());
  for (size_t i = 0; i < one->runs.size(); ++i) {
    const ScheduleSummary &a = one->runs[i].summary, &b = four->runs[i].summary;
    EXPECT_EQ(a.policy, b.policy);
    for (const SummaryField& field : summary_fields()) {
      EXPECT_THAT(b.*field.value, testing::NanSensitiveDoubleEq(a.*field.value)) << a.policy << " " << field.name;
    }
  }
}

TEST(PolicyComparison, WhatLacksAFigureIsLeftOutUnlessNamed) {
  const auto report = compare_policies(kCluster, stream(), {});
  ASSERT_TRUE(report);
  const auto names = names_of(*report);
  EXPECT_THAT(names, Contains("mct"));
  EXPECT_THAT(names, testing::Not(Contains("mct-energy")));
  EXPECT_THAT(report->notes, Contains(HasSubstr("mct-energy left out")));
  EXPECT_THAT(report->notes, Contains(HasSubstr("mct-safe left out")));
  ComparisonOptions named;
  named.policies = {Policy::kRandom, Policy::kMinimumCompletionEnergy};
  const auto refused = compare_policies(kCluster, stream(), named);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "no-power");
  EXPECT_THAT(refused.error().message, HasSubstr("mct-energy"));
}

TEST(PolicyComparison, BackfillingByForecastsIsNotForecastFree) {
  ComparisonOptions options;
  options.policies = {Policy::kFcfs, Policy::kEasy, Policy::kFastestFirst, Policy::kEasyForecast};
  const auto without_limits = sweep_errors(kCluster, stream(), options, {0, 1});
  ASSERT_TRUE(without_limits) << to_text(without_limits.error());
  EXPECT_THAT(without_limits->forecast_free, ElementsAre("fcfs", "fastest-first"));
  const WorkloadSource limited = [](uint64_t seed) {
    auto workload = stream()(seed);
    for (JobRequest& job : workload->jobs) job.limit_s = 100;
    return workload;
  };
  const auto with_limits = sweep_errors(kCluster, limited, options, {0, 1});
  ASSERT_TRUE(with_limits);
  EXPECT_THAT(with_limits->forecast_free, ElementsAre("fcfs", "easy", "fastest-first"));
}

TEST(PolicyComparison, SaysWhatBarsAPlatformAndWhatRoundsCost) {
  const WorkloadSource gaps = [](uint64_t seed) {
    auto workload = stream()(seed);
    for (size_t job = 0; job < 7; ++job) workload->forecast_s[job * 2] = kUnknown;
    return workload;
  };
  const auto report = compare_policies(kCluster, gaps, {});
  ASSERT_TRUE(report);
  EXPECT_THAT(report->notes, Contains(HasSubstr("7 of 400 jobs have no forecast")));
  EXPECT_THAT(report->notes, Contains(HasSubstr("a round of 360 s is longer than a job takes on average (10 s)")));
  ComparisonOptions plain;
  plain.policies = {Policy::kFcfs};
  EXPECT_THAT(compare_policies(kCluster, stream(), plain)->notes, testing::IsEmpty());
}

TEST(PolicyComparison, LimitsKillUnderEveryPolicyOrUnderNone) {
  const WorkloadSource limited = [](uint64_t seed) {
    auto workload = stream()(seed);
    for (JobRequest& job : workload->jobs) job.limit_s = 5;
    return workload;
  };
  for (const bool kill : {true, false}) {
    ComparisonOptions options;
    options.simulation.kill_at_limit = kill;
    const auto report = compare_policies(kCluster, limited, options);
    ASSERT_TRUE(report);
    for (const PolicyRun& run : report->runs) EXPECT_EQ(run.summary.killed, kill ? 400 : 0) << run.summary.policy;
  }
}

TEST(PolicyComparison, WithoutErrorMctIsTheOracleAndErrorsCost) {
  ComparisonOptions options;
  options.policies = {Policy::kFcfs, Policy::kMinimumCompletion, Policy::kOracle};
  options.seeds = 3;
  const auto sweep = sweep_errors(kCluster, stream(), options, {0, 3});
  ASSERT_TRUE(sweep) << to_text(sweep.error());
  EXPECT_THAT(sweep->forecast_free, ElementsAre("fcfs"));
  EXPECT_EQ(sweep->points.size(), 3u * 3 * 2);
  double exact = 0;
  double wrong = 0;
  double oracle = 0;
  for (const SweepPoint& point : sweep->points) {
    if (point.policy == "mct") (point.error_ratio == 0 ? exact : wrong) += point.mean_completion_s;
    if (point.policy == "oracle" && point.error_ratio == 0) oracle += point.mean_completion_s;
  }
  EXPECT_DOUBLE_EQ(exact, oracle);
  EXPECT_GT(wrong, 1.1 * exact);
}

}  // namespace
}  // namespace perfcast::fleet
