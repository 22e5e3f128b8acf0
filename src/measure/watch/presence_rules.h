#pragma once
// What needs no score: a metric that is absent for longer than it ever was, or stands still for longer than it ever
// did. Both are learnt from the warm-up: longer than three times the longest run there, and 5 absent or 20 equal rows
// more.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace perfcast::measure {

class Archive;

enum class PresenceRule : uint8_t { kUsual, kMissing, kStuck };

class PresenceRules {
 public:
  void fit(std::span<const double> values, size_t rows, size_t columns);
  // One row; NaN: absent. True where a rule holds for a metric.
  bool update(const double* values);
  PresenceRule rule(size_t column) const { return static_cast<PresenceRule>(rule_[column]); }
  // What lasts is the new state of things: silent until it ends.
  void acknowledge();

  void archive(Archive& archive, size_t columns);

 private:
  std::vector<double> last_;
  std::vector<uint32_t> absent_, equal_;            // length of the present run
  std::vector<uint32_t> most_absent_, most_equal_;  // longest that is nothing unusual; kUnbounded: any
  std::vector<uint8_t> rule_, acknowledged_;
};

}  // namespace perfcast::measure
