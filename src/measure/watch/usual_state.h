#pragma once
// What counts as usual. The warm-up shows the first state. A change that lasts adds one on top of it; a return to an
// earlier state is known as such, whenever it comes.
//   u = (z, with `level` taken back, scored by the baseline) / u_spread
//   w = (what the network leaves of z with `offset` taken back, - w_centre) / w_spread
// A metric moved in two ways, as two models look at it: `level` beside its own past, `offset` beside the other metrics.
// In the first state nothing moved.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "measure/watch/detector_model.h"

namespace perfcast::measure {

class Archive;

// How far metrics moved: by a factor of the value, as counters do, or, where they were about nothing before, in z.
struct MovedMetrics {
  std::vector<float> log_factor, added;  // one of them is 0

  explicit MovedMetrics(size_t columns) : log_factor(columns, 0), added(columns, 0) {}
  bool has_moved(size_t column) const { return log_factor[column] != 0 || added[column] != 0; }
  // One row's z as if nothing had moved.
  void take_back(const MetricTransform& transform, const float* z, float* back) const;
  // It moved further: a row of `z`, taken back, is `by` too high.
  void move(const MetricTransform& transform, size_t column, float z, float by);
  bool operator==(const MovedMetrics&) const = default;
  void archive(Archive& archive, size_t columns);
};

struct UsualState {
  MovedMetrics level, offset;
  std::vector<float> u_spread, w_centre, w_spread;  // by metric
  double since_s = 0;                               // of the first row that showed it
  uint64_t rows = 0;                                // that it has followed

  explicit UsualState(size_t columns);
  // A step towards a row that nothing is wrong with: at first the running mean, then of a time constant of 2 h. u, w:
  // of that row, by this state. A change that adds is no constant factor all day long, and some rows don't place it.
  void follow(const DetectorModel& model, size_t part, std::span<const float> z, std::span<const float> u,
              std::span<const float> w);
  // Before that its means are drawn to its rows, so that these look more usual than others will.
  bool is_settled(const DetectorModel& model) const;
  void archive(Archive& archive, size_t columns);
};

// One row as a state sees it.
struct JudgedRow {
  std::vector<float> z, e, u, w;
  uint32_t regime = 0;
};
void judge_row(DetectorModel& model, const DetectorOptions& options, const UsualState& state, const float* z,
               size_t part, JudgedRow& row);

// How far a metric is from what is expected of it, in z: by the other metrics where they are asked and say more, else
// by its own past.
float shift_of(const DetectorModel& model, const DetectorOptions& options, const UsualState& state, size_t part,
               size_t column, float u, float w, uint32_t regime);

// Scores up to here are nothing unusual.
double quiet_score(const DetectorModel& model);

// The state that makes rows usual that are not so in `from`; none where they don't stay in one place, as in a ramp.
// z: rows x columns, of `time_s.size()` rows.
std::optional<UsualState> learn_state(DetectorModel& model, const DetectorOptions& options, const UsualState& from,
                                      std::span<const float> z, std::span<const double> time_s);

}  // namespace perfcast::measure
