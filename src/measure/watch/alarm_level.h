#pragma once
// How rare a row must be for an alarm, so that by chance alone as many come a day as are allowed.
//
// A list of tails (tail_lists.h) passes L nats in a block of rows with a probability of e^-L. A metric has several
// lists, which mostly see the same: together they count as three, as measured on streams without faults
// (perfcast_watch_evaluation --part faultless). So
//   L = log(blocks a day x 3 x metrics / false alarms a day)
// Each alarm raises the level by half a nat, up to 3; a time in which one is allowed takes that back. So a stream that
// is wilder than its past has few more alarms than were asked for.

#include <cstddef>

namespace perfcast::measure {

class Archive;

// How rare such a score is by chance, beside an alarm: minor as rare, major a tenth, critical a thousandth.
enum class Severity { kMinor, kMajor, kCritical };
const char* to_text(Severity severity);

// A day: one a week, and at most one in 500 rows, as rows may be hours apart.
double usual_false_alarms(double interval_s);

class AlarmLevel {
 public:
  // false_alarms_per_day 0: as usual_false_alarms() says.
  void set(double false_alarms_per_day, double interval_s, size_t columns);
  void pass(double seconds);
  void add_alarm();

  double level() const { return level_ + raised_; }  // nats
  // `far`: usual deviations from what is expected, of the farthest metric; what is near is never critical.
  Severity severity(double nats, double far) const;

  void archive(Archive& archive);

 private:
  double level_ = 1e30, raised_ = 0, allowed_per_s_ = 0;
};

}  // namespace perfcast::measure
