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
#include "measure/compare/google_results.h"
#include "measure/compare/result_collector.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostBenchmarks = 100'000;
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

Result<ResultFile> hyperfine(const Json& json, const std::string& source) {
  ResultCollector results("hyperfine", source);
  const Json& list = json.at("results");
  for (size_t i = 0; i < list.size(); ++i) {
    JsonReader reader(list[i], results.at("results", i));
    BenchmarkRuns benchmark;
    Parameters named(reader.string("command"));
    named.add(reader.object("parameters"));
    const auto user_s = reader.optional_number("user"), system_s = reader.optional_number("system"),
               mean_s = reader.optional_number("mean");
    if (user_s && mean_s && *mean_s > 0) {
      const double busy_cpus = (*user_s + system_s.value_or(0)) / *mean_s;
      if (std::isfinite(busy_cpus)) benchmark.busy_cpus = busy_cpus;
    }
    benchmark.name = named.name();
    benchmark.wall.runs_s = results.times(reader, "times", benchmark.name);
    if (!has_values(list[i], "times") && reader.complaints().empty()) {
      // --export-json has single runs since 1.6; without, the number of runs is nowhere.
      results.summarise(benchmark.name, reader, "mean", "stddev", 1, benchmark.wall);
    }
    size_t failed = 0;
    if (const Json* codes = reader.array("exit_codes")) {
      for (const Json& code : *codes) failed += code.is_number_integer() && code == 0 ? 0 : 1;
    }
    if (failed > 0) {
      results.file().notes.push_back(
          fmt::format("{}: {} of its runs failed, and count as they are", printable(benchmark.name), failed));
    }
    results.take_complaints(reader);
    results.add(std::move(benchmark));
  }
  return results.finish();
}

// machine_info of pytest-benchmark, whose "cpu" is what py-cpuinfo found; what is of another kind says nothing.
HostFacts python_host(const Json& machine) {
  HostFacts host;
  if (!machine.is_object()) return host;
  const auto text_of = [](const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  host.arch = arch_key(text_of(machine, "machine"));
  const auto cpu = machine.find("cpu");
  if (cpu == machine.end() || !cpu->is_object()) return host;
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
  return host;
}

Result<ResultFile> pytest_benchmark(const Json& json, const std::string& source) {
  ResultCollector results("pytest-benchmark", source);
  results.file().host = python_host(json.at("machine_info"));
  const Json& list = json.at("benchmarks");
  for (size_t i = 0; i < list.size(); ++i) {
    JsonReader reader(list[i], results.at("benchmarks", i));
    BenchmarkRuns benchmark;
    benchmark.name = reader.string_or("fullname", reader.string_or("name", ""));
    if (benchmark.name.empty()) reader.complain("fullname", "nothing", "the name of a test");
    Parameters named(benchmark.name);
    named.add(reader.object("params"));
    benchmark.name = named.name();
    if (const Json* stats = reader.require_object("stats")) {
      JsonReader of(*stats, results.at("benchmarks", i) + ".stats");
      benchmark.wall.runs_s = results.times(of, "data", benchmark.name);
      if (!has_values(*stats, "data") && of.complaints().empty())
        results.summarise(benchmark.name, of, "mean", "stddev", of.integer_or("rounds", 1), benchmark.wall);
      results.take_complaints(of);
    }
    results.take_complaints(reader);
    results.add(std::move(benchmark));
  }
  return results.finish();
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

// An iteration's time or rate: a number, or of sampled times their mean over [time, how often] pairs. What ended
// without one is written as "NaN".
std::optional<double> jmh_score(const Json& value, JsonReader& reader) {
  double sum = 0, count = 0;
  const auto add = [&](const Json& score, const Json& times) {
    const bool is_sane = score.is_number() && score >= 0 && times.is_number() && times >= 0;
    if (!is_sane) reader.complain("rawData", "what is no time or rate", "numbers of 0 or more");
    if (!is_sane) return;
    sum += score.get<double>() * times.get<double>();
    count += times.get<double>();
  };
  if (value.is_string() && value == "NaN") return std::nullopt;
  if (!value.is_array()) add(value, 1);
  if (value.is_array()) {
    for (const Json& pair : value) {
      const bool is_pair = pair.is_array() && pair.size() == 2;
      add(is_pair ? pair[0] : Json(), is_pair ? pair[1] : Json());
    }
  }
  if (!(count > 0) || !std::isfinite(sum)) return std::nullopt;
  return sum / count;
}

// Each iteration's time of an operation is a run: rawData has a list of them for each fork.
void take_jmh_metric(const Json& metric, const std::string& path, ResultCollector& results, BenchmarkRuns& benchmark) {
  JsonReader reader(metric, path);
  const std::string text = reader.string("scoreUnit");
  const auto unit = jmh_unit(text);
  if (!unit && reader.complaints().empty())
    reader.complain("scoreUnit", "'" + printable(text) + "'", "such as ns/op, ops/s");
  std::vector<double> times_s;
  size_t zeros = 0, missing = 0;
  const auto take = [&](const Json& value) {
    const auto score = jmh_score(value, reader);
    const bool is_zero = score && *score == 0, is_rate = unit && unit->is_rate;
    const double unit_s = unit ? unit->seconds : 1;
    const double time_s = !score || is_zero ? 0 : is_rate ? unit_s / *score : unit_s * *score;
    if (!score || !std::isfinite(time_s)) {
      ++missing;
    } else if (time_s > 0) {
      times_s.push_back(time_s);
    } else {
      ++zeros;
    }
  };
  for (const char* key : {"rawData", "rawDataHistogram"}) {
    const Json* forks = reader.array(key);
    for (size_t i = 0; forks != nullptr && i < forks->size(); ++i) {
      const Json& fork = (*forks)[i];
      if (!fork.is_array()) reader.complain(key, "what is no list", "a list of numbers for each fork");
      for (const Json& value : fork) take(value);
    }
  }
  if (times_s.empty() && zeros + missing == 0) {
    const Json* score = reader.member("score");
    if (score == nullptr) reader.complain("score", "nothing", "a number");
    if (score != nullptr) take(*score);
  }
  results.note_zeros(benchmark.name, zeros, zeros + times_s.size());
  if (missing > 0 && reader.complaints().empty()) {
    results.file().notes.push_back(
        fmt::format("{}: {} of its iterations have no result and are left out", printable(benchmark.name), missing));
  }
  results.take_complaints(reader);
  benchmark.wall.runs_s = std::move(times_s);
}

Result<ResultFile> jmh(const Json& json, const std::string& source) {
  ResultCollector results("JMH", source);
  std::map<std::string, std::set<std::string>> modes;
  for (const Json& entry : json) {
    JsonReader reader(entry, source);
    modes[reader.string_or("benchmark", "")].insert(reader.string_or("mode", ""));
  }
  for (size_t i = 0; i < json.size(); ++i) {
    JsonReader reader(json[i], results.at("", i));
    Parameters named(reader.string("benchmark"));
    named.add(reader.object("params"));
    const std::string mode = reader.string_or("mode", "");
    if (modes[reader.string_or("benchmark", "")].size() > 1) named.add("mode", mode);
    BenchmarkRuns benchmark;
    benchmark.busy_cpus = static_cast<double>(reader.integer_or("threads", 1));
    benchmark.name = named.name();
    if (const Json* metric = reader.require_object("primaryMetric"))
      take_jmh_metric(*metric, reader.path("primaryMetric"), results, benchmark);
    results.take_complaints(reader);
    results.add(std::move(benchmark));
  }
  return results.finish();
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
  // Behind commas as hyperfine writes it; otherwise a spreadsheet has saved it in a form of its own.
  const auto table =
      text.starts_with("command,") ? CsvTable::parse(text, source) : CsvTable::parse_any_form(text, source);
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
      if (name != "mean" && name != "stddev" && name != "user" && name != "system") continue;
      const auto number = table->number(row, i);
      if (!number) return number.error();
      if (*number) entry[name] = **number;
    }
    results.push_back(std::move(entry));
  }
  const Json json{{"results", results}};
  auto file = hyperfine(json, source);
  if (file && !table->form().empty()) file->notes.push_back("the table was read with " + table->form());
  return file;
}

Result<ResultFile> results_in(const Json& json, const std::string& source) {
  const Error unknown = unknown_format(source);
  if (json.is_array() && !json.empty() && json[0].is_object() && json[0].contains("primaryMetric")) {
    if (json.size() > kMostBenchmarks) return too_many(source);
    return jmh(json, source);
  }
  if (!json.is_object()) return unknown;
  const char* list = is_list(json, "results") ? "results" : "benchmarks";
  if (!is_list(json, list)) return unknown;
  if (json.at(list).size() > kMostBenchmarks) return too_many(source);
  // Many tools write a list of this name.
  const Json* first = json.at(list).empty() ? nullptr : &json.at(list)[0];
  const auto has = [&](const char* key) { return first == nullptr || (first->is_object() && first->contains(key)); };
  if (!has(list == std::string_view("results") ? "command" : "name") && !has("fullname")) return unknown;
  if (is_list(json, "results")) return hyperfine(json, source);
  return json.contains("machine_info") ? pytest_benchmark(json, source) : google_results(json, source);
}

}  // namespace

Result<ResultFile> parse_result_file(std::string_view text, const std::string& source) {
  std::string_view content = text;
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  if (begins_as_hyperfine_csv(content)) return hyperfine_csv(content, source);
  if (trim(content).empty()) return Error{"no-results", "the file is empty", source, kExpected};
  if (!begins_as_json(content)) return unknown_format(source);
  const auto json = parse_python_json(content, source);  // counters may be NaN
  if (!json) return json.error();
  return results_in(*json, source);
}

bool begins_as_hyperfine_csv(std::string_view text) {
  for (const char separator : {',', ';', '\t', '|'}) {
    for (const char* const quote : {"", "\""}) {
      if (text.starts_with(fmt::format("{0}command{0}{1}{0}mean{0}{1}", quote, separator))) return true;
    }
  }
  return false;
}

bool begins_as_json(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace perfcast::measure
