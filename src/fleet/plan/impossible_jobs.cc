#include "fleet/plan/impossible_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "base/text.h"
#include "fleet/capacity/capacity.h"

namespace perfcast::fleet {
namespace {

constexpr size_t kNamed = 3;
constexpr int64_t kEnoughNodes = 1'000'000'000;

}  // namespace

std::vector<size_t> impossible_jobs(const Workload& workload, const std::vector<NodeGroup>& groups) {
  std::vector<std::pair<NodeGroup, size_t>> with_columns;
  for (NodeGroup group : groups) {
    const auto column = std::find(workload.platforms.begin(), workload.platforms.end(), group.platform);
    if (column == workload.platforms.end()) continue;
    if (group.nodes == kAnyNumber) group.nodes = kEnoughNodes;
    with_columns.emplace_back(group, static_cast<size_t>(column - workload.platforms.begin()));
  }
  std::vector<size_t> impossible;
  for (size_t i = 0; i < workload.size(); ++i) {
    const auto times = workload.times(i);
    const bool any = std::any_of(with_columns.begin(), with_columns.end(), [&](const auto& group) {
      return !std::isnan(times[group.second]) && fits_when_empty(workload.jobs[i], group.first);
    });
    if (!any) impossible.push_back(i);
  }
  return impossible;
}

std::string impossible_note(const Workload& workload, const std::vector<size_t>& jobs) {
  if (jobs.empty()) return "";
  std::vector<std::string> named;
  for (size_t i = 0; i < std::min(jobs.size(), kNamed); ++i) {
    const JobRequest& job = workload.jobs[jobs[i]];
    named.push_back(job.gpus > 0 ? fmt::format("{} ({} GPUs)", job.id, job.gpus)
                                 : fmt::format("{} ({} cores)", job.id, job.cores));
  }
  if (jobs.size() > named.size()) named.emplace_back("...");
  const bool one = jobs.size() == 1;
  return fmt::format("{} of {} jobs {} no node of the cluster, or {} no time there, and {} part in nothing: {}",
                     jobs.size(), workload.size(), one ? "fits" : "fit", one ? "has" : "have", one ? "takes" : "take",
                     join(named, ", "));
}

void leave_out(Workload& workload, const std::vector<size_t>& jobs) {
  if (jobs.empty()) return;
  std::vector<int32_t> position(workload.size(), 0);  // of those that stay
  for (const size_t job : jobs) position[job] = kNoIndex;
  int32_t kept = 0;
  for (int32_t& at : position) at = at == kNoIndex ? kNoIndex : kept++;
  const size_t columns = workload.platforms.size();
  for (auto* matrix :
       {&workload.time_s, &workload.forecast_s, &workload.lower_s, &workload.upper_s, &workload.energy_joules}) {
    if (matrix->empty()) continue;
    for (size_t i = 0; i < position.size(); ++i) {
      if (position[i] == kNoIndex) continue;
      std::copy_n(matrix->begin() + static_cast<std::ptrdiff_t>(i * columns), columns,
                  matrix->begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(position[i]) * columns));
    }
    matrix->resize(static_cast<size_t>(kept) * columns);
  }
  for (size_t i = 0; i < position.size(); ++i) {
    if (position[i] != kNoIndex) workload.jobs[static_cast<size_t>(position[i])] = workload.jobs[i];
  }
  workload.jobs.resize(static_cast<size_t>(kept));
  for (JobRequest& job : workload.jobs) {
    if (job.after != kNoIndex) job.after = position[static_cast<size_t>(job.after)];
  }
}

}  // namespace perfcast::fleet
