#include "workload/gemm/kernel/peak_loops.h"

#include <gtest/gtest.h>

#include <cmath>

#include "workload/gemm/kernel/cpu_isa.h"

namespace perfcast::gemm {
namespace {

TEST(PeakLoops, DoTheirWork) {
  if (peak_loops().empty()) GTEST_SKIP() << "no loops for this architecture";
  const bool tiles = request_amx();
  for (const PeakLoop& loop : peak_loops()) {
    if (loop.isa.starts_with("amx") && !tiles) continue;
    EXPECT_TRUE(cpu_has(loop.isa));
    EXPECT_EQ(find_peak_loop(loop.isa, loop.precision), &loop);
    // Sums grow with the passes: none was left out. Integers are read as the bits of tiny floats, and grow as well.
    const float once = loop.run(100), twice = loop.run(200);
    EXPECT_GT(once, 0) << loop.isa;
    EXPECT_GT(twice, once) << loop.isa;
    if (loop.precision == Precision::kFp32) {
      const double each = loop.operations > 0 ? once / 100.0 : 0;
      EXPECT_NEAR(each, 12 * 1.1e-3 * 1.1e-3, 1e-7) << loop.isa;
    }
  }
}

TEST(CpuIsa, KnowsThisCpu) {
  EXPECT_FALSE(cpu_has("avx9000"));
  for (const auto& isa : cpu_isas()) EXPECT_TRUE(cpu_has(isa)) << isa;
  EXPECT_GE(online_cores(), 1);
  EXPECT_FALSE(cpu_title().empty());
}

}  // namespace
}  // namespace perfcast::gemm
