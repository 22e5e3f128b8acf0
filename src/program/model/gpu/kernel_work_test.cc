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
