// Gavel's continuous trace on 36 each of K80, P100 and V100, simulated, beside the completion times that Gavel's own
// simulation recorded: `perfcast_gavel_reproduction FOLDER [--rates 4,4.8] [--seeds N] [--policies
// fifo,fifo-greedy,las]
// [--left-over none|sum|fill]`. FOLDER holds simulation_throughputs_isolated.csv.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/statistics.h"
#include "base/text.h"
#include "fleet/capacity/fluid_capacity.h"
#include "fleet/simulate/round_simulator.h"
#include "fleet/traces/gavel_trace.h"
#include "studies/output.h"

namespace perfcast::fleet::gavel_study {
namespace {

// Hours, agnostic and aware; jobs 4000 to 5000, seeds 0 to 2. From the published logs of Gavel's simulation.
struct Recorded {
  double rate, agnostic_h, aware_h;
};
struct Pair {
  const char* name;
  Policy agnostic, aware;
  std::vector<Recorded> recorded;
};

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> kPairs = {
      {"fifo",
       Policy::kFifo,
       Policy::kFifoAware,
       {{2.0, 18.3, 15.5}, {4.0, 25.4, 17.1}, {4.8, 99.2, 22.2}, {5.2, 151.7, 56.7}, {5.6, kUnknown, 104.1}}},
      {"fifo-greedy",
       Policy::kFifo,
       Policy::kFifoFastest,
       {{2.0, 18.3, 15.5}, {4.0, 25.4, 17.1}, {4.8, 99.2, 22.2}, {5.2, 151.7, 56.7}, {5.6, kUnknown, 104.1}}},
      {"las",
       Policy::kMaxMin,
       Policy::kMaxMinAware,
       {{2.0, 23.5, 17.0}, {4.0, 23.5, 16.8}, {4.8, 35.8, 19.0}, {5.2, 63.8, 22.0}, {5.6, 96.0, 29.0}}}};
  return kPairs;
}

struct Options {
  std::string folder;
  std::vector<double> rates = {4.0, 4.8};
  std::vector<std::string> policies = {"fifo", "las"};
  std::vector<std::string> order = {"v100", "p100", "k80"};
  std::string left_over = "fill";
  uint64_t seeds = 3;
  size_t first = 4000, last = 5000, spare = 20000;
  bool json = false;
};

struct Run {
  double hours = 0, seconds = 0;
};

Result<Run> run(const Options& options, const GavelThroughputs& table, double rate, uint64_t seed, Policy policy) {
  GavelTraceOptions trace;
  trace.jobs = static_cast<int64_t>(options.last + options.spare);
  trace.jobs_per_hour = rate;
  trace.seed = seed;
  const auto workload = generate_gavel_trace(table, trace);
  if (!workload) return workload.error();
  Cluster cluster;
  for (const std::string& platform : options.order) {
    NodeGroup group;
    group.platform = platform;
    group.nodes = 36;
    group.cores_per_node = 0;
    group.gpus_per_node = 1;
    cluster.groups.push_back(group);
  }
  RoundOptions rounds;
  rounds.measured_jobs = options.last;
  rounds.left_over = options.left_over == "none"  ? LeftOver::kVertex
                     : options.left_over == "sum" ? LeftOver::kSum
                                                  : LeftOver::kWaterFill;
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = simulate_rounds(cluster, *workload, policy, rounds);
  if (!outcome) return outcome.error();
  std::vector<double> hours;
  double last_end_s = 0;
  for (size_t i = 0; i < options.last; ++i) last_end_s = std::max(last_end_s, outcome->jobs[i].end_s);
  for (size_t i = options.first; i < options.last; ++i) {
    hours.push_back((outcome->jobs[i].end_s - workload->jobs[i].arrival_s) / 3600);
  }
  if (workload->jobs.back().arrival_s < last_end_s) {
    fmt::print(stderr, "note: arrivals stopped before the last measured job ended ({} at {}/h, seed {})\n",
               outcome->policy, rate, seed);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return Run{mean(hours), took.count()};
}

// The highest rate that any policy could sustain, jobs per hour.
Result<double> most_jobs_per_hour(const GavelThroughputs& table, const std::vector<std::string>& order) {
  // Mean of 10^u minutes: u uniform in [1.5, 3] with probability 0.8, else in [3, 4].
  const double log10 = std::log(10.0);
  const double mean_s = 60 * (0.8 * (1e3 - std::pow(10, 1.5)) / (1.5 * log10) + 0.2 * (1e4 - 1e3) / log10);
  const auto column = [&](const std::string& platform) {
    return static_cast<size_t>(std::find(table.platforms.begin(), table.platforms.end(), platform) -
                               table.platforms.begin());
  };
  std::vector<FluidKind> kinds;
  for (size_t t = 0; t < table.types.size(); ++t) {
    if (table.types[t].gpus != 1) continue;
    const double* rates = table.steps_per_s.data() + t * table.platforms.size();
    kinds.emplace_back();
    for (const std::string& platform : order) {
      kinds.back().unit_seconds.push_back(mean_s * rates[column("v100")] / rates[column(platform)]);
    }
  }
  const auto capacity = fluid_capacity(kinds, std::vector<double>(order.size(), 36));
  if (!capacity) return capacity.error();
  return capacity->jobs_per_s * 3600;
}

// At one rate, of one pair of policies; hours by seed.
struct ComparedRates {
  double rate = 0, load = 0;
  std::string policy;
  std::vector<double> agnostic_h, aware_h;
  Recorded recorded;
  double seconds = 0;
  double ratio() const { return mean(aware_h) / mean(agnostic_h); }
  double recorded_ratio() const { return recorded.aware_h / recorded.agnostic_h; }
};

ReportTable table_of(const std::vector<ComparedRates>& rows) {
  using Row = ComparedRates;
  const auto spread = [](const std::vector<double>& hours) {
    const auto [low, high] = std::minmax_element(hours.begin(), hours.end());
    return ValueRange{*low, *high};
  };
  return perfcast::table_of<Row>(
      "Mean completion time of Gavel's continuous trace, policies that know no speeds and those that do", rows,
      {{"jobs_per_h", "jobs/h", Quantity::kNumber, [](const Row& row) { return row.rate; }, 1},
       {"load", "load", Quantity::kNumber, [](const Row& row) { return row.load; }},
       {"policy", "policy", Quantity::kText, [](const Row& row) { return row.policy; }},
       {"agnostic_h", "agnostic h", Quantity::kNumber, [](const Row& row) { return mean(row.agnostic_h); }, 1},
       {"agnostic_range_h", "seeds", Quantity::kNumber, [=](const Row& row) { return spread(row.agnostic_h); }, 0},
       {"aware_h", "aware h", Quantity::kNumber, [](const Row& row) { return mean(row.aware_h); }, 1},
       {"aware_range_h", "seeds", Quantity::kNumber, [=](const Row& row) { return spread(row.aware_h); }, 0},
       {"recorded_agnostic_h", "recorded", Quantity::kNumber, [](const Row& row) { return row.recorded.agnostic_h; },
        1},
       {"recorded_aware_h", "recorded aware", Quantity::kNumber, [](const Row& row) { return row.recorded.aware_h; },
        1},
       {"ratio", "ratio", Quantity::kNumber, [](const Row& row) { return row.ratio(); }, 3},
       {"recorded_ratio", "recorded ratio", Quantity::kNumber, [](const Row& row) { return row.recorded_ratio(); }, 3},
       {"deviation", "deviation", Quantity::kShare,
        [](const Row& row) { return row.ratio() / row.recorded_ratio() - 1; }, 1},
       {"seconds", "seconds", Quantity::kNumber, [](const Row& row) { return row.seconds; }, 1}});
}

Status reproduce(const Options& options) {
  const auto csv = read_file(options.folder + "/simulation_throughputs_isolated.csv");
  if (!csv) return csv.error();
  const auto table = parse_gavel_throughputs(*csv, "simulation_throughputs_isolated.csv");
  if (!table) return table.error();
  for (const std::string& platform : options.order) {
    if (std::find(table->platforms.begin(), table->platforms.end(), platform) == table->platforms.end()) {
      return Error{"missing-platform", "no throughputs on " + printable(platform), "--order",
                   join(table->platforms, ", ")};
    }
  }
  const auto most = most_jobs_per_hour(*table, options.order);
  if (!most) return most.error();
  std::vector<ComparedRates> rows;
  for (const double rate : options.rates) {
    for (const Pair& pair : pairs()) {
      if (std::find(options.policies.begin(), options.policies.end(), pair.name) == options.policies.end()) continue;
      ComparedRates row{rate, rate / *most, pair.name, {}, {}, {rate, kUnknown, kUnknown}, 0};
      for (uint64_t seed = 0; seed < options.seeds; ++seed) {
        for (const bool is_aware : {false, true}) {
          const auto done = run(options, *table, rate, seed, is_aware ? pair.aware : pair.agnostic);
          if (!done) return done.error();
          (is_aware ? row.aware_h : row.agnostic_h).push_back(done->hours);
          row.seconds += done->seconds;
        }
      }
      for (const Recorded& recorded : pair.recorded) {
        if (recorded.rate == rate) row.recorded = recorded;
      }
      rows.push_back(std::move(row));
    }
  }
  StudyOutput output("gavel", options.json);
  output.note(fmt::format("36 each of {}; no policy sustains more than {:.2f} jobs per hour", join(options.order, ", "),
                          *most));
  output.add("rates", table_of(rows));
  output.finish();
  return {};
}

}  // namespace
}  // namespace perfcast::fleet::gavel_study

int main(int argc, char** argv) try {
  perfcast::fleet::gavel_study::Options options;
  CLI::App app("Simulates Gavel's continuous trace and sets it beside Gavel's recorded completion times");
  app.add_option("folder", options.folder, "holds simulation_throughputs_isolated.csv")->required();
  app.add_option("--rates", options.rates, "jobs per hour")->delimiter(',')->capture_default_str();
  app.add_option("--policies", options.policies, "fifo, fifo-greedy, las")->delimiter(',')->capture_default_str();
  app.add_option("--order", options.order, "of the groups, as fifo takes them")->delimiter(',')->capture_default_str();
  app.add_option("--seeds", options.seeds, "how many, from 0")->capture_default_str();
  app.add_option("--first", options.first, "first measured job")->capture_default_str();
  app.add_option("--last", options.last, "one past the last measured job")->capture_default_str();
  app.add_option("--left-over", options.left_over, "none, sum or fill")->capture_default_str();
  app.add_flag("--json", options.json, "for programs");
  CLI11_PARSE(app, argc, argv);
  const perfcast::Status done = perfcast::fleet::gavel_study::reproduce(options);
  if (!done) fmt::print(stderr, "{}\n", perfcast::to_text(done.error()));
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  return 1;
}
