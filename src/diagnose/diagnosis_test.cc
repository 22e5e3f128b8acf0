#include "diagnose/diagnosis.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "diagnose/report/diagnosis_report.h"

namespace perfcast {
namespace {

Result<Diagnosis> diagnosis_of(const std::string& program) {
  DiagnosisRequest request;
  request.command = {std::string(PERFCAST_PLANTED) + "/planted_" + program};
  request.with_counts = false;
  request.proof_budget_s = 0;
  return diagnose(request);
}

class Planted : public testing::TestWithParam<std::pair<const char*, const char*>> {};

// Those that a native run tells, whatever else runs on the machine; tools/bench-diagnose has all.
TEST_P(Planted, IsFoundFirst) {
  const auto [program, cause] = GetParam();
  const auto diagnosis = diagnosis_of(std::string(program) + "_slow");
  ASSERT_TRUE(diagnosis) << to_text(diagnosis.error());
  if (!diagnosis->seen.no_samples.empty()) GTEST_SKIP() << diagnosis->seen.no_samples;
  ASSERT_FALSE(diagnosis->findings.empty());
  EXPECT_EQ(diagnosis->findings.front().cause, cause) << diagnosis_text(*diagnosis);
  EXPECT_LE(diagnosis->first_finding_s, 3 * diagnosis->seen.run.wall_s + 5);
}
INSTANTIATE_TEST_SUITE_P(Programs, Planted,
                         testing::Values(std::pair{"allocation", "allocation"}, std::pair{"exceptions", "exceptions"},
                                         std::pair{"unoptimised_code", "unoptimised-code"},
                                         std::pair{"small_io", "small-io"},
                                         std::pair{"process_starts", "process-starts"}),
                         [](const auto& of) { return std::string(of.param.first); });

TEST(Diagnosis, OfAMendedProgramFindsNothingLarge) {
  for (const char* program : {"allocation_mended", "exceptions_mended", "unoptimised_code_mended"}) {
    const auto diagnosis = diagnosis_of(program);
    ASSERT_TRUE(diagnosis) << to_text(diagnosis.error());
    for (const Finding& finding : diagnosis->findings) EXPECT_LE(finding.gain_ratio, 0.05) << program << finding.title;
  }
}

// What ran under the instrumenter, over the time that it took natively, beside what was measured of this machine.
TEST(Diagnosis, SetsHotFunctionsBesideTheMachine) {
  DiagnosisRequest request;
  request.command = {std::string(PERFCAST_PLANTED) + "/planted_small_io_mended"};
  request.proof_budget_s = 0;
  const auto diagnosis = diagnose(request);
  ASSERT_TRUE(diagnosis) << to_text(diagnosis.error());
  if (!diagnosis->seen.no_samples.empty()) GTEST_SKIP() << diagnosis->seen.no_samples;
  if (!diagnosis->profile || !diagnosis->profile->metrics.contains("instructions_count"))
    GTEST_SKIP() << diagnosis->notes.back();
  ASSERT_TRUE(diagnosis->roofline);
  if (diagnosis->roofline->seen.basis != SeenWork::Basis::kWhole) GTEST_SKIP() << "the machine is too busy";
  ASSERT_FALSE(diagnosis->roofline->points.empty());
  double instructions = 0;
  for (const RooflinePoint& point : diagnosis->roofline->points) {
    instructions += point.work.instructions_count;
    EXPECT_GT(point.operations_per_s, 0);
    EXPECT_LT(point.operations_per_s, 1e11);
  }
  const double all = diagnosis->profile->metrics.at("instructions_count");
  EXPECT_GT(instructions, 0.5 * all);
  EXPECT_LT(instructions, 1.001 * all);
}

TEST(Diagnosis, SaysThatTheProgramFails) {
  DiagnosisRequest request;
  request.command = {"sh", "-c", "echo no such thing >&2; exit 3"};
  const auto diagnosis = diagnose(request);
  ASSERT_FALSE(diagnosis);
  EXPECT_EQ(diagnosis.error().code, "program-failed");
  EXPECT_EQ(diagnosis.error().message, "the program exits with status 3: no such thing");
}

TEST(Diagnosis, EndsAProgramAtItsLimit) {
  DiagnosisRequest request;
  request.command = {"sleep", "30"};
  request.limit_s = 0.5;
  request.proof_budget_s = 0;
  const auto diagnosis = diagnose(request);
  ASSERT_TRUE(diagnosis) << to_text(diagnosis.error());
  EXPECT_LT(diagnosis->took_s, 10);
  ASSERT_FALSE(diagnosis->notes.empty());
  EXPECT_EQ(diagnosis->notes[0], "the run was ended after 0.5 s: what follows is of that part");
}

Diagnosis small_diagnosis() {
  Diagnosis diagnosis;
  diagnosis.command = {"prog", "x"};
  diagnosis.seen.run.exit_code = 0;
  diagnosis.seen.run.wall_s = 2;
  diagnosis.seen.run.user_s = 1.5;
  Finding finding;
  finding.cause = "allocation";
  finding.title = "30% of the CPU time is allocating and freeing memory";
  finding.gain_ratio = 0.24;
  finding.evidence = {"samples: malloc 30.0%"};
  finding.advice = "reuse";
  finding.if_wrong = "more memory";
  finding.proof = "count";
  ExperimentResult result;
  result.experiment = {"the allocator jemalloc", {{"LD_PRELOAD", "/j.so"}}, {}, {}};
  result.ratio = 0.8;
  result.lower = 0.7;
  result.upper = 0.9;
  result.pairs_count = 6;
  finding.results = {result};
  diagnosis.findings = {finding};
  diagnosis.took_s = 10;
  return diagnosis;
}

TEST(DiagnosisReport, SaysWhatWasProven) {
  const std::string text = diagnosis_text(small_diagnosis());
  EXPECT_NE(
      text.find("1. allocation: 30% of the CPU time is allocating and freeing memory\n"
                "   gain      20% of the time, proven (10% .. 30%): the allocator jemalloc\n"
                "   evidence  samples: malloc 30.0%\n"
                "   advice    reuse\n"
                "   if wrong  more memory\n"
                "   tried     the allocator jemalloc (LD_PRELOAD=/j.so): 0.80 x the time (0.70 .. 0.90, 6 pairs)\n"),
      std::string::npos)
      << text;
}

TEST(DiagnosisReport, HasAStableJson) {
  const Json json = diagnosis_json(small_diagnosis());
  EXPECT_EQ(json["schema"], "perfcast.diagnosis/1");
  const Json& finding = json["findings"][0];
  EXPECT_EQ(finding["cause"], "allocation");
  EXPECT_EQ(finding["kind"], "measured");
  EXPECT_NEAR(finding["proven_gain_ratio"].get<double>(), 0.2, 1e-12);
  EXPECT_NEAR(finding["proven_gain_ratio_lower"].get<double>(), 0.1, 1e-12);
  EXPECT_EQ(finding["tried"][0]["how"], "LD_PRELOAD=/j.so");
}

}  // namespace
}  // namespace perfcast
