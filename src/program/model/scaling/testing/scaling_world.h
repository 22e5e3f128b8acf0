#pragma once
// Programs and servers whose scaling is known, for tests: as physics with stated costs says.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "program/model/scaling/scaling_table.h"
#include "program/model/scaling/slowdown_columns.h"

namespace perfcast::program::scaling_world {

// Counters of a program of a billion instructions that misses `small` lines in caches below 1 MiB and `large` in larger
// ones; a tenth of both are random, a fifth are stores.
inline Profile profile_of(double small, double large, double float_ratio) {
  Profile profile;
  MetricValues& metrics = profile.metrics;
  metrics = {{"instructions_count", 1e9},
             {"cpu_s", 1},
             {"system_s", 0.05},
             {"tage_misses_count", 1e6},
             {"page_faults_minor_count", 500}};
  for (const char* size : {"32k", "48k", "64k", "256k", "512k", "1m", "2m", "4m", "8m", "16m", "32m", "64m"}) {
    const bool is_large = std::string(size).ends_with("m");
    const double lines = is_large ? large : small;
    const std::string stem = std::string("miss_") + size + "_";
    metrics[stem + "count"] = lines;
    metrics[stem + "random_count"] = 0.1 * lines;
    metrics[stem + "store_sequential_count"] = 0.15 * lines;
    metrics[stem + "store_random_count"] = 0.05 * lines;
  }
  for (const char* operation :
       {"scalar_add", "scalar_mul", "scalar_div", "scalar_sqrt", "vec_add", "vec_mul", "vec_div", "vec_other"})
    metrics[std::string("op_fp_") + operation + "_count"] = 0;
  for (const char* operation :
       {"fp_fma_scalar", "fp_cvt", "fp_fma_vec", "x87_simple", "x87_mul", "x87_div", "x87_transcendental"})
    metrics[std::string("op_") + operation + "_count"] = 0;
  metrics["op_fp_scalar_add_count"] = float_ratio * 1e9;
  return profile;
}

inline Platform platform_of(const std::string& id, const std::string& vendor, int family, int model) {
  Platform platform;
  platform.id = platform.name = id;
  platform.vendor = vendor;
  platform.arch = vendor == "ARM" ? "aarch64" : "x86_64";
  if (vendor != "ARM") {
    platform.cpu_family = family;
    platform.model = model;
  }
  return platform;
}

inline Server server_of(const std::string& provider, const std::string& name, const std::string& platform, double vcpus,
                        double threads) {
  Server server;
  server.vendor = provider;
  server.name = name;
  server.platform = platform;
  server.vcpus = vcpus;
  server.threads_per_core = threads;
  return server;
}

// Programs of `families` families, two each, on machines of three makes; slowed as physics with these costs says, and
// each program by a level of its own.
inline ScalingTable world(int families, double level_deviation) {
  Random random(5);
  ScalingTable table;
  const std::vector<Platform> platforms = {
      platform_of("milan", "AMD", 25, 1),       platform_of("ice", "Intel", 6, 106),
      platform_of("Neoverse-N1", "ARM", 0, 0),  platform_of("rome", "AMD", 23, 0x31),
      platform_of("sapphire", "Intel", 6, 143), platform_of("Neoverse-V1", "ARM", 0, 0)};
  std::vector<Server> servers;
  for (const Platform& platform : platforms) {
    for (const double vcpus : {2.0, 4.0, 8.0, 16.0, 32.0, 64.0}) {
      for (const char* provider : {"a", "b"}) {
        servers.push_back(server_of(provider, platform.id + "-" + std::to_string(static_cast<int>(vcpus)), platform.id,
                                    vcpus, platform.vendor == "ARM" ? 1 : 2));
        servers.back().facts = {{"l3_bytes", 2e6 * vcpus}, {"memory_read_bytes_per_s", 5e9 * std::sqrt(vcpus) * 2}};
      }
    }
  }
  table.machines = table.all_machines = machines_of(servers, platforms).machines;
  const auto count = static_cast<Eigen::Index>(table.machines.size());
  table.log_alone = Eigen::MatrixXd::Zero(Eigen::Index{2} * families, count);
  table.log_together = table.copies = table.log_alone;
  Eigen::VectorXd costs = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(slowdown_column_names().size()));
  const auto cost = [&](const char* name) -> double& {
    const auto& names = slowdown_column_names();
    return costs(std::find(names.begin(), names.end(), name) - names.begin());
  };
  cost("one") = 1;
  cost("size_intel") = 0.2;
  cost("sibling_intel") = 0.4;
  cost("sibling_amd") = 0.3;
  cost("sqrt_bandwidth") = 0.2;
  for (Eigen::Index i = 0; i < table.log_alone.rows(); ++i) {
    Program program;
    program.id = "p" + std::to_string(i);
    program.family = "f" + std::to_string(i / 2);
    program.group = "user";
    table.programs.push_back(program);
    table.groups.emplace_back("user");
    const double small = std::pow(10, random.uniform(3, 7)), large = std::pow(10, random.uniform(2, 6.5));
    table.profiles.push_back(profile_of(small, large, random.uniform(0, 0.4)));
    table.loads.push_back(load_of(table.profiles.back(), 1));
    const double level = level_deviation * random.normal();
    for (Eigen::Index s = 0; s < count; ++s) {
      const MachineFacts& machine = table.machines[static_cast<size_t>(s)];
      const double time_s = 0.3 * (1 + 0.1 * static_cast<double>(machine.make));
      table.log_alone(i, s) = std::log(time_s);
      table.copies(i, s) = machine.vcpus;
      const CopiesOnMachine copies = {&table.loads.back(), &machine, time_s, machine.vcpus};
      table.log_together(i, s) = std::log(time_s * slowdown_columns(copies).dot(costs)) + level;
    }
  }
  table.log_alone_usual = table.log_alone;
  return table;
}

}  // namespace perfcast::program::scaling_world
