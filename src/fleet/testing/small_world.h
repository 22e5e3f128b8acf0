#pragma once
// Clusters and jobs of a few lines, for tests.

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "fleet/jobs/outcome.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

inline NodeGroup nodes(const std::string& platform, int64_t count, int64_t cores) {
  NodeGroup group;
  group.platform = platform;
  group.nodes = count;
  group.cores_per_node = cores;
  return group;
}

// Nodes whose cores nobody stated.
inline NodeGroup instances(const std::string& name, int64_t count = 1) {
  NodeGroup group = nodes(name, count, 1);
  group.cores_stated = false;
  return group;
}

// Jobs one after another; their forecasts are their times unless set.
class WorkloadMaker {
 public:
  explicit WorkloadMaker(std::vector<std::string> platforms) { made_.platforms = std::move(platforms); }
  JobRequest& job(double arrival_s, int32_t cores, const std::vector<double>& time_s,
                  const std::vector<double>& forecast_s = {}) {
    JobRequest request;
    request.id = static_cast<int64_t>(made_.size()) + 1;
    request.arrival_s = arrival_s;
    request.cores = cores;
    made_.jobs.push_back(request);
    const auto& forecast = forecast_s.empty() ? time_s : forecast_s;
    made_.time_s.insert(made_.time_s.end(), time_s.begin(), time_s.end());
    made_.forecast_s.insert(made_.forecast_s.end(), forecast.begin(), forecast.end());
    return made_.jobs.back();
  }
  Workload& workload() { return made_; }

 private:
  Workload made_;
};

// A mess within bounds: several groups, jobs of every shape, dependencies, cancellations, limits, wrong forecasts.
inline std::pair<Cluster, Workload> random_world(uint64_t seed, int jobs) {
  Random random(seed);
  Cluster cluster;
  const auto groups = 1 + random.below(4);
  Workload workload;
  for (uint64_t g = 0; g < groups; ++g) {
    NodeGroup group = nodes("P" + std::to_string(g), 1 + static_cast<int64_t>(random.below(5)),
                            1 + static_cast<int64_t>(random.below(8)));
    if (random.below(3) == 0) group.gpus_per_node = 1 + static_cast<int64_t>(random.below(4));
    if (random.below(2) == 0) group.memory_bytes_per_node = 64;
    group.idle_w_per_node = 50;
    group.busy_w_per_node = 50 + random.uniform(0, 200);
    group.price_per_node_hour = random.uniform(0.1, 2);
    cluster.groups.push_back(group);
    workload.platforms.push_back(group.platform);
  }
  double now_s = 0;
  for (int i = 0; i < jobs; ++i) {
    JobRequest job;
    job.id = i + 1;
    now_s += random.below(4) == 0 ? 0 : random.uniform(0, 10);
    job.arrival_s = now_s;
    job.cores = 1 + static_cast<int32_t>(random.below(6));
    job.spread = random.below(3) == 0;
    if (random.below(5) == 0) job.gpus = 1 + static_cast<int32_t>(random.below(3));
    if (random.below(3) == 0) job.memory_bytes = random.uniform(0, 70);
    if (random.below(4) == 0) job.limit_s = random.uniform(0, 60);
    if (random.below(8) == 0) job.cancelled_s = now_s + random.uniform(0, 50);
    if (i > 0 && random.below(6) == 0) {
      job.after = static_cast<int32_t>(random.below(static_cast<uint64_t>(i)));
      job.think_s = random.uniform(0, 20);
    }
    workload.jobs.push_back(job);
    for (uint64_t g = 0; g < groups; ++g) {
      const double time_s = random.below(10) == 0 ? 0 : random.uniform(1, 60);
      workload.time_s.push_back(random.below(12) == 0 ? kUnknown : time_s);
      workload.forecast_s.push_back((time_s + 0.1) * random.uniform(0.3, 3));
      workload.upper_s.push_back(workload.forecast_s.back() * 1.5);
      workload.lower_s.push_back(workload.forecast_s.back() / 1.5);
    }
  }
  return {cluster, workload};
}

}  // namespace perfcast::fleet
