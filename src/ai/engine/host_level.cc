#include "ai/engine/host_level.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/statistics.h"
#include "base/table_row.h"
#include "base/text.h"
#include "machine/facts/core_design.h"
#include "machine/facts/cpu_names.h"
#include "machine/facts/processor.h"

namespace perfcast::ai {
namespace {

constexpr const char* kReferenceVendor = "gcp";
constexpr const char* kReferenceServer = "a2-highgpu-1g";
constexpr size_t kFewestPrograms = 20;
constexpr size_t kMostLevels = 100000;
constexpr double kLeastLevel = 0.01, kMostLevel = 100;
constexpr size_t kMaximumTableBytes = size_t{512} << 20;

// "stressng.cpu.1", "compress.gzip.5.1.c": rates of one thread, more is faster.
bool is_one_thread(const std::string& column) {
  const std::vector<std::string> parts = split(column, '.');
  if (parts.front() == "stressng") return parts.back() == "1";
  return parts.front() == "compress" && parts.size() > 3 && parts[parts.size() - 2] == "1";
}

std::string key_of(std::string_view vendor, std::string_view server) {
  return std::string(trim(vendor)) + "/" + std::string(trim(server));
}

// Rates of one row; NaN where there is none.
std::vector<double> rates_of(const CsvTable& table, size_t row, const std::vector<size_t>& columns) {
  std::vector<double> rates;
  rates.reserve(columns.size());
  for (const size_t column : columns) {
    const auto rate = parse_number(trim(table.cell(row, column)));
    rates.push_back(rate && *rate > 0 ? *rate : kUnknown);
  }
  return rates;
}

// Geometric mean of the ratios; NaN where too few programs ran on both.
double level_of(const std::vector<double>& rates, const std::vector<double>& reference) {
  double sum = 0;
  size_t programs = 0;
  for (size_t i = 0; i < rates.size(); ++i) {
    const double log_ratio = std::log(rates[i] / reference[i]);
    if (!std::isfinite(log_ratio)) continue;
    sum += log_ratio;
    ++programs;
  }
  const double level = programs < kFewestPrograms ? kUnknown : std::exp(sum / static_cast<double>(programs));
  return level >= kLeastLevel && level <= kMostLevel ? level : kUnknown;
}

ProcessorIdentity identity_of(const TableRow& row) {
  ProcessorIdentity identity;
  identity.name = row.text("cpu_model");
  identity.vendor = vendor_name(row.text("cpu_vendor"));
  identity.arch = row.text("arch");
  identity.cpu_family = row.integer("cpu_family");
  identity.model = row.integer("model");
  identity.stepping = row.integer("stepping");
  return identity;
}

struct CpuServers {  // of one CPU model
  std::vector<double> with_accelerators, all;
  std::vector<std::string> instances;
};

// Four digits: more isn't known.
double rounded(double level) { return std::round(level * 1e4) / 1e4; }

// "aws g5.xlarge", or "g5.xlarge" alone.
bool has_instance(const HostLevel& level, std::string_view name) {
  return std::ranges::any_of(level.instances, [&](const std::string& instance) {
    return instance == name || std::string_view(instance).substr(instance.find(' ') + 1) == name;
  });
}

// "epyc 9_5" of "AMD EPYC 9575F": the first digit is the series and the last the generation, also of what clouds have
// made for them ("9R45"). Empty: no such name.
std::string epyc_series(const std::string& name) {
  const std::vector<std::string> words = split(cpu_name_key(name), ' ');
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& number = words[i + 1];
    if (words[i] != "epyc" || number.size() < 4 || !is_digit(number[0]) || !is_digit(number[3])) continue;
    return std::string("epyc ") + number[0] + "_" + number[3];
  }
  return "";
}

EngineHost host_of(const std::string& cpu, double level, const std::string& design) {
  EngineHost host;
  host.cpu = cpu;
  host.level = level;
  host.pcie_bytes_per_s = pcie_bytes_per_s_of_design(design);
  host.known = true;
  return host;
}

}  // namespace

double pcie_bytes_per_s_of_design(std::string_view design) {
  // Data rates of 16 lanes, PCI Express 3.0, 4.0 and 5.0, less their line code.
  constexpr double kThird = 1.575e10, kFourth = 3.15e10, kFifth = 6.3e10;
  struct Bus {
    std::string_view design;
    double bytes_per_s;
  };
  // The makers' lists of processors, generation by generation.
  static constexpr Bus kBuses[] = {
      {"sandy-bridge", kThird}, {"haswell", kThird},      {"broadwell", kThird},       {"skylake-server", kThird},
      {"cascade-lake", kThird}, {"ice-lake", kFourth},    {"sapphire-rapids", kFifth}, {"granite-rapids", kFifth},
      {"zen1", kThird},         {"zen2", kFourth},        {"zen3", kFourth},           {"zen4", kFifth},
      {"zen5", kFifth},         {"neoverse-n1", kFourth}, {"neoverse-v2", kFifth},
  };
  for (const Bus& bus : kBuses) {
    if (bus.design == design) return bus.bytes_per_s;
  }
  return kUnknown;
}

Result<HostLevels> HostLevels::from_tables(std::string_view servers_csv, std::string_view rates_csv,
                                           const std::string& servers_path, const std::string& rates_path) {
  const auto servers = CsvTable::parse(servers_csv, servers_path);
  if (!servers) return servers.error();
  const auto rates = CsvTable::parse(rates_csv, rates_path);
  if (!rates) return rates.error();
  for (const char* needed : {"vendor", "server", "arch", "cpu_model", "gpu"}) {
    if (const auto column = servers->column(needed); !column) return column.error();
  }
  const auto vendor = rates->column("vendor"), server = rates->column("server");
  if (!vendor) return vendor.error();
  if (!server) return server.error();
  std::vector<size_t> columns;
  for (size_t i = 0; i < rates->columns().size(); ++i) {
    if (is_one_thread(rates->columns()[i])) columns.push_back(i);
  }
  std::map<std::string, size_t> row_of;
  for (size_t row = 0; row < rates->rows(); ++row) {
    row_of.emplace(key_of(rates->cell(row, *vendor), rates->cell(row, *server)), row);
  }
  const auto reference_row = row_of.find(key_of(kReferenceVendor, kReferenceServer));
  if (reference_row == row_of.end()) {
    return Error{"no-reference", std::string("levels are ratios to ") + kReferenceServer + ", which has no row",
                 rates_path, "Spare Cores' benchmarks_wide.csv"};
  }
  const std::vector<double> reference = rates_of(*rates, reference_row->second, columns);
  std::map<std::pair<std::string, std::string>, CpuServers> cpus;  // name and design
  for (size_t i = 0; i < servers->rows(); ++i) {
    const TableRow row(*servers, i);
    const auto rate_row = row_of.find(key_of(row.text("vendor"), row.text("server")));
    if (rate_row == row_of.end() || row.text("cpu_model").empty()) continue;
    const double level = level_of(rates_of(*rates, rate_row->second, columns), reference);
    if (std::isnan(level)) continue;
    const ProcessorIdentity identity = identity_of(row);
    CpuServers& cpu = cpus[{identity.name, core_design(identity)}];
    cpu.all.push_back(level);
    if (row.text("gpu").empty()) continue;
    cpu.with_accelerators.push_back(level);
    cpu.instances.push_back(std::string(row.text("vendor")) + " " + std::string(row.text("server")));
  }
  HostLevels levels;
  for (const auto& [cpu, found] : cpus) {
    // A host of accelerators is often a larger machine with higher clocks than others of its CPU model.
    const bool carries = !found.with_accelerators.empty();
    const std::vector<double>& used = carries ? found.with_accelerators : found.all;
    levels.levels_.push_back(
        {cpu.first, cpu.second, rounded(median(used)), static_cast<int64_t>(used.size()), carries, found.instances});
  }
  return levels;
}

Result<HostLevels> HostLevels::read(const std::string& folder) {
  const std::string servers_path = folder + "/servers.csv";
  std::string rates_path = folder + "/benchmarks_wide.csv";
  std::error_code ignored;
  if (!std::filesystem::exists(rates_path, ignored)) rates_path += ".gz";
  const auto servers = read_file(servers_path, kMaximumTableBytes);
  if (!servers) return servers.error();
  const auto rates = read_file(rates_path, kMaximumTableBytes);
  if (!rates) return rates.error();
  return from_tables(*servers, *rates, servers_path, rates_path);
}

Result<EngineHost> HostLevels::find(const std::string& cpu) const {
  const std::string wanted = cpu_name_key_or_clock(cpu);
  const auto weight = [](const HostLevel& level) { return std::pair(level.carries_accelerators, level.servers); };
  const HostLevel* best = nullptr;
  std::vector<std::string> names;
  for (const HostLevel& level : levels_) {
    names.push_back(level.name);
    const std::string key = cpu_name_key_or_clock(level.name);
    if (wanted.empty() || (key != wanted && key != "amd " + wanted && key != "intel " + wanted)) continue;
    if (best == nullptr || weight(level) > weight(*best)) best = &level;
  }
  for (const HostLevel& level : levels_) {
    if (best == nullptr && has_instance(level, cpu)) best = &level;
  }
  if (best != nullptr) return host_of(best->name, best->level, best->design);
  const std::string own_design = core_design(identity_of_name(cpu)), series = epyc_series(cpu);
  std::string design;
  std::vector<double> kin;
  for (const HostLevel& level : levels_) {
    const bool is_kin = (own_design != "unknown" && level.design == own_design) ||
                        (own_design == "unknown" && !series.empty() && epyc_series(level.name) == series);
    if (!is_kin) continue;
    design = level.design;
    kin.push_back(level.level);
  }
  if (kin.empty()) {
    return usage_error("unknown-cpu", "no level of a CPU named '" + printable(cpu.substr(0, 80)) + "' is known", "",
                       "one such as " + nearest_names(cpu.substr(0, 80), names));
  }
  EngineHost host = host_of(cpu, median(kin), design);
  host.of_kin = true;
  return host;
}

Json HostLevels::to_json() const {
  Json json = Json::array();
  for (const HostLevel& level : levels_) {
    Json entry = {{"name", level.name}, {"design", level.design}, {"level", level.level}, {"servers", level.servers}};
    if (level.carries_accelerators) entry["carries_accelerators"] = true;
    if (!level.instances.empty()) entry["instances"] = level.instances;
    json.push_back(std::move(entry));
  }
  return json;
}

Result<HostLevels> HostLevels::from_json(const Json& json, const std::string& path) {
  if (!json.is_array() || json.size() > kMostLevels) {
    return Error{"bad-json-field", "levels of hosts are no array of at most 100000 CPU models", path, "an array"};
  }
  HostLevels levels;
  for (size_t i = 0; i < json.size(); ++i) {
    JsonReader in(json[i], path + "[" + std::to_string(i) + "]");
    HostLevel level;
    level.name = in.string("name");
    level.design = in.string("design");
    level.level = in.number("level");
    if (!(level.level >= kLeastLevel && level.level <= kMostLevel)) in.complain("level", "no level", "0.01 to 100");
    level.servers = in.optional_integer("servers", 1, 1000000).value_or(1);
    level.carries_accelerators = in.boolean_or("carries_accelerators", false);
    level.instances = in.strings("instances", kMostLevels);
    in.refuse_others();
    if (Status status = in.finish(); !status) return status.error();
    levels.levels_.push_back(std::move(level));
  }
  return levels;
}

}  // namespace perfcast::ai
