#include "scenario/size_cluster.h"

#include <fmt/format.h>

#include <utility>

#include "scenario/impossible_jobs.h"
#include "schedule/capacity/demand.h"

namespace perfcast {
namespace {

constexpr int64_t kSampledSeeds = 3, kForecastSeeds = 10;

CapacityRequest filled_in(const SizeClusterRequest& request) {
  const JobStream& stream = request.stream;
  CapacityRequest plan = request.plan;
  plan.candidates = candidates_of(request);
  plan.currency = stream.cluster.currency;
  plan.arrivals_per_s = stream.arrivals_per_s;
  plan.demand = [jobs = stream.jobs, candidates = plan.candidates](double rate_factor, uint64_t seed) {
    auto workload = jobs(seed);
    if (!workload) return workload;
    // Where nothing fits, the search says so.
    const auto impossible = impossible_jobs(*workload, candidates);
    if (impossible.size() < workload->size()) leave_out(*workload, impossible);
    scale_arrivals(*workload, rate_factor);
    return workload;
  };
  // A trace is the same for every seed.
  const int64_t seeds = request.seeds.value_or(stream.forecast ? kForecastSeeds : stream.generated ? kSampledSeeds : 1);
  plan.seeds.clear();
  for (int64_t i = 0; i < seeds; ++i) plan.seeds.push_back(request.seed + static_cast<uint64_t>(i));
  plan.perturb = nullptr;
  if (!plan.errors.empty() && info(plan.policy).uses_forecasts()) {
    plan.perturb = [](Workload& workload, double error_ratio, uint64_t seed) {
      PerturbOptions wrong;
      wrong.error_ratio = error_ratio;
      wrong.seed = seed;
      return perturb_forecasts(workload, wrong);
    };
  }
  return plan;
}

}  // namespace

std::vector<NodeGroup> candidates_of(const SizeClusterRequest& request) {
  std::vector<NodeGroup> candidates = request.stream.cluster.groups;
  for (NodeGroup& candidate : candidates) candidate.nodes = request.at_most.value_or(candidate.nodes);
  return candidates;
}

Result<CapacityAnswer> size_cluster(const SizeClusterRequest& request) {
  const CapacityRequest plan = filled_in(request);
  auto answer = plan_capacity(plan);
  if (!answer) return answer;
  std::vector<std::string> notes = {"jobs: " + request.stream.source};
  if (!request.stream.cluster.note.empty()) notes.push_back("cluster: " + request.stream.cluster.note);
  // What the reader of a trace counted and mended; of made jobs, the first sample's.
  auto sample = request.stream.jobs(request.seed);
  if (!sample) return sample.error();
  if (const std::string note = impossible_note(*sample, impossible_jobs(*sample, plan.candidates)); !note.empty())
    notes.insert(notes.begin(), note);
  notes.insert(notes.end(), sample->notes.begin(), sample->notes.end());
  if (!request.stream.generated && plan.seeds.size() > 1) {
    notes.emplace_back("a trace is the same for every seed; they differ in what policies draw");
  }
  if (!plan.errors.empty() && !plan.perturb) {
    notes.push_back(fmt::format("policy {} knows no forecast: their error changes nothing", info(plan.policy).name));
  }
  answer->notes.insert(answer->notes.begin(), notes.begin(), notes.end());
  return answer;
}

}  // namespace perfcast
