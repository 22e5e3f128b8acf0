#pragma once
// Kernels and devices with a known truth, for tests.

#include <cmath>
#include <string>

#include "base/random.h"
#include "program/corpus/corpus.h"

namespace perfcast::program::kernel_world {

inline Platform gpu(const std::string& name, const std::string& generation, double lanes, double hz,
                    double bytes_per_s) {
  Platform device;
  device.id = device.name = name;
  device.kind = "gpu";
  device.vendor = "NVIDIA";
  device.arch = generation;
  device.facts = {{"core_count", lanes}, {"max_hz", hz}, {"memory_bytes_per_s", bytes_per_s}};
  return device;
}

inline std::vector<Platform> devices() {
  return {gpu("K1", "kepler", 1536, 1e9, 2e11), gpu("K2", "kepler", 2880, 0.8e9, 3e11),
          gpu("M1", "maxwell", 2048, 1.2e9, 2.2e11), gpu("P1", "pascal", 2560, 1.7e9, 3.2e11),
          gpu("P2", "pascal", 3584, 1.5e9, 4.8e11)};
}

// What a kernel takes on a device: 20 cycles an instruction (60 on Kepler), two an operation of a lane, ten bytes for
// each byte, and 8 microseconds to launch.
inline double seconds_on(const Profile& kernel, const Platform& device) {
  const double items = kernel.metrics.at("aiwc_workitems_count"),
               instructions = kernel.metrics.at("aiwc_total_instructions_count"),
               bytes = 4 * kernel.metrics.at("aiwc_total_memory_footprint_count");
  const double cycles = device.arch == "kepler" ? 60 : 20;
  const double latency = cycles * instructions / items / device.facts.at("max_hz"),
               arithmetic = 2 * instructions / device.facts.at("core_count") / device.facts.at("max_hz"),
               memory = 10 * bytes / device.facts.at("memory_bytes_per_s");
  return 8e-6 + std::sqrt(latency * latency + arithmetic * arithmetic + memory * memory);
}

inline Profile kernel(Random& random, const std::string& name) {
  Profile profile;
  profile.program = name;
  profile.exit_code = 0;
  const double items = std::exp(random.uniform(5, 15));
  profile.metrics = {{"aiwc_workitems_count", items},
                     {"aiwc_total_instructions_count", items * std::exp(random.uniform(2, 8))},
                     {"aiwc_total_memory_footprint_count", items * std::exp(random.uniform(-2, 4))},
                     {"aiwc_unique_opcodes_count", std::floor(random.uniform(3, 12))}};
  return profile;
}

// `count` kernels of families of two, on these devices.
inline TrainingTable table(const std::vector<Platform>& platforms, int count, uint64_t seed) {
  Random random(seed);
  TrainingTable table;
  table.platforms = platforms;
  for (int i = 0; i < count; ++i) {
    Program program;
    program.id = "kernel" + std::to_string(i);
    program.family = "family" + std::to_string(i / 2);
    program.group = "opencl-kernel";
    table.programs.push_back(program);
    table.profiles.push_back(kernel(random, program.id));
    for (const Platform& device : platforms) {
      PlatformTime time;
      time.log_time = std::log(seconds_on(table.profiles.back(), device));
      time.servers = 1;
      table.times.emplace_back(time);
    }
  }
  return table;
}

}  // namespace perfcast::program::kernel_world
