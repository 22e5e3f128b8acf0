#pragma once
// Whether a fault grows while its episode is open. Its first 8 rows say how far off it is: the farthest metric's mean
// over some 8 rows, among the metrics that alarm by themselves, in usual deviations. It is clearly worse where that
// doubles and grows by 2 at least, or where its severity rises. Each telling is the measure of the next.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/unknown.h"
#include "measure/watch/alarm_level.h"

namespace perfcast::measure {

class Archive;

struct Worse {
  double times_as_far = kUnknown;  // as when it was last told; NaN: the severity rose, or nothing was off before
  std::optional<Severity> was;     // where the severity rose
  bool grew = false;               // it is farther off, not only surer
};

class EpisodeGrowth {
 public:
  void begin(size_t columns, Severity severity);
  // One row of the episode. shifts: from what is expected, in usual deviations; surprises: nats, of which `level` is an
  // alarm. Returns what is to be told.
  std::optional<Worse> add(std::span<const float> shifts, std::span<const float> surprises, double level,
                           Severity severity);
  // The row was farther off than all before it.
  bool is_farthest() const { return is_farthest_; }
  size_t column() const { return column_; }  // which of its metrics is

  void archive(Archive& archive, size_t columns);

 private:
  std::vector<float> mean_;  // of the shifts, by metric
  uint64_t rows_ = 0, told_rows_ = 0;
  double told_ = 0, most_ = 0;
  uint8_t told_severity_ = 0;
  size_t column_ = 0;  // these two are of the last row
  bool is_farthest_ = false;
};

}  // namespace perfcast::measure
