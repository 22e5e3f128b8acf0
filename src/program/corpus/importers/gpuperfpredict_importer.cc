#include "program/corpus/importers/gpuperfpredict_importer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "program/corpus/importers/imported_columns.h"
#include "program/corpus/importers/nvidia_gpus.h"
#include "program/corpus/importers/nvidia_table1.h"

namespace perfcast::program {
namespace {

constexpr const char* kFile = "rodinia_nvprof.csv";
constexpr const char* kGpuSet = "gpuperfpredict";
constexpr const char* kStaticShared = "nvprof_static_shared_memory_bytes";
constexpr double kBytesPerGb = 1e9;
constexpr double kBytesPerKib = 1024;
constexpr double kSharedTolerance = 1e-3;  // nvprof prints KiB with four decimals
constexpr double kEqualTolerance = 1e-4;   // the set has six digits

// What tells workloads apart, in the order of the program id.
constexpr const char* kKeyNumbers[] = {"input_size_1", "input_size_2", "grid_x", "grid_y", "block_x", "block_y"};

// nvprof prints these in percent ...
constexpr std::string_view kPercent[] = {"nvprof_shared_efficiency_ratio",  "nvprof_gld_efficiency_ratio",
                                         "nvprof_gst_efficiency_ratio",     "nvprof_issue_slot_utilization_ratio",
                                         "nvprof_flop_sp_efficiency_ratio", "nvprof_flop_dp_efficiency_ratio"};
// ... and these as a level from 0 to 10.
constexpr std::string_view kLevels[] = {"nvprof_l1_shared_utilization_ratio", "nvprof_dram_utilization_ratio",
                                        "nvprof_cf_fu_utilization_ratio"};
// A property of the program: the same on every GPU.
constexpr const char* kInherent[] = {"warp_blocks_count", "nvprof_gld_inst_32bit_count", "nvprof_gst_inst_32bit_count",
                                     "nvprof_launches_count"};

template <typename List>
bool contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

double factor_of(std::string_view metric) {
  if (metric.ends_with("_bytes_per_s")) return kBytesPerGb;
  if (contains(kPercent, metric)) return 0.01;
  if (contains(kLevels, metric)) return 0.1;
  return 1;
}

class GpuperfpredictImport {
 public:
  Result<Import> run(const GpuperfpredictText& text);

 private:
  struct Columns {
    size_t app, kernel, gpu, duration;
    std::vector<size_t> numbers;  // as kKeyNumbers
    std::vector<ImportedColumn> metrics;
  };
  Result<Columns> find_columns(const CsvTable& table);
  void read_row(const CsvTable& table, size_t row, const Columns& columns);
  void add_platform(const std::string& gpu);
  void repair_shared_memory(std::vector<size_t>& profiles);
  void compare_over_gpus();

  std::string source_;
  std::map<std::string, std::vector<size_t>> profiles_of_;  // program -> indices into the corpus' profiles
  std::set<std::pair<std::string, std::string>> measured_;  // program, GPU
  std::map<std::string, std::string> platform_of_;          // GPU -> platform id
  ExclusionCounter exclusions_;
  Import result_;
};

Result<GpuperfpredictImport::Columns> GpuperfpredictImport::find_columns(const CsvTable& table) {
  Columns columns{};
  const std::pair<const char*, size_t*> texts[] = {{"app", &columns.app},
                                                   {"kernel", &columns.kernel},
                                                   {"gpu", &columns.gpu},
                                                   {"duration_s_mean", &columns.duration}};
  for (const auto& [name, index] : texts) {
    const auto found = table.column(name);
    if (!found) return found.error();
    *index = *found;
  }
  for (const char* name : kKeyNumbers) {
    const auto found = table.column(name);
    if (!found) return found.error();
    columns.numbers.push_back(*found);
  }
  for (size_t i = 0; i < table.columns().size(); ++i) {
    ++result_.report.columns_read_count;
    if (const std::string* metric = Catalogue::built_in().metric_of(kGpuSet, table.columns()[i])) {
      columns.metrics.push_back({i, *metric, factor_of(*metric)});
    } else if (i != columns.app && i != columns.kernel && i != columns.gpu) {
      exclusions_.add("column", "not a metric: " + printable(table.columns()[i]));
      continue;
    }
    ++result_.report.columns_used_count;
  }
  return columns;
}

void GpuperfpredictImport::add_platform(const std::string& gpu) {
  const std::string id = slug("nvidia " + gpu);
  if (!platform_of_.emplace(gpu, id).second) return;
  Platform platform;
  platform.id = id;
  platform.name = gpu;
  platform.kind = "gpu";
  platform.vendor = "NVIDIA";
  platform.source = source_;
  if (const NvidiaGpu* known = find_nvidia_gpu(gpu)) {
    platform.arch = known->architecture;
    platform.facts = facts_of(*known);
  }
  result_.corpus.platforms.push_back(std::move(platform));
}

void GpuperfpredictImport::read_row(const CsvTable& table, size_t row, const Columns& columns) {
  const std::string app(trim(table.cell(row, columns.app))), kernel(trim(table.cell(row, columns.kernel)));
  const std::string gpu(trim(table.cell(row, columns.gpu)));
  if (app.empty() || kernel.empty() || slug(gpu).empty()) {
    exclusions_.add("row", "without a program, a kernel or a GPU");
    return;
  }
  std::string id = std::string(kGpuSet) + "." + id_segment(app) + "." + id_segment(kernel);
  for (const size_t column : columns.numbers) {
    const auto number = parse_number(table.cell(row, column));
    if (!number || *number < 0 || *number > 1e15 || *number != std::floor(*number)) {
      exclusions_.add("row", "an input size, grid or block that is no whole number");
      return;
    }
    id += "." + std::to_string(static_cast<int64_t>(*number));
  }
  const auto time_s = positive_number(table.cell(row, columns.duration), "kernel time", exclusions_);
  if (!time_s) return;
  // Platforms are told apart by their slug, as the corpus does.
  if (!measured_.emplace(id, slug(gpu)).second) {
    exclusions_.add("row", "a second row for the same workload and GPU: the first stays");
    return;
  }
  add_platform(gpu);
  auto& profiles = profiles_of_[id];
  if (profiles.empty()) {
    Program program;
    program.id = id;
    program.family = id_segment(app) + "." + id_segment(kernel);
    program.group = "gpu-kernel";
    program.suite = kGpuSet;
    program.work_unit = "launch";
    program.source = source_;
    result_.corpus.programs.push_back(std::move(program));
  }
  profiles.push_back(result_.corpus.profiles.size());

  StoredProfile stored;
  stored.program = id;
  stored.source = source_;
  Profile& profile = stored.profile;
  profile.program = id;
  profile.host.name = gpu;
  profile.host.vendor = "NVIDIA";
  profile.exit_code = 0;
  profile.collectors = {{"nvprof", "", 0, "ok", "published counters; mean over the launches"}};
  read_imported_columns(table, row, columns.metrics, exclusions_, profile.metrics, profile.missing);
  add_table1(profile.metrics);
  result_.corpus.profiles.push_back(std::move(stored));
  result_.corpus.runs.push_back({id, platform_of_.at(gpu), "", 1, *time_s, std::nullopt, source_});
}

void GpuperfpredictImport::repair_shared_memory(std::vector<size_t>& profiles) {
  double largest = 0;
  for (const size_t index : profiles) {
    const MetricValues& metrics = result_.corpus.profiles[index].profile.metrics;
    if (const auto found = metrics.find(kStaticShared); found != metrics.end()) {
      largest = std::max(largest, found->second);
    }
  }
  for (const size_t index : profiles) {
    MetricValues& metrics = result_.corpus.profiles[index].profile.metrics;
    const auto found = metrics.find(kStaticShared);
    if (found == metrics.end() || !(found->second > 0)) continue;
    if (std::abs(found->second * kBytesPerKib - largest) > kSharedTolerance * largest) continue;
    found->second = largest;
    exclusions_.add("static shared memory", "given in KiB: set to the bytes that the other GPUs give");
  }
}

void GpuperfpredictImport::compare_over_gpus() {
  for (auto& [program, profiles] : profiles_of_) {
    repair_shared_memory(profiles);
    if (profiles.size() < platform_of_.size()) {
      exclusions_.add("workload", "kept, but not measured on every GPU");
    }
    for (const char* metric : kInherent) {
      double low = INFINITY, high = -INFINITY;
      for (const size_t index : profiles) {
        const MetricValues& metrics = result_.corpus.profiles[index].profile.metrics;
        const auto found = metrics.find(metric);
        if (found == metrics.end()) continue;
        low = std::min(low, found->second);
        high = std::max(high, found->second);
      }
      if (high - low > kEqualTolerance * high) {
        exclusions_.add("workload", std::string("kept, but ") + metric + " differs between GPUs");
      }
    }
  }
}

Result<Import> GpuperfpredictImport::run(const GpuperfpredictText& text) {
  const auto table = CsvTable::parse(text.csv, text.path);
  if (!table) return table.error();
  source_ = versioned_source(kGpuSet, text.note);
  result_.report.format = kGpuSet;
  result_.corpus.sources = {
      {source_, "https://github.com/marcosamaris/gpuperfpredict",
       text.note.licence.empty() ? "not stated" : text.note.licence, text.note.retrieved_utc,
       "Rodinia kernels on NVIDIA GPUs: nvprof counters and mean kernel times (Amaris and others, "
       "NCA 2016)"}};
  const auto columns = find_columns(*table);
  if (!columns) return columns.error();
  for (size_t row = 0; row < table->rows(); ++row) read_row(*table, row, *columns);
  if (result_.corpus.runs.empty()) {
    return Error{"no-rows", "no row has a kernel, a GPU and a time", text.path, "a table of the set gpuperfpredict"};
  }
  compare_over_gpus();
  result_.corpus.exclusions = exclusions_.take(source_);
  return std::move(result_);
}

}  // namespace

Result<Import> import_gpuperfpredict(const GpuperfpredictText& text) { return GpuperfpredictImport().run(text); }

Result<Import> import_gpuperfpredict_path(const std::string& path, const ProgramCatalogue&) {
  std::error_code ignored;
  GpuperfpredictText text;
  text.path = path;
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (std::filesystem::is_directory(path, ignored)) {
    folder = path;
    text.path = path + "/" + kFile;
    if (!std::filesystem::exists(text.path, ignored)) text.path += ".gz";
    if (!std::filesystem::exists(text.path, ignored)) {
      return Error{"file-not-found", "the folder lacks this file", text.path,
                   std::string("a folder with ") + kFile + "(.gz), or the file itself"};
    }
  }
  auto csv = read_file(text.path, kMaximumTableBytes);
  if (!csv) return csv.error();
  text.csv = std::move(*csv);
  text.note = read_source_note(folder.empty() ? "." : folder);
  return import_gpuperfpredict(text);
}

}  // namespace perfcast::program
