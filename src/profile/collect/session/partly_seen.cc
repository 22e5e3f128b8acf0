#include "profile/collect/session/partly_seen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace perfcast {

namespace {

constexpr double kUnlikeWhereNotSeen = 0.5;  // between alike, 0, and wholly unlike, 1
constexpr double kFewFaultsPer_s = 200;
constexpr double kLeastBytes = 1 << 20, kLeastThreads = 0.05;

// Means over intervals, all but memory by CPU time.
struct Course {
  double cpu_s = 0, length_s = 0, system_s = 0, faults = 0, resident = 0;
  size_t intervals = 0;

  void add(const CourseInterval& interval) {
    const double cpu = interval.running_count * interval.length_s;
    cpu_s += cpu;
    length_s += interval.length_s;
    system_s += interval.system_ratio * cpu;
    faults += interval.page_faults_minor_count;
    resident += interval.resident_bytes * interval.length_s;
    ++intervals;
  }
  double system_ratio() const { return system_s / cpu_s; }
  double faults_per_s() const { return faults / cpu_s; }
  double resident_bytes() const { return std::max(kLeastBytes, resident / length_s); }
  double running_count() const { return std::max(kLeastThreads, cpu_s / length_s); }
};

double differs(double before, double after, double wholly) {
  return std::abs(std::log(after / before)) / std::log(wholly);
}

double unlike_ratio(const Course& before, const Course& after) {
  return std::max({std::abs(after.system_ratio() - before.system_ratio()) / 0.2,
                   differs(before.faults_per_s() + kFewFaultsPer_s, after.faults_per_s() + kFewFaultsPer_s, 10),
                   differs(before.resident_bytes(), after.resident_bytes(), 8),
                   differs(before.running_count(), after.running_count(), 4)});
}

}  // namespace

CourseComparison compare_course(const std::vector<CourseInterval>& course, double seen_ratio) {
  double all_s = 0;
  for (const CourseInterval& interval : course) all_s += interval.running_count * interval.length_s;
  Course before, later, after;
  double passed_s = 0;
  for (const CourseInterval& interval : course) {
    const double cpu_s = interval.running_count * interval.length_s, middle_s = passed_s + cpu_s / 2;
    if (middle_s < seen_ratio * all_s) {
      before.add(interval);
      if (middle_s >= seen_ratio * all_s / 2) later.add(interval);
    } else {
      after.add(interval);
    }
    passed_s += cpu_s;
  }
  if (before.intervals < 2 || after.intervals < 2 || before.cpu_s <= 0 || after.cpu_s <= 0) {
    return {kUnlikeWhereNotSeen, "whether the rest looks alike the native run does not tell"};
  }
  double unlike = unlike_ratio(before, after);
  if (later.intervals >= 2 && later.cpu_s > 0) {
    if (const double of_later = unlike_ratio(later, after); of_later < unlike) {
      unlike = of_later;
      before = later;
    }
  }
  return {std::min(1.0, unlike),
          fmt::format("natively, before and after it: {:.1f} and {:.1f} threads running, {:.0f}% and {:.0f}% in the "
                      "kernel, {:.0f} and {:.0f} page faults/s, {:.0f} and {:.0f} MiB",
                      before.running_count(), after.running_count(), 100 * before.system_ratio(),
                      100 * after.system_ratio(), before.faults_per_s(), after.faults_per_s(),
                      before.resident_bytes() / (1 << 20), after.resident_bytes() / (1 << 20))};
}

}  // namespace perfcast
