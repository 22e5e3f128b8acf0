#include "studies/power/power_sets.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::measure::power_study {
namespace {

Result<CsvTable> read_csv(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return CsvTable::parse(*text, path);
}

// A name's number, in the order in which names come.
class Numbering {
 public:
  explicit Numbering(std::vector<std::string>& names) : names_(names) {}
  int operator()(const std::string& name) {
    const auto [at, fresh] = known_.try_emplace(name, static_cast<int>(names_.size()));
    if (fresh) names_.push_back(name);
    return at->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, int> known_;
};

// Cells by column name; the first mistake is kept.
class CsvRows {
 public:
  explicit CsvRows(const CsvTable& csv) : csv_(csv) {}
  // NaN where blank or where there is no such column.
  double number(size_t row, const std::string& name) {
    const auto at = csv_.find_column(name);
    if (!at) return kUnknown;
    const auto value = csv_.number(row, *at);
    if (!value) {
      if (status_.ok()) status_ = value.error();
      return kUnknown;
    }
    return value->value_or(kUnknown);
  }
  double or_zero(size_t row, const std::string& name) {
    const double value = number(row, name);
    return std::isnan(value) ? 0 : value;
  }
  std::string text(size_t row, const std::string& name) {
    const auto at = csv_.column(name);
    if (!at) {
      if (status_.ok()) status_ = at.error();
      return "";
    }
    return std::string(csv_.cell(row, *at));
  }
  const Status& status() const { return status_; }

 private:
  const CsvTable& csv_;
  Status status_;
};

// Rows of equal length to a matrix.
Eigen::MatrixXd to_matrix(const std::vector<std::vector<double>>& rows) {
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows.size()),
                         rows.empty() ? 0 : static_cast<Eigen::Index>(rows.front().size()));
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    for (Eigen::Index c = 0; c < matrix.cols(); ++c)
      matrix(r, c) = rows[static_cast<size_t>(r)][static_cast<size_t>(c)];
  }
  return matrix;
}

Eigen::VectorXd to_vector(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

// Power limits by the vendors' data sheets; dense half-precision matrix throughput where fine-tuning is looked at.
struct GpuFacts {
  const char* name;
  double limit_w, peak_tflops;
};
constexpr GpuFacts kGpuFacts[] = {{"GTX Titan X", 250, 0}, {"Titan V", 250, 0}, {"Titan Xp", 250, 0},
                                  {"AMD RX 580X", 185, 0}, {"GTX 980", 165, 0}, {"Tesla K40c", 235, 0},
                                  {"4070", 285, 160},      {"A100", 400, 312},  {"L40", 300, 181},
                                  {"L4", 72, 121},         {"GPU06", 230, 89},  {"MI210", 300, 181}};

Result<GpuFacts> facts_of(const std::string& name) {
  for (const GpuFacts& facts : kGpuFacts) {
    if (name == facts.name) return facts;
  }
  return Error{"unknown-device", "no data sheet for '" + printable(name) + "'", "", "one of the sets' GPUs"};
}

// Busy shares of components in the terms that all devices share: single and double precision, integer, special
// functions, second-level cache, shared memory, memory. AMD's counters name other units: vector and scalar ALUs,
// fetches and writes.
std::vector<double> components(CsvRows& in, size_t r, bool amd) {
  const auto sum = [&](std::initializer_list<const char*> names) {
    double total = 0;
    for (const char* name : names) total += in.or_zero(r, std::string("u_") + name);
    return std::min(total, 1.5);
  };
  if (amd) {
    return {sum({"cVALUBusy"}),
            sum({"cSALUBusy"}),
            0,
            0,
            sum({"cL2Busy"}),
            sum({"cLDSBusy"}),
            std::min(1.0, sum({"cFETCHBusy", "cWRITEBusy"}))};
  }
  return {sum({"FP32_ADD", "FP32_MUL", "FP32_FMA", "SP_ADD", "SP_MUL", "SP_FMA", "SP"}),
          sum({"INT"}),
          sum({"FP64_ADD", "FP64_MUL", "FP64_FMA", "DP_ADD", "DP_MUL", "DP_FMA", "DP"}),
          sum({"SFU"}),
          sum({"L2"}),
          sum({"Shared"}),
          sum({"DRAM"})};
}

}  // namespace

Result<PowerTable> read_renewit(const std::string& folder) {
  const std::string path = folder + "/server_power_counters.csv.gz";
  const auto text = read_file(path);
  if (!text) return text.error();
  PowerTableOptions options;
  options.ignored = {"suite"};
  PowerTableNotes notes;
  return read_power_table(*text, path, options, notes);
}

bool is_micro_benchmark(const std::string& workload) { return workload == "Disk" || workload == "Network"; }

Result<PowerTable> read_armpm(const std::string& folder, const std::string& suite) {
  const std::string path = folder + "/xu3_cset_perfcpu_" + suite + "_eMMC_big_samples.csv.gz";
  const auto csv = read_csv(path);
  if (!csv) return csv.error();
  const auto power = csv->column("A15 Power(W)");
  if (!power) return power.error();
  PowerTable table;
  table.counters.assign(csv->columns().begin() + static_cast<std::ptrdiff_t>(*power) + 1, csv->columns().end());
  CsvRows in(*csv);
  Numbering workloads(table.workloads);
  table.machines = {"Cortex-A15"};
  const auto n = static_cast<Eigen::Index>(csv->rows());
  table.time_s.resize(n);
  table.watts.resize(n);
  table.frequency_hz.resize(n);
  table.voltage_v.resize(n);
  table.temperature_c.resize(n);
  table.cores = Eigen::VectorXd::Ones(n);
  table.values.resize(n, static_cast<Eigen::Index>(table.counters.size()));
  std::vector<int> runs;
  constexpr double kInterval_s = 0.509;  // between samples; the set's own steps differ by 0.2%
  for (Eigen::Index r = 0; r < n; ++r) {
    const auto row = static_cast<size_t>(r);
    table.machine.push_back(0);
    table.workload.push_back(workloads(in.text(row, "Benchmark")));
    runs.push_back(static_cast<int>(in.or_zero(row, "Run(#)")));
    table.time_s(r) = in.number(row, "Timestamp") * 1e-9;
    table.watts(r) = in.number(row, "A15 Power(W)");
    table.frequency_hz(r) = in.number(row, "CPU(4) Frequency(MHz)") * 1e6;
    table.voltage_v(r) = in.number(row, "A15 Voltage(V)");
    table.temperature_c(r) = in.number(row, "CPU(4) Temperature(C)");
    if (csv->find_column("Cores(#)")) table.cores(r) = in.number(row, "Cores(#)");
    for (size_t c = 0; c < table.counters.size(); ++c) {
      table.values(r, static_cast<Eigen::Index>(c)) = in.number(row, table.counters[c]) / kInterval_s;
    }
  }
  if (!in.status().ok()) return in.status().error();
  number_runs(table, runs);
  return table;
}

Result<GpuPower> read_gpm(const std::string& folder) {
  const auto csv = read_csv(folder + "/gpu_utilization_power.csv.gz");
  if (!csv) return csv.error();
  CsvRows in(*csv);
  GpuPower set;
  set.utilisation_name = "the busiest component x core clock";
  Numbering groups(set.design.groups), workloads(set.design.workloads);
  // Frequencies as shares of the device's highest, which its table of frequencies says.
  std::map<std::string, std::pair<double, double>> highest;
  std::vector<size_t> rows;
  for (size_t r = 0; r < csv->rows(); ++r) {
    if (in.text(r, "kind") != "micro") continue;
    rows.push_back(r);
    auto& [core, memory] = highest[in.text(r, "gpu")];
    core = std::max(core, in.or_zero(r, "f_core_mhz"));
    memory = std::max(memory, in.or_zero(r, "f_mem_mhz"));
  }
  std::vector<std::vector<double>> inputs;
  std::vector<double> watts, scale, utilisation;
  for (const size_t r : rows) {
    const std::string gpu = in.text(r, "gpu");
    const auto facts = facts_of(gpu);
    if (!facts) return facts.error();
    const std::vector<double> u = components(in, r, gpu.find("AMD") != std::string::npos);
    const double core = in.number(r, "f_core_mhz") / highest[gpu].first;
    const double memory = in.number(r, "f_mem_mhz") / highest[gpu].second;
    const double busiest = std::min(1.0, *std::max_element(u.begin(), u.end() - 1));
    const double dram = u.back();
    std::vector<double> row = {core,          core * core,    core * core * core,    memory,
                               memory * core, busiest * core, busiest * core * core, busiest * core * core * core,
                               dram * core,   dram * memory};
    for (size_t i = 0; i + 1 < u.size(); ++i) row.push_back(u[i] * core * core);
    inputs.push_back(std::move(row));
    watts.push_back(in.number(r, "power_w"));
    scale.push_back(std::log(facts->limit_w));
    utilisation.push_back(std::max(busiest, dram) * core);
    std::string key = gpu;
    for (const std::string& name : csv->columns()) {
      if (name.starts_with("u_")) key += "|" + in.text(r, name);
    }
    set.design.group.push_back(groups(gpu));
    set.design.workload.push_back(workloads(key));
  }
  if (!in.status().ok()) return in.status().error();
  set.design.names = {"core",      "core2",       "core3",  "memory",  "memory_core", "busy1",   "busy2", "busy3",
                      "dram_core", "dram_memory", "single", "integer", "double",      "special", "cache", "shared"};
  set.design.rows = to_matrix(inputs);
  set.design.watts = to_vector(watts);
  set.design.log_scale = to_vector(scale);
  set.utilisation = to_vector(utilisation);
  return set;
}

Result<GpuPower> read_llm_power(const std::string& folder) {
  const auto csv = read_csv(folder + "/llm_finetune_power_6gpus.csv.gz");
  if (!csv) return csv.error();
  CsvRows in(*csv);
  GpuPower set;
  set.utilisation_name = "GPU utilisation";
  Numbering groups(set.design.groups), workloads(set.design.workloads);
  std::vector<std::vector<double>> inputs;
  std::vector<double> watts, scale, utilisation;
  for (size_t r = 0; r < csv->rows(); ++r) {
    const double power = in.number(r, "power_draw_watts_mean");
    if (!(power > 0)) continue;  // did not fit
    const std::string gpu = in.text(r, "gpu");
    const auto facts = facts_of(gpu);
    if (!facts) return facts.error();
    const double u = in.or_zero(r, "gpu_utilization_mean") / 100,
                 memory = in.or_zero(r, "memory_utilization_mean") / 100;
    const double flops =
        in.or_zero(r, "tokens_per_second_mean") * in.or_zero(r, "formula_flops_per_token_mean") * 1e-12;
    const double done = std::min(2.0, flops / facts->peak_tflops), mfu = in.or_zero(r, "mfu_percentage_mean") / 100;
    const double half = in.text(r, "dtype") == "float32" ? 0 : 1;
    const double batch = in.or_zero(r, "batch_size"), length = in.or_zero(r, "sequence_length");
    inputs.push_back({u, std::sqrt(u), 1 - std::exp(-10 * u), memory, std::sqrt(memory), u * memory, done,
                      std::sqrt(done), mfu, std::sqrt(mfu), half, u * half, half * std::sqrt(done), std::log1p(batch),
                      std::log1p(length), in.or_zero(r, "cooldown_seconds") > 0 ? 1.0 : 0.0});
    watts.push_back(power);
    scale.push_back(std::log(facts->limit_w));
    utilisation.push_back(u);
    set.design.group.push_back(groups(gpu));
    set.design.workload.push_back(workloads(in.text(r, "model_name") + "|" + in.text(r, "batch_size") + "|" +
                                            in.text(r, "dtype") + "|" + in.text(r, "sequence_length")));
  }
  if (!in.status().ok()) return in.status().error();
  set.design.names = {"busy",      "busy_sqrt", "awake",      "memory",   "memory_sqrt", "busy_memory",
                      "done",      "done_sqrt", "mfu",        "mfu_sqrt", "half",        "busy_half",
                      "done_half", "batch_log", "length_log", "pauses"};
  set.design.rows = to_matrix(inputs);
  set.design.watts = to_vector(watts);
  set.design.log_scale = to_vector(scale);
  set.utilisation = to_vector(utilisation);
  return set;
}

}  // namespace perfcast::measure::power_study
