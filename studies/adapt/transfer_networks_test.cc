#include "studies/adapt/transfer_networks.h"

#include <gmock/gmock.h>

#include <numeric>

#include "program/model/adapt/adapt_world.h"

namespace perfcast::program::adapt_study {
namespace {

using testing::HasSubstr;

NetworkOptions quick() {
  NetworkOptions options;
  options.pair.batch = 32;
  options.epochs = {10, 30};
  options.fact_noises = {0, 0.5};
  options.tuning_steps = {0, 16};
  options.outer_steps = {0, 50};
  options.tuning_platforms = 4;
  return options;
}

TEST(TransferNetworks, LearnsANewDesignFromFactsAndAFewPrograms) {
  const adapt_world::AdaptWorld world = adapt_world::adapt_world(7, 3, 20);
  std::vector<size_t> known(18);
  std::iota(known.begin(), known.end(), size_t{0});
  const auto programs = std::make_shared<const RowMatrixF>(RowMatrixF::Identity(20, 20));
  const auto networks =
      TransferNetworks::learn(programs, world.platforms, known, world.log_times, {0, 2, 5}, quick(), {1, 2});
  ASSERT_TRUE(networks) << networks.error().message;
  ASSERT_EQ(networks->size(), 2U);
  EXPECT_THAT(networks->front().chosen(), HasSubstr("epochs"));

  const std::vector<Eigen::Index> where{1, 5, 9, 13, 17};
  const Eigen::VectorXd own = world.log_times.col(19).array() + 0.5;  // slower than its facts say
  const TransferNetworks& first = networks->front();
  const auto zero_shot = first.fine_tuned(19, {}, Eigen::VectorXd());
  const auto also_zero_shot = first.meta_learnt(19, {}, Eigen::VectorXd());
  const auto tuned = first.fine_tuned(19, where, own(where));
  const auto learnt = first.meta_learnt(19, where, own(where));
  const auto of_other_seed = networks->back().fine_tuned(19, where, own(where));
  ASSERT_TRUE(zero_shot && also_zero_shot && tuned && learnt && of_other_seed);
  EXPECT_EQ(*zero_shot, *also_zero_shot);
  EXPECT_NE(*tuned, *of_other_seed);
  const double before = (*zero_shot - own).cwiseAbs().mean();
  EXPECT_LT((*tuned - own).cwiseAbs().mean(), 0.6 * before);
  EXPECT_LT((*learnt - own).cwiseAbs().mean(), 0.6 * before);
}

TEST(TransferNetworks, WithOneDesignPlatformsAreLeftOut) {
  const adapt_world::AdaptWorld world = adapt_world::adapt_world(2, 4, 12);
  const auto programs = std::make_shared<const RowMatrixF>(RowMatrixF::Identity(12, 12));
  const auto networks =
      TransferNetworks::learn(programs, world.platforms, {0, 1, 2, 3}, world.log_times, {0, 2}, quick(), {1});
  ASSERT_TRUE(networks) << networks.error().message;
  const auto said = networks->front().meta_learnt(6, {0, 1}, world.log_times.col(6).head(2));
  ASSERT_TRUE(said);
  EXPECT_TRUE(said->allFinite());
}

}  // namespace
}  // namespace perfcast::program::adapt_study
