#include "measure/diagnose/prove/prove.h"

#include <gtest/gtest.h>

namespace perfcast::measure {
namespace {

// Takes as long as WAIT says.
const std::vector<std::string> kCommand = {"sh", "-c", "exec sleep ${WAIT:-0.05}"};

Finding finding_with(const std::string& cause, double gain, std::vector<Experiment> experiments) {
  Finding finding;
  finding.cause = cause;
  finding.gain_ratio = gain;
  finding.experiments = std::move(experiments);
  return finding;
}

Experiment waiting(const std::string& seconds) {
  Experiment experiment;
  experiment.name = "waiting " + seconds;
  experiment.environment["WAIT"] = seconds;
  return experiment;
}

TEST(Prove, ShowsWhatHelpsAndWhatDoesNot) {
  std::vector<Finding> findings = {finding_with("first", 0.5, {waiting("0.1"), waiting("0.01"), waiting("0.02")}),
                                   finding_with("second", 0.1, {})};
  ProofRequest request;
  request.command = kCommand;
  request.run_s = 0.05;
  request.budget_s = 20;
  const Status done = prove_findings(request, findings);
  ASSERT_TRUE(done) << to_text(done.error());
  const auto& results = findings[0].results;
  // The third isn't tried: the second was proof enough.
  ASSERT_EQ(results.size(), 2U);
  EXPECT_TRUE(results[0].is_screened);
  EXPECT_FALSE(results[0].is_gain());
  EXPECT_FALSE(results[1].is_screened);
  ASSERT_TRUE(results[1].is_gain());
  EXPECT_LT(results[1].ratio, 0.7);
  EXPECT_LE(results[1].lower, results[1].ratio);
  EXPECT_GE(results[1].upper, results[1].ratio);
  EXPECT_EQ(findings[0].proven(), &results[1]);
  EXPECT_EQ(findings[1].proven(), nullptr);
}

// Waiting takes no CPU time: what takes less of it is no faster then.
TEST(Prove, ComparesCpuTimesWhereOthersTakeCpus) {
  const std::vector<std::string> command = {
      "sh", "-c", "i=0; while [ $i -lt ${LOOPS:-60000} ]; do i=$((i+1)); done; exec sleep ${WAIT:-0}"};
  Experiment shorter;
  shorter.name = "shorter";
  shorter.environment = {{"LOOPS", "6000"}, {"WAIT", "0.3"}};
  std::vector<Finding> findings = {finding_with("right", 0.1, {shorter})};
  ProofRequest request;
  request.command = command;
  request.run_s = 0.1;
  request.budget_s = 30;
  request.by_cpu_time = true;
  ASSERT_TRUE(prove_findings(request, findings));
  ASSERT_NE(findings[0].proven(), nullptr);
  EXPECT_LT(findings[0].proven()->ratio, 0.7);
}

TEST(Prove, KeepsWhatOnlyATrialShowsWhereItDoes) {
  Finding right = finding_with("right", 0, {waiting("0.01")});
  Finding wrong = finding_with("wrong", 0, {waiting("0.06")});
  right.is_shown_by_trial = wrong.is_shown_by_trial = true;
  std::vector<Finding> findings = {wrong, right};
  ProofRequest request;
  request.command = kCommand;
  request.run_s = 0.05;
  request.budget_s = 20;
  ASSERT_TRUE(prove_findings(request, findings));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, "right");
  EXPECT_NEAR(findings[0].gain_ratio, 1 - findings[0].results[0].ratio, 1e-12);
}

TEST(Prove, TakesNoMoreThanWhatATrialSaves) {
  Experiment nothing = waiting("0.05"), half = waiting("0.025");
  nothing.bounds_gain = half.bounds_gain = true;
  std::vector<Finding> findings = {finding_with("half", 0.9, {half}), finding_with("nothing", 0.8, {nothing}),
                                   finding_with("other", 0.1, {})};
  ProofRequest request;
  request.command = kCommand;
  request.run_s = 0.05;
  request.budget_s = 4;
  ASSERT_TRUE(prove_findings(request, findings));
  EXPECT_EQ(findings[0].cause, "half");
  EXPECT_NEAR(findings[0].gain_ratio, 1 - findings[0].results[0].ratio, 1e-12);
  EXPECT_LT(findings[0].gain_ratio, 0.7);
  EXPECT_EQ(findings.back().cause, "nothing");
  EXPECT_LT(findings.back().gain_ratio, 0.1);
}

// A trial of the remedy itself, that took nothing off; one that the program ignored says nothing.
TEST(Finding, IsContradictedByATrialThatTookTheCauseAway) {
  Finding finding = finding_with("page-faults", 0.5, {});
  ExperimentResult result;
  result.ratio = 1.01;
  result.pairs_count = 2;
  result.is_screened = true;
  finding.results = {result};
  EXPECT_EQ(finding.contradiction(), nullptr);
  EXPECT_FALSE(finding.results[0].most_gain());
  finding.results[0].removed_ratio = 0.1;
  EXPECT_TRUE(finding.results[0].is_ignored());
  EXPECT_EQ(finding.contradiction(), nullptr);
  finding.results[0].removed_ratio = 0.9;
  EXPECT_FALSE(finding.results[0].is_ignored());
  EXPECT_NEAR(*finding.results[0].most_gain(), 0.03 / 0.9, 1e-12);
  EXPECT_EQ(finding.contradiction(), &finding.results[0]);
  finding.results[0].ratio = 0.8;
  EXPECT_NEAR(*finding.results[0].most_gain(), 0.24 / 0.9, 1e-12);
  EXPECT_EQ(finding.contradiction(), nullptr);
  finding.results[0].failed = "it is not there";
  EXPECT_FALSE(finding.results[0].most_gain());
}

TEST(Prove, SaysWhatItCouldNotTry) {
  Experiment fails;
  fails.name = "a program that isn't there";
  fails.prefix = {"/no/such/program"};
  std::vector<Finding> findings = {finding_with("first", 0.5, {fails})};
  ProofRequest request;
  request.command = kCommand;
  request.run_s = 0.05;
  request.budget_s = 5;
  ASSERT_TRUE(prove_findings(request, findings));
  ASSERT_EQ(findings[0].results.size(), 1U);
  EXPECT_FALSE(findings[0].results[0].failed.empty());
  EXPECT_EQ(findings[0].proven(), nullptr);
  request.run_s = 100;
  findings = {finding_with("first", 0.5, {waiting("0.01")})};
  ASSERT_TRUE(prove_findings(request, findings));
  EXPECT_EQ(findings[0].results[0].failed, "no time left: 400 s are needed");
}

}  // namespace
}  // namespace perfcast::measure
