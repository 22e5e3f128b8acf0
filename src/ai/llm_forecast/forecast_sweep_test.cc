#include "ai/llm_forecast/forecast_sweep.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/llm/model_catalogue.h"
#include "ai/llm_forecast/testing/test_devices.h"

namespace perfcast::ai {
namespace {

using testing::datacenter_gpu;
using testing::forecast_of;
using testing::forecaster_of;

std::vector<LlmForecaster> two_devices(const char* model) {
  DeviceFacts half = datacenter_gpu("Half GPU");
  half.memory_bytes_per_s /= 2;
  std::vector<LlmForecaster> devices;
  devices.push_back(forecaster_of(*built_in_model(model), datacenter_gpu()));
  devices.push_back(forecaster_of(*built_in_model(model), half));
  return devices;
}

TEST(ForecastSweep, RowsAreTheForecastsInOrder) {
  auto devices = two_devices("llama3-8b");
  SweepGrid grid;
  grid.batches = {1, 7, 64};
  grid.sequences = {100, 2000};
  grid.tensor_parallels = {1, 8};
  const auto result = sweep_forecasts(devices, grid);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->rows.size(), 2 * grid.size());
  EXPECT_EQ(result->refused, 0u);
  size_t at = 0;
  for (uint32_t device = 0; device < 2; ++device) {
    for (const int64_t degree : grid.tensor_parallels) {
      for (const int64_t sequence : grid.sequences) {
        for (const int64_t batch : grid.batches) {
          const ForecastRow& row = result->rows[at++];
          EXPECT_EQ(row.device, device);
          LlmRequest request;
          request.batch = batch;
          request.sequence = sequence;
          request.tensor_parallel = degree;
          const LlmForecast forecast = forecast_of(devices[device], request);
          EXPECT_EQ(row.batch, batch);
          EXPECT_EQ(row.prefill_s, forecast.prefill_s);
          EXPECT_EQ(row.token_s, forecast.token_s);
          EXPECT_EQ(row.tokens_per_s, forecast.tokens_per_s);
          EXPECT_EQ(row.memory_bytes, forecast.memory.total);
          EXPECT_LT(row.lower, row.tokens_per_s);
          EXPECT_GT(row.upper, row.tokens_per_s);
          EXPECT_LE(row.token_roofline_s, row.token_s);
          EXPECT_TRUE(std::isnan(row.cost_per_million));
        }
      }
    }
  }
  // Half the bandwidth: a token that waits for memory takes twice as long.
  EXPECT_NEAR(result->rows[grid.size()].token_s / result->rows[0].token_s, 2, 0.05);
}

TEST(ForecastSweep, CountsWhatIsRefusedAndKeepsTheRest) {
  auto devices = two_devices("gpt2");  // 12 heads, 1024 positions
  SweepGrid grid;
  grid.sequences = {512, 1024};
  grid.tensor_parallels = {1, 5, 6};
  const auto result = sweep_forecasts(devices, grid);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->rows.size(), 4u);
  EXPECT_EQ(result->refused, 8u);
  EXPECT_EQ(result->refusal->where, "output-tokens");
}

TEST(ForecastSweep, RefusesEmptyAndAbsurdGrids) {
  auto devices = two_devices("gpt2");
  SweepGrid grid;
  grid.batches = {};
  EXPECT_FALSE(sweep_forecasts(devices, grid));
  grid.batches.assign(3000, 1);
  grid.sequences.assign(3000, 1);
  const auto result = sweep_forecasts(devices, grid);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "bad-usage");
}

TEST(ForecastSweep, ParetoRowsAreThoseThatNothingBeats) {
  const auto row = [](double token_s, double tokens_per_s, bool fits = true) {
    ForecastRow made;
    made.token_s = token_s;
    made.tokens_per_s = tokens_per_s;
    made.memory_known = true;
    made.fits = fits;
    return made;
  };
  const std::vector<ForecastRow> rows = {row(2, 20),          row(1, 10), row(3, 15), row(2, 19),
                                         row(0.5, 50, false), row(4, 40), row(1, 10)};
  const std::vector<bool> best = pareto_rows(rows);
  EXPECT_EQ(best[0], true);
  EXPECT_EQ(best[1] + best[6], 1);  // twins: one of them
  EXPECT_EQ(best[2], false);
  EXPECT_EQ(best[3], false);
  EXPECT_EQ(best[4], false);
  EXPECT_EQ(best[5], true);
}

}  // namespace
}  // namespace perfcast::ai
