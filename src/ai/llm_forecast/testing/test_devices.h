#pragma once
// Devices and a model of invented, round sizes, whose times can be worked out by hand.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ai/llm/hf_config_reader.h"
#include "ai/llm_forecast/llm_forecast.h"
#include "ai/llm_forecast/roofline_model.h"

namespace perfcast::ai::testing {

// Rates as the roofline model leaves them after its efficiencies.
inline DeviceFacts device_of(const std::string& name, DeviceKind kind, double half_flops, double bytes_per_s) {
  DeviceFacts facts;
  facts.name = name;
  facts.kind = kind;
  facts.memory_bytes = 1e9;
  facts.memory_bytes_per_s = bytes_per_s / kRooflineMemory;
  facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = half_flops / kRooflineCompute;
  return facts;
}

inline DeviceFacts datacenter_gpu(const std::string& name = "Big GPU") {
  DeviceFacts facts;
  facts.name = name;
  facts.aliases = {"big"};
  facts.memory_bytes = 80e9;
  facts.memory_bytes_per_s = 2e12;
  facts.l2_bytes = 40e6;
  facts.link_bytes_per_s = 300e9;
  facts.power_w = 400;
  facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 312e12;
  facts.peak_flops[static_cast<size_t>(MathMode::kFp32)] = 19.5e12;
  facts.peak_flops[static_cast<size_t>(MathMode::kInt8)] = 624e12;
  return facts;
}

inline std::shared_ptr<const LatencyModel> roofline(const DeviceFacts& facts) {
  auto model = RooflineModel::create(facts);
  EXPECT_TRUE(model);
  return *std::move(model);
}

// Two layers of width 64, 4 heads of 16 over 2 of keys and values, a gated FFN of 128, 100 tokens.
inline LlmConfig tiny_llama() {
  auto config = parse_hf_config(R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
      "num_key_value_heads": 2, "num_hidden_layers": 2, "intermediate_size": 128, "vocab_size": 100})",
                                "tiny.json");
  EXPECT_TRUE(config);
  config->name = "tiny";
  return *std::move(config);
}

inline LlmForecaster forecaster_of(const LlmConfig& config, const DeviceFacts& facts, DeviceTerms terms = {}) {
  auto forecaster = LlmForecaster::create(config, roofline(facts), std::move(terms));
  EXPECT_TRUE(forecaster);
  return *std::move(forecaster);
}

inline LlmForecast forecast_of(LlmForecaster& forecaster, const LlmRequest& request) {
  LlmForecast forecast;
  const Status status = forecaster.forecast(request, forecast);
  EXPECT_TRUE(status) << to_text(status.error());
  return forecast;
}

}  // namespace perfcast::ai::testing
