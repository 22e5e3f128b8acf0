#pragma once
// Results of accelerators that don't exist, for tests: rates follow from a peak and a bandwidth, and a little chance.

#include <cmath>
#include <string>
#include <vector>

#include "ai/results/published_result.h"
#include "base/random.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

inline std::vector<DeviceFacts> made_up_devices() {
  std::vector<DeviceFacts> devices;
  for (int i = 0; i < 8; ++i) {
    DeviceFacts device;
    device.name = "Round " + std::to_string(i);
    device.vendor = "Round";
    device.generation = "gen" + std::to_string(i / 2);
    const double size = std::pow(1.6, i);
    device.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 1e14 * size;
    device.peak_flops[static_cast<size_t>(MathMode::kInt8)] = 2e14 * size;
    device.memory_bytes_per_s = 5e11 * std::pow(size, 0.7);
    device.memory_bytes = 4e10;
    device.l2_bytes = 4e7;
    device.power_w = 200 * std::sqrt(size);
    devices.push_back(device);
  }
  return devices;
}

// Half a fourth root of peak times bandwidth counts: scaling by peak alone errs.
inline std::vector<PublishedResult> made_up_results(const std::vector<DeviceFacts>& devices, uint64_t seed) {
  Random random(seed);
  std::vector<PublishedResult> results;
  const std::vector<std::string> models = {"small", "large-99", "large-99.9"};
  const std::vector<std::string> submitters = {"A", "B"}, scenarios = {"Offline", "Server"};
  for (size_t d = 0; d < devices.size(); ++d) {
    for (const int64_t count : {1, 8}) {
      for (const std::string& submitter : submitters) {
        for (size_t m = 0; m < models.size(); ++m) {
          for (const std::string& scenario : scenarios) {
            PublishedResult result;
            result.version = "v1";
            result.division = "closed";
            result.submitter = submitter;
            result.platform = "p" + std::to_string(d) + "x" + std::to_string(count);
            result.model = models[m];
            result.scenario = scenario;
            result.accelerator = devices[d].name;
            result.accelerators_per_node = count;
            result.nodes = 1;
            const double peak = devices[d].peak_flops[static_cast<size_t>(MathMode::kInt8)];
            const double rate = 1e-9 * std::pow(10.0, -static_cast<double>(m)) * std::sqrt(peak) *
                                std::pow(devices[d].memory_bytes_per_s, 0.5) * static_cast<double>(count) *
                                (scenario == "Server" ? 0.8 : 1);
            result.samples_per_s = rate * std::exp(0.02 * random.normal());
            result.line = results.size() + 2;
            results.push_back(std::move(result));
          }
        }
      }
    }
  }
  return results;
}

}  // namespace perfcast::ai
