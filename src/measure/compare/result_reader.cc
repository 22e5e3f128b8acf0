#include "measure/compare/result_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/python_json.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostBenchmarks = 100'000;
constexpr int64_t kMostRuns = 1'000'000'000;  // of a mean
constexpr const char* kExpected =
    "hyperfine's JSON or CSV (--export-json, --export-csv), JSON of Google Benchmark (--benchmark_out), "
    "pytest-benchmark (--benchmark-json) or JMH (-rf json), or a profile of perfcast";

// "key=value" of each parameter that the benchmark's name doesn't have as a word.
class Parameters {
 public:
  explicit Parameters(std::string name) : name_(std::move(name)) {}
  void add(const std::string& key, const std::string& value) {
    for (size_t at = name_.find(value); !value.empty() && at != std::string::npos; at = name_.find(value, at + 1)) {
      if (!is_word(at - 1) && !is_word(at + value.size())) return;
    }
    missing_.push_back(key + "=" + value);
  }
  void add(const Json* object) {
    if (object == nullptr) return;
    for (const auto& [key, value] : object->items()) {
      if (!value.is_null()) add(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  std::string name() const {  // the same whatever order the file has them in
    std::vector<std::string> sorted = missing_;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? name_ : name_ + " (" + join(sorted, ", ") + ")";
  }

 private:
  bool is_word(size_t at) const {
    return at < name_.size() && (std::isalnum(static_cast<unsigned char>(name_[at])) != 0 || name_[at] == '.');
  }
  std::string name_;
  std::vector<std::string> missing_;
};

bool has_values(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_array() && !found->empty();
}

// Reads entries one by one and keeps every mistake.
class ResultReader {
 public:
  ResultReader(const Json& json, const std::string& source) : json_(json) { file_.path = source; }
  Result<ResultFile> hyperfine();
  Result<ResultFile> google_benchmark();
  Result<ResultFile> pytest_benchmark();
  Result<ResultFile> jmh();

 private:
  std::string at(const char* list, size_t i) const { return fmt::format("{}: {}[{}]", file_.path, list, i); }
  void take_complaints(const JsonReader& reader) {
    complaints_.insert(complaints_.end(), reader.complaints().begin(), reader.complaints().end());
  }
  // A list of times. Those of 0 are shorter than what the clock tells apart, and left out; below 0 is a mistake.
  std::vector<double> times(JsonReader& reader, const char* key, const std::string& name);
  void note_zeros(const std::string& name, size_t zeros, size_t all);
  // Mean and deviation where there are no single runs.
  void summarise(const std::string& name, JsonReader& reader, const char* mean, const char* deviation, int64_t count,
                 TimedRuns& runs);
  void add(BenchmarkRuns benchmark);
  Result<ResultFile> finish();
  // machine_info of pytest-benchmark, whose "cpu" is what py-cpuinfo found; what is of another kind says nothing.
  void take_python_host();
  void add_google_entry(const Json& entry, const std::string& path);

  const Json& json_;
  ResultFile file_;
  std::vector<std::string> complaints_;
  std::map<std::string, size_t> index_;  // by name
  // Google Benchmark: aggregates by the name of the run, used where there are no single runs of it.
  std::map<std::string, BenchmarkRuns> aggregates_;
  std::vector<std::string> aggregate_order_;
  std::map<std::string, std::vector<std::pair<int64_t, int64_t>>> places_;  // by name: families and instances
  struct Runs {
    size_t all = 0, zero = 0;
  };
  std::map<std::string, Runs> runs_of_;  // by name
  size_t failed_ = 0;
};

void ResultReader::note_zeros(const std::string& name, size_t zeros, size_t all) {
  if (zeros == 0) return;
  file_.notes.push_back(fmt::format("{}: {} of {} times are 0, less than the clock can tell, and are left out{}",
                                    printable(name), zeros, all, zeros == all ? ": nothing of it is compared" : ""));
}

std::vector<double> ResultReader::times(JsonReader& reader, const char* key, const std::string& name) {
  std::vector<double> values;
  const Json* list = reader.array(key);
  if (list == nullptr) return values;
  for (const Json& item : *list) {
    const double value = item.is_number() ? item.get<double>() : -1;
    if (!(value >= 0) || !std::isfinite(value)) {
      reader.complain(key, item.is_number() ? "a time below 0" : "what is no number", "times in seconds");
      return {};
    }
    if (value > 0) values.push_back(value);
  }
  note_zeros(name, list->size() - values.size(), list->size());
  return values;
}

void ResultReader::summarise(const std::string& name, JsonReader& reader, const char* mean, const char* deviation,
                             int64_t count, TimedRuns& runs) {
  runs.mean_s = reader.number(mean);
  runs.deviation_s = reader.optional_number(deviation).value_or(0);
  runs.count = std::clamp<int64_t>(count, 0, kMostRuns);
  if (runs.mean_s > 0 && runs.deviation_s >= 0) return;
  if (reader.complaints().empty()) {
    if (runs.mean_s == 0 && runs.deviation_s >= 0) {
      note_zeros(name, 1, 1);
    } else {
      reader.complain(mean, "no time above 0", "a mean above 0 and a deviation of 0 or more");
    }
  }
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
    const std::string why = file_.notes.empty() ? "" : ": " + join(file_.notes, "; ");
    return Error{"no-results", "there is no benchmark with times in it" + why, file_.path,
                 "results of at least one benchmark, with times above 0"};
  }
  return std::move(file_);
}

Result<ResultFile> ResultReader::hyperfine() {
  file_.tool = "hyperfine";
  const Json& list = json_.at("results");
  for (size_t i = 0; i < list.size(); ++i) {
    JsonReader reader(list[i], at("results", i));
    BenchmarkRuns benchmark;
    Parameters named(reader.string("command"));
    named.add(reader.object("parameters"));
    const auto user_s = reader.optional_number("user"), system_s = reader.optional_number("system"),
               mean_s = reader.optional_number("mean");
    if (user_s && mean_s && *mean_s > 0) benchmark.busy_cpus = (*user_s + system_s.value_or(0)) / *mean_s;
    benchmark.name = named.name();
    benchmark.wall.runs_s = times(reader, "times", benchmark.name);
    if (!has_values(list[i], "times") && reader.complaints().empty()) {
      // --export-json has single runs since 1.6; without, the number of runs is nowhere.
      summarise(benchmark.name, reader, "mean", "stddev", 1, benchmark.wall);
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
  std::string name = reader.string_or("run_name", own_name);
  // Benchmarks that are registered twice under a name differ in these alone.
  const std::pair place{reader.integer_or("family_index", -1), reader.integer_or("per_family_instance_index", -1)};
  std::vector<std::pair<int64_t, int64_t>>& places = places_[name];
  auto found = std::find(places.begin(), places.end(), place);
  if (found == places.end()) found = places.insert(places.end(), place);
  if (found != places.begin()) name += fmt::format(" #{}", found - places.begin() + 1);
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
  if (reader.complaints().empty() && type == "iteration" && !(wall >= 0))
    reader.complain("real_time", "a time below 0", "times");
  take_complaints(reader);
  if (!reader.complaints().empty() || unit == kUnits.end()) return;
  if (type == "iteration") {
    ++runs_of_[name].all;
    if (wall == 0) {
      ++runs_of_[name].zero;
      return;
    }
    if (!index_.contains(name)) {
      index_[name] = file_.benchmarks.size();
      file_.benchmarks.push_back({name, {}, {}});
    }
    BenchmarkRuns& benchmark = file_.benchmarks[index_[name]];
    // CPU time may be that of all threads, or of the first alone.
    benchmark.busy_cpus = std::max(static_cast<double>(reader.integer_or("threads", 1)), cpu / wall);
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
  if (json_.contains("context") && json_.at("context").is_object()) {
    // It writes no CPU's name, but what --benchmark_context=cpu_model=... gave.
    for (const char* key : {"cpu_model", "cpu_name", "cpu"}) {
      const auto found = json_.at("context").find(key);
      if (file_.host.name.empty() && found != json_.at("context").end() && found->is_string())
        file_.host.name = found->get<std::string>();
    }
  }
  const Json& list = json_.at("benchmarks");
  for (size_t i = 0; i < list.size(); ++i) add_google_entry(list[i], at("benchmarks", i));
  for (BenchmarkRuns& benchmark : file_.benchmarks) {
    // A run of no CPU time that the system counts leaves none to compare.
    if (benchmark.cpu.runs_s.size() != benchmark.wall.runs_s.size()) benchmark.cpu = TimedRuns();
  }
  for (const auto& [name, runs] : runs_of_) note_zeros(name, runs.zero, runs.all);
  for (const std::string& name : aggregate_order_) {
    if (!index_.contains(name) && !runs_of_.contains(name)) add(std::move(aggregates_[name]));
  }
  if (failed_ > 0) file_.notes.push_back(fmt::format("{} runs that failed or were skipped are left out", failed_));
  return finish();
}

void ResultReader::take_python_host() {
  const Json& machine = json_.at("machine_info");
  if (!machine.is_object()) return;
  const auto text_of = [](const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  HostFacts& host = file_.host;
  host.arch = arch_key(text_of(machine, "machine"));
  const auto cpu = machine.find("cpu");
  if (cpu == machine.end() || !cpu->is_object()) return;
  host.name = text_of(*cpu, "brand_raw");
  if (host.name.empty()) host.name = text_of(*cpu, "brand");  // before py-cpuinfo 6
  host.vendor = text_of(*cpu, "vendor_id_raw");
  if (host.vendor.empty()) host.vendor = text_of(*cpu, "vendor_id");
  const auto number_of = [&cpu](const char* key) -> std::optional<int64_t> {
    const auto found = cpu->find(key);
    if (found == cpu->end() || !found->is_number_integer()) return std::nullopt;
    return found->get<int64_t>();
  };
  host.cpu_family = number_of("family");
  host.model = number_of("model");
  host.stepping = number_of("stepping");
  host.logical_cpus = number_of("count");
  if (const auto flags = cpu->find("flags"); flags != cpu->end() && flags->is_array()) {
    for (const Json& flag : *flags) {
      if (flag.is_string()) host.cpu_flags.push_back(flag.get<std::string>());
    }
  }
}

Result<ResultFile> ResultReader::pytest_benchmark() {
  file_.tool = "pytest-benchmark";
  take_python_host();
  const Json& list = json_.at("benchmarks");
  for (size_t i = 0; i < list.size(); ++i) {
    JsonReader reader(list[i], at("benchmarks", i));
    BenchmarkRuns benchmark;
    benchmark.name = reader.string_or("fullname", reader.string_or("name", ""));
    if (benchmark.name.empty()) reader.complain("fullname", "nothing", "the name of a test");
    Parameters named(benchmark.name);
    named.add(reader.object("params"));
    benchmark.name = named.name();
    if (const Json* stats = reader.require_object("stats")) {
      JsonReader of(*stats, at("benchmarks", i) + ".stats");
      benchmark.wall.runs_s = times(of, "data", benchmark.name);
      if (!has_values(*stats, "data") && of.complaints().empty())
        summarise(benchmark.name, of, "mean", "stddev", of.integer_or("rounds", 1), benchmark.wall);
      take_complaints(of);
    }
    take_complaints(reader);
    add(std::move(benchmark));
  }
  return finish();
}

// "ns/op" and "ops/ms": seconds of the unit, and whether it is a rate.
struct JmhUnit {
  double seconds = 0;
  bool is_rate = false;
};
std::optional<JmhUnit> jmh_unit(const std::string& text) {
  static const std::map<std::string, double> kUnits = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3},  {"s", 1},
                                                       {"min", 60},  {"hr", 3600}, {"day", 86400}};
  const bool is_rate = text.starts_with("ops/");
  if (!is_rate && !text.ends_with("/op")) return std::nullopt;
  const auto unit = kUnits.find(is_rate ? text.substr(4) : text.substr(0, text.size() - 3));
  if (unit == kUnits.end()) return std::nullopt;
  return JmhUnit{unit->second, is_rate};
}

// Each iteration's time of an operation is a run: rawData has a list of them for each fork.
Result<ResultFile> ResultReader::jmh() {
  file_.tool = "JMH";
  std::map<std::string, std::set<std::string>> modes;
  for (const Json& entry : json_) {
    JsonReader reader(entry, file_.path);
    modes[reader.string_or("benchmark", "")].insert(reader.string_or("mode", ""));
  }
  for (size_t i = 0; i < json_.size(); ++i) {
    JsonReader reader(json_[i], fmt::format("{}: [{}]", file_.path, i));
    Parameters named(reader.string("benchmark"));
    named.add(reader.object("params"));
    const std::string mode = reader.string_or("mode", "");
    if (modes[reader.string_or("benchmark", "")].size() > 1) named.add("mode", mode);
    BenchmarkRuns benchmark;
    benchmark.busy_cpus = static_cast<double>(reader.integer_or("threads", 1));
    benchmark.name = named.name();
    if (const Json* metric = reader.require_object("primaryMetric")) {
      JsonReader of(*metric, reader.path("primaryMetric"));
      const std::string text = of.string("scoreUnit");
      const auto unit = jmh_unit(text);
      if (!unit && of.complaints().empty())
        of.complain("scoreUnit", "'" + printable(text) + "'", "such as ns/op, ops/s");
      std::vector<double> scores;
      size_t zeros = 0;
      const auto take = [&](const Json& value) {
        if (!value.is_number() || !(value.get<double>() >= 0)) {
          of.complain("rawData", "what is no time or rate", "numbers of 0 or more");
        } else if (value == 0) {
          ++zeros;
        } else {
          scores.push_back(value.get<double>());
        }
      };
      if (const Json* forks = of.array("rawData")) {
        for (const Json& fork : *forks) {
          if (!fork.is_array()) of.complain("rawData", "what is no list", "a list of numbers for each fork");
          for (const Json& value : fork) take(value);
        }
      }
      if (scores.empty() && zeros == 0) {  // sampled times have a histogram in its place
        const double score = of.number("score");
        if (of.complaints().empty()) take(score);
      }
      note_zeros(benchmark.name, zeros, zeros + scores.size());
      take_complaints(of);
      if (unit) {
        for (const double score : scores)
          benchmark.wall.runs_s.push_back(unit->is_rate ? unit->seconds / score : unit->seconds * score);
      }
    }
    take_complaints(reader);
    add(std::move(benchmark));
  }
  return finish();
}

bool is_list(const Json& json, const char* key) { return json.contains(key) && json.at(key).is_array(); }

Error unknown_format(const std::string& source) {
  return {"unknown-format", "these are no results of a benchmark that perfcast knows", source, kExpected};
}

Error too_many(const std::string& source) {
  return {"file-too-large", fmt::format("it has more than {} results", kMostBenchmarks), source, "fewer at a time"};
}

// Means of runs whose number the file doesn't have.
Result<ResultFile> hyperfine_csv(std::string_view text, const std::string& source) {
  const auto table = CsvTable::parse(text, source);
  if (!table) return table.error();
  if (table->rows() > kMostBenchmarks) return too_many(source);
  Json results = Json::array();
  for (size_t row = 0; row < table->rows(); ++row) {
    Json entry = Json::object();
    for (size_t i = 0; i < table->columns().size(); ++i) {
      const std::string& name = table->columns()[i];
      const std::string value(table->cell(row, i));
      if (name == "command") entry[name] = value;
      if (name.starts_with("parameter_")) entry["parameters"][name.substr(10)] = value;
      if (name != "mean" && name != "stddev") continue;
      const auto number = table->number(row, i);
      if (!number) return number.error();
      if (*number) entry[name] = **number;
    }
    results.push_back(std::move(entry));
  }
  const Json json{{"results", results}};
  return ResultReader(json, source).hyperfine();
}

Result<ResultFile> results_in(const Json& json, const std::string& source) {
  const Error unknown = unknown_format(source);
  if (json.is_array() && !json.empty() && json[0].is_object() && json[0].contains("primaryMetric")) {
    if (json.size() > kMostBenchmarks) return too_many(source);
    return ResultReader(json, source).jmh();
  }
  if (!json.is_object()) return unknown;
  const char* list = is_list(json, "results") ? "results" : "benchmarks";
  if (!is_list(json, list)) return unknown;
  if (json.at(list).size() > kMostBenchmarks) return too_many(source);
  // Many tools write a list of this name.
  const Json* first = json.at(list).empty() ? nullptr : &json.at(list)[0];
  const auto has = [&](const char* key) { return first == nullptr || (first->is_object() && first->contains(key)); };
  if (!has(list == std::string_view("results") ? "command" : "name") && !has("fullname")) return unknown;
  ResultReader reader(json, source);
  if (is_list(json, "results")) return reader.hyperfine();
  return json.contains("machine_info") ? reader.pytest_benchmark() : reader.google_benchmark();
}

}  // namespace

Result<ResultFile> parse_result_file(std::string_view text, const std::string& source) {
  std::string_view content = text;
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  if (content.starts_with(kHyperfineCsvStart)) return hyperfine_csv(content, source);
  if (trim(content).empty()) return Error{"no-results", "the file is empty", source, kExpected};
  if (!begins_as_json(content)) return unknown_format(source);
  const auto json = parse_python_json(content, source);  // counters may be NaN
  if (!json) return json.error();
  return results_in(*json, source);
}

bool begins_as_json(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace perfcast::measure
