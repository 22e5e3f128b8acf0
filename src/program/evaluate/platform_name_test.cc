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

TEST(LookUpPlatform, HasNothingOfAnUnknownOne) {
  EXPECT_EQ(**look_up_platform(platforms(), "neoverse-n1", ""), 3u);
  const auto unknown = look_up_platform(platforms(), "Neoverse-N7", "");
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(*unknown);
  EXPECT_EQ(look_up_platform(platforms(), "EPYC", "").error().code, "ambiguous-platform");
}

}  // namespace
}  // namespace perfcast::program
