#include "ai/serving_plan/service_trials.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "base/statistics.h"

namespace perfcast::ai {
namespace {

// Requests of one simulation: long enough to see a queue grow, and short enough to try many services.
constexpr double kUsualSeconds = 300, kUsualRounds = 20;
constexpr double kLeastRequests = 1000, kMostRequests = 6000, kMostOfClients = 100'000;
constexpr int64_t kMostAfterDoubling = 50'000;
constexpr int64_t kRoughRequests = 800, kRoughRounds = 4;
constexpr int64_t kAloneRequests = 100;
constexpr double kChance = 3;  // standard deviations of a share that so few requests know

bool keeps_objectives(const ServingSummary& summary, double chance) {
  return std::all_of(summary.objectives.begin(), summary.objectives.end(), [&](const ObjectiveOutcome& outcome) {
    const double share = outcome.objective.share;
    return outcome.kept_share >=
           share - chance * std::sqrt(share * (1 - share) / real_of(std::max<int64_t>(1, outcome.requests)));
  });
}

void truncate(ServingTrace& trace, int64_t requests) {
  // What follows a request comes after it, so that a beginning is whole.
  if (static_cast<size_t>(requests) < trace.requests.size()) trace.requests.resize(static_cast<size_t>(requests));
}

}  // namespace

ServingTrace scaled_trace(const ServingTrace& trace, double factor, uint64_t seed) {
  ServingTrace scaled;
  scaled.hashes = trace.hashes;
  scaled.hash_block_tokens = trace.hash_block_tokens;
  Random random(seed);
  std::vector<int32_t> place(trace.requests.size(), -1);  // in `scaled`; -1: left out
  for (size_t i = 0; i < trace.requests.size(); ++i) {
    ServingRequest request = trace.requests[i];
    const bool is_first = request.after < 0;
    const bool stays =
        is_first ? factor >= 1 || random.uniform() < factor : place[static_cast<size_t>(request.after)] >= 0;
    if (!stays) continue;
    if (is_first && factor > 1) request.arrival_s /= factor;
    if (!is_first) request.after = place[static_cast<size_t>(request.after)];
    place[i] = static_cast<int32_t>(scaled.requests.size());
    scaled.requests.push_back(request);
  }
  if (scaled.requests.empty() && !trace.requests.empty()) scaled.requests.push_back(trace.requests.front());
  return scaled;
}

int64_t ServiceTrials::requests_for(double load_factor, int64_t replicas, TrialExtent extent) const {
  const PlanLoad& load = request_.load;
  double requests = 0;
  int64_t rough = kRoughRequests;
  if (load.concurrency > 0) {
    const double clients = std::max(1.0, load_factor * real_of(load.concurrency));
    requests = std::clamp(kUsualRounds * clients, kLeastRequests, kMostOfClients);
    rough = std::max(rough, static_cast<int64_t>(kRoughRounds * clients));
  } else {
    requests = std::clamp(kUsualSeconds * load_factor * load.rate_per_s, kLeastRequests, kMostRequests);
  }
  if (load.requests) {
    // Of a part of the service its part of them.
    const double part = extent == TrialExtent::kWhole ? 1 : std::min(1.0, real_of(kPartReplicas) / real_of(replicas));
    requests = std::max(std::min(kLeastRequests, real_of(*load.requests)), part * real_of(*load.requests));
  }
  const auto whole = static_cast<int64_t>(requests);
  return extent == TrialExtent::kRough ? std::min(whole, rough) : whole;
}

Result<ServiceTrial> ServiceTrials::simulate(const ServiceKind& kind, int64_t replicas, const TrialTerms& terms,
                                             const ServingLoad& load) {
  if (request_.is_cancelled && request_.is_cancelled()) return interrupted_error("cancelled");
  ServingRequestFor asked = request_.service;
  asked.devices = {request_.service.devices[kind.device]};
  asked.formats.tensor_parallel = kind.tensor_parallel;
  asked.replicas = replicas;
  asked.loads = {load};
  asked.error_half_widths = terms.error_deviations / kNormal95;
  ++simulations_;
  auto result = forecast_serving(std::move(asked));
  ServiceTrial trial;
  trial.simulated_replicas = replicas;
  if (!result) {
    const Error& error = result.error();
    if (error.code != "no-memory" && error.code != "too-long" && error.code != "unknown-fact") return error;
    trial.code = error.code;
    trial.problem = error.message;
    return trial;
  }
  trial.row = std::move(result->rows.front());
  trial.row.device = kind.device;
  return trial;
}

Result<ServiceTrial> ServiceTrials::run(const ServiceKind& kind, int64_t replicas, const TrialTerms& terms,
                                        TrialExtent extent) {
  if (extent == TrialExtent::kWhole && replicas <= kPartReplicas) extent = TrialExtent::kPart;  // the same
  const int64_t most = extent == TrialExtent::kWhole ? replicas : extent == TrialExtent::kPart ? kPartReplicas : 1;
  const int64_t simulated = std::min(replicas, most);
  const Key key{kind.device, kind.tensor_parallel, replicas, terms.load_factor, terms.error_deviations, extent};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;

  const PlanLoad& asked = request_.load;
  const double factor = terms.load_factor * real_of(simulated) / real_of(replicas);
  ServingLoad load;
  load.rate_per_s = asked.rate_per_s * factor;
  load.words = asked.words;
  if (asked.concurrency > 0) load.concurrency = std::max<int64_t>(1, std::llround(factor * real_of(asked.concurrency)));
  if (asked.most_in_flight > 0) {
    const double part = real_of(simulated) / real_of(replicas);
    load.most_in_flight = std::max<int64_t>(1, std::llround(part * real_of(asked.most_in_flight)));
  }
  const bool is_rough = extent == TrialExtent::kRough;
  int64_t requests = requests_for(factor, replicas, extent);
  bool is_told_by_part = false;  // that it keeps up: a whole one would need too many requests to tell
  if (extent == TrialExtent::kWhole && asked.rate_per_s > 0 && !asked.requests && !asked.is_recorded) {
    const auto part = run(kind, replicas, terms, TrialExtent::kPart);
    if (!part) return part.error();
    is_told_by_part = part->row.forecast.pace == Pace::kKeepsUp;
    // As long as its part had to be.
    const double times = real_of(replicas) / real_of(part->simulated_replicas);
    const double limit = real_of(kMostAfterDoubling);
    requests = std::max(requests, static_cast<int64_t>(std::min(limit, times * real_of(part->row.requests))));
  }
  int64_t& needed = needed_[{kind.device, kind.tensor_parallel}];
  const bool may_be_longer = extent == TrialExtent::kPart && !asked.is_recorded && !asked.requests;
  if (may_be_longer) requests = std::max(requests, needed);
  for (;; requests *= 2) {
    ServingTrace trace = asked.trace(factor, requests);
    if (!asked.is_recorded) truncate(trace, requests);
    const auto had = static_cast<int64_t>(trace.requests.size());
    load.trace = [&trace] { return trace; };
    auto trial = simulate(kind, simulated, terms, load);
    if (!trial) return trial.error();
    ServingSummary& summary = trial->row.forecast;
    if (summary.pace == Pace::kTooShort && is_told_by_part) summary.pace = Pace::kKeepsUp;
    const bool is_too_short = trial->problem.empty() && summary.pace == Pace::kTooShort;
    if (is_too_short && may_be_longer && had == requests && 2 * requests <= kMostAfterDoubling) continue;
    if (!is_too_short && extent == TrialExtent::kPart && had == requests) needed = std::max(needed, requests);
    if (trial->problem.empty()) {
      const bool is_judged = !summary.objectives.empty();
      // A load that can't be longer ends when it ends; a rough look need not see to the end.
      const bool is_given = asked.is_recorded || asked.requests || had < requests;
      const bool keeps_up = summary.pace == Pace::kKeepsUp || summary.pace == Pace::kNotAsked ||
                            (is_too_short && (is_rough || (is_given && is_judged)));
      trial->holds = keeps_up && keeps_objectives(summary, 0) && (is_judged || summary.refused == 0);
      if (summary.pace == Pace::kFallsBehind) {
        const double served = std::max(summary.requests_per_s, summary.offered_per_s - summary.growth_per_s);
        if (served > 0) trial->overload = summary.offered_per_s / served;
      }
    }
    known_.emplace(key, *trial);
    return trial;
  }
}

Result<ServiceTrial> ServiceTrials::alone(const ServiceKind& kind, const TrialTerms& terms) {
  ServingTrace trace = request_.load.trace(1, kAloneRequests);
  truncate(trace, kAloneRequests);
  ServingLoad load;
  load.concurrency = 1;
  load.trace = [&trace] { return trace; };
  auto trial = simulate(kind, 1, terms, load);
  if (trial && trial->problem.empty()) {
    const ServingSummary& summary = trial->row.forecast;
    trial->holds = keeps_objectives(summary, kChance) && (!summary.objectives.empty() || summary.refused == 0);
  }
  return trial;
}

}  // namespace perfcast::ai
