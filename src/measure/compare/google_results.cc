#include "measure/compare/google_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "measure/compare/result_collector.h"

namespace perfcast::measure {
namespace {

// Before 1.5 (2019) aggregates are known by their names alone; those of a fit have no time.
std::set<std::string> unmarked_aggregates(const Json& list) {
  std::set<std::string> names, aggregates;
  for (const Json& entry : list) {
    if (!entry.is_object() || entry.contains("run_type")) continue;
    const auto name = entry.find("name");
    if (name == entry.end() || !name->is_string()) continue;
    names.insert(name->get<std::string>());
    if (entry.contains("cpu_coefficient") || entry.contains("rms")) aggregates.insert(name->get<std::string>());
  }
  for (const std::string& name : names) {
    const std::string base = name.substr(0, name.rfind('_'));
    if (!names.contains(base + "_mean") || !names.contains(base + "_stddev")) continue;
    for (const char* kind : {"_mean", "_median", "_stddev"}) {
      if (name == base + kind) aggregates.insert(name);
    }
  }
  return aggregates;
}

class GoogleResults {
 public:
  GoogleResults(const Json& json, const std::string& source)
      : json_(json), results_("Google Benchmark", source), unmarked_aggregates_(unmarked_aggregates(list())) {}
  Result<ResultFile> read();

 private:
  struct Run {
    BenchmarkRuns single, summary;  // repetitions, and the aggregates of them
    size_t all = 0, zero = 0;       // repetitions
    bool mean_is_zero = false;
  };
  const Json& list() const { return json_.at("benchmarks"); }
  Run& run_of(const std::string& name, int64_t family, int64_t instance);
  void add(const Json& entry, const std::string& path);
  static void add_aggregate(bool is_mean, double wall_s, double cpu_s, int64_t repetitions, Run& run);

  const Json& json_;
  ResultCollector results_;
  std::set<std::string> unmarked_aggregates_;  // names of entries
  std::vector<Run> runs_;                      // in the file's order
  std::map<std::tuple<std::string, int64_t, int64_t>, size_t> index_;
  std::map<std::string, size_t> places_;  // by name: how many
  size_t failed_ = 0;
};

// Benchmarks that are registered twice under a name differ in family and instance alone.
GoogleResults::Run& GoogleResults::run_of(const std::string& name, int64_t family, int64_t instance) {
  const auto [at, is_new] = index_.emplace(std::tuple{name, family, instance}, runs_.size());
  if (is_new) {
    const size_t number = ++places_[name];
    Run& run = runs_.emplace_back();
    run.single.name = run.summary.name = number == 1 ? name : fmt::format("{} #{}", name, number);
  }
  return runs_[at->second];
}

void GoogleResults::add_aggregate(bool is_mean, double wall_s, double cpu_s, int64_t repetitions, Run& run) {
  for (auto [runs, time_s] : {std::pair{&run.summary.wall, wall_s}, {&run.summary.cpu, cpu_s}}) {
    if (!(time_s >= 0)) continue;
    (is_mean ? runs->mean_s : runs->deviation_s) = time_s;
    if (is_mean && time_s > 0) runs->count = std::max<int64_t>(sane_count(repetitions), 1);
  }
  if (is_mean) run.mean_is_zero = wall_s == 0;
}

void GoogleResults::add(const Json& entry, const std::string& path) {
  JsonReader reader(entry, path);
  const std::string own_name = reader.string("name");
  std::string type = reader.string_or("run_type", "iteration"), name = reader.string_or("run_name", own_name),
              aggregate = reader.string_or("aggregate_name", "");
  if (unmarked_aggregates_.contains(own_name)) {
    type = "aggregate";
    const size_t last = own_name.rfind('_');  // of a fit's name nothing is known
    name = own_name.substr(0, last);
    aggregate = last == std::string::npos ? "" : own_name.substr(last + 1);
  }
  const bool is_single = type == "iteration", is_mean = aggregate == "mean";
  if (!is_single && !is_mean && aggregate != "stddev") return;
  if (reader.string_or("aggregate_unit", "time") != "time") return;
  // Also of one that failed, so that the same number means the same in another file.
  Run& run = run_of(name, reader.integer_or("family_index", -1), reader.integer_or("per_family_instance_index", -1));
  if (reader.boolean_or("error_occurred", false) || entry.contains("skipped")) {
    ++failed_;
    return;
  }
  static const std::map<std::string, double> kUnits = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  const std::string unit_name = reader.string_or("time_unit", "ns");
  const auto unit = kUnits.find(unit_name);
  if (unit == kUnits.end()) reader.complain("time_unit", "'" + printable(unit_name) + "'", "ns, us, ms or s");
  const double wall = reader.number("real_time"), cpu = reader.number("cpu_time");
  if (reader.complaints().empty() && is_single && !(wall >= 0)) reader.complain("real_time", "a time below 0", "times");
  results_.take_complaints(reader);
  if (!reader.complaints().empty() || unit == kUnits.end()) return;
  BenchmarkRuns& of = is_single ? run.single : run.summary;
  const double wall_s = wall * unit->second, cpu_s = cpu * unit->second;
  // CPU time may be that of all threads, or of the first alone.
  const double busy_cpus = std::max(static_cast<double>(reader.integer_or("threads", 1)), cpu / wall);
  if (wall_s > 0 && (is_single || is_mean) && std::isfinite(busy_cpus)) of.busy_cpus = busy_cpus;
  if (!is_single) return add_aggregate(is_mean, wall_s, cpu_s, reader.integer_or("repetitions", 1), run);
  ++run.all;
  if (wall_s == 0) ++run.zero;
  if (wall_s > 0) of.wall.runs_s.push_back(wall_s);
  if (wall_s > 0 && cpu_s > 0) of.cpu.runs_s.push_back(cpu_s);
}

Result<ResultFile> GoogleResults::read() {
  if (const auto context = json_.find("context"); context != json_.end() && context->is_object()) {
    // It writes no CPU's name, but what --benchmark_context=cpu_model=... gave.
    std::string& cpu_name = results_.file().host.name;
    for (const char* key : {"cpu_model", "cpu_name", "cpu"}) {
      const auto found = context->find(key);
      if (cpu_name.empty() && found != context->end() && found->is_string()) cpu_name = found->get<std::string>();
    }
  }
  for (size_t i = 0; i < list().size(); ++i) add(list()[i], results_.at("benchmarks", i));
  for (Run& run : runs_) {
    // A run of no CPU time that the system counts leaves none to compare.
    if (run.single.cpu.runs_s.size() != run.single.wall.runs_s.size()) run.single.cpu = TimedRuns();
    results_.note_zeros(run.single.name, run.zero, run.all);
    if (run.all == 0 && run.mean_is_zero) results_.note_zeros(run.single.name, 1, 1);
    results_.add(std::move(run.all > 0 ? run.single : run.summary));
  }
  if (failed_ > 0) {
    results_.file().notes.push_back(fmt::format("{} runs that failed or were skipped are left out", failed_));
  }
  return results_.finish();
}

}  // namespace

Result<ResultFile> google_results(const Json& json, const std::string& source) {
  return GoogleResults(json, source).read();
}

}  // namespace perfcast::measure
