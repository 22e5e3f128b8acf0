#include "ai/transformer_forecast/step_times.h"

#include <algorithm>
#include <utility>

#include "ai/transformer/token_sampler.h"
#include "base/statistics.h"

namespace perfcast::ai {

StepClock clock_for(int threads) { return threads == 1 ? StepClock::kThread : StepClock::kWall; }

double difference_of_halves(std::span<const double> values, std::span<const size_t> ends) {
  std::vector<double> even, odd;
  size_t begin = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    std::vector<double>& half = i % 2 == 0 ? even : odd;
    for (; begin < ends[i]; ++begin) half.push_back(values[begin]);
  }
  if (even.empty() || odd.empty()) return kUnknown;
  const double first = median(std::move(even)), second = median(std::move(odd));
  return first > 0 && second > 0 ? std::max(first, second) / std::min(first, second) - 1 : kUnknown;
}

Status StepMeasurement::run(Transformer& transformer, double budget_s, int64_t least) {
  if (seconds_.empty()) {
    if (auto status = run_once(transformer, false, false); !status) return status;
  }
  double spent_s = 0;
  for (int64_t i = 0; i < least || spent_s < budget_s; ++i) {
    for (const bool by_operator : {false, true}) {
      if (auto status = run_once(transformer, by_operator, true); !status) return status;
      spent_s += timed_s_;
    }
    if (seconds_.size() >= 10000) break;
  }
  ends_.push_back(seconds_.size());
  return {};
}

// Slots as they are before the step, and what it appends to them.
std::vector<SlotTokens> StepMeasurement::next_tokens(Transformer& transformer) {
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
  return prompts;
}

Status StepMeasurement::run_once(Transformer& transformer, bool by_operator, bool keep) {
  const auto prompts = next_tokens(transformer);
  const auto vocab = static_cast<size_t>(transformer.model().config.vocab);
  const size_t length = prompts.front().tokens.size();
  const StepClock clock = clock_for(transformer.options().threads);
  OperatorClock& operators = transformer.clock();
  operators.clear();
  if (by_operator) operators.turn_on(clock);
  const double cost_s = clock_cost_s(clock);
  TokenSampler greedy({});
  const double wall_begin_s = seconds_now(StepClock::kWall);
  const double begin_s = seconds_now(clock);
  auto status = transformer.prefill(prompts, logits_);
  operators.turn_off();
  if (!status) return status;
  const double between_s = seconds_now(clock);
  for (size_t i = 0; i < prompts.size(); ++i) {
    tokens_[(i + 1) * length - 1] = greedy.choose(std::span(logits_).subspan(i * vocab, vocab));
  }
  const double end_s = seconds_now(clock);
  timed_s_ = end_s - begin_s;
  if (!keep) return {};
  all_timed_s_ += timed_s_;
  all_wall_s_ += seconds_now(StepClock::kWall) - wall_begin_s;
  if (!by_operator) {
    seconds_.push_back(std::max(0.0, timed_s_ - 2 * cost_s));
    return {};
  }
  // Of the step as it is what its operators don't take; each of them was read behind.
  operators_[kStepRest].push_back(std::max(0.0, end_s - between_s - cost_s));
  add_operators(operators.sums());
  return {};
}

void StepMeasurement::add_operators(const OperatorSeconds& sums) {
  for (size_t i = 0; i < sums.seconds.size(); ++i) {
    if (sums.marks[i] > 0) operators_[static_cast<OperatorName>(i)].push_back(sums.seconds[i]);
  }
}

StepTimes StepMeasurement::times() const {
  StepTimes times;
  times.seconds = median(seconds_);
  if (all_timed_s_ > 0) times.wall_ratio = all_wall_s_ / all_timed_s_;
  times.halves_difference_ratio = difference_of_halves(seconds_, ends_);
  times.runs = static_cast<int64_t>(seconds_.size());
  for (const auto& [name, seconds] : operators_) times.operators[name] = median(seconds);
  return times;
}

}  // namespace perfcast::ai
