#include "profile/collect/session/other_code.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

TEST(OtherCode, IsARateThatNoCoreReaches) {
  const MetricValues counters = {{"instructions_count", 13.6e9}};
  const auto found = other_code_warning(counters, 0.35, "");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, "other-code-path");
  EXPECT_THAT(found->message, testing::HasSubstr("39 G instructions per second"));
  EXPECT_FALSE(other_code_warning(counters, 1.0, ""));
  EXPECT_FALSE(other_code_warning({{"instructions_count", 13.6e9}}, 0.02, ""));  // too short to be judged
}

TEST(OtherCode, IsCodeThatTheHostsCoreCantRunAsFast) {
  MetricValues counters = {{"instructions_count", 5e9}, {"core_zen4_cycles_count", 8e9}};
  EXPECT_TRUE(other_code_warning(counters, 1.0, "zen4"));
  EXPECT_FALSE(other_code_warning(counters, 1.1, "zen4"));
  EXPECT_FALSE(other_code_warning(counters, 1.0, "zen3"));  // nothing is known of that core
  EXPECT_FALSE(other_code_warning({}, 1.0, "zen4"));
}

}  // namespace
}  // namespace perfcast
