#include "fleet/policy/linear_program.h"

#include <gmock/gmock.h>

#include <cmath>

namespace perfcast::fleet {
namespace {

using Entry = LinearProgram::Entry;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

constexpr double kClose = 1e-9;

// 3x + 5y, x <= 4, 2y <= 12, 3x + 2y <= 18: the textbook's (2, 6) with 36, duals 0, 3/2, 1.
LinearProgram textbook() {
  LinearProgram program(LinearProgram::Sense::kMaximise);
  const int x = program.add_column(3), y = program.add_column(5);
  program.add_row(-kNoBound, 4, std::vector<Entry>{{x, 1}});
  program.add_row(-kNoBound, 12, std::vector<Entry>{{y, 2}});
  program.add_row(-kNoBound, 18, std::vector<Entry>{{x, 3}, {y, 2}});
  return program;
}

TEST(LinearProgram, Maximum) {
  const auto solved = textbook().solve();
  ASSERT_TRUE(solved) << to_text(solved.error());
  EXPECT_NEAR(solved->objective, 36, kClose);
  EXPECT_THAT(solved->values, Pointwise(DoubleNear(kClose), {2.0, 6.0}));
  EXPECT_THAT(solved->duals, Pointwise(DoubleNear(kClose), {0.0, 1.5, 1.0}));
}

TEST(LinearProgram, MinimumWithEqualityAndFreeColumn) {
  LinearProgram program(LinearProgram::Sense::kMinimise);
  const int x = program.add_column(2), y = program.add_column(1, -kNoBound);
  program.add_row(3, 3, std::vector<Entry>{{x, 1}, {y, 1}});
  program.add_row(-1, kNoBound, std::vector<Entry>{{y, -1}});  // y <= 1
  const auto solved = program.solve();
  ASSERT_TRUE(solved) << to_text(solved.error());
  EXPECT_NEAR(solved->objective, 5, kClose);
  EXPECT_THAT(solved->values, Pointwise(DoubleNear(kClose), {2.0, 1.0}));
  EXPECT_THAT(solved->duals, Pointwise(DoubleNear(kClose), {2.0, 1.0}));
}

TEST(LinearProgram, GoesOnFromTheLastBasis) {
  LinearProgram program = textbook();
  ASSERT_TRUE(program.solve());
  program.set_row_bounds(1, -kNoBound, 6);  // y <= 3: x = 4, y = 3
  auto solved = program.solve();
  ASSERT_TRUE(solved) << to_text(solved.error());
  EXPECT_NEAR(solved->objective, 27, kClose);
  program.set_cost(1, 0);
  program.set_column_bounds(0, 0, 1);
  solved = program.solve();
  ASSERT_TRUE(solved) << to_text(solved.error());
  EXPECT_NEAR(solved->objective, 3, kClose);
  program.set_column_bounds(0, 100, kNoBound);
  EXPECT_EQ(program.solve().error().code, "infeasible");
  program.set_column_bounds(0, 0, 4);
  solved = program.solve();
  ASSERT_TRUE(solved) << "an error must not spoil what comes after it";
  EXPECT_NEAR(solved->objective, 12, kClose);
}

TEST(LinearProgram, SaysWhatIsWrong) {
  LinearProgram none(LinearProgram::Sense::kMinimise);
  const int x = none.add_column(1);
  none.add_row(-kNoBound, -1, std::vector<Entry>{{x, 1}});
  EXPECT_EQ(none.solve().error().code, "infeasible");

  LinearProgram endless(LinearProgram::Sense::kMaximise);
  const int a = endless.add_column(1), b = endless.add_column(0);
  endless.add_row(-kNoBound, 1, std::vector<Entry>{{a, 1}, {b, -1}});
  EXPECT_EQ(endless.solve().error().code, "unbounded");

  LinearProgram twice(LinearProgram::Sense::kMaximise);
  const int c = twice.add_column(1);
  twice.add_row(0, 1, std::vector<Entry>{{c, 1}, {c, 1}});
  EXPECT_EQ(twice.solve().error().code, "bad-program");
  EXPECT_EQ(twice.solve().error().where, "row 0");

  LinearProgram crossed(LinearProgram::Sense::kMaximise);
  crossed.add_column(1, 2, 1);
  EXPECT_EQ(crossed.solve().error().code, "bad-program");
  LinearProgram nan(LinearProgram::Sense::kMaximise);
  nan.add_column(std::nan(""));
  EXPECT_EQ(nan.solve().error().code, "bad-program");
}

TEST(LinearProgram, WholeNumbers) {
  // Knapsack: values 10, 13, 7, 8; sizes 4, 5, 3, 3 (x 2 each at most); room 10. By hand: 13 + 13 = 26; 10 + 8 + 8 =
  // 26; with the relaxation at 26.67, so rounding it down wouldn't do.
  LinearProgram program(LinearProgram::Sense::kMaximise);
  const double value[] = {10, 13, 7, 8}, size[] = {4, 5, 3, 3};
  std::vector<Entry> room;
  room.reserve(4);
  for (int i = 0; i < 4; ++i) room.push_back({program.add_column(value[i], 0, 2, true), size[i]});
  program.add_row(-kNoBound, 10, room);
  testing::internal::CaptureStdout();
  const auto solved = program.solve();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << "solvers are quiet";
  ASSERT_TRUE(solved) << to_text(solved.error());
  EXPECT_EQ(solved->objective, 26);
  EXPECT_TRUE(solved->duals.empty());
  double used = 0;
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(solved->values[i], std::round(solved->values[i]));
    used += size[i] * solved->values[i];
  }
  EXPECT_LE(used, 10);
}

TEST(LinearProgram, WholeNumbersThatDoNotExist) {
  LinearProgram half(LinearProgram::Sense::kMinimise);
  const int x = half.add_column(1, 0, 10, true);
  half.add_row(1, 1, std::vector<Entry>{{x, 2}});  // 2x = 1
  EXPECT_EQ(half.solve().error().code, "infeasible");

  LinearProgram endless(LinearProgram::Sense::kMaximise);
  endless.add_column(1, 0, kNoBound, true);
  EXPECT_EQ(endless.solve().error().code, "unbounded");

  // Continuous and whole columns in one: nodes n at 3 each carry 4 jobs, overflow y at 1 per job; 10 jobs: 2 nodes and
  // 2 jobs over (8) beats 3 nodes (9).
  LinearProgram mixed(LinearProgram::Sense::kMinimise);
  const int n = mixed.add_column(3, 0, 100, true), y = mixed.add_column(1);
  mixed.add_row(10, kNoBound, std::vector<Entry>{{n, 4}, {y, 1}});
  const auto solved = mixed.solve();
  ASSERT_TRUE(solved) << to_text(solved.error());
  EXPECT_NEAR(solved->objective, 8, kClose);
  EXPECT_THAT(solved->values, Pointwise(DoubleNear(kClose), {2.0, 2.0}));
}

TEST(LinearProgram, NoRowsAndNoColumns) {
  LinearProgram empty(LinearProgram::Sense::kMinimise);
  const auto solved = empty.solve();
  ASSERT_TRUE(solved) << to_text(solved.error());
  EXPECT_EQ(solved->objective, 0);
  EXPECT_THAT(solved->values, ElementsAre());
}

}  // namespace
}  // namespace perfcast::fleet
