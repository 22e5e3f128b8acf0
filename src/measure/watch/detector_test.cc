#include "measure/watch/detector.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "base/unknown.h"
#include "measure/watch/watcher.h"

namespace perfcast::measure {
namespace {

constexpr size_t kColumns = 5;

DetectorOptions quick_options() {
  DetectorOptions options;
  options.warm_up_rows = 1500;
  options.training_steps = 400;
  options.hidden = 24;
  options.latent = 2;
  options.season_s = 0;
  options.false_alarms_per_day = 0.01;
  options.change_after_s = 300;
  return options;
}

// Load moves all metrics; each has noise of its own of 2%.
struct SyntheticStream {
  Random random{7};
  double load = 1;

  void add(std::vector<double>& values) {
    load = 0.98 * load + 0.02 * (1 + 0.5 * random.normal());
    for (size_t j = 0; j < kColumns; ++j)
      values.push_back((100 + 50 * static_cast<double>(j)) * (1 + std::abs(load)) * (1 + 0.02 * random.normal()));
  }
};

std::vector<Alert> watch(const std::vector<double>& values, const DetectorOptions& options) {
  Detector detector(kColumns, options);
  std::vector<double> times;
  for (size_t r = 0; r < values.size() / kColumns; ++r) times.push_back(static_cast<double>(r));
  std::vector<Alert> alerts;
  EXPECT_TRUE(detector.add(times.size(), times.data(), values.data(), kColumns, alerts).ok());
  return alerts;
}

std::vector<double> stream_of(size_t rows) {
  SyntheticStream stream;
  std::vector<double> values;
  for (size_t r = 0; r < rows; ++r) stream.add(values);
  return values;
}

TEST(Detector, IsSilentWhereNothingHappens) {
  DetectorOptions options = quick_options();
  options.warm_up_rows = 2500;
  for (const Alert& alert : watch(stream_of(6000), options))
    ADD_FAILURE() << alert_text(alert, {"a", "b", "c", "d", "e"});
}

TEST(Detector, NamesTheMetricThatJumps) {
  std::vector<double> values = stream_of(2500);
  for (size_t r = 2000; r < 2050; ++r) values[r * kColumns + 3] *= 1.8;
  const auto alerts = watch(values, quick_options());
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(alerts[0].kind, AlertKind::kAnomaly);
  EXPECT_EQ(alerts[0].state, AlertState::kOpen);
  EXPECT_EQ(alerts[0].time_s, 2000);
  ASSERT_FALSE(alerts[0].metrics.empty());
  EXPECT_EQ(alerts[0].metrics[0].column, 3u);
  EXPECT_LT(alerts[0].metrics[0].high, alerts[0].metrics[0].value);
  EXPECT_LT(alerts[0].metrics[0].low, alerts[0].metrics[0].value / 1.8);
  EXPECT_EQ(alerts[1].state, AlertState::kClosed);
  EXPECT_EQ(alerts[1].kind, AlertKind::kAnomaly);
  EXPECT_EQ(alerts[1].id, alerts[0].id);
  EXPECT_GE(alerts[1].duration_s, 49);
}

// Of a small count, a network may expect 0.3 to 0.5: neither 0 nor 1 is unusual then.
TEST(Detector, TakesTheNearestWholeNumbersForExpected) {
  std::vector<double> values = stream_of(12000);
  Random random(5);
  for (size_t r = 0; r < 12000; ++r) values[r * kColumns + 4] = std::floor(std::abs(1.3 * random.normal()));
  DetectorOptions options = quick_options();
  options.false_alarms_per_day = 500;
  size_t joint = 0;
  for (const Alert& alert : watch(values, options)) {
    for (const AlertMetric& metric : alert.metrics) {
      joint += metric.sight == Sight::kJoint ? 1 : 0;
      if (metric.column != 4 || metric.sight != Sight::kJoint) continue;
      EXPECT_FALSE(metric.value >= std::floor(metric.low) && metric.value <= std::ceil(metric.high))
          << metric.value << " where " << metric.low << " to " << metric.high;
    }
  }
  EXPECT_GT(joint, 0u);
}

TEST(Detector, TakesWhatLastsForAChange) {
  std::vector<double> values = stream_of(4000);
  for (size_t r = 2000; r < 4000; ++r) values[r * kColumns + 1] *= 1.6;
  const auto alerts = watch(values, quick_options());
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_EQ(alerts[0].kind, AlertKind::kAnomaly);
  EXPECT_EQ(alerts[1].kind, AlertKind::kChange);
  EXPECT_NEAR(alerts[1].time_s, 2300, 10);
  EXPECT_EQ(alerts[0].metrics[0].column, 1u);
}

// A leak: told when it begins, then as it doubles; its end says how bad it became.
TEST(Detector, TellsAgainWhatGrows) {
  std::vector<double> values = stream_of(2500);
  for (size_t r = 2000; r < 2250; ++r) values[r * kColumns + 2] *= std::exp(0.008 * static_cast<double>(r - 2000));
  const auto alerts = watch(values, quick_options());
  std::vector<const Alert*> worse;
  size_t opened = 0;
  for (const Alert& alert : alerts) {
    if (alert.state == AlertState::kOpen && !alert.worse) ++opened;
    if (alert.worse && alert.worse->grew) worse.push_back(&alert);
  }
  EXPECT_EQ(opened, 1u);
  ASSERT_GE(worse.size(), 2u);
  EXPECT_LE(worse.size(), 5u);
  for (const Alert* alert : worse) {
    EXPECT_EQ(alert->id, 1u);
    EXPECT_EQ(alert->metrics[0].column, 2u);
    EXPECT_TRUE(std::isnan(alert->worse->times_as_far) || alert->worse->times_as_far >= 2);
  }
  const Alert& end = alerts.back();
  EXPECT_EQ(end.state, AlertState::kClosed);
  ASSERT_FALSE(end.worst.empty());
  EXPECT_EQ(end.worst[0].column, 2u);
  EXPECT_NEAR(end.worst_s, 2249, 10);
  EXPECT_GT(std::isnan(end.worst[0].mean) ? end.worst[0].value : end.worst[0].mean, 3 * end.worst[0].expected);
}

TEST(Detector, SaysWhatIsMissingAndWhatIsStuck) {
  std::vector<double> values = stream_of(3000);
  for (size_t r = 2000; r < 2100; ++r) values[r * kColumns + 2] = kUnknown;
  for (size_t r = 2500; r < 2600; ++r) values[r * kColumns + 4] = values[2500 * kColumns + 4];
  const auto alerts = watch(values, quick_options());
  std::vector<PresenceRule> rules;
  for (const Alert& alert : alerts) {
    if (alert.state == AlertState::kOpen) rules.push_back(alert.metrics[0].rule);
  }
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0], PresenceRule::kMissing);
  EXPECT_EQ(rules[1], PresenceRule::kStuck);
}

WatcherOptions watcher_options() {
  WatcherOptions options;
  options.detector = quick_options();
  return options;
}

void put(Watcher& watcher, const std::vector<double>& values, size_t from, size_t to, size_t block_rows,
         std::vector<Alert>& alerts) {
  RowBlock& block = watcher.block();
  for (size_t r = from; r < to; ++r) {
    const size_t group = block.group(r % 2 == 0 ? "a" : "b");
    block.begin_row();
    for (size_t j = 0; j < kColumns; ++j) {
      const size_t column = block.column("m" + std::to_string(j));
      block.set(column, values[r * kColumns + j]);
    }
    block.end_row(static_cast<double>(r), group);
    if (block.rows() >= block_rows) {
      ASSERT_TRUE(watcher.flush(alerts).ok());
    }
  }
  ASSERT_TRUE(watcher.flush(alerts).ok());
}

std::vector<std::string> texts(const std::vector<Alert>& alerts, const Watcher& watcher) {
  std::vector<std::string> result;
  result.reserve(alerts.size());
  for (const Alert& alert : alerts) result.push_back(alert_text(alert, watcher.block().names()));
  return result;
}

TEST(Watcher, GivesTheSameAlertsAfterItsStateWasSavedAndRestored) {
  std::vector<double> values = stream_of(6000);
  for (size_t r = 4000; r < 4700; ++r) values[r * kColumns + 3] *= 1.7;
  for (size_t r = 5000; r < 5020; ++r) values[r * kColumns + 1] *= 0.4;
  Watcher whole(watcher_options());
  std::vector<Alert> expected;
  put(whole, values, 0, 6000, 1000, expected);
  EXPECT_GE(expected.size(), 4u);
  // In the warm-up, between episodes, in one, behind a change, where that ends.
  for (const size_t cut : {1000u, 3500u, 4100u, 4500u, 4706u}) {
    Watcher first(watcher_options());
    std::vector<Alert> alerts;
    put(first, values, 0, cut, 37, alerts);
    auto second = Watcher::from_bytes(first.to_bytes(), watcher_options(), "state");
    ASSERT_TRUE(second.ok()) << second.error().message;
    put(*second, values, cut, 6000, 256, alerts);
    EXPECT_EQ(texts(alerts, *second), texts(expected, whole)) << cut;
  }
}

TEST(Watcher, RefusesStatesThatDontFit) {
  Watcher watcher(watcher_options());
  std::vector<Alert> alerts;
  put(watcher, stream_of(100), 0, 100, 50, alerts);
  std::string bytes = watcher.to_bytes();
  WatcherOptions other = watcher_options();
  other.detector.false_alarms_per_day = 2;
  EXPECT_EQ(Watcher::from_bytes(bytes, other, "state").error().message,
            "the state was saved with other settings (false alarms, warm-up, season, seed)");
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_EQ(Watcher::from_bytes(bytes, watcher_options(), "state").error().message,
            "the state is corrupt: its checksum doesn't fit");
  EXPECT_EQ(Watcher::from_bytes("no", watcher_options(), "state").error().message,
            "this is no state of perfcast watch");
}

}  // namespace
}  // namespace perfcast::measure
