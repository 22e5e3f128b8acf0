#include "program/model/cores/core_prior_predictor.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/json.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/combined/mean_predictor.h"
#include "program/model/cores/modelled_cycles.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

using testing_world::additive_world;

// Programs whose times are what core models say of them, times a speed of each platform; `truth` of it.
TrainingTable modelled_world(double truth) {
  TrainingTable table = additive_world({.programs = 24, .platforms = 6, .families = 12}).table;
  Random random(5);
  for (size_t p = 0; p < table.programs.size(); ++p) {
    MetricValues& metrics = table.profiles[p].metrics;
    for (const std::string& metric : core_metrics()) metrics[metric] = 1e9 * std::exp(0.3 * random.normal());
    for (size_t j = 0; j < table.platforms.size(); ++j) {
      const double cycles = metrics[j % 2 == 0 ? "core_zen3_cycles_count" : "core_ice_lake_cycles_count"];
      table.times[p * table.platforms.size() + j]->log_time = 0.1 * static_cast<double>(j) + truth * std::log(cycles);
    }
  }
  return table;
}

TEST(ModelledCycles, AreAboutTheMeanOfTheProgramsOwnDesigns) {
  Profile profile;
  profile.instruction_set = "x86_64";
  profile.metrics = {
      {"core_zen3_cycles_count", 100}, {"core_zen4_cycles_count", 400}, {"core_neoverse_n1_cycles_count", 1}};
  const Eigen::MatrixXd found =
      relative_log_cycles({&profile}, {"core_zen3_cycles_count", "core_zen4_cycles_count", "core_zen5_cycles_count",
                                       "core_neoverse_n1_cycles_count", ""});
  ASSERT_EQ(found.cols(), 5);
  EXPECT_NEAR(found(0, 0), -std::log(2), 1e-12);
  EXPECT_NEAR(found(0, 1), std::log(2), 1e-12);
  EXPECT_EQ(found(0, 2), 0);  // not modelled
  EXPECT_EQ(found(0, 3), 0);  // another instruction set
  EXPECT_EQ(found(0, 4), 0);  // no design
  const Eigen::MatrixXd all = relative_log_cycles({&profile});
  ASSERT_EQ(all.cols(), static_cast<Eigen::Index>(core_metrics().size()));
  EXPECT_EQ(std::isnan(all(0, 0)), true);
}

TEST(ModelledCycles, EveryDesignHasItsMetricAndPlatformsFindIt) {
  EXPECT_GE(core_metrics().size(), 21U);
  Platform zen;
  zen.id = "z";
  zen.arch = "x86_64";
  zen.vendor = "AuthenticAMD";
  zen.cpu_family = 25;
  zen.model = 1;
  Platform other;
  other.id = "o";
  EXPECT_THAT(core_metrics_of({zen, other}), testing::ElementsAre("core_zen3_cycles_count", ""));
}

TEST(CorePrior, LearnsHowFarCoreModelsHold) {
  for (const double truth : {0.0, 0.6, 1.0}) {
    const TrainingTable table = modelled_world(truth);
    CorePriorPredictor predictor(std::make_unique<MeanPredictor>());
    ASSERT_TRUE(predictor.fit(table, {}).ok());
    EXPECT_NEAR(predictor.slope(), truth, 1e-9);
    // Nothing is left for the mean to miss.
    const Eigen::MatrixXd predicted = predictor.predict(profiles_of(table));
    EXPECT_NEAR((predicted - log_rpv(table)).cwiseAbs().maxCoeff(), 0, 1e-9);
  }
}

TEST(CorePrior, SaysNothingWhereTheProfileHasNoModelledCycles) {
  const TrainingTable table = modelled_world(0.6);
  CorePriorPredictor predictor(std::make_unique<MeanPredictor>());
  ASSERT_TRUE(predictor.fit(table, {}).ok());
  Profile bare = table.profiles[0];
  for (const std::string& metric : core_metrics()) bare.metrics.erase(metric);
  const Eigen::MatrixXd predicted = predictor.predict({&bare});
  EXPECT_TRUE(predicted.allFinite());
  EXPECT_NEAR(predicted(0, 2) - predicted(0, 0), 0.2, 0.2);
  // As often as not in training: those programs don't move the slope.
  TrainingTable some = table;
  for (const std::string& metric : core_metrics()) some.profiles[1].metrics.erase(metric);
  EXPECT_TRUE(predictor.fit(some, {}).ok());
  EXPECT_GT(predictor.slope(), 0.4);
}

TEST(CorePrior, HoldsWhatNoTrainingProgramHadAndSaysSo) {
  const TrainingTable table = modelled_world(0.6);
  CorePriorPredictor predictor(std::make_unique<MeanPredictor>());
  ASSERT_TRUE(predictor.fit(table, {}).ok());
  const auto times_as_long = [&](double factor) {
    Profile profile = table.profiles[0];
    profile.metrics["core_zen3_cycles_count"] *= factor;
    return predictor.predict_with_disagreement({&profile});
  };
  EXPECT_NEAR(times_as_long(1).disagreement(0), 0, 1e-12);
  const Prediction far = times_as_long(1e3), further = times_as_long(1e300);
  EXPECT_LT(far.log_rpv(0, 0) - far.log_rpv(0, 1), 0.6 * 2.5);
  EXPECT_LT(std::abs(further.log_rpv(0, 0) - further.log_rpv(0, 1)), 0.6 * 2.5);
  EXPECT_GT(far.disagreement(0), 0.5);
  EXPECT_GT(further.disagreement(0), far.disagreement(0));
  // So does a bundle that was written and read.
  TensorMap tensors;
  predictor.save(tensors);
  CorePriorPredictor loaded(std::make_unique<MeanPredictor>());
  ASSERT_TRUE(loaded.load(tensors).ok());
  Profile profile = table.profiles[0];
  profile.metrics["core_zen3_cycles_count"] *= 1e3;
  EXPECT_EQ(loaded.predict({&profile}), far.log_rpv);
  EXPECT_EQ(loaded.prior_on(table.platforms, {&profile, &table.profiles[1]}),
            predictor.prior_on(table.platforms, {&profile, &table.profiles[1]}));
}

TEST(CorePrior, LoadRefusesWhatDoesNotFit) {
  const TrainingTable table = modelled_world(0.6);
  CorePriorPredictor predictor(std::make_unique<MeanPredictor>());
  ASSERT_TRUE(predictor.fit(table, {}).ok());
  const auto error_after = [&](const std::function<void(Json&)>& change) {
    TensorMap tensors;
    predictor.save(tensors);
    Json json = *tensors.get_json("cores");
    change(json);
    tensors.put_json("cores", json);
    CorePriorPredictor loaded(std::make_unique<MeanPredictor>());
    const Status status = loaded.load(tensors);
    return status.ok() ? "" : status.error().code;
  };
  EXPECT_EQ(error_after([](Json&) {}), "");
  EXPECT_EQ(error_after([](Json& json) { json["slope_ratio"] = 2; }), "bad-bundle");
  EXPECT_EQ(error_after([](Json& json) { json["slope_ratio"] = "0.5"; }), "bad-bundle");
  EXPECT_EQ(error_after([](Json& json) { json["level_slope_ratio"] = 2; }), "bad-bundle");
  EXPECT_EQ(error_after([](Json& json) { json["level_slope_ratio"] = "0.5"; }), "bad-bundle");
  EXPECT_EQ(error_after([](Json& json) { json["rest"] = "knn"; }), "bad-bundle");
  EXPECT_EQ(error_after([](Json& json) { json["metrics"].erase(0); }), "bad-bundle");
  EXPECT_EQ(error_after([](Json& json) { json["metrics"][0] = "wall_s"; }), "bad-bundle");
  EXPECT_EQ(error_after([](Json& json) { json = 1; }), "bad-bundle");
  EXPECT_EQ(error_after([](Json& json) { json.erase("seen_log_ratio"); }), "");  // of an earlier version
  EXPECT_EQ(error_after([](Json& json) { json["seen_log_ratio"] = Json::array(); }), "bad-bundle");
  EXPECT_EQ(error_after([](Json& json) { json["seen_log_ratio"]["core_zen3_cycles_count"] = {2, 1}; }), "bad-bundle");
  EXPECT_EQ(error_after([](Json& json) { json["seen_log_ratio"].erase("core_zen3_cycles_count"); }), "bad-bundle");
}

}  // namespace
}  // namespace perfcast::program
