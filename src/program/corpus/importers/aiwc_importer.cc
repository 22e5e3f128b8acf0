#include "program/corpus/importers/aiwc_importer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "program/corpus/importers/imported_columns.h"

namespace perfcast::program {
namespace {

constexpr const char* kAiwcSet = "aiwc";
constexpr double kSecondsPerUs = 1e-6;
constexpr double kUnsteadyRatio = 2;
// In the published set the kernels of one fft differ by up to 2.7% (medians of different runs), any others by 22%.
constexpr double kSameTimeShare = 0.05;
constexpr size_t kDevicesToCompare = 3;

struct FactColumn {
  const char *column, *fact;
  double factor;
};
constexpr FactColumn kFacts[] = {{"core_count", "core_count", 1},  {"clock_min_mhz", "min_hz", 1e6},
                                 {"clock_max_mhz", "max_hz", 1e6}, {"clock_turbo_mhz", "turbo_hz", 1e6},
                                 {"l1_kib", "l1d_bytes", 1024},    {"l2_kib", "l2_bytes", 1024},
                                 {"l3_kib", "l3_bytes", 1024},     {"tdp_w", "thermal_design_watts", 1}};

// What the set's table of devices lacks, or has otherwise than their vendors: bandwidths of memory, by data sheets, and
// lanes (0: as the set has it). A kernel runs on one of the two GPUs of an R9 295x2.
struct DeviceSheet {
  const char* device;
  double memory_bytes_per_s;
  double lanes;
};
constexpr DeviceSheet kSheets[] = {{"xeon_es-2697v2", 59.7e9, 0},
                                   {"i7-6700k", 34.1e9, 0},
                                   {"i5-3350", 25.6e9, 0},
                                   {"titanx", 480e9, 0},
                                   {"gtx1080", 320e9, 0},
                                   {"gtx1080ti", 484e9, 0},
                                   {"k20c", 208e9, 0},
                                   {"k40c", 288e9, 0},
                                   {"firepro-s9150", 320e9, 0},
                                   {"tahiti-hd7970", 264e9, 0},
                                   {"hawaii-r9-290x", 320e9, 0},
                                   {"hawaii-r9-295x2", 320e9, 2816},
                                   {"fiji-furyx", 512e9, 0},
                                   {"polaris-rx480", 256e9, 2304},
                                   {"knl", 102e9, 0}};

using Times = std::map<std::string, double>;  // platform -> s

// The same measurements, reduced apart: equal within a few percent on every device.
bool timed_together(const Times& a, const Times& b) {
  if (a.size() < kDevicesToCompare || a.size() != b.size()) return false;
  return std::equal(a.begin(), a.end(), b.begin(), [](const auto& one, const auto& other) {
    return one.first == other.first && std::abs(one.second - other.second) <= kSameTimeShare * one.second;
  });
}

class AiwcImport {
 public:
  explicit AiwcImport(const AiwcText& text) : text_(text) {}
  Result<Import> run();

 private:
  Status read_devices();
  Status read_features();
  Status read_times();
  void add_time(const CsvTable& table, size_t row, const std::string& program, const std::string& device,
                std::string_view cell);
  void mark_duplicates();
  // "" where a key is blank.
  static std::string program_of(const CsvTable& table, size_t row, const std::vector<size_t>& keys);
  static Result<std::vector<size_t>> key_columns(const CsvTable& table);

  const AiwcText& text_;
  std::string source_;
  std::map<std::string, std::string> platform_of_;  // device -> platform id
  std::map<std::string, size_t> program_at_;        // id -> index
  std::map<std::string, Times> times_;              // by program
  ExclusionCounter exclusions_;
  Import result_;
};

Result<std::vector<size_t>> AiwcImport::key_columns(const CsvTable& table) {
  std::vector<size_t> keys;
  for (const char* name : {"application", "kernel", "size"}) {
    const auto found = table.column(name);
    if (!found) return found.error();
    keys.push_back(*found);
  }
  return keys;
}

std::string AiwcImport::program_of(const CsvTable& table, size_t row, const std::vector<size_t>& keys) {
  std::vector<std::string> cells;
  cells.reserve(keys.size());
  for (const size_t column : keys) cells.emplace_back(trim(table.cell(row, column)));
  if (cells[0].empty() || cells[1].empty() || cells[2].empty()) return {};
  return std::string(kAiwcSet) + "." + id_segment(cells[0]) + "." + id_segment(cells[1]) + "." +
         input_segment(cells[2]);
}

Status AiwcImport::read_devices() {
  const auto table = CsvTable::parse(text_.devices_csv, text_.folder + "/devices.csv");
  if (!table) return table.error();
  const auto device = table->column("device");
  if (!device) return device.error();
  std::set<std::string> ids;
  const auto text_in = [&](size_t row, const char* name) {
    const auto column = table->find_column(name);
    return column ? std::string(trim(table->cell(row, *column))) : std::string();
  };
  for (size_t row = 0; row < table->rows(); ++row) {
    const std::string key(trim(table->cell(row, *device)));
    Platform platform;
    platform.name = text_in(row, "name");
    if (platform.name.empty()) platform.name = key;
    platform.vendor = text_in(row, "vendor");
    platform.id = slug(platform.vendor + " " + platform.name);
    if (key.empty() || platform.id.empty() || !ids.insert(platform.id).second || platform_of_.contains(key)) {
      exclusions_.add("device", "without a name, or named twice");
      continue;
    }
    const std::string type = text_in(row, "type");
    platform.kind = type == "CPU" ? "cpu" : type == "GPU" ? "gpu" : "accelerator";
    platform.arch = type == "GPU" ? slug(text_in(row, "series")) : "x86_64";
    for (const FactColumn& fact : kFacts) {
      const auto value = parse_number(text_in(row, fact.column));
      if (value && *value > 0) platform.facts[fact.fact] = *value * fact.factor;
    }
    for (const DeviceSheet& sheet : kSheets) {
      if (key != sheet.device) continue;
      platform.facts["memory_bytes_per_s"] = sheet.memory_bytes_per_s;
      if (sheet.lanes > 0) platform.facts["core_count"] = sheet.lanes;
    }
    platform.source = source_;
    platform_of_[key] = platform.id;
    result_.corpus.platforms.push_back(std::move(platform));
  }
  return {};
}

Status AiwcImport::read_features() {
  const auto table = CsvTable::parse(text_.features_csv, text_.folder + "/features.csv");
  if (!table) return table.error();
  const auto keys = key_columns(*table);
  if (!keys) return keys.error();
  std::vector<ImportedColumn> columns;
  for (size_t i = 0; i < table->columns().size(); ++i) {
    ++result_.report.columns_read_count;
    if (const std::string* metric = Catalogue::built_in().metric_of(kAiwcSet, table->columns()[i])) {
      columns.push_back({i, *metric, 1});
    } else if (std::find(keys->begin(), keys->end(), i) == keys->end()) {
      exclusions_.add("column", "not a feature: " + printable(table->columns()[i]));
      continue;
    }
    ++result_.report.columns_used_count;
  }
  std::set<MetricValues> seen;
  for (size_t row = 0; row < table->rows(); ++row) {
    const std::string id = program_of(*table, row, *keys);
    if (id.empty()) {
      exclusions_.add("row of features", "without an application, a size or a kernel");
      continue;
    }
    if (!program_at_.emplace(id, result_.corpus.programs.size()).second) {
      exclusions_.add("row of features", "a second row for the same kernel and size: the first stays");
      continue;
    }
    Program program;
    program.id = id;
    program.family = id_segment(table->cell(row, (*keys)[0]));
    program.group = "opencl-kernel";
    program.suite = kAiwcSet;
    program.work_unit = "launch";
    program.source = source_;
    result_.corpus.programs.push_back(std::move(program));

    StoredProfile stored;
    stored.program = id;
    stored.source = source_;
    stored.profile.program = id;
    stored.profile.exit_code = 0;
    stored.profile.collectors = {{"aiwc", "", 0, "ok", "published features; they hold for every device"}};
    read_imported_columns(*table, row, columns, exclusions_, stored.profile.metrics, stored.profile.missing);
    if (!seen.insert(stored.profile.metrics).second) {
      exclusions_.add("workload", "kept, but its features equal another's: split by application, not by row");
    }
    result_.corpus.profiles.push_back(std::move(stored));
  }
  return {};
}

void AiwcImport::add_time(const CsvTable& table, size_t row, const std::string& program, const std::string& device,
                          std::string_view cell) {
  const auto platform = platform_of_.find(device);
  if (platform == platform_of_.end()) {
    exclusions_.add("run time", "of a device that devices.csv lacks");
    return;
  }
  if (!program_at_.contains(program)) {
    exclusions_.add("run time", "of a kernel and size that features.csv lacks");
    return;
  }
  const auto time_us = positive_number(cell, "run time", exclusions_);
  if (!time_us) return;
  const double time_s = *time_us * kSecondsPerUs;
  if (!(time_s > 0)) {
    exclusions_.add("run time", "zero");
    return;
  }
  if (!times_[program].emplace(platform->second, time_s).second) {
    exclusions_.add("run time", "a second one for the same kernel, size and device: the first stays");
    return;
  }
  const auto low = table.find_column("kernel_time_us_p10"), high = table.find_column("kernel_time_us_p90");
  if (low && high) {
    const auto p10 = parse_number(table.cell(row, *low)), p90 = parse_number(table.cell(row, *high));
    if (p10 && p90 && *p90 > kUnsteadyRatio * *p10) {
      exclusions_.add("run time", "kept, but unsteady: its 90th percentile is more than twice its 10th");
    }
  }
  result_.corpus.runs.push_back({program, platform->second, "", 1, time_s, std::nullopt, source_});
}

Status AiwcImport::read_times() {
  const auto table = CsvTable::parse(text_.runtimes_csv, text_.folder + "/runtimes.csv");
  if (!table) return table.error();
  const auto keys = key_columns(*table);
  if (!keys) return keys.error();
  const auto device = table->column("device");
  if (!device) return device.error();
  const auto time = table->column("kernel_time_us_median");
  if (!time) return time.error();
  for (size_t row = 0; row < table->rows(); ++row) {
    const std::string id = program_of(*table, row, *keys);
    if (id.empty()) {
      exclusions_.add("run time", "without an application, a size or a kernel");
      continue;
    }
    add_time(*table, row, id, std::string(trim(table->cell(row, *device))), table->cell(row, *time));
  }
  return {};
}

// Kernels of one application and size whose times are the same everywhere were timed as one.
void AiwcImport::mark_duplicates() {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> kept;  // family and size -> programs
  for (const auto& [id, own] : times_) {
    const Times& times = own;  // clang 14 captures no structured binding
    Program& program = result_.corpus.programs[program_at_.at(id)];
    std::vector<std::string>& others = kept[{program.family, id.substr(id.rfind('.'))}];
    const auto twin = std::find_if(others.begin(), others.end(),
                                   [&](const std::string& other) { return timed_together(times, times_.at(other)); });
    if (twin == others.end()) {
      others.push_back(id);
      continue;
    }
    program.excluded = "timed-together: its times are those of " + *twin + " on every device";
    exclusions_.add("program", "timed together with another kernel: kept as an excluded program");
  }
}

Result<Import> AiwcImport::run() {
  source_ = versioned_source(kAiwcSet, text_.note);
  result_.report.format = kAiwcSet;
  result_.corpus.sources = {{source_, "https://github.com/BeauJoh/opencl-predictions-with-aiwc",
                             text_.note.licence.empty() ? "not stated" : text_.note.licence, text_.note.retrieved_utc,
                             "OpenDwarfs kernels: AIWC features and median kernel times (Johnston and others, 2018)"}};
  if (const Status status = read_devices(); !status) return status.error();
  if (const Status status = read_features(); !status) return status.error();
  if (const Status status = read_times(); !status) return status.error();
  if (result_.corpus.runs.empty()) {
    return Error{"no-rows", "no kernel has features and a time on a known device", text_.folder,
                 "the tables of the set aiwc"};
  }
  mark_duplicates();
  result_.corpus.exclusions = exclusions_.take(source_);
  return std::move(result_);
}

}  // namespace

Result<Import> import_aiwc(const AiwcText& text) { return AiwcImport(text).run(); }

Result<Import> import_aiwc_folder(const std::string& path, const ProgramCatalogue&) {
  AiwcText text;
  text.folder = path;
  const std::pair<const char*, std::string*> files[] = {
      {"features.csv", &text.features_csv}, {"runtimes.csv", &text.runtimes_csv}, {"devices.csv", &text.devices_csv}};
  for (const auto& [name, content] : files) {
    std::error_code ignored;
    std::string file = path + "/" + name;
    if (!std::filesystem::exists(file, ignored)) file += ".gz";
    auto read = read_file(file, kMaximumTableBytes);
    if (!read) return read.error();
    *content = std::move(*read);
  }
  text.note = read_source_note(path);
  return import_aiwc(text);
}

}  // namespace perfcast::program
