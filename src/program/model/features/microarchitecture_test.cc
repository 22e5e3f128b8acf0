#include "program/model/features/microarchitecture.h"

#include <gtest/gtest.h>

namespace perfcast::program {
namespace {

Platform cpu(const std::string& vendor, int64_t family, int64_t model, const std::string& arch = "x86_64") {
  Platform platform;
  platform.id = "id";
  platform.vendor = vendor;
  platform.arch = arch;
  platform.cpu_family = family;
  platform.model = model;
  return platform;
}

TEST(Microarchitecture, ByVendorFamilyAndModel) {
  EXPECT_EQ(microarchitecture(cpu("AuthenticAMD", 23, 0x01)), "zen1");
  EXPECT_EQ(microarchitecture(cpu("AMD", 23, 0x31)), "zen2");
  EXPECT_EQ(microarchitecture(cpu("AMD", 25, 0x01)), "zen3");
  EXPECT_EQ(microarchitecture(cpu("AMD", 25, 0x11)), "zen4");
  EXPECT_EQ(microarchitecture(cpu("AMD", 25, 0xa0)), "zen4");
  EXPECT_EQ(microarchitecture(cpu("AMD", 26, 0x02)), "zen5");
  EXPECT_EQ(microarchitecture(cpu("GenuineIntel", 6, 85)), "skylake-server");
  EXPECT_EQ(microarchitecture(cpu("Intel", 6, 143)), "sapphire-rapids");
  EXPECT_EQ(microarchitecture(cpu("Intel", 6, 9999)), "id");
  EXPECT_EQ(microarchitecture(cpu("ARM", 8, 1, "aarch64")), "id");
  EXPECT_EQ(microarchitecture(Platform{}), "");
}

TEST(CoreLine, IsCoarser) {
  EXPECT_EQ(core_line(cpu("GenuineIntel", 6, 85)), "intel-core");
  EXPECT_EQ(core_line(cpu("GenuineIntel", 6, 106)), "intel-cove");
  EXPECT_EQ(core_line(cpu("AuthenticAMD", 25, 1)), "amd");
  EXPECT_EQ(core_line(cpu("ARM", 8, 1, "aarch64")), "arm");
  Platform other;
  other.vendor = "Loongson";
  EXPECT_EQ(core_line(other), "loongson");
}

}  // namespace
}  // namespace perfcast::program
