#include "ai/engine/engine_fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/engine/testing/test_engine.h"

namespace perfcast::ai {
namespace {

// Rows that obey a profile exactly: three devices, four sizes of model, two prompts, one and two devices.
std::vector<EngineRow> rows_of(const EngineProfile& truth) {
  std::vector<EngineRow> rows;
  for (int device = 0; device < 3; ++device) {
    for (int model = 0; model < 4; ++model) {
      for (const int64_t prompt : {256, 4096}) {
        for (const int64_t devices : {1, 2}) {
          EngineRow row;
          row.device_name = "device" + std::to_string(device);
          row.model_name = "model" + std::to_string(model);
          row.work = engine_test::work();
          row.work.request.prompt_tokens = prompt;
          row.work.request.tensor_parallel = devices;
          row.work.dense_bytes *= std::pow(4, model) / static_cast<double>(devices);
          row.work.product_flops *= std::pow(4, model) / static_cast<double>(devices);
          row.device = engine_test::device();
          row.device.memory_bytes_per_s *= 1 + device;
          row.device.clock_hz *= 1 + 0.3 * device;
          row.host = engine_test::host(1 + 0.4 * device);
          const EngineRowForecast exact = forecast_row(truth, row);
          row.further_s = exact.further_s;
          row.first_s = exact.first_s;
          row.client_token_s = exact.client_token_s;
          rows.push_back(std::move(row));
        }
      }
    }
  }
  weigh_rows(rows);
  return rows;
}

EngineProfile truth() {
  EngineProfile profile = vllm_rules();
  profile.constants.weight_bandwidth_share = 0.7;
  profile.constants.kernel_cycles = 6e3;
  profile.constants.host_step_ms = 1.5;
  profile.constants.first_fixed_ms = 20;
  profile.constants.eager_layer_ms = 0.4;
  return profile;
}

TEST(EngineFit, FindsTheConstantsOfRowsThatObeyThem) {
  const std::vector<EngineRow> rows = rows_of(truth());
  const auto fitted = fit_engine(vllm_rules(), rows);
  ASSERT_TRUE(fitted) << to_text(fitted.error());
  EXPECT_EQ(fitted->rows, 48);
  EXPECT_NEAR(fitted->constants.weight_bandwidth_share, 0.7, 0.01);
  EXPECT_NEAR(fitted->constants.first_fixed_ms, 20, 0.6);
  for (const EngineRow& row : rows) {
    const EngineRowForecast forecast = forecast_row(*fitted, row);
    EXPECT_NEAR(forecast.further_s / row.further_s, 1, 0.02);
    EXPECT_NEAR(forecast.first_s / row.first_s, 1, 0.03);
  }
  // Again, the same.
  const auto again = fit_engine(vllm_rules(), rows);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->constants.kernel_cycles, fitted->constants.kernel_cycles);
}

TEST(EngineFit, OneWildRowMovesLittle) {
  std::vector<EngineRow> rows = rows_of(truth());
  const auto before = fit_engine(vllm_rules(), rows);
  rows[7].further_s *= 20;
  const auto after = fit_engine(vllm_rules(), rows);
  ASSERT_TRUE(before && after);
  EXPECT_NEAR(after->constants.weight_bandwidth_share / before->constants.weight_bandwidth_share, 1, 0.03);
}

TEST(EngineFit, NothingOfUnusedRowsIsLearnt) {
  std::vector<EngineRow> rows = rows_of(truth());
  std::vector<bool> use(rows.size(), true);
  for (size_t i = 0; i < 8; ++i) use[i] = false;
  const auto before = fit_engine(vllm_rules(), rows, use);
  for (size_t i = 0; i < 8; ++i) rows[i].further_s *= 3;
  const auto after = fit_engine(vllm_rules(), rows, use);
  ASSERT_TRUE(before && after);
  for (const EngineConstant& constant : engine_constants()) {
    EXPECT_EQ(before->constants.*constant.member, after->constants.*constant.member) << constant.name;
  }
  EXPECT_EQ(fit_engine(vllm_rules(), rows, std::vector<bool>(rows.size())).error().code, "too-few-rows");
}

TEST(EngineFit, RowsOfOneCombinationWeighOneTogether) {
  std::vector<EngineRow> rows(3);
  rows[2].model_name = "another";
  weigh_rows(rows);
  EXPECT_EQ(rows[0].weight, 0.5);
  EXPECT_EQ(rows[1].weight, 0.5);
  EXPECT_EQ(rows[2].weight, 1);
}

TEST(EngineFit, SpreadOfLeftOutGroups) {
  // Mean squares of 0.01 (weights 1 and 3) and 0.09.
  const LeftOutSpread spread = left_out_spread({{"a", 0.1, 1}, {"a", -0.1, 3}, {"b", 0.3, 2}});
  EXPECT_EQ(spread.groups, 2);
  EXPECT_NEAR(spread.log_sd, std::sqrt(0.05), 1e-12);
  EXPECT_EQ(left_out_spread({}).groups, 0);
}

TEST(EngineFit, PointsAreJoinedWithFacts) {
  DeviceCatalogue devices;
  DeviceFacts card = engine_test::device();
  card.name = "NVIDIA A40";
  devices.devices = {card};
  VllmPoint point;
  point.gpu = "NVIDIA A40-16Q";
  point.model = "google/gemma-2-2b-it";
  point.precision = "float16";
  point.vendor = "v";
  point.server = "s";
  point.prompt_tokens = 256;
  point.output_tokens = 128;
  point.further_s = 0.01;
  VllmPoint strange = point;
  strange.gpu = "NVIDIA Z1";
  const EngineRows rows = engine_rows({point, point, strange}, devices, HostLevels());
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_EQ(rows.combinations, 1);
  EXPECT_EQ(rows.rows[0].device_name, "NVIDIA A40-16Q");
  EXPECT_EQ(rows.rows[0].device.name, "NVIDIA A40");
  EXPECT_EQ(rows.rows[0].model_name, "gemma2-2b");
  EXPECT_EQ(rows.rows[0].weight, 0.5);
  EXPECT_FALSE(rows.rows[0].host.known);
  ASSERT_EQ(rows.notes.size(), 2U);  // the host, the device
  EXPECT_NE(rows.notes[1].find("NVIDIA Z1"), std::string::npos);
}

}  // namespace
}  // namespace perfcast::ai
