#pragma once
// Worlds with a known truth, for tests: programs with counters, platforms with costs, times that follow from both.

#include <cmath>
#include <string>

#include "base/random.h"
#include "program/corpus/corpus.h"
#include "program/model/cores/modelled_cycles.h"
#include "program/model/features/work_features.h"

namespace perfcast::program::testing_world {

struct WorldOptions {
  int64_t programs = 40;
  int64_t platforms = 6;
  int64_t families = 20;
  double noise_log = 0;
  uint64_t seed = 1;
};

// Counters of a random program. Sums of loads and stores by size and of misses by kind need not fit: models don't care.
inline Profile random_profile(Random& random, const std::string& name) {
  Profile profile;
  profile.program = name;
  profile.instruction_set = "x86_64";
  profile.exit_code = 0;
  for (const std::string& metric : work_feature_metrics()) {
    profile.metrics[metric] = 1e9 * std::exp(random.uniform(-9, -2));
  }
  // Core models that find all designs alike say nothing.
  for (const std::string& metric : core_metrics()) profile.metrics[metric] = 1e9;
  profile.metrics["instructions_count"] = 1e9;
  profile.metrics["cpu_s"] = 1;
  profile.metrics["kernel_cpu_ratio"] = 0.01;
  return profile;
}

// cost_factor[k][j]: what platform j pays for work class k, as a multiple of the textbook's.
struct World {
  TrainingTable table;
  Eigen::MatrixXd cost_factor;  // K x J
};

// Additive: time = sum over classes of rate x textbook cost x factor, exactly (but for the noise asked for).
inline World additive_world(const WorldOptions& options) {
  Random random(options.seed);
  World world;
  const Eigen::VectorXd textbook = textbook_costs();
  world.cost_factor.resize(textbook.size(), options.platforms);
  for (Eigen::Index j = 0; j < options.platforms; ++j) {
    Platform platform;
    platform.id = "p" + std::to_string(j);
    platform.name = "Platform " + std::to_string(j);
    platform.arch = "x86_64";
    platform.vendor = j % 2 == 0 ? "AuthenticAMD" : "GenuineIntel";
    platform.cpu_family = j % 2 == 0 ? 25 : 6;
    platform.model = j % 2 == 0 ? 1 : 106;
    world.table.platforms.push_back(platform);
    const double speed = std::exp(random.uniform(-0.5, 0.5));
    for (Eigen::Index k = 0; k < textbook.size(); ++k) {
      world.cost_factor(k, j) = speed * std::exp(0.4 * random.normal());
    }
  }
  for (int64_t p = 0; p < options.programs; ++p) {
    Program program;
    program.id = "program" + std::to_string(p);
    program.family = "family" + std::to_string(p % options.families);
    program.group = p % 2 == 0 ? "even" : "odd";
    program.suite = "test";
    world.table.programs.push_back(program);
    Profile profile = random_profile(random, program.id);
    profile.work_units = 1;
    const Eigen::MatrixXd rates = work_rates({&profile});
    for (Eigen::Index j = 0; j < options.platforms; ++j) {
      double cycles = 0;
      for (Eigen::Index k = 0; k < textbook.size(); ++k) cycles += rates(0, k) * textbook(k) * world.cost_factor(k, j);
      PlatformTime time;
      time.log_time = std::log(cycles / 3) + options.noise_log * random.normal();
      time.servers = 3;
      world.table.times.emplace_back(time);
    }
    world.table.profiles.push_back(std::move(profile));
  }
  return world;
}

// A table without its last `held_out` programs, which make the second.
inline std::pair<TrainingTable, TrainingTable> split_table(const TrainingTable& table, size_t held_out) {
  std::vector<size_t> first;
  std::vector<size_t> last;
  for (size_t p = 0; p < table.programs.size(); ++p) {
    (p + held_out < table.programs.size() ? first : last).push_back(p);
  }
  return {table.with_programs(first), table.with_programs(last)};
}

}  // namespace perfcast::program::testing_world
