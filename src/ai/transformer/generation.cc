#include "ai/transformer/generation.h"

#include <algorithm>
#include <string>
#include <utility>

namespace perfcast::ai {
namespace {

Status check_request(const GenerationRequest& request, const Transformer& transformer, const std::string& where) {
  const int64_t context = transformer.options().context, vocab = transformer.model().config.vocab;
  if (request.prompt.empty() || request.new_tokens < 1) {
    return usage_error("bad-usage", "a prompt or new tokens are missing", where, "one token of each at least");
  }
  // The last new token isn't appended.
  const auto prompt = static_cast<int64_t>(request.prompt.size());
  if (prompt > context || request.new_tokens > context - prompt + 1) {
    return usage_error("bad-usage",
                       std::to_string(prompt) + " tokens and " + std::to_string(request.new_tokens) +
                           " new ones are more than a slot holds",
                       where, "at most " + std::to_string(context) + " together");
  }
  for (const int32_t token : request.prompt) {
    if (token >= 0 && token < vocab) continue;
    return usage_error("bad-token", "token " + std::to_string(token) + " is none of the vocabulary", where,
                       "0 to " + std::to_string(vocab - 1));
  }
  return {};
}

std::string title_of(size_t number) { return "request " + std::to_string(number); }

}  // namespace

GenerationQueue::GenerationQueue(Transformer& transformer, GenerationLimits limits)
    : transformer_(transformer), limits_(limits) {
  const int64_t slots = transformer.options().slots;
  free_.reserve(static_cast<size_t>(slots));
  clear();
  logits_.resize(static_cast<size_t>(slots * transformer.model().config.vocab));
}

Result<size_t> GenerationQueue::add(GenerationRequest request) {
  if (auto status = check_request(request, transformer_, title_of(next_)); !status) return status.error();
  waiting_.push_back({next_, std::move(request.prompt), request.new_tokens, TokenSampler(request.sampling)});
  return next_++;
}

void GenerationQueue::let_in(int64_t tokens) {
  active_.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  active_.back().slot = free_.back();
  free_.pop_back();
  transformer_.shorten(active_.back().slot);
  add_prompt(active_.size() - 1, tokens);
}

void GenerationQueue::add_prompt(size_t sequence, int64_t tokens) {
  plan_.push_back({sequence, tokens});
  const auto done = static_cast<double>(active_[sequence].computed), own = static_cast<double>(tokens);
  ++batch_.prefills;
  batch_.prefill_tokens += own;
  batch_.prefill_pairs += own * done + own * (own + 1) / 2;
  if (active_[sequence].left() == tokens) ++batch_.completed_prefills;
}

void GenerationQueue::add_decodes() {
  for (size_t i = 0; i < active_.size(); ++i) {
    if (active_[i].left() > 0) continue;
    plan_.push_back({i, 1});
    ++batch_.decodes;
    batch_.decode_context_tokens += static_cast<double>(transformer_.length(active_[i].slot) + 1);
  }
}

void GenerationQueue::plan_whole_prompts() {
  for (int64_t rows = 0; !waiting_.empty() && !free_.empty();) {
    const int64_t tokens = waiting_.front().left();
    rows += tokens;
    if (!plan_.empty() && rows > kPassRows) break;
    let_in(tokens);
  }
  if (plan_.empty()) add_decodes();
}

void GenerationQueue::plan_chunks() {
  add_decodes();
  int64_t budget = limits_.step_tokens - batch_.decodes;
  const auto piece = [&budget](const Sequence& sequence) {
    const int64_t tokens = std::min(sequence.left(), budget);
    budget -= tokens;
    return tokens;
  };
  for (size_t i = 0; i < active_.size() && budget > 0; ++i) {
    if (active_[i].left() > 0) add_prompt(i, piece(active_[i]));
  }
  while (budget > 0 && !waiting_.empty() && !free_.empty()) let_in(piece(waiting_.front()));
}

Status GenerationQueue::step(const OnToken& on_token) {
  plan_.clear();
  batch_ = {};
  limits_.chunked_prefill ? plan_chunks() : plan_whole_prompts();
  if (plan_.empty()) return {};
  std::vector<SlotTokens> tokens;
  tokens.reserve(plan_.size());
  for (const auto& [index, count] : plan_) {
    const Sequence& sequence = active_[index];
    const std::span<const int32_t> prompt = sequence.prompt;
    tokens.push_back({sequence.slot, sequence.left() == 0 ? std::span(&sequence.last, 1)
                                                          : prompt.subspan(static_cast<size_t>(sequence.computed),
                                                                           static_cast<size_t>(count))});
  }
  const auto vocab = static_cast<size_t>(transformer_.model().config.vocab);
  const std::span<float> logits = std::span(logits_).first(tokens.size() * vocab);
  if (auto status = transformer_.prefill(tokens, logits); !status) return status;
  for (size_t i = 0; i < plan_.size(); ++i) {
    Sequence& sequence = active_[plan_[i].sequence];
    if (sequence.left() > 0) sequence.computed += plan_[i].tokens;
    if (sequence.left() == 0) take_token(sequence, logits.subspan(i * vocab, vocab), on_token);
  }
  std::erase_if(active_, [](const Sequence& sequence) { return sequence.slot < 0; });
  return {};
}

void GenerationQueue::take_token(Sequence& sequence, std::span<const float> logits, const OnToken& on_token) {
  sequence.last = sequence.sampler.choose(logits);
  const bool wanted = on_token(sequence.number, sequence.made, sequence.last);
  if (wanted && ++sequence.made < sequence.new_tokens) return;
  free_.push_back(std::exchange(sequence.slot, -1));
}

void GenerationQueue::cancel(size_t number) {
  const auto is_meant = [number](const Sequence& sequence) { return sequence.number == number; };
  std::erase_if(waiting_, is_meant);
  const auto found = std::find_if(active_.begin(), active_.end(), is_meant);
  if (found == active_.end()) return;
  free_.push_back(found->slot);
  active_.erase(found);
}

void GenerationQueue::clear() {
  waiting_.clear();
  active_.clear();
  free_.clear();
  for (int64_t slot = transformer_.options().slots; slot-- > 0;) free_.push_back(slot);
}

Status generate(Transformer& transformer, std::span<const GenerationRequest> requests, const OnToken& on_token) {
  GenerationQueue queue(transformer);
  for (const GenerationRequest& request : requests) {
    if (auto number = queue.add(request); !number) return number.error();
  }
  while (!queue.is_idle()) {
    if (auto status = queue.step(on_token); !status) return status;
  }
  return {};
}

}  // namespace perfcast::ai
