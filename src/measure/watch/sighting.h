#pragma once
// In which way a metric was found unusual, and what was expected there.

#include <cstddef>
#include <cstdint>
#include <string>

namespace perfcast::measure {

// What of a metric is looked at; each upwards and downwards. Saved in states: new ones go to the end.
enum class Sight : uint8_t {
  kValue,       // beside all that it has been
  kMean,        // of some 8 rows, likewise
  kJump,        // from the mean of the rows before
  kShortShift,  // of the mean of some 8 rows from that of a day
  kLongShift,   // of the mean of some 40 rows
  kVariation,   // from row to row
  kSeason,      // beside what it has been at this time of the season
  kSeasonMean,  // the mean of some 8 rows, likewise
  kJoint,       // beside what the other metrics say
  kJointMean,   // of some 8 rows
  kJointLong,   // of some 40 rows
};
inline constexpr size_t kPastSights = 8, kSights = 11;
// "value", "mean", "jump", "shift", "variation", "time of day", "other metrics".
const char* to_text(Sight sight);

struct Sighting {
  float nats = 0;  // 0: nothing
  Sight sight = Sight::kValue;
  bool up = true;
};

// In z. For kVariation: value is how many times the usual it is, and low and high are 1.
struct Expected {
  float value = 0, low = 0, high = 0;
  // Usual deviations from the nearer end; below 0 where it lies below; 0 inside.
  float far() const { return value > high ? value - high : value < low ? value - low : 0; }
};

}  // namespace perfcast::measure
