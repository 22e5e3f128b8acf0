#include "measure/compare/result_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr size_t kFileLimitBytes = size_t{256} << 20;
constexpr size_t kMostBenchmarks = 100'000;
constexpr int64_t kMostRuns = 1'000'000'000;  // of a mean
// What counts of a command repeat within from one machine to another, under the same instrumenter.
constexpr double kRecordedRepeats = 1e-3;
constexpr const char* kExpected =
    "JSON of hyperfine (--export-json), Google Benchmark (--benchmark_out) or pytest-benchmark (--benchmark-json), or "
    "a "
    "profile of perfcast";

// Reads entries one by one and keeps every mistake.
class ResultReader {
 public:
  ResultReader(const Json& json, const std::string& source) : json_(json) { file_.path = source; }
  Result<ResultFile> hyperfine();
  Result<ResultFile> google_benchmark();
  Result<ResultFile> pytest_benchmark();

 private:
  std::string at(const char* list, size_t i) const { return fmt::format("{}: {}[{}]", file_.path, list, i); }
  void take_complaints(const JsonReader& reader) {
    complaints_.insert(complaints_.end(), reader.complaints().begin(), reader.complaints().end());
  }
  // A list of times; single ones that aren't above 0 are a mistake of the file.
  std::vector<double> times(JsonReader& reader, const char* key);
  // Mean and deviation where there are no single runs.
  static void summarise(JsonReader& reader, const char* mean, const char* deviation, int64_t count, TimedRuns& runs);
  void add(BenchmarkRuns benchmark);
  Result<ResultFile> finish();
  void add_google_entry(const Json& entry, const std::string& path);

  const Json& json_;
  ResultFile file_;
  std::vector<std::string> complaints_;
  std::map<std::string, size_t> index_;  // by name
  // Google Benchmark: aggregates by the name of the run, used where there are no single runs of it.
  std::map<std::string, BenchmarkRuns> aggregates_;
  std::vector<std::string> aggregate_order_;
  size_t failed_ = 0;
};

std::vector<double> ResultReader::times(JsonReader& reader, const char* key) {
  std::vector<double> values;
  const Json* list = reader.array(key);
  if (list == nullptr) return values;
  for (const Json& item : *list) {
    const double value = item.is_number() ? item.get<double>() : 0;
    if (!(value > 0) || !std::isfinite(value)) {
      reader.complain(key, item.is_number() ? "a time that isn't above 0" : "what is no number",
                      "times in seconds, above 0");
      return {};
    }
    values.push_back(value);
  }
  return values;
}

void ResultReader::summarise(JsonReader& reader, const char* mean, const char* deviation, int64_t count,
                             TimedRuns& runs) {
  runs.mean_s = reader.number(mean);
  runs.deviation_s = reader.optional_number(deviation).value_or(0);
  runs.count = std::clamp<int64_t>(count, 0, kMostRuns);
  if (runs.mean_s > 0 && runs.deviation_s >= 0) return;
  if (reader.complaints().empty())
    reader.complain(mean, "no time above 0", "a mean above 0 and a deviation of 0 or more");
  runs = TimedRuns();
}

void ResultReader::add(BenchmarkRuns benchmark) {
  if (!benchmark.wall.is_known() && !benchmark.cpu.is_known()) return;
  const std::string name = benchmark.name;
  for (int n = 2; index_.contains(benchmark.name); ++n) benchmark.name = fmt::format("{} #{}", name, n);
  index_[benchmark.name] = file_.benchmarks.size();
  file_.benchmarks.push_back(std::move(benchmark));
}

Result<ResultFile> ResultReader::finish() {
  if (!complaints_.empty()) {
    constexpr size_t kShown = 5;
    std::vector<std::string> shown(complaints_.begin(),
                                   complaints_.begin() + static_cast<ptrdiff_t>(std::min(kShown, complaints_.size())));
    std::string text = join(shown, "; ");
    if (complaints_.size() > kShown) text += fmt::format("; and {} more", complaints_.size() - kShown);
    return Error{"bad-json-field", text, file_.path, "the file as " + file_.tool + " wrote it"};
  }
  if (file_.benchmarks.empty()) {
    return Error{"no-results", "there is no benchmark with times in it", file_.path,
                 "results of at least one benchmark"};
  }
  return std::move(file_);
}

Result<ResultFile> ResultReader::hyperfine() {
  file_.tool = "hyperfine";
  const Json& list = json_.at("results");
  for (size_t i = 0; i < list.size(); ++i) {
    JsonReader reader(list[i], at("results", i));
    BenchmarkRuns benchmark;
    benchmark.name = reader.string("command");
    benchmark.wall.runs_s = times(reader, "times");
    if (benchmark.wall.runs_s.empty() && reader.complaints().empty()) {
      // --export-json has single runs since 1.6; without, the number of runs is nowhere.
      summarise(reader, "mean", "stddev", 1, benchmark.wall);
    }
    size_t failed = 0;
    if (const Json* codes = reader.array("exit_codes")) {
      for (const Json& code : *codes) failed += code.is_number_integer() && code == 0 ? 0 : 1;
    }
    if (failed > 0) {
      file_.notes.push_back(
          fmt::format("{}: {} of its runs failed, and count as they are", printable(benchmark.name), failed));
    }
    take_complaints(reader);
    add(std::move(benchmark));
  }
  return finish();
}

void ResultReader::add_google_entry(const Json& entry, const std::string& path) {
  JsonReader reader(entry, path);
  const std::string own_name = reader.string("name");
  const std::string name = reader.string_or("run_name", own_name);
  const std::string type = reader.string_or("run_type", "iteration");
  if (reader.boolean_or("error_occurred", false) || entry.contains("skipped")) {
    ++failed_;
    return;
  }
  const std::string aggregate = reader.string_or("aggregate_name", "");
  const bool is_used = type == "iteration" || aggregate == "mean" || aggregate == "stddev";
  if (!is_used || reader.string_or("aggregate_unit", "time") != "time") return;
  static const std::map<std::string, double> kUnits = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  const std::string unit_name = reader.string_or("time_unit", "ns");
  const auto unit = kUnits.find(unit_name);
  if (unit == kUnits.end()) reader.complain("time_unit", "'" + printable(unit_name) + "'", "ns, us, ms or s");
  const double wall = reader.number("real_time"), cpu = reader.number("cpu_time");
  if (reader.complaints().empty() && type == "iteration" && !(wall > 0))
    reader.complain("real_time", "no time above 0", "times above 0");
  take_complaints(reader);
  if (!reader.complaints().empty() || unit == kUnits.end()) return;
  if (type == "iteration") {
    if (!index_.contains(name)) {
      index_[name] = file_.benchmarks.size();
      file_.benchmarks.push_back({name, {}, {}});
    }
    BenchmarkRuns& benchmark = file_.benchmarks[index_[name]];
    benchmark.wall.runs_s.push_back(wall * unit->second);
    if (cpu > 0) benchmark.cpu.runs_s.push_back(cpu * unit->second);
    return;
  }
  if (!aggregates_.contains(name)) aggregate_order_.push_back(name);
  BenchmarkRuns& of = aggregates_[name];
  of.name = name;
  const int64_t count = std::clamp<int64_t>(reader.integer_or("repetitions", 1), 1, kMostRuns);
  for (auto [runs, time] : {std::pair{&of.wall, wall}, {&of.cpu, cpu}}) {
    if (!(time >= 0)) continue;
    (aggregate == "mean" ? runs->mean_s : runs->deviation_s) = time * unit->second;
    if (aggregate == "mean" && time > 0) runs->count = count;
  }
}

Result<ResultFile> ResultReader::google_benchmark() {
  file_.tool = "Google Benchmark";
  const Json& list = json_.at("benchmarks");
  for (size_t i = 0; i < list.size(); ++i) add_google_entry(list[i], at("benchmarks", i));
  for (BenchmarkRuns& benchmark : file_.benchmarks) {
    // A run of no CPU time that the system counts leaves none to compare.
    if (benchmark.cpu.runs_s.size() != benchmark.wall.runs_s.size()) benchmark.cpu = TimedRuns();
  }
  for (const std::string& name : aggregate_order_) {
    if (!index_.contains(name)) add(std::move(aggregates_[name]));
  }
  if (failed_ > 0) file_.notes.push_back(fmt::format("{} runs that failed or were skipped are left out", failed_));
  return finish();
}

Result<ResultFile> ResultReader::pytest_benchmark() {
  file_.tool = "pytest-benchmark";
  const Json& list = json_.at("benchmarks");
  for (size_t i = 0; i < list.size(); ++i) {
    JsonReader reader(list[i], at("benchmarks", i));
    BenchmarkRuns benchmark;
    benchmark.name = reader.string_or("fullname", reader.string_or("name", ""));
    if (benchmark.name.empty()) reader.complain("fullname", "nothing", "the name of a test");
    if (const Json* stats = reader.require_object("stats")) {
      JsonReader of(*stats, at("benchmarks", i) + ".stats");
      benchmark.wall.runs_s = times(of, "data");
      if (benchmark.wall.runs_s.empty() && of.complaints().empty())
        summarise(of, "mean", "stddev", of.integer_or("rounds", 1), benchmark.wall);
      take_complaints(of);
    }
    take_complaints(reader);
    add(std::move(benchmark));
  }
  return finish();
}

bool is_list(const Json& json, const char* key) { return json.contains(key) && json.at(key).is_array(); }

std::string schema_of(const Json& json) {
  const auto schema = json.is_object() ? json.find("schema") : json.end();
  return json.is_object() && schema != json.end() && schema->is_string() ? schema->get<std::string>() : "";
}

// What B did, and how far its counts repeated.
Result<WorkCounts> counts_of_comparison(const Json& json, const std::string& source) {
  WorkCounts counted;
  counted.repeats_within = kRecordedRepeats;
  JsonReader reader(json, source);
  if (reader.string("schema") != "perfcast.comparison/1") {
    return Error{"future-version", "it is of another version: " + schema_of(json), source, "perfcast.comparison/1"};
  }
  const Json* b = reader.require_object("b");
  const Json* counts = b == nullptr ? nullptr : JsonReader(*b, source + ": b").object("counts");
  if (b != nullptr && counts == nullptr) {
    return Error{"no-counts", "the comparison has no counts of B", source,
                 "one that counted: --measure instructions --json"};
  }
  if (counts != nullptr) {
    JsonReader values(*counts, source + ": b.counts");
    for (const auto& [metric, value] : counts->items()) {
      const double count = values.number(metric);
      if (count < 0) values.complain(metric, "a count below 0", "0 or more");
      counted.counts[metric] = count;
    }
    if (!counted.counts.contains("instructions_count")) values.complain("instructions_count", "nothing", "a count");
    if (Status read = values.finish(); !read) return read.error();
  }
  if (Status read = reader.finish(); !read) return read.error();
  return counted;
}

// The standard deviation of a normal sample is its range over this (Tippett 1925), for 2 to 10 values.
double deviation_of_spread(double spread, int64_t count) {
  constexpr double kRanges[] = {1.128, 1.693, 2.059, 2.326, 2.534, 2.704, 2.847, 2.970, 3.078};
  const auto i = static_cast<size_t>(std::clamp<int64_t>(count, 2, 10) - 2);
  return spread / kRanges[i];
}

Result<ResultFile> results_in(const Json& json, const std::string& source) {
  const Error unknown{"unknown-format", "these are no results of a benchmark that perfcast knows", source, kExpected};
  if (!json.is_object()) return unknown;
  const char* list = is_list(json, "results") ? "results" : "benchmarks";
  if (!is_list(json, list)) return unknown;
  if (json.at(list).size() > kMostBenchmarks) {
    return Error{"file-too-large", fmt::format("it has more than {} results", kMostBenchmarks), source,
                 "fewer at a time"};
  }
  ResultReader reader(json, source);
  if (is_list(json, "results")) return reader.hyperfine();
  return json.contains("machine_info") ? reader.pytest_benchmark() : reader.google_benchmark();
}

}  // namespace

Result<ResultFile> parse_result_file(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  return results_in(*json, source);
}

ResultFile result_file_of(const Profile& profile, const std::string& source) {
  ResultFile file;
  file.tool = "perfcast";
  file.path = source;
  const auto value_of = [&](const char* name) {
    const auto found = profile.metrics.find(name);
    return found == profile.metrics.end() ? 0 : found->second;
  };
  BenchmarkRuns benchmark{profile.program, {}, {}};
  const double runs = std::clamp(value_of("native_runs_count"), 1.0, 1e6);
  const auto take = [&](TimedRuns& of, const char* time, const char* spread) {
    of.mean_s = value_of(time);
    if (!(of.mean_s > 0)) return;
    of.count = static_cast<int64_t>(runs);
    of.deviation_s = deviation_of_spread(value_of(spread) * of.mean_s, of.count);
  };
  take(benchmark.wall, "wall_s", "wall_spread_ratio");
  take(benchmark.cpu, "cpu_s", "cpu_spread_ratio");
  if (benchmark.wall.is_known()) file.benchmarks.push_back(std::move(benchmark));
  return file;
}

Result<ComparedFile> read_compared_file(const std::string& path) {
  const auto text = read_file(path, kFileLimitBytes);
  if (!text) return text.error();
  ComparedFile file;
  const auto json = parse_json(*text, path);
  if (!json) return json.error();
  const std::string schema = schema_of(*json);
  if (schema.starts_with("perfcast.comparison/")) {
    auto counts = counts_of_comparison(*json, path);
    if (!counts) return counts.error();
    file.counts = std::move(*counts);
    file.results.path = path;
    return file;
  }
  if (schema.starts_with("perfcast.profile/")) {
    auto profile = profile_from_json(*json, path);
    if (!profile) return profile.error();
    file.results = result_file_of(*profile, path);
    file.profile = std::move(*profile);
    return file;
  }
  auto results = results_in(*json, path);
  if (!results) return results.error();
  file.results = std::move(*results);
  return file;
}

bool is_compared_file(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) return false;
  std::ifstream in(path, std::ios::binary);
  char first = 0;
  while (in.get(first) && (first == ' ' || first == '\n' || first == '\r' || first == '\t')) {
  }
  return in && (first == '{' || first == '\x1f');
}

}  // namespace perfcast::measure
