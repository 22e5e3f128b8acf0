#include "fleet/compare/policy_runs.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "fleet/policy/policy.h"

namespace perfcast::fleet {
namespace {

// A gap this small, relative to random, is no gap.
constexpr double kNoGap = 1e-9;

const PolicyRun* run_of(const ScheduleReport& report, const std::string& policy, uint64_t seed) {
  const auto found = std::ranges::find_if(
      report.runs, [&](const PolicyRun& run) { return run.seed == seed && run.summary.policy == policy; });
  return found == report.runs.end() ? nullptr : &*found;
}

void set_beside_others(const ScheduleReport& report, PolicyRow& row, double ScheduleSummary::*value, double& to_oracle,
                       double& gap_closed) {
  std::vector<double> ratios, shares;
  for (const PolicyRun* run : row.runs) {
    const PolicyRun* oracle = run_of(report, info(Policy::kOracle).name, run->seed);
    if (oracle == nullptr) continue;
    const double mine = run->summary.*value, best = oracle->summary.*value;
    if (best > 0) ratios.push_back(mine / best);
    const PolicyRun* random = run_of(report, info(Policy::kRandom).name, run->seed);
    if (random == nullptr) continue;
    const double worst = random->summary.*value;
    if (worst - best > kNoGap * worst) shares.push_back((worst - mine) / (worst - best));
  }
  to_oracle = median_of_known(std::move(ratios));
  gap_closed = median_of_known(std::move(shares));
}

}  // namespace

std::vector<uint64_t> seeds_of(const ScheduleReport& report) {
  std::vector<uint64_t> seeds;
  for (const PolicyRun& run : report.runs) {
    if (std::ranges::find(seeds, run.seed) == seeds.end()) seeds.push_back(run.seed);
  }
  return seeds;
}

std::vector<PolicyRow> policy_rows(const ScheduleReport& report) {
  std::vector<PolicyRow> rows;
  for (const PolicyRun& run : report.runs) {
    auto row = std::ranges::find(rows, run.summary.policy, &PolicyRow::policy);
    if (row == rows.end()) {
      rows.emplace_back();
      row = std::prev(rows.end());
      row->policy = run.summary.policy;
      row->middle = row->lowest = row->highest = run.summary;
    }
    row->runs.push_back(&run);
  }
  for (PolicyRow& row : rows) {
    for (const SummaryField& field : summary_fields()) {
      std::vector<double> values;
      for (const PolicyRun* run : row.runs) {
        values.push_back(run->summary.*field.value);
        row.lowest.*field.value = std::fmin(row.lowest.*field.value, values.back());
        row.highest.*field.value = std::fmax(row.highest.*field.value, values.back());
      }
      row.middle.*field.value = median_of_known(std::move(values));
    }
    set_beside_others(report, row, &ScheduleSummary::makespan_s, row.makespan_to_oracle, row.makespan_gap_closed);
    set_beside_others(report, row, &ScheduleSummary::mean_completion_s, row.completion_to_oracle,
                      row.completion_gap_closed);
  }
  return rows;
}

}  // namespace perfcast::fleet
