#include "ai/transformer_forecast/host_calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace perfcast::ai {
namespace {

TEST(HostCalibration, TimesSeveralTransformersOverBothPhases) {
  CalibrationOptions options;
  options.precision = Precision::kInt8;
  options.quick = true;
  auto calibration = HostCalibration::create(options);
  ASSERT_TRUE(calibration) << to_text(calibration.error());
  ASSERT_TRUE(calibration->run_round());
  std::set<std::string> models;
  std::set<LlmPhase> phases;
  for (const StepSample& sample : calibration->samples()) {
    models.insert(sample.model);
    phases.insert(sample.point.phase);
    EXPECT_GT(sample.times.seconds, 0);
    EXPECT_GE(sample.times.runs, 1);
  }
  EXPECT_EQ(models.size(), 3u);
  EXPECT_EQ(phases.size(), 2u);
  EXPECT_TRUE(calibration->fit());
}

TEST(HostCalibration, TakesLargeTransformersWhereTheForecastIsOfOne) {
  const auto most_weights = [](double asked_for, bool quick) {
    CalibrationOptions options;
    options.most_weights = asked_for;
    options.quick = quick;
    const auto models = calibration_models(options);
    if (!models) return kUnknown;
    double most = 0;
    for (const TransformerModel& model : *models) {
      most = std::max(most, step_work(model.config, options.precision, {LlmPhase::kDecode, 1, 40})->weights);
    }
    return most;
  };
  EXPECT_LT(most_weights(1e8, false), 1.15e8);
  EXPECT_LT(most_weights(1.2e8, false), 1.15e8);  // no further
  EXPECT_NEAR(most_weights(1.5e8, false), 1.98e8, 2e6);
  EXPECT_NEAR(most_weights(3.8e8, false), 3.96e8, 2e6);
  EXPECT_NEAR(most_weights(8e9, false), 3.96e8, 2e6);  // then there is no interval
  EXPECT_LT(most_weights(3.8e8, true), 3e7);
}

}  // namespace
}  // namespace perfcast::ai
