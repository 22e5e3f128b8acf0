// Streams with planted faults: of each fault one alarm in its first rows, none of anything else. Rows come 1 s to 10
// min apart, with a daily rhythm and several metrics.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <ostream>
#include <string>
#include <vector>

#include "base/random.h"
#include "measure/watch/detector.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMetrics = 5;
constexpr size_t kWarmUpRows = 2000, kSeasonRows = 900;

struct PlantedFault {
  size_t from = 0, rows = 0;  // behind the warm-up
  size_t ramp_rows = 0;       // until it is whole, and until it is gone
  std::vector<size_t> metrics;
  double factor = 1;

  double share(size_t row) const {  // 0: not there
    if (row < from || row >= from + rows) return 0;
    if (ramp_rows == 0) return 1;
    const auto at = static_cast<double>(std::min(row - from + 1, from + rows - row));
    return std::min(at / static_cast<double>(ramp_rows), 1.0);
  }
};

struct StreamPlan {
  double interval_s = 1;
  uint64_t seed = 1;
  size_t rows = 1500;  // behind the warm-up
  std::vector<PlantedFault> faults;
};

std::ostream& operator<<(std::ostream& out, const StreamPlan& plan) {
  out << "rows " << plan.interval_s << " s apart, seed " << plan.seed;
  for (const PlantedFault& fault : plan.faults)
    out << "; " << fault.rows << " rows from " << fault.from << ", ramp " << fault.ramp_rows << ", x " << fault.factor;
  return out;
}

// A load with a daily rhythm moves all metrics; each has noise of 3% of its own.
std::vector<Alert> alerts_of(const StreamPlan& plan) {
  DetectorOptions options;
  options.warm_up_rows = kWarmUpRows;
  options.training_steps = 400;
  options.hidden = 24;
  options.latent = 2;
  options.season_s = static_cast<double>(kSeasonRows) * plan.interval_s;
  options.false_alarms_per_day = 86400 / plan.interval_s / 1e7;  // one in ten million rows
  Random random(plan.seed);
  std::vector<double> times;
  std::vector<double> values;
  double load = 0;
  for (size_t r = 0; r < kWarmUpRows + plan.rows; ++r) {
    times.push_back(static_cast<double>(r) * plan.interval_s);
    load = 0.9 * load + 0.1 * random.normal();
    const double phase = 2 * std::numbers::pi * static_cast<double>(r % kSeasonRows) / kSeasonRows;
    const double now = std::exp(0.4 * std::sin(phase) + 0.2 * load);
    for (size_t j = 0; j < kMetrics; ++j) {
      double value = std::pow(10.0, static_cast<double>(j)) * (j % 2 == 0 ? now : std::sqrt(now)) *
                     std::exp(0.03 * random.normal());
      for (const PlantedFault& fault : plan.faults) {
        if (r < kWarmUpRows || std::count(fault.metrics.begin(), fault.metrics.end(), j) == 0) continue;
        value *= std::pow(fault.factor, fault.share(r - kWarmUpRows));
      }
      values.push_back(value);
    }
  }
  Detector detector(kMetrics, options);
  std::vector<Alert> alerts;
  EXPECT_TRUE(detector.add(times.size(), times.data(), values.data(), kMetrics, alerts).ok());
  for (Alert& alert : alerts) {
    alert.time_s = alert.time_s / plan.interval_s - kWarmUpRows;  // rows behind the warm-up
    alert.since_s = alert.since_s / plan.interval_s - kWarmUpRows;
  }
  return alerts;
}

std::string told(const std::vector<Alert>& alerts) {
  std::string text;
  for (const Alert& alert : alerts) {
    text += "\n  row " + std::to_string(static_cast<int64_t>(alert.time_s)) + " #" + std::to_string(alert.id);
    text += alert.worse ? " is worse" : alert.state == AlertState::kOpen ? " opens" : " closes";
    text += alert.returned ? ", back" : alert.kind == AlertKind::kChange ? ", change" : "";
    for (const AlertMetric& metric : alert.metrics) {
      text += "; metric " + std::to_string(metric.column) + " " + std::to_string(metric.value) + " where " +
              std::to_string(metric.expected);
    }
  }
  return text;
}

size_t count_within(const std::vector<Alert>& alerts, double from, double to, bool (*is)(const Alert&)) {
  return static_cast<size_t>(std::count_if(alerts.begin(), alerts.end(), [&](const Alert& alert) {
    return is(alert) && alert.time_s >= from && alert.time_s < to;
  }));
}
bool opens(const Alert& alert) { return alert.state == AlertState::kOpen && !alert.worse; }
bool is_change(const Alert& alert) { return alert.kind == AlertKind::kChange && !alert.returned; }
bool is_return(const Alert& alert) { return alert.returned; }

size_t rows_in(double seconds, double interval_s) { return static_cast<size_t>(seconds / interval_s); }
size_t change_rows(double interval_s) { return std::max<size_t>(rows_in(1200, interval_s), 16); }
size_t quiet_rows(double interval_s) { return std::clamp<size_t>(rows_in(300, interval_s), 8, 60); }

// What holds of every stream: alarms lie within faults, at most `most` of each, the first in its first rows.
void expect_one_alarm_of_each(const StreamPlan& plan, size_t most = 1) {
  const std::vector<Alert> alerts = alerts_of(plan);
  size_t of_faults = 0;
  for (const PlantedFault& fault : plan.faults) {
    const auto from = static_cast<double>(fault.from);
    const double whole = from + static_cast<double>(fault.ramp_rows);
    const size_t alarms = count_within(alerts, from, from + static_cast<double>(fault.rows), opens);
    of_faults += alarms;
    EXPECT_GE(count_within(alerts, from, whole + 3, opens), 1u) << plan << told(alerts);
    EXPECT_LE(alarms, most) << plan << told(alerts);
  }
  EXPECT_EQ(count_within(alerts, 0, static_cast<double>(plan.rows), opens), of_faults) << plan << told(alerts);
}

constexpr double kIntervals_s[] = {1, 10, 60, 600};

TEST(PlantedStreams, QuietOnesRaiseNoAlarm) {
  for (const double interval_s : kIntervals_s) {
    for (const uint64_t seed : {1u, 2u, 41u}) expect_one_alarm_of_each({interval_s, seed, 6000, {}});
  }
}

TEST(PlantedStreams, ShortFaultsAreToldOnceAndClosedSoon) {
  for (const double interval_s : kIntervals_s) {
    for (const size_t rows : {1u, 3u, 12u}) {
      for (const double factor : {0.4, 2.5}) {
        const PlantedFault fault{400, rows, 0, {rows % kMetrics}, factor};
        const StreamPlan plan{interval_s, 10 + rows, 1200, {fault}};
        expect_one_alarm_of_each(plan);
        const std::vector<Alert> alerts = alerts_of(plan);
        ASSERT_EQ(alerts.size(), 2u) << plan << told(alerts);
        EXPECT_EQ(alerts[1].kind, AlertKind::kAnomaly);
        EXPECT_LE(alerts[1].time_s, static_cast<double>(400 + rows + quiet_rows(interval_s) + 12)) << plan;
      }
    }
  }
}

// Several faults, each shorter than the time of a change, of one metric and of more.
TEST(PlantedStreams, SeveralFaultsAreToldEach) {
  for (const double interval_s : kIntervals_s) {
    const size_t rows = std::min<size_t>(change_rows(interval_s) * 3 / 4, 100);
    StreamPlan plan{interval_s, 21, 2000, {}};
    for (size_t i = 0; i < 4; ++i) {
      std::vector<size_t> metrics = {i};
      if (i % 2 == 1) metrics.push_back(i + 1);
      plan.faults.push_back({200 + 450 * i, rows, 0, metrics, i < 2 ? 1.8 : 0.5});
    }
    expect_one_alarm_of_each(plan);
  }
}

// What lasts is a change, told once; its end is told once, and neither the new rows nor the old ones alarm.
TEST(PlantedStreams, ALongFaultIsAChangeAndItsEndAReturn) {
  for (const double interval_s : kIntervals_s) {
    for (const double factor : {0.4, 1.5, 3.0}) {
      const size_t rows = std::max<size_t>(3 * change_rows(interval_s), 1000);
      const PlantedFault fault{300, rows, 0, {2}, factor};
      const StreamPlan plan{interval_s, 31, 300 + rows + 1000, {fault}};
      expect_one_alarm_of_each(plan);
      const std::vector<Alert> alerts = alerts_of(plan);
      const double end = static_cast<double>(300 + rows);
      EXPECT_EQ(count_within(alerts, 300, end, is_change), 1u) << plan << told(alerts);
      EXPECT_EQ(count_within(alerts, 0, 1e9, is_change), 1u) << plan << told(alerts);
      EXPECT_EQ(count_within(alerts, end, end + 40, is_return), 1u) << plan << told(alerts);
      EXPECT_EQ(count_within(alerts, 0, 1e9, is_return), 1u) << plan << told(alerts);
    }
  }
}

// Two changes that end together: what is said of their end is of the latest.
TEST(PlantedStreams, TheEndOfTwoChangesIsThatOfTheLatest) {
  const size_t lasts = 3 * change_rows(60);
  const size_t first = 300, second = first + 10 * lasts, end = second + 4 * lasts;
  const std::vector<Alert> alerts =
      alerts_of({60, 31, end + 300, {{first, end - first, 0, {2}, 1.8}, {second, end - second, 0, {3}, 2}}});
  const auto back = std::find_if(alerts.begin(), alerts.end(), is_return);
  ASSERT_NE(back, alerts.end()) << told(alerts);
  EXPECT_EQ(back->changes_over, 2u) << told(alerts);
  EXPECT_NEAR(back->duration_s / 60, static_cast<double>(end - second), 12) << told(alerts);
}

// A ramp may alarm on its way up, on its way down where it was taken for a change, and for what is left of it.
TEST(PlantedStreams, ARampIsToldOnItsWay) {
  for (const double interval_s : kIntervals_s) {
    const size_t ramp = std::max<size_t>(change_rows(interval_s), 100);
    const StreamPlan plan{interval_s, 41, 6 * ramp + 1000, {{300, 4 * ramp, ramp, {1}, 3}}};
    expect_one_alarm_of_each(plan, 3);
  }
}

}  // namespace
}  // namespace perfcast::measure
