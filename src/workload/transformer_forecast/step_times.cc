#include "workload/transformer_forecast/step_times.h"

#include <algorithm>
#include <chrono>

#include "base/statistics.h"
#include "workload/transformer/token_sampler.h"

namespace perfcast {

Status StepMeasurement::run(Transformer& transformer, double budget_s, int64_t least) {
  if (seconds_.empty()) {
    if (auto status = run_once(transformer, false); !status) return status;
  }
  double spent_s = 0;
  for (int64_t i = 0; i < least || spent_s < budget_s; ++i) {
    if (auto status = run_once(transformer, true); !status) return status;
    spent_s += seconds_.back();
    if (seconds_.size() >= 10000) break;
  }
  return {};
}

Status StepMeasurement::run_once(Transformer& transformer, bool keep) {
  const bool decode = point_.phase == LlmPhase::kDecode;
  const auto vocab = static_cast<size_t>(transformer.model().config.vocab);
  const auto batch = static_cast<size_t>(point_.batch);
  const auto length = static_cast<size_t>(decode ? 1 : point_.tokens);
  if (tokens_.size() != batch * length) {
    tokens_.resize(batch * length);
    for (size_t i = 0; i < tokens_.size(); ++i) tokens_[i] = static_cast<int32_t>((i * 7919 + 13) % vocab);
    logits_.resize(batch * vocab);
  }
  std::vector<SlotTokens> prompts;
  prompts.reserve(batch);
  for (size_t i = 0; i < batch; ++i) {
    const auto slot = static_cast<int64_t>(i);
    transformer.assume_length(slot, decode ? point_.tokens - 1 : 0);
    prompts.push_back({slot, std::span(tokens_).subspan(i * length, length)});
  }
  OperatorClock& clock = transformer.clock();
  clock.turn(true);
  clock.clear();
  TokenSampler greedy({});
  const auto begin = std::chrono::steady_clock::now();
  if (auto status = transformer.prefill(prompts, logits_); !status) return status;
  for (size_t i = 0; i < batch; ++i) {
    tokens_[(i + 1) * length - 1] = greedy.choose(std::span(logits_).subspan(i * vocab, vocab));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  clock.turn(false);
  if (!keep) return {};
  seconds_.push_back(seconds);
  double rest = seconds;
  for (size_t i = 0; i < clock.sums().seconds.size(); ++i) {
    const double part = clock.sums().seconds[i];
    if (!(part > 0)) continue;
    operators_[static_cast<OperatorName>(i)].push_back(part);
    rest -= part;
  }
  operators_[kStepRest].push_back(std::max(0.0, rest));
  return {};
}

StepTimes StepMeasurement::times() const {
  StepTimes times;
  times.seconds = median(seconds_);
  times.runs = static_cast<int64_t>(seconds_.size());
  for (const auto& [name, seconds] : operators_) times.operators[name] = median(seconds);
  return times;
}

}  // namespace perfcast
