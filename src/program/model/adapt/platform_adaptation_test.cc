#include "program/model/adapt/platform_adaptation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "base/statistics.h"
#include "learn/algebra/dense.h"
#include "program/model/adapt/adapted_predictor.h"
#include "program/model/bundle/train_bundle.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/forecast/forecaster.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

using testing_world::additive_world;
using testing_world::World;

struct Adapted {
  World world;
  Bundle bundle;
  Platform platform;             // the last of the world, which the bundle doesn't know
  std::vector<ProgramRun> runs;  // its times of the first programs
};

Adapted adapted_world(size_t runs) {
  Adapted result{additive_world({.programs = 30, .platforms = 7, .families = 15, .noise_log = 0.01}), {}, {}, {}};
  const TrainingTable known = result.world.table.with_platforms({0, 1, 2, 3, 4, 5});
  TrainOptions options;
  options.model = "kernel";
  auto bundle = train_bundle(known, options);
  EXPECT_TRUE(bundle);
  result.bundle = std::move(*bundle);
  result.platform = result.world.table.platforms[6];
  for (size_t p = 0; p < runs; ++p) {
    double mean = 0;
    for (size_t j = 0; j < 6; ++j) mean += result.world.table.at(p, j)->log_time / 6;
    result.runs.push_back({static_cast<Eigen::Index>(p), result.world.table.at(p, 6)->log_time - mean});
  }
  return result;
}

TEST(PlatformAdaptation, TheNewPlatformStandsLast) {
  const Adapted given = adapted_world(12);
  auto adaptation = PlatformAdaptation::start(given.bundle, given.platform, {});
  ASSERT_TRUE(adaptation) << adaptation.error().message;
  adaptation->measure(given.runs);
  EXPECT_LT(adaptation->half_widths().tail(18).mean(), adaptation->prior_half_widths().tail(18).mean());
  const Bundle bundle = adaptation->finish();
  ASSERT_EQ(bundle.platforms.size(), 7U);
  EXPECT_EQ(bundle.predictor->outputs(), 7);
  EXPECT_EQ(bundle.predictor->family(), "adapted:kernel");
  EXPECT_TRUE(is_positive_definite(bundle.calibration.residual_covariance));
  EXPECT_EQ(bundle.training_log_rpv.cols(), 7);
  EXPECT_NEAR(bundle.training_log_rpv.row(0).mean(), 0, 1e-9);
  EXPECT_TRUE(std::isnan(bundle.training_log_rpv(20, 6)));

  // Forecasts of the known platforms stay as they were against each other; those of the new one are near its times.
  const auto profiles = profiles_of(given.world.table);
  const Eigen::MatrixXd before = given.bundle.predictor->predict(profiles);
  const Eigen::MatrixXd after = bundle.predictor->predict(profiles);
  EXPECT_NEAR((after.rowwise().mean()).cwiseAbs().maxCoeff(), 0, 1e-9);
  EXPECT_NEAR(((after.col(1) - after.col(0)) - (before.col(1) - before.col(0))).cwiseAbs().maxCoeff(), 0, 1e-9);
  double error = 0;
  for (Eigen::Index p = 12; p < 30; ++p) {
    double mean = 0;
    for (size_t j = 0; j < 6; ++j) mean += given.world.table.at(static_cast<size_t>(p), j)->log_time / 6;
    const double truth = given.world.table.at(static_cast<size_t>(p), 6)->log_time - mean;
    error += std::abs(after(p, 6) - after.row(p).head(6).mean() - truth) / 18;
  }
  EXPECT_LT(error, 0.2);
}

// A platform on which each family of programs has a time of its own that no known platform tells of.
double own_spread_of(double noise_log, size_t runs) {
  Adapted given = adapted_world(runs);
  Random random(3);
  std::vector<double> own;
  for (size_t f = 0; f < 15; ++f) own.push_back(noise_log * random.normal());
  for (ProgramRun& run : given.runs) run.log_relative_time += own[static_cast<size_t>(run.program) % 15];
  auto adaptation = PlatformAdaptation::start(given.bundle, given.platform, {});
  EXPECT_TRUE(adaptation);
  adaptation->measure(given.runs);
  Bundle bundle = adaptation->finish();
  // However well the parts of the model agree, and however well it knows the other platforms.
  bundle.calibration.multiple = 1e-6;
  const Forecaster forecaster(std::make_shared<const Bundle>(std::move(bundle)));
  const auto forecast = forecaster.forecast(given.world.table.profiles[0], {});
  EXPECT_TRUE(forecast);
  return forecast->half_width(6);
}

TEST(PlatformAdaptation, IntervalsHoldWhatIsThePlatformsOwn) {
  // All are measured: nothing is unknown but what a new family does there.
  EXPECT_GT(own_spread_of(0.3, 30), 0.8 * kNormal95 * 0.3);
  EXPECT_LT(own_spread_of(0.3, 30), 2 * kNormal95 * 0.3);
  EXPECT_GT(own_spread_of(0.3, 24), 0.8 * kNormal95 * 0.3);
  EXPECT_LT(own_spread_of(0, 30), 0.5 * own_spread_of(0.3, 30));
}

TEST(PlatformAdaptation, APlatformThatJoinedBeforeStaysAsUncertain) {
  const Adapted given = adapted_world(6);
  auto first = PlatformAdaptation::start(given.bundle, given.platform, {});
  ASSERT_TRUE(first);
  first->measure(given.runs);
  const Bundle once = first->finish();
  Platform second = given.platform;
  second.id = second.name = "second";
  const auto again = PlatformAdaptation::start(once, second, {});
  ASSERT_TRUE(again);
  const Bundle twice = again->finish();
  ASSERT_EQ(twice.calibration.own_half_width.size(), 8);
  EXPECT_EQ(twice.calibration.own_half_width.head(7), once.calibration.own_half_width);
  EXPECT_EQ(twice.calibration.own_half_width.head(6).maxCoeff(), 0);
  // What it is like joined before it, and isn't known better than that.
  EXPECT_GT(twice.calibration.own_half_width(7), 0);
  EXPECT_TRUE(is_positive_definite(twice.calibration.residual_covariance));
}

TEST(PlatformAdaptation, AnAdaptedBundleIsAFile) {
  const Adapted given = adapted_world(6);
  auto adaptation = PlatformAdaptation::start(given.bundle, given.platform, {});
  ASSERT_TRUE(adaptation);
  adaptation->measure(given.runs);
  const Bundle bundle = adaptation->finish();
  const auto bytes = bundle_bytes(bundle);
  ASSERT_TRUE(bytes);
  const auto again = parse_bundle(*bytes, "again.pcb");
  ASSERT_TRUE(again) << again.error().message;
  const auto profiles = profiles_of(given.world.table);
  EXPECT_EQ(again->predictor->predict(profiles), bundle.predictor->predict(profiles));
  EXPECT_EQ(again->platforms.back().name, given.platform.name);
  // And another one can be added.
  Platform second = given.platform;
  second.id = second.name = "second";
  EXPECT_TRUE(PlatformAdaptation::start(*again, second, {}));
}

TEST(PlatformAdaptation, AKnownNameIsRefused) {
  const Adapted given = adapted_world(0);
  const auto adaptation = PlatformAdaptation::start(given.bundle, given.bundle.platforms[2], {});
  ASSERT_FALSE(adaptation);
  EXPECT_EQ(adaptation.error().code, "known-platform");
}

TEST(PlatformAdaptation, AnAdaptedModelIsNotTrained) {
  const auto predictor = make_predictor("adapted:mean");
  ASSERT_TRUE(predictor);
  const Status status = (*predictor)->fit(TrainingTable(), {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "not-trainable");
  EXPECT_EQ((*predictor)->outputs(), 0);
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "adapted:";
  EXPECT_FALSE(make_predictor(many + "mean"));
}

TEST(PlatformAdaptation, WhatEachInputAddsSumsUp) {
  const Adapted given = adapted_world(6);
  auto adaptation = PlatformAdaptation::start(given.bundle, given.platform, {});
  ASSERT_TRUE(adaptation);
  adaptation->measure(given.runs);
  const Bundle bundle = adaptation->finish();
  const auto profiles = profiles_of(given.world.table);
  const auto attribution = attribute_features(*bundle.predictor, {profiles[0], profiles[1], nullptr, 1});
  ASSERT_TRUE(attribution) << attribution.error().message;
  EXPECT_EQ(attribution->log.cols(), 7);
  EXPECT_LT(attribution->residue_log, kMostResidueLog);
}

}  // namespace
}  // namespace perfcast::program
