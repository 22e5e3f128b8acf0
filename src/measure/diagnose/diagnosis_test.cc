#include "measure/diagnose/diagnosis.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "base/json.h"
#include "base/process/program_inspector.h"
#include "base/process/temp_folder.h"
#include "base/process/tool.h"
#include "measure/diagnose/report/diagnosis_report.h"
#include "measure/diagnose/report/testing/small_diagnosis.h"

namespace perfcast::measure {
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
INSTANTIATE_TEST_SUITE_P(
    Programs, Planted,
    testing::Values(std::pair{"allocation", "allocation"}, std::pair{"exceptions", "exceptions"},
                    std::pair{"unoptimised_code", "unoptimised-code"}, std::pair{"small_io", "small-io"},
                    std::pair{"process_starts", "process-starts"}, std::pair{"file_opens_settings", "file-opens"},
                    std::pair{"string_length_append", "string-length"},
                    std::pair{"thread_starts_async", "thread-starts"}, std::pair{"hand_overs_pipe", "hand-overs"}),
    [](const auto& of) { return std::string(of.param.first); });

TEST(Diagnosis, OfAMendedProgramFindsNothingLarge) {
  for (const char* program : {"allocation_mended", "exceptions_mended", "unoptimised_code_mended",
                              "file_opens_settings_mended", "string_length_append_mended"}) {
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

TEST(Diagnosis, RunsOtherNumbersOfThreads) {
  DiagnosisRequest request;
  request.command = {"sh", "-c",
                     "i=0; while [ $i -lt {threads} ]; do sleep $(echo {threads} | awk '{print 0.6 / $1}') & "
                     "i=$((i + 1)); done; wait"};
  request.with_counts = false;
  request.threads = "1,3";
  request.proof_budget_s = 6;
  auto diagnosis = diagnose(request);
  // Threads are seen by looking now and then: on a busy machine a look may come too late.
  for (int again = 0; again < 3 && diagnosis && !(diagnosis->curve && diagnosis->curve->is_obeyed); ++again) {
    diagnosis = diagnose(request);
  }
  ASSERT_TRUE(diagnosis) << to_text(diagnosis.error());
  ASSERT_TRUE(diagnosis->curve);
  EXPECT_TRUE(diagnosis->curve->is_obeyed);
  EXPECT_GT(diagnosis->curve->points[1].speed_up_ratio, 1.5);
  const Json json = diagnosis_json(*diagnosis);
  ASSERT_EQ(json["thread_curve"]["points"].size(), 2U);
  EXPECT_EQ(json["thread_curve"]["points"][1]["threads_count"], 3);
  EXPECT_NE(diagnosis_text(*diagnosis).find("other numbers of threads, by {threads}\n"), std::string::npos);
  request.threads = "many";
  EXPECT_EQ(diagnose(request).error().code, "bad-usage");
}

TEST(Diagnosis, ComparesBuildsOfTheSourceTree) {
  if (find_in_path("cc").empty()) GTEST_SKIP() << "no compiler";
  auto folder = TempFolder::create();
  ASSERT_TRUE(folder);
  ASSERT_TRUE(write_file_atomically(folder->path() + "/sum.c",
                                    "#include <stdio.h>\nint main(void) {\n  unsigned long sum = 1;\n"
                                    "  for (long i = 0; i < 200000000; i++) sum += (i * i) ^ (i >> 3);\n"
                                    "  printf(\"%lu\\n\", sum);\n}\n"));
  ASSERT_TRUE(answer_of({"cc", "-O0", "-o", folder->path() + "/sum", folder->path() + "/sum.c"}, 60));
  DiagnosisRequest request;
  request.command = {folder->path() + "/sum"};
  request.with_counts = false;
  request.rebuild = "cc {flags} -o sum sum.c";
  request.source = folder->path();
  request.proof_budget_s = 30;
  const auto diagnosis = diagnose(request);
  ASSERT_TRUE(diagnosis) << to_text(diagnosis.error());
  if (!diagnosis->seen.no_samples.empty()) GTEST_SKIP() << diagnosis->seen.no_samples;
  ASSERT_FALSE(diagnosis->findings.empty());
  const Finding& first = diagnosis->findings.front();
  EXPECT_EQ(first.cause, "unoptimised-code") << diagnosis_text(*diagnosis);
  ASSERT_FALSE(first.results.empty());
  EXPECT_EQ(first.results[0].experiment.flags, "-O2");
  EXPECT_TRUE(first.results[0].failed.empty()) << first.results[0].failed;
  EXPECT_LT(first.results[0].ratio, 0.8);
  // Of the build that has them.
  ASSERT_FALSE(diagnosis->seen.functions.empty());
  EXPECT_TRUE(diagnosis->seen.functions[0].source.ends_with("sum.c")) << diagnosis_text(*diagnosis);
}

Diagnosis small_diagnosis() {
  Diagnosis diagnosis;
  diagnosis.command = {"prog", "x"};
  diagnosis.seen.run.exit_code = 0;
  diagnosis.seen.run.wall_s = 2;
  diagnosis.seen.run.user_s = 1.5;
  diagnosis.findings = {proven_finding()};
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

TEST(DiagnosisReport, AnIntervalOfTooFewPairsIsNotPrinted) {
  Diagnosis diagnosis = small_diagnosis();
  diagnosis.findings[0].results[0].lower = 0;
  diagnosis.findings[0].results[0].upper = INFINITY;
  const std::string text = diagnosis_text(diagnosis);
  EXPECT_NE(text.find("0.80 x the time; 6 pairs are too few for an interval\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("inf"), std::string::npos) << text;
}

TEST(DiagnosisReport, PromisesNoMoreThanTheRunTook) {
  Diagnosis diagnosis = small_diagnosis();
  Finding& proven = diagnosis.findings[0];
  proven.results[0].lower = -0.1;  // of few pairs that differ much
  EXPECT_NE(diagnosis_text(diagnosis).find("20% of the time, proven (10% .. 100%)"), std::string::npos);
  EXPECT_EQ(diagnosis_json(diagnosis)["findings"][0]["proven_gain_ratio_upper"], 1);
  EXPECT_EQ(diagnosis_text(diagnosis).find("overlap"), std::string::npos);
  Finding other = proven_finding();
  other.results.clear();
  other.gain_ratio = 0.79;
  diagnosis.findings.push_back(other);
  EXPECT_EQ(diagnosis_text(diagnosis).find("overlap"), std::string::npos);  // 99%
  diagnosis.findings.back().gain_ratio = 0.9;
  EXPECT_NE(diagnosis_text(diagnosis).find("\nthese gains overlap: they add up to 110% of the time, and all together "
                                           "save less than 100%; mend the first,\nthen diagnose again\n"),
            std::string::npos)
      << diagnosis_text(diagnosis);
  diagnosis.findings.back().no_gain = "the counts were cut";
  EXPECT_EQ(diagnosis_text(diagnosis).find("overlap"), std::string::npos);
}

TEST(DiagnosisReport, TellsOfEveryBuild) {
  Diagnosis diagnosis = small_diagnosis();
  Finding& finding = diagnosis.findings[0];
  finding.cause = "compiler-flags";
  finding.gain_ratio = 0;
  finding.results.clear();
  for (const char* flags : {"-O3", "-O3 -flto", "-O3 -march=native -ffast-math"}) {
    ExperimentResult result;
    result.experiment = compiled_with(flags);
    result.ratio = 0.5;
    result.is_screened = true;
    finding.results.push_back(result);
  }
  finding.results[0].output_differs = true;
  finding.results[1].failed = "the build with -O3 -flto failed: no such plugin";
  const std::string text = diagnosis_text(diagnosis);
  EXPECT_NE(
      text.find("   tried     compiled with -O3: output differs: no gain is claimed\n"
                "   tried     compiled with -O3 -flto: not tried: the build with -O3 -flto failed: no such plugin\n"
                "   tried     compiled with -O3 -march=native -ffast-math: 0.50 x the time, the same output here, "
                "results may change: no gain is claimed\n"),
      std::string::npos)
      << text;
  const Json tried = diagnosis_json(diagnosis)["findings"][0]["tried"];
  EXPECT_EQ(tried[0]["output_differs"], true);
  EXPECT_EQ(tried[0]["is_gain"], false);
  EXPECT_EQ(tried[2]["flags"], "-O3 -march=native -ffast-math");
}

TEST(DiagnosisReport, SaysHowParallelItWas) {
  Diagnosis diagnosis = small_diagnosis();
  EXPECT_FALSE(diagnosis.parallel_efficiency_ratio());
  diagnosis.seen.run.threads = 3;
  diagnosis.cpus_count = 4;
  // 1.5 s of 2 s on 4 CPUs.
  EXPECT_NEAR(*diagnosis.parallel_efficiency_ratio(), 1.5 / 8, 1e-12);
  EXPECT_NE(
      diagnosis_text(diagnosis).find("parallel efficiency 19%: 0.75 of 4 CPUs were busy, with 3 threads at most\n"),
      std::string::npos);
  diagnosis.curve.emplace();
  diagnosis.curve->how = "OMP_NUM_THREADS";
  diagnosis.curve->is_obeyed = true;
  diagnosis.curve->points.resize(1);
  diagnosis.curve->points[0].median_wall_s = 2;
  diagnosis.curve->serial = SerialShare{2, 0.25, 0.2, 0.3};
  EXPECT_NE(
      diagnosis_text(diagnosis).find("\nother numbers of threads, by OMP_NUM_THREADS\n"
                                     "  threads      s  CPU s  speed-up  efficiency\n"
                                     "        1  2.000  0.000      1.00        100%\n"
                                     "  serial work, by Amdahl's law: 25% (20% .. 30%) of the time with one thread\n"),
      std::string::npos)
      << diagnosis_text(diagnosis);
  EXPECT_EQ(diagnosis_json(diagnosis)["thread_curve"]["points"].dump(),
            R"([{"threads_count":1,"seen_threads_count":null,"wall_s":2.0,"cpu_s":0.0,"runs_count":0,)"
            R"("speed_up_ratio":1.0,"efficiency_ratio":1.0}])");
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
}  // namespace perfcast::measure
