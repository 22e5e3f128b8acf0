#include "program/corpus/importers/openbenchmarking_importer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "base/table_row.h"
#include "base/text.h"
#include "program/corpus/importers/exclusion_counter.h"
#include "program/corpus/importers/imported_columns.h"
#include "program/corpus/importers/openbenchmarking_cpus.h"
#include "program/corpus/importers/sparecores_importer.h"

namespace perfcast::program {
namespace {

constexpr const char* kOpenbenchmarkingSet = "openbenchmarking";
constexpr const char* kApplications = "apps";
constexpr double kLooseMatch = 8;  // percentile points: from here on a test's configuration is identified loosely
constexpr double kUnsteadySpread = 0.5;
constexpr double kMostResults = 1e9;

// What a test's numbers mean.
struct TestUnit {
  bool is_time = false;
  double factor = 1;      // to seconds; of rates: seconds in what they are per
  std::string work_unit;  // that the time is of
};

TestUnit parse_unit(std::string_view text) {
  // "Encode Time - Seconds"
  const size_t dash = text.rfind(" - ");
  const std::string unit(trim(dash == std::string_view::npos ? text : text.substr(dash + 3)));
  const std::string key = lower_case(unit);
  constexpr std::pair<std::string_view, double> kTimes[] = {{"s", 1},
                                                            {"sec", 1},
                                                            {"second", 1},
                                                            {"seconds", 1},
                                                            {"ms", 1e-3},
                                                            {"msec", 1e-3},
                                                            {"milliseconds", 1e-3},
                                                            {"milli-seconds", 1e-3},
                                                            {"us", 1e-6},
                                                            {"microseconds", 1e-6},
                                                            {"ns", 1e-9},
                                                            {"nanoseconds", 1e-9},
                                                            {"minutes", 60},
                                                            {"hours", 3600}};
  for (const auto& [name, factor] : kTimes) {
    if (key == name) return {true, factor, "run"};
  }
  constexpr std::pair<std::string_view, double> kRates[] = {{"/s", 1},          {"/sec", 1},     {"/second", 1},
                                                            {" per second", 1}, {"/minute", 60}, {" per minute", 60}};
  for (const auto& [end, factor] : kRates) {
    if (key.size() > end.size() && key.ends_with(end)) {
      return {false, factor, std::string(trim(std::string_view(unit).substr(0, unit.size() - end.size())))};
    }
  }
  return {false, 1, unit};
}

// Names end up in JSON and on terminals.
bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80                   ? 1
                          : lead >= 0xc2 && lead < 0xe0 ? 2
                          : lead >= 0xe0 && lead < 0xf0 ? 3
                          : lead >= 0xf0 && lead < 0xf5 ? 4
                                                        : 0;
    if (length == 0 || i + length > text.size()) return false;
    uint32_t point = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (size_t k = 1; k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if ((byte & 0xc0) != 0x80) return false;
      point = point << 6 | (byte & 0x3fu);
    }
    const bool is_surrogate = point >= 0xd800 && point < 0xe000;
    if (is_surrogate || point > 0x10ffff || (length == 3 && point < 0x800) || (length == 4 && point < 0x10000)) {
      return false;
    }
    i += length;
  }
  return true;
}

std::string id_of_test(const std::string& test) {
  std::string_view name = test;
  for (const std::string_view prefix : {"pts-", "system-"}) {
    if (!name.starts_with(prefix) || name.size() == prefix.size()) continue;
    name.remove_prefix(prefix.size());
    break;
  }
  return id_segment(name);
}

struct Test {
  std::vector<Program> programs;  // all that the suite says it stands for
  TestUnit unit;
  bool larger_is_better = false;
};

class OpenbenchmarkingImport {
 public:
  OpenbenchmarkingImport(const OpenbenchmarkingText& text, const ProgramCatalogue& catalogue)
      : text_(text), catalogue_(catalogue) {}
  Result<Import> run();

 private:
  Status read_tests(const CsvTable& results);
  void add_test(const TableRow& row, const std::string& name, const std::set<std::string>& directions);
  std::vector<Program> programs_of(const std::string& test, const TestUnit& unit) const;
  void read_results(const CsvTable& results);
  void add_run(const TableRow& row, const Test& test, const std::string& host_name);

  const OpenbenchmarkingText& text_;
  const ProgramCatalogue& catalogue_;
  std::string source_;
  OpenbenchmarkingCpus cpus_;
  std::map<std::string, Test> tests_;                              // by name
  std::set<std::string> left_out_;                                 // tests of tests.csv
  std::set<std::string> program_ids_;                              // of tests_
  std::set<std::string> platforms_, used_;                         // ids; of programs with runs
  std::set<std::string> unlisted_;                                 // hosts that cpus.csv lacks
  std::set<std::tuple<std::string, std::string, int64_t>> cells_;  // program, platform, sockets
  ExclusionCounter exclusions_;
  Import result_;
};

// A catalogue names a test by its label, or by the id that it has without one.
std::vector<Program> OpenbenchmarkingImport::programs_of(const std::string& test, const TestUnit& unit) const {
  std::string name = id_of_test(test);
  if (program_ids_.contains(std::string(kApplications) + "." + name))
    name = id_segment(test);  // "pts-x" and "system-x"
  std::vector<std::string> ids = catalogue_.ids_of_label(test);
  if (ids.empty()) ids = {std::string(kApplications) + "." + name};
  std::vector<Program> programs;
  for (const std::string& id : ids) {
    Program& program = programs.emplace_back(catalogue_.describe(id, source_));
    if (catalogue_.find(id) == nullptr) {
      program.family = name;
      program.group = "application";
      program.suite = kApplications;
    }
    if (program.work_unit.empty()) program.work_unit = unit.work_unit;
  }
  return programs;
}

void OpenbenchmarkingImport::add_test(const TableRow& row, const std::string& name,
                                      const std::set<std::string>& directions) {
  const std::string unit_text = row.text("unit");
  const auto leave_out = [&](const std::string& reason) {
    exclusions_.add("test", printable(name) + ": " + reason);
    left_out_.insert(name);
  };
  if (directions.empty()) return leave_out("no result says whether larger is better");
  if (directions.size() > 1) return leave_out("its results disagree on whether larger is better");
  if (unit_text.empty()) return leave_out("its unit is not stated");
  Test test;
  test.unit = parse_unit(unit_text);
  test.larger_is_better = *directions.begin() == "1";
  if (test.larger_is_better == test.unit.is_time) {
    return leave_out(test.unit.is_time ? "larger is better, but its unit is a time: '" + printable(unit_text) + "'"
                                       : "smaller is better, but its unit is no time: '" + printable(unit_text) + "'");
  }
  test.programs = programs_of(name, test.unit);
  for (const Program& program : test.programs) {
    if (program_ids_.contains(program.id)) return leave_out("another test has its program id");
  }
  for (const Program& program : test.programs) program_ids_.insert(program.id);
  if (const auto match = row.number("match_err"); match && *match >= kLooseMatch) {
    exclusions_.add("test", "kept, but its configuration is identified loosely: right only if it has a single one");
  }
  tests_.emplace(name, std::move(test));
}

Status OpenbenchmarkingImport::read_tests(const CsvTable& results) {
  const auto table = CsvTable::parse(text_.tests_csv, text_.folder + "/tests.csv");
  if (!table) return table.error();
  for (const char* required : {"test", "unit"}) {
    if (const auto column = table->column(required); !column) return column.error();
  }
  std::map<std::string, std::set<std::string>> directions;
  for (size_t i = 0; i < results.rows(); ++i) {
    const TableRow row(results, i);
    const auto direction = row.number("higher_is_better");
    if (direction == 0.0 || direction == 1.0) directions[row.text("test")].insert(direction == 1.0 ? "1" : "0");
  }
  for (size_t i = 0; i < table->rows(); ++i) {
    const TableRow row(*table, i);
    const std::string name = row.text("test");
    if (name.empty() || !is_utf8(name) || !is_utf8(row.text("unit"))) {
      exclusions_.add("test", name.empty() ? "without a name" : "its name or unit is no UTF-8");
      if (!name.empty()) left_out_.insert(name);
    } else if (tests_.contains(name) || left_out_.contains(name)) {
      exclusions_.add("test", "named twice: the first row stays");
    } else {
      add_test(row, name, directions[name]);
    }
  }
  return {};
}

void OpenbenchmarkingImport::add_run(const TableRow& row, const Test& test, const std::string& host_name) {
  const auto left_out = [&](const std::string& reason) { exclusions_.add("result", reason); };
  const HostName name = parse_host_name(host_name);
  if (!is_utf8(host_name)) return left_out("the name of its CPU is no UTF-8");
  if (name.cpu.empty()) return left_out("without a CPU");
  if (hides_cpu_model(name.cpu)) return left_out("the name of its CPU hides the model");
  const auto direction = row.number("higher_is_better");
  if (direction != (test.larger_is_better ? 1.0 : 0.0)) return left_out("it does not say whether larger is better");
  const auto value = positive_number(row.text("perf_mean"), "result", exclusions_);
  if (!value) return;
  const double time_s = test.unit.is_time ? *value * test.unit.factor : test.unit.factor / *value;
  if (!std::isfinite(time_s) || !(time_s > 0)) return left_out("no finite time");
  Platform platform = cpus_.platform_of(name.cpu, source_);
  if (platform.id.empty()) return left_out("without a CPU");
  if (!cells_.emplace(test.programs[0].id, platform.id, name.sockets).second) {
    return left_out("a second one for the same test, CPU and number of sockets: the first stays");
  }
  if (!cpus_.knows(host_name)) unlisted_.insert(host_name);

  Run run{"",     platform.id, std::string(kOpenbenchmarkingSet) + "/" + std::to_string(name.sockets) + "-socket",
          1,      time_s,      std::nullopt,
          source_};
  const auto count = row.number("n_results");
  const bool is_count = count && *count >= 1 && *count <= kMostResults && *count == std::floor(*count);
  if (!is_count) exclusions_.add("result", "kept as one: the number that it is the mean of is blank or no count");
  run.results_count = is_count ? static_cast<int64_t>(*count) : 1;
  const std::string deviation_text = row.text("perf_sd");
  const auto deviation = parse_number(deviation_text);
  if (deviation && *deviation >= 0 && std::isfinite(*deviation / *value)) {
    run.spread_ratio = *deviation / *value;
    if (*run.spread_ratio > kUnsteadySpread) {
      exclusions_.add("result", "kept, but unsteady: its deviation is more than half of its mean");
    }
  } else {
    exclusions_.add("result", deviation_text.empty() ? "kept, but without a deviation"
                                                     : "kept, but its deviation is no number of 0 or more");
  }
  for (const Program& program : test.programs) {
    run.program = program.id;
    result_.corpus.runs.push_back(run);
    used_.insert(program.id);
  }
  if (platforms_.insert(platform.id).second) result_.corpus.platforms.push_back(std::move(platform));
}

void OpenbenchmarkingImport::read_results(const CsvTable& results) {
  for (size_t i = 0; i < results.rows(); ++i) {
    const TableRow row(results, i);
    const std::string name = row.text("test");
    const auto test = tests_.find(name);
    if (test != tests_.end()) {
      add_run(row, test->second, row.text("cpu"));
    } else if (name.empty()) {
      exclusions_.add("result", "without a test");
    } else {
      exclusions_.add("result",
                      left_out_.contains(name) ? "of a test that was left out" : "of a test that tests.csv lacks");
    }
  }
}

Result<Import> OpenbenchmarkingImport::run() {
  source_ = versioned_source(kOpenbenchmarkingSet, text_.note);
  result_.report.format = kOpenbenchmarkingSet;
  result_.corpus.sources = {{source_, "https://openbenchmarking.org",
                             "none stated: credit OpenBenchmarking.org and its users", text_.note.retrieved_utc,
                             "Results that users of the Phoronix Test Suite gave to OpenBenchmarking.org: means over "
                             "their machines. Times of rates and scores are 1 / value."}};
  const auto results = CsvTable::parse(text_.results_csv, text_.folder + "/results.csv");
  if (!results) return results.error();
  for (const char* required : {"test", "cpu", "perf_mean", "perf_sd", "n_results", "higher_is_better"}) {
    if (const auto column = results->column(required); !column) return column.error();
  }
  const auto hosts = CsvTable::parse(text_.cpus_csv, text_.folder + "/cpus.csv");
  if (!hosts) return hosts.error();
  auto cpus = OpenbenchmarkingCpus::read(*hosts, exclusions_);
  if (!cpus) return cpus.error();
  cpus_ = std::move(*cpus);
  if (const Status status = read_tests(*results); !status) return status.error();
  read_results(*results);
  Corpus& corpus = result_.corpus;
  if (corpus.runs.empty()) {
    std::string why;
    for (const Exclusion& exclusion : exclusions_.take(source_)) {
      if (why.size() < 400)
        why += "; " + std::to_string(exclusion.count) + " " + exclusion.subject + ": " + exclusion.reason;
    }
    return Error{"no-rows", "no result is left" + why, text_.folder + "/results.csv",
                 "results above 0 of tests whose unit and direction are stated"};
  }
  for (auto& [name, test] : tests_) {
    if (used_.contains(test.programs[0].id)) {
      for (Program& program : test.programs) corpus.programs.push_back(std::move(program));
    } else {
      exclusions_.add("test", printable(name) + ": no result is left");
    }
  }
  if (!unlisted_.empty()) {
    exclusions_.add("host", "kept, but without facts: cpus.csv lacks it", static_cast<int64_t>(unlisted_.size()));
  }
  std::sort(corpus.platforms.begin(), corpus.platforms.end(),
            [](const Platform& a, const Platform& b) { return a.id < b.id; });
  make_platform_names_unique(corpus.platforms);
  corpus.exclusions = exclusions_.take(source_);
  return std::move(result_);
}

}  // namespace

Result<Import> import_openbenchmarking(const OpenbenchmarkingText& text, const ProgramCatalogue& catalogue) {
  return OpenbenchmarkingImport(text, catalogue).run();
}

Result<Import> import_openbenchmarking_folder(const std::string& path, const ProgramCatalogue& catalogue) {
  OpenbenchmarkingText text;
  text.folder = path;
  const std::pair<const char*, std::string*> files[] = {
      {"tests.csv", &text.tests_csv}, {"results.csv", &text.results_csv}, {"cpus.csv", &text.cpus_csv}};
  for (const auto& [name, content] : files) {
    std::error_code ignored;
    std::string file = path + "/" + name;
    if (!std::filesystem::exists(file, ignored)) file += ".gz";
    if (!std::filesystem::exists(file, ignored)) {
      return Error{"file-not-found", "the folder lacks this file", path + "/" + name,
                   "a folder with tests.csv, results.csv and cpus.csv, or those with .gz behind"};
    }
    auto read = read_file(file, kMaximumTableBytes);
    if (!read) return read.error();
    *content = std::move(*read);
  }
  text.note = read_source_note(path);
  return import_openbenchmarking(text, catalogue);
}

}  // namespace perfcast::program
