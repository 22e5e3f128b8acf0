#include "fleet/report/schedule_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/testing/small_report.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PolicyRun run_of(const char* policy, uint64_t seed, double wait_s, double completion_s, double makespan_s = 100) {
  PolicyRun run = small_run(policy, seed, makespan_s, completion_s);
  run.summary.mean_wait_s = wait_s;
  run.summary.preemptions = 0;
  return run;
}

ScheduleReport report_of(std::vector<PolicyRun> runs) {
  ScheduleReport report = small_report();
  report.runs = std::move(runs);
  return report;
}

TEST(ScheduleVerdict, NamesThePolicyByHowMuchAndWhy) {
  const auto report = report_of(
      {run_of("fcfs", 1, 40, 100), run_of("sjf", 1, 25, 90), run_of("mct", 1, 30, 75), run_of("oracle", 1, 20, 60)});
  const auto rows = policy_rows(report);
  const ScheduleVerdict verdict = verdict_of(rows);
  EXPECT_EQ(verdict.best->policy, "mct");
  EXPECT_EQ(verdict.against->policy, "fcfs");
  EXPECT_THAT(
      verdict.lines,
      ElementsAre(
          "best: mct. Under mct a job takes 75.0 s from its arrival to its end on average, 25% less than under "
          "fcfs (100.0 s); 25% more than under the oracle, which knows the true times",
          "why: jobs wait 30.0 s under mct, 40.0 s under fcfs; they run 15.0 s less. mct: each job to the group "
          "where it is forecast to be done first"));
}

TEST(ScheduleVerdict, HoldsTheBestAgainstWhatSitesUse) {
  const auto against = [](std::vector<PolicyRun> runs) {
    const auto report = report_of(std::move(runs));
    const auto rows = policy_rows(report);
    return verdict_of(rows).against->policy;
  };
  EXPECT_EQ(against({run_of("fcfs", 1, 40, 100), run_of("easy", 1, 30, 90), run_of("sjf", 1, 20, 80),
                     run_of("mct", 1, 10, 70)}),
            "easy");
  EXPECT_EQ(against({run_of("fcfs", 1, 40, 100), run_of("easy", 1, 30, 90)}), "fcfs");
  EXPECT_EQ(against({run_of("sjf", 1, 20, 80), run_of("mct", 1, 10, 70), run_of("fcfs", 1, 40, 60)}), "mct");
}

TEST(ScheduleVerdict, SaysWhenSeedsDisagreeAndWhenNothingDiffers) {
  auto report = report_of({run_of("fcfs", 1, 40, 100), run_of("mct", 1, 30, 95), run_of("fcfs", 2, 40, 100),
                           run_of("mct", 2, 30, 95), run_of("fcfs", 3, 40, 100), run_of("mct", 3, 30, 105)});
  EXPECT_THAT(verdict_of(policy_rows(report)).lines.back(),
              HasSubstr("ahead of fcfs in 2 of 3 seeds: the difference is not clear"));
  report = report_of({run_of("fcfs", 1, 40, 100), run_of("easy", 1, 40, 100.2)});
  const auto same = verdict_of(policy_rows(report)).lines;
  EXPECT_THAT(same, ElementsAre(HasSubstr("no policy is better than another: under fcfs a job takes 100.0 s")));
}

// One percent sooner is not worth it where the unluckiest wait twice as long.
TEST(ScheduleVerdict, HoldsTheTailAgainstTheMean) {
  const auto with_tail = [](PolicyRun run, double p99_s) {
    run.summary.p99_wait_s = p99_s;
    return run;
  };
  const auto lines_of = [](const ScheduleReport& report) {
    const auto rows = policy_rows(report);
    const auto verdict = verdict_of(rows);
    return std::pair(verdict.best->policy, verdict.lines);
  };
  auto report = report_of({with_tail(run_of("easy", 1, 31, 91), 400), with_tail(run_of("sjf", 1, 30, 90), 800)});
  auto [best, lines] = lines_of(report);
  EXPECT_EQ(best, "easy");
  EXPECT_THAT(lines[0], HasSubstr("best: easy. Under easy a job takes 91.0 s"));
  EXPECT_EQ(lines[1],
            "sjf is 1% sooner on average, but 1% of the jobs wait more than 13.3 min under sjf, 6.7 min under "
            "easy");
  // Much sooner is better all the same, and the tail is told.
  report = report_of({with_tail(run_of("easy", 1, 41, 120), 400), with_tail(run_of("sjf", 1, 30, 90), 800)});
  std::tie(best, lines) = lines_of(report);
  EXPECT_EQ(best, "sjf");
  EXPECT_EQ(lines[1], "but 1% of the jobs wait more than 13.3 min under sjf, 6.7 min under easy");
  // A tail that is not known decides nothing.
  report = report_of({run_of("easy", 1, 31, 91), run_of("sjf", 1, 30, 90)});
  EXPECT_EQ(lines_of(report).first, "sjf");
}

TEST(ScheduleVerdict, SaysWhoComesBeforeTheOracle) {
  auto report = report_of({run_of("fcfs", 1, 40, 100), run_of("sjf", 1, 10, 60), run_of("oracle", 1, 40, 80)});
  const std::string why = ": it knows the true times, but takes jobs in the order in which they come";
  EXPECT_EQ(verdict_of(policy_rows(report)).lines.back(), "the oracle comes behind 1 policy in mean completion" + why);
  report = report_of({run_of("fcfs", 1, 40, 100), run_of("sjf", 1, 10, 60, 90), run_of("easy", 1, 10, 70),
                      run_of("oracle", 1, 40, 80)});
  EXPECT_EQ(verdict_of(policy_rows(report)).lines.back(),
            "the oracle comes behind 2 policies in mean completion, 1 in makespan" + why);
}

TEST(ScheduleVerdict, ComparesPoliciesThatEndAsManyJobs) {
  auto fewer = run_of("mct", 1, 1, 10);
  fewer.summary.done -= 1;  // it starves one
  auto report = report_of({run_of("fcfs", 1, 40, 100), fewer, run_of("sjf", 1, 10, 60)});
  const auto rows = policy_rows(report);
  EXPECT_EQ(verdict_of(rows).best->policy, "sjf");
  report = report_of({run_of("fcfs", 1, 40, 100)});
  EXPECT_EQ(verdict_of(policy_rows(report)).best, nullptr);
  EXPECT_THAT(verdict_of(policy_rows(report)).lines, IsEmpty());
}

TEST(ScheduleVerdict, NamesWhoEndsAllWorkSoonest) {
  const auto report = report_of({run_of("fcfs", 1, 40, 100, 90), run_of("sjf", 1, 10, 60, 120)});
  EXPECT_THAT(verdict_of(policy_rows(report)).lines.back(),
              HasSubstr("all work ends soonest under fcfs: after 90.0 s, under sjf after 2.0 min"));
}

}  // namespace
}  // namespace perfcast::fleet
