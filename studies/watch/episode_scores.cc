#include "studies/watch/episode_scores.h"

#include <algorithm>

#include "base/unknown.h"

namespace perfcast::measure::watch_study {
namespace {

constexpr double kFound_s = 120, kBelongs_s = 600;
constexpr size_t kQuietRows = 60;
constexpr double kCloseShare = 0.6;

template <typename Counts>
size_t sum_of(const Counts& counts, size_t magnitude) {
  size_t sum = 0;
  for (size_t t = 0; t < kFaultTypes; ++t) sum += counts[t][magnitude];
  return sum;
}

double share(size_t part, size_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kUnknown;
}

}  // namespace

void DetectionCounts::add(const DetectionCounts& other) {
  for (size_t t = 0; t < kFaultTypes; ++t) {
    for (size_t m = 0; m < kMagnitudes; ++m) {
      faults[t][m] += other.faults[t][m];
      found[t][m] += other.found[t][m];
    }
  }
  delays_s.insert(delays_s.end(), other.delays_s.begin(), other.delays_s.end());
  alarms += other.alarms;
  false_alarms += other.false_alarms;
  days += other.days;
  clean_days += other.clean_days;
}

double DetectionCounts::recall() const {
  size_t all = 0;
  size_t of_them = 0;
  for (size_t m = 0; m < kMagnitudes; ++m) {
    all += sum_of(faults, m);
    of_them += sum_of(found, m);
  }
  return share(of_them, all);
}

double DetectionCounts::recall(size_t magnitude) const {
  return share(sum_of(found, magnitude), sum_of(faults, magnitude));
}
double DetectionCounts::precision() const { return share(alarms - false_alarms, alarms); }
double DetectionCounts::false_alarms_per_day() const { return static_cast<double>(false_alarms) / clean_days; }

DetectionCounts count_detections(const std::vector<InjectedFault>& faults, const std::vector<double>& alarms_s,
                                 double days) {
  DetectionCounts counts;
  counts.days = counts.clean_days = days;
  counts.alarms = counts.false_alarms = alarms_s.size();
  for (const InjectedFault& fault : faults) {
    const auto type = static_cast<size_t>(fault.type);
    ++counts.faults[type][fault.magnitude];
    counts.clean_days -= (fault.to_s + kBelongs_s - fault.from_s) / 86400;
    bool found = false;
    for (const double alarm_s : alarms_s) {
      if (alarm_s < fault.from_s || alarm_s > fault.to_s + kBelongs_s) continue;
      --counts.false_alarms;
      if (found || alarm_s > fault.to_s + kFound_s) continue;
      found = true;
      counts.delays_s.push_back(alarm_s - fault.from_s);
    }
    counts.found[type][fault.magnitude] += found ? 1 : 0;
  }
  return counts;
}

std::vector<double> alarms_of(const std::vector<double>& time_s, const std::vector<float>& scores, double low,
                              double level) {
  std::vector<double> alarms;
  bool open = false;
  size_t quiet = 0;
  const double close = low + kCloseShare * (level - low);
  for (size_t r = 0; r < scores.size(); ++r) {
    const auto score = static_cast<double>(scores[r]);
    if (!open && score > level) {
      alarms.push_back(time_s[r]);
      open = true;
      quiet = 0;
    }
    if (open) open = (quiet = score > close ? 0 : quiet + 1) < kQuietRows;
  }
  return alarms;
}

}  // namespace perfcast::measure::watch_study
