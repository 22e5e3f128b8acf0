#include "program/evaluate/platform_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::program {
namespace {

Platform platform(const std::string& id, const std::string& vendor, double clock_hz) {
  Platform result;
  result.id = result.name = id;
  result.arch = "x86_64";
  result.vendor = vendor;
  result.facts["max_hz"] = clock_hz;
  return result;
}

// Times fall with the clock, and the vendor doubles them.
double log_time(const Platform& platform, double slope) {
  return -slope * std::log(platform.facts.at("max_hz") / 3e9) + (platform.vendor == "AMD" ? 0.7 : 0);
}

struct PlatformWorld {
  std::vector<Platform> platforms;
  std::vector<size_t> known;
  Eigen::MatrixXd columns;  // 4 programs x known, centred

  PlatformWorld() {
    for (int i = 0; i < 12; ++i) platforms.push_back(platform("i" + std::to_string(i), "Intel", 2e9 + 2e8 * i));
    for (int i = 0; i < 12; ++i) platforms.push_back(platform("a" + std::to_string(i), "AMD", 2e9 + 2e8 * i));
    for (size_t i = 0; i < platforms.size(); ++i) {
      if (i != 5) known.push_back(i);
    }
    columns.resize(4, static_cast<int64_t>(known.size()));
    for (int64_t p = 0; p < 4; ++p) {
      for (size_t j = 0; j < known.size(); ++j) columns(p, j) = log_time(platforms[known[j]], 0.5 + 0.5 * p);
    }
    columns = columns.colwise() - columns.rowwise().mean().eval();
  }
};

TEST(PlatformFeatures, LeaveOutWhatDoesNotVaryAndFillWhatIsNotStated) {
  std::vector<Platform> platforms = {platform("a", "Intel", 2e9), platform("b", "Intel", 4e9),
                                     platform("c", "Intel", 3e9)};
  platforms[2].facts.clear();
  const Eigen::MatrixXd features = platform_features(platforms, {0, 1});
  ASSERT_EQ(features.cols(), 1);  // the clock alone varies
  EXPECT_NEAR(features(0, 0), -std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(features(1, 0), std::sqrt(0.5), 1e-12);
  EXPECT_EQ(features(2, 0), 0);
}

TEST(PlatformTransfer, PredictsAPlatformBetweenItsNeighbours) {
  const PlatformWorld world;
  const PlatformTransfer transfer(platform_features(world.platforms, world.known), world.known, world.columns,
                                  world.columns);
  const Eigen::VectorXd predicted = world.columns * transfer.weights(5);
  for (int64_t p = 0; p < 4; ++p) {
    const double between = (world.columns(p, 4) + world.columns(p, 5)) / 2;  // i4 and i6
    EXPECT_NEAR(predicted(p), between, 0.03) << p;
  }
  EXPECT_GT(transfer.half_width_log(), 0);
  EXPECT_LT(transfer.half_width_log(), 0.2);
}

TEST(NearestByFacts, HasTheNearestFacts) {
  const PlatformWorld world;
  const size_t nearest = world.known[nearest_by_facts(platform_features(world.platforms, world.known), world.known, 5)];
  EXPECT_TRUE(nearest == 4 || nearest == 6) << nearest;
}

}  // namespace
}  // namespace perfcast::program
