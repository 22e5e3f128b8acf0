#include "machine/gpu/occupancy.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

TEST(Occupancy, IsWhatRunsOutFirst) {
  const GroupLimits& kepler = *group_limits("kepler");
  EXPECT_EQ(resident_groups(kepler, {32}), 16);         // groups
  EXPECT_EQ(resident_groups(kepler, {256}), 8);         // items
  EXPECT_EQ(resident_groups(kepler, {33}), 16);         // two warps each: 32 would fit
  EXPECT_EQ(resident_groups(kepler, {256, 12288}), 4);  // shared memory
  EXPECT_EQ(resident_groups(kepler, {256, 0, 64}), 4);  // registers
  EXPECT_EQ(resident_groups(kepler, {1024, 1e6}), 1);   // nothing fits
  EXPECT_EQ(resident_groups(*group_limits("maxwell"), {32, 3072}), 32);
  EXPECT_EQ(group_limits("tahiti"), nullptr);
}

}  // namespace
}  // namespace perfcast
