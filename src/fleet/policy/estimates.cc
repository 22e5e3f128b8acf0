#include "fleet/policy/estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "fleet/jobs/job_power.h"

namespace perfcast::fleet {
namespace {

std::string names_without_estimates() {
  const auto blind = policy_names([](const PolicyInfo& policy) {
    return !policy.preempts && !policy.uses_forecasts() && !policy.backfills && !policy.knows_times;
  });
  const auto knowing = policy_names([](const PolicyInfo& policy) { return policy.knows_times; });
  return join(blind, ", ") + " without backfilling, " + join(knowing, ", ");
}

}  // namespace

double Estimates::read(Source source, size_t job, size_t column) const {
  const size_t entry = job * workload_->platforms.size() + column;
  switch (source) {
    case Source::kTime:
      return workload_->time_s[entry];
    case Source::kForecast:
      return workload_->forecast_s.empty() ? kUnknown : workload_->forecast_s[entry];
    case Source::kLimit:
      return workload_->jobs[job].limit_s;
  }
  return kUnknown;
}

double Estimates::estimate_s(size_t job, size_t group) const {
  const auto column = static_cast<size_t>(columns_[group]);
  if (std::isnan(workload_->time_s[job * workload_->platforms.size() + column])) return kUnknown;
  const double first = read(first_, job, column);
  return capped(std::isnan(first) ? read(second_, job, column) : first, job);
}

double Estimates::capped(double seconds, size_t job) const {
  const double limit_s = workload_->jobs[job].limit_s;
  return capped_ && limit_s < seconds ? limit_s : seconds;
}

double Estimates::cautious_s(size_t job, size_t group) const {
  if (info(policy_).needs != PolicyNeeds::kForecastsIntervals) return estimate_s(job, group);
  const double upper = workload_->row(workload_->upper_s, job)[static_cast<size_t>(columns_[group])];
  return std::isnan(upper) ? estimate_s(job, group) : capped(upper, job);
}

double Estimates::expense(size_t job, size_t group) const {
  if (weight_ == 0) return 1;
  const NodeGroup& nodes = cluster_->groups[group];
  const double estimate = estimate_s(job, group);
  if (info(policy_).needs == PolicyNeeds::kForecastsPrices) {
    return nodes_held(workload_->jobs[job], nodes) * nodes.price_per_node_hour / 3600 * estimate;
  }
  return power_above_idle_w(*workload_, job, nodes, columns_[group]) * estimate;
}

std::vector<int32_t> Estimates::platform_ranks(double tie_ratio) const {
  const size_t groups = columns_.size();
  std::vector<double> mean_log(groups, 0);
  double rows = 0;
  for (size_t job = 0; job < workload_->size(); ++job) {
    std::vector<double> logs;
    for (size_t group = 0; group < groups; ++group) {
      const double seconds = workload_->times(job)[static_cast<size_t>(columns_[group])];
      if (seconds > 0) logs.push_back(std::log(seconds));
    }
    if (logs.size() != groups) continue;  // means over other jobs would not compare
    for (size_t group = 0; group < groups; ++group) mean_log[group] += logs[group];
    ++rows;
  }
  std::vector<int32_t> order(groups);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return mean_log[static_cast<size_t>(a)] < mean_log[static_cast<size_t>(b)];
  });
  std::vector<int32_t> ranks(groups, 0);
  for (size_t i = 1; i < groups; ++i) {
    const auto here = static_cast<size_t>(order[i]);
    const auto ahead = static_cast<size_t>(order[i - 1]);
    const double apart = rows > 0 ? (mean_log[here] - mean_log[ahead]) / rows : 0;
    ranks[here] = apart > std::log1p(tie_ratio) ? static_cast<int32_t>(i) : ranks[ahead];
  }
  return ranks;
}

Result<Estimates> Estimates::make(const Cluster& cluster, const Workload& workload, Policy policy,
                                  const std::vector<int32_t>& columns, const SimulationOptions& options,
                                  bool backfills) {
  Estimates estimates;
  estimates.cluster_ = &cluster;
  estimates.workload_ = &workload;
  estimates.columns_ = columns;
  estimates.policy_ = policy;
  estimates.capped_ = options.kill_at_limit;
  if (info(policy).knows_times) return estimates;  // true times
  const std::string name = info(policy).name;
  const PolicyNeeds needs = info(policy).needs;
  if (needs == PolicyNeeds::kNothing) {
    if (!backfills) return estimates;  // it uses times for nothing but where a job can run
    estimates.first_ = Source::kLimit;
    estimates.second_ = Source::kForecast;
  } else {
    estimates.first_ = Source::kForecast;
    estimates.second_ = Source::kLimit;
  }
  if (needs == PolicyNeeds::kForecastsIntervals && workload.upper_s.empty()) {
    return infeasible_error("no-interval", "the jobs have no intervals, which " + name + " goes by", workload.source,
                            "upper_s of each job and platform, or another policy");
  }
  const bool by_cost = needs == PolicyNeeds::kForecastsPrices, by_energy = needs == PolicyNeeds::kForecastsPower;
  if (by_cost || (by_energy && workload.energy_joules.empty())) {
    for (const NodeGroup& group : cluster.groups) {
      if (!std::isnan(by_cost ? group.price_per_node_hour : group.busy_w_per_node - group.idle_w_per_node)) continue;
      return infeasible_error(by_cost ? "no-price" : "no-power",
                              fmt::format("'{}' has no {}, which {} goes by", printable(group.platform),
                                          by_cost ? "price" : "idle and busy power", name),
                              "the cluster",
                              by_cost
                                  ? "price_per_node_hour of every group"
                                  : "idle_w_per_node and busy_w_per_node of every group, or energy_joules of the jobs");
    }
  }
  if (by_cost || by_energy) estimates.weight_ = options.weight;
  for (size_t job = 0; job < workload.size(); ++job) {
    bool runs = false;
    bool known = false;
    for (size_t group = 0; group < columns.size(); ++group) {
      runs |= !std::isnan(workload.times(job)[static_cast<size_t>(columns[group])]);
      known |= estimates.known(job, group);
    }
    if (runs && !known) {
      return infeasible_error(
          "no-forecast", fmt::format("job {} has neither a forecast nor a limit", workload.jobs[job].id),
          workload.source,
          "forecast_s on a platform, or limit_s, of every job; without them: " + names_without_estimates());
    }
  }
  return estimates;
}

}  // namespace perfcast::fleet
