#include "program/evaluate/testing/synthetic_corpus.h"

#include <Eigen/Core>
#include <cmath>
#include <set>
#include <string_view>

#include "base/random.h"
#include "profile/metrics/catalogue.h"

namespace perfcast::program {
namespace {

constexpr double kInstructions = 2e9;
constexpr int kTraits = 4;  // what programs differ in: arithmetic, memory, branches, calls
constexpr double kHertz = 3e9;

// What takes time here: cycles per event on the first platform. A list of its own, so that this world stays as it is
// when models look at other counters.
struct Cost {
  const char* metric;
  double cycles;
};
constexpr Cost kCosts[] = {{"op_int_alu_count", 1},       {"op_int_mul_count", 3},        {"op_fp_scalar_add_count", 2},
                           {"op_fp_scalar_div_count", 9}, {"op_call_count", 4},           {"loads_count", 3},
                           {"stores_count", 2},           {"branches_count", 2},          {"miss_32k_random_count", 8},
                           {"miss_1m_random_count", 30},  {"miss_1m_sequential_count", 6}};
constexpr double kCyclesPerInstruction = 0.3;

// FNV-1a: a number of its own for every name, the same everywhere.
uint64_t hash_of(std::string_view name) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

// Events per instruction of a program with these traits. How strongly a trait raises a metric depends on its name
// alone.
double rate_of(std::string_view metric, const Eigen::VectorXd& traits, uint64_t seed, Random& own) {
  Random random(hash_of(metric) + seed);
  double exponent = -4 + 0.1 * own.normal();
  for (int t = 0; t < kTraits; ++t) exponent += 0.5 * random.normal() * traits(t);
  return std::exp(exponent);
}

bool is_counted(const Metric& metric) {
  static const std::set<std::string> groups = {"work", "mix", "memory", "latency", "branch"};
  return metric.kind == "counter" && groups.count(metric.group) > 0;
}

double events(const Profile& profile, const char* metric) {
  const auto found = profile.metrics.find(metric);
  return found == profile.metrics.end() ? 0 : found->second;
}

Profile make_profile(const std::string& name, const Eigen::VectorXd& traits, uint64_t seed, Random& own) {
  Profile profile;
  profile.program = name;
  profile.command = {"./" + name};
  profile.instruction_set = "x86_64";
  profile.started_utc = "2026-01-01T00:00:00Z";
  profile.exit_code = 0;
  profile.work_units = 1;
  profile.work_unit = "operation";
  profile.host.name = "Example 200";
  profile.host.vendor = "GenuineIntel";
  profile.host.arch = "x86_64";
  profile.host.cpu_family = 6;
  profile.host.model = 2;
  for (const Cost& cost : kCosts) {
    profile.metrics[cost.metric] = std::round(kInstructions * rate_of(cost.metric, traits, seed, own));
  }
  for (const Metric& metric : Catalogue::built_in().metrics()) {
    if (!is_counted(metric) || profile.metrics.find(metric.name) != profile.metrics.end()) continue;
    profile.metrics[metric.name] = std::round(kInstructions * rate_of(metric.name, traits, seed, own));
  }
  profile.metrics["instructions_count"] = kInstructions;
  return profile;
}

// Seconds per event of kCosts, and per instruction at the end.
std::vector<double> costs_of_platform(int64_t platform, Random& random) {
  const double speed = std::exp(0.15 * static_cast<double>(platform % 5) - 0.3);
  std::vector<double> costs;
  for (const Cost& cost : kCosts) costs.push_back(cost.cycles / kHertz * speed * std::exp(0.8 * random.normal()));
  costs.push_back(kCyclesPerInstruction / kHertz * speed);
  return costs;
}

double seconds_of(const Profile& profile, const std::vector<double>& costs) {
  double seconds = costs.back() * kInstructions;
  for (size_t k = 0; k + 1 < costs.size(); ++k) seconds += costs[k] * events(profile, kCosts[k].metric);
  return seconds;
}

Eigen::VectorXd traits_of(Random& random) {
  Eigen::VectorXd traits(kTraits);
  for (double& trait : traits) trait = random.normal();
  return traits;
}

void set_time(Profile& profile, const std::vector<double>& host_costs) {
  const double seconds = seconds_of(profile, host_costs);
  profile.metrics["cpu_s"] = seconds;
  profile.metrics["user_s"] = seconds;
  profile.metrics["wall_s"] = seconds;
  profile.metrics["system_s"] = 0;
  profile.metrics = Catalogue::built_in().derive(profile.metrics);
}

std::vector<std::vector<double>> all_costs(const SyntheticOptions& options) {
  Random random(options.seed + 1000);
  std::vector<std::vector<double>> costs;
  for (int64_t j = 0; j < options.platforms; ++j) costs.push_back(costs_of_platform(j, random));
  return costs;
}

}  // namespace

Corpus synthetic_corpus(const SyntheticOptions& options) {
  Corpus corpus;
  corpus.sources.push_back({"synthetic", "", "Apache-2.0", "2026-01-01T00:00:00Z", "made by a test"});
  const std::vector<std::vector<double>> costs = all_costs(options);
  for (int64_t j = 0; j < options.platforms; ++j) {
    Platform platform;
    platform.name = "Example " + std::to_string(100 * (j + 1));
    platform.id = slug(platform.name);
    platform.arch = j % 3 == 2 ? "aarch64" : "x86_64";
    platform.vendor = j % 3 == 0 ? "AMD" : j % 3 == 1 ? "Intel" : "ARM";
    platform.cpu_family = j % 3 == 0 ? 25 : 6;
    platform.model = j + 1;
    platform.facts["l2_bytes"] = 1 << (18 + j % 4);
    platform.flags = j % 3 == 2 ? std::vector<std::string>{"asimd"} : std::vector<std::string>{"avx2"};
    platform.source = "synthetic";
    corpus.platforms.push_back(platform);
    for (int64_t s = 0; s < options.servers_per_platform; ++s) {
      Server server;
      server.vendor = s % 2 == 0 ? "cloud-a" : "cloud-b";
      server.name = "m" + std::to_string(j + 1) + ".x" + std::to_string(s + 1);
      server.platform = platform.id;
      server.vcpus = 2.0 * static_cast<double>(s + 1);
      server.memory_gib = 8.0 * static_cast<double>(s + 1);
      server.source = "synthetic";
      corpus.servers.push_back(server);
    }
  }
  Random traits_random(options.seed), noise(options.seed + 1);
  for (int64_t f = 0; f < options.families; ++f) {
    const Eigen::VectorXd family_traits = traits_of(traits_random);
    for (int64_t p = 0; p < options.programs_per_family; ++p) {
      Program program;
      program.family = "family" + std::to_string(f + 1);
      program.id = "test." + program.family + "." + std::to_string(p + 1);
      program.group = f % 2 == 0 ? "compressor" : "user";
      program.suite = "synthetic";
      program.work_unit = "operation";
      program.source = "synthetic";
      corpus.programs.push_back(program);

      Random own(options.seed + 100 + static_cast<uint64_t>(f * 100 + p));
      Profile profile = make_profile(program.id, family_traits + 0.2 * traits_of(own), options.seed, own);
      set_time(profile, costs[1 % costs.size()]);
      for (const Server& server : corpus.servers) {
        const auto j = static_cast<size_t>(std::stoll(server.name.substr(1))) - 1;
        Run run;
        run.program = program.id;
        run.platform = server.platform;
        run.server = server.vendor + "/" + server.name;
        run.time_s = seconds_of(profile, costs[j]) * std::exp(options.server_noise_log * noise.normal());
        run.source = "synthetic";
        corpus.runs.push_back(run);
      }
      corpus.profiles.push_back({program.id, std::move(profile), "synthetic"});
    }
  }
  return corpus;
}

Profile synthetic_profile(const SyntheticOptions& options, uint64_t seed) {
  Random own(seed);
  Profile profile = make_profile("example", traits_of(own), options.seed, own);
  set_time(profile, all_costs(options)[1]);
  return profile;
}

}  // namespace perfcast::program
