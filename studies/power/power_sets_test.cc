#include "studies/power/power_sets.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "measure/power/model/activity_features.h"
#include "measure/power/model/power_model.h"

namespace perfcast::measure::power_study {
namespace {

const std::string kData = PERFCAST_SHARED_DATA;

TEST(PowerSets, CortexA15HasItsSettings) {
  if (!std::filesystem::exists(kData + "/armpm_xu3")) GTEST_SKIP() << "no public data: no " << kData << "/armpm_xu3";
  const auto table = read_armpm(kData + "/armpm_xu3", "cBench");
  ASSERT_TRUE(table) << to_text(table.error());
  EXPECT_EQ(table->rows(), 10623U);
  EXPECT_EQ(table->workloads.size(), 30U);
  const PowerDesign design = ActivityFeatures::learn(*table, all_rows(*table), ActivitySet::kLoad).design(*table);
  EXPECT_EQ(design.groups.size(), 3U);
  EXPECT_LE(design.rows.col(1).maxCoeff(), 1.1);  // load: never above the clock
  EXPECT_EQ(table->run.back() + 1, 180);          // 30 benchmarks, 3 frequencies, 2 runs
}

TEST(PowerSets, DevicesHaveWhatModelsTake) {
  if (!std::filesystem::exists(kData + "/gpm_gpupower"))
    GTEST_SKIP() << "no public data: no " << kData << "/gpm_gpupower";
  for (const auto& set : {read_gpm(kData + "/gpm_gpupower"), read_llm_power(kData + "/gpu_power_benchmark")}) {
    ASSERT_TRUE(set) << to_text(set.error());
    EXPECT_EQ(set->design.groups.size(), 6U);
    EXPECT_EQ(static_cast<size_t>(set->design.rows.cols()), set->design.names.size());
    EXPECT_FALSE(set->design.rows.array().isNaN().any());
    EXPECT_LE(set->utilisation.maxCoeff(), 1.5);
  }
}

}  // namespace
}  // namespace perfcast::measure::power_study
