#include "ai/transformer/generation.h"

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

GenerationQueue::GenerationQueue(Transformer& transformer) : transformer_(transformer) {
  const int64_t slots = transformer.options().slots;
  free_.reserve(static_cast<size_t>(slots));
  clear();
  logits_.resize(static_cast<size_t>(slots * transformer.model().config.vocab));
}

Result<size_t> GenerationQueue::add(GenerationRequest request) {
  if (auto status = check_request(request, transformer_, title_of(next_)); !status) return status.error();
  waiting_.push_back({next_, std::move(request)});
  return next_++;
}

Status GenerationQueue::step(const OnToken& on_token) {
  std::vector<SlotTokens> tokens;
  if (!waiting_.empty() && !free_.empty()) {
    // Their prompts are read until the step is over.
    std::vector<Waiting> begun;
    std::vector<Sequence> sequences;
    int64_t rows = 0;
    while (!waiting_.empty() && !free_.empty()) {
      rows += static_cast<int64_t>(waiting_.front().request.prompt.size());
      if (!begun.empty() && rows > kPassRows) break;
      begun.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
      const GenerationRequest& request = begun.back().request;
      sequences.push_back({begun.back().number, free_.back(), request.new_tokens, TokenSampler(request.sampling)});
      transformer_.shorten(free_.back());
      free_.pop_back();
    }
    for (size_t i = 0; i < begun.size(); ++i) tokens.push_back({sequences[i].slot, begun[i].request.prompt});
    return run(tokens, sequences, on_token);
  }
  if (active_.empty()) return {};
  std::vector<Sequence> sequences = std::exchange(active_, {});
  tokens.reserve(sequences.size());
  for (const Sequence& sequence : sequences) tokens.push_back({sequence.slot, {&sequence.last, 1}});
  return run(tokens, sequences, on_token);
}

void GenerationQueue::clear() {
  waiting_.clear();
  active_.clear();
  free_.clear();
  for (int64_t slot = transformer_.options().slots; slot-- > 0;) free_.push_back(slot);
}

Status GenerationQueue::run(std::span<const SlotTokens> tokens, std::vector<Sequence>& sequences,
                            const OnToken& on_token) {
  const auto vocab = static_cast<size_t>(transformer_.model().config.vocab);
  const std::span<float> logits = std::span(logits_).first(tokens.size() * vocab);
  if (auto status = transformer_.prefill(tokens, logits); !status) return status;
  for (size_t i = 0; i < sequences.size(); ++i) {
    Sequence& sequence = sequences[i];
    sequence.last = sequence.sampler.choose(logits.subspan(i * vocab, vocab));
    const bool wanted = on_token(sequence.number, sequence.made, sequence.last);
    ++sequence.made;
    if (wanted && sequence.made < sequence.new_tokens) {
      active_.push_back(std::move(sequence));
    } else {
      free_.push_back(sequence.slot);
    }
  }
  return {};
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
