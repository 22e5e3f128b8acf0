#include "program/evaluate/all_cores_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::program {
namespace {

// Five families on three servers of 1, 8 and 64 vCPUs, which slow them by 1, 2 and 16 times, families 10% apart.
std::vector<AllCoresRun> runs() {
  std::vector<AllCoresRun> runs;
  const double slowdown[] = {1, 2, 16}, vcpus[] = {1, 8, 64};
  for (int family = 0; family < 5; ++family) {
    for (int server = 0; server < 3; ++server) {
      const std::string name(1, static_cast<char>('a' + family));
      runs.push_back({name, name, "p", "v/s" + std::to_string(server), vcpus[server], std::log(3.0),
                      std::log(slowdown[server]) + 0.1 * (family - 2)});
    }
  }
  return runs;
}

TEST(AllCoresEvaluation, OtherApplicationsSayWhatCoresAreWorth) {
  const std::vector<ScalingRow> rows = evaluate_all_cores(runs());
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0].forecast, "one core x vCPUs");
  EXPECT_EQ(rows[0].absolute.n, 15);
  // Of one core: 1, 2, 16 times too much, times what the family has of its own.
  EXPECT_GT(*rows[0].absolute.mape, 5);
  // Of the others: each family's share of the five, .1 x 1.25 x its distance from the middle.
  EXPECT_NEAR(*rows[1].absolute.mape, (std::expm1(.25) - std::expm1(-.25) + std::expm1(.125) - std::expm1(-.125)) / 5,
              1e-9);
  EXPECT_NEAR(*rows[1].relative.mape, 0, 1e-9);
  EXPECT_EQ(*rows[1].absolute.pair_order, 1);
  EXPECT_EQ(*rows[1].absolute.coverage_90, 1);
  EXPECT_NEAR(rows[1].regret_median, 1, 1e-12);
}

TEST(AllCoresEvaluation, TooFewFamiliesAreNothing) {
  std::vector<AllCoresRun> few = runs();
  few.resize(9);  // three families: two where one is left out
  EXPECT_TRUE(evaluate_all_cores(few).empty());
}

}  // namespace
}  // namespace perfcast::program
