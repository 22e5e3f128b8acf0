#include "fleet/policy/share_policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "fleet/jobs/finish_time.h"
#include "fleet/policy/linear_program.h"
#include "fleet/policy/max_min_program.h"

namespace perfcast::fleet {
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
    if (problem.jobs[m].running != kNoIndex) give(m, static_cast<size_t>(problem.jobs[m].running));
  }
  for (size_t m = 0; m < problem.jobs.size(); ++m) {
    const ShareJob& job = problem.jobs[m];
    if (job.running != kNoIndex) continue;
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

// Gains that a solver can cope with: of the job that gains least at best, and up to so many times as much. What is lost
// is jobs that need next to no share.
std::vector<double> conditioned(const ShareProblem& problem, std::vector<double> gain) {
  // Beyond this many times the gain of the job that gains least, the difference is lost in a solver's tolerance, which
  // it would upset.
  constexpr double kMostGain = 1e5;
  constexpr size_t kCrowd = 200;
  constexpr double kStep = 1.25;
  const size_t groups = problem.groups, n = problem.jobs.size();
  std::vector<double> best(n, 0.0);
  for (size_t m = 0; m < n; ++m) {
    for (size_t g = 0; g < groups; ++g) best[m] = std::max(best[m], gain[m * groups + g]);
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
  return gain;
}

Result<std::vector<double>> makespan_aware(const ShareProblem& problem, LeftOver left_over) {
  const size_t groups = problem.groups, n = problem.jobs.size();
  std::vector<double> gain(n * groups, 0.0);
  for (size_t m = 0; m < n; ++m) {
    for (size_t g = 0; g < groups; ++g) {
      if (!can_run(problem, m, g)) continue;
      gain[m * groups + g] = 1 / (problem.seconds[m * groups + g] * problem.jobs[m].remaining);
    }
  }
  // Who ends before the last one doesn't matter to the objective: no levels to fill.
  return max_min_shares(problem, conditioned(problem, std::move(gain)),
                        left_over == LeftOver::kVertex ? left_over : LeftOver::kSum);
}

class FinishTimeFair {
 public:
  explicit FinishTimeFair(const ShareProblem& problem) : problem_(problem), own_s_(problem.jobs.size()) {
    const std::vector<double> speeds = isolated_speeds(problem);
    for (size_t m = 0; m < speeds.size(); ++m) {
      const ShareJob& job = problem.jobs[m];
      own_s_[m] = job.isolated_s + job.remaining / speeds[m];
      double fastest_s = kUnknown;
      for (size_t g = 0; g < problem.groups; ++g) {
        if (can_run(problem, m, g)) fastest_s = std::fmin(fastest_s, problem.seconds[m * problem.groups + g]);
      }
      // Nothing is better than all of its time on its fastest group, and the shares of their own fit all at once.
      best_ = std::max(best_, (job.elapsed_s + job.remaining * fastest_s) / own_s_[m]);
      reached_ = std::max(reached_, (job.elapsed_s + job.remaining / speeds[m]) / own_s_[m]);
    }
  }

  Result<std::vector<double>> solve(LeftOver left_over) {
    while (reached_ > best_ * (1 + kPrecision)) {
      const double rho = std::sqrt(best_ * reached_);
      auto shares = max_min_shares(problem_, conditioned(problem_, gains(rho)), LeftOver::kVertex);
      if (!shares) return shares;
      (meets(rho, *shares) ? reached_ : best_) = rho;
    }
    return max_min_shares(problem_, conditioned(problem_, gains(reached_ * (1 + kPrecision))),
                          left_over == LeftOver::kVertex ? left_over : LeftOver::kSum);
  }

 private:
  static constexpr double kPrecision = 0.005;

  // What each job's speed is worth: with a sum of 1 it ends at the ratio.
  std::vector<double> gains(double rho) const {
    std::vector<double> gain(problem_.jobs.size() * problem_.groups, 0.0);
    for (size_t m = 0; m < problem_.jobs.size(); ++m) {
      const ShareJob& job = problem_.jobs[m];
      const double left_s = rho * own_s_[m] - job.elapsed_s;  // above 0: rho is above what the job could reach alone
      for (size_t g = 0; g < problem_.groups; ++g) {
        if (!can_run(problem_, m, g)) continue;
        gain[m * problem_.groups + g] = left_s / (job.remaining * problem_.seconds[m * problem_.groups + g]);
      }
    }
    return gain;
  }
  bool meets(double rho, const std::vector<double>& shares) const {
    const std::vector<double> gain = gains(rho);
    for (size_t m = 0; m < problem_.jobs.size(); ++m) {
      double rate = 0;
      for (size_t g = 0; g < problem_.groups; ++g) {
        rate += gain[m * problem_.groups + g] * shares[m * problem_.groups + g];
      }
      if (rate < 1 - 1e-6) return false;
    }
    return true;
  }

  const ShareProblem& problem_;
  std::vector<double> own_s_;      // [n] in a share of its own, from its beginning to its end
  double best_ = 0, reached_ = 0;  // the ratio lies between: nothing is below, something is at the upper one
};

}  // namespace

std::vector<double> isolated_speeds(const ShareProblem& problem) {
  double weights[2] = {0, 0};
  for (const ShareJob& job : problem.jobs) weights[static_cast<size_t>(job.resource)] += job.weight;
  std::vector<double> speeds, seconds(problem.groups);
  for (size_t m = 0; m < problem.jobs.size(); ++m) {
    const ShareJob& job = problem.jobs[m];
    for (size_t g = 0; g < problem.groups; ++g) {
      seconds[g] = can_run(problem, m, g) ? problem.seconds[m * problem.groups + g] : kUnknown;
    }
    const std::vector<double> parts =
        parts_of_own_share(job.weight / weights[static_cast<size_t>(job.resource)], job.units,
                           job.resource == Resource::kGpus ? problem.gpus : problem.cores, seconds);
    double speed = 0;
    for (size_t g = 0; g < problem.groups; ++g) speed += parts[g] > 0 ? parts[g] / seconds[g] : 0;
    speeds.push_back(speed);
  }
  return speeds;
}

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
    case Policy::kFinishTimeFair:
      return FinishTimeFair(problem).solve(left_over);
    default:
      return usage_error("bad-option", fmt::format("policy {} hands out no shares", info(policy).name), "",
                         "one of: " + names_of_policies(true));
  }
}

}  // namespace perfcast::fleet
