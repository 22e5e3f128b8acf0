#include "ai/bench/bench_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"

namespace perfcast::ai {
namespace {

BenchReport report_of(LoadScenario scenario) {
  BenchReport report;
  report.result.settings.scenario = scenario;
  report.result.settings.samples_per_query = 4;
  report.result.settings.target_qps = 50;
  report.result.queries = report.result.samples = report.result.answered = 20;
  report.result.tokens = 80;
  report.summary.ttft.count = report.summary.tpot.count = 20;
  report.summary.ttft.mean = 1;  // a nanosecond: below any interval
  report.summary.tpot.mean = 1;
  report.summary.tokens_per_s = 1e9;
  report.energy = BenchEnergy{};
  report.energy->report.meters.resize(1);
  report.energy->report.meters[0].meter.scope = EnergyScope::kPackage;
  report.energy->report.meters[0].joules = report.energy->joules = 160;
  return report;
}

const BenchForecastRow& row_of(const BenchForecast& forecast, LoadScenario scenario, ForecastQuantity quantity) {
  return *std::find_if(forecast.rows.begin(), forecast.rows.end(), [&](const BenchForecastRow& row) {
    return row.scenario == scenario && row.quantity == quantity;
  });
}

TEST(BenchForecast, FollowsTheLoadThroughTheQueue) {
  ComparisonRequest request;
  request.models = {"perfcast-15m"};
  request.precision = Precision::kInt8;
  request.prompt_tokens = 24;
  request.new_tokens = 4;
  request.rounds = 1;
  request.quick = true;
  const std::vector<BenchReport> reports = {report_of(LoadScenario::kSingleStream),
                                            report_of(LoadScenario::kMultiStream), report_of(LoadScenario::kOffline),
                                            report_of(LoadScenario::kServer), BenchReport()};
  auto forecast = forecast_bench(request, 4, reports, {});
  ASSERT_TRUE(forecast) << to_text(forecast.error());
  EXPECT_FALSE(forecast->comparison.power_scope);
  // As on a machine of one's own.
  std::vector<ComparedStep>& steps = forecast->comparison.models[0].steps;
  for (ComparedStep& step : steps) step.wall_ratio = 1;
  forecast->rows.clear();
  ASSERT_TRUE(add_forecast_rows(4, reports, *forecast));
  ASSERT_EQ(forecast->rows.size(), 3u + 3u + 1u + 3u);
  for (const BenchForecastRow& row : forecast->rows) {
    EXPECT_THAT(row.no_interval, testing::IsEmpty());
    EXPECT_GT(row.lower, 0);
    EXPECT_LE(row.lower, row.forecast);
    EXPECT_LE(row.forecast, row.upper);
    EXPECT_TRUE(row.outside());
  }
  const auto value = [&](LoadScenario scenario, ForecastQuantity quantity) {
    return row_of(*forecast, scenario, quantity).forecast;
  };
  EXPECT_GT(value(LoadScenario::kMultiStream, ForecastQuantity::kFirstToken),
            value(LoadScenario::kSingleStream, ForecastQuantity::kFirstToken));
  EXPECT_GT(value(LoadScenario::kOffline, ForecastQuantity::kTokensPerS),
            value(LoadScenario::kSingleStream, ForecastQuantity::kTokensPerS));
  const Json json = to_json(*forecast);
  EXPECT_EQ(json["load"].size(), forecast->rows.size());
  EXPECT_EQ(json["load"][0]["quantity"], "ttft_s");
  EXPECT_EQ(json["load"][0]["forecast_s"], forecast->rows[0].forecast);
  EXPECT_EQ(json["load"][2]["quantity"], "tokens_per_s");
  for (const char* const member :
       {"forecast_tokens_per_s", "lower_tokens_per_s", "upper_tokens_per_s", "measured_tokens_per_s"}) {
    EXPECT_TRUE(json["load"][2].contains(member)) << member;
  }
  EXPECT_EQ(json["steps"]["schema"], "perfcast.bench.forecast/1");
  EXPECT_EQ(forecast->no_llm_steps, "");
  ASSERT_EQ(json["llm_forecast"].size(), steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_GT(forecast->llm_steps[i].forecast_s, 0);
    EXPECT_EQ(json["llm_forecast"][i]["measured_s"], steps[i].measured_s);
  }

  // On a shared machine CPU time says little of the wall's, and of long prompts nothing was learned.
  const auto expect_no_interval = [&](const std::string& why) {
    forecast->rows.clear();
    ASSERT_TRUE(add_forecast_rows(4, reports, *forecast));
    ASSERT_EQ(forecast->rows.size(), 10u);
    for (const BenchForecastRow& row : forecast->rows) {
      EXPECT_THAT(row.no_interval, testing::Contains(testing::HasSubstr(why)));
      EXPECT_GT(row.forecast, 0);
      EXPECT_FALSE(row.outside());
    }
    const Json without = to_json(*forecast)["load"][0];
    EXPECT_FALSE(without.contains("outside"));
    EXPECT_FALSE(without["no_interval"].empty());
  };
  steps[0].wall_ratio = 1.5;
  expect_no_interval("50% longer");
  steps[0].wall_ratio = 1;
  forecast->comparison.request.prompt_tokens = 400;
  expect_no_interval("beyond what was learned from: tokens of a prompt: 400 (up to 160)");
  forecast->comparison.request.prompt_tokens = request.prompt_tokens;

  // Where a meter was read: watts of the calibration over tokens/s, but for a server, which idles.
  forecast->comparison.calibration_w = 50;
  forecast->comparison.power_scope = EnergyScope::kPackage;
  forecast->rows.clear();
  ASSERT_TRUE(add_forecast_rows(4, reports, *forecast));
  const BenchForecastRow& energy = row_of(*forecast, LoadScenario::kOffline, ForecastQuantity::kJoulesPerToken);
  EXPECT_NEAR(energy.forecast, 50 / value(LoadScenario::kOffline, ForecastQuantity::kTokensPerS), 1e-9);
  EXPECT_NEAR(energy.measured, 2, 1e-9);
  EXPECT_EQ(forecast->rows.size(), 13u);
  EXPECT_TRUE(to_json(*forecast)["load"][3].contains("forecast_joules_per_token"));
  EXPECT_EQ(to_json(*forecast)["power_covers"], to_string(EnergyScope::kPackage));

  // Joules of a package say nothing of a server's.
  forecast->comparison.power_scope = EnergyScope::kServer;
  forecast->rows.clear();
  ASSERT_TRUE(add_forecast_rows(4, reports, *forecast));
  EXPECT_EQ(forecast->rows.size(), 10u);
}

}  // namespace
}  // namespace perfcast::ai
