#include "workload/transformer_forecast/host_calibration.h"

#include <gtest/gtest.h>

#include <set>

namespace perfcast {
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

}  // namespace
}  // namespace perfcast
