#include "ai/serving/replica.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace perfcast::ai {
namespace {

// Of GapHistogram: from a microsecond to three hours.
constexpr double kLeastGap_s = 1e-6, kMostGap_s = 1e4;
constexpr size_t kForgetFrom = 64;  // entries of order_
constexpr double kRounding = 1e-9;  // of sums of tokens_per_step()

double real(int64_t value) { return static_cast<double>(value); }

Error bad_limit(const char* field, int64_t value, const std::string& expected) {
  return usage_error("bad-usage", std::string(field) + " is " + std::to_string(value), field, expected);
}

}  // namespace

Status check(const EngineLimits& limits) {
  if (limits.max_sequences < 1) return bad_limit("max_sequences", limits.max_sequences, "at least 1");
  if (limits.step_tokens < limits.max_sequences) {
    return bad_limit("step_tokens", limits.step_tokens,
                     "at least max_sequences, " + std::to_string(limits.max_sequences) +
                         ": each sequence that runs gets a token in a step");
  }
  if (limits.receive_steps < 1) return bad_limit("receive_steps", limits.receive_steps, "at least 1");
  if (limits.block_tokens < 1) return bad_limit("block_tokens", limits.block_tokens, "at least 1");
  if (limits.cache_tokens < limits.block_tokens) {
    return bad_limit("cache_tokens", limits.cache_tokens,
                     "at least a block of " + std::to_string(limits.block_tokens) + " tokens");
  }
  if (!(limits.cache_reserve_share >= 0 && limits.cache_reserve_share < 1)) {
    return usage_error("bad-usage", "cache_reserve_share is " + std::to_string(limits.cache_reserve_share),
                       "cache_reserve_share", "0, or a share below 1");
  }
  if (limits.draft_tokens < 0) return bad_limit("draft_tokens", limits.draft_tokens, "at least 0");
  if (!(limits.acceptance >= 0 && limits.acceptance <= 1)) {
    return usage_error("bad-usage", "acceptance is " + std::to_string(limits.acceptance), "acceptance", "from 0 to 1");
  }
  if (limits.step_tokens / (1 + limits.draft_tokens) < limits.max_sequences) {
    return bad_limit("step_tokens", limits.step_tokens,
                     "at least max_sequences, " + std::to_string(limits.max_sequences) + ", times " +
                         std::to_string(1 + limits.draft_tokens) + " tokens that a step computes for each");
  }
  if (limits.context_tokens < 0) return bad_limit("context_tokens", limits.context_tokens, "at least 1; 0: no limit");
  return {};
}

double EngineLimits::tokens_per_step() const {
  double tokens = 1, chance = 1;
  for (int64_t i = 0; i < draft_tokens; ++i) tokens += chance *= acceptance;
  return tokens;
}

void GapHistogram::add(double seconds, int64_t count) {
  if (count <= 0) return;
  const double place =
      std::log(std::clamp(seconds, kLeastGap_s, kMostGap_s) / kLeastGap_s) / std::log(kMostGap_s / kLeastGap_s) * kBins;
  bins_[static_cast<size_t>(std::min<double>(place, kBins - 1))] += count;
  count_ += count;
}

void GapHistogram::add(const GapHistogram& other) {
  for (size_t i = 0; i < bins_.size(); ++i) bins_[i] += other.bins_[i];
  count_ += other.count_;
}

double GapHistogram::quantile(double probability) const {
  if (count_ == 0) return kUnknown;
  const auto rank = std::max<int64_t>(1, std::llround(std::ceil(probability * real(count_))));
  int64_t seen = 0;
  size_t bin = 0;
  while (bin + 1 < bins_.size() && (seen += bins_[bin]) < rank) ++bin;
  return kLeastGap_s * std::exp((real(static_cast<int64_t>(bin)) + 0.5) / kBins * std::log(kMostGap_s / kLeastGap_s));
}

Replica::Replica(const EngineLimits& limits, const BatchTime& times, const ServingTrace& trace,
                 std::vector<RequestOutcome>& outcomes)
    : limits_(limits),
      times_(times),
      trace_(trace),
      outcomes_(outcomes),
      cache_(limits.cache_tokens / limits.block_tokens, trace.hash_block_tokens / limits.block_tokens,
             // Blocks of a prefix that aren't whole blocks of the engine can't be shared.
             limits.prefix_cache && trace.hash_block_tokens % limits.block_tokens == 0),
      tokens_per_hash_(trace.hash_block_tokens),
      growing_(static_cast<size_t>(limits.block_tokens), 0) {}

bool Replica::fits(int32_t request) const {
  const ServingRequest& asked = trace_.requests[static_cast<size_t>(request)];
  const int64_t tokens = asked.prompt_tokens + asked.output_tokens;
  if (limits_.context_tokens > 0 && tokens > limits_.context_tokens) return false;
  // A prompt is computed at once, and with all its output when it was thrown out before the last token.
  if (!limits_.chunked_prefill && tokens - 1 > limits_.step_tokens) return false;
  // The last token's keys are never read. Of guesses, those beyond the end have blocks, too.
  return blocks_of(tokens - 1 + limits_.draft_tokens) <= cache_.blocks();
}

void Replica::add(int32_t request) {
  waiting_[trace_.requests[static_cast<size_t>(request)].priority].push_back({request, 0, kUnknown});
  ++waiting_count_;
  counts_.most_waiting = std::max(counts_.most_waiting, waiting_count_);
}

void Replica::add_computed(int32_t request, double first_token_s) {
  computed_.push_back({request, 1, first_token_s});
  ++waiting_count_;
  counts_.most_waiting = std::max(counts_.most_waiting, waiting_count_);
}

double Replica::cache_use() const { return real(cache_.used_blocks()) / real(cache_.blocks()); }

int64_t Replica::matching_tokens(int32_t request) const {
  return cache_.matching(whole_blocks_of(request)) * tokens_per_hash_;
}

bool Replica::is(const Entry& entry) const {
  return sequences_[entry.slot].is_live && sequences_[entry.slot].stamp == entry.stamp;
}

int64_t Replica::context_of(const Sequence& sequence) const {
  return sequence.to_compute + decode_step_ - sequence.begun_at;
}

int64_t Replica::residue_of(const Sequence& sequence) const {
  const int64_t residue = (sequence.begun_at - sequence.to_compute) % limits_.block_tokens;
  return residue < 0 ? residue + limits_.block_tokens : residue;
}

std::span<const uint64_t> Replica::prefix_of(int32_t request) const {
  const std::span<const uint64_t> prefix = trace_.prefix_of(trace_.requests[static_cast<size_t>(request)]);
  return cache_.keeps_prefixes() ? prefix : prefix.first(0);
}

std::span<const uint64_t> Replica::whole_blocks_of(int32_t request) const {
  const auto whole =
      static_cast<size_t>(trace_.requests[static_cast<size_t>(request)].prompt_tokens / tokens_per_hash_);
  const std::span<const uint64_t> prefix = prefix_of(request);
  return prefix.first(std::min(prefix.size(), whole));
}

void Replica::keep_output(Sequence& sequence) {
  const std::span<const uint64_t> prefix = prefix_of(sequence.request);
  const auto whole = std::min(static_cast<int64_t>(prefix.size()), context_of(sequence) / tokens_per_hash_);
  if (whole <= sequence.held) return;
  cache_.share(prefix.first(static_cast<size_t>(whole)), sequence.held);
  sequence.held = whole;
}

bool Replica::has_decode_blocks() {
  bool is_calm = true;
  const auto needed = [&] {
    int64_t blocks = 0;
    for (int64_t i = 0; i < advance_; ++i) {
      blocks += growing_[static_cast<size_t>((decode_step_ + i) % limits_.block_tokens)];
    }
    return blocks;
  };
  while (!cache_.take(needed())) {
    preempt_last();
    is_calm = false;
  }
  return is_calm;
}

void Replica::add_chunk(Sequence& sequence, int64_t tokens) {
  sequence.chunk = tokens;
  const double done = real(sequence.computed), own = real(tokens);
  ++batch_.prefills;
  batch_.prefill_tokens += own;
  batch_.prefill_pairs += own * done + own * (own + 1) / 2;
  if (const double window = times_.window_tokens(); window > 0) {
    const auto up_to = [&](double position) {
      const double growing = std::min(position, window);
      return growing * (growing + 1) / 2 + window * (position - growing);
    };
    batch_.prefill_windowed_pairs += up_to(done + own) - up_to(done);
  }
  if (sequence.computed + tokens == sequence.to_compute) ++batch_.completed_prefills;
}

void Replica::continue_prompts(int64_t& budget) {
  for (const Entry& entry : prompts_) {
    Sequence& sequence = sequences_[entry.slot];
    const int64_t tokens = std::min(sequence.to_compute - sequence.computed, budget);
    if (tokens == 0) break;
    budget -= tokens;
    add_chunk(sequence, tokens);
  }
}

uint32_t Replica::take_slot(int32_t request, double last_token_s) {
  uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<uint32_t>(sequences_.size());
    sequences_.emplace_back();
    last_token_s_.push_back(kUnknown);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  const uint32_t stamp = sequences_[slot].stamp + 1;
  sequences_[slot] = {.request = request, .stamp = stamp, .is_live = true};
  last_token_s_[slot] = last_token_s;
  ++running_;
  order_.push_back({slot, stamp});
  return slot;
}

bool Replica::let_in(double now_s, int64_t& budget) {
  std::deque<Waiting>& line = waiting_.begin()->second;
  const Waiting next = line.front();
  if (outcomes_[static_cast<size_t>(next.request)].ready_s > let_in_until_s_) return false;
  const ServingRequest& asked = trace_.requests[static_cast<size_t>(next.request)];
  const int64_t to_compute = asked.prompt_tokens + next.generated;
  const std::span<const uint64_t> prefix = whole_blocks_of(next.request);
  const int64_t held = std::min(cache_.matching(prefix), (to_compute - 1) / tokens_per_hash_);
  const int64_t computed = held * tokens_per_hash_;
  int64_t tokens = to_compute - computed;
  if (tokens > budget) {
    if (!limits_.chunked_prefill) return false;
    tokens = budget;
  }
  cache_.hold(prefix, held);
  const int64_t blocks = blocks_of(to_compute) - held * (tokens_per_hash_ / limits_.block_tokens);
  if (!take_beside_reserve(blocks)) {
    cache_.release(prefix, held);
    return false;
  }
  line.pop_front();
  if (line.empty()) waiting_.erase(waiting_.begin());
  --waiting_count_;

  const uint32_t slot = take_slot(next.request, next.last_token_s);
  Sequence& sequence = sequences_[slot];
  sequence.to_compute = to_compute;
  sequence.computed = computed;
  sequence.generated = next.generated;
  sequence.blocks = blocks;
  sequence.held = held;
  prompts_.push_back({slot, sequence.stamp});
  budget -= tokens;
  add_chunk(sequence, tokens);
  counts_.cached_tokens += real(computed);
  RequestOutcome& outcome = outcomes_[static_cast<size_t>(next.request)];
  if (std::isnan(outcome.scheduled_s)) {
    outcome.scheduled_s = now_s;
    outcome.cached_tokens = computed;
  }
  return true;
}

bool Replica::take_beside_reserve(int64_t blocks) {
  const double reserve = running_ > 0 ? std::floor(limits_.cache_reserve_share * real(cache_.blocks())) : 0;
  return real(cache_.available_blocks() - blocks) >= reserve && cache_.take(blocks);
}

void Replica::let_in_all(double now_s, int64_t budget) {
  while (budget > 0 && !holds_prompts_ && !waiting_.empty() && running_ < limits_.max_sequences &&
         let_in(now_s, budget)) {
  }
}

void Replica::let_in_computed(double now_s) {
  while (!computed_.empty() && running_ < limits_.max_sequences) {
    const Waiting next = computed_.front();
    const int64_t tokens = trace_.requests[static_cast<size_t>(next.request)].prompt_tokens;
    if (!take_beside_reserve(blocks_of(tokens))) return;
    computed_.pop_front();
    --waiting_count_;
    const uint32_t slot = take_slot(next.request, next.last_token_s);
    Sequence& sequence = sequences_[slot];
    sequence.to_compute = sequence.computed = tokens;
    sequence.generated = next.generated;
    RequestOutcome& outcome = outcomes_[static_cast<size_t>(next.request)];
    if (std::isnan(outcome.scheduled_s)) outcome.scheduled_s = now_s;
    join_decodes({slot, sequence.stamp}, next.last_token_s);
  }
}

const StepBatch& Replica::choose_step(double now_s) {
  batch_ = {};
  // An engine that was idle, or has nothing else to do, waits for nothing.
  const bool is_ahead = limits_.schedules_ahead && step_ended_s_ == now_s && running_ > 0;
  if (++deaf_steps_ >= limits_.receive_steps || running_ == 0) {
    let_in_until_s_ = is_ahead ? step_began_s_ : now_s;
    deaf_steps_ = 0;
  }
  step_began_s_ = now_s;
  if (order_.size() > kForgetFrom + 2 * static_cast<size_t>(running_)) forget_left();
  let_in_computed(now_s);
  const int64_t each = 1 + limits_.draft_tokens;
  if (each > 1) {
    advance_ = static_cast<int64_t>(std::floor((whole_steps_ + 1) * limits_.tokens_per_step() - advanced_ + kRounding));
  }
  if (limits_.chunked_prefill && !limits_.prompts_apart) {
    const bool is_calm = has_decode_blocks();
    int64_t budget = limits_.step_tokens - each * decodes_;
    continue_prompts(budget);
    if (is_calm) let_in_all(now_s, budget);
    batch_decodes_ = decodes_ > 0;
  } else {
    int64_t budget = limits_.step_tokens;
    continue_prompts(budget);
    let_in_all(now_s, budget);
    batch_decodes_ = batch_.prefills == 0;
    if (batch_decodes_) has_decode_blocks();
  }
  if (batch_decodes_) {
    batch_.decodes = decodes_;
    batch_.decode_context_tokens = decode_context_ + real(decodes_);
    batch_.tokens_per_decode = each;
  }
  return batch_;
}

int64_t Replica::tokens_of_step() const {
  return (batch_decodes_ ? decodes_ * advance_ : 0) + batch_.completed_prefills;
}

void Replica::end_step(double now_s, double seen_s, std::vector<int32_t>& ended) {
  const double seconds = now_s - step_began_s_;
  step_ended_s_ = now_s;
  ++counts_.steps;
  counts_.busy_s += seconds;
  counts_.joules += times_.joules(batch_, seconds);
  counts_.used_block_seconds += real(cache_.used_blocks()) * seconds;
  counts_.running_seconds += real(running_) * seconds;
  counts_.most_used_blocks = std::max(counts_.most_used_blocks, cache_.used_blocks());
  counts_.prompt_tokens += batch_.prefill_tokens;
  handed_over_.clear();

  if (batch_decodes_ && decodes_ > 0) {
    counts_.gaps.add(seen_s - last_decode_seen_s_, continuing_);
    for (const auto& [since_s, count] : joined_) counts_.gaps.add(seen_s - since_s, count);
    joined_.clear();
    counts_.generated_tokens += real(advance_ * decodes_);
    decode_context_ += real(advance_ * decodes_);
    decode_step_ += advance_;
    whole_steps_ += 1;
    advanced_ += real(advance_);
    continuing_ = decodes_;
    last_decode_seen_s_ = seen_s;
    while (!endings_.empty() && endings_.top().at < decode_step_) {
      const auto [at, entry] = endings_.top();
      endings_.pop();
      if (!is(entry)) continue;
      counts_.generated_tokens -= real(decode_step_ - 1 - at);  // guesses beyond its end
      const int32_t request = sequences_[entry.slot].request;
      outcomes_[static_cast<size_t>(request)].last_token_s = seen_s;
      ended.push_back(request);
      keep_output(sequences_[entry.slot]);
      leave(entry.slot);
    }
  }

  if (batch_.prefills == 0) return;
  size_t kept = 0;
  for (size_t i = 0; i < prompts_.size(); ++i) {
    const Entry entry = prompts_[i];
    Sequence& sequence = sequences_[entry.slot];
    sequence.computed += sequence.chunk;
    sequence.chunk = 0;
    if (sequence.computed == sequence.to_compute) {
      begin_generating(entry, seen_s, ended);
    } else {
      prompts_[kept++] = entry;
    }
  }
  prompts_.resize(kept);
}

void Replica::begin_generating(const Entry& entry, double seen_s, std::vector<int32_t>& ended) {
  Sequence& sequence = sequences_[entry.slot];
  const ServingRequest& asked = request_of(sequence);
  RequestOutcome& outcome = outcomes_[static_cast<size_t>(sequence.request)];
  if (sequence.generated > 0) counts_.gaps.add(seen_s - last_token_s_[entry.slot], 1);
  if (std::isnan(outcome.first_token_s)) outcome.first_token_s = seen_s;
  counts_.generated_tokens += 1;
  ++sequence.generated;
  last_token_s_[entry.slot] = seen_s;

  const std::span<const uint64_t> prefix = whole_blocks_of(sequence.request);
  const auto whole = static_cast<int64_t>(prefix.size());
  if (sequence.held < whole) {
    cache_.share(prefix, sequence.held);
    sequence.held = whole;
    sequence.blocks = blocks_of(sequence.to_compute) - whole * (tokens_per_hash_ / limits_.block_tokens);
  }
  if (sequence.generated == asked.output_tokens) {
    outcome.last_token_s = seen_s;
    ended.push_back(sequence.request);
    leave(entry.slot);
    return;
  }
  if (prompts_alone_) {
    handed_over_.push_back(sequence.request);
    leave(entry.slot);
    return;
  }
  join_decodes(entry, seen_s);
}

void Replica::join_decodes(const Entry& entry, double last_token_s) {
  Sequence& sequence = sequences_[entry.slot];
  sequence.phase = Phase::kDecode;
  sequence.begun_at = decode_step_;
  ++decodes_;
  decode_context_ += real(sequence.to_compute);
  ++growing_[static_cast<size_t>(residue_of(sequence))];
  if (joined_.empty() || joined_.back().first != last_token_s) joined_.emplace_back(last_token_s, 0);
  ++joined_.back().second;
  endings_.push({decode_step_ + request_of(sequence).output_tokens - sequence.generated - 1, entry});
}

void Replica::preempt_last() {
  while (!is(order_.back())) order_.pop_back();
  const uint32_t slot = order_.back().slot;
  const Sequence& sequence = sequences_[slot];
  Waiting again{sequence.request, sequence.generated, last_token_s_[slot]};
  if (sequence.phase == Phase::kDecode) {
    const int64_t steps = decode_step_ - sequence.begun_at;
    again.generated += steps;
    if (steps > 0) {
      again.last_token_s = last_decode_seen_s_;
    } else {  // it left before leave() could count it among those that go on
      const auto joined = std::find_if(joined_.begin(), joined_.end(), [&](const auto& group) {
        return group.first == again.last_token_s && group.second > 0;
      });
      --joined->second;
      ++continuing_;
    }
  } else {
    std::erase_if(prompts_, [&](const Entry& entry) { return entry.slot == slot; });
  }
  ++outcomes_[static_cast<size_t>(sequence.request)].preemptions;
  ++counts_.preemptions;
  waiting_[request_of(sequence).priority].push_front(again);
  ++waiting_count_;
  leave(slot);
  order_.pop_back();
}

void Replica::leave(uint32_t slot) {
  Sequence& sequence = sequences_[slot];
  int64_t own = sequence.blocks;
  if (sequence.phase == Phase::kDecode) {
    const int64_t context = context_of(sequence);
    own = blocks_of(context) - sequence.held * (tokens_per_hash_ / limits_.block_tokens);
    --decodes_;
    --continuing_;
    decode_context_ -= real(context);
    --growing_[static_cast<size_t>(residue_of(sequence))];
  }
  cache_.give_back(own);
  cache_.release(prefix_of(sequence.request), sequence.held);
  sequence.is_live = false;
  --running_;
  free_slots_.push_back(slot);
}

void Replica::forget_left() {
  std::erase_if(order_, [&](const Entry& entry) { return !is(entry); });
}

}  // namespace perfcast::ai
