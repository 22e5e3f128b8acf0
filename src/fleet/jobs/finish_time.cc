#include "fleet/jobs/finish_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace perfcast::fleet {
namespace {

// The sum of the priorities in the system over time, as its integral.
class Crowd {
 public:
  // From then on; may be infinite.
  void add(double from_s, double to_s, double priority) {
    changes_.emplace_back(from_s, priority);
    if (std::isfinite(to_s)) changes_.emplace_back(to_s, -priority);
  }
  void close() {
    std::sort(changes_.begin(), changes_.end());
    double sum = 0, area = 0;
    for (size_t i = 0; i < changes_.size(); ++i) {
      if (i > 0) area += sum * (changes_[i].first - changes_[i - 1].first);
      sum += changes_[i].second;
      steps_.push_back({changes_[i].first, area, sum});
    }
  }
  double mean(double from_s, double to_s) const { return (area(to_s) - area(from_s)) / (to_s - from_s); }

 private:
  struct Step {
    double at_s, area, sum;  // up to here; from here on
  };
  double area(double at_s) const {
    auto after = std::upper_bound(steps_.begin(), steps_.end(), at_s,
                                  [](double value, const Step& step) { return value < step.at_s; });
    if (after == steps_.begin()) return 0;
    const Step& step = *--after;
    return step.area + step.sum * (at_s - step.at_s);
  }
  std::vector<std::pair<double, double>> changes_;
  std::vector<Step> steps_;
};

// When the job left; infinite: not yet.
double left_s(const JobRequest& request, const JobResult& result) {
  if (result.state == JobState::kCancelled) return std::max(request.cancelled_s, result.ready_s);
  return std::isnan(result.end_s) ? std::numeric_limits<double>::infinity() : result.end_s;
}

}  // namespace

std::vector<double> parts_of_own_share(double share, double units, std::span<const double> capacity,
                                       std::span<const double> seconds) {
  std::vector<double> parts(capacity.size(), 0.0);
  double sum = 0;
  for (size_t g = 0; g < capacity.size(); ++g) {
    if (std::isnan(seconds[g])) continue;
    parts[g] = share * capacity[g] / units;
    sum += parts[g];
  }
  if (sum > 1) {
    for (double& part : parts) part /= sum;
  }
  return parts;
}

std::vector<double> finish_time_rhos(const Cluster& cluster, const Workload& workload, const Outcome& outcome) {
  std::vector<double> rhos(outcome.jobs.size(), kUnknown);
  const auto columns = match_platforms(cluster, workload);
  if (!columns) return rhos;
  Crowd on_cores, on_gpus;
  for (size_t i = 0; i < outcome.jobs.size(); ++i) {
    const JobRequest& request = workload.jobs[i];
    const JobResult& result = outcome.jobs[i];
    if (result.state == JobState::kImpossible || std::isnan(result.ready_s)) continue;
    (request.gpus > 0 ? on_gpus : on_cores).add(result.ready_s, left_s(request, result), request.priority);
  }
  on_cores.close();
  on_gpus.close();
  std::vector<double> cores, gpus, seconds(cluster.groups.size());
  for (const NodeGroup& group : cluster.groups) {
    cores.push_back(static_cast<double>(group.cores()));
    gpus.push_back(static_cast<double>(group.gpus()));
  }
  for (size_t i = 0; i < outcome.jobs.size(); ++i) {
    const JobRequest& request = workload.jobs[i];
    const JobResult& result = outcome.jobs[i];
    if (result.state != JobState::kDone || !(result.end_s > result.ready_s)) continue;
    const bool wants_gpus = request.gpus > 0;
    for (size_t g = 0; g < seconds.size(); ++g) {
      seconds[g] = fits_when_empty(request, cluster.groups[g]) ? workload.times(i)[static_cast<size_t>((*columns)[g])]
                                                               : kUnknown;
    }
    const double crowd = (wants_gpus ? on_gpus : on_cores).mean(result.ready_s, result.end_s);
    const std::vector<double> parts =
        parts_of_own_share(std::min(1.0, request.priority / crowd), wants_gpus ? request.gpus : request.cores,
                           wants_gpus ? gpus : cores, seconds);
    double speed = 0;  // of the whole job, in a second
    for (size_t g = 0; g < seconds.size(); ++g) speed += parts[g] > 0 ? parts[g] / seconds[g] : 0;
    if (speed > 0 && std::isfinite(speed)) rhos[i] = (result.end_s - result.ready_s) * speed;
  }
  return rhos;
}

}  // namespace perfcast::fleet
