#include "ai/train_time/train_comparison.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace perfcast::ai {
namespace {

constexpr size_t kThresholds = 20, kResamples = 2000;

struct SystemCurves {
  std::string name;
  std::vector<const TrainCurve*> seeds;
};

std::vector<SystemCurves> by_system(const std::vector<TrainCurve>& curves) {
  std::vector<SystemCurves> systems;
  for (const TrainCurve& curve : curves) {
    const auto known = std::find_if(systems.begin(), systems.end(),
                                    [&curve](const SystemCurves& each) { return each.name == curve.system; });
    if (known == systems.end()) {
      systems.push_back({curve.system, {&curve}});
    } else {
      known->seeds.push_back(&curve);
    }
  }
  return systems;
}

// A run that somebody ended says nothing of what it would have reached; one that failed or ran into the limit did not.
bool is_open(const TrainCurve& curve) {
  return curve.state == TrainRunState::kInterrupted || curve.state == TrainRunState::kCutOff;
}

// Times of the seeds that count.
std::vector<std::optional<double>> times_of(const SystemCurves& system, double threshold, const ThresholdRule& rule) {
  std::vector<std::optional<double>> times_s;
  times_s.reserve(system.seeds.size());
  for (const TrainCurve* curve : system.seeds) {
    const auto time_s = time_to_threshold(curve->readings, threshold, rule);
    if (time_s || !is_open(*curve)) times_s.push_back(time_s);
  }
  return times_s;
}

void add_meters(const SystemCurves& system, SystemTime& result) {
  for (const TrainCurve* curve : system.seeds) {
    for (const RunMeter& meter : curve->meters) {
      auto total = std::find_if(result.meters.begin(), result.meters.end(),
                                [&meter](const MeterTotal& each) { return each.name == meter.name; });
      if (total == result.meters.end()) total = result.meters.insert(total, {meter.name, meter.covers, 0, {}, {}});
      if (meter.energy_joules) {
        total->energy_joules = total->energy_joules.value_or(0) + *meter.energy_joules;
        ++total->runs;
      } else if (total->why_missing.empty()) {
        total->why_missing = meter.why_missing;
      }
    }
  }
  for (MeterTotal& total : result.meters) {
    if (total.energy_joules) *total.energy_joules /= static_cast<double>(total.runs);
  }
}

SystemTime time_of(const SystemCurves& system, const TrainRequest& request) {
  SystemTime result;
  result.name = system.name;
  for (const TrainCurve* curve : system.seeds) {
    SeedTime seed;
    seed.seed = curve->seed;
    seed.time_s = time_to_threshold(curve->readings, request.threshold, request.rule);
    seed.best = best_threshold(curve->readings, request.rule);
    seed.state = curve->state;
    seed.why = curve->why;
    seed.wall_s = curve->wall_s;
    seed.readings = curve->readings.size();
    if (!curve->readings.empty()) seed.last_reading_s = curve->readings.back().time_s;
    for (const MetricReading& reading : curve->readings) seed.not_finite += std::isfinite(reading.value) ? 0 : 1;
    seed.counts = seed.time_s.has_value() || !is_open(*curve);
    if (!seed.counts) ++result.interrupted;
    result.seems_buffered = result.seems_buffered || seems_buffered(*curve);
    result.seeds.push_back(std::move(seed));
  }
  std::stable_sort(result.seeds.begin(), result.seeds.end(),
                   [](const SeedTime& a, const SeedTime& b) { return a.seed < b.seed; });
  result.score = training_score(times_of(system, request.threshold, request.rule));
  add_meters(system, result);
  return result;
}

// Where something can change: the values at which a curve is better than ever before, those in the upper half of all,
// thinned out evenly, and the threshold itself.
std::vector<double> chosen_thresholds(const std::vector<SystemCurves>& systems, const TrainRequest& request) {
  const ThresholdRule& rule = request.rule;
  std::vector<double> values = request.thresholds;
  if (values.empty()) {
    std::vector<double> bests;
    for (const SystemCurves& system : systems) {
      for (const TrainCurve* curve : system.seeds) {
        std::vector<MetricReading> so_far;
        so_far.reserve(curve->readings.size());
        std::optional<double> best;
        for (const MetricReading& reading : curve->readings) {
          if (!std::isfinite(reading.value)) continue;
          const bool better = !best || (reading.value != *best && rule.meets(reading.value, *best));
          if (!better) continue;
          best = reading.value;
          bests.push_back(reading.value);
        }
      }
    }
    // From easy to hard.
    std::sort(bests.begin(), bests.end(), [&rule](double a, double b) { return rule.lower_is_better ? a > b : a < b; });
    bests.erase(bests.begin(), bests.begin() + static_cast<std::ptrdiff_t>(bests.size() / 2));
    bests.erase(std::unique(bests.begin(), bests.end()), bests.end());
    const size_t count = std::min(kThresholds, bests.size());
    for (size_t i = 0; i < count; ++i) values.push_back(bests[count == 1 ? 0 : i * (bests.size() - 1) / (count - 1)]);
  }
  values.push_back(request.threshold);
  std::sort(values.begin(), values.end(), [&rule](double a, double b) { return rule.lower_is_better ? a > b : a < b; });
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::optional<size_t> fastest_of(const std::vector<std::optional<double>>& score_s) {
  std::optional<size_t> fastest;
  for (size_t i = 0; i < score_s.size(); ++i) {
    if (score_s[i] && (!fastest || *score_s[i] < *score_s[*fastest])) fastest = i;
  }
  return fastest;
}

// How often the fastest stays so when each system's seeds are drawn again, with replacement.
std::optional<double> share_of_fastest(const std::vector<std::vector<std::optional<double>>>& times_s, size_t fastest,
                                       uint64_t seed) {
  constexpr size_t kFewestSeeds = 3;
  size_t with_score = 0;
  for (const auto& own : times_s) {
    if (!training_score(own).mean_s) continue;
    ++with_score;
    if (own.size() < kFewestSeeds) return std::nullopt;
  }
  if (with_score < 2) return std::nullopt;
  Random random(seed);
  size_t stays = 0;
  for (size_t resample = 0; resample < kResamples; ++resample) {
    std::vector<std::optional<double>> score_s;
    score_s.reserve(times_s.size());
    for (const auto& own : times_s) {
      std::vector<std::optional<double>> drawn;
      drawn.reserve(own.size());
      for (size_t i = 0; i < own.size(); ++i) drawn.push_back(own[random.below(own.size())]);
      score_s.push_back(training_score(drawn).mean_s);
    }
    if (fastest_of(score_s) == fastest) ++stays;
  }
  return static_cast<double>(stays) / static_cast<double>(kResamples);
}

ThresholdOrder order_at(const std::vector<SystemCurves>& systems, double threshold, const TrainRequest& request) {
  ThresholdOrder order;
  order.threshold = threshold;
  std::vector<std::vector<std::optional<double>>> times_s;
  times_s.reserve(systems.size());
  for (const SystemCurves& system : systems) {
    times_s.push_back(times_of(system, threshold, request.rule));
    order.score_s.push_back(training_score(times_s.back()).mean_s);
    order.reached.push_back(static_cast<size_t>(std::count_if(times_s.back().begin(), times_s.back().end(),
                                                              [](const auto& time) { return time.has_value(); })));
  }
  order.fastest = fastest_of(order.score_s);
  if (!order.fastest) return order;
  for (size_t i = 0; i < systems.size(); ++i) {
    if (i == *order.fastest || !order.score_s[i]) continue;
    const double ratio = *order.score_s[i] / *order.score_s[*order.fastest];
    if (!order.lead_ratio || ratio < *order.lead_ratio) order.lead_ratio = ratio;
  }
  order.share = share_of_fastest(times_s, *order.fastest, request.seed);
  return order;
}

}  // namespace

Result<TrainComparison> compare_trainings(const std::vector<TrainCurve>& curves, const TrainRequest& request) {
  const bool has_reading =
      std::any_of(curves.begin(), curves.end(), [](const TrainCurve& curve) { return !curve.readings.empty(); });
  if (!has_reading) {
    std::string how;
    for (const TrainCurve& curve : curves) {
      if (!curve.why.empty()) how = "; " + curve.system + ": " + curve.why;
    }
    return Error{"no-readings", "no run printed a value of the metric" + how, "",
                 "the metric's name as it is printed (--metric), or a regular expression with a group (--pattern)"};
  }
  TrainComparison comparison;
  comparison.request = request;
  const std::vector<SystemCurves> systems = by_system(curves);
  comparison.systems.reserve(systems.size());
  for (const SystemCurves& system : systems) comparison.systems.push_back(time_of(system, request));
  if (systems.size() < 2) return comparison;
  for (const double threshold : chosen_thresholds(systems, request)) {
    if (threshold == request.threshold) comparison.at_threshold = comparison.orders.size();
    comparison.orders.push_back(order_at(systems, threshold, request));
  }
  for (size_t i = 1; i < comparison.orders.size(); ++i) {
    const ThresholdOrder &before = comparison.orders[i - 1], &after = comparison.orders[i];
    if (before.fastest != after.fastest)
      comparison.changes.push_back({before.threshold, after.threshold, before.fastest, after.fastest});
  }
  return comparison;
}

}  // namespace perfcast::ai
