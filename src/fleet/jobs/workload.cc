#include "fleet/jobs/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"

namespace perfcast::fleet {
namespace {

Error bad(const Workload& workload, size_t job, std::string message, std::string expected) {
  return {"bad-workload", std::move(message), fmt::format("job {}", workload.jobs[job].id), std::move(expected)};
}

// NaN stands for absent and passes; `least` is the lowest allowed value.
bool outside(double value, double least) { return value < least || std::isinf(value); }

Status check_matrix(const Workload& workload, const std::vector<double>& matrix, const char* name, bool positive) {
  const size_t columns = workload.platforms.size();
  if (matrix.empty()) return {};
  if (matrix.size() != workload.size() * columns) {
    return Error{"bad-workload", fmt::format("{} has {} entries", name, matrix.size()), name,
                 fmt::format("{} jobs times {} platforms", workload.size(), columns)};
  }
  for (size_t i = 0; i < matrix.size(); ++i) {
    if (outside(matrix[i], 0) || (positive && matrix[i] == 0)) {
      return bad(workload, i / columns,
                 fmt::format("{} on {} is {}", name, printable(workload.platforms[i % columns]), matrix[i]),
                 positive ? "a number above 0, or none where it isn't known" : "a number from 0, or none");
    }
  }
  return {};
}

Status check_request(const Workload& workload, size_t index) {
  const JobRequest& job = workload.jobs[index];
  const auto wrong = [&](std::string message, std::string expected) {
    return bad(workload, index, std::move(message), std::move(expected));
  };
  if (!(job.arrival_s >= 0) || std::isinf(job.arrival_s)) {
    return wrong(fmt::format("arrives at {} s", job.arrival_s), "a time from 0 s on");
  }
  if (index > 0 && job.arrival_s < workload.jobs[index - 1].arrival_s) {
    return wrong("arrives before the job ahead of it", "jobs in order of arrival");
  }
  if (job.cores < 0 || job.gpus < 0 || (job.cores == 0 && job.gpus == 0)) {
    return wrong(fmt::format("asks for {} cores and {} GPUs", job.cores, job.gpus), "at least one core or GPU");
  }
  constexpr int32_t kMost = 1 << 24;  // far above any machine
  if (job.cores > kMost || job.gpus > kMost) {
    return wrong(fmt::format("asks for {} cores and {} GPUs", job.cores, job.gpus), fmt::format("at most {}", kMost));
  }
  if (outside(job.memory_bytes, 0) || outside(job.limit_s, 0) || outside(job.cancelled_s, 0) ||
      outside(job.deadline_s, 0) || !(job.think_s >= 0) || std::isinf(job.think_s)) {
    return wrong("its memory, limit, deadline, cancellation or think time is negative or infinite",
                 "numbers from 0, or none where there is none");
  }
  if (!(job.priority > 0) || std::isinf(job.priority)) {
    return wrong(fmt::format("has priority {}", job.priority), "a number above 0");
  }
  const auto refers = [](int32_t to, size_t size) {
    return to == kNoIndex || (to >= 0 && static_cast<size_t>(to) < size);
  };
  if (!refers(job.owner, workload.owners.size()) || !refers(job.program, workload.programs.size()) ||
      !refers(job.after, workload.size())) {
    return wrong("refers to an owner, program or job that isn't there", "an index into the workload's lists");
  }
  return {};
}

// Each job waits for at most one other: a cycle shows by walking the chain and meeting the walk's own mark.
Status check_cycles(const Workload& workload) {
  std::vector<int32_t> walk(workload.size(), kNoIndex);  // the walk that passed here
  for (size_t first = 0; first < workload.size(); ++first) {
    auto at = static_cast<int32_t>(first);
    while (at != kNoIndex && walk[static_cast<size_t>(at)] == kNoIndex) {
      walk[static_cast<size_t>(at)] = static_cast<int32_t>(first);
      at = workload.jobs[static_cast<size_t>(at)].after;
    }
    if (at == kNoIndex || walk[static_cast<size_t>(at)] != static_cast<int32_t>(first)) continue;
    std::vector<std::string> cycle;
    int32_t step = at;
    do {
      if (cycle.size() == 10) {
        cycle.emplace_back("...");
        break;
      }
      cycle.push_back(std::to_string(workload.jobs[static_cast<size_t>(step)].id));
      step = workload.jobs[static_cast<size_t>(step)].after;
    } while (step != at);
    return Error{"cyclic-dependency", "jobs wait for each other in a circle: " + join(cycle, ", "),
                 "job " + cycle.front(), "every job waits for one that comes to an end without it"};
  }
  return {};
}

template <typename T>
std::vector<T> permuted(const std::vector<T>& rows, const std::vector<size_t>& order, size_t columns) {
  std::vector<T> result;
  result.reserve(rows.size());
  for (const size_t from : order) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(from * columns);
    result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(columns));
  }
  return result;
}

}  // namespace

size_t sort_by_arrival(Workload& workload) {
  const auto earlier = [&](size_t a, size_t b) { return workload.jobs[a].arrival_s < workload.jobs[b].arrival_s; };
  size_t misplaced = 0;
  for (size_t i = 1; i < workload.size(); ++i) misplaced += earlier(i, i - 1) ? 1 : 0;
  if (misplaced == 0) return 0;
  std::vector<size_t> order(workload.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), earlier);
  std::vector<int32_t> now_at(order.size());
  for (size_t i = 0; i < order.size(); ++i) now_at[order[i]] = static_cast<int32_t>(i);
  workload.jobs = permuted(workload.jobs, order, 1);
  for (JobRequest& job : workload.jobs) {
    if (job.after >= 0 && static_cast<size_t>(job.after) < now_at.size())
      job.after = now_at[static_cast<size_t>(job.after)];
  }
  for (auto* matrix :
       {&workload.time_s, &workload.forecast_s, &workload.lower_s, &workload.upper_s, &workload.energy_joules}) {
    if (matrix->size() == order.size() * workload.platforms.size()) {
      *matrix = permuted(*matrix, order, workload.platforms.size());
    }
  }
  return misplaced;
}

Status check_workload(const Workload& workload) {
  if (workload.jobs.empty()) return Error{"bad-workload", "there is no job", workload.source, "at least one job"};
  if (workload.platforms.empty() || workload.time_s.empty()) {
    return Error{"bad-workload", "no platform has run times", workload.source, "a run time on at least one platform"};
  }
  if (workload.size() > static_cast<size_t>(INT32_MAX)) {
    return Error{"bad-workload", fmt::format("{} jobs", workload.size()), workload.source,
                 fmt::format("at most {} jobs", INT32_MAX)};
  }
  for (size_t i = 0; i < workload.size(); ++i) {
    if (Status request = check_request(workload, i); !request) return request;
  }
  for (const auto& [matrix, name, positive] :
       {std::tuple{&workload.time_s, "time_s", false}, std::tuple{&workload.forecast_s, "forecast_s", true},
        std::tuple{&workload.lower_s, "lower_s", true}, std::tuple{&workload.upper_s, "upper_s", true},
        std::tuple{&workload.energy_joules, "energy_joules", false}}) {
    if (Status checked = check_matrix(workload, *matrix, name, positive); !checked) return checked;
  }
  return check_cycles(workload);
}

Result<std::vector<int32_t>> match_platforms(const Cluster& cluster, const Workload& workload) {
  std::vector<int32_t> columns;
  std::vector<std::string> missing;
  for (const NodeGroup& group : cluster.groups) {
    const auto found = std::find(workload.platforms.begin(), workload.platforms.end(), group.platform);
    if (found == workload.platforms.end()) {
      missing.push_back("'" + printable(group.platform) + "'");
    } else {
      columns.push_back(static_cast<int32_t>(found - workload.platforms.begin()));
    }
  }
  if (!missing.empty()) {
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min<size_t>(workload.platforms.size(), 12); ++i) {
      names.push_back("'" + printable(workload.platforms[i]) + "'");
    }
    if (workload.platforms.size() > names.size()) names.emplace_back("...");
    return Error{"missing-platform", "the jobs have no run times on " + join(missing, ", "), "the cluster's platforms",
                 "platforms that the jobs have times for: " + join(names, ", ")};
  }
  return columns;
}

bool fits_when_empty(const JobRequest& job, const NodeGroup& group) {
  const int64_t units = job.gpus > 0 ? job.gpus : job.cores;
  const int64_t in_node = job.gpus > 0 ? group.gpus_per_node : group.cores_per_node;
  const int64_t nodes = job.spread ? group.nodes : std::min<int64_t>(group.nodes, 1);
  const double memory = group.memory_bytes_per_node * static_cast<double>(nodes);
  return units <= in_node * nodes && !(job.memory_bytes > memory);  // not known: no obstacle
}

}  // namespace perfcast::fleet
