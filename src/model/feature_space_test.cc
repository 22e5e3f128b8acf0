#include "model/feature_space.h"

#include <gmock/gmock.h>

#include <cmath>

#include "model/bundle.h"
#include "model/features.h"

namespace perfcast {
namespace {

using testing::ElementsAre;

Profile on(const std::string& gpu, MetricValues metrics) {
  Profile profile;
  profile.host.cpu_model = gpu;
  profile.metrics = std::move(metrics);
  return profile;
}

std::vector<const Profile*> pointers(const std::vector<Profile>& profiles) {
  std::vector<const Profile*> result;
  for (const Profile& profile : profiles) result.push_back(&profile);
  return result;
}

std::vector<Profile> three() {
  return {on("B", {{"occupancy_ratio", 0.25}, {"warps_count", 0}, {"clock_hz", 1e9}, {"rare_count", 1}}),
          on("A", {{"occupancy_ratio", 0.5}, {"warps_count", 8}, {"clock_hz", 1e9}}),
          on("A", {{"occupancy_ratio", 1.0}, {"warps_count", 800}})};
}

TEST(FeatureSpace, TakesTheCountersThatVary) {
  const std::vector<Profile> profiles = three();
  const FeatureSpace space = FeatureSpace::choose(pointers(profiles));
  EXPECT_EQ(space.kind(), FeatureSpace::Kind::kCounters);
  // A constant and a counter of a single profile say nothing; what spans magnitudes comes as a logarithm.
  EXPECT_THAT(space.names(), ElementsAre("occupancy_ratio", "log_warps_count", "on_A", "on_B"));
  const Eigen::MatrixXd rows = space.extract(pointers(profiles));
  EXPECT_EQ(rows(0, 0), 0.25);
  EXPECT_DOUBLE_EQ(rows(0, 1), std::log(4));  // half of the smallest positive value stands in for 0
  EXPECT_DOUBLE_EQ(rows(2, 1), std::log(804));
  EXPECT_EQ(rows(0, 2), 0);
  EXPECT_EQ(rows(0, 3), 1);
}

TEST(FeatureSpace, KeepsWhatIsAbsentAbsent) {
  const std::vector<Profile> profiles = three();
  const FeatureSpace space = FeatureSpace::choose(pointers(profiles));
  const std::vector<Profile> other = {on("C", {{"warps_count", -1}, {"occupancy_ratio", NAN}})};
  EXPECT_TRUE(space.extract(pointers(other)).array().isNaN().all());
}

TEST(FeatureSpace, IsTheWorkWhereProfilesHaveAnInstructionMix) {
  Profile profile;
  for (const std::string& metric : feature_metrics()) profile.metrics[metric] = 10;
  profile.metrics["instructions_count"] = 1000;
  const FeatureSpace space = FeatureSpace::choose({&profile, &profile});
  EXPECT_EQ(space.kind(), FeatureSpace::Kind::kWork);
  EXPECT_EQ(space.names(), feature_names());
}

TEST(FeatureSpace, ReadsTheSameAfterSaveAndLoad) {
  const std::vector<Profile> profiles = three();
  const FeatureSpace space = FeatureSpace::choose(pointers(profiles));
  TensorMap tensors;
  space.save(tensors);
  FeatureSpace back;
  ASSERT_TRUE(back.load(tensors));
  EXPECT_EQ(back.names(), space.names());
  EXPECT_EQ(back.extract(pointers(profiles)), space.extract(pointers(profiles)));
  tensors.put_json("feature_space", {{"kind", "counters"}, {"counters", {{{"metric", 3}}}}});
  EXPECT_EQ(back.load(tensors).error().code, "bad-bundle");
}

}  // namespace
}  // namespace perfcast
