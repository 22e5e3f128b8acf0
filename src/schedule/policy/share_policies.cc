#include "schedule/policy/share_policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "schedule/policy/linear_program.h"
#include "schedule/policy/max_min_program.h"

namespace perfcast {
namespace {

bool can_run(const ShareProblem& problem, size_t job, size_t group) {
  return !std::isnan(problem.seconds[job * problem.groups + group]) &&
         problem.capacity(problem.jobs[job].resource, group) >= problem.jobs[job].units;
}

std::vector<double> fifo(const ShareProblem& problem, bool fastest) {
  const size_t groups = problem.groups;
  std::vector<double> shares(problem.jobs.size() * groups, 0.0), cores = problem.cores, gpus = problem.gpus;
  const auto room = [&](const ShareJob& job, size_t g) -> double& {
    return job.resource == Resource::kGpus ? gpus[g] : cores[g];
  };
  const auto give = [&](size_t m, size_t g) {
    shares[m * groups + g] = 1;
    room(problem.jobs[m], g) -= problem.jobs[m].units;
  };
  for (size_t m = 0; m < problem.jobs.size(); ++m) {
    if (problem.jobs[m].running != kNone) give(m, static_cast<size_t>(problem.jobs[m].running));
  }
  for (size_t m = 0; m < problem.jobs.size(); ++m) {
    const ShareJob& job = problem.jobs[m];
    if (job.running != kNone) continue;
    size_t chosen = groups;
    for (size_t g = 0; g < groups && (fastest || chosen == groups); ++g) {
      if (!can_run(problem, m, g) || room(job, g) < job.units) continue;
      const bool better = chosen == groups || problem.seconds[m * groups + g] < problem.seconds[m * groups + chosen];
      if (better) chosen = g;
    }
    if (chosen == groups) break;
    give(m, chosen);
  }
  return shares;
}

// Of jobs that are alike only the earliest can get time: an exchange of time between two of them favours the earlier
// one. As many as the cluster can hold at once therefore do for each kind.
std::vector<size_t> earliest_of_each_kind(const ShareProblem& problem) {
  double cores = 0, gpus = 0;
  for (size_t g = 0; g < problem.groups; ++g) {
    cores += problem.cores[g];
    gpus += problem.gpus[g];
  }
  std::map<std::vector<double>, double> held;  // units of a kind's jobs so far
  std::vector<size_t> chosen;
  std::vector<double> key;
  for (size_t m = 0; m < problem.jobs.size(); ++m) {
    const ShareJob& job = problem.jobs[m];
    key.clear();
    for (size_t g = 0; g < problem.groups; ++g) {
      key.push_back(can_run(problem, m, g) ? problem.seconds[m * problem.groups + g] : -1);
    }
    const double fastest = [&] {
      double least = 0;
      for (const double s : key) least = s > 0 && (least == 0 || s < least) ? s : least;
      return least;
    }();
    for (double& s : key) s = s > 0 ? std::round(fastest / s * 1e12) : 0;  // relative speeds, freed of rounding
    key.push_back(job.units);
    key.push_back(job.resource == Resource::kGpus ? 1 : 0);
    double& units = held[key];
    if (units >= (job.resource == Resource::kGpus ? gpus : cores)) continue;
    units += job.units;
    chosen.push_back(m);
  }
  return chosen;
}

Result<std::vector<double>> fifo_aware(const ShareProblem& problem) {
  const size_t groups = problem.groups, n = problem.jobs.size();
  LinearProgram program(LinearProgram::Sense::kMaximise);
  std::vector<std::vector<LinearProgram::Entry>> used(2 * groups);
  std::vector<LinearProgram::Entry> share;
  std::vector<std::pair<size_t, int>> columns;  // index of a share, its column
  for (const size_t m : earliest_of_each_kind(problem)) {
    const ShareJob& job = problem.jobs[m];
    double fastest = 0;
    for (size_t g = 0; g < groups; ++g) {
      if (can_run(problem, m, g)) fastest = std::max(fastest, 1 / problem.seconds[m * groups + g]);
    }
    share.clear();
    for (size_t g = 0; g < groups; ++g) {
      if (!can_run(problem, m, g)) continue;
      const double speed = 1 / problem.seconds[m * groups + g] / fastest;
      const int x = program.add_column(static_cast<double>(n - m) / static_cast<double>(n) * speed, 0, 1);
      columns.emplace_back(m * groups + g, x);
      share.push_back({x, 1});
      used[(job.resource == Resource::kGpus ? groups : 0) + g].push_back({x, job.units});
    }
    program.add_row(-kNoBound, 1, share);
  }
  for (size_t g = 0; g < groups; ++g) {
    program.add_row(-kNoBound, problem.cores[g], used[g]);
    program.add_row(-kNoBound, problem.gpus[g], used[groups + g]);
  }
  const auto solved = program.solve();
  if (!solved) return solved.error();
  std::vector<double> shares(n * groups, 0.0);
  for (const auto& [at, x] : columns) {
    shares[at] = clean_share(solved->values[static_cast<size_t>(x)]);
  }
  return shares;
}

// Where every job can run on every group the split by capacity is feasible and even; else the nearest to it that is.
Result<std::vector<double>> max_min(const ShareProblem& problem) {
  const size_t groups = problem.groups, n = problem.jobs.size();
  std::vector<double> gain(n * groups, 0.0), even(n * groups, 0.0);
  for (size_t m = 0; m < n; ++m) {
    const ShareJob& job = problem.jobs[m];
    double units = 0;
    for (size_t g = 0; g < groups; ++g) {
      if (!can_run(problem, m, g)) continue;
      gain[m * groups + g] = job.units / job.weight;
      units += problem.capacity(job.resource, g);
    }
    for (size_t g = 0; g < groups; ++g) {
      if (can_run(problem, m, g)) even[m * groups + g] = problem.capacity(job.resource, g) / units;
    }
  }
  const auto shares = max_min_shares(problem, gain, LeftOver::kWaterFill);
  if (!shares) return shares.error();
  std::vector<double> used(2 * groups, 0.0);
  bool fits = true;
  for (size_t m = 0; m < n; ++m) {
    double time = 0;
    for (size_t g = 0; g < groups; ++g) time += (*shares)[m * groups + g];
    const bool on_gpus = problem.jobs[m].resource == Resource::kGpus;
    for (size_t g = 0; g < groups; ++g) {
      even[m * groups + g] *= time;
      double& sum = used[(on_gpus ? groups : 0) + g];
      sum += even[m * groups + g] * problem.jobs[m].units;
      fits = fits && sum <= problem.capacity(problem.jobs[m].resource, g) * (1 + 1e-6);
    }
  }
  return fits ? even : *shares;
}

Result<std::vector<double>> max_min_aware(const ShareProblem& problem, LeftOver left_over) {
  const size_t groups = problem.groups, n = problem.jobs.size();
  std::vector<double> gain(n * groups, 0.0);
  for (size_t m = 0; m < n; ++m) {
    const ShareJob& job = problem.jobs[m];
    double units = 0, equal = 0;  // equal: speed when time is split by capacity over all groups
    for (size_t g = 0; g < groups; ++g) {
      const double capacity = problem.capacity(job.resource, g);
      units += capacity;
      if (can_run(problem, m, g)) equal += capacity / problem.seconds[m * groups + g];
    }
    equal /= units;
    for (size_t g = 0; g < groups; ++g) {
      if (!can_run(problem, m, g)) continue;
      const double relative = 1 / problem.seconds[m * groups + g] / equal * job.units / job.weight;
      gain[m * groups + g] =
          std::round(relative * 1e12) / 1e12;  // so that jobs of a kind are equal in spite of rounding
    }
  }
  return max_min_shares(problem, gain, left_over);
}

Result<std::vector<double>> makespan_aware(const ShareProblem& problem, LeftOver left_over) {
  // A job that is all but done needs next to no share: beyond this many times the speed, measured in work left, of the
  // job that needs longest, the difference is lost in a solver's tolerance, which it would upset.
  constexpr double kMostGain = 1e5;
  constexpr size_t kCrowd = 200;
  constexpr double kStep = 1.25;
  const size_t groups = problem.groups, n = problem.jobs.size();
  std::vector<double> gain(n * groups, 0.0);
  std::vector<double> best(n, 0.0);
  for (size_t m = 0; m < n; ++m) {
    for (size_t g = 0; g < groups; ++g) {
      if (!can_run(problem, m, g)) continue;
      gain[m * groups + g] = 1 / (problem.seconds[m * groups + g] * problem.jobs[m].remaining);
      best[m] = std::max(best[m], gain[m * groups + g]);
    }
  }
  const double slowest = *std::min_element(best.begin(), best.end());
  for (size_t m = 0; m < n; ++m) {
    double speed = std::min(best[m] / slowest, kMostGain);
    // Of a crowd, work left is told apart in steps of 25% only: jobs of a kind then share columns, and a program for
    // each round can be afforded. What is rounded away evens out, as the steps are taken anew while work is done.
    if (n > kCrowd) speed = std::pow(kStep, std::round(std::log(speed) / std::log(kStep)));
    for (size_t g = 0; g < groups; ++g) {
      const double relative = std::round(gain[m * groups + g] / best[m] * 1e9) / 1e9;
      gain[m * groups + g] = relative * speed;
    }
  }
  // Who ends before the last one doesn't matter to the objective: no levels to fill.
  return max_min_shares(problem, gain, left_over == LeftOver::kVertex ? left_over : LeftOver::kSum);
}

}  // namespace

Result<std::vector<double>> allocate_shares(Policy policy, LeftOver left_over, const ShareProblem& problem) {
  if (problem.jobs.empty()) return std::vector<double>();
  switch (policy) {
    case Policy::kFifo:
      return fifo(problem, false);
    case Policy::kFifoFastest:
      return fifo(problem, true);
    case Policy::kFifoAware:
      return fifo_aware(problem);
    case Policy::kMaxMin:
      return max_min(problem);
    case Policy::kMaxMinAware:
      return max_min_aware(problem, left_over);
    case Policy::kMakespanAware:
      return makespan_aware(problem, left_over);
    default:
      return usage_error("bad-option", fmt::format("policy {} hands out no shares", info(policy).name), "",
                         "one of: " + names_of_policies(true));
  }
}

}  // namespace perfcast
