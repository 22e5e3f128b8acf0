#include "program/model/gpu/kernel_work.h"

#include <gmock/gmock.h>

namespace perfcast::program {
namespace {

TEST(KernelWork, ComesFromFeaturesOfAiwc) {
  Profile profile;
  profile.metrics = {{"aiwc_workitems_count", 64},
                     {"aiwc_total_instructions_count", 640},
                     {"aiwc_total_memory_footprint_count", 100},
                     {"kernel_group_items_count", 16}};
  const auto work = kernel_work(profile);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->items, 64);
  EXPECT_EQ(work->instructions, 640);
  EXPECT_EQ(work->memory_bytes, 400);
  EXPECT_FALSE(work->groups);
}

TEST(KernelWork, ComesFromNvidiasProfilers) {
  Profile profile;
  profile.metrics = {{"nvprof_grid_x_count", 3},
                     {"nvprof_grid_y_count", 2},
                     {"nvprof_block_x_count", 16},
                     {"nvprof_block_y_count", 4},
                     {"nvprof_inst_integer_count", 1000},
                     {"nvprof_inst_fp_32_count", 500},
                     {"nvprof_inst_misc_count", 20},
                     {"nvprof_l2_read_transactions_count", 10},
                     {"nvprof_l2_write_transactions_count", 5},
                     {"nvprof_static_shared_memory_bytes", 1024},
                     {"nvprof_registers_per_thread_count", 32}};
  auto work = kernel_work(profile);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->items, 6 * 64);
  EXPECT_EQ(work->instructions, 1520);
  EXPECT_EQ(work->memory_bytes, 480);
  ASSERT_TRUE(work->groups);
  EXPECT_EQ(work->groups->count, 6);
  EXPECT_EQ(work->groups->shape.items, 64);
  EXPECT_EQ(work->groups->shape.local_bytes, 1024);
  EXPECT_EQ(work->groups->shape.registers_per_item, 32);
  profile.metrics["nvprof_grid_z_count"] = 5;
  EXPECT_EQ(kernel_work(profile)->groups->count, 30);
  // What is needed is missing, not 0.
  profile.metrics.erase("nvprof_l2_write_transactions_count");
  EXPECT_FALSE(kernel_work(profile));
  EXPECT_FALSE(kernel_work(Profile()));
}

TEST(KernelWork, SaysWhatStandsForMissingCounts) {
  Profile profile;
  MetricValues& metrics = profile.metrics;
  metrics = {{"nvprof_grid_x_count", 4},
             {"nvprof_grid_y_count", 1},
             {"nvprof_block_x_count", 64},
             {"nvprof_block_y_count", 1},
             {"nvprof_inst_executed_count", 100}};
  auto gaps = kernel_gaps(metrics);
  ASSERT_EQ(gaps.size(), 3u);
  EXPECT_EQ(gaps[0].metrics, std::vector<std::string>{"nvprof_inst_integer_count"});
  EXPECT_EQ(gaps[0].assumed, "32 instructions for each one of a warp");
  EXPECT_EQ(gaps[1].assumed, "");  // of the traffic nothing is known
  EXPECT_EQ(gaps[2].assumed, "no limit by registers");
  EXPECT_FALSE(kernel_work(profile));

  metrics["nvprof_dram_read_transactions_count"] = 6;
  metrics["nvprof_dram_write_transactions_count"] = 2;
  EXPECT_EQ(kernel_gaps(metrics)[1].assumed, "what the device memory moves");
  ASSERT_TRUE(kernel_work(profile));
  EXPECT_EQ(kernel_work(profile)->instructions, 3200);
  EXPECT_EQ(kernel_work(profile)->memory_bytes, 256);
  metrics["nvprof_gld_transactions_count"] = 20;
  metrics["nvprof_gst_transactions_count"] = 5;
  EXPECT_EQ(kernel_work(profile)->memory_bytes, 800);  // nearer to the second-level cache

  // nvprof's tables of metrics don't have the grid.
  metrics.erase("nvprof_grid_x_count");
  EXPECT_FALSE(kernel_work(profile));
  metrics["warp_blocks_count"] = 8;
  ASSERT_TRUE(kernel_work(profile));
  EXPECT_EQ(kernel_work(profile)->items, 256);
  EXPECT_FALSE(kernel_work(profile)->groups);
  EXPECT_EQ(kernel_gaps(metrics)[2].metrics.front(), "nvprof_grid_x_count");

  metrics["nvprof_inst_integer_count"] = 50;
  EXPECT_EQ(kernel_work(profile)->instructions, 50);
  EXPECT_EQ(kernel_gaps(metrics)[0].metrics.size(), 5u);  // the other kinds
  EXPECT_TRUE(kernel_gaps({{"aiwc_workitems_count", 64},
                           {"aiwc_total_instructions_count", 640},
                           {"aiwc_total_memory_footprint_count", 100}})
                  .empty());
}

TEST(KernelWork, ComesBackFromAMatrix) {
  const std::vector<KernelWork> works = {{64, 640, 400, std::nullopt},
                                         {384, 1520, 480, KernelWork::Groups{6, {64, 1024, 32}}}};
  const std::vector<KernelWork> back = works_of(as_matrix(works));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].instructions, 640);
  EXPECT_FALSE(back[0].groups);
  EXPECT_EQ(back[1].groups->shape.local_bytes, 1024);
  EXPECT_EQ(back[1].groups->count, 6);
}

}  // namespace
}  // namespace perfcast::program
