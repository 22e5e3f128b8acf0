#include "evaluate/testing/synthetic_corpus.h"

#include <Eigen/Dense>
#include <cmath>

#include "base/random.h"
#include "metrics/catalogue.h"
#include "model/features.h"

namespace perfcast {
namespace {

constexpr double kInstructions = 2e9;
constexpr int kTraits = 4;  // what programs differ in: arithmetic, memory, branches, calls
constexpr double kHertz = 3e9;

// The same loading for a metric in every program: how strongly each trait raises it.
Eigen::MatrixXd loadings(Random& random) {
  Eigen::MatrixXd result(static_cast<int64_t>(feature_metrics().size()), kTraits);
  for (int64_t i = 0; i < result.rows(); ++i) {
    for (int t = 0; t < kTraits; ++t) result(i, t) = random.normal();
  }
  return result;
}

Profile make_profile(const std::string& name, const Eigen::VectorXd& traits, Random& metrics, Random& own) {
  Profile profile;
  profile.program = name;
  profile.command = {"./" + name};
  profile.instruction_set = "x86_64";
  profile.started_utc = "2026-01-01T00:00:00Z";
  profile.exit_code = 0;
  profile.work_units = 1;
  profile.work_unit = "operation";
  profile.host.cpu_model = "Example 200";
  profile.host.cpu_vendor = "GenuineIntel";
  profile.host.arch = "x86_64";
  profile.host.cpu_family = 6;
  profile.host.model = 2;
  const Eigen::MatrixXd load = loadings(metrics);
  for (size_t i = 0; i < feature_metrics().size(); ++i) {
    const double exponent = -4 + 0.5 * load.row(static_cast<int64_t>(i)).dot(traits) + 0.1 * own.normal();
    profile.metrics[feature_metrics()[i]] = std::round(kInstructions * std::exp(exponent));
  }
  profile.metrics["instructions_count"] = kInstructions;
  return profile;
}

// Seconds per event of each work class.
Eigen::VectorXd costs_of_platform(int64_t platform, Random& random) {
  Eigen::VectorXd costs = textbook_costs() / kHertz;
  const double speed = std::exp(0.15 * static_cast<double>(platform % 5) - 0.3);
  for (int64_t k = 0; k < costs.size(); ++k) costs(k) *= speed * std::exp(0.4 * random.normal());
  return costs;
}

Eigen::VectorXd traits_of(Random& random) {
  Eigen::VectorXd traits(kTraits);
  for (double& trait : traits) trait = random.normal();
  return traits;
}

void set_time(Profile& profile, const Eigen::VectorXd& host_costs) {
  const double seconds =
      profile.metrics.at("instructions_count") * work_rates({&profile}).row(0).dot(host_costs.transpose());
  profile.metrics["cpu_s"] = seconds;
  profile.metrics["user_s"] = seconds;
  profile.metrics["wall_s"] = seconds;
  profile.metrics["system_s"] = 0;
  profile.metrics = Catalogue::built_in().derive(profile.metrics);
}

std::vector<Eigen::VectorXd> all_costs(const SyntheticOptions& options) {
  Random random(options.seed + 1000);
  std::vector<Eigen::VectorXd> costs;
  for (int64_t j = 0; j < options.platforms; ++j) costs.push_back(costs_of_platform(j, random));
  return costs;
}

}  // namespace

Corpus synthetic_corpus(const SyntheticOptions& options) {
  Corpus corpus;
  corpus.sources.push_back({"synthetic", "", "Apache-2.0", "2026-01-01T00:00:00Z", "made by a test"});
  const std::vector<Eigen::VectorXd> costs = all_costs(options);
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

      Random metrics(options.seed + 2), own(options.seed + 100 + static_cast<uint64_t>(f * 100 + p));
      Profile profile = make_profile(program.id, family_traits + 0.2 * traits_of(own), metrics, own);
      set_time(profile, costs[1 % costs.size()]);
      const Eigen::VectorXd rates = work_rates({&profile}).row(0);
      for (const Server& server : corpus.servers) {
        const auto j = static_cast<size_t>(std::stoll(server.name.substr(1))) - 1;
        Run run;
        run.program = program.id;
        run.platform = server.platform;
        run.server = server.vendor + "/" + server.name;
        run.time_s = kInstructions * rates.dot(costs[j]) * std::exp(options.server_noise_log * noise.normal());
        run.source = "synthetic";
        corpus.runs.push_back(run);
      }
      corpus.profiles.push_back({program.id, std::move(profile), "synthetic"});
    }
  }
  return corpus;
}

Profile synthetic_profile(const SyntheticOptions& options, uint64_t seed) {
  Random metrics(options.seed + 2), own(seed);
  Profile profile = make_profile("example", traits_of(own), metrics, own);
  set_time(profile, all_costs(options)[1]);
  return profile;
}

}  // namespace perfcast
