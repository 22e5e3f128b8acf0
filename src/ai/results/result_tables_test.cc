#include "ai/results/result_tables.h"

#include <gtest/gtest.h>

#include "ai/results/made_up_results.h"

namespace perfcast::ai {
namespace {

TEST(ResultTables, ArePerAcceleratorAndWatt) {
  const auto devices = made_up_devices();
  auto results = made_up_results(devices, 1);
  results.resize(3);
  for (PublishedResult& result : results) {
    result.model = "m";
    result.scenario = "Offline";
    result.accelerators_per_node = 4;
  }
  results[0].samples_per_s = 400;
  results[1].samples_per_s = 800;
  results[1].power_w = 1600;
  results[1].version = "v2";
  results[2].samples_per_s = 40;
  results[2].accelerator = "Round 1";
  const auto tables = task_tables(results, devices);
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].entries.size(), 2u);
  const TaskEntry& first = tables[0].entries[0];
  EXPECT_EQ(first.accelerator, "Round 0");
  EXPECT_EQ(first.results, 2u);
  EXPECT_EQ(first.best_per_accelerator, 200);
  EXPECT_EQ(first.median_per_accelerator, 150);
  EXPECT_EQ(first.with_power, 1u);
  EXPECT_EQ(first.best_samples_per_j, 0.5);
  EXPECT_EQ(first.best_version, "v2");
  EXPECT_EQ(tables[0].entries[1].with_power, 0u);
  EXPECT_TRUE(std::isnan(tables[0].entries[1].best_samples_per_j));  // missing is never zero
}

TEST(ResultTables, DivideNoLatencies) {
  const auto devices = made_up_devices();
  auto results = made_up_results(devices, 1);
  results.resize(1);
  results[0].scenario = "SingleStream";
  results[0].accelerators_per_node = 4;
  results[0].p90_latency_s = 0.01;
  const auto tables = task_tables(results, devices);
  EXPECT_DOUBLE_EQ(tables[0].entries[0].best_per_accelerator, 100);
  EXPECT_DOUBLE_EQ(tables[0].entries[0].best_latency_s, 0.01);
}

}  // namespace
}  // namespace perfcast::ai
