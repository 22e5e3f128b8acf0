#include "fleet/policy/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Policies, AreOneTableInTheOrderOfTheEnumerators) {
  for (const PolicyInfo& policy : policies()) {
    EXPECT_EQ(&info(policy.policy), &policy) << policy.name;
    const auto found = policy_named(policy.name);
    ASSERT_TRUE(found) << policy.name;
    EXPECT_EQ(*found, policy.policy);
  }
}

TEST(Policies, AnUnknownNameIsAUsageErrorWithNearNames) {
  const auto unknown = policy_named("mtc");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "unknown-policy");
  EXPECT_EQ(unknown.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(unknown.error().expected, HasSubstr("near it: mct"));
  EXPECT_THAT(unknown.error().expected, HasSubstr("max-min-aware"));
}

TEST(Policies, AreToldApartByWhatTheyNeed) {
  EXPECT_FALSE(info(Policy::kOracle).uses_forecasts());
  EXPECT_FALSE(info(Policy::kMaxMin).uses_forecasts());
  EXPECT_TRUE(info(Policy::kMinimumCompletion).uses_forecasts());
  EXPECT_EQ(info(Policy::kMinimumCompletionSafe).needs, PolicyNeeds::kForecastsIntervals);
  EXPECT_THAT(policy_names([](const PolicyInfo& policy) { return policy.backfills; }),
              ElementsAre("easy", "easy-forecast"));
  EXPECT_TRUE(is_reference("oracle"));
  EXPECT_FALSE(is_reference("mct"));
  EXPECT_FALSE(is_reference("no such policy"));
  EXPECT_THAT(names_of_policies(true), HasSubstr("max-min"));
  EXPECT_THAT(names_of_policies(false), Not(HasSubstr("max-min")));
}

}  // namespace
}  // namespace perfcast::fleet
