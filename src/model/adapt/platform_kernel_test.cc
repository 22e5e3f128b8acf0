#include "model/adapt/platform_kernel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/adapt/adapt_world.h"

namespace perfcast {
namespace {

size_t kind(FactKind of) { return static_cast<size_t>(of); }

TEST(PlatformKernel, FactsHaveKinds) {
  EXPECT_EQ(fact_kind("bwmem_rdwr_16kib_per_vcpu_bytes_per_s"), kind(FactKind::kCore));
  EXPECT_EQ(fact_kind("bwmem_rd_4mb_per_vcpu_bytes_per_s"), kind(FactKind::kCaches));
  EXPECT_EQ(fact_kind("bwmem_wr_64mb_per_vcpu_bytes_per_s"), kind(FactKind::kMemory));
  EXPECT_EQ(fact_kind("l2_bytes"), kind(FactKind::kSizes));
  EXPECT_EQ(fact_kind("provider_aws_ratio"), kFactKinds);
}

TEST(PlatformKernel, AHypervisorsPlaceholderIsNoClock) {
  Platform platform;
  platform.facts = {{"max_hz", 2e9}, {"l2_bytes", 1024}};
  const std::vector<double> logs = log_facts(platform, {"max_hz", "l2_bytes", "l3_bytes"});
  EXPECT_TRUE(std::isnan(logs[0]));
  EXPECT_DOUBLE_EQ(logs[1], std::log(1024));
  EXPECT_TRUE(std::isnan(logs[2]));
}

TEST(PlatformKernel, ParametersComeBack) {
  PlatformKernel kernel;
  kernel.bend[2] = 7;
  kernel.provider = 3;
  const PlatformKernel same = PlatformKernel::of(kernel.parameters());
  EXPECT_EQ(same.parameters(), kernel.parameters());
}

TEST(PlatformKernel, LikePlatformsAreNearer) {
  adapt_world::AdaptWorld world = adapt_world::adapt_world();
  world.platforms[1].facts = world.platforms[0].facts;
  std::vector<size_t> known(world.platforms.size());
  for (size_t i = 0; i < known.size(); ++i) known[i] = i;
  const PlatformLikeness likeness(world.platforms, known);
  EXPECT_NEAR(likeness.distance(0, 1), 0, 1e-12);
  EXPECT_EQ(likeness.designs()[0], likeness.designs()[3]);
  EXPECT_NE(likeness.designs()[0], likeness.designs()[4]);
  const Eigen::MatrixXd covariance = likeness.covariance({}, known, known);
  EXPECT_GT(covariance(0, 1), covariance(0, 2));
  EXPECT_NEAR((covariance - covariance.transpose()).cwiseAbs().maxCoeff(), 0, 1e-12);
}

}  // namespace
}  // namespace perfcast
