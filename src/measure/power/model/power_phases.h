#pragma once
// A series of power cut where it changes.

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "measure/power/table/power_table.h"

namespace perfcast::measure {

struct PowerPhase {
  size_t from = 0, to = 0;  // rows, the last one behind; all of one run
};

struct PhaseOptions {
  size_t shortest = 5;         // samples
  double least_change = 0.05;  // between two neighbours' means, relative
};

// Each run by itself, in two where that lowers the squared error of log watts most, and again (binary segmentation;
// Scott & Knott 1974), while the parts' means differ by `least_change` and by more than the noise within explains.
// Every `watts` is above 0.
std::vector<PowerPhase> power_phases(const PowerTable& table, const Eigen::VectorXd& watts,
                                     const PhaseOptions& options);

}  // namespace perfcast::measure
