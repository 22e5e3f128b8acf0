#include "program/evaluate/platform_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::program {
namespace {

using testing::HasSubstr;

std::vector<Platform> platforms() {
  std::vector<Platform> result;
  for (const char* name : {"AMD EPYC 9R14", "AMD EPYC 9R14 96-Core Processor", "AMD EPYC 9R45", "Neoverse-N1"}) {
    Platform platform;
    platform.name = name;
    platform.id = slug(name);
    result.push_back(platform);
  }
  return result;
}

TEST(FindPlatform, ByIdNameOrUniquePart) {
  EXPECT_EQ(*find_platform(platforms(), "neoverse-n1", ""), 3u);
  EXPECT_EQ(*find_platform(platforms(), "AMD EPYC 9R14", ""), 0u);  // verbatim, though part of another
  EXPECT_EQ(*find_platform(platforms(), "amd epyc 9r14 96-core processor", ""), 1u);
  EXPECT_EQ(*find_platform(platforms(), "9r45", ""), 2u);
}

TEST(FindPlatform, ListsCandidatesOfAnAmbiguousPart) {
  const auto found = find_platform(platforms(), "EPYC", "--reference");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "ambiguous-platform");
  EXPECT_EQ(found.error().where, "--reference");
  EXPECT_EQ(found.error().expected, "one of AMD EPYC 9R14, AMD EPYC 9R14 96-Core Processor, AMD EPYC 9R45");
}

TEST(FindPlatform, ListsNearNamesOfAnUnknownOne) {
  const auto found = find_platform(platforms(), "Neoverse-N7", "");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "unknown-platform");
  EXPECT_THAT(found.error().expected, HasSubstr("Neoverse-N1"));
  EXPECT_EQ(find_platform(platforms(), "", "").error().code, "unknown-platform");
  EXPECT_EQ(found.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(find_platform(platforms(), "Neoverse-N7", "x.json", ErrorKind::kData).error().kind, ErrorKind::kData);
}

TEST(FindPlatform, AnArmCoreStandsForItsChips) {
  std::vector<Platform> chips(4);
  const char* names[] = {"AWS Graviton2", "Ampere Altra", "AWS Graviton3", "Intel Xeon Platinum 8280L (Azure)"};
  for (size_t i = 0; i < chips.size(); ++i) {
    chips[i].name = names[i];
    chips[i].id = slug(names[i]);
  }
  EXPECT_EQ(*find_platform(chips, "neoverse-v1", ""), 2u);
  EXPECT_EQ(*find_platform(chips, "Intel(R) Xeon(R) Platinum 8280L CPU @ 2.70GHz", ""), 3u);
  EXPECT_EQ(*find_platform(chips, "altra", ""), 1u);
  const auto two = find_platform(chips, "Neoverse-N1", "--reference");
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, "ambiguous-platform");
  EXPECT_EQ(two.error().message, "'Neoverse-N1' stands for 2 platforms that differ");
  EXPECT_EQ(two.error().expected, "one of AWS Graviton2, Ampere Altra");
  // Before, the core's name was all that was known.
  EXPECT_EQ(*find_platform(platforms(), "AWS Graviton2", ""), 3u);
  EXPECT_EQ(find_platform(platforms(), "AWS Graviton3", "").error().code, "unknown-platform");
}

TEST(LookUpPlatform, HasNothingOfAnUnknownOne) {
  EXPECT_EQ(**look_up_platform(platforms(), "neoverse-n1", ""), 3u);
  const auto unknown = look_up_platform(platforms(), "Neoverse-N7", "");
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(*unknown);
  EXPECT_EQ(look_up_platform(platforms(), "EPYC", "").error().code, "ambiguous-platform");
}

}  // namespace
}  // namespace perfcast::program
