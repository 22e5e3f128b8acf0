#include "measure/watch/presence_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/unknown.h"
#include "measure/watch/archive.h"

namespace perfcast::measure {
namespace {

constexpr uint32_t kUnbounded = std::numeric_limits<uint32_t>::max();
constexpr size_t kRunsLonger = 3;
constexpr uint32_t kAbsentMore = 5, kEqualMore = 20;
constexpr double kLeastPresent = 0.5;    // else absence is nothing unusual
constexpr double kMostEqualShare = 0.1;  // of the warm-up in one run: such a metric often stands still

}  // namespace

void PresenceRules::fit(std::span<const double> values, size_t rows, size_t columns) {
  last_.assign(columns, kUnknown);
  absent_.assign(columns, 0);
  equal_.assign(columns, 0);
  most_absent_.assign(columns, kUnbounded);
  most_equal_.assign(columns, kUnbounded);
  rule_.assign(columns, 0);
  acknowledged_.assign(columns, 0);
  for (size_t j = 0; j < columns; ++j) {
    size_t present = 0;
    uint32_t longest_absent = 0;
    uint32_t longest_equal = 0;
    uint32_t absent = 0;
    uint32_t equal = 0;
    double last = kUnknown;
    for (size_t r = 0; r < rows; ++r) {
      const double x = values[r * columns + j];
      if (std::isnan(x)) {
        longest_absent = std::max(longest_absent, ++absent);
        continue;
      }
      ++present;
      absent = 0;
      equal = x == last ? equal + 1 : 1;
      longest_equal = std::max(longest_equal, equal);
      last = x;
    }
    if (static_cast<double>(present) < kLeastPresent * static_cast<double>(rows)) continue;
    most_absent_[j] = kRunsLonger * longest_absent + kAbsentMore;
    if (longest_equal <= kMostEqualShare * static_cast<double>(rows)) {
      most_equal_[j] = kRunsLonger * longest_equal + kEqualMore;
    }
  }
}

bool PresenceRules::update(const double* values) {
  bool any = false;
  for (size_t j = 0; j < last_.size(); ++j) {
    const double x = values[j];
    if (x == last_[j]) {
      equal_[j] += equal_[j] < kUnbounded ? 1 : 0;
      absent_[j] = 0;
    } else if (x == x) {
      equal_[j] = 1;
      absent_[j] = 0;
      last_[j] = x;
    } else {
      absent_[j] += absent_[j] < kUnbounded ? 1 : 0;
    }
    PresenceRule rule = PresenceRule::kUsual;
    if (absent_[j] > most_absent_[j]) {
      rule = PresenceRule::kMissing;
    } else if (absent_[j] == 0 && equal_[j] > most_equal_[j]) {
      rule = PresenceRule::kStuck;
    }
    if (rule == PresenceRule::kUsual) acknowledged_[j] = 0;
    rule_[j] = acknowledged_[j] != 0 ? 0 : static_cast<uint8_t>(rule);
    any = any || rule_[j] != 0;
  }
  return any;
}

void PresenceRules::acknowledge() {
  for (size_t j = 0; j < rule_.size(); ++j) {
    if (rule_[j] == 0) continue;
    acknowledged_[j] = 1;
    rule_[j] = 0;
  }
}

void PresenceRules::archive(Archive& archive, size_t columns) {
  archive.array(last_, columns);
  archive.array(absent_, columns);
  archive.array(equal_, columns);
  archive.array(most_absent_, columns);
  archive.array(most_equal_, columns);
  archive.array(rule_, columns);
  archive.array(acknowledged_, columns);
  for (const uint8_t rule : rule_) {
    if (rule > static_cast<uint8_t>(PresenceRule::kStuck)) archive.fail();
  }
}

}  // namespace perfcast::measure
