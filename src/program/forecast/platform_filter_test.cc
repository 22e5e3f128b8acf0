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

}  // namespace
}  // namespace perfcast::program
