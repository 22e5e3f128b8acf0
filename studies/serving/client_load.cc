#include "studies/serving/client_load.h"

#include <algorithm>
#include <vector>

#include "base/statistics.h"

namespace perfcast::ai::serving_study {
namespace {

constexpr double kWarmUpShare = 0.05;
constexpr double kRamp_s = 10;
constexpr const char* kWithoutRamp = "upcloud";

}  // namespace

ServingTrace client_trace(const ClientLoad& load) {
  const ServingRequest one{.prompt_tokens = load.prompt_tokens, .output_tokens = load.output_tokens};
  ServingTrace trace;
  if (load.strategy == PointStrategy::kConstant) {
    trace.requests.assign(static_cast<size_t>(load.rate_per_s * load.seconds) + 1, one);
    for (size_t i = 0; i < trace.requests.size(); ++i) {
      trace.requests[i].arrival_s = static_cast<double>(i + 1) / load.rate_per_s;
    }
    return trace;
  }
  const double ramp_s = load.provider == kWithoutRamp ? 0 : kRamp_s;
  const auto clients = static_cast<size_t>(load.most_concurrency);
  // More than a client can send: a step takes a millisecond or more.
  const double most =
      2 * load.most_concurrency + load.seconds * 1e3 * load.most_concurrency / static_cast<double>(load.output_tokens);
  trace.requests.assign(static_cast<size_t>(most), one);
  for (size_t i = 0; i < trace.requests.size(); ++i) {
    trace.requests[i].arrival_s = ramp_s * std::min(1.0, static_cast<double>(i) / static_cast<double>(clients));
  }
  return trace;
}

Delivered delivered_of(const ServeRun& run, const ClientLoad& load) {
  const double output = static_cast<double>(load.output_tokens);
  const double begin_s = kWarmUpShare * load.seconds;
  double tokens = 0;
  std::vector<double> first, further;
  for (size_t i = 0; i < run.outcomes.size(); ++i) {
    const RequestOutcome& outcome = run.outcomes[i];
    if (!(outcome.last_token_s >= begin_s && outcome.last_token_s <= load.seconds)) continue;
    const double last_s = outcome.last_token_s, first_s = outcome.first_token_s;
    first.push_back(first_s - run.sent_s[i]);
    further.push_back((last_s - first_s) / (output - 1));
    tokens += first_s >= begin_s ? output : (output - 1) * (last_s - begin_s) / (last_s - first_s);
  }
  if (first.empty()) return {};
  return {tokens / (load.seconds - begin_s), quantile(further, 0.5), quantile(first, 0.5), quantile(first, 0.95)};
}

Delivered first_of(const ServeRun& run, const ClientLoad& load) {
  const RequestOutcome* best = nullptr;
  double sent_s = 0;
  for (size_t i = 0; i < run.outcomes.size(); ++i) {
    const RequestOutcome& outcome = run.outcomes[i];
    if (!(outcome.last_token_s > 0) || (best != nullptr && outcome.last_token_s >= best->last_token_s)) continue;
    best = &outcome;
    sent_s = run.sent_s[i];
  }
  if (best == nullptr) return {};
  const double output = static_cast<double>(load.output_tokens), first_s = best->first_token_s - sent_s;
  return {output / (best->last_token_s - sent_s), (best->last_token_s - best->first_token_s) / (output - 1), first_s,
          first_s};
}

}  // namespace perfcast::ai::serving_study
