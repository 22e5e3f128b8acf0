#include "service/http/rate_limit.h"

#include <gtest/gtest.h>

namespace perfcast::service {
namespace {

using std::chrono::milliseconds;

int taken(RateLimit& limit, const std::string& client, RateLimit::Clock::time_point now, int tries) {
  int count = 0;
  for (int i = 0; i < tries; ++i) count += limit.takes(client, now) ? 1 : 0;
  return count;
}

TEST(RateLimit, TakesABurstOfTwoSecondsThenItsRate) {
  RateLimit limit(10);
  const auto start = RateLimit::Clock::now();
  EXPECT_EQ(taken(limit, "a", start, 100), 20);
  EXPECT_EQ(taken(limit, "b", start, 100), 20);  // clients apart
  EXPECT_EQ(taken(limit, "a", start + milliseconds(500), 100), 5);
  EXPECT_EQ(taken(limit, "a", start + milliseconds(100'000), 100), 20);
}

TEST(RateLimit, SlowerThanOneASecondLetsOneThrough) {
  RateLimit limit(0.1);
  const auto start = RateLimit::Clock::now();
  EXPECT_EQ(taken(limit, "a", start, 5), 1);
  EXPECT_EQ(taken(limit, "a", start + milliseconds(9'000), 5), 0);
  EXPECT_EQ(taken(limit, "a", start + milliseconds(10'000), 5), 1);
}

TEST(RateLimit, ZeroIsNone) {
  RateLimit limit(0);
  EXPECT_EQ(taken(limit, "a", RateLimit::Clock::now(), 1000), 1000);
}

TEST(RateLimit, HoldsForSoManyClientsAtOnce) {
  RateLimit limit(1);
  const auto start = RateLimit::Clock::now();
  for (int i = 0; i < 65536; ++i) ASSERT_TRUE(limit.takes(std::to_string(i), start));
  EXPECT_FALSE(limit.takes("new", start));                        // all others have asked just now
  EXPECT_TRUE(limit.takes("new", start + milliseconds(10'000)));  // they are forgotten
}

}  // namespace
}  // namespace perfcast::service
