#include "program/forecast/platform_filter.h"

#include <gtest/gtest.h>

namespace perfcast::program {
namespace {

bool is_shown(const std::string& filter, const std::string& name) {
  Platform platform;
  platform.name = name;
  const auto filters = parse_platform_filters({filter});
  EXPECT_TRUE(filters.ok());
  return passes(*filters, platform, {});
}

TEST(PlatformFilter, ChipsByTheirCoresToo) {
  EXPECT_TRUE(is_shown("graviton", "AWS Graviton2"));
  EXPECT_TRUE(is_shown("name=Neoverse-N1", "AWS Graviton2"));
  EXPECT_TRUE(is_shown("neoverse", "Ampere Altra"));
  EXPECT_FALSE(is_shown("Neoverse-N2", "AWS Graviton2"));
  EXPECT_FALSE(is_shown("graviton", "Neoverse-N1"));  // of a bundle that knows the core alone: it may be another chip
}

TEST(PlatformFilter, InstancesByName) {
  Platform platform;
  platform.id = "p";
  Server large, small;
  large.platform = small.platform = "p";
  large.name = "c7i.4xlarge";
  small.name = "c7i.xlarge";
  const auto filters = parse_platform_filters({"instance=C7i.xlarge,m7g.large"});
  ASSERT_TRUE(filters.ok());
  EXPECT_TRUE(passes(*filters, small));
  EXPECT_FALSE(passes(*filters, large));  // a whole name
  EXPECT_TRUE(passes(*filters, platform, {large, small}));
  EXPECT_FALSE(passes(*filters, platform, {large}));
}

}  // namespace
}  // namespace perfcast::program
