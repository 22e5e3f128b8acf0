#pragma once
// The score of several trainings of one system: without the fastest and the slowest, the mean of the rest.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perfcast::ai {

struct TrainingScore {
  int64_t runs = 0;        // all of them
  int64_t unfinished = 0;  // that never reached the target
  std::optional<double> mean_s;
  std::string rule;         // how mean_s was made, or why there is none
  bool is_trimmed = false;  // without the fastest and the slowest
  // Of those that reached the target; absent where there are none (of the deviation: fewer than two).
  std::optional<double> fastest_s, slowest_s, median_s;
  std::optional<double> deviation_ratio;  // standard deviation over the mean, of all that reached it
};

// Absent: a training that never reached its target. It counts as the slowest: one such of three or more is what is
// dropped, with more of them there is no score (it would be a mean of those that were lucky). With fewer than three
// trainings nothing can be dropped: the mean of all, which `rule` says.
TrainingScore training_score(const std::vector<std::optional<double>>& times_s);

}  // namespace perfcast::ai
