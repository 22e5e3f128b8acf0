#include "fleet/capacity/offered_load.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "fleet/capacity/fluid_capacity.h"
#include "fleet/policy/node_pool.h"

namespace perfcast::fleet {
namespace {

std::vector<double> capacity_of(const Cluster& cluster, bool gpus) {
  std::vector<double> capacity;
  for (const NodeGroup& group : cluster.groups) {
    capacity.push_back(static_cast<double>(gpus ? group.gpus() : group.cores()));
  }
  return capacity;
}

using UnitSeconds = std::vector<double>;  // [groups] core-seconds (GPU-seconds) of a job there; NaN: can't run

// Jobs by the proportions of their times, told apart as finely as a linear program of moderate size can.
std::vector<FluidKind> kinds_of(const std::vector<UnitSeconds>& jobs) {
  constexpr size_t kMostFluidKinds = 300;
  struct Sum {
    double jobs = 0;
    UnitSeconds seconds;
  };
  std::map<std::vector<int64_t>, Sum> sums;
  for (double width = 1e-3; sums.empty() || sums.size() > kMostFluidKinds; width *= 4) {
    sums.clear();
    for (const UnitSeconds& job : jobs) {
      const auto known = [](double seconds) { return seconds > 0; };  // false for NaN
      const auto first = std::find_if(job.begin(), job.end(), known);
      std::vector<int64_t> key;
      for (const double seconds : job) {
        key.push_back(std::isnan(seconds) ? INT64_MIN
                      : seconds == 0      ? INT64_MAX
                                          : std::llround(std::log(seconds / *first) / width));
      }
      Sum& sum = sums[std::move(key)];
      sum.jobs += 1;
      sum.seconds.resize(job.size(), 0);
      for (size_t g = 0; g < job.size(); ++g) sum.seconds[g] += job[g];
    }
    if (width > 1e3) break;
  }
  std::vector<FluidKind> kinds;
  for (auto& [key, sum] : sums) {
    for (double& seconds : sum.seconds) seconds /= sum.jobs;
    kinds.push_back({sum.jobs, std::move(sum.seconds)});
  }
  return kinds;
}

}  // namespace

Result<double> highest_rate_per_s(const ProgramMix& mix, const Cluster& cluster) {
  std::vector<FluidKind> kinds;
  const bool gpus = !mix.programs.empty() && mix.programs.front().gpus > 0;
  for (const MixProgram& program : mix.programs) {
    if ((program.gpus > 0) != gpus) {
      return Error{"bad-mix", "some programs ask for GPUs and others don't: a load has no one meaning", program.name,
                   "a rate of arrivals instead of a load"};
    }
    FluidKind kind;
    kind.share = program.weight;
    for (const NodeGroup& group : cluster.groups) {
      const auto found = std::find(mix.platforms.begin(), mix.platforms.end(), group.platform);
      if (found == mix.platforms.end()) {
        return Error{"missing-platform", "the mix has no times on '" + group.platform + "'", "the cluster",
                     "a platform of the mix"};
      }
      kind.unit_seconds.push_back(program.time_s[static_cast<size_t>(found - mix.platforms.begin())] *
                                  (gpus ? program.gpus : program.cores));
    }
    kinds.push_back(std::move(kind));
  }
  const auto most = fluid_capacity(kinds, capacity_of(cluster, gpus));
  if (!most) return most.error();
  return most->jobs_per_s;
}

double offered_load(const Workload& workload, const Cluster& cluster, bool kill_at_limit) {
  const auto columns = match_platforms(cluster, workload);
  if (!columns || workload.jobs.size() < 2) return kUnknown;
  const bool gpus = workload.jobs.front().gpus > 0;
  std::vector<NodePool> pools;
  for (const NodeGroup& group : cluster.groups) pools.emplace_back(group);
  std::vector<UnitSeconds> jobs;
  for (size_t i = 0; i < workload.size(); ++i) {
    const JobRequest& job = workload.jobs[i];
    if ((job.gpus > 0) != gpus) return kUnknown;
    const TaskShape shape(job);
    UnitSeconds seconds;
    bool runs = false;
    for (size_t g = 0; g < columns->size(); ++g) {
      double time_s = workload.times(i)[static_cast<size_t>((*columns)[g])];
      if (kill_at_limit && job.limit_s < time_s) time_s = job.limit_s;
      seconds.push_back(pools[g].fits_when_empty(shape) ? time_s * (gpus ? job.gpus : job.cores) : kUnknown);
      runs = runs || !std::isnan(seconds.back());
    }
    if (runs) jobs.push_back(std::move(seconds));
  }
  const double span_s = workload.jobs.back().arrival_s - workload.jobs.front().arrival_s;
  if (jobs.empty() || !(span_s > 0)) return kUnknown;
  const auto most = fluid_capacity(kinds_of(jobs), capacity_of(cluster, gpus));
  if (!most) return kUnknown;
  return static_cast<double>(jobs.size() - 1) / span_s / most->jobs_per_s;
}

}  // namespace perfcast::fleet
