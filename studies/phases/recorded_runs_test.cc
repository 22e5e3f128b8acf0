#include "studies/phases/recorded_runs.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "studies/phases/phase_transfer.h"

namespace perfcast::measure::phases_study {
namespace {

TEST(RecordedRuns, CutsAtEqualInstructions) {
  RecordedRun run;
  run.samples.resize(2, 4);
  run.samples << 1, 300, 10, 30, 2, 100, 20, 50;
  const Eigen::MatrixXd cut = cut_by_instructions(run, 4);
  EXPECT_NEAR(cut(0, kBusyColumn), 1.0 / 3, 1e-12);
  EXPECT_NEAR(cut(2, kEventColumns), 10, 1e-12);
  EXPECT_NEAR(cut(3, kBusyColumn), 2, 1e-12);
  EXPECT_NEAR(cut.col(kJoulesColumn).sum(), 30, 1e-12);
}

TEST(RecordedRuns, UnwrapsCounters) {
  EXPECT_EQ(unwrapped(-96), 4294967200.0);
  EXPECT_EQ(unwrapped(5), 5);
}

TEST(RecordedRuns, ReadsTheFrequencySet) {
  const std::string path =
      std::string(PERFCAST_SHARED_DATA) + "/armpm_xu3/xu3_cset_perfcpu_cBench_eMMC_big_samples.csv.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "there is no " << path;
  const auto set = read_frequency_runs(path);
  ASSERT_TRUE(set) << to_text(set.error());
  EXPECT_EQ(set->runs.size(), 180U);
  for (const RecordedRun& run : set->runs) EXPECT_GT(run.samples.col(kBusyColumn).minCoeff(), 0);
  const auto scores = score_transfer(*set, "1500", "2000", true);
  ASSERT_TRUE(scores) << to_text(scores.error());
  EXPECT_GE(scores->programs, 25U);
  EXPECT_LT(scores->time.phase, 0.1);
}

}  // namespace
}  // namespace perfcast::measure::phases_study
