#include "program/evaluate/noise_floor.h"

#include <cmath>

#include "base/unknown.h"

namespace perfcast::program {

Eigen::MatrixXd log_times(const TrainingTable& table) {
  Eigen::MatrixXd result(static_cast<int64_t>(table.programs.size()), static_cast<int64_t>(table.platforms.size()));
  for (size_t i = 0; i < table.programs.size(); ++i) {
    for (size_t j = 0; j < table.platforms.size(); ++j) {
      const auto& time = table.at(i, j);
      result(static_cast<int64_t>(i), static_cast<int64_t>(j)) = time ? time->log_time : kUnknown;
    }
  }
  return result;
}

ScoreInput noise_floor(const TrainingTable& table, int64_t reference) {
  ScoreInput input;
  input.truth = log_times(table);
  input.predicted = input.truth;
  for (size_t i = 0; i < table.programs.size(); ++i) {
    input.families.push_back(table.programs[i].family);
    for (size_t j = 0; j < table.platforms.size(); ++j) {
      const auto& time = table.at(i, j);
      const auto row = static_cast<int64_t>(i), column = static_cast<int64_t>(j);
      const bool several = time && (time->servers >= 2 || time->results >= 2);
      const bool halves = several && std::isfinite(time->half_a) && std::isfinite(time->half_b);
      input.truth(row, column) = halves ? time->half_a : kUnknown;
      input.predicted(row, column) = halves ? time->half_b : kUnknown;
    }
  }
  relative_to(reference, input);
  return input;
}

}  // namespace perfcast::program
