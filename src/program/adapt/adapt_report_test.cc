#include "program/adapt/adapt_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;
using testing::Not;

AdaptReport small() {
  AdaptReport report;
  report.platform.name = "Example 700";
  report.platform.id = "example-700";
  report.nearest = "Example 400";
  report.runs = 1;
  report.groups = {{"user", 2, 1, std::log(1.5), std::log(1.2)}, {"compressor", 1, 1, 0, 0}};
  report.programs = {{"a", 2.0, 0.9, 0.8, 1.0, 2.1, 3.0}, {"b", std::nullopt, 1.1, 1.0, 1.2, std::nullopt, 0.5}};
  report.suggested = {{"b", 3, 0.5}, {"c", 0.25, 0.8}};
  report.notes = {"a note"};
  return report;
}

TEST(AdaptReport, ForPeople) {
  EXPECT_EQ(
      adapt_as_text(small(), {}, "new.pcb"),
      "Example 700: programs take 1.00 times as long as on the mean of all platforms; typical 90% interval of one "
      "program\n  x/1.11\n"
      "platform: Example 700 (nearest by facts: Example 400)\n"
      "note: a note\n\n"
      "programs    run there  of  typical 90% interval of the others  from facts alone\n"
      "user                1   2                              x/1.20            x/1.50\n"
      "compressor          1   1                                   -                 -\n\n"
      "program  measured  from facts  off by\n"
      "a          2.00 s      3.00 s    +50%\n\n"
      "to run next  run time  doubt left\n"
      "b             3.000 s         50%\n"
      "c             0.250 s         40%\n\n"
      "new.pcb: a bundle that forecasts this platform, too\n"
      "next: perfcast predict --bundle new.pcb -- ./prog args\n");
}

TEST(AdaptReport, SaysWhatTheRunsGained) {
  AdaptReport report = small();
  report.check = {5, std::log(1.2), std::log(1.08), std::log(1.08), 1};
  EXPECT_THAT(adapt_as_text(report, {}, ""),
              HasSubstr("cross-check: each of the 5 programs that ran here was also forecast from the others. These "
                        "forecasts are off by 8.0%,\n  and forecasts from facts alone by 20.0%\n"));
  EXPECT_TRUE(adapt_as_json(report)["cross_check"]["gained"]);
  // The first line says it.
  EXPECT_THAT(adapt_as_text(report, {}, ""),
              testing::StartsWith("forecasts gained: those of programs run here are off by 8.0%, before by 20.0%\n"));
  report.groups[0].half_width = std::log(1.6);
  EXPECT_THAT(adapt_as_text(report, {}, ""),
              HasSubstr("before by 20.0%; less sure than before: user (x/1.60,\n  was x/1.50)\n"));
  report.check = {5, std::log(1.05), std::log(1.08), std::log(1.04), 0.25};
  EXPECT_THAT(adapt_as_text(report, {}, ""), HasSubstr("perfcast applies 25% of the corrections"));
  EXPECT_EQ(adapt_as_json(report)["cross_check"]["kept_share"], 0.25);
  report.check = {5, std::log(1.05), std::log(1.08), std::log(1.05), 0};
  EXPECT_THAT(adapt_as_text(report, {}, ""),
              testing::StartsWith("the runs don't improve other forecasts: these still come from facts alone; less "));
  EXPECT_THAT(adapt_as_text(report, {}, ""), HasSubstr("\ncross-check: each of the 5 programs that ran here was also "
                                                       "forecast from the others."));
  EXPECT_FALSE(adapt_as_json(report)["cross_check"]["gained"]);
}

TEST(AdaptReport, ForMachines) {
  const Json json = adapt_as_json(small(), {}, "new.pcb");
  EXPECT_EQ(json["schema"], "perfcast.adapt/1");
  EXPECT_EQ(json["groups"][0]["programs"], 2);
  EXPECT_FALSE(json["groups"][1].contains("half_width_log"));
  EXPECT_EQ(json["programs"][0]["measured_s"], 2.0);
  EXPECT_FALSE(json["programs"][1].contains("measured_s"));
  EXPECT_EQ(json["suggested"][1]["doubt_ratio"], 0.8);
  EXPECT_EQ(json["bundle"], "new.pcb");
  EXPECT_FALSE(json.contains("here"));
  EXPECT_FALSE(json.contains("cross_check"));
}

}  // namespace
}  // namespace perfcast::program
