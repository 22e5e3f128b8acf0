#pragma once
// One engine: which sequences are in its next step, as vLLM's scheduler (version 1) chooses them, and what its cache
// holds.
//
//   - Sequences that generate come first, a token each; then prompts that were begun; then waiting requests, in order
//   of
//     priority and arrival, until the step has `step_tokens` tokens or `max_sequences` run.
//   - A prompt is let in when the cache has room for all of it, and takes that room at once. Beside sequences that run,
//     a reserve of the cache must stay free: those that generate grow into it.
//   - With chunked prefill, a prompt takes what is left of the step. Without, prompts have steps of their own, which
//     come first, and sequences that generate stand still meanwhile. With prompts apart, they have such steps and are
//     cut into chunks all the same, as SGLang's are.
//   - An engine that overlaps its host with its device chooses a step while the one before it runs. Requests that come
//     meanwhile wait for the step after it.
//   - A token that needs a block where none is left throws out the sequence that was let in last: it waits again, first
//     in line, and computes its prompt and what it had generated anew.
//   - With guesses (speculative decoding), a step computes draft_tokens + 1 tokens of each sequence that generates and
//     keeps those that were guessed right. All sequences keep the same number in a step: the mean, rounded so that it
//     holds over the steps.
//   - An engine for prompts alone hands a request over with its first token; one for answers takes it with its keys.
//   - A prompt begins with the blocks of its prefix that the cache holds. Its last token is always computed. Where the
//     request names blocks behind its prompt, they are those of its output: the cache keeps them for the next turn.
//
// A step costs as much as changes in it: sequences that go on are sums.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "ai/serving/batch_time.h"
#include "ai/serving/block_cache.h"
#include "ai/serving/serving_request.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

struct EngineLimits {
  int64_t max_sequences = 256;     // that run at once
  int64_t step_tokens = 2048;      // of a step; at least max_sequences
  int64_t cache_tokens = 0;        // that fit the cache
  int64_t block_tokens = 16;       // of a block of it
  int64_t context_tokens = 0;      // the longest prompt with its output; 0: what the cache holds
  double cache_reserve_share = 0;  // of the cache, in whole blocks, rounded down
  bool chunked_prefill = true;
  bool prompts_apart = false;  // prompts have steps of their own, chunked or not
  bool prefix_cache = true;
  bool schedules_ahead = false;  // a step is chosen when the one before it begins: later requests wait for the next one
  int64_t receive_steps = 1;     // new requests are looked for every so many steps, while any run
  int64_t draft_tokens = 0;      // guessed for each sequence in a step; step_tokens holds all that are checked
  double acceptance = 0;         // chance that a guess is right where all before it are

  // That a step gives each sequence in the mean: 1 + a + ... + a^draft_tokens.
  double tokens_per_step() const;
};
// "bad-usage" names the field.
Status check(const EngineLimits& limits);

// Absolute times on the engine's clock; NaN where it did not come to that.
struct RequestOutcome {
  double ready_s = kUnknown, scheduled_s = kUnknown, first_token_s = kUnknown, last_token_s = kUnknown;
  int32_t replica = -1, preemptions = 0;
  int64_t cached_tokens = 0;  // of the prompt, found in the cache when it was let in first
  bool refused = false;       // longer than the engine can hold
};

// Times between tokens of one sequence, all sequences: bins of equal ratio, so that quantiles are right within 1%.
class GapHistogram {
 public:
  void add(double seconds, int64_t count);
  void add(const GapHistogram& other);
  int64_t count() const { return count_; }
  double quantile(double probability) const;  // NaN without any

 private:
  static constexpr int kBins = 2048;
  std::array<int64_t, kBins> bins_{};
  int64_t count_ = 0;
};

struct ReplicaCounts {
  int64_t steps = 0, preemptions = 0;
  double busy_s = 0, joules = 0;                       // NaN: not known
  double generated_tokens = 0, prompt_tokens = 0;      // computed; prompts of preempted sequences again
  double cached_tokens = 0;                            // of prompts, not computed
  double used_block_seconds = 0, running_seconds = 0;  // integrals over busy time
  int64_t most_used_blocks = 0, most_waiting = 0;
  GapHistogram gaps;
};

class Replica {
 public:
  // All must outlive it. The limits are checked.
  Replica(const EngineLimits& limits, const BatchTime& times, const ServingTrace& trace,
          std::vector<RequestOutcome>& outcomes);

  // Prompts alone: a request with further tokens leaves with its first one (handed_over()).
  void serve_prompts_alone() { prompts_alone_ = true; }

  // Those that wait are not let in by the next step.
  void hold_prompts(bool hold) { holds_prompts_ = hold; }

  // Whether the engine can ever hold it.
  bool fits(int32_t request) const;
  void add(int32_t request);
  // With the keys of its prompt and its first token, that it got at `first_token_s`.
  void add_computed(int32_t request, double first_token_s);
  // That left with the last end_step().
  const std::vector<int32_t>& handed_over() const { return handed_over_; }

  bool is_idle() const { return running_ == 0 && waiting_count_ == 0; }
  int64_t running() const { return running_; }
  int64_t waiting() const { return waiting_count_; }
  double cache_use() const;  // share of blocks that running sequences hold
  int64_t matching_tokens(int32_t request) const;

  // Chooses a step that begins now. Not idle.
  const StepBatch& choose_step(double now_s);
  // Of a step that was chosen: what all engines compute that share experts with this one.
  const StepBatch& share_step(double tokens) {
    batch_.shared_tokens = tokens;
    return batch_;
  }
  // Chooses a step, and says how long it takes.
  double begin_step(double now_s) { return times_.seconds(choose_step(now_s)); }
  // Tokens that clients get from the step under way.
  int64_t tokens_of_step() const;
  // Its end: requests that ended are added to `ended`. Clients see its tokens at `seen_s`.
  void end_step(double now_s, double seen_s, std::vector<int32_t>& ended);
  void end_step(double now_s, std::vector<int32_t>& ended) { end_step(now_s, now_s, ended); }

  const ReplicaCounts& counts() const { return counts_; }

 private:
  enum class Phase : uint8_t { kPrefill, kDecode };
  // Of a running request; slots are used again, and `stamp` tells who is meant.
  struct Sequence {
    int32_t request = -1;
    uint32_t stamp = 0;
    Phase phase = Phase::kPrefill;
    int64_t to_compute = 0;  // tokens of the prompt, and of what was generated before it was thrown out
    int64_t computed = 0;    // of them, from the cache or in steps that ended
    int64_t chunk = 0;       // in this step
    int64_t generated = 0;   // tokens before it began to generate, with the first
    int64_t blocks = 0;      // its own, without those of the prefix that it shares
    int64_t held = 0;        // blocks of the prefix
    int64_t begun_at = 0;    // decode_step_ of its first step of generating
    bool is_live = false;
  };
  struct Waiting {
    int32_t request;
    int64_t generated;    // before it was thrown out
    double last_token_s;  // of them
  };
  struct Entry {  // in order of being let in, or of its end
    uint32_t slot, stamp;
  };
  struct Ending {
    int64_t at;  // decode_step_ that is its last one
    Entry entry;
    bool operator>(const Ending& other) const { return at > other.at; }
  };

  int64_t blocks_of(int64_t tokens) const { return (tokens + limits_.block_tokens - 1) / limits_.block_tokens; }
  bool is(const Entry& entry) const;
  int64_t context_of(const Sequence& sequence) const;  // tokens whose keys are in the cache, of one that generates
  int64_t residue_of(const Sequence& sequence) const;  // of growing_
  const ServingRequest& request_of(const Sequence& sequence) const {
    return trace_.requests[static_cast<size_t>(sequence.request)];
  }
  std::span<const uint64_t> prefix_of(int32_t request) const;        // empty where none are kept
  std::span<const uint64_t> whole_blocks_of(int32_t request) const;  // of its prefix that its prompt fills
  void keep_output(Sequence& sequence);                              // in the blocks of its prefix behind the prompt

  bool has_decode_blocks();  // takes them; throws sequences out until it can; whether none had to go
  void continue_prompts(int64_t& budget);
  bool let_in(double now_s, int64_t& budget);  // the first that waits; false: it must wait on
  void let_in_all(double now_s, int64_t budget);
  void let_in_computed(double now_s);
  bool take_beside_reserve(int64_t blocks);  // whether there was room for them, of a request that is let in
  uint32_t take_slot(int32_t request, double last_token_s);  // its sequence is live and in order_
  void add_chunk(Sequence& sequence, int64_t tokens);
  void preempt_last();
  void leave(uint32_t slot);
  void begin_generating(const Entry& entry, double seen_s, std::vector<int32_t>& ended);
  void join_decodes(const Entry& entry, double last_token_s);
  void forget_left();  // entries of order_

  const EngineLimits& limits_;
  const BatchTime& times_;
  const ServingTrace& trace_;
  std::vector<RequestOutcome>& outcomes_;
  BlockCache cache_;
  int64_t tokens_per_hash_;

  std::map<int32_t, std::deque<Waiting>> waiting_;  // by priority
  std::deque<Waiting> computed_;                    // elsewhere, before those
  int64_t waiting_count_ = 0;                       // all of them
  std::vector<Sequence> sequences_;
  std::vector<uint32_t> free_slots_;
  std::vector<double> last_token_s_;  // of slots, while they compute a prompt anew
  std::vector<Entry> order_;          // let in, oldest first; some have left
  std::vector<Entry> prompts_;        // in their prefill, oldest first
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  int64_t running_ = 0, decodes_ = 0;
  int64_t decode_step_ = 0;                // tokens that each sequence generated so far
  int64_t advance_ = 1;                    // of them in this step
  double whole_steps_ = 0, advanced_ = 0;  // with guesses: steps, and the tokens that they gave
  double decode_context_ = 0;              // keys in the cache of those that generate
  std::vector<int64_t> growing_;           // sequences that need a block, by decode_step_ modulo the block's tokens

  bool prompts_alone_ = false, holds_prompts_ = false;
  std::vector<int32_t> handed_over_;
  StepBatch batch_;
  bool batch_decodes_ = false;
  double step_began_s_ = 0, step_ended_s_ = -1, last_decode_seen_s_ = 0;
  double let_in_until_s_ = 0;  // of requests that this step may take
  int64_t deaf_steps_ = 0;     // since requests were looked for
  int64_t continuing_ = 0;     // of the decodes, those whose last token came with the last decode step
  std::vector<std::pair<double, int64_t>> joined_;  // since then: when, how many
  ReplicaCounts counts_;
};

}  // namespace perfcast::ai
