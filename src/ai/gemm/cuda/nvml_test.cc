#include "ai/gemm/cuda/nvml.h"

#include <gmock/gmock.h>

#include <cmath>

namespace perfcast::ai::gemm {
namespace {

using testing::HasSubstr;

TEST(Nvml, ReadsWhatTheDriverTells) {
  const auto facts = read_gpu_facts(PERFCAST_FAKE_NVML);
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->name, "Example GPU");
  EXPECT_EQ(facts->driver, "580.1");
  EXPECT_EQ(facts->memory_bytes, 85899345920.0);
  EXPECT_EQ(facts->clock_hz, 1.41e9);
  EXPECT_EQ(facts->clock_limit_hz, 1.98e9);
  EXPECT_EQ(facts->power_w, 71.5);
  EXPECT_TRUE(std::isnan(facts->power_limit_w));  // refused, and not zero
  EXPECT_EQ(facts->temperature_c, 42);
}

TEST(Nvml, SaysWhatIsMissing) {
  const auto absent = read_gpu_facts("libno-such-nvml.so.1");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, "unavailable");
  EXPECT_THAT(absent.error().message, HasSubstr("NVML is missing: libno-such-nvml.so.1"));
  // A library that is something else.
  EXPECT_EQ(read_gpu_facts("libm.so.6").error().code, "unavailable");
}

}  // namespace
}  // namespace perfcast::ai::gemm
