#include "machine/meter/energy_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/significant.h"
#include "base/statistics.h"
#include "base/text.h"

namespace perfcast {
namespace {

// More than one counter domain draws: a counter that could have gone round twice between two readings is not believed.
constexpr int64_t kFewBursts = 3;
constexpr double kMostWatts = 2000;
constexpr double kLeastReadingIntervals = 2;
constexpr double kRounding = 1e-9;  // of the joules: what sums and differences of them leave

std::string too_short(double seconds_s, double interval_s, const char* what) {
  return fmt::format("the {} it lasted are less than two {} of the meter, which come every {}",
                     human_seconds(seconds_s), what, human_seconds(interval_s));
}

}  // namespace

void EnergyAccumulator::fail(const Error& error) {
  if (failed_++ == 0) first_failure_ = error.message + (error.where.empty() ? "" : " (" + error.where + ")");
}

double usual_interval_s(std::vector<double> apart_s) {
  std::sort(apart_s.begin(), apart_s.end());
  double passed_s = 0, half_s = 0;
  for (const double each : apart_s) half_s += each / 2;
  for (const double each : apart_s) {
    passed_s += each;
    if (passed_s < half_s) continue;
    const auto alike = std::count_if(apart_s.begin(), apart_s.end(),
                                     [&](double other) { return other >= each / 2 && other <= 2 * each; });
    if (alike >= kFewBursts) return each;
    break;
  }
  return median(std::move(apart_s));
}

double EnergyAccumulator::usual_interval_s() const {
  if (!std::isnan(facts_.interval_s)) return facts_.interval_s;
  std::vector<double> apart_s;
  for (size_t i = 1; i < readings_.size(); ++i) apart_s.push_back(readings_[i].time_s - readings_[i - 1].time_s);
  return perfcast::usual_interval_s(std::move(apart_s));
}

void EnergyAccumulator::sum_counter(double begin_s, double end_s, MeterEnergy& result) const {
  const double interval_s = usual_interval_s();
  const double seconds_s = end_s - begin_s;
  if (seconds_s < kLeastReadingIntervals * interval_s) {
    result.why_missing = too_short(seconds_s, interval_s, "counts");
    return;
  }
  double joules = 0, unsure_s = 0;
  for (size_t i = 1; i < readings_.size(); ++i) {
    const double apart_s = readings_[i].time_s - readings_[i - 1].time_s;
    double counted = readings_[i].value - readings_[i - 1].value;
    if (counted < 0) {
      if (std::isnan(facts_.range_joules) || counted + facts_.range_joules < 0) {
        result.why_missing = fmt::format("the counter went back {} J after {}, and nothing says where it begins anew",
                                         significant(-counted, 6), human_seconds(readings_[i].time_s - begin_s));
        return;
      }
      counted += facts_.range_joules;
      ++result.wraps;
    }
    if (!std::isnan(facts_.range_joules) && apart_s * kMostWatts > facts_.range_joules) unsure_s += apart_s;
    joules += counted;
  }
  const double covered_s = readings_.back().time_s - readings_.front().time_s;
  if (covered_s < kLeastCovered * seconds_s) {
    result.why_missing =
        fmt::format("readings cover {} of the {}", human_seconds(std::max(0.0, covered_s)), human_seconds(seconds_s));
    return;
  }
  if (result.wraps > 0) {
    result.warnings.push_back(
        {"counter-wrapped",
         fmt::format("the counter restarted from 0 {} time{}, each time after {} J; perfcast added these joules",
                     result.wraps, result.wraps == 1 ? "" : "s", significant(facts_.range_joules, 6))});
  }
  if (unsure_s > 0) {
    result.warnings.push_back(
        {"wraps-unsure", fmt::format("for {} the counter was read so rarely that it could have restarted more than "
                                     "once at {:.0f} W; perfcast can't see that",
                                     human_seconds(unsure_s), kMostWatts)});
  }
  // What lies outside of the readings is taken to draw as much; readings that reach a little further are taken as they
  // are.
  const double mean_w = joules / covered_s;
  const double outside_s = std::max(0.0, seconds_s - covered_s);
  result.gap_s = outside_s > kGapIntervals * interval_s ? outside_s : 0;
  result.joules = joules + mean_w * outside_s;
  const double resolution = std::isnan(facts_.resolution) ? 0 : facts_.resolution;
  result.uncertainty_joules = 2 * resolution + mean_w * (2 * interval_s + std::abs(seconds_s - covered_s));
}

void EnergyAccumulator::sum_power(double begin_s, double end_s, MeterEnergy& result) const {
  const double interval_s = usual_interval_s();
  const double seconds_s = end_s - begin_s;
  if (seconds_s < kLeastReadingIntervals * interval_s) {
    result.why_missing = too_short(seconds_s, interval_s, "readings");
    return;
  }
  // Held before the first and behind the last; linear between.
  std::vector<Reading> course;
  course.reserve(readings_.size() + 2);
  if (readings_.front().time_s > begin_s) course.push_back({begin_s, readings_.front().value});
  course.insert(course.end(), readings_.begin(), readings_.end());
  if (readings_.back().time_s < end_s) course.push_back({end_s, readings_.back().value});
  double joules = 0, open_joules = 0, lowest_w = course.front().value, highest_w = course.front().value;
  for (size_t i = 1; i < course.size(); ++i) {
    const Reading &a = course[i - 1], &b = course[i];
    const double from_s = std::max(a.time_s, begin_s), to_s = std::min(b.time_s, end_s);
    if (to_s <= from_s) continue;
    const double apart_s = b.time_s - a.time_s;
    const auto at = [&](double time_s) { return a.value + (b.value - a.value) * (time_s - a.time_s) / apart_s; };
    joules += (at(from_s) + at(to_s)) / 2 * (to_s - from_s);
    lowest_w = std::min({lowest_w, a.value, b.value});
    highest_w = std::max({highest_w, a.value, b.value});
    if (apart_s > kGapIntervals * interval_s) {
      result.gap_s += to_s - from_s;
    } else {
      // Between two readings the power may have been either's all the time.
      open_joules += std::abs(b.value - a.value) / 2 * (to_s - from_s);
    }
  }
  if (result.gap_s > (1 - kLeastCovered) * seconds_s) {
    result.why_missing =
        fmt::format("no reading stands for {} of the {}", human_seconds(result.gap_s), human_seconds(seconds_s));
    return;
  }
  if (result.gap_s > 0) {
    result.warnings.push_back(
        {"gap", fmt::format("no reading stands for {} of the {}: filled in with what was read before and behind",
                            human_seconds(result.gap_s), human_seconds(seconds_s))});
  }
  result.joules = joules;
  const double resolution = std::isnan(facts_.resolution) ? 0 : facts_.resolution;
  result.uncertainty_joules = open_joules + resolution / 2 * seconds_s + (highest_w - lowest_w) * result.gap_s;
}

MeterEnergy EnergyAccumulator::finish(double begin_s, double end_s) const {
  MeterEnergy result;
  result.meter = facts_;
  result.seconds_s = end_s - begin_s;
  result.readings = static_cast<int64_t>(readings_.size());
  if (failed_ > 0) {
    result.warnings.push_back(
        {"readings-failed", fmt::format("{} reading{} failed: {}", failed_, failed_ == 1 ? "" : "s", first_failure_)});
  }
  if (readings_.size() < 2) {
    result.why_missing = failed_ > 0 ? "readings failed: " + first_failure_
                                     : fmt::format("{} came while it lasted, and two are needed",
                                                   readings_.empty() ? "no reading" : "one reading");
    return result;
  }
  if (facts_.reading == MeterReading::kEnergy) {
    sum_counter(begin_s, end_s, result);
  } else {
    sum_power(begin_s, end_s, result);
  }
  if (!result.joules) return result;
  *result.uncertainty_joules += facts_.accuracy_ratio.value_or(0) * std::abs(*result.joules);
  result.mean_w = *result.joules / result.seconds_s;
  return result;
}

void subtract_idle(const MeterEnergy& idle, MeterEnergy& energy) {
  if (!idle.mean_w) {
    if (energy.joules) energy.warnings.push_back({"idle-unknown", "idle could not be measured: " + idle.why_missing});
    return;
  }
  energy.idle_w = idle.mean_w;
  if (!energy.joules) return;
  energy.above_idle_joules = *energy.joules - *idle.mean_w * energy.seconds_s;
  if (std::abs(*energy.above_idle_joules) <= kRounding * *energy.joules) energy.above_idle_joules = 0;
  // What both meters' doubt explains says nothing of the machine.
  const double idle_doubt_w = idle.seconds_s > 0 ? idle.uncertainty_joules.value_or(0) / idle.seconds_s : 0;
  const double doubt_joules = energy.uncertainty_joules.value_or(0) + idle_doubt_w * energy.seconds_s;
  if (*energy.above_idle_joules < -doubt_joules) {
    energy.warnings.push_back(
        {"idle-higher", fmt::format("idle drew {} W, the command {} W: the machine was not idle",
                                    significant(*idle.mean_w, 4), significant(*energy.mean_w, 4))});
  }
}

}  // namespace perfcast
