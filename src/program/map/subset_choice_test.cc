#include "program/map/subset_choice.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "base/random.h"

namespace perfcast::program {
namespace {

ProgramSpace space_at(const Eigen::MatrixXd& rows, const std::vector<int64_t>& family) {
  ProgramSpace space;
  space.rows = rows;
  space.family = family;
  space.weights.resize(rows.rows());
  for (Eigen::Index p = 0; p < rows.rows(); ++p) {
    space.weights(p) =
        1.0 / static_cast<double>(std::count(family.begin(), family.end(), family[static_cast<size_t>(p)]));
  }
  return space;
}

// Nine variants of one program and three other programs.
ProgramSpace many_variants() {
  Eigen::MatrixXd rows(12, 2);
  std::vector<int64_t> family;
  Random random(3);
  for (Eigen::Index p = 0; p < 12; ++p) {
    const bool is_variant = p < 9;
    rows(p, 0) = is_variant ? 0.01 * random.normal() : (p == 9 ? 3 : p == 10 ? -3 : 0);
    rows(p, 1) = is_variant ? 0.01 * random.normal() : (p == 11 ? 3 : 0);
    family.push_back(is_variant ? 0 : p - 8);
  }
  return space_at(rows, family);
}

TEST(SubsetChoice, KnowsOfItselfWhatNoiseLeaves) {
  const ProgramSpace space = space_at(Eigen::MatrixXd::Zero(1, 1), {0});
  EXPECT_NEAR(coverage_of(space, {0}), 1 / 1.2, 1e-12);
  EXPECT_EQ(coverage_of(space, {}), 0);
  // A second program at the same place: two times of noise 0.2.
  const ProgramSpace twins = space_at(Eigen::MatrixXd::Zero(2, 1), {0, 1});
  EXPECT_NEAR(coverage_of(twins, {0, 1}), 2 / 2.2, 1e-12);
}

TEST(SubsetChoice, VariantsGoFirst) {
  const ProgramSpace space = many_variants();
  for (const SubsetRule rule : {SubsetRule::kVariance, SubsetRule::kRepresentative, SubsetRule::kFamilies}) {
    const SubsetRanking ranking = rank_programs(space, rule, 1);
    ASSERT_EQ(ranking.order.size(), 12U) << to_string(rule);
    std::set<int64_t> families;
    for (size_t i = 0; i < 4; ++i) families.insert(space.family[static_cast<size_t>(ranking.order[i])]);
    EXPECT_EQ(families.size(), 4U) << to_string(rule) << ": one program of each family before a second of any";
  }
}

TEST(SubsetChoice, EachProgramOnceAndCoverageAsByTheFormula) {
  const ProgramSpace space = many_variants();
  for (const SubsetRule rule :
       {SubsetRule::kVariance, SubsetRule::kRepresentative, SubsetRule::kFamilies, SubsetRule::kRandom}) {
    const SubsetRanking ranking = rank_programs(space, rule, 5);
    EXPECT_EQ(std::set<int64_t>(ranking.order.begin(), ranking.order.end()).size(), 12U);
    for (size_t n = 1; n <= 12; ++n) {
      const std::vector<int64_t> kept(ranking.order.begin(), ranking.order.begin() + static_cast<std::ptrdiff_t>(n));
      EXPECT_NEAR(ranking.coverage[n - 1], coverage_of(space, kept), 1e-9) << to_string(rule) << ", " << n;
      if (n == 1) continue;
      EXPECT_GE(ranking.coverage[n - 1], ranking.coverage[n - 2] - 1e-12);
    }
  }
}

TEST(SubsetChoice, VarianceCoversMoreThanDrawing) {
  const ProgramSpace space = many_variants();
  const double chosen = rank_programs(space, SubsetRule::kVariance, 1).coverage[3];
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_GE(chosen, rank_programs(space, SubsetRule::kRandom, seed).coverage[3] - 1e-12) << seed;
  }
  EXPECT_EQ(rank_programs(space, SubsetRule::kRandom, 7).order, rank_programs(space, SubsetRule::kRandom, 7).order);
  EXPECT_NE(rank_programs(space, SubsetRule::kRandom, 7).order, rank_programs(space, SubsetRule::kRandom, 8).order);
}

TEST(SubsetChoice, WhatIsFarAddsMore) {
  const ProgramSpace space = many_variants();
  Eigen::MatrixXd candidates(2, 2);
  candidates << 0, 0, 6, 6;
  std::vector<int64_t> all(12);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  const Eigen::VectorXd gains = coverage_gains(space, all, candidates);
  EXPECT_GT(gains(1), 5 * gains(0));
  EXPECT_GT(gains(0), 0);
}

}  // namespace
}  // namespace perfcast::program
