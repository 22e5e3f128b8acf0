#pragma once
// One stream of rows with the same columns -> alerts. After a warm-up, from which the scales of metrics are learnt,
// each row is judged beside the metrics' past (metric_past.h) and beside each other (metric_relations.h). What is rarer
// than the alarm level (alarm_level.h) opens an incident:
//   it grows    it is clearly worse than when it was last told: it is told again
//   it ends     30 rows in a row are usual
//   it lasts    for `change_after_s` and 120 rows at least, and it grows no more: a change. What it shows is usual from
//               now on, as is what was usual before; a way back is no news
// While an incident is open, what is usual holds still. Memory is bounded by columns and options; what is done hangs on
// the rows alone, not on how they come in blocks.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "measure/watch/alarm_level.h"
#include "measure/watch/alert.h"
#include "measure/watch/episode_growth.h"
#include "measure/watch/metric_past.h"
#include "measure/watch/metric_relations.h"
#include "measure/watch/metric_transform.h"
#include "measure/watch/presence_rules.h"

namespace perfcast::measure {

class Archive;

struct DetectorOptions {
  double false_alarms_per_day = 0;  // 0: usual_false_alarms()
  size_t warm_up_rows = 0;          // 0: by the stream's length, where that is known; else kShortWarmUp
  double season_s = -1;             // 0: none; below 0: found in the warm-up, else a day
  double change_after_s = 1200;     // an incident that lasts so long is a change
  double refresh_s = 86400;  // the network trains on from the reservoir so often, and after 50,000 rows at the earliest
  bool use_past = true, use_joint = true;
  size_t hidden = 96, latent = 10, training_steps = 8000;
  uint64_t seed = 1;
};

inline constexpr size_t kLeastWarmUp = 60, kShortWarmUp = 300, kMostWarmUp = 5000;
// Alerts of fewer rows are provisional.
inline constexpr uint64_t kSureRows = 1000;

// A tenth of a stream of so many rows.
size_t warm_up_of(uint64_t rows);

class Detector {
 public:
  Detector(size_t columns, const DetectorOptions& options);

  // Rows in the order of their times; values: rows x stride, of which the first columns() count; NaN absent. `scores`:
  // one for each row behind the warm-up, where asked for. Errors are of training.
  Status add(size_t rows, const double* time_s, const double* values, size_t stride, std::vector<Alert>& alerts,
             std::vector<float>* scores = nullptr);
  // More columns, behind those that there are: while it is warming up.
  void widen(size_t columns);
  // Where the options leave it open: the warm-up ends with this row or the next.
  void set_warm_up(size_t rows);

  bool is_warming_up() const { return !has_learnt_; }
  size_t warm_up_rows() const { return warm_up_time_s_.size(); }  // so far
  size_t whole_warm_up() const { return whole_warm_up_; }
  size_t columns() const { return columns_; }
  double level() const { return has_learnt_ ? level_.level() : 0; }
  bool has_open_episode() const { return episode_.open; }
  uint64_t episode() const { return episode_.id; }  // the last one, open or not
  double episode_since_s() const { return episode_.since_s; }

  // "bad" bytes make the archive fail; the detector is then of no use.
  void archive(Archive& archive);

 private:
  static constexpr size_t kReservoirRows = 4096, kMostNamed = 5;

  struct Episode {
    bool open = false;
    uint64_t id = 0, rows = 0, quiet_rows = 0;
    uint64_t long_rows = 0;  // in a row, that only means over 40 rows still find unusual
    bool is_quick = false;   // something else found it unusual, too
    uint64_t most_row = 0;   // of the episode: where its score was largest
    uint64_t wait_rows = 0;  // that it must have before it is a change
    double since_s = 0, last_s = 0, most = 0, far = 0;
    Severity severity = Severity::kMinor;  // as it was told
    std::vector<float> surprise;           // the most of each metric
    EpisodeGrowth growth;
    double worst_s = 0;  // of the row that was farthest off
    std::vector<AlertMetric> worst;
  };

  Status learn();
  Status learn_relations(size_t rows);
  void find_counts(const std::vector<double>& values, size_t rows);
  // Rows x columns, of counts their growth.
  const double* growth_of_counts(size_t rows, const double* values, size_t stride);
  void infer(size_t rows, const double* values);
  // Into the pasts; nats_, sightings_ and the row's score by them.
  double look(double time_s, const double* values, bool holds);
  // A whole number with none between it and what other metrics let expect.
  bool is_nearest_whole(size_t column, const Sighting& joint, double value) const;
  // True where what later rows are compared with moved.
  Result<bool> take_row(size_t row, double time_s, const double* values, std::vector<Alert>& alerts,
                        std::vector<float>* scores);
  void follow_episode(size_t row, double time_s, const double* values, double score, std::vector<Alert>& alerts);
  void end_block();
  void forget_ended(double level);
  void open_episode(double time_s);
  void end_episode(Alert alert, std::vector<Alert>& alerts);
  void end_as_change(Alert alert, std::vector<Alert>& alerts);
  std::span<const float> z_at(size_t row) const { return {z_.data() + row * columns_, columns_}; }
  Expected expected(size_t column) const;
  double far(size_t column) const;
  Alert alert_of(size_t row, double time_s, const double* values, std::span<const float> weights) const;
  // Of the row at hand, whose alert would be `now`: whether it is to be told again, and the worst so far.
  void follow_growth(Alert& now);
  void keep(double time_s);
  Result<bool> refresh(double time_s);
  void archive_episode(Archive& archive);

  size_t columns_;
  DetectorOptions options_;
  size_t whole_warm_up_;
  bool has_learnt_ = false;
  std::vector<double> warm_up_time_s_, warm_up_values_;
  double interval_s_ = 1;  // between rows, at the median
  // Metrics that never fell in the warm-up, and mostly rose: what is judged is their growth from row to row.
  std::vector<uint8_t> is_count_;
  std::vector<double> last_count_;
  MetricTransform transform_;
  MetricPast past_;
  MetricRelations relations_;
  PresenceRules rules_;
  AlarmLevel level_;
  Episode episode_;
  uint64_t episodes_ = 0, rows_ = 0;  // rows that were looked at
  uint64_t relations_due_ = 0;        // rows, with which the relations are learnt anew; 0: never
  double last_time_s_ = 0, refreshed_s_ = 0;
  uint64_t rows_since_refresh_ = 0;

  uint64_t seen_ = 0;  // rows offered to the reservoir
  std::vector<float> reservoir_;
  std::vector<double> reservoir_time_s_;

  // Of the rows at hand.
  std::vector<double> values_;
  std::vector<float> z_, nats_, shifts_;
  std::vector<Sighting> sightings_;
  bool has_rule_ = false;  // a metric is missing or stuck
  size_t at_ = 0;          // the row at hand within them
};

}  // namespace perfcast::measure
