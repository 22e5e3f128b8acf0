#include "program/evaluate/own_times.h"

#include <cmath>
#include <map>
#include <string>

#include "base/unknown.h"
#include "machine/facts/core_design.h"

namespace perfcast::program {
namespace {

struct Departures {
  double sum = 0;
  int64_t count = 0;
};

}  // namespace

Eigen::MatrixXd own_times_by_design(const std::vector<Platform>& platforms, const Eigen::MatrixXd& log_times,
                                    const Eigen::MatrixXd& mean_forecast) {
  std::vector<std::string> designs;
  designs.reserve(platforms.size());
  for (const Platform& platform : platforms) designs.push_back(core_design(platform));

  const Eigen::MatrixXd departures = log_times - mean_forecast;
  Eigen::MatrixXd result = Eigen::MatrixXd::Constant(log_times.rows(), log_times.cols(), kUnknown);
  for (Eigen::Index row = 0; row < log_times.rows(); ++row) {
    std::map<std::string, Departures> by_design;
    for (Eigen::Index column = 0; column < log_times.cols(); ++column) {
      const double departure = departures(row, column);
      if (!std::isfinite(departure)) continue;
      Departures& same = by_design[designs[static_cast<size_t>(column)]];
      same.sum += departure;
      ++same.count;
    }
    for (Eigen::Index column = 0; column < log_times.cols(); ++column) {
      const double departure = departures(row, column);
      const std::string& design = designs[static_cast<size_t>(column)];
      if (!std::isfinite(departure) || design == "unknown") continue;
      const Departures& same = by_design[design];
      if (same.count < 2) continue;
      // Without the entry itself, which is what the ceiling is asked for.
      result(row, column) = mean_forecast(row, column) + (same.sum - departure) / static_cast<double>(same.count - 1);
    }
  }
  return result;
}

}  // namespace perfcast::program
