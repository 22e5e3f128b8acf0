#include "program/model/forecast/wider_vectors.h"

#include <gmock/gmock.h>

#include <cmath>

namespace perfcast::program {
namespace {

using testing::EndsWith;

std::vector<Platform> four_platforms() {
  std::vector<Platform> platforms(4);
  platforms[0].flags = {"aes", "avx2", "avx512f"};
  platforms[1].flags = {"avx2"};
  platforms[2].flags = {"amx", "avx2", "avx512f"};
  platforms[3].flags = {"asimd", "sve"};
  return platforms;
}

Profile with_ratio(double ratio) {
  Profile profile;
  profile.metrics["wider_code_per_instruction_ratio"] = ratio;
  return profile;
}

TEST(WiderVectors, SetPlatformsWithAvx512ApartFromTheOthers) {
  const Eigen::VectorXd deviation = wider_vectors_deviation(with_ratio(0.25), four_platforms());
  const double half = 0.5 * kWiderVectorsDeviation_ln * std::sqrt(0.25);
  EXPECT_TRUE(deviation.isApprox(Eigen::Vector4d(half, -half, half, -half)));
  EXPECT_EQ(wider_vectors_deviation(with_ratio(7), four_platforms()),
            wider_vectors_deviation(with_ratio(1), four_platforms()));
}

TEST(WiderVectors, SayNothingOfALittleAndOfOldProfiles) {
  for (const Profile& profile : {with_ratio(0.019), with_ratio(std::nan("")), Profile()}) {
    EXPECT_TRUE(wider_vectors_deviation(profile, four_platforms()).isZero(0));
    EXPECT_FALSE(wider_vectors_warning(profile, four_platforms()));
  }
  std::vector<Platform> alike(3);
  EXPECT_FALSE(wider_vectors_warning(with_ratio(0.5), alike));
  EXPECT_EQ(wider_vectors_deviation(with_ratio(0.5), {}).size(), 0);
}

TEST(WiderVectors, WarningSaysWhichPlatforms) {
  Profile profile = with_ratio(0.3);
  profile.warnings.push_back({"wider-vectors", "30% of the instructions ran in libwide.so", ""});
  auto warning = wider_vectors_warning(profile, four_platforms());
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->code, "wider-vectors");
  EXPECT_EQ(warning->message,
            "30% of the instructions ran in libwide.so. 2 of the 4 CPU models have AVX-512. Comparisons of these with "
            "the others are less sure, so their intervals are wider");
  profile.metrics["wider_code_amx_instructions_count"] = 5;
  warning = wider_vectors_warning(profile, four_platforms());
  EXPECT_THAT(warning->message, EndsWith("have AVX-512, 1 also AMX. Comparisons of these with the others are less "
                                         "sure, so their intervals are wider"));
}

}  // namespace
}  // namespace perfcast::program
