#include "machine/ceiling/machine_ceilings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "machine/ceiling/cpu_isa.h"
#include "machine/ceiling/peak_loops.h"
#include "machine/ceiling/register_block.h"

namespace perfcast {
namespace {

// Of one measurement, which all tests look at.
const MachineCeilings& measured() {
  static const MachineCeilings kCeilings = measure_machine_ceilings();
  return kCeilings;
}

TEST(MachineCeilings, AreMeasuredInAboutASecond) {
  EXPECT_EQ(measured().cpus_count, online_cores());
  EXPECT_GT(measured().took_s, 0);
}

TEST(MachineCeilings, GrowWithTheWidthOfRegisters) {
  for (const char* format : {"fp32", "fp64"}) {
    const ComputeCeiling* const widest = measured().widest(format);
    if (peak_loops().empty() || !measured().notes.empty()) GTEST_SKIP() << "not all was measured";
    ASSERT_NE(widest, nullptr);
    const auto scalar =
        std::find_if(measured().compute.begin(), measured().compute.end(),
                     [&](const ComputeCeiling& ceiling) { return ceiling.format == format && ceiling.lanes == 1; });
    ASSERT_NE(scalar, measured().compute.end());
    EXPECT_EQ(scalar->isa, kScalarIsa);
    EXPECT_GT(scalar->one_cpu_flops_per_s, 1e8);
    EXPECT_GT(widest->one_cpu_flops_per_s, 1.2 * scalar->one_cpu_flops_per_s);
    for (const ComputeCeiling& ceiling : measured().compute) {
      if (ceiling.format != format) continue;
      EXPECT_LE(ceiling.lanes, widest->lanes) << ceiling.isa;
    }
  }
}

TEST(MachineCeilings, FallWithTheDistanceOfTheMemory) {
  if (measured().bandwidth.empty() || !measured().notes.empty()) GTEST_SKIP() << "not all was measured";
  const BandwidthCeiling* const nearest = measured().level("L1");
  const BandwidthCeiling* const memory = measured().level("memory");
  ASSERT_NE(nearest, nullptr);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(measured().bandwidth.front().level, "L1");
  EXPECT_EQ(measured().bandwidth.back().level, "memory");
  EXPECT_GT(nearest->one_cpu_bytes_per_s, memory->one_cpu_bytes_per_s);
  EXPECT_GT(memory->one_cpu_bytes_per_s, 1e8);
  EXPECT_EQ(measured().level("L9"), nullptr);
}

TEST(MachineCeilings, KnowTheClock) {
  if (run_addition_chain(1) < 0) GTEST_SKIP() << "no loops for this architecture";
  EXPECT_GT(measured().clock_hz, 2e8);
  EXPECT_LT(measured().clock_hz, 1e10);
  EXPECT_GT(measured().one_cpu_additions_per_s, 1.2 * measured().clock_hz);
}

TEST(MachineCeilings, HoldAProduct) {
  if (register_block_here() == nullptr || !measured().notes.empty()) GTEST_SKIP() << "not measured here";
  EXPECT_GT(measured().one_cpu_product_flops_per_s, 1e8);
  EXPECT_LT(measured().one_cpu_product_flops_per_s, 2 * measured().widest("fp32")->one_cpu_flops_per_s);
}

}  // namespace
}  // namespace perfcast
