#include "profile/whole_metrics.h"

#include <gmock/gmock.h>

#include "base/json.h"

namespace perfcast {
namespace {

// The native run took 2 s.
Profile cut_profile(double seen_ratio = 0.25) {
  Profile profile;
  profile.program = "prog";
  profile.metrics = Catalogue::built_in().derive({{"wall_s", 2},
                                                  {"cpu_s", 2},
                                                  {"user_s", 2},
                                                  {"page_faults_minor_count", 300},
                                                  {"instructions_count", 4e9},
                                                  {"branches_count", 4e8},
                                                  {"loads_count", 1e9},
                                                  {"stores_count", 5e8},
                                                  {"miss_32k_random_count", 4e6}});
  profile.partly_seen = {seen_ratio, 0.1, false};
  profile.replicates = {{{"miss_32k_random_count", 6e6}}};
  profile.parts.resize(1);
  profile.parts[0].program = "prog";
  profile.parts[0].metrics = profile.metrics;
  profile.exit_code = 0;
  return profile;
}

TEST(WholeMetrics, KeepRatiosAndWhatIsNative) {
  const Profile profile = cut_profile(0.5);
  const MetricValues whole = whole_metrics(profile);
  EXPECT_EQ(whole.at("wall_s"), 2);
  EXPECT_EQ(whole.at("page_faults_minor_count"), 300);
  EXPECT_DOUBLE_EQ(whole.at("branches_per_instruction_ratio"), 0.1);
  EXPECT_FALSE(whole.contains("instructions_count"));
  EXPECT_FALSE(whole.contains("miss_32k_random_count"));
  ASSERT_TRUE(profile.metrics.contains("instructions_per_s") && profile.metrics.contains("program_instructions_count"));
  EXPECT_FALSE(whole.contains("instructions_per_s")) << "of a native time and a count of a part";
  EXPECT_FALSE(whole.contains("program_instructions_count"));
}

TEST(WholeMetrics, AreNativeWhereLittleWasSeen) {
  const MetricValues whole = whole_metrics(cut_profile(0.49));
  EXPECT_EQ(whole.at("cpu_s"), 2);
  EXPECT_EQ(whole.at("page_faults_minor_count"), 300);
  EXPECT_EQ(whole.count("branches_per_instruction_ratio"), 0);
  EXPECT_EQ(whole.count("instructions_count"), 0);
}

TEST(WholeMetrics, AreAllWhereTheWholeIsKnown) {
  Profile profile = cut_profile();
  profile.partly_seen->knows_whole_counts = true;
  EXPECT_EQ(whole_metrics(profile), profile.metrics);
  profile.partly_seen.reset();
  EXPECT_EQ(whole_metrics(profile), profile.metrics);
}

TEST(WholeMetrics, OfAFileAreNoEstimates) {
  const Profile profile = cut_profile();
  const Json json = to_json(profile);
  EXPECT_FALSE(json["metrics"].contains("instructions_count"));
  EXPECT_EQ(json["missing"]["instructions_count"], kNoWholeCounts);
  EXPECT_EQ(json["partly_seen"]["counted"]["instructions_count"], 1e9) << "what was counted";
  EXPECT_EQ(json["partly_seen"]["counted"]["miss_32k_random_count"], 1e6);
  EXPECT_EQ(json["replicates"][0]["miss_32k_random_count"], 1.5e6);
  EXPECT_FALSE(json["processes"][0]["metrics"].contains("instructions_count"));
  EXPECT_EQ(json["processes"][0]["counted"]["instructions_count"], 1e9);
}

TEST(WholeMetrics, OfAFileGiveForecastsWhatTheyHad) {
  const Profile profile = cut_profile();
  auto again = profile_from_json(to_json(profile), "p.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->metrics, profile.metrics);
  EXPECT_EQ(again->parts, profile.parts);
  EXPECT_EQ(again->replicates, profile.replicates);
  EXPECT_EQ(again->partly_seen, profile.partly_seen);
  EXPECT_FALSE(again->missing.contains("instructions_count"));
}

}  // namespace
}  // namespace perfcast
