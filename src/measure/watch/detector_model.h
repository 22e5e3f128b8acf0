#pragma once
// All that a detector learnt of a stream, and the score of a row by it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "measure/watch/alarm_level.h"
#include "measure/watch/metric_transform.h"
#include "measure/watch/presence_rules.h"
#include "measure/watch/reconstruction.h"
#include "measure/watch/seasonal_baseline.h"
#include "measure/watch/surprise.h"

namespace perfcast::measure {

struct DetectorOptions {
  double false_alarms_per_day = 1;
  size_t warm_up_rows = 5000;
  double season_s = 86400;       // 0: none
  double change_after_s = 1200;  // an episode that lasts so long is a change
  double refresh_s = 86400;      // the VAE trains on from the reservoir so often, and after 50,000 rows at the earliest
  bool use_baseline = true, use_joint = true;
  size_t hidden = 96, latent = 10, training_steps = 8000;
  uint64_t seed = 1;
};

struct DetectorModel {
  MetricTransform transform;
  SeasonalBaseline baseline;
  Reconstruction reconstruction;
  Surprise surprise;
  PresenceRules rules;
  AlarmLevel level;
  ScoreClusters clusters;
  double interval_s = 1;  // between rows, at the median

  void archive(Archive& archive, size_t columns);
};

// From a warm-up of `time_s.size()` rows x columns. Tails and alarm level come from rows that models were not trained
// on: three times the models are fitted without some segments of the warm-up and score those.
Result<DetectorModel> learn_model(std::span<const double> time_s, std::span<const double> values, size_t columns,
                                  const DetectorOptions& options);

ReconstructionOptions reconstruction_options(const DetectorOptions& options, size_t columns);

}  // namespace perfcast::measure
