#include "program/corpus/importers/nvidia_profiler_importers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/csv.h"
#include "base/file.h"
#include "base/number_style.h"
#include "base/text.h"
#include "program/corpus/importers/imported_columns.h"
#include "program/corpus/importers/nvidia_table1.h"

namespace perfcast::program {
namespace {

constexpr size_t kMaximumKernelName = 80;
constexpr double kMostPercent = 101;  // of a share, with what counters in turns add

// Display names of ncu's sections -> the metric behind them.
constexpr std::pair<std::string_view, std::string_view> kDisplayNames[] = {
    {"Duration", "gpu__time_duration.sum"},
    {"Registers Per Thread", "launch__registers_per_thread"},
    {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static"},
    {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic"},
    {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"},
    {"Executed Instructions", "smsp__inst_executed.sum"}};

struct Sum {
  double total = 0;
  double count = 0;
  std::string unit;
  std::string problem;
};

struct Kernel {
  std::string device;
  std::set<std::string> launches;
  double launch_count = 0;
  std::map<std::string, Sum> metrics;
};
struct Kernels {
  NumberStyle style;                                         // of the file
  std::map<std::pair<std::string, std::string>, Kernel> of;  // kernel, device
};

// A table of the text: a header line that holds `mark` and the records below it, up to an empty line, a line of the
// profiler's own ("==123== ...") or the next header.
struct Block {
  std::string csv;
  size_t line = 0;
};
std::vector<Block> blocks_of(std::string_view text, const std::vector<std::string_view>& marks) {
  std::vector<Block> blocks;
  bool open = false;
  size_t number = 0;
  for (const std::string& raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    const bool is_header = std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) {
      return line.find(mark) != std::string_view::npos && line.find("\",\"") != std::string_view::npos;
    });
    if (is_header) {
      blocks.push_back({std::string(line) + "\n", number});
      open = true;
    } else if (line.empty() || line.starts_with("==")) {
      open = false;
    } else if (open) {
      blocks.back().csv += std::string(line) + "\n";
    }
  }
  return blocks;
}

Result<CsvTable> parse_block(const Block& block, const std::string& path) {
  auto table = CsvTable::parse(block.csv, path);
  if (table) return table;
  Error error = table.error();
  error.where = path + ", in the table at line " + std::to_string(block.line);
  return error;
}

// A number and the unit that stands behind it: "85.9%", "12.5 GB/s".
std::pair<std::string_view, std::string_view> divided(std::string_view cell) {
  cell = trim(cell);
  const size_t end = cell.find_last_of("0123456789");
  if (end == std::string_view::npos) return {cell, {}};
  return {cell.substr(0, end + 1), trim(cell.substr(end + 1))};
}

// Percent of a peak or of all, which can't be above 100; other percentages can (of a limit, of time over threads).
bool is_share(const std::string& metric, const std::string& unit) {
  return unit == "%" && (metric.find("pct") != std::string::npos || metric.find("utilization") != std::string::npos ||
                         metric.find("occupancy") != std::string::npos || metric.find("hit_rate") != std::string::npos);
}

// "1,234" -> 1234 with the unit that stands behind it; "Low (2)" -> 0.2.
std::optional<double> read_value(std::string_view cell, const NumberStyle& style, std::string& unit) {
  const std::string_view text = trim(cell);
  const size_t open = text.rfind('(');
  if (open != std::string::npos && text.ends_with(')') && open > 0) {
    const auto level = parse_number(text.substr(open + 1, text.size() - open - 2), style);
    unit = "";
    if (level) return *level / 10;
    return std::nullopt;
  }
  const auto [number, behind] = divided(text);
  const auto value = parse_number(number, style);
  if (value && !behind.empty()) unit = std::string(behind);
  return value;
}

void add_value(Kernel& kernel, const NumberStyle& style, const std::string& metric, std::string_view cell,
               std::string_view unit, double weight) {
  Sum& sum = kernel.metrics[metric];
  std::string own_unit(unit);
  const auto value = read_value(cell, style, own_unit);
  if (!value) {
    if (sum.problem.empty())
      sum.problem =
          trim(cell).empty() ? "blank: not measured" : "not available: " + printable(trim(cell).substr(0, 40));
    return;
  }
  const auto [suffix, factor] = unit_suffix(own_unit);
  if (sum.unit.empty()) sum.unit = own_unit;
  // ncu chooses the unit's prefix for each value.
  sum.total += *value * factor / unit_suffix(sum.unit).second * weight;
  sum.count += weight;
}

// "(256, 1, 1)" -> 256, 1, 1
std::vector<double> dimensions(std::string_view cell) {
  std::vector<double> sizes;
  std::string text(trim(cell));
  std::erase(text, '(');
  std::erase(text, ')');
  for (const std::string& part : split(text, ',')) {
    if (const auto size = parse_number(part); size && *size > 0) sizes.push_back(*size);
  }
  return sizes;
}

void set_launch_shape(const CsvTable& table, size_t row, Kernel& kernel) {
  const auto grid = table.find_column("Grid Size"), block = table.find_column("Block Size");
  for (const auto& [column, name] : {std::pair(grid, "launch__grid_dim_"), std::pair(block, "launch__block_dim_")}) {
    if (!column) continue;
    const std::vector<double> sizes = dimensions(table.cell(row, *column));
    for (size_t i = 0; sizes.size() == 3 && i < 3; ++i) {
      Sum& sum = kernel.metrics[std::string(name) + "xyz"[i]];
      sum.total += sizes[i];
      ++sum.count;
    }
  }
}

// Columns whose cells are values of metrics.
bool holds_values(const std::string& column) {
  constexpr std::string_view kValueColumns[] = {"Metric Value", "Average", "Avg", "Min", "Max", "Minimum", "Maximum"};
  return column.find("__") != std::string::npos ||
         std::find(std::begin(kValueColumns), std::end(kValueColumns), column) != std::end(kValueColumns);
}

Result<NumberStyle> style_of(const std::vector<CsvTable>& tables, ThreeDigits three_digits, const std::string& path) {
  NumberEvidence evidence(three_digits);
  for (const CsvTable& table : tables) {
    for (size_t column = 0; column < table.columns().size(); ++column) {
      if (!holds_values(table.columns()[column])) continue;
      for (size_t row = 0; row < table.rows(); ++row) evidence.see(divided(table.cell(row, column)).first);
    }
  }
  return evidence.decide(path);
}

Result<std::vector<CsvTable>> tables_of(std::string_view text, const std::vector<std::string_view>& marks,
                                        const std::string& path) {
  std::vector<CsvTable> tables;
  for (const Block& block : blocks_of(text, marks)) {
    auto table = parse_block(block, path);
    if (!table) return table.error();
    tables.push_back(std::move(*table));
  }
  return tables;
}

std::vector<StoredProfile> profiles_of(const Kernels& kernels, const std::string& tool, const ToolFileNames& names) {
  std::vector<StoredProfile> profiles;
  for (const auto& [key, kernel] : kernels.of) {
    ToolProfile profile(tool, tool, tool + "_");
    profile.set_host(kernel.device.empty() ? names.host : kernel.device);
    for (const auto& [metric, sum] : kernel.metrics) {
      if (sum.count > 0) {
        profile.add(metric, sum.total / sum.count, sum.unit);
        if (is_share(metric, sum.unit) && sum.total / sum.count > kMostPercent) {
          profile.warn("share-above-all",
                       fmt::format("{} is {:.4g}%, more than all: was the file written in another locale?",
                                   printable(metric), sum.total / sum.count),
                       "the profiler with LC_ALL=C");
        }
      } else {
        profile.miss(metric, sum.unit, sum.problem);
      }
    }
    if (profile.empty()) continue;
    if (!kernels.style.is_plain())
      profile.warn("number-form", "the file was read as having " + describe(kernels.style), "");
    const double launches = std::max(kernel.launch_count, static_cast<double>(kernel.launches.size()));
    if (launches > 0) profile.set("nvprof_launches_count", launches);
    std::string name = key.first.substr(0, key.first.find('('));
    name = id_segment(name.substr(0, kMaximumKernelName));
    profiles.push_back(std::move(profile).finish(names.program + "." + name));
    add_table1(profiles.back().profile.metrics);
  }
  return profiles;
}

Status read_ncu_details(const CsvTable& table, Kernels& kernels) {
  const auto kernel = table.column("Kernel Name"), metric = table.column("Metric Name");
  if (!kernel) return kernel.error();
  if (!metric) return metric.error();
  auto value = table.find_column("Metric Value");
  if (!value) value = table.find_column("Average");
  if (!value) return table.column("Metric Value").error();
  const auto unit = table.find_column("Metric Unit"), id = table.find_column("ID");
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string name(table.cell(row, *kernel));
    std::string event(trim(table.cell(row, *metric)));
    if (name.empty() || event.empty()) continue;  // a line of advice
    for (const auto& [display, behind] : kDisplayNames) {
      if (event == display) event = behind;
    }
    Kernel& entry = kernels.of[{name, ""}];
    const std::string launch(id ? table.cell(row, *id) : std::string_view("0"));
    if (entry.launches.insert(launch).second) set_launch_shape(table, row, entry);
    add_value(entry, kernels.style, event, table.cell(row, *value), unit ? table.cell(row, *unit) : "", 1);
  }
  return {};
}

// One launch per line, metrics in columns; the first line holds the units.
void read_ncu_raw(const CsvTable& table, size_t kernel, Kernels& kernels) {
  const auto id = table.find_column("ID");
  for (size_t row = 0; row < table.rows(); ++row) {
    const std::string name(table.cell(row, kernel));
    if (name.empty()) continue;
    Kernel& entry = kernels.of[{name, ""}];
    entry.launches.insert(std::string(id ? table.cell(row, *id) : std::to_string(row)));
    set_launch_shape(table, row, entry);
    for (size_t i = 0; i < table.columns().size(); ++i) {
      if (table.columns()[i].find("__") == std::string::npos) continue;
      const bool has_units = table.cell(0, kernel).empty();
      add_value(entry, kernels.style, table.columns()[i], table.cell(row, i), has_units ? table.cell(0, i) : "", 1);
    }
  }
}

Status read_nvprof_counters(const CsvTable& table, Kernels& kernels) {
  const auto device = table.column("Device"), kernel = table.column("Kernel"), average = table.column("Avg");
  for (const auto* column : {&device, &kernel, &average}) {
    if (!*column) return column->error();
  }
  auto name = table.find_column("Metric Name");
  if (!name) name = table.find_column("Event Name");
  if (!name) return table.column("Metric Name").error();
  const auto invocations = table.find_column("Invocations");
  for (size_t row = 0; row < table.rows(); ++row) {
    std::string gpu(trim(table.cell(row, *device)));
    // "Tesla K40c (0)": the number is the device's place in this machine.
    if (const size_t open = gpu.rfind(" ("); open != std::string::npos && gpu.ends_with(')')) gpu.resize(open);
    Kernel& entry = kernels.of[{std::string(table.cell(row, *kernel)), gpu}];
    entry.device = gpu;
    const auto launches = invocations ? parse_number(table.cell(row, *invocations), kernels.style) : std::nullopt;
    entry.launch_count = std::max(entry.launch_count, launches.value_or(0));
    add_value(entry, kernels.style, std::string(trim(table.cell(row, *name))), table.cell(row, *average), "",
              launches && *launches > 0 ? *launches : 1);
  }
  return {};
}

// Time of each kernel; its first record holds the units. Copies and calls of the host are left out.
void read_nvprof_summary(const CsvTable& table, Kernels& kernels) {
  const auto name = table.find_column("Name"), average = table.find_column("Avg"), calls = table.find_column("Calls");
  const auto type = table.find_column("Type");
  if (!name || !average || !calls || table.rows() == 0) return;
  const std::string unit(trim(table.cell(0, *average)));
  for (size_t row = 1; row < table.rows(); ++row) {
    const std::string kernel(trim(table.cell(row, *name)));
    if (kernel.empty() || kernel.front() == '[' || (type && table.cell(row, *type) != "GPU activities")) continue;
    std::vector<Kernel*> entries;
    for (auto& [key, entry] : kernels.of) {
      if (key.first == kernel) entries.push_back(&entry);
    }
    // On several GPUs the summary does not say whose time it is.
    if (entries.size() > 1) continue;
    Kernel& entry = entries.empty() ? kernels.of[{kernel, ""}] : *entries[0];
    entry.launch_count = std::max(entry.launch_count, parse_number(table.cell(row, *calls), kernels.style).value_or(0));
    add_value(entry, kernels.style, "Duration", table.cell(row, *average), unit, 1);
  }
}

Error no_rows(const std::string& path, const char* command) {
  return {"no-rows", "no kernel has a metric with a value", path, std::string("output of ") + command};
}

}  // namespace

Result<std::vector<StoredProfile>> read_ncu(std::string_view text, const std::string& path) {
  const auto tables = tables_of(text, {"\"Kernel Name\""}, path);
  if (!tables) return tables.error();
  const auto style = style_of(*tables, ThreeDigits::kGrouped, path);
  if (!style) return style.error();
  Kernels kernels{*style, {}};
  for (const CsvTable& table : *tables) {
    if (table.find_column("Metric Name")) {
      if (const Status status = read_ncu_details(table, kernels); !status) return status.error();
    } else if (const auto kernel = table.find_column("Kernel Name"); kernel && table.rows() > 0) {
      read_ncu_raw(table, *kernel, kernels);
    }
  }
  std::vector<StoredProfile> profiles = profiles_of(kernels, "ncu", names_of_tool_file(text, path));
  if (profiles.empty()) return no_rows(path, "ncu --csv");
  return profiles;
}

Result<std::vector<StoredProfile>> read_nvprof(std::string_view text, const std::string& path) {
  const auto tables = tables_of(text, {"\"Metric Name\"", "\"Event Name\"", "\"Time(%)\""}, path);
  if (!tables) return tables.error();
  const auto style = style_of(*tables, ThreeDigits::kAmbiguous, path);
  if (!style) return style.error();
  Kernels kernels{*style, {}};
  const auto is_summary = [](const CsvTable& table) { return table.find_column("Time(%)").has_value(); };
  for (const CsvTable& table : *tables) {
    if (is_summary(table)) continue;
    if (const Status status = read_nvprof_counters(table, kernels); !status) return status.error();
  }
  for (const CsvTable& table : *tables) {
    if (is_summary(table)) read_nvprof_summary(table, kernels);
  }
  std::vector<StoredProfile> profiles = profiles_of(kernels, "nvprof", names_of_tool_file(text, path));
  if (profiles.empty()) return no_rows(path, "nvprof --csv");
  return profiles;
}

Result<Profile> kernels_in_one_profile(const std::vector<StoredProfile>& kernels, const std::string& program,
                                       const std::string& path) {
  Profile whole;
  whole.program = program;
  whole.exit_code = 0;
  std::map<std::string, int> of_name;
  for (const StoredProfile& stored : kernels) {
    const Profile& profile = stored.profile;
    const std::string& host = profile.host.name;
    if (!host.empty() && !whole.host.name.empty() && host != whole.host.name) {
      return Error{"several-gpus",
                   "the file has kernels of " + printable(whole.host.name) + " and of " + printable(host), path,
                   "kernels of one GPU: nvprof --devices 0"};
    }
    if (!host.empty()) whole.host = profile.host;
    whole.collectors = profile.collectors;
    for (const ProfileWarning& warning : profile.warnings) {
      if (std::find(whole.warnings.begin(), whole.warnings.end(), warning) == whole.warnings.end())
        whole.warnings.push_back(warning);
    }
    ProfileKernel kernel;
    kernel.name = stored.program.substr(program.size() + 1);
    // Overloads of one function.
    if (const int times = ++of_name[kernel.name]; times > 1) kernel.name += "." + std::to_string(times);
    kernel.metrics = profile.metrics;
    if (const auto launches = kernel.metrics.find("nvprof_launches_count"); launches != kernel.metrics.end())
      kernel.launches_count = launches->second;
    whole.kernels.push_back(std::move(kernel));
  }
  return whole;
}

Result<Profile> read_gpu_profile(const std::string& format, const std::string& path) {
  const auto text = read_file(path, kMaximumTableBytes);
  if (!text) return text.error();
  const auto kernels = format == "ncu" ? read_ncu(*text, path) : read_nvprof(*text, path);
  if (!kernels) return kernels.error();
  return kernels_in_one_profile(*kernels, names_of_tool_file(*text, path).program, path);
}

Result<Import> import_ncu(const std::string& path, const ProgramCatalogue& catalogue) {
  return import_tool_files("ncu", path, catalogue, read_ncu);
}

Result<Import> import_nvprof(const std::string& path, const ProgramCatalogue& catalogue) {
  return import_tool_files("nvprof", path, catalogue, read_nvprof);
}

}  // namespace perfcast::program
