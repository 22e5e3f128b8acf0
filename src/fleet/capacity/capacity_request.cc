#include "fleet/capacity/capacity_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace perfcast::fleet {
namespace {

Error bad_request(std::string message, std::string where, std::string expected) {
  return usage_error("bad-request", std::move(message), std::move(where), std::move(expected));
}

Status check_candidates(const CapacityRequest& request) {
  const auto none = [](const NodeGroup& candidate) { return candidate.nodes == 0; };
  if (std::all_of(request.candidates.begin(), request.candidates.end(), none)) {
    return Error{"no-candidate", "there is no platform whose nodes can be had", "the candidates",
                 "at least one platform"};
  }
  if (request.candidates.size() > 64) {
    return Error{"too-many-groups", fmt::format("{} candidates", request.candidates.size()), "the candidates",
                 "at most 64"};
  }
  Cluster cluster{request.candidates, request.currency};
  for (NodeGroup& group : cluster.groups) group.nodes = group.nodes == kAnyNumber ? 1 : group.nodes;
  if (Status checked = check_cluster(cluster); !checked) return checked;
  const bool priced = request.goal == CapacityGoal::kCost || !std::isnan(request.budget_per_hour);
  for (const NodeGroup& candidate : request.candidates) {
    const std::string where = printable(candidate.platform);
    const bool endless = candidate.nodes == kAnyNumber;
    if (priced && (std::isnan(candidate.price_per_node_hour) || (endless && candidate.price_per_node_hour <= 0))) {
      return Error{"no-price",
                   std::isnan(candidate.price_per_node_hour) ? "its nodes have no price"
                                                             : "its nodes cost nothing and there is no end of them",
                   where,
                   "a price per node hour (0 only with a number of nodes): in the cluster file, or in a price list for "
                   "an instance "
                   "type; or another goal (nodes) and no limit of the cost per hour"};
    }
    if (request.goal != CapacityGoal::kPower) continue;
    if (std::isnan(candidate.idle_w_per_node) || std::isnan(candidate.busy_w_per_node) ||
        (endless && candidate.idle_w_per_node <= 0)) {
      return Error{"no-power", "the power of its nodes is not known", where,
                   "idle (above 0) and busy power of a node, or another goal"};
    }
  }
  return {};
}

}  // namespace

Status check_request(const CapacityRequest& request) {
  if (Status checked = check_candidates(request); !checked) return checked;
  if (!request.demand) return bad_request("there is no demand", "demand", "a function that gives jobs");
  if (request.seeds.empty() || request.seeds.size() > 1000) {
    return bad_request(fmt::format("{} seeds", request.seeds.size()), "seeds", "1 to 1000");
  }
  if (!(request.warmup_share >= 0 && request.warmup_share < 1)) {
    return bad_request(fmt::format("a warm-up of {}", request.warmup_share), "warmup_share", "a share from 0, below 1");
  }
  if (request.most_plans < 1) return bad_request("no plan may be simulated", "most_plans", "at least 1");
  if (request.budget_per_hour < 0 || std::isinf(request.budget_per_hour)) {
    return bad_request(fmt::format("a budget of {}", request.budget_per_hour), "budget_per_hour", "a number from 0");
  }
  if (request.arrivals_per_s <= 0 || std::isinf(request.arrivals_per_s)) {
    return bad_request(fmt::format("{} jobs/s", request.arrivals_per_s), "arrivals_per_s", "a number above 0");
  }
  for (const double factor : request.growth) {
    if (!(factor > 0 && factor <= 1000)) {
      return bad_request(fmt::format("a rate factor of {}", factor), "growth", "above 0, at most 1000");
    }
  }
  for (const double error : request.errors) {
    if (!(error >= 0) || std::isinf(error)) {
      return bad_request(fmt::format("a forecast error of {}", error), "errors", "a number from 0");
    }
  }
  return {};
}

Result<std::vector<Workload>> draw_samples(const CapacityRequest& request, double rate_factor) {
  std::vector<Workload> samples;
  Cluster wanted{request.candidates, request.currency};
  for (const uint64_t seed : request.seeds) {
    auto sample = request.demand(rate_factor, seed);
    if (!sample) return sample.error();
    if (Status checked = check_workload(*sample); !checked) return checked.error();
    if (const auto columns = match_platforms(wanted, *sample); !columns) return columns.error();
    samples.push_back(std::move(*sample));
  }
  return samples;
}

Result<SizingInput> sizing_input(const CapacityRequest& request, const std::vector<Workload>& samples) {
  SizingInput input;
  input.candidates = request.candidates;
  input.weigh_energy = request.goal == CapacityGoal::kPower;
  for (const NodeGroup& candidate : request.candidates) {
    input.weight.push_back(request.goal == CapacityGoal::kCost    ? candidate.price_per_node_hour
                           : request.goal == CapacityGoal::kPower ? candidate.idle_w_per_node
                                                                  : 1);
  }
  std::vector<const Workload*> all;
  std::vector<std::vector<double>> times;
  double span_s = 0, gaps = 0;
  for (const Workload& sample : samples) {
    all.push_back(&sample);
    times.push_back(candidate_times(sample, request.candidates));
    const size_t groups = request.candidates.size();
    for (size_t i = 0; i < sample.size(); ++i) {
      const auto row = std::span(times.back()).subspan(i * groups, groups);
      if (std::any_of(row.begin(), row.end(), [](double time_s) { return !std::isnan(time_s); })) continue;
      const JobRequest& job = sample.jobs[i];
      return Error{"no-candidate-fits",
                   fmt::format("it asks for {} cores and {} GPUs{}, and no candidate holds it", job.cores, job.gpus,
                               std::isnan(job.memory_bytes) ? "" : " with " + human_bytes(job.memory_bytes)),
                   fmt::format("job {} (seed {})", job.id, request.seeds[all.size() - 1]),
                   "a candidate with nodes large enough and a run time there"};
    }
    if (Status checked = check_objectives(request.objectives, sample, request.warmup_share, times.back()); !checked) {
      return checked.error();
    }
    span_s += sample.jobs.back().arrival_s - sample.jobs.front().arrival_s;
    gaps += static_cast<double>(sample.size()) - 1;
  }
  input.arrivals_per_s = std::isnan(request.arrivals_per_s) ? gaps / span_s : request.arrivals_per_s;
  if (!(input.arrivals_per_s > 0) || std::isinf(input.arrivals_per_s)) {
    return Error{"bad-demand", "its jobs all come at once: there is no rate to plan for", "the demand",
                 "jobs over a stretch of time"};
  }
  add_kinds(all, times, input);
  if (input.kinds.empty()) {
    return Error{"bad-demand", "its jobs take no time", "the demand", "jobs with run times above 0 s"};
  }
  return input;
}

}  // namespace perfcast::fleet
