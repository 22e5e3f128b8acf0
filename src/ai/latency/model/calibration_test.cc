#include "ai/latency/model/calibration.h"

#include <gtest/gtest.h>

#include "ai/latency/model/test_gpu.h"

namespace perfcast::ai {
namespace {

TEST(GpuCalibration, TakesOutABias) {
  GpuModels models = test_models();
  std::vector<MeasuredProduct> measured;
  for (const double m : {512.0, 1024.0, 2048.0, 4096.0}) {
    MeasuredProduct row;
    row.shape = {1, m, 1024, 1024, true};
    const OperatorTime time = models.product(row.shape);
    row.seconds = 1.3 * (time.seconds + time.launch_seconds);
    measured.push_back(row);
  }
  const double before = models.product(measured[3].shape).seconds;
  const double batched = models.product({8, 512, 64, 512, false}).seconds;
  EXPECT_EQ(calibrate(models, measured), 4u);
  const double factor = models.product(measured[3].shape).seconds / before;
  EXPECT_GT(factor, 1.25);  // shrunk a little towards none
  EXPECT_LT(factor, 1.3);
  EXPECT_EQ(models.product({8, 512, 64, 512, false}).seconds, batched);
}

}  // namespace
}  // namespace perfcast::ai
