#include "fleet/plan/simulate_jobs.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/text.h"
#include "fleet/capacity/offered_load.h"
#include "fleet/plan/impossible_jobs.h"

namespace perfcast::fleet {

Result<SimulatedJobs> simulate_jobs(const SimulateJobsRequest& request) {
  const JobStream& stream = request.stream;
  auto report = compare_policies(stream.cluster, stream.jobs, request.comparison);
  if (!report) return report.error();
  if (report->runs.empty()) {
    return infeasible_error("no-forecast", "no policy can be used: " + join(report->notes, "; "), "", "other policies");
  }
  SimulatedJobs result;
  const std::string impossible =
      impossible_note(report->workload, impossible_jobs(report->workload, report->cluster.groups));
  if (!impossible.empty()) report->notes.insert(report->notes.begin(), impossible);
  result.offered_load = offered_load(report->workload, report->cluster, request.comparison.simulation.kill_at_limit);
  if (stream.generated) report->workload.source = stream.source;
  if (!std::isnan(result.offered_load)) {
    report->notes.push_back(
        fmt::format("offered load {:.2f} of the most that any policy could carry{}", result.offered_load,
                    result.offered_load >= 1 ? ": over 1, so that the queue grows for as long as jobs come" : ""));
  }
  if (!stream.generated && request.comparison.seeds > 1) {
    report->notes.emplace_back("a trace is the same for every seed; they differ in what policies draw");
  }
  if (!request.error_ratios.empty()) {
    auto swept = sweep_errors(stream.cluster, stream.jobs, request.comparison, request.error_ratios);
    if (!swept) return swept.error();
    result.sweep = std::move(*swept);
  }
  result.report = std::move(*report);
  return result;
}

}  // namespace perfcast::fleet
