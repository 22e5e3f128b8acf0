#include "machine/facts/processor.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

TEST(Processor, VendorsAreOneWhateverTheSourceCallsThem) {
  EXPECT_EQ(vendor_name("GenuineIntel"), "Intel");
  EXPECT_EQ(vendor_name("AuthenticAMD"), "AMD");
  EXPECT_EQ(vendor_name("ARM"), "ARM");
  EXPECT_EQ(vendor_key("GenuineIntel"), vendor_key("Intel"));
  EXPECT_EQ(vendor_key("AMD"), "amd");
  EXPECT_EQ(vendor_key("HiSilicon"), "hisilicon");
  EXPECT_EQ(arch_key("arm64"), "aarch64");
  EXPECT_EQ(arch_key("amd64"), "x86_64");
  EXPECT_TRUE(is_arm("aarch64"));
  EXPECT_FALSE(is_arm("x86_64"));
}

TEST(Processor, KeysOfNamesLeaveOutWhatSaysNothing) {
  EXPECT_EQ(cpu_name_key("AMD EPYC 7763 64-Core Processor"), "amd epyc 7763");
  EXPECT_EQ(cpu_name_key("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"), "intel xeon platinum 8375c");
  EXPECT_EQ(cpu_name_key("Intel® Xeon™ E5-2682 v4 @2.50GHz"), "intel xeon e5-2682 v4");
  EXPECT_EQ(cpu_name_key("Genuine Intel(R) CPU 0000%@"), "intel 0000%@");
  EXPECT_EQ(cpu_name_key(""), "");
}

TEST(Processor, AClockStandsInForANumber) {
  EXPECT_EQ(cpu_name_key("Intel(R) Xeon(R) CPU @ 2.20GHz"), "intel xeon");
  EXPECT_EQ(cpu_name_key_or_clock("Intel(R) Xeon(R) CPU @ 2.20GHz"), "intel xeon 2.20ghz");
  EXPECT_EQ(cpu_name_key_or_clock("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz"), "intel xeon platinum 8375c");
  EXPECT_EQ(cpu_name_key_or_clock("Intel(R) Xeon(R) Processor"), "intel xeon");
}

TEST(Processor, FlagsAndArmCores) {
  EXPECT_EQ(platform_flag("amx_tile"), "amx");
  EXPECT_EQ(platform_flag("sha_ni"), "sha");
  EXPECT_EQ(platform_flag("avx2"), "avx2");
  EXPECT_EQ(platform_flag("sse4_2"), "");
  EXPECT_EQ(arm_vendor(0x41), "ARM");
  EXPECT_EQ(arm_vendor(0x00), "");
  EXPECT_EQ(arm_core_name(0x41, 0xd0c), "Neoverse-N1");
  EXPECT_EQ(arm_core_name(0x41, 0x001), "");
}

}  // namespace
}  // namespace perfcast
