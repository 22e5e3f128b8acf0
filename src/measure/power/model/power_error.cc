// Errors of forecasts of power, averaged over cells of a group and a workload.

#include <cmath>
#include <map>
#include <utility>

#include "base/unknown.h"
#include "measure/power/model/power_model.h"

namespace perfcast::measure {

double cell_error(const PowerDesign& design, const std::vector<size_t>& which, const Eigen::VectorXd& forecast_watts) {
  std::map<std::pair<int, int>, std::pair<double, double>> cells;
  for (size_t i = 0; i < which.size(); ++i) {
    const double measured = design.watts(static_cast<Eigen::Index>(which[i]));
    const double error = std::abs(forecast_watts(static_cast<Eigen::Index>(i)) / measured - 1);
    if (std::isnan(error)) continue;
    auto& [sum, count] = cells[{design.group[which[i]], design.workload[which[i]]}];
    sum += error;
    ++count;
  }
  if (cells.empty()) return kUnknown;
  double total = 0;
  for (const auto& [cell, sums] : cells) total += sums.first / sums.second;
  return total / static_cast<double>(cells.size());
}

double log_cell_error(const PowerSamples& samples, const std::vector<size_t>& which,
                      const Eigen::VectorXd& log_target) {
  Eigen::VectorXd watts(log_target.size());
  for (Eigen::Index i = 0; i < watts.size(); ++i) {
    watts(i) =
        std::exp(log_target(i) + samples.design.log_scale(static_cast<Eigen::Index>(which[static_cast<size_t>(i)])));
  }
  return cell_error(samples.design, which, watts);
}

double mean_power_error(const PowerSamples& samples, const std::vector<size_t>& which) {
  std::map<std::pair<int, int>, std::pair<double, double>> sums;
  for (const size_t r : which) {
    auto& [sum, count] = sums[{samples.design.group[r], samples.design.workload[r]}];
    sum += samples.design.watts(static_cast<Eigen::Index>(r));
    ++count;
  }
  std::map<int, std::pair<double, double>> of_group;  // sum of the cells' means, their number
  for (const auto& [cell, own] : sums) {
    auto& [sum, count] = of_group[cell.first];
    sum += own.first / own.second;
    ++count;
  }
  std::map<std::pair<int, int>, double> others;
  for (const auto& [cell, own] : sums) {
    const double mean = own.first / own.second;
    const auto& [sum, count] = of_group[cell.first];
    others[cell] = count > 1 ? (sum - mean) / (count - 1) : mean;
  }
  Eigen::VectorXd means(static_cast<Eigen::Index>(which.size()));
  for (size_t i = 0; i < which.size(); ++i) {
    means(static_cast<Eigen::Index>(i)) = others[{samples.design.group[which[i]], samples.design.workload[which[i]]}];
  }
  return cell_error(samples.design, which, means);
}

}  // namespace perfcast::measure
