// What `perfcast compare --across` says of the same program on two real servers, and of a planted change on top:
// `perfcast_across_evaluation SPARECORES [--pairs N] [--seed N] [--json]`. SPARECORES is that folder, with geekbench6
// beside it. The program's family is left out of all that the expected factor is learned from, and so are the servers
// of the pair.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "program/across/across_comparison.h"
#include "program/corpus/importers/sparecores_importer.h"
#include "program/corpus/server_levels.h"
#include "studies/output.h"

namespace perfcast::program::across_study {
namespace {

constexpr size_t kEarlierMost = 3;
constexpr double kThreshold = 0.01;  // the verb's own

struct TimedServer {
  size_t server = 0, platform = 0;  // indices
  std::vector<double> time_s;       // by program
};

// Servers that every application was timed on, with one thread.
struct World {
  Corpus corpus;
  std::vector<Program> programs;
  std::vector<TimedServer> servers;
  std::vector<std::vector<size_t>> of_platform;  // indices into servers
};

World world_of(Corpus corpus) {
  World world;
  std::map<std::string, size_t> program_index, platform_index;
  for (const Program& program : corpus.programs) {
    if (program.group != "application") continue;
    program_index[program.id] = world.programs.size();
    world.programs.push_back(program);
  }
  for (size_t i = 0; i < corpus.platforms.size(); ++i) platform_index[corpus.platforms[i].id] = i;
  std::map<std::pair<std::string, std::string>, std::vector<double>> times;
  for (const Run& run : corpus.runs) {
    const auto program = program_index.find(run.program);
    if (program == program_index.end() || run.threads != 1) continue;
    auto& of_server = times[{run.platform, run.server}];
    of_server.resize(world.programs.size(), kUnknown);
    of_server[program->second] = run.time_s;
  }
  world.of_platform.resize(corpus.platforms.size());
  for (size_t i = 0; i < corpus.servers.size(); ++i) {
    const Server& server = corpus.servers[i];
    const auto found = times.find({server.platform, server.vendor + "/" + server.name});
    if (found == times.end()) continue;
    if (std::any_of(found->second.begin(), found->second.end(), [](double time_s) { return std::isnan(time_s); }))
      continue;
    const size_t platform = platform_index.at(server.platform);
    world.of_platform[platform].push_back(world.servers.size());
    world.servers.push_back({i, platform, found->second});
  }
  world.corpus = std::move(corpus);
  return world;
}

// Bundles that know nothing of a program's family and of some servers.
class LeftOut {
 public:
  LeftOut(const World& world, size_t program) : world_(world) {
    for (size_t p = 0; p < world.programs.size(); ++p) {
      if (world.programs[p].family == world.programs[program].family) continue;
      others_.push_back(p);
      known_.programs.push_back(world.programs[p]);
    }
    known_.platforms = world.corpus.platforms;
    for (const TimedServer& server : world.servers) known_.servers.push_back(world.corpus.servers[server.server]);
    known_.training_log_rpv.resize(static_cast<Eigen::Index>(others_.size()),
                                   static_cast<Eigen::Index>(known_.platforms.size()));
    for (size_t j = 0; j < known_.platforms.size(); ++j) learn(j, {}, known_);
  }

  Bundle without(const std::set<size_t>& servers) const {
    Bundle bundle = known_;
    std::set<size_t> platforms;
    for (const size_t server : servers) platforms.insert(world_.servers[server].platform);
    for (const size_t platform : platforms) learn(platform, servers, bundle);
    return bundle;
  }

 private:
  void learn(size_t platform, const std::set<size_t>& left_out, Bundle& bundle) const {
    std::vector<size_t> kept;
    for (const size_t server : world_.of_platform[platform]) {
      if (!left_out.contains(server)) kept.push_back(server);
    }
    std::vector<Run> runs;
    std::set<std::string> ids;
    for (size_t i = 0; i < others_.size(); ++i) {
      std::vector<double> logs;
      const std::string& id = world_.programs[others_[i]].id;
      ids.insert(id);
      for (const size_t server : kept) {
        const Server& named = world_.corpus.servers[world_.servers[server].server];
        Run run;
        run.program = id;
        run.platform = named.platform;
        run.server = named.vendor + "/" + named.name;
        run.time_s = world_.servers[server].time_s[others_[i]];
        logs.push_back(std::log(run.time_s));
        runs.push_back(std::move(run));
      }
      bundle.training_log_rpv(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(platform)) =
          median(std::move(logs));
    }
    std::vector<Server> levelled;
    for (const size_t server : world_.of_platform[platform]) levelled.push_back(bundle.servers[server]);
    state_server_levels(runs, ids, levelled);
    for (size_t i = 0; i < levelled.size(); ++i) bundle.servers[world_.of_platform[platform][i]] = levelled[i];
  }

  const World& world_;
  std::vector<size_t> others_;
  Bundle known_;
};

struct Score {
  std::string what, hosts;
  int64_t pairs = 0;
  double changed = 0, found_20 = 0, found_50 = 0;
  std::vector<double> half_widths, errors;
};

measure::ResultFile file_of(const World& world, const TimedServer& server, const std::vector<size_t>& programs) {
  measure::ResultFile file;
  file.tool = "study";
  for (const size_t program : programs) {
    measure::BenchmarkRuns benchmark{world.programs[program].id, {}, {}};
    benchmark.wall.runs_s = {server.time_s[program]};
    file.benchmarks.push_back(std::move(benchmark));
  }
  return file;
}

class Study {
 public:
  Study(const World& world, uint64_t seed) : world_(world), seed_(seed), random_(seed) {
    for (size_t p = 0; p < world.programs.size(); ++p) left_out_.emplace_back(world, p);
  }

  // `earlier`: results of A's version on other servers of B's CPU model. `by_type`: hosts are given as instance types.
  // `all`: the file has all programs; the change is planted in one.
  Result<Score> score(int64_t pairs, size_t earlier, bool by_type, bool all) {
    Score score;
    random_ = Random(seed_);  // rows of the same pairs, but where too few servers are left
    score.what = all           ? "all programs in one file"
                 : earlier > 0 ? fmt::format("one program, {} earlier result{}", earlier, earlier == 1 ? "" : "s")
                               : "one program";
    score.hosts = by_type ? "instance types" : "CPU models";
    while (score.pairs < 2 * pairs) {
      const size_t program = random_.below(world_.programs.size());
      const size_t first = random_.below(world_.servers.size()), second = random_.below(world_.servers.size());
      if (world_.servers[first].platform == world_.servers[second].platform) continue;
      for (const auto& [a, b] : {std::pair{first, second}, {second, first}}) {
        auto taken = take(program, a, b, earlier, by_type, all, score);
        if (!taken) return taken.error();
        if (!*taken) break;
      }
    }
    const auto n = static_cast<double>(score.pairs);
    for (double* share : {&score.changed, &score.found_20, &score.found_50}) *share /= n;
    return score;
  }

 private:
  // False where too few servers of a CPU model are left.
  Result<bool> take(size_t program, size_t a, size_t b, size_t earlier, bool by_type, bool all, Score& score) {
    const std::vector<size_t>& of_b = world_.of_platform[world_.servers[b].platform];
    const std::vector<size_t>& of_a = world_.of_platform[world_.servers[a].platform];
    if (of_a.size() < 2 || of_b.size() < 2 + earlier || (earlier > 0 && of_a.size() < 2 + earlier)) return false;
    std::set<size_t> used = {a, b};
    std::vector<size_t> earlier_on;
    while (earlier_on.size() < earlier) {
      const size_t one = of_b[random_.below(of_b.size())];
      if (used.insert(one).second) earlier_on.push_back(one);
    }
    const Bundle bundle = left_out_[program].without(used);
    const auto called = [&](size_t server) {
      const Server& named = world_.corpus.servers[world_.servers[server].server];
      return by_type ? named.vendor + "/" + named.name : named.platform;
    };
    const auto machine_of_server = [&](size_t server) { return machine_called(bundle, called(server), "host"); };
    auto host_a = machine_of_server(a), host_b = machine_of_server(b);
    for (const auto* host : {&host_a, &host_b}) {
      if (*host) continue;
      if (host->error().code == "ambiguous-platform") return false;  // a type of several CPU models
      return host->error();
    }
    auto factor = factor_of_group(bundle, {*host_a, *host_b}, "application");
    if (!factor) {
      if (factor.error().code == "no-times") return false;
      return factor.error();
    }
    AcrossRequest request;
    request.factor = std::move(*factor);
    std::vector<size_t> programs = {program};
    if (all) {
      programs.clear();
      for (size_t p = 0; p < world_.programs.size(); ++p) programs.push_back(p);
    }
    request.a = file_of(world_, world_.servers[a], programs);
    request.b = file_of(world_, world_.servers[b], programs);
    for (const size_t server : earlier_on) {
      auto machine = machine_of_server(server);
      if (!machine) return false;
      request.earlier.push_back({file_of(world_, world_.servers[server], programs), std::move(*machine)});
    }
    request.session.threshold_ratio = kThreshold;
    const auto plain = compare_across(request);
    if (!plain) return plain.error();
    const auto planted = [&](double ratio) -> Result<bool> {
      AcrossRequest slower = request;
      for (measure::BenchmarkRuns& benchmark : slower.b.benchmarks) {
        if (benchmark.name == world_.programs[program].id) benchmark.wall.runs_s[0] *= ratio;
      }
      const auto compared = compare_across(slower);
      if (!compared) return compared.error();
      for (const AcrossRow& row : compared->rows) {
        if (row.name == world_.programs[program].id) return row.verdict == measure::CompareVerdict::kSlower;
      }
      return false;
    };
    const auto found_20 = planted(1.2), found_50 = planted(1.5);
    if (!found_20) return found_20.error();
    if (!found_50) return found_50.error();
    score.changed += plain->any(measure::CompareVerdict::kSlower) || plain->any(measure::CompareVerdict::kFaster);
    score.found_20 += *found_20;
    score.found_50 += *found_50;
    score.half_widths.push_back(std::log(plain->expected_upper / plain->expected_lower) / 2);
    score.errors.push_back(std::abs(std::log(plain->ratio)));
    ++score.pairs;
    return true;
  }

  const World& world_;
  uint64_t seed_;
  Random random_;
  std::vector<LeftOut> left_out_;
};

struct Options {
  std::string folder;
  int64_t pairs = 1000;
  uint64_t seed = 1;
  bool json = false;
};

int run(const Options& options) {
  const auto fail = [](const Error& error) {
    fmt::print(stderr, "{}\n", to_text(error));
    return 1;
  };
  auto import = import_sparecores_folder(options.folder, ProgramCatalogue());
  if (!import) return fail(import.error());
  const World world = world_of(std::move(import->corpus));
  if (world.programs.empty()) return fail({"no-results", "there are no scores of applications", options.folder, ""});
  Study study(world, options.seed);
  std::vector<Score> scores;
  for (const bool by_type : {false, true}) {
    for (const size_t earlier : {size_t{0}, size_t{1}, kEarlierMost}) {
      auto score = study.score(options.pairs, earlier, by_type, false);
      if (!score) return fail(score.error());
      scores.push_back(std::move(*score));
    }
  }
  auto several = study.score(options.pairs, 0, false, true);
  if (!several) return fail(several.error());
  scores.push_back(std::move(*several));
  StudyOutput output("across", options.json);
  output.add("scores",
             table_of<Score>(
                 "The same program on two servers of two CPU models, its family and the servers left out", scores,
                 {{"what", "what", Quantity::kText, [](const Score& row) { return row.what; }},
                  {"hosts", "hosts as", Quantity::kText, [](const Score& row) { return row.hosts; }},
                  {"pairs_count", "pairs", Quantity::kCount, [](const Score& row) { return row.pairs; }},
                  {"changed_ratio", "changed, nothing planted", Quantity::kNumber,
                   [](const Score& row) { return row.changed; }, 3},
                  {"found_20_ratio", "20% found", Quantity::kNumber, [](const Score& row) { return row.found_20; }, 3},
                  {"found_50_ratio", "50% found", Quantity::kNumber, [](const Score& row) { return row.found_50; }, 3},
                  {"mean_error_log", "mean error, log", Quantity::kNumber,
                   [](const Score& row) { return mean(row.errors); }, 3},
                  {"half_interval_log", "half of the interval, log", Quantity::kNumber,
                   [](const Score& row) { return median(row.half_widths); }, 3}}));
  output.note(fmt::format("{} applications on {} servers", world.programs.size(), world.servers.size()));
  output.finish();
  return 0;
}

}  // namespace
}  // namespace perfcast::program::across_study

int main(int argc, char** argv) {
  try {
    CLI::App app("Scores of perfcast compare --across");
    perfcast::program::across_study::Options options;
    app.add_option("folder", options.folder, "The folder sparecores, with geekbench6 beside it")->required();
    app.add_option("--pairs", options.pairs, "Pairs of servers of each row, each in both directions");
    app.add_option("--seed", options.seed, "Of the draw of pairs");
    app.add_flag("--json", options.json, "JSON");
    CLI11_PARSE(app, argc, argv);
    return perfcast::program::across_study::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
