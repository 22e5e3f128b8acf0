#include "machine/ceiling/peak_loops.h"

#include <gtest/gtest.h>

#include <cmath>

#include "machine/ceiling/cpu_isa.h"

namespace perfcast {
namespace {

TEST(PeakLoops, DoTheirWork) {
  if (peak_loops().empty()) GTEST_SKIP() << "no loops for this architecture";
  const bool tiles = request_amx();
  for (const PeakLoop& loop : peak_loops()) {
    if (loop.isa.starts_with("amx") && !tiles) continue;
    EXPECT_TRUE(loop.isa == kScalarIsa || cpu_has(loop.isa));
    EXPECT_EQ(find_peak_loop(loop.isa, loop.format), &loop);
    // Sums grow with the passes: none was left out. Integers are read as the bits of tiny floats, and grow as well.
    const float once = loop.run(100), twice = loop.run(200);
    EXPECT_GT(once, 0) << loop.isa << ' ' << loop.format;
    EXPECT_GT(twice, once) << loop.isa << ' ' << loop.format;
    if (!loop.format.starts_with("fp")) continue;
    EXPECT_NEAR(once / 100.0, 12 * 1.1e-3 * 1.1e-3, 1e-7) << loop.isa << ' ' << loop.format;
    EXPECT_EQ(loop.operations, 2 * 12 * loop.lanes);
  }
}

TEST(PeakLoops, AddWholeNumbers) {
  if (peak_loops().empty()) GTEST_SKIP() << "no loops for this architecture";
  EXPECT_EQ(run_additions(1000), 1000 * kAdditions);
  EXPECT_EQ(run_addition_chain(1000), 1000 * kAdditions);
}

TEST(CpuIsa, KnowsThisCpu) {
  EXPECT_FALSE(cpu_has("avx9000"));
  for (const auto& isa : cpu_isas()) EXPECT_TRUE(cpu_has(isa)) << isa;
  EXPECT_GE(online_cores(), 1);
  EXPECT_FALSE(cpu_title().empty());
}

}  // namespace
}  // namespace perfcast
