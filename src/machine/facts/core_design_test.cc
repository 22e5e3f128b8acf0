#include "machine/facts/core_design.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

ProcessorIdentity cpu(const char* vendor, int64_t family, int64_t model) {
  return {"", vendor, "x86_64", family, model, std::nullopt};
}

TEST(CoreDesign, FollowsFromCpuid) {
  EXPECT_EQ(cpuid_core_design(cpu("AuthenticAMD", 23, 0x01)), "zen1");
  EXPECT_EQ(cpuid_core_design(cpu("AMD", 23, 0x31)), "zen2");
  EXPECT_EQ(cpuid_core_design(cpu("AMD", 25, 0x01)), "zen3");
  EXPECT_EQ(cpuid_core_design(cpu("AMD", 25, 0x11)), "zen4");
  EXPECT_EQ(cpuid_core_design(cpu("AMD", 26, 0x02)), "zen5");
  EXPECT_EQ(cpuid_core_design(cpu("Intel", 6, 143)), "sapphire-rapids");
  EXPECT_EQ(cpuid_core_design(cpu("Intel", 6, 9999)), "");
  EXPECT_EQ(cpuid_core_design(cpu("Intel", 15, 143)), "");
  EXPECT_EQ(cpuid_core_design({}), "");
}

TEST(CoreDesign, IsFinerByNameAndStepping) {
  ProcessorIdentity server = cpu("GenuineIntel", 6, 85);
  EXPECT_EQ(core_design(server), "skylake-server");
  server.stepping = 4;
  EXPECT_EQ(core_design(server), "skylake-server");
  server.stepping = 7;
  EXPECT_EQ(core_design(server), "cascade-lake");
  EXPECT_EQ(cpuid_core_design(server), "skylake-server");
  EXPECT_EQ(core_design({"Neoverse-N1", "ARM", "aarch64", 8, 0xd0c, 1}), "neoverse-n1");
  EXPECT_EQ(core_design({"", "ARM", "arm64", 8, 1, 1}), "unknown");
  EXPECT_EQ(core_design({}), "unknown");
}

TEST(CoreDesign, BoundsInWordsAreThoseThatCostMost) {
  EXPECT_EQ(core_bounds_in_words({{"L1", 0.12}, {"memory", 0.31}, {"width", 0.04}}), "memory 31%, L1 12%");
  EXPECT_EQ(core_bounds_in_words({{"a", 0.2}, {"b", 0.2}, {"c", 0.3}, {"d", 0.1}, {"e", 0.2}}),
            "c 30%, a 20%, b 20%, e 20%");
  EXPECT_EQ(core_bounds_in_words({{"width", 0.04}}), "");
  EXPECT_EQ(core_bounds_in_words({}), "");
}

}  // namespace
}  // namespace perfcast
