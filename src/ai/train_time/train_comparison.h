#pragma once
// Time to a quality of several systems, seeds apart, and what of the order hangs on the threshold: a larger network
// takes longer to what a small one reaches, and is the first where that one never gets.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ai/train_time/threshold_rule.h"
#include "ai/train_time/train_curve.h"
#include "ai/train_time/training_score.h"
#include "base/result.h"

namespace perfcast::ai {

struct TrainRequest {
  double threshold = 0;
  ThresholdRule rule;
  std::vector<double> thresholds;  // that the order is looked at for; empty: chosen from the curves
  uint64_t seed = 1;               // of the resampling
};

struct SeedTime {
  int64_t seed = 1;
  std::optional<double> time_s;  // nullopt: never
  std::optional<double> best;    // the best threshold that it would have met
  TrainRunState state = TrainRunState::kDone;
  std::string why;
  std::optional<double> wall_s, last_reading_s;
  size_t readings = 0, not_finite = 0;
  bool counts = true;  // false: the run ended before its time, and had not reached the threshold: nothing is known
};

struct MeterTotal {
  std::string name, covers;
  size_t runs = 0;                      // with joules
  std::optional<double> energy_joules;  // mean of the whole run of a seed
  std::string why_missing;
};

struct SystemTime {
  std::string name;
  std::vector<SeedTime> seeds;
  TrainingScore score;     // of those that count
  size_t interrupted = 0;  // that don't
  std::vector<MeterTotal> meters;
  bool seems_buffered = false;
};

struct ThresholdOrder {
  double threshold = 0;
  std::vector<std::optional<double>> score_s;  // of each system
  std::vector<size_t> reached;                 // seeds of each system
  std::optional<size_t> fastest;               // system; nullopt: none has a score
  std::optional<double> lead_ratio;            // the second's score over the fastest's
  // Share of resamplings of the seeds (2000, each system's own) in which it stays the fastest; absent with fewer than
  // three seeds of a system that has a score.
  std::optional<double> share;
};

struct OrderChange {
  double from = 0, to = 0;  // thresholds next to each other
  std::optional<size_t> before, after;
};

struct TrainComparison {
  TrainRequest request;
  std::vector<SystemTime> systems;     // in the order of first appearance
  std::vector<ThresholdOrder> orders;  // of at least two systems: thresholds from easy to hard
  std::vector<OrderChange> changes;
  std::optional<size_t> at_threshold;  // index in `orders` of the request's own
};

// "no-readings" where no curve has one.
Result<TrainComparison> compare_trainings(const std::vector<TrainCurve>& curves, const TrainRequest& request);

}  // namespace perfcast::ai
