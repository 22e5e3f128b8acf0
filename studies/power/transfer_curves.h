#pragma once
// Error of forecasts for a machine or device that was never seen, against how many samples it gave.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/power/model/power_transfer.h"

namespace perfcast::measure::power_study {

struct CurvePoint {
  size_t samples = 0;
  double error = 0, lowest = 0, highest = 0;  // mean, and the range over seeds, of the mean over groups
  double covered = 0;                         // NaN without intervals
  std::vector<double> of_group;               // mean over seeds; NaN: none of its draws left anything to score
};

struct TransferCurve {
  std::string method;
  // None at 0 of a method that needs samples, none where over half of the draws left nothing to score.
  std::vector<CurvePoint> points;
};

struct CurveRequest {
  std::vector<size_t> counts = {0, 1, 2, 5, 10, 20, 40};
  int seeds = 10;
  int threads = 1;
  bool apart = true;  // rows of workloads that gave a sample are not scored; false: all rows but the samples are
  Eigen::VectorXd utilisation;  // what the baseline's line is drawn on
  std::vector<bool> scored;     // per row
};

std::vector<TransferCurve> transfer_curves(const PowerSamples& samples, const CurveRequest& request);

}  // namespace perfcast::measure::power_study
