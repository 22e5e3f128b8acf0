#include "fleet/compare/policy_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/parallel.h"
#include "base/significant.h"
#include "base/text.h"
#include "fleet/jobs/summary.h"
#include "fleet/simulate/round_simulator.h"
#include "fleet/simulate/simulator.h"
#include "fleet/traces/job_mix.h"

namespace perfcast::fleet {
namespace {

Result<Outcome> run_policy(const Cluster& cluster, const Workload& workload, Policy policy,
                           const ComparisonOptions& options, uint64_t seed, bool segments) {
  if (info(policy).preempts) {
    RoundOptions rounds = options.rounds;
    rounds.segments = true;  // what a preempted job used can't be told without
    rounds.kill_at_limit = options.simulation.kill_at_limit;
    return simulate_rounds(cluster, workload, policy, rounds);
  }
  SimulationOptions simulation = options.simulation;
  simulation.seed = seed;
  simulation.record_segments = segments;
  return simulate(cluster, workload, policy, simulation);
}

// Backfilling goes by the time asked for; where jobs don't say, by the forecast.
bool goes_by_forecasts(Policy policy, const Workload& workload, const ComparisonOptions& options) {
  if (info(policy).uses_forecasts()) return true;
  if (info(policy).preempts || info(policy).knows_times) return false;
  if (!options.simulation.backfill && !info(policy).backfills) return false;
  return std::any_of(workload.jobs.begin(), workload.jobs.end(),
                     [](const JobRequest& job) { return std::isnan(job.limit_s); });
}

// Where nobody named the policies, those that can't be used with what is known are left out.
bool may_be_left_out(const Error& error, const ComparisonOptions& options) {
  return options.policies.empty() && error.kind == ErrorKind::kInfeasible;
}

// What the reader of a comparison should know of these jobs.
void note_oddities(const Cluster& cluster, const ComparisonOptions& options, const std::vector<Policy>& ran,
                   ScheduleReport& report) {
  const Workload& workload = report.workload;
  const auto columns = match_platforms(cluster, workload);
  if (!columns) return;
  size_t barred = 0;
  double fastest_sum_s = 0;
  double counted = 0;
  for (size_t job = 0; job < workload.size(); ++job) {
    bool lacks = false;
    double fastest_s = kUnknown;
    for (const int32_t column : *columns) {
      const double time_s = workload.times(job)[static_cast<size_t>(column)];
      if (std::isnan(time_s)) continue;
      if (!(fastest_s <= time_s)) fastest_s = time_s;
      lacks = lacks || (!workload.forecast_s.empty() && std::isnan(workload.jobs[job].limit_s) &&
                        std::isnan(workload.forecasts(job)[static_cast<size_t>(column)]));
    }
    barred += lacks ? 1 : 0;
    if (!std::isnan(fastest_s)) {
      fastest_sum_s += fastest_s;
      ++counted;
    }
  }
  if (barred > 0) {
    report.notes.push_back(fmt::format(
        "{} of {} jobs have no forecast on a platform where they can run: policies that go by forecasts don't use it",
        barred, workload.size()));
  }
  if (priorities_differ(workload)) {
    auto names = policy_names([](const PolicyInfo& policy) { return policy.weighs_priorities; });
    const std::string last = names.back();
    names.pop_back();
    report.notes.push_back(fmt::format(
        "jobs differ in priority: {} and {} weigh them, the other policies don't look at them; fair owners compares "
        "the owners' mean rho, which allows for them",
        join(names, ", "), last));
  }
  if (counted > 0 && options.rounds.round_s > fastest_sum_s / counted &&
      std::any_of(ran.begin(), ran.end(), [](Policy policy) { return info(policy).preempts; })) {
    report.notes.push_back(
        fmt::format("a round of {:g} s is longer than a job takes on average ({} s): policies that work in rounds wait "
                    "for the next one",
                    options.rounds.round_s, significant(fastest_sum_s / counted, 3)));
  }
}

std::vector<Policy> chosen(const ComparisonOptions& options) {
  std::vector<Policy> chosen;
  if (options.policies.empty()) {
    for (const PolicyInfo& policy : policies()) chosen.push_back(policy.policy);
  }
  for (const Policy policy : options.policies) {
    if (std::find(chosen.begin(), chosen.end(), policy) == chosen.end()) chosen.push_back(policy);
  }
  return chosen;
}

// One result for each policy; an error names the policy.
Result<std::vector<Result<Outcome>>> run_all(const Cluster& cluster, const Workload& workload,
                                             const std::vector<Policy>& policies, const ComparisonOptions& options,
                                             uint64_t seed, bool segments, const std::string& what) {
  std::vector<Result<Outcome>> outcomes(policies.size(), Outcome());
  std::atomic<size_t> done{0};
  const Status ran = parallel_for(policies.size(), options.threads, [&](size_t i) -> Status {
    outcomes[i] = run_policy(cluster, workload, policies[i], options, seed, segments);
    if (!outcomes[i]) {
      Error error = outcomes[i].error();
      error.message += fmt::format(" (policy {})", info(policies[i]).name);
      outcomes[i] = Result<Outcome>(std::move(error));
    }
    if (options.progress) options.progress(fmt::format("{}: {} of {} policies", what, ++done, policies.size()));
    return {};  // what a policy can't do decides nothing for the others
  });
  if (!ran) return ran.error();
  return outcomes;
}

}  // namespace

Result<ScheduleReport> compare_policies(const Cluster& cluster, const WorkloadSource& source,
                                        const ComparisonOptions& options) {
  std::vector<Policy> policies = chosen(options);
  ScheduleReport report;
  report.cluster = cluster;
  for (int64_t repetition = 0; repetition < options.seeds; ++repetition) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(repetition);
    auto workload = source(seed);
    if (!workload) return workload.error();
    if (const auto columns = match_platforms(cluster, *workload); !columns) return columns.error();
    const bool first = repetition == 0;
    auto outcomes = run_all(cluster, *workload, policies, options, seed, first && options.keep_segments,
                            fmt::format("seed {}", seed));
    if (!outcomes) return outcomes.error();
    std::vector<Policy> able;
    for (size_t i = 0; i < policies.size(); ++i) {
      Result<Outcome>& outcome = (*outcomes)[i];
      if (!outcome) {
        if (!may_be_left_out(outcome.error(), options)) return outcome.error();
        report.notes.push_back(fmt::format("{} left out: {}", info(policies[i]).name, outcome.error().message));
        continue;
      }
      able.push_back(policies[i]);
      PolicyRun run{seed, summarise(cluster, *workload, *outcome), {}};
      if (first) run.outcome = std::move(*outcome);
      report.runs.push_back(std::move(run));
    }
    policies = std::move(able);
    if (first) report.workload = std::move(*workload);
  }
  note_oddities(cluster, options, policies, report);
  return report;
}

Result<ErrorSweep> sweep_errors(const Cluster& cluster, const WorkloadSource& source, const ComparisonOptions& options,
                                const std::vector<double>& error_ratios) {
  ErrorSweep sweep;
  std::vector<Policy> blind;
  std::vector<Policy> informed;
  for (int64_t repetition = 0; repetition < options.seeds; ++repetition) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(repetition);
    auto workload = source(seed);
    if (!workload) return workload.error();
    if (repetition == 0) {
      for (const Policy policy : chosen(options)) {
        (goes_by_forecasts(policy, *workload, options) ? informed : blind).push_back(policy);
      }
      for (const Policy policy : blind) {
        if (!info(policy).knows_times) sweep.forecast_free.emplace_back(info(policy).name);
      }
    }
    const auto add = [&](const std::vector<Policy>& group, const std::vector<double>& errors,
                         const std::string& what) -> Status {
      const auto outcomes = run_all(cluster, *workload, group, options, seed, false, what);
      if (!outcomes) return outcomes.error();
      for (size_t i = 0; i < group.size(); ++i) {
        const Result<Outcome>& outcome = (*outcomes)[i];
        if (!outcome) {
          if (may_be_left_out(outcome.error(), options)) continue;
          return outcome.error();
        }
        const ScheduleSummary summary = summarise(cluster, *workload, *outcome);
        for (const double error : errors) {
          sweep.points.push_back({error, info(group[i]).name, seed, summary.makespan_s, summary.mean_completion_s});
        }
      }
      return {};
    };
    if (Status added = add(blind, error_ratios, fmt::format("sweep, seed {}", seed)); !added) return added.error();
    for (const double error : error_ratios) {
      PerturbOptions wrong;
      wrong.error_ratio = error;
      wrong.seed = seed;
      if (Status perturbed = perturb_forecasts(*workload, wrong); !perturbed) return perturbed.error();
      if (Status added = add(informed, {error}, fmt::format("sweep, seed {}, error {:.0f}%", seed, 100 * error));
          !added) {
        return added.error();
      }
    }
  }
  return sweep;
}

}  // namespace perfcast::fleet
