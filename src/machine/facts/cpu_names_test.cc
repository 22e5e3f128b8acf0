#include "machine/facts/cpu_names.h"

#include <gtest/gtest.h>

#include "machine/facts/core_design.h"
#include "machine/facts/platform.h"

namespace perfcast {
namespace {

TEST(CpuNames, AreWrittenAsTheProcessorWritesThem) {
  EXPECT_EQ(cpuid_name("AMD EPYC 7763 64-Core"), "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(cpuid_name("AMD EPYC 7763 64-Core Processor"), "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(cpuid_name("AMD EPYC 7B12"), "AMD EPYC 7B12");
  EXPECT_EQ(cpuid_name("Intel Xeon Platinum 8124M"), "Intel(R) Xeon(R) Platinum 8124M CPU @ 3.00GHz");
  EXPECT_EQ(cpuid_name("Intel Xeon E5-2680 v2"), "Intel(R) Xeon(R) CPU E5-2680 v2 @ 2.80GHz");
  EXPECT_EQ(cpuid_name("Intel Xeon Gold 6138"), "Intel Xeon Gold 6138");
  EXPECT_EQ(cpuid_name("AMD Ryzen 9 5950X 16-Core"), "AMD Ryzen 9 5950X 16-Core");
  EXPECT_EQ(cpuid_name(""), "");
}

std::string design_of(const std::string& name) { return core_design(identity_of_name(name)); }

TEST(CpuNames, TellTheSilicon) {
  EXPECT_EQ(design_of("AMD EPYC 7601 32-Core"), "zen1");
  EXPECT_EQ(design_of("AMD EPYC 7F52 16-Core"), "zen2");
  EXPECT_EQ(design_of("AMD EPYC 75F3 32-Core"), "zen3");
  EXPECT_EQ(design_of("AMD EPYC 9354 32-Core"), "unknown");
  EXPECT_EQ(design_of("Intel Xeon E5-2680 0"), "sandy-bridge");
  EXPECT_EQ(design_of("Intel Xeon E5-2680 v3"), "haswell");
  EXPECT_EQ(design_of("Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz"), "broadwell");
  EXPECT_EQ(design_of("Intel Xeon Silver 4108"), "skylake-server");
  EXPECT_EQ(design_of("Intel Xeon Gold 6226R"), "cascade-lake");
  EXPECT_EQ(design_of("Intel Xeon Platinum 8380"), "ice-lake");
  EXPECT_EQ(design_of("Intel Xeon E3-1275 v6"), "skylake-client");
  EXPECT_EQ(design_of("Intel Xeon E-2288G"), "skylake-client");
  EXPECT_EQ(design_of("Intel Core i9-9900K"), "skylake-client");
  EXPECT_EQ(design_of("Intel Core i3-10100"), "skylake-client");
  EXPECT_EQ(design_of("Intel Core i5-11600K"), "ice-lake");
  EXPECT_EQ(design_of("Intel Core i5-2500K"), "sandy-bridge");
  EXPECT_EQ(design_of("Intel Core i7-4770"), "haswell");
  EXPECT_EQ(design_of("Ampere Altra ARMv8 Neoverse-N1 160-Core"), "neoverse-n1");
  for (const char* silent : {"", "Intel Xeon", "Intel Xeon Gold", "AMD EPYC", "Intel Xeon E5-", "Intel Xeon E5-26 v3",
                             "Intel Xeon E312xx", "Intel Core i7-8565U", "Intel Core i7-5960X", "Intel Core i7-4820K",
                             "Intel Core i7 860", "Intel Core i7-", "Intel Core", "POWER9 44-Core"}) {
    EXPECT_EQ(design_of(silent), "unknown") << silent;
  }
  EXPECT_EQ(identity_of_name("Intel Core i9-9900K").vendor, "Intel");
  EXPECT_EQ(identity_of_name("Phytium FT1500A").vendor, "");
}

TEST(CpuNames, TellWhoHasIt) {
  EXPECT_EQ(segment_of_name("AMD EPYC 7742 64-Core"), "server");
  EXPECT_EQ(segment_of_name("Intel Xeon Silver 4216"), "server");
  EXPECT_EQ(segment_of_name("Intel(R) Xeon(R) CPU E5-2680 v2 @ 2.80GHz"), "server");
  EXPECT_EQ(segment_of_name("Ampere Altra ARMv8 Neoverse-N1 160-Core"), "server");
  EXPECT_EQ(segment_of_name("Intel Xeon E3-1280 v5"), "desktop");
  EXPECT_EQ(segment_of_name("Intel Xeon E-2288G"), "desktop");
  EXPECT_EQ(segment_of_name("Intel Xeon W-2295"), "desktop");
  EXPECT_EQ(segment_of_name("AMD Ryzen 9 5950X 16-Core"), "desktop");
}

TEST(CpuNames, DesignsHaveFlags) {
  EXPECT_EQ(flags_of_design("cascade-lake"), (std::vector<std::string>{"aes", "avx2", "avx512f"}));
  EXPECT_TRUE(flags_of_design("unknown").empty());
}

}  // namespace
}  // namespace perfcast
