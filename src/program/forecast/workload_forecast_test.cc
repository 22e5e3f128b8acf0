#include "program/forecast/workload_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <stdexcept>

#include "base/json.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/evaluate/testing/synthetic_forecaster.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

ForecastReport round_of(const std::vector<WorkloadPart>& parts, const ForecastRequest& request = {}) {
  auto report = forecast_workload(synthetic_forecaster(), parts, request);
  if (!report) throw std::runtime_error(to_text(report.error()));
  return std::move(*report);
}

Error round_error(const std::vector<WorkloadPart>& parts, const ForecastRequest& request = {}) {
  const auto report = forecast_workload(synthetic_forecaster(), parts, request);
  return report ? Error{} : report.error();
}

std::map<std::string, PlatformRow> by_platform(const ForecastReport& report) {
  std::map<std::string, PlatformRow> rows;
  for (const PlatformRow& row : report.rows) rows.emplace(row.platform.id, row);
  return rows;
}

Profile first_program() { return synthetic_profile({}, 11); }
Profile second_program() { return synthetic_profile({}, 3); }

TEST(WorkloadForecast, OfOneProgramIsThatProgram) {
  for (const char* reference : {"mean", "host", "Example 400"}) {
    ForecastRequest request;
    request.reference = reference;
    const auto alone = forecast_program(synthetic_forecaster(), first_program(), request);
    ASSERT_TRUE(alone);
    const ForecastReport round = round_of({{first_program(), 1}}, request);
    ASSERT_THAT(round.rows, SizeIs(alone->rows.size()));
    EXPECT_EQ(round.notes, alone->notes);
    EXPECT_EQ(round.in_distribution, alone->in_distribution);
    for (size_t i = 0; i < round.rows.size(); ++i) {
      const PlatformRow &a = round.rows[i], &b = alone->rows[i];
      EXPECT_EQ(a.platform.id, b.platform.id);
      EXPECT_NEAR(a.rpv, b.rpv, 1e-9);
      EXPECT_NEAR(a.lower, b.lower, 1e-9);
      EXPECT_NEAR(a.upper, b.upper, 1e-9);
      EXPECT_NEAR(*a.time_s, *b.time_s, 1e-9);
      EXPECT_NEAR(*a.time_upper_s, *b.time_upper_s, 1e-9);
    }
  }
}

TEST(WorkloadForecast, AddsSecondsByRuns) {
  const auto one = forecast_program(synthetic_forecaster(), first_program(), {});
  const auto other = forecast_program(synthetic_forecaster(), second_program(), {});
  ASSERT_TRUE(one && other);
  const ForecastReport round = round_of({{first_program(), 3}, {second_program(), 0.5}});
  const auto rows = by_platform(round), of_one = by_platform(*one), of_other = by_platform(*other);
  double log_mean = 0, share = 0;
  for (const auto& [id, row] : rows) {
    EXPECT_NEAR(*row.time_s, 3 * *of_one.at(id).time_s + 0.5 * *of_other.at(id).time_s, 1e-9);
    EXPECT_NEAR(*row.time_lower_s, 3 * *of_one.at(id).time_lower_s + 0.5 * *of_other.at(id).time_lower_s, 1e-9);
    EXPECT_LT(row.lower, row.rpv);
    EXPECT_GT(row.upper, row.rpv);
    log_mean += std::log(row.rpv) / static_cast<double>(rows.size());
    share += 3 * *of_one.at(id).time_s / *row.time_s / static_cast<double>(rows.size());
  }
  EXPECT_NEAR(log_mean, 0, 1e-9);
  ASSERT_THAT(round.programs, SizeIs(2));
  EXPECT_NEAR(round.programs[0].time_ratio, share, 1e-9);
  EXPECT_NEAR(round.programs[0].time_ratio + round.programs[1].time_ratio, 1, 1e-9);
  EXPECT_EQ(round.programs[1].runs, 0.5);
  EXPECT_NEAR(*round.host_time_s, 3 * *one->host_time_s + 0.5 * *other->host_time_s, 1e-9);
  EXPECT_EQ(to_json(round)["programs"][0]["runs_per_round"], 3);
}

TEST(WorkloadForecast, FiltersAndSortsTheRound) {
  ForecastRequest request;
  request.filters = {"vendor=AMD"};
  request.reference = "Example 400";
  request.sort = ForecastRequest::Sort::kName;
  const ForecastReport all = round_of({{first_program(), 1}, {second_program(), 1}});
  const ForecastReport some = round_of({{first_program(), 1}, {second_program(), 1}}, request);
  EXPECT_LT(some.rows.size(), all.rows.size());
  for (size_t i = 0; i < some.rows.size(); ++i) {
    EXPECT_EQ(some.rows[i].platform.vendor, "AMD");
    if (i > 0) {
      EXPECT_LT(some.rows[i - 1].platform.name, some.rows[i].platform.name);
    }
  }
}

TEST(WorkloadForecast, SaysOnceWhatHoldsForAll) {
  Profile one = first_program(), other = second_program();
  one.program = "one";
  other.program = "other";
  one.warnings = {{"clock-bound", "waits for the clock", ""}};
  other.warnings = {{"clock-bound", "waits for the clock", ""}, {"short", "very short", ""}};
  const ForecastReport round = round_of({{one, 1}, {other, 1}});
  size_t waits = 0, is_short = 0;
  for (const ProfileWarning& warning : round.warnings) {
    waits += warning.message == "waits for the clock" ? 1 : 0;
    is_short += warning.message == "other: very short" ? 1 : 0;
  }
  EXPECT_EQ(waits, 1U);
  EXPECT_EQ(is_short, 1U);
  EXPECT_EQ(round.program, "1 x one, 1 x other");
}

TEST(WorkloadForecast, NeedsSecondsAndSense) {
  EXPECT_EQ(round_error(std::vector<WorkloadPart>{}).code, "bad-usage");
  EXPECT_EQ(round_error({{first_program(), 0}}).code, "bad-usage");
  EXPECT_EQ(round_error({{first_program(), std::nan("")}}).code, "bad-usage");
  ForecastRequest measured;
  measured.measured_s = {{"Example 400", 2}};
  EXPECT_EQ(round_error({{first_program(), 1}}, measured).code, "bad-usage");
  Profile stranger = second_program();
  stranger.program = "stranger";
  stranger.host = {};
  stranger.host.name = "Zilog Z80";
  const Error error = round_error({{first_program(), 1}, {stranger, 1}});
  EXPECT_EQ(error.code, "unknown-host");
  EXPECT_THAT(error.message, HasSubstr("stranger: its seconds are not known"));
  ForecastRequest none;
  none.filters = {"name=no such platform"};
  EXPECT_EQ(round_error({{first_program(), 1}}, none).code, "no-platform");
}

}  // namespace
}  // namespace perfcast::program
