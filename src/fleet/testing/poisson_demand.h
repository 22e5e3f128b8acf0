#pragma once
// Demands for tests of capacity planning: Poisson arrivals and exponential lengths, the same jobs at every rate.

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

// One kind of job: its mean time on each platform, NaN where it can't run.
struct DemandKind {
  double share = 1;
  std::vector<double> mean_s;
  int32_t cores = 1;
  double memory_bytes = kUnknown;
  double deadline_s = kUnknown;  // after its arrival
  bool fixed_length = false;
  int32_t gpus = 0;
};

inline std::function<Result<Workload>(double, uint64_t)> poisson_demand(const std::vector<std::string>& platforms,
                                                                        const std::vector<DemandKind>& kinds, int jobs,
                                                                        double rate_per_s) {
  return [=](double rate_factor, uint64_t seed) -> Result<Workload> {
    Random random(seed);
    Workload workload;
    workload.platforms = platforms;
    double shares = 0, now_s = 0;
    for (const DemandKind& kind : kinds) shares += kind.share;
    for (int i = 0; i < jobs; ++i) {
      now_s += -std::log(1 - random.uniform()) / (rate_per_s * rate_factor);
      double drawn = random.uniform() * shares;
      size_t k = 0;
      while (k + 1 < kinds.size() && drawn >= kinds[k].share) drawn -= kinds[k++].share;
      const double exponential = -std::log(1 - random.uniform());
      const double length = kinds[k].fixed_length ? 1 : exponential;
      JobRequest job;
      job.id = i + 1;
      job.arrival_s = now_s;
      job.cores = kinds[k].cores;
      job.gpus = kinds[k].gpus;
      job.memory_bytes = kinds[k].memory_bytes;
      job.deadline_s = now_s + kinds[k].deadline_s;
      workload.jobs.push_back(job);
      for (const double mean_s : kinds[k].mean_s) workload.time_s.push_back(mean_s * length);
    }
    workload.forecast_s = workload.time_s;
    return workload;
  };
}

}  // namespace perfcast::fleet
