#include "fleet/plan/size_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/significant.h"
#include "fleet/capacity/demand.h"
#include "fleet/capacity/offered_load.h"
#include "fleet/plan/impossible_jobs.h"

namespace perfcast::fleet {
namespace {

constexpr int64_t kSampledSeeds = 10;
constexpr size_t kFreshDraws = 100;
constexpr double kSame = 1e-9;
// Sites run them, and they lack what can make jobs wait under the default: a faster platform to wait for.
constexpr Policy kOtherPolicies[] = {Policy::kEasy, Policy::kShortestFirst};

bool has_price(const NodeGroup& group) { return group.nodes == 0 || !std::isnan(group.price_per_node_hour); }

CapacityRequest filled_in(const SizeClusterRequest& request, Policy policy) {
  const JobStream& stream = request.stream;
  CapacityRequest plan = request.plan;
  plan.policy = policy;
  plan.suggests_policies = request.policy_is_given;
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
  const bool is_drawn = stream.forecast || stream.generated;
  const int64_t seeds = request.seeds.value_or(is_drawn ? kSampledSeeds : 1);
  if (is_drawn) plan.fresh_draws = kFreshDraws;
  const bool priced = std::all_of(plan.candidates.begin(), plan.candidates.end(), has_price);
  if (!request.goal_is_given && !priced && std::isnan(plan.budget_per_hour)) plan.goal = CapacityGoal::kNodes;
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

PolicyTried tried(const CapacityAnswer& answer) {
  return {answer.policy, answer.meets,
          answer.meets        ? answer.plan.value
          : answer.would_meet ? answer.would_meet->value
                              : kUnknown};
}

bool is_better(const PolicyTried& a, const PolicyTried& b) {
  if (a.meets != b.meets) return a.meets;
  if (std::isnan(a.value) || std::isnan(b.value)) return std::isnan(b.value) && !std::isnan(a.value);
  return a.value < b.value * (1 - kSame);
}

// The answer under the policy whose plan saves most. At the lower bound no other one does better, and none carries
// more than the nodes can.
Status choose_policy(const SizeClusterRequest& request, CapacityRequest& plan, CapacityAnswer& answer) {
  if (answer.gap_ratio < kSame || (!answer.meets && answer.plan.fluid_load >= 1)) return {};
  std::vector<PolicyTried> all = {tried(answer)};
  size_t best = 0;
  for (const Policy policy : kOtherPolicies) {
    if (policy == answer.policy) continue;
    CapacityRequest quick = filled_in(request, policy);
    quick.growth.clear();
    quick.perturb = nullptr;
    quick.second_best = quick.slack = false;
    const auto other = plan_capacity(quick);
    if (!other) continue;  // jobs that don't say what it goes by
    all.push_back(tried(*other));
    if (is_better(all.back(), all[best])) best = all.size() - 1;
  }
  if (best > 0) {
    plan = filled_in(request, all[best].policy);
    auto whole = plan_capacity(plan);
    if (!whole) return whole.error();
    answer = std::move(*whole);
    all[best] = tried(answer);
  }
  answer.policies = std::move(all);
  return {};
}

constexpr double kLongEnough = 5;  // times the wait that is asked for

// Where the stream is over before a queue can grow as long as is asked.
void note_short_stream(const CapacityRequest& plan, const Workload& sample, std::vector<std::string>& notes) {
  const double lasts_s = sample.jobs.back().arrival_s - sample.jobs.front().arrival_s;
  for (const ServiceObjective& objective : plan.objectives) {
    if (!info(objective.metric).is_time || lasts_s >= kLongEnough * objective.target) continue;
    notes.push_back(
        fmt::format("the {} jobs come within {} s, too short a time for waits of {} s to show: more jobs tell "
                    "whether the plan "
                    "holds",
                    sample.size(), significant(lasts_s, 3), significant(objective.target, 3)));
    return;
  }
}

// Of forecast times: in how many samples, each with times of its own, the plan is overloaded.
Status note_samples(const SizeClusterRequest& request, const CapacityRequest& plan, const CapacityAnswer& answer,
                    std::vector<std::string>& notes) {
  if (!request.stream.forecast) return {};
  Cluster cluster;
  for (size_t g = 0; g < plan.candidates.size() && g < answer.plan.nodes.size(); ++g) {
    cluster.groups.push_back(plan.candidates[g]);
    cluster.groups.back().nodes = answer.plan.nodes[g];
  }
  std::erase_if(cluster.groups, [](const NodeGroup& group) { return group.nodes == 0; });
  size_t overloaded = 0;
  for (const uint64_t seed : plan.seeds) {
    const auto sample = request.stream.jobs(seed);
    if (!sample) return sample.error();
    overloaded += offered_load(*sample, cluster) >= 1 ? 1 : 0;
  }
  if (overloaded > 0) {
    notes.push_back(
        fmt::format("in {} of {} samples the plan can't carry the load in the long run: true times are so much longer "
                    "than forecast",
                    overloaded, plan.seeds.size()));
  }
  return {};
}

}  // namespace

std::vector<NodeGroup> candidates_of(const SizeClusterRequest& request) {
  std::vector<NodeGroup> candidates = request.stream.cluster.groups;
  for (NodeGroup& candidate : candidates) candidate.nodes = request.at_most.value_or(candidate.nodes);
  return candidates;
}

Result<CapacityAnswer> size_cluster(const SizeClusterRequest& request) {
  CapacityRequest plan = filled_in(request, request.plan.policy);
  auto answer = plan_capacity(plan);
  if (!answer) return answer;
  if (!request.policy_is_given) {
    if (Status chosen = choose_policy(request, plan, *answer); !chosen) return chosen.error();
  }
  std::vector<std::string> notes = {"jobs: " + request.stream.source};
  if (plan.goal != request.plan.goal) {
    const auto first = std::find_if_not(plan.candidates.begin(), plan.candidates.end(), has_price);
    notes.push_back("the plan has the fewest nodes: the price of " + first->platform + " is not known");
  }
  if (!request.stream.cluster.note.empty()) notes.push_back("cluster: " + request.stream.cluster.note);
  // What the reader of a trace counted and mended; of made jobs, the first sample's.
  auto sample = request.stream.jobs(request.seed);
  if (!sample) return sample.error();
  if (const std::string note = impossible_note(*sample, impossible_jobs(*sample, plan.candidates)); !note.empty())
    notes.insert(notes.begin(), note);
  note_short_stream(plan, *sample, notes);
  if (Status noted = note_samples(request, plan, *answer, notes); !noted) return noted.error();
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

}  // namespace perfcast::fleet
