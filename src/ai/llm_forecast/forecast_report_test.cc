#include "ai/llm_forecast/forecast_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ai/llm/model_catalogue.h"
#include "ai/llm_forecast/forecast_figure.h"
#include "ai/llm_forecast/learned_devices.h"
#include "ai/llm_forecast/testing/test_devices.h"
#include "base/csv.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

using testing::datacenter_gpu;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::roofline;

LlmForecastReport report_of(const char* model, std::vector<int64_t> batches, const DeviceTerms& terms = {}) {
  DeviceFacts small = datacenter_gpu("Small <GPU>");
  small.memory_bytes = 24e9;
  small.memory_bytes_per_s = 0.3e12;
  SweepGrid grid;
  grid.batches = std::move(batches);
  grid.sequences = {500};
  std::vector<ForecastDevice> devices = {{roofline(datacenter_gpu()), terms}};
  if (grid.batches.size() > 1) devices.push_back({roofline(small), terms});
  auto report = report_forecast(*built_in_model(model), devices, grid);
  EXPECT_TRUE(report) << to_text(report.error());
  return *std::move(report);
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ForecastReport, JsonHasTheFieldsOfItsSchema) {
  DeviceTerms terms;
  terms.price_per_hour = 2;
  const LlmForecastReport report = report_of("llama3-8b", {1, 8, 64}, terms);
  const Json json = forecast_json(report);
  EXPECT_EQ(json["schema"], "perfcast.llm.forecast/1");
  EXPECT_EQ(json["model"], "llama3-8b");
  ASSERT_EQ(json["rows"].size(), 6u);
  for (const Json& row : json["rows"]) {
    for (const char* field : {"device", "calibrated", "batch", "sequence", "prefill_s", "token_s", "tokens_per_s",
                              "lower", "upper", "fits", "bound", "cost_per_million_tokens_usd"}) {
      EXPECT_TRUE(row.contains(field)) << field;
    }
    EXPECT_EQ(row["power_basis"], "modelled");
    EXPECT_LT(row["power_w"], 400);
    EXPECT_LT(row["energy_per_million_tokens_lower_joules"], row["energy_per_million_tokens_joules"]);
    EXPECT_GT(row["energy_per_million_tokens_upper_joules"], row["energy_per_million_tokens_joules"]);
    EXPECT_EQ(row["calibrated"], false);
    double sum = 0;
    for (const Json& part : row["classes"]) sum += part["token_s"].get<double>();
    EXPECT_NEAR(sum, row["token_device_s"].get<double>(), 1e-9);
  }
  EXPECT_EQ(json["rows"][0]["fits"], true);
  EXPECT_EQ(json["rows"][5]["fits"], false);  // 16 GB of weights and 5 GB of cache, with activations, on 24 GB
  EXPECT_GT(json["rows"][5]["missing_bytes"], 0);
  EXPECT_EQ(json["rows"][5]["fits_on_devices"], 2);
}

TEST(ForecastReport, WattsThatWereGivenHaveNoInterval) {
  DeviceTerms terms;
  terms.power_w = 350;
  const Json json = forecast_json(report_of("llama3-8b", {1}, terms));
  const Json& row = json["rows"][0];
  EXPECT_EQ(row["power_basis"], "given");
  EXPECT_EQ(row["power_w"], 350);
  EXPECT_FALSE(row.contains("energy_per_million_tokens_lower_joules"));
}

TEST(ForecastReport, CsvReadsBack) {
  const LlmForecastReport report = report_of("llama3-8b", {1, 8, 64});
  const auto table = CsvTable::parse(forecast_csv(report), "forecast.csv");
  ASSERT_TRUE(table) << to_text(table.error());
  ASSERT_EQ(table->rows(), 6u);
  for (size_t i = 0; i < table->rows(); ++i) {
    const ForecastRow& row = report.result.rows[i];
    EXPECT_NEAR(**table->number(i, *table->column("token_s")), row.token_s, 1e-8 * row.token_s);
    EXPECT_EQ(**table->number(i, *table->column("batch")), static_cast<double>(row.batch));
    EXPECT_EQ(table->cell(i, *table->column("fits")), row.fits ? "true" : "false");
    EXPECT_EQ(table->cell(i, *table->column("cost_per_million_tokens_usd")), "");
  }
}

TEST(ForecastReport, TextOfOneSaysWhatItTakes) {
  DeviceTerms terms;
  terms.power_w = 400;
  const std::string text = forecast_text(report_of("llama3-8b", {1}, terms));
  EXPECT_THAT(text, HasSubstr("(uncalibrated)"));
  EXPECT_THAT(text, HasSubstr("feed-forward"));
  EXPECT_THAT(text, HasSubstr("joules per million tokens"));
  EXPECT_THAT(text, Not(HasSubstr("USD")));
}

TEST(ForecastReport, TextsHaveNoTimesOfWhatDoesNotFit) {
  const std::string text = forecast_text(report_of("llama3-70b", {1}));
  EXPECT_THAT(text, HasSubstr("memory: 132 GiB (weights 131 GiB"));
  EXPECT_THAT(text, HasSubstr("DOES NOT FIT: "));
  EXPECT_THAT(text, HasSubstr("2 devices hold it"));
  for (const char* gone : {"first token", "tokens/s", "feed-forward", "times of what does not fit"}) {
    EXPECT_THAT(text, Not(HasSubstr(gone))) << gone;
  }
  const LlmForecastReport report = report_of("llama3-70b", {1});
  EXPECT_THAT(to_text(forecast_json(report)), HasSubstr("times of what does not fit"));
  EXPECT_GT(report.result.rows[0].memory_bytes, report.result.rows[0].model_bytes);
}

TEST(ForecastReport, TextOfSeveralIsATable) {
  const std::string text = forecast_text(report_of("llama3-8b", {1, 8, 64}));
  EXPECT_THAT(text, HasSubstr("first token"));
  EXPECT_THAT(text, HasSubstr("short; 2 share it"));
  EXPECT_EQ(count_of(text, "uncalibrated"), 6u + 1u);  // rows and a note
  EXPECT_THAT(forecast_text(report_of("bert-base", {1, 2})), Not(HasSubstr("per token")));
}

TEST(ForecastReport, TheFirstRefusalIsTheErrorWhereNothingIsLeft) {
  SweepGrid grid;
  grid.tensor_parallels = {7};
  const auto report = report_forecast(*built_in_model("llama3-8b"), {{roofline(datacenter_gpu()), {}}}, grid);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().where, "tensor-parallel");
}

TEST(ForecastReport, ListsDevices) {
  const LearnedDevices devices({{datacenter_gpu()}}, {});
  const auto text = device_list_text(devices);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("Big GPU"));
  const auto json = device_list_json(devices);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["devices"][0]["peak_flop_per_s"]["half"], 312e12);
  EXPECT_FALSE((*json)["devices"][0]["peak_flop_per_s"].contains("fp8"));
}

TEST(ForecastFigure, DrawsALineForEachDeviceAndLeavesOutWhatDoesNotFit) {
  const LlmForecastReport report = report_of("llama3-8b", {1, 8, 64});
  const auto svg = pareto_svg(report);
  ASSERT_TRUE(svg);
  EXPECT_EQ(count_of(*svg, "<polyline"), 2u);
  EXPECT_THAT(*svg, HasSubstr("Big GPU (uncalibrated), batch 64"));
  EXPECT_THAT(*svg, HasSubstr("Small &lt;GPU&gt; (uncalibrated), batch 8"));
  EXPECT_THAT(*svg, Not(HasSubstr("Small &lt;GPU&gt; (uncalibrated), batch 64")));
  EXPECT_THAT(*svg, HasSubstr("<style>"));
  const auto none = pareto_svg(report_of("llama3-70b", {1}));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "nothing-to-draw");
}

}  // namespace
}  // namespace perfcast::ai
