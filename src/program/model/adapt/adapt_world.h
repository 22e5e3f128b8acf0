#pragma once
// Platforms whose facts decide times exactly, for tests: log time = level - (1 - m) log clock - m log bandwidth.

#include <Eigen/Core>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "program/corpus/corpus.h"

namespace perfcast::program::adapt_world {

struct AdaptWorld {
  std::vector<Platform> platforms;
  std::vector<Program> programs;
  Eigen::MatrixXd log_times;  // [programs x platforms]
};

// Designs of several platforms each (Arm cores stand for themselves: here AMD and Intel models take turns).
inline AdaptWorld adapt_world(size_t designs = 6, size_t of_design = 4, size_t programs = 20, uint64_t seed = 1) {
  constexpr std::pair<int64_t, int64_t> kAmd[] = {{23, 1}, {23, 49}, {25, 1}, {25, 17}, {26, 2}};
  constexpr int64_t kIntel[] = {63, 79, 85, 106, 143};
  Random random(seed);
  AdaptWorld world;
  std::vector<double> clock, bandwidth;
  for (size_t d = 0; d < designs; ++d) {
    for (size_t i = 0; i < of_design; ++i) {
      Platform platform;
      platform.id = "p" + std::to_string(world.platforms.size());
      platform.name = "Platform " + std::to_string(world.platforms.size());
      platform.arch = "x86_64";
      platform.vendor = d % 2 == 0 ? "AMD" : "Intel";
      platform.cpu_family = d % 2 == 0 ? kAmd[d / 2 % 5].first : 6;
      platform.model = d % 2 == 0 ? kAmd[d / 2 % 5].second : kIntel[d / 2 % 5];
      clock.push_back(random.uniform(-0.5, 0.5));
      bandwidth.push_back(random.uniform(-0.7, 0.7));
      platform.facts["bwmem_rd_16kib_per_vcpu_bytes_per_s"] = 1e11 * std::exp(clock.back());
      platform.facts["bwmem_rd_256mb_per_vcpu_bytes_per_s"] = 1e10 * std::exp(bandwidth.back());
      world.platforms.push_back(std::move(platform));
    }
  }
  world.log_times.resize(static_cast<Eigen::Index>(programs), static_cast<Eigen::Index>(clock.size()));
  for (size_t p = 0; p < programs; ++p) {
    Program program;
    program.id = "program" + std::to_string(p);
    program.family = "family" + std::to_string(p / 2);
    program.group = "user";
    world.programs.push_back(program);
    const double level = random.uniform(-3, 3), memory = random.uniform();
    for (size_t j = 0; j < clock.size(); ++j) {
      world.log_times(static_cast<Eigen::Index>(p), static_cast<Eigen::Index>(j)) =
          level - (1 - memory) * clock[j] - memory * bandwidth[j] + 0.005 * random.normal();
    }
  }
  return world;
}

}  // namespace perfcast::program::adapt_world
