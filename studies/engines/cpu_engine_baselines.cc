#include "studies/engines/cpu_engine_baselines.h"

#include <Eigen/Core>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "ai/latency/fit/bounded_least_squares.h"
#include "base/statistics.h"

namespace perfcast::ai::engines_study {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// What the baselines see of one row: seconds per unit of two constants, and what was measured.
struct Seen {
  double by_memory = 0, by_cores = 0, measured_s = 0;
};

Seen further_of(const CpuEngineRow& row) {
  return {row.work.weight_bytes / memory_bandwidth(row.facts), row.work.weight_bytes / 1e10 / row.facts.cores,
          row.further_s};
}

Seen first_of(const CpuEngineRow& row) {
  const double products = row.work.prefill_macs_per_token * static_cast<double>(row.prompt_tokens);
  return {row.work.weight_bytes / memory_bandwidth(row.facts), products / 1e10 / row.facts.cores, row.first_s};
}

// Positive constants by least squares of relative errors.
Result<VectorXd> three_constants_of(const std::vector<Seen>& rows) {
  const auto residuals = [&](const VectorXd& logs, Eigen::Ref<VectorXd> out) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const Seen& row = rows[i];
      const double seconds =
          std::exp(logs[0]) * row.by_memory + std::exp(logs[1]) * row.by_cores + std::exp(logs[2]) * 1e-3;
      out[static_cast<Index>(i)] = seconds / row.measured_s - 1;
    }
  };
  const VectorXd start = VectorXd::Zero(3), lower = VectorXd::Constant(3, -12), upper = VectorXd::Constant(3, 12);
  auto fit = fit_bounded(residuals, static_cast<Index>(rows.size()), start, lower, upper);
  if (!fit) return fit.error();
  return fit->parameters.array().exp().matrix().eval();
}

}  // namespace

Result<CpuEngineBaselines> cpu_engine_baselines(const std::vector<CpuEngineRow>& rows) {
  CpuEngineBaselines baselines;
  baselines.one_constant.resize(rows.size());
  baselines.three_constants.resize(rows.size());
  baselines.other_servers.resize(rows.size());
  std::set<std::string> cpus;
  for (const CpuEngineRow& row : rows) cpus.insert(row.cpu);
  for (const std::string& cpu : cpus) {
    std::vector<Seen> first, further;
    std::vector<double> first_ratios, further_ratios;
    for (const CpuEngineRow& row : rows) {
      if (row.cpu == cpu) continue;
      first.push_back(first_of(row));
      further.push_back(further_of(row));
      first_ratios.push_back(first.back().measured_s / first.back().by_cores);
      further_ratios.push_back(further.back().measured_s / further.back().by_memory);
    }
    const auto of_first = three_constants_of(first), of_further = three_constants_of(further);
    if (!of_first) return of_first.error();
    if (!of_further) return of_further.error();
    const double first_ratio = median(first_ratios), further_ratio = median(further_ratios);
    const auto seconds = [](const VectorXd& constants, const Seen& seen) {
      return constants[0] * seen.by_memory + constants[1] * seen.by_cores + constants[2] * 1e-3;
    };
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].cpu != cpu) continue;
      const Seen one = first_of(rows[i]), other = further_of(rows[i]);
      baselines.one_constant[i] = cpu_times(rows[i], first_ratio * one.by_cores, further_ratio * other.by_memory);
      baselines.three_constants[i] = cpu_times(rows[i], seconds(*of_first, one), seconds(*of_further, other));
    }
  }
  std::map<std::tuple<std::string, std::string, double, std::string, int64_t, Precision>, std::vector<size_t>> same;
  for (size_t i = 0; i < rows.size(); ++i) {
    const CpuEngineRow& row = rows[i];
    same[{row.cpu, row.provider, row.facts.vcpus, row.work.name, row.prompt_tokens, row.precision}].push_back(i);
  }
  for (const auto& [setting, members] : same) {
    for (const size_t i : members) {
      std::vector<double> first, further, client;
      for (const size_t other : members) {
        if (rows[other].server == rows[i].server) continue;
        first.push_back(rows[other].first_s);
        further.push_back(rows[other].further_s);
        client.push_back(rows[other].client_token_s);
      }
      baselines.other_servers[i] = {median(first), median(further), median(client)};
    }
  }
  return baselines;
}

}  // namespace perfcast::ai::engines_study
