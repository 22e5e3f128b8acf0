#pragma once
// Devices of invented, round sizes, and a CPU, for tests of placements.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ai/cpu_tokens/token_bundle.h"
#include "ai/llm/model_catalogue.h"
#include "ai/llm_forecast/roofline_model.h"
#include "place/workload/place_product.h"

namespace perfcast::place::testing {

inline DeviceFacts round_device(const std::string& name, DeviceKind kind, const std::string& vendor) {
  DeviceFacts facts;
  facts.name = name;
  facts.vendor = vendor;
  facts.kind = kind;
  facts.units = 100;
  facts.memory_bytes = 80e9;
  facts.memory_bytes_per_s = 2e12;
  facts.power_w = 400;
  facts.link_bytes_per_s = 3e11;
  facts.host_link_bytes_per_s = 3.15e10;
  facts.peak_flops[static_cast<size_t>(MathMode::kFp32)] = 2e13;
  facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 3e14;
  return facts;
}

inline PlaceDevice roofline_of(const DeviceFacts& facts) {
  auto model = ai::RooflineModel::create(facts);
  EXPECT_TRUE(model);
  return *std::move(model);
}

// A big and a small GPU, a TPU and an ASIC. The small one has 8 GB and takes 50 W; the TPU's host link isn't known, and
// the ASIC has no fp32.
inline std::vector<PlaceDevice> round_devices() {
  DeviceFacts big = round_device("Big GPU", DeviceKind::kGpu, "Example");
  big.aliases = {"big"};
  DeviceFacts small = round_device("Small GPU", DeviceKind::kGpu, "Example");
  small.aliases = {"small"};
  small.memory_bytes = 8e9;
  small.memory_bytes_per_s = 3e11;
  small.power_w = 50;
  small.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 6e13;
  small.peak_flops[static_cast<size_t>(MathMode::kFp32)] = 4e12;
  DeviceFacts tpu = round_device("Round TPU", DeviceKind::kTpu, "Google");
  tpu.host_link_bytes_per_s = kUnknown;
  DeviceFacts asic = round_device("Round ASIC", DeviceKind::kTpu, "Example");
  asic.peak_flops[static_cast<size_t>(MathMode::kFp32)] = kUnknown;
  asic.power_w = kUnknown;
  return {roofline_of(big), roofline_of(small), roofline_of(tpu), roofline_of(asic)};
}

// 16 Zen 3 cores at 2.5 GHz; each of 32 threads reads 100 GB/s below 1 MB, all together 100 GB/s beyond.
inline PlaceCpu round_cpu(const std::string& name = "AMD EPYC 7763 64-Core Processor") {
  PlaceCpu cpu;
  cpu.facts.name = name;
  cpu.facts.arch = "x86_64";
  cpu.facts.vendor = "AMD";
  cpu.facts.cpu_family = 25;
  cpu.facts.model = 1;
  cpu.facts.flags = {"avx2", "sha"};
  cpu.facts.vcpus = 32;
  cpu.facts.cores = 16;
  cpu.facts.l2_bytes = 524288;
  cpu.facts.l3_bytes = 32e6;
  cpu.facts.l3_count = 2;
  for (size_t i = 0; i < ai::kBandwidthBytes.size(); ++i) {
    cpu.facts.read_bytes_per_s[i] = ai::kBandwidthBytes[i] < 1e6 ? 3.2e12 : 1e11;
  }
  cpu.clock_hz = 2.5e9;
  return cpu;
}

inline const ai::TokenBundle& shipped_tokens() {
  static const ai::TokenBundle bundle = [] {
    auto read = ai::read_token_bundle(PERFCAST_SOURCE_DIR "/data/bundles/cpu-tokens.json");
    EXPECT_TRUE(read);
    return *std::move(read);
  }();
  return bundle;
}

// Of the shipped bundle, in its largest size.
inline PlaceCpu known_cpu(const std::string& name) {
  PlaceCpu cpu;
  auto facts = shipped_tokens().cpus.find(name);
  EXPECT_TRUE(facts);
  cpu.facts = *std::move(facts);
  return cpu;
}

inline ai::LlmConfig known_model(const std::string& name) {
  auto config = ai::built_in_model(name);
  EXPECT_TRUE(config);
  return *std::move(config);
}

inline const PlacementRow& row_called(const Placement& placement, const std::string& name) {
  const auto row = find_row(placement, name, "test");
  EXPECT_TRUE(row) << name;
  return placement.rows[row ? *row : 0];
}

}  // namespace perfcast::place::testing
