#include "fleet/report/schedule_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

namespace perfcast::fleet {
namespace {

constexpr size_t kMostKinds = 8;
constexpr std::array kSeries = {0, 1, 2, 3, 4, 5, 7, 6};  // the grey one last

// Of its fastest platform: the same for every policy.
double work_of(const Workload& workload, size_t job) {
  double least = kUnknown;
  for (const double time : workload.times(job)) least = std::fmin(least, time);
  const JobRequest& request = workload.jobs[job];
  return std::isnan(least) ? 0 : least * std::max(request.cores, request.gpus);
}

}  // namespace

Horizon horizon_of(const ScheduleReport& report) {
  Horizon horizon;
  if (report.workload.jobs.empty()) return horizon;
  horizon.from_s = horizon.to_s = report.workload.jobs.front().arrival_s;
  for (const PolicyRow& row : policy_rows(report)) {
    for (const JobResult& job : row.runs.front()->outcome.jobs) {
      if (!std::isnan(job.start_s)) horizon.to_s = std::fmax(horizon.to_s, job.end_s);
    }
  }
  return horizon;
}

TimeUnit time_unit(double seconds) {
  if (seconds < 300) return {1, "s"};
  if (seconds < 4 * 3600) return {60, "min"};
  if (seconds < 5 * 86400) return {3600, "h"};
  return {86400, "days"};
}

bool counts_gpus(const NodeGroup& group, const Workload& workload) {
  return group.gpus_per_node > 0 &&
         std::ranges::any_of(workload.jobs, [](const JobRequest& job) { return job.gpus > 0; });
}

double held_of(const JobRequest& job, bool gpus) { return gpus ? job.gpus : job.cores; }

double capacity_of(const NodeGroup& group, bool gpus) {
  return static_cast<double>(gpus ? group.gpus() : group.cores());
}

JobKinds kinds_of(const Workload& workload) {
  JobKinds kinds;
  const std::vector<std::string>* names = nullptr;
  int32_t JobRequest::*kind_of = nullptr;
  for (const auto& [what, list, member] : {std::tuple{"program", &workload.programs, &JobRequest::program},
                                           std::tuple{"owner", &workload.owners, &JobRequest::owner}}) {
    if (list->size() < 2 || names != nullptr) continue;
    kinds.by = what;
    names = list;
    kind_of = member;
  }
  kinds.of_job.assign(workload.size(), 0);
  if (names == nullptr) {
    kinds.names = {"job"};
    return kinds;
  }
  const size_t n = names->size();  // and one more: jobs without a name
  std::vector<double> work(n + 1, 0);
  std::vector<bool> present(n + 1, false);
  const auto index = [&](const JobRequest& job) {
    return job.*kind_of == kNoIndex ? n : static_cast<size_t>(job.*kind_of);
  };
  for (size_t i = 0; i < workload.size(); ++i) {
    work[index(workload.jobs[i])] += work_of(workload, i);
    present[index(workload.jobs[i])] = true;
  }
  std::vector<size_t> order(n + 1);
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t k) { return !present[k]; });
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return work[a] > work[b]; });
  const size_t shown = order.size() <= kMostKinds ? order.size() : kMostKinds - 1;
  std::vector<size_t> kind(n + 1, shown);
  for (size_t k = 0; k < shown; ++k) {
    kind[order[k]] = k;
    kinds.names.push_back(order[k] == n ? "no " + kinds.by : (*names)[order[k]]);
  }
  if (shown < order.size()) kinds.names.push_back(fmt::format("{} others", order.size() - shown));
  for (size_t i = 0; i < workload.size(); ++i) kinds.of_job[i] = kind[index(workload.jobs[i])];
  return kinds;
}

std::string kind_colour(size_t kind) { return fmt::format("s{}", kSeries[kind % kSeries.size()]); }
std::string kind_class(size_t kind) { return fmt::format("s{0} p{0}", kSeries[kind % kSeries.size()]); }

std::vector<LegendEntry> kind_legend(const JobKinds& kinds) {
  constexpr double kNameWidth = 220;
  std::vector<LegendEntry> legend;
  for (size_t k = 0; k < kinds.names.size(); ++k) {
    legend.push_back({LegendEntry::Kind::kBox, {}, kind_class(k) + " fill", fitted(kinds.names[k], kNameWidth, 12)});
  }
  return legend;
}

}  // namespace perfcast::fleet
