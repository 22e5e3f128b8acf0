#include "measure/watch/alert.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/unknown.h"

namespace perfcast::measure {
namespace {

const std::vector<std::string> kNames = {"mem_gb", "misses"};

Alert alert_at(double time_s) {
  Alert alert;
  alert.id = 3;
  alert.time_s = time_s;
  alert.since_s = 1764144000;  // 2025-11-26 08:00:00
  alert.duration_s = time_s - alert.since_s;
  alert.severity = Severity::kCritical;
  alert.metrics = {{0, 0.9, 15.123, 12.4, PresenceRule::kUsual}, {1, 0.1, 3.21e6, 1.1e6, PresenceRule::kUsual}};
  alert.metrics[0].low = 12;
  alert.metrics[0].high = 12.8;
  return alert;
}

TEST(Alert, SaysHowLongInUnitsThatPeopleUse) {
  EXPECT_EQ(lasting_text(0), "0 s");
  EXPECT_EQ(lasting_text(0.5), "0.5 s");
  EXPECT_EQ(lasting_text(59.9), "59.9 s");
  EXPECT_EQ(lasting_text(126), "2 min 6 s");
  EXPECT_EQ(lasting_text(3599.8), "1 h");
  EXPECT_EQ(lasting_text(5400), "1 h 30 min");
  EXPECT_EQ(lasting_text(28.2 * 3600), "1 d 4 h");
  EXPECT_EQ(lasting_text(7 * 86400), "7 d");
}

TEST(Alert, HasNoExponents) {
  EXPECT_EQ(alert_text(alert_at(1764144000), kNames),
            "2025-11-26 08:00:00  #3 critical anomaly: mem_gb 15.12 where 12 to 12.8 is expected (90%); misses 3210000 "
            "where 1100000 is expected (10%)");
}

TEST(Alert, SaysInWhichWayAMetricIsUnusual) {
  Alert alert = alert_at(1764144000);
  alert.metrics.pop_back();
  alert.provisional = true;
  alert.metrics[0].sight = Sight::kMean;
  alert.metrics[0].mean = 14.5;
  EXPECT_EQ(alert_text(alert, kNames),
            "2025-11-26 08:00:00  #3 critical anomaly (provisional): mean of mem_gb 14.5 where 12 to 12.8 is expected "
            "(90%)");
  alert.metrics[0].mean = kUnknown;
  alert.metrics[0].times = 3.2;
  alert.metrics[0].sight = Sight::kVariation;
  EXPECT_EQ(
      alert_text(alert, kNames),
      "2025-11-26 08:00:00  #3 critical anomaly (provisional): mem_gb moves 3.2 times as much as usual from row to "
      "row (90%)");
  const Json json = alert_json(alert, kNames);
  EXPECT_EQ(json["provisional"], true);
  EXPECT_EQ(json["causes"][0]["seen_in"], "variation");
  EXPECT_EQ(json["causes"][0]["times_as_much"], 3.2);
  EXPECT_EQ(json["causes"][0]["expected_low"], 12);
}

TEST(Alert, SaysByHowMuchItIsWorse) {
  Alert alert = alert_at(1764147600);
  alert.metrics.pop_back();
  alert.worse = Worse{4.54, Severity::kMinor, true};
  EXPECT_EQ(alert_text(alert, kNames),
            "2025-11-26 09:00:00  #3 worse: 4.5 times as far off as before, critical (was minor): mem_gb 15.12 where "
            "12 to 12.8 is expected (90%)");
  const Json json = alert_json(alert, kNames);
  EXPECT_EQ(json["state"], "open");
  EXPECT_EQ(json["worse"], true);
  EXPECT_EQ(json["times_as_far"], 4.54);
  EXPECT_EQ(json["was_severity"], "minor");
  alert.worse = Worse{.was = Severity::kMajor};
  EXPECT_EQ(alert_text(alert, kNames),
            "2025-11-26 09:00:00  #3 now critical (was major): mem_gb 15.12 where 12 to 12.8 is expected (90%)");
  EXPECT_EQ(alert_json(alert, kNames)["worse"], false);
}

TEST(Alert, EndsWithTheWorst) {
  Alert alert = alert_at(1764158460);
  alert.state = AlertState::kClosed;
  alert.worst_s = 1764158340;
  alert.worst = {{0, 1, 19.6, 12.4, PresenceRule::kUsual}};
  EXPECT_EQ(alert_text(alert, kNames),
            "2025-11-26 12:01:00  #3 over after 4 h 1 min, critical; worst at 2025-11-26 11:59:00: mem_gb 19.6 where "
            "12.4 is expected (100%)");
  alert.duration_s = 0;
  EXPECT_TRUE(alert_text(alert, kNames).starts_with("2025-11-26 12:01:00  #3 over after one row, critical; worst at"));
  const Json json = alert_json(alert, kNames);
  EXPECT_EQ(json["causes"][0]["value"], 15.123);
  EXPECT_EQ(json["worst"]["time_s"], 1764158340);
  EXPECT_EQ(json["worst"]["causes"][0]["value"], 19.6);
}

}  // namespace
}  // namespace perfcast::measure
