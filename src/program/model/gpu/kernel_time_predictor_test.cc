#include "program/model/gpu/kernel_time_predictor.h"

#include <gmock/gmock.h>

#include "learn/tensors/tensor_map.h"
#include "program/model/bundle/train_bundle.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/forecast/forecaster.h"
#include "program/model/gpu/kernel_world.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

std::unique_ptr<Predictor> fitted(const TrainingTable& table, const std::string& family = "kernels:mean") {
  auto predictor = make_predictor(family);
  EXPECT_TRUE(predictor);
  const Status status = (*predictor)->fit(table, {});
  EXPECT_TRUE(status) << status.error().message;
  return std::move(*predictor);
}

TEST(KernelTimes, ForecastOtherKernelsBetterThanTheMean) {
  const TrainingTable table = kernel_world::table(kernel_world::devices(), 40, 1),
                      others = kernel_world::table(kernel_world::devices(), 30, 2);
  const auto predictor = fitted(table);
  EXPECT_EQ(predictor->family(), "kernels:mean");
  const Prediction said = predictor->predict_with_disagreement(profiles_of(others));
  EXPECT_NEAR(said.log_rpv.rowwise().mean().cwiseAbs().maxCoeff(), 0, 1e-9);
  const Eigen::MatrixXd truth = log_rpv(others);
  const double of_mean = (fitted(table, "mean")->predict(profiles_of(others)) - truth).squaredNorm();
  EXPECT_LT((said.log_rpv - truth).squaredNorm(), 0.3 * of_mean);
  const auto targets = make_targets(others);
  EXPECT_LT((said.log_seconds - targets->log_seconds).cwiseAbs().maxCoeff(), 0.2);
  EXPECT_GT(said.disagreement.minCoeff(), 0);
}

TEST(KernelTimes, NeedKernels) {
  const auto world = testing_world::additive_world({.programs = 10, .platforms = 3, .families = 5});
  auto predictor = make_predictor("kernels:mean");
  EXPECT_EQ((*predictor)->fit(world.table, {}).error().code, "no-kernels");
  EXPECT_EQ(make_predictor("kernels:nothing").error().code, "unknown-model");
  // A profile that doesn't say what a kernel does: the other family alone.
  const TrainingTable table = kernel_world::table(kernel_world::devices(), 20, 1);
  const auto both = fitted(table), rest = fitted(table, "mean");
  Profile empty;
  EXPECT_EQ(both->predict({&empty}), rest->predict({&empty}));
  EXPECT_TRUE(std::isnan(both->predict_with_disagreement({&empty}).log_seconds(0)));
}

TEST(KernelTimes, ComeBackFromABundle) {
  const TrainingTable table = kernel_world::table(kernel_world::devices(), 20, 1);
  const auto predictor = fitted(table, "kernels:forest");
  TensorMap tensors;
  predictor->save(tensors);
  auto loaded = make_predictor("kernels:forest");
  const Status status = (*loaded)->load(tensors);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ((*loaded)->predict(profiles_of(table)), predictor->predict(profiles_of(table)));
  const auto devices = kernel_world::devices();
  EXPECT_EQ((*loaded)->prior_of_training(devices), predictor->prior_on(devices, profiles_of(table)));
  EXPECT_EQ((*loaded)->load(TensorMap{}).error().code, "bad-bundle");
}

// Seconds of a kernel that nobody timed: from the model's own level, with its interval.
TEST(KernelTimes, BundlesSaySeconds) {
  const TrainingTable table = kernel_world::table(kernel_world::devices(), 40, 1);
  auto bundle = train_bundle(table, {.model = "kernels:mean"});
  ASSERT_TRUE(bundle) << bundle.error().message;
  ASSERT_TRUE(bundle->calibration.seconds_half_width);
  EXPECT_LT(*bundle->calibration.seconds_half_width, 0.5);
  const auto bytes = bundle_bytes(*bundle);
  ASSERT_TRUE(bytes);
  auto back = parse_bundle(*bytes, "b.pcb");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->calibration.seconds_half_width, bundle->calibration.seconds_half_width);
  const Forecaster forecaster(std::make_shared<const Bundle>(std::move(*back)));
  const TrainingTable others = kernel_world::table(kernel_world::devices(), 6, 3);
  for (size_t i = 0; i < others.profiles.size(); ++i) {
    const auto forecast = forecaster.forecast(others.profiles[i], {});
    ASSERT_TRUE(forecast);
    ASSERT_TRUE(forecast->log_seconds);
    double mean = 0;
    for (size_t j = 0; j < 5; ++j) mean += others.at(i, j)->log_time / 5;
    EXPECT_NEAR(*forecast->log_seconds, mean, 2 * forecast->seconds_half_width);
    // A measured time counts, not the model's level.
    const auto measured = forecaster.forecast(others.profiles[i], {{0, std::log(7.0)}});
    ASSERT_TRUE(measured);
    EXPECT_EQ(measured->seconds_half_width, 0);
    EXPECT_NEAR(*measured->log_seconds + measured->log_rpv(0), std::log(7.0), 1e-6);
  }
}

}  // namespace
}  // namespace perfcast::program
