#pragma once
// What each metric has been, by itself, and how rare a row is beside that: its value, its means, its jumps, how much it
// varies, and all of that beside the same time of earlier seasons (days). Each row is judged before it is learnt, so
// that what is rare needs no rows held out. In memory that does not grow.
//
// A season has up to 48 parts. Each holds the lowest and the highest z that it had, drawn to what it has now by 15% a
// season; a row is compared with its part and both neighbours. What was about as rare at this time of an earlier season
// is usual: a backup at night alarms once.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "measure/watch/sighting.h"
#include "measure/watch/tail_lists.h"

namespace perfcast::measure {

class Archive;

class MetricPast {
 public:
  // z of `columns` metrics every `interval_s`; `season_s` 0: none.
  void reset(size_t columns, double interval_s, double season_s);

  // A row; NaN: absent. `holds`: what is usual holds still, as something is unusual. nats, by column: the largest so
  // far stay.
  void look(double time_s, const float* z, bool holds, float* nats);
  // The most unusual of this metric, where looks may have been there before.
  Sighting find(size_t column) const;
  // Of the row's nats, by column: those no rarer than at this time of earlier seasons become `usual` at most. The row's
  // nats are part of the season then.
  void compare_with_season(float usual, float* nats);
  void end_block() { tails_.end_block(); }
  Expected expected(size_t column, const Sighting& sighting) const;
  // Where nothing is unusual: the range of this time of the season, else that of all time.
  Expected usual(size_t column) const;

  // The means over 40 rows go on from those over 8: they still hold a fault that is over.
  void forget_long_means() { long_mean_ = short_mean_; }
  // What is seen now is usual from now on; so is the way back.
  void accept();

  void archive(Archive& archive, size_t columns);

 private:
  static constexpr size_t kMostParts = 48;

  float* of(Sight sight, bool up) {
    return statistics_.data() + (2 * static_cast<size_t>(sight) + (up ? 0 : 1)) * columns_;
  }
  const float* of(Sight sight, bool up) const {
    return statistics_.data() + (2 * static_cast<size_t>(sight) + (up ? 0 : 1)) * columns_;
  }
  void begin_part(size_t part);
  void take_neighbours();

  size_t columns_ = 0, parts_ = 0;
  double season_s_ = 0, interval_s_ = 1;
  uint64_t rows_ = 0;
  std::vector<float> last_, short_mean_, long_mean_, reference_, step_;
  std::vector<float> statistics_;  // 2 x kPastSights x columns; down only where it is not minus up
  TailLists tails_;
  // Of the season; parts x columns, and of the part at hand.
  uint64_t part_ = 0;
  std::vector<uint8_t> part_known_;
  std::vector<float> part_low_, part_high_, part_nats_, low_, high_, nats_;
  // Of the part at hand and its neighbours, as earlier seasons had them.
  std::vector<float> around_low_, around_high_, around_nats_;
};

}  // namespace perfcast::measure
