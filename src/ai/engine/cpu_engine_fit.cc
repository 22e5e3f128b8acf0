#include "ai/engine/cpu_engine_fit.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "ai/latency/fit/bounded_least_squares.h"
#include "base/csv.h"
#include "base/statistics.h"
#include "machine/facts/processor.h"

namespace perfcast::ai {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kSoft = 0.15;   // of a log error: larger ones count by their size, not its square
constexpr double kPull = 1e-6;   // to the start of a constant, for each unit of weight
constexpr double kStart = 1.25;  // times the token after a longer prompt
constexpr int64_t kFewestCells = 20, kFullWeightServers = 3;

// Its square is twice the soft-L1 loss, so that least squares of it are that fit.
double soft_root(double error) {
  const double ratio = error / kSoft;
  return std::copysign(kSoft * std::sqrt(2 * (std::sqrt(1 + ratio * ratio) - 1)), error);
}

double log_median(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return std::exp(median(std::move(values)));
}

double& value_of(CpuEngineConstants& constants, size_t i) { return constants.*cpu_engine_constants()[i].member; }

}  // namespace

CpuEngineRow cpu_engine_row(const VllmPoint& point, const TokenServer& server, const LlmWork& work, Precision precision,
                            bool sorts) {
  CpuEngineRow row;
  row.cpu = server.cpu;
  row.design = cpu_engine_design(server.facts);
  row.provider = server.vendor;
  row.server = server.vendor + "/" + server.name;
  row.facts = server.facts;
  row.processes = point.tensor_parallel;
  row.machine = cpu_engine_machine_of(server.facts, precision, row.processes);
  row.work = work;
  row.sorts = sorts;
  row.precision = precision;
  row.prompt_tokens = point.prompt_tokens;
  row.output_tokens = point.output_tokens;
  row.further_s = point.further_s;
  row.first_s = point.first_s;
  row.client_token_s = point.client_token_s;
  return row;
}

std::string why_another_machine(const VllmPoint& point, const CpuEngineRow& row) {
  if (!is_arm(row.facts.arch) && point.avx512 && *point.avx512 != row.facts.flags.contains("avx512f")) {
    return "the run says otherwise than the server's facts whether there is AVX-512";
  }
  const CpuEngineMachine& machine = row.machine;
  const double rate = row.work.prefill_macs_per_token * static_cast<double>(row.prompt_tokens) / row.first_s;
  if (machine.path == CpuPath::kPlain && rate > machine.threads * machine.products_per_cycle * machine.clock_hz) {
    return "the first token came faster than such cores can multiply";
  }
  return "";
}

void mark_starts(std::vector<CpuEngineRow>& rows) {
  std::map<std::tuple<std::string, int64_t, std::string, Precision>, std::vector<CpuEngineRow*>> settings;
  for (CpuEngineRow& row : rows) {
    settings[{row.server, row.processes, row.work.name, row.precision}].push_back(&row);
  }
  for (auto& [setting, same] : settings) {
    bool starts = false;
    for (const CpuEngineRow* shorter : same) {
      for (const CpuEngineRow* longer : same) {
        starts = starts ||
                 (shorter->prompt_tokens < longer->prompt_tokens && shorter->further_s > kStart * longer->further_s);
      }
    }
    for (CpuEngineRow* row : same) row->starts_up = starts;
  }
}

std::vector<CpuEngineCell> cpu_engine_cells(const std::vector<CpuEngineRow>& rows) {
  std::map<std::tuple<std::string, std::string, double, double, double, int64_t, std::string, int64_t, Precision>,
           std::vector<const CpuEngineRow*>>
      same;
  for (const CpuEngineRow& row : rows) {
    if (row.starts_up || !has_bandwidth(row.facts)) continue;
    const CpuFacts& facts = row.facts;
    same[{row.cpu, row.provider, facts.vcpus, facts.cores, facts.numa_nodes, row.processes, row.work.name,
          row.prompt_tokens, row.precision}]
        .push_back(&row);
  }
  std::vector<CpuEngineCell> cells;
  for (const auto& [key, found] : same) {
    const auto& members = found;  // clang 14 captures no structured bindings
    const auto median_of = [&](auto&& value) {
      std::vector<double> values;
      for (const CpuEngineRow* row : members) values.push_back(value(*row));
      return log_median(std::move(values));
    };
    CpuEngineCell cell;
    cell.like = members.front();
    cell.cpu = cell.like->cpu;
    cell.design = cell.like->design;
    cell.machine = cell.like->machine;
    cell.machine.memory_bytes_per_s = median_of([](const CpuEngineRow& r) { return r.machine.memory_bytes_per_s; });
    cell.machine.level1_bytes_per_s = median_of([](const CpuEngineRow& r) { return r.machine.level1_bytes_per_s; });
    cell.further_s = median_of([](const CpuEngineRow& r) { return r.further_s; });
    cell.first_s = median_of([](const CpuEngineRow& r) { return r.first_s; });
    cell.rows = static_cast<int64_t>(members.size());
    cells.push_back(std::move(cell));
  }
  return cells;
}

CpuEngineConstants cpu_engine_starts() {
  CpuEngineConstants constants;
  for (const CpuEngineConstant& constant : cpu_engine_constants()) constants.*constant.member = constant.start;
  return constants;
}

Result<CpuEngineConstants> fit_cpu_engine(const std::vector<CpuEngineCell>& cells, const std::vector<bool>& use,
                                          const CpuEngineConstants* from) {
  std::vector<const CpuEngineCell*> used;
  std::map<std::string, double> cells_of;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (!use.empty() && !use[i]) continue;
    used.push_back(&cells[i]);
    cells_of[cells[i].cpu] += 1;
  }
  if (static_cast<int64_t>(used.size()) < kFewestCells) {
    return Error{"too-few-rows", fmt::format("{} different single streams on CPUs", used.size()), "", "20 or more"};
  }
  const auto rows = static_cast<Index>(used.size());
  VectorXd weights(rows);
  for (Index r = 0; r < rows; ++r) {
    const CpuEngineCell& cell = *used[static_cast<size_t>(r)];
    weights[r] = std::sqrt(static_cast<double>(std::min(cell.rows, kFullWeightServers)) / cells_of[cell.cpu]);
  }
  weights /= weights.mean();
  const std::vector<CpuEngineConstant>& known = cpu_engine_constants();
  const auto count = static_cast<Index>(known.size());
  const auto scaled = [&](size_t i, double value) { return known[i].is_factor ? std::log(value) : value; };
  VectorXd prior(count), start(count), lower(count), upper(count);
  for (Index i = 0; i < count; ++i) {
    const auto k = static_cast<size_t>(i);
    prior[i] = start[i] = scaled(k, known[k].start);
    if (from != nullptr) start[i] = scaled(k, from->*known[k].member);
    lower[i] = scaled(k, known[k].least);
    upper[i] = scaled(k, known[k].most);
  }
  CpuEngineConstants trial;
  const auto set = [&](const VectorXd& parameters) {
    for (Index i = 0; i < count; ++i) {
      const auto k = static_cast<size_t>(i);
      value_of(trial, k) = known[k].is_factor ? std::exp(parameters[i]) : parameters[i];
    }
  };
  const double pull = std::sqrt(kPull * weights.sum());
  const VectorXd roots = weights.cwiseSqrt();
  const auto residuals = [&](const VectorXd& parameters, Eigen::Ref<VectorXd> out) {
    set(parameters);
    for (Index r = 0; r < rows; ++r) {
      const CpuEngineCell& cell = *used[static_cast<size_t>(r)];
      const CpuEngineTimes times = cpu_engine_times(trial, cell.machine, cell.like->work, cell.like->sorts,
                                                    static_cast<double>(cell.like->prompt_tokens));
      out[r] = roots[r] * soft_root(std::log(times.further_s() / cell.further_s));
      out[rows + r] = roots[r] * soft_root(std::log(times.first_s() / cell.first_s));
    }
    out.tail(count) = pull * (parameters - prior);
  };
  BoundedFitOptions options;
  options.max_iterations = from != nullptr ? 15 : 100;
  options.tolerance = 1e-9;
  const auto fit = fit_bounded(residuals, 2 * rows + count, start, lower, upper, options);
  if (!fit) return fit.error();
  set(fit->parameters);
  // More isn't known; and what is written is what was scored.
  for (size_t i = 0; i < known.size(); ++i) {
    value_of(trial, i) = parse_number(fmt::format("{:.6g}", value_of(trial, i))).value_or(value_of(trial, i));
  }
  return trial;
}

double log_half_width(const std::vector<GroupedError>& errors, double share) {
  std::map<std::string, double> counts;
  for (const GroupedError& error : errors) counts[error.group] += 1;
  std::vector<std::pair<double, double>> sizes;  // and weights
  double sum = 0;
  for (const GroupedError& error : errors) {
    const double weight = 1 / std::sqrt(counts[error.group]);
    sizes.emplace_back(std::abs(error.log_ratio), weight);
    sum += weight;
  }
  std::ranges::sort(sizes);
  double below = 0;
  for (const auto& [size, weight] : sizes) {
    below += weight;
    if (below >= share * sum) return size;
  }
  return kUnknown;
}

}  // namespace perfcast::ai
