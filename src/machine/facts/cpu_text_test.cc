#include "machine/facts/cpu_text.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

TEST(CpuText, OfLscpuHasTheModel) {
  const auto host = cpu_facts_from_text(
      "Architecture:            x86_64\n  CPU op-mode(s):        32-bit, 64-bit\nVendor ID:  GenuineIntel\n"
      "  Model name:            Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz\n    CPU family:  6\n    Model:  106\n"
      "    Stepping:            6\n    Flags:               fpu avx2\n");
  ASSERT_TRUE(host);
  EXPECT_EQ(host->name, "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz");
  EXPECT_EQ(host->vendor, "GenuineIntel");
  EXPECT_EQ(host->arch, "x86_64");
  EXPECT_EQ(host->cpu_family, 6);
  EXPECT_EQ(host->model, 106);
  EXPECT_EQ(host->stepping, 6);
  EXPECT_EQ(host->cpu_flags, (std::vector<std::string>{"fpu", "avx2"}));
}

TEST(CpuText, OfCpuinfoIsTheFirstCpu) {
  const auto host = cpu_facts_from_text(
      "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\n\nprocessor\t: "
      "1\nmodel\t: "
      "2\nmodel name\t: other\n");
  ASSERT_TRUE(host);
  EXPECT_EQ(host->name, "AMD EPYC 7763");
  EXPECT_EQ(host->model, 1);
}

TEST(CpuText, WithoutAModelIsNone) {
  EXPECT_FALSE(cpu_facts_from_text("Neoverse-N1"));
  EXPECT_FALSE(cpu_facts_from_text("Model name: -\nModel: x\n"));
  EXPECT_FALSE(cpu_facts_from_text(""));
}

}  // namespace
}  // namespace perfcast
