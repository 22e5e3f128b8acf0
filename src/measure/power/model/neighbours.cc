#include "measure/power/model/neighbours.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/statistics.h"
#include "base/unknown.h"

namespace perfcast::measure {
namespace {

constexpr double kFarStep = 3;  // times the usual one

double step_before(const PowerTable& table, size_t row) {
  const auto r = static_cast<Eigen::Index>(row);
  return table.time_s(r) - table.time_s(r - 1);
}

}  // namespace

double usual_step_s(const PowerTable& table, const std::vector<size_t>& which) {
  std::vector<double> steps;
  for (const size_t r : which) {
    if (r == 0 || table.run[r] != table.run[r - 1]) continue;
    if (const double step = step_before(table, r); step > 0) steps.push_back(step);
  }
  return steps.empty() ? kUnknown : median(std::move(steps));
}

std::vector<int> runs_of_step(const PowerTable& table, double step_s) {
  std::vector<int> runs(table.rows(), 0);
  for (size_t r = 1; r < runs.size(); ++r) {
    const bool ends = table.run[r] != table.run[r - 1] || step_before(table, r) > kFarStep * step_s;
    runs[r] = runs[r - 1] + (ends ? 1 : 0);
  }
  return runs;
}

Eigen::VectorXd smoothed(const Eigen::VectorXd& values, const std::vector<int>& run, Eigen::Index reach) {
  const Eigen::Index n = values.size();
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(n + 1), counts = Eigen::VectorXd::Zero(n + 1);
  for (Eigen::Index i = 0; i < n; ++i) {
    const bool known = !std::isnan(values(i));
    sums(i + 1) = sums(i) + (known ? values(i) : 0);
    counts(i + 1) = counts(i) + (known ? 1 : 0);
  }
  Eigen::VectorXd result(n);
  Eigen::Index from = 0, to = 0;  // of the run
  for (Eigen::Index i = 0; i < n; ++i) {
    if (i == to) {
      from = i;
      while (to < n && run[static_cast<size_t>(to)] == run[static_cast<size_t>(i)]) ++to;
    }
    const Eigen::Index low = std::max(from, i - reach), high = std::min(to, i + reach + 1);
    const double count = counts(high) - counts(low);
    result(i) = count > 0 ? (sums(high) - sums(low)) / count : kUnknown;
  }
  return result;
}

Eigen::MatrixXd row_before(const Eigen::MatrixXd& rows, const std::vector<int>& run, const std::vector<int>& near) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(rows.rows(), rows.cols());
  for (Eigen::Index r = 1; r < rows.rows(); ++r) {
    const auto at = static_cast<size_t>(r);
    if (run[at] == run[at - 1]) result.row(r) = rows.row(near[at] == near[at - 1] ? r - 1 : r);
  }
  return result;
}

}  // namespace perfcast::measure
