#include "schedule/offered_load.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "schedule/fluid_capacity.h"

namespace perfcast {
namespace {

std::vector<double> capacity_of(const Cluster& cluster, bool gpus) {
  std::vector<double> capacity;
  for (const NodeGroup& group : cluster.groups) {
    capacity.push_back(static_cast<double>(gpus ? group.gpus() : group.cores()));
  }
  return capacity;
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

double offered_load(const Workload& workload, const Cluster& cluster) {
  const auto columns = match_platforms(cluster, workload);
  if (!columns || workload.jobs.size() < 2 || cluster.groups.size() > 64) return kUnknown;
  const bool gpus = workload.jobs.front().gpus > 0;
  struct Sum {
    double jobs = 0;
    std::vector<double> unit_seconds;
  };
  std::map<std::pair<int32_t, uint64_t>, Sum> sums;
  double counted = 0;
  for (size_t i = 0; i < workload.size(); ++i) {
    const JobRequest& job = workload.jobs[i];
    if ((job.gpus > 0) != gpus) return kUnknown;
    uint64_t runs_on = 0;
    for (size_t g = 0; g < columns->size(); ++g) {
      if (!std::isnan(workload.times(i)[static_cast<size_t>((*columns)[g])])) runs_on |= uint64_t{1} << g;
    }
    if (runs_on == 0) continue;
    Sum& sum = sums[{job.program, runs_on}];
    sum.unit_seconds.resize(columns->size(), 0);
    sum.jobs += 1;
    counted += 1;
    for (size_t g = 0; g < columns->size(); ++g) {
      sum.unit_seconds[g] += workload.times(i)[static_cast<size_t>((*columns)[g])] * (gpus ? job.gpus : job.cores);
    }
  }
  std::vector<FluidKind> kinds;
  for (auto& [key, sum] : sums) {
    for (double& seconds : sum.unit_seconds) seconds /= sum.jobs;
    kinds.push_back({sum.jobs, sum.unit_seconds});
  }
  const double span_s = workload.jobs.back().arrival_s - workload.jobs.front().arrival_s;
  const auto most = kinds.empty() ? Error{"bad-mix", "", "", ""} : fluid_capacity(kinds, capacity_of(cluster, gpus));
  if (!most || !(span_s > 0)) return kUnknown;
  return (counted - 1) / span_s / most->jobs_per_s;
}

}  // namespace perfcast
