#include "ai/transformer/thread_team.h"

#include <gtest/gtest.h>

#include <chrono>

namespace perfcast::ai {
namespace {

TEST(ThreadTeam, EveryItemIsDoneOnceByOneOfItsThreads) {
  for (const int threads : {1, 2, 5}) {
    ThreadTeam team(threads);
    EXPECT_EQ(team.threads(), threads);
    for (int64_t items = 0; items < 200; ++items) {
      std::vector<int> done(static_cast<size_t>(items), 0);
      std::atomic<bool> in_range = true;
      team.run(items, [&](int64_t item, int thread) {
        ++done[static_cast<size_t>(item)];
        if (thread < 0 || thread >= threads) in_range = false;
      });
      EXPECT_EQ(done, std::vector<int>(static_cast<size_t>(items), 1));
      EXPECT_TRUE(in_range);
    }
  }
}

TEST(ThreadTeam, WakesThreadsThatWentToSleep) {
  ThreadTeam team(3);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::atomic<int64_t> sum = 0;
    team.run(100, [&](int64_t item, int) { sum += item; });
    EXPECT_EQ(sum, 4950);
  }
}

}  // namespace
}  // namespace perfcast::ai
