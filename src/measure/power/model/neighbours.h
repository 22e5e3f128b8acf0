#pragma once
// Samples around a sample, in its run: means over them, and the one before.

#include <Eigen/Core>
#include <vector>

#include "measure/power/table/power_table.h"

namespace perfcast::measure {

// The usual time between a sample of `which` and the one before it in its run, in seconds; NaN where times don't tell.
double usual_step_s(const PowerTable& table, const std::vector<size_t>& which);

// The table's runs, cut where a step takes much longer than `step_s`: what lies so far apart tells nothing of each
// other. NaN: as they are.
std::vector<int> runs_of_step(const PowerTable& table, double step_s);

// Mean over the samples within `reach`, in the same run; absent entries are left out.
Eigen::VectorXd smoothed(const Eigen::VectorXd& values, const std::vector<int>& run, Eigen::Index reach);

// The row before in the same run; the first of a run has none (0). Where `near`, as runs_of_step() has it, begins anew
// within a run, the row itself: as if nothing had changed.
Eigen::MatrixXd row_before(const Eigen::MatrixXd& rows, const std::vector<int>& run, const std::vector<int>& near);

}  // namespace perfcast::measure
