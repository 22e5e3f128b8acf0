#include "fleet/capacity/fluid_capacity.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/unknown.h"

namespace perfcast::fleet {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

TEST(FluidCapacity, OneKindAddsUpTheGroups) {
  // 10 cores at 5 core-seconds and 4 cores at 2: 2 + 2 jobs a second.
  const std::vector<FluidKind> kinds = {{1, {5, 2}}};
  const auto found = fluid_capacity(kinds, std::vector<double>{10, 4});
  ASSERT_TRUE(found) << to_text(found.error());
  EXPECT_NEAR(found->jobs_per_s, 4, 1e-9);
  EXPECT_THAT(found->routed, Pointwise(DoubleNear(1e-9), {0.5, 0.5}));
  EXPECT_THAT(found->load, Pointwise(DoubleNear(1e-9), {1.0, 1.0}));
}

TEST(FluidCapacity, KindsGoWhereTheyAreRelativelyFast) {
  // Two groups of one core. Kind A: 1 s and 4 s, kind B: 2 s and 2 s, as many of each. With B all on the second and A
  // on the first, group 1 has load r/2 and group 2 load r: r = 1; then some of B moves over. With b of B's jobs per
  // second on the first: r/2 + 2b = 1 and 2(r/2 - b) = 1, so r = 4/3, b = 1/6: a quarter of B.
  const std::vector<FluidKind> kinds = {{3, {1, 4}}, {3, {2, 2}}};
  const auto found = fluid_capacity(kinds, std::vector<double>{1, 1});
  ASSERT_TRUE(found) << to_text(found.error());
  EXPECT_NEAR(found->jobs_per_s, 4.0 / 3, 1e-9);
  EXPECT_THAT(found->routed, Pointwise(DoubleNear(1e-9), {1.0, 0.0, 0.25, 0.75}));
}

TEST(FluidCapacity, TheScaleDoesNotMatter) {
  const std::vector<FluidKind> small = {{1, {1e-6, kUnknown}}, {2, {kUnknown, 4e-6}}};
  const std::vector<FluidKind> large = {{1, {1e9, kUnknown}}, {2, {kUnknown, 4e9}}};
  const std::vector<double> capacity = {100, 1000};
  const auto a = fluid_capacity(small, capacity), b = fluid_capacity(large, capacity);
  ASSERT_TRUE(a && b);
  EXPECT_NEAR(a->jobs_per_s, 3e8, 1);  // the first: 100 / (1/3 1e-6); the second would carry 3.75e8
  EXPECT_NEAR(b->jobs_per_s, 3e-7, 1e-15);
  EXPECT_THAT(b->load, Pointwise(DoubleNear(1e-9), {1.0, 0.8}));
}

TEST(FluidCapacity, KindsWithoutAShareDoNotCount) {
  const std::vector<FluidKind> kinds = {{1, {2}}, {0, {kUnknown}}};
  const auto found = fluid_capacity(kinds, std::vector<double>{1});
  ASSERT_TRUE(found) << to_text(found.error());
  EXPECT_NEAR(found->jobs_per_s, 0.5, 1e-12);
}

TEST(FluidCapacity, Errors) {
  const auto code = [](std::vector<FluidKind> kinds, std::vector<double> capacity) {
    const auto found = fluid_capacity(kinds, capacity);
    return found ? std::string("none") : found.error().code;
  };
  EXPECT_EQ(code({}, {1}), "bad-mix");
  EXPECT_EQ(code({{0, {1}}}, {1}), "bad-mix");
  EXPECT_EQ(code({{-1, {1}}}, {1}), "bad-mix");
  EXPECT_EQ(code({{1, {1, 1}}}, {1}), "bad-mix");
  EXPECT_EQ(code({{1, {-1}}}, {1}), "bad-mix");
  EXPECT_EQ(code({{1, {1}}}, {kUnknown}), "bad-mix");
  EXPECT_EQ(code({{1, {kUnknown}}}, {1}), "infeasible");
  EXPECT_EQ(code({{1, {1}}}, {0}), "infeasible");
  EXPECT_EQ(code({{1, {1}}}, {}), "bad-mix");
  EXPECT_EQ(code({{1, {0}}}, {1}), "unbounded");
}

}  // namespace
}  // namespace perfcast::fleet
