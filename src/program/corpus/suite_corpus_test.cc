#include "program/corpus/suite_corpus.h"

#include <gmock/gmock.h>

namespace perfcast::program {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Suite two_stressors() {
  Suite suite;
  suite.name = "test";
  for (const char* name : {"fork", "heapsort"}) {
    SuiteProgram entry;
    entry.program = {std::string("stressng.") + name, name, "user", "test", "operation", "", ""};
    suite.programs.push_back(entry);
  }
  return suite;
}

std::vector<SuiteOutcome> timed(const Suite& suite, double time_per_unit_s) {
  std::vector<SuiteOutcome> outcomes;
  for (const SuiteProgram& entry : suite.programs) {
    SuiteOutcome outcome;
    outcome.program = entry.program.id;
    outcome.status = "timed";
    outcome.time_per_unit_s = time_per_unit_s;
    outcomes.push_back(outcome);
  }
  return outcomes;
}

TEST(HostRows, TimesBecomeRunsOfThisHost) {
  const Suite suite = two_stressors();
  const std::vector<SuiteOutcome> outcomes = timed(suite, 0.001);
  HostFacts host;
  host.name = "Test CPU 9000";
  host.vendor = "AuthenticAMD";
  host.arch = "x86_64";
  host.cpu_flags = {"fpu", "sha_ni", "avx2", "amx_tile", "amx_bf16", "sse2"};
  const Corpus rows = host_rows(suite, outcomes, host, Corpus());
  ASSERT_EQ(rows.platforms.size(), 1u);
  EXPECT_EQ(rows.platforms[0].id, "test-cpu-9000");
  EXPECT_EQ(rows.platforms[0].vendor, "AMD");
  EXPECT_THAT(rows.platforms[0].flags, ElementsAre("amx", "avx2", "sha"));
  EXPECT_EQ(rows.sources[0].licence, "not stated");
  ASSERT_EQ(rows.runs.size(), 2u);
  EXPECT_EQ(rows.runs[0].program, "stressng.fork");
  EXPECT_DOUBLE_EQ(rows.runs[0].time_s, 0.001);

  Corpus known;
  Platform same;
  same.id = "elsewhere";
  same.name = "Test CPU 9000";
  known.platforms.push_back(same);
  const Corpus again = host_rows(suite, outcomes, host, known);
  EXPECT_THAT(again.platforms, IsEmpty());
  EXPECT_EQ(again.runs[0].platform, "elsewhere");

  // Another name that gives the same id is another platform: it must not be overwritten.
  known.platforms[0].id = "test-cpu-9000";
  known.platforms[0].name = "Test CPU 9000 (family 6 model 1)";
  const Corpus beside = host_rows(suite, outcomes, host, known);
  ASSERT_EQ(beside.platforms.size(), 1u);
  EXPECT_EQ(beside.platforms[0].id, "test-cpu-9000-here");
  EXPECT_EQ(beside.runs[0].platform, "test-cpu-9000-here");
}

TEST(PartitionRowsTest, PlatformsBecomeTheCorpusOwnAndServersNameThePartition) {
  Corpus known;
  known.platforms.resize(2);
  known.platforms[0].id = "amd-epyc";
  known.platforms[0].name = "AMD EPYC";
  known.platforms[1].id = "other";
  known.platforms[1].name = "Something else";
  known.programs.resize(1);
  known.programs[0].id = "a";
  Corpus rows;
  rows.platforms.resize(2);
  rows.platforms[0].id = "amd-epyc-7";
  rows.platforms[0].name = "AMD EPYC";  // known by its name
  rows.platforms[1].id = "other";
  rows.platforms[1].name = "New";  // its id is taken
  rows.programs.resize(2);
  rows.programs[0].id = "a";
  rows.programs[1].id = "b";
  rows.runs.resize(2);
  rows.runs[0].platform = "amd-epyc-7";
  rows.runs[1].platform = "other";
  const Corpus settled = partition_rows(rows, "epyc", known);
  ASSERT_EQ(settled.platforms.size(), 1U);
  EXPECT_EQ(settled.platforms[0].id, "other-here");
  EXPECT_EQ(settled.runs[0].platform, "amd-epyc");
  EXPECT_EQ(settled.runs[1].platform, "other-here");
  EXPECT_EQ(settled.runs[0].server, "slurm/epyc");
  ASSERT_EQ(settled.programs.size(), 1U);
  EXPECT_EQ(settled.programs[0].id, "b");
  ASSERT_EQ(settled.servers.size(), 2U);
  EXPECT_EQ(settled.servers[0].vendor + "/" + settled.servers[0].name, "slurm/epyc");
  EXPECT_EQ(settled.servers[1].platform, "other-here");
}

}  // namespace
}  // namespace perfcast::program
