#include "ai/serving_plan/replica_search.h"

#include <gmock/gmock.h>

#include <vector>

namespace perfcast::ai {
namespace {

using testing::ElementsAre;

// Holds from `enough` replicas on; keeps which numbers were tried.
struct Enough {
  int64_t enough;
  bool knows_overload = false;
  std::vector<int64_t> tried = {};

  std::optional<int64_t> search(int64_t first, int64_t most, int64_t step = 1) {
    const auto found = least_replicas(
        [this](int64_t replicas) -> Result<ReplicaTrial> {
          tried.push_back(replicas);
          const double overload = static_cast<double>(enough) / static_cast<double>(replicas);
          return ReplicaTrial{.holds = replicas >= enough, .overload = knows_overload ? overload : kUnknown};
        },
        first, most, step);
    EXPECT_TRUE(found.ok());
    return *found;
  }
};

TEST(LeastReplicas, GoesUpInGrowingStepsThenByHalves) {
  Enough enough{6};
  EXPECT_EQ(enough.search(1, 1000), 6);
  EXPECT_THAT(enough.tried, ElementsAre(1, 2, 4, 8, 6, 5));
}

TEST(LeastReplicas, JumpsByTheOverload) {
  Enough enough{37, true};
  EXPECT_EQ(enough.search(1, 1000), 37);
  EXPECT_THAT(enough.tried, ElementsAre(1, 37, 19, 28, 32, 34, 35, 36));
}

TEST(LeastReplicas, GoesDownFromAGuess) {
  Enough enough{5};
  EXPECT_EQ(enough.search(6, 1000), 5);
  EXPECT_THAT(enough.tried, ElementsAre(6, 5, 3, 4));
}

TEST(LeastReplicas, GoesInStepsThatAreGiven) {
  Enough enough{90};
  EXPECT_EQ(enough.search(100, 1000, 5), 90);
  EXPECT_THAT(enough.tried, ElementsAre(100, 95, 85, 90, 87, 88, 89));
}

TEST(LeastReplicas, OneIsEnough) {
  Enough enough{1};
  EXPECT_EQ(enough.search(1, 1000), 1);
  EXPECT_THAT(enough.tried, ElementsAre(1));
}

TEST(LeastReplicas, NoneWhereTheMostIsTooFew) {
  Enough enough{9};
  EXPECT_EQ(enough.search(1, 8), std::nullopt);
  EXPECT_THAT(enough.tried, ElementsAre(1, 2, 4, 8));
  EXPECT_EQ(Enough{1001}.search(5000, 1000), std::nullopt);
  EXPECT_EQ(Enough{1000}.search(1, 1000), 1000);
}

TEST(LeastReplicas, ManyWithinOnePercent) {
  for (const int64_t enough : {999, 54'321, 999'999}) {
    const int64_t found = Enough{enough}.search(1, 1'000'000).value();
    EXPECT_GE(found, enough);
    EXPECT_LE(static_cast<double>(found), 1.01 * static_cast<double>(enough));
  }
}

TEST(LeastReplicas, NoneWhereMoreDoNotHelp) {
  std::vector<int64_t> tried;
  const auto found = least_replicas(
      [&](int64_t replicas) -> Result<ReplicaTrial> {
        tried.push_back(replicas);
        return ReplicaTrial{.is_hopeless = replicas >= 4};
      },
      1, 1000);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, std::nullopt);
  EXPECT_THAT(tried, ElementsAre(1, 2, 4));
}

TEST(LeastReplicas, ErrorsEndIt) {
  const auto found = least_replicas(
      [](int64_t) -> Result<ReplicaTrial> {
        return Error{"bad-thing", "", "", ""};
      },
      1, 10);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, "bad-thing");
}

}  // namespace
}  // namespace perfcast::ai
