#include "studies/adapt/pair_network.h"

#include <gmock/gmock.h>

#include <numeric>

#include "base/unknown.h"
#include "program/model/adapt/adapt_world.h"

namespace perfcast::program::adapt_study {
namespace {

using adapt_world::AdaptWorld;

// The last design of a world is new; programs are told apart by name.
struct PairSetting {
  AdaptWorld world = adapt_world::adapt_world(8, 4, 20);
  std::vector<size_t> known = std::vector<size_t>(28);
  std::shared_ptr<const RowMatrixF> programs = std::make_shared<const RowMatrixF>(RowMatrixF::Identity(20, 20));
  PairSetting() { std::iota(known.begin(), known.end(), size_t{0}); }
  Result<std::vector<PairNetwork>> train(const std::vector<int>& epochs, uint64_t seed = 1) const {
    return PairNetwork::train(programs, world.platforms, known, world.log_times, {.batch = 32}, epochs, seed);
  }
};

const PairSetting& pair_setting() {
  static const PairSetting made;
  return made;
}

TEST(PairNetwork, FactsTellTimes) {
  const PairSetting& setting = pair_setting();
  const auto networks = setting.train({1, 40});
  ASSERT_TRUE(networks) << networks.error().message;
  ASSERT_EQ(networks->size(), 2U);
  const Eigen::VectorXd means = setting.world.log_times(Eigen::all, setting.known).rowwise().mean();
  double of_means = 0, learned = 0;
  for (size_t j = 28; j < 32; ++j) {
    const Eigen::VectorXd own = setting.world.log_times.col(static_cast<Eigen::Index>(j));
    const auto forecast = networks->back().forecast(j);
    ASSERT_TRUE(forecast);
    of_means += (means - own).cwiseAbs().mean();
    learned += (*forecast - own).cwiseAbs().mean();
  }
  EXPECT_LT(learned, 0.5 * of_means);
}

TEST(PairNetwork, FineTuningMovesOtherPrograms) {
  const PairSetting& setting = pair_setting();
  const auto networks = setting.train({10});
  ASSERT_TRUE(networks);
  const std::vector<Eigen::Index> where{0, 3, 6, 9, 12};
  // A machine that takes e times as long as its facts say.
  const Eigen::VectorXd own = setting.world.log_times.col(30).array() + 1;
  for (const bool head_alone : {true, false}) {
    const auto said = networks->front().fine_tuned(30, where, own(where), {head_alone, 3e-3f, 0, 0.5}, {0, 0, 50});
    ASSERT_TRUE(said) << said.error().message;
    ASSERT_EQ(said->size(), 3U);
    const auto zero_shot = networks->front().forecast(30);
    ASSERT_TRUE(zero_shot);
    const double before = (*zero_shot - own).cwiseAbs().mean();
    EXPECT_EQ((*said)[0], (*said)[1]);
    EXPECT_LT(((*said)[0] - own).cwiseAbs().mean(), 0.5 * before);  // the level alone
    EXPECT_LT(((*said)[2](where) - own(where)).cwiseAbs().mean(), ((*said)[0](where) - own(where)).cwiseAbs().mean());
  }
}

TEST(PairNetwork, WithoutMeasuredProgramsNothingMoves) {
  const auto networks = pair_setting().train({2});
  ASSERT_TRUE(networks);
  const auto zero_shot = networks->front().forecast(29);
  const auto said = networks->front().fine_tuned(29, {}, Eigen::VectorXd(), {true, 1e-2f, 0, 0.5}, {0, 10});
  ASSERT_TRUE(zero_shot && said);
  ASSERT_EQ(said->size(), 2U);
  EXPECT_TRUE((*said)[0].isApprox(*zero_shot, 1e-6));
  EXPECT_EQ((*said)[1], (*said)[0]);
}

TEST(PairNetwork, TheSeedDecides) {
  const auto forecast = [](uint64_t seed) {
    const auto networks = pair_setting().train({1}, seed);
    EXPECT_TRUE(networks);
    return *networks->front().forecast(28);
  };
  EXPECT_EQ(forecast(1), forecast(1));
  EXPECT_NE(forecast(1), forecast(2));
}

TEST(PairNetwork, NeedsTimes) {
  const PairSetting& setting = pair_setting();
  const Eigen::MatrixXd none = Eigen::MatrixXd::Constant(20, 32, kUnknown);
  EXPECT_EQ(PairNetwork::train(setting.programs, setting.world.platforms, setting.known, none, {}, {1}, 1).error().code,
            "unmeasured");
}

}  // namespace
}  // namespace perfcast::program::adapt_study
