#include "schedule/compare/policy_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/text.h"
#include "schedule/jobs/summary.h"
#include "schedule/traces/job_mix.h"

namespace perfcast {
namespace {

Result<AnyPolicy> find(const std::string& name) {
  std::vector<std::string> names;
  for (const AnyPolicy& policy : all_policies()) {
    if (policy.name == name) return policy;
    names.push_back(policy.name);
  }
  return usage_error("unknown-policy", "there is no policy '" + printable(name) + "'", "",
                     "near it: " + nearest_names(name, names) + "; all: " + join(names, ", "));
}

Result<Outcome> run_policy(const Cluster& cluster, const Workload& workload, const AnyPolicy& policy,
                           const ComparisonOptions& options, uint64_t seed, bool segments) {
  if (policy.preempts) {
    const auto share = find_share_policy(policy.name);
    if (!share) return share.error();
    RoundOptions rounds = options.rounds;
    rounds.segments = true;  // what a preempted job used can't be told without
    rounds.kill_at_limit = options.simulation.kill_at_limit;
    return simulate_rounds(cluster, workload, *share, rounds);
  }
  const auto plain = policy_named(policy.name);
  if (!plain) return plain.error();
  SimulationOptions simulation = options.simulation;
  simulation.seed = seed;
  simulation.record_segments = segments;
  return simulate(cluster, workload, *plain, simulation);
}

// Backfilling goes by the time asked for; where jobs don't say, by the forecast.
bool goes_by_forecasts(const AnyPolicy& policy, const Workload& workload, const ComparisonOptions& options) {
  if (policy.uses_forecasts || policy.preempts || policy.name == info(Policy::kOracle).name) {
    return policy.uses_forecasts;
  }
  if (!options.simulation.backfill && policy.name != info(Policy::kEasy).name) return false;
  return std::any_of(workload.jobs.begin(), workload.jobs.end(),
                     [](const JobRequest& job) { return std::isnan(job.limit_s); });
}

bool lacks_a_figure(const Error& error) {
  static const std::set<std::string> kCodes = {"no-forecast", "no-interval", "no-power", "no-price", "too-many-rounds"};
  return kCodes.contains(error.code);
}

// Calls work(i) for every i below `count` on so many threads; what it writes must be its own.
void in_parallel(size_t count, int threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  const auto worker = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads && static_cast<size_t>(i) < count; ++i) others.emplace_back(worker);
  worker();
  for (std::thread& other : others) other.join();
}

// What the reader of a comparison should know of these jobs.
void note_oddities(const Cluster& cluster, const ComparisonOptions& options, ScheduleReport& report) {
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
  const auto preempts = [](const PolicyRun& run) { return find_share_policy(run.summary.policy).ok(); };
  if (counted > 0 && options.rounds.round_s > fastest_sum_s / counted &&
      std::any_of(report.runs.begin(), report.runs.end(), preempts)) {
    report.notes.push_back(
        fmt::format("a round of {:g} s is longer than a job takes on average ({:.3g} s): policies that preempt wait "
                    "for the next one",
                    options.rounds.round_s, fastest_sum_s / counted));
  }
}

Result<std::vector<AnyPolicy>> chosen(const ComparisonOptions& options) {
  if (options.policies.empty()) return all_policies();
  std::vector<AnyPolicy> policies;
  for (const std::string& name : options.policies) {
    auto policy = find(name);
    if (!policy) return policy.error();
    const auto same = [&](const AnyPolicy& other) { return other.name == name; };
    if (std::none_of(policies.begin(), policies.end(), same)) policies.push_back(*policy);
  }
  return policies;
}

// One result for each policy; an error names the policy.
std::vector<std::optional<Result<Outcome>>> run_all(const Cluster& cluster, const Workload& workload,
                                                    const std::vector<AnyPolicy>& policies,
                                                    const ComparisonOptions& options, uint64_t seed, bool segments,
                                                    const std::string& what) {
  std::vector<std::optional<Result<Outcome>>> outcomes(policies.size());
  std::atomic<size_t> done{0};
  in_parallel(policies.size(), options.threads, [&](size_t i) {
    outcomes[i] = run_policy(cluster, workload, policies[i], options, seed, segments);
    if (!*outcomes[i]) {
      Error error = outcomes[i]->error();
      error.message += " (policy " + policies[i].name + ")";
      outcomes[i] = Result<Outcome>(std::move(error));
    }
    if (options.progress) options.progress(fmt::format("{}: {} of {} policies", what, ++done, policies.size()));
  });
  return outcomes;
}

}  // namespace

std::vector<AnyPolicy> all_policies() {
  std::vector<AnyPolicy> all;
  for (const PolicyInfo& policy : policies()) {
    const bool blind = policy.policy == Policy::kFcfs || policy.policy == Policy::kRoundRobin ||
                       policy.policy == Policy::kRandom || policy.policy == Policy::kFastestFirst ||
                       policy.policy == Policy::kEasy || policy.policy == Policy::kOracle;
    all.push_back({policy.name, policy.text, false, !blind});
  }
  for (const SharePolicyInfo& policy : share_policies()) {
    all.push_back({std::string(policy.name), std::string(policy.text), true, uses_forecasts(policy.policy)});
  }
  return all;
}

Status check_policies(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (const auto policy = find(name); !policy) return policy.error();
  }
  return {};
}

Result<ScheduleReport> compare_policies(const Cluster& cluster, const WorkloadSource& source,
                                        const ComparisonOptions& options) {
  auto policies = chosen(options);
  if (!policies) return policies.error();
  ScheduleReport report;
  report.cluster = cluster;
  for (int64_t repetition = 0; repetition < options.seeds; ++repetition) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(repetition);
    auto workload = source(seed);
    if (!workload) return workload.error();
    if (const auto columns = match_platforms(cluster, *workload); !columns) return columns.error();
    const bool first = repetition == 0;
    auto outcomes = run_all(cluster, *workload, *policies, options, seed, first && options.keep_segments,
                            fmt::format("seed {}", seed));
    std::vector<AnyPolicy> able;
    for (size_t i = 0; i < policies->size(); ++i) {
      Result<Outcome>& outcome = *outcomes[i];
      if (!outcome) {
        if (!options.policies.empty() || !lacks_a_figure(outcome.error())) return outcome.error();
        report.notes.push_back((*policies)[i].name + " left out: " + outcome.error().message);
        continue;
      }
      able.push_back((*policies)[i]);
      PolicyRun run{seed, summarise(cluster, *workload, *outcome), {}};
      if (first) run.outcome = std::move(*outcome);
      report.runs.push_back(std::move(run));
    }
    *policies = std::move(able);
    if (first) report.workload = std::move(*workload);
  }
  note_oddities(cluster, options, report);
  return report;
}

Result<ErrorSweep> sweep_errors(const Cluster& cluster, const WorkloadSource& source, const ComparisonOptions& options,
                                const std::vector<double>& error_ratios) {
  const auto policies = chosen(options);
  if (!policies) return policies.error();
  ErrorSweep sweep;
  std::vector<AnyPolicy> blind;
  std::vector<AnyPolicy> informed;
  for (int64_t repetition = 0; repetition < options.seeds; ++repetition) {
    const uint64_t seed = options.seed + static_cast<uint64_t>(repetition);
    auto workload = source(seed);
    if (!workload) return workload.error();
    if (repetition == 0) {
      for (const AnyPolicy& policy : *policies) {
        (goes_by_forecasts(policy, *workload, options) ? informed : blind).push_back(policy);
      }
      for (const AnyPolicy& policy : blind) {
        if (policy.name != info(Policy::kOracle).name) sweep.forecast_free.push_back(policy.name);
      }
    }
    const auto add = [&](const std::vector<AnyPolicy>& group, const std::vector<double>& errors,
                         const std::string& what) -> Status {
      const auto outcomes = run_all(cluster, *workload, group, options, seed, false, what);
      for (size_t i = 0; i < group.size(); ++i) {
        const Result<Outcome>& outcome = *outcomes[i];
        if (!outcome) {
          if (options.policies.empty() && lacks_a_figure(outcome.error())) continue;
          return outcome.error();
        }
        const ScheduleSummary summary = summarise(cluster, *workload, *outcome);
        for (const double error : errors) {
          sweep.points.push_back({error, group[i].name, seed, summary.makespan_s, summary.mean_completion_s});
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

}  // namespace perfcast
