#include "program/model/neural/dense_predictor.h"

#include <gmock/gmock.h>

#include <cmath>

#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

TEST(DensePredictor, BeatsTheMeanInAnAdditiveWorld) {
  const auto world = testing_world::additive_world({.programs = 160, .platforms = 4, .families = 40});
  const auto parts = testing_world::split_table(world.table, 30);
  const auto &train = parts.first, &test = parts.second;
  DensePredictor network({.hidden = {64, 64}, .most_epochs = 300, .learning_rate = 2e-3f});
  ASSERT_TRUE(network.fit(train, {}).ok());
  EXPECT_GT(network.epochs(), 0);
  auto mean = make_predictor("mean");
  ASSERT_TRUE((*mean)->fit(train, {}).ok());
  const auto targets = make_targets(test);
  ASSERT_TRUE(targets);
  const auto error = [&](const Predictor& predictor) {
    return (predictor.predict(profiles_of(test)) - targets->log_rpv).cwiseAbs().mean();
  };
  EXPECT_LT(error(network), 0.9 * error(**mean));
}

TEST(DensePredictor, AnotherSeedAnotherNetwork) {
  const auto table = testing_world::additive_world({.programs = 20, .platforms = 3, .families = 10}).table;
  DensePredictor a({.hidden = {16}, .most_epochs = 10});
  DensePredictor b({.hidden = {16}, .most_epochs = 10});
  ASSERT_TRUE(a.fit(table, {.seed = 1}).ok());
  ASSERT_TRUE(b.fit(table, {.seed = 2}).ok());
  EXPECT_NE(a.predict(profiles_of(table)), b.predict(profiles_of(table)));
}

}  // namespace
}  // namespace perfcast::program
