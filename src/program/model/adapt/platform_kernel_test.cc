#include "program/model/adapt/platform_kernel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "program/model/adapt/adapt_world.h"

namespace perfcast::program {
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

// Flags come from files: time must not grow with their square.
TEST(PlatformKernel, ManyFlagsTakeNoTime) {
  adapt_world::AdaptWorld world = adapt_world::adapt_world();
  std::vector<size_t> known(world.platforms.size());
  for (size_t i = 0; i < known.size(); ++i) known[i] = i;
  world.platforms[0].flags = {"avx2"};
  Platform added = world.platforms[3];
  added.flags = {"avx2"};
  Platform flagged = added;
  for (int i = 0; i < 300000; ++i) flagged.flags.push_back("f" + std::to_string(i));
  world.platforms.push_back(added);
  world.platforms.push_back(flagged);
  const auto before = std::chrono::steady_clock::now();
  const PlatformLikeness likeness(world.platforms, known);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
  // Those that no known platform has say nothing.
  EXPECT_NEAR(likeness.distance(known.size(), known.size() + 1), 0, 1e-12);
  EXPECT_GT(likeness.distance(known.size(), 3), 0);
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
}  // namespace perfcast::program
