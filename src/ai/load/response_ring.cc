#include "ai/load/response_ring.h"

#include <algorithm>
#include <bit>

#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kSpinFor_ns = 50'000;
constexpr auto kLookAgain = std::chrono::milliseconds(5);
constexpr int64_t kLeastRoom = 32768;
constexpr uint64_t kLookAhead = 65536;  // beyond an unanswered sample

}  // namespace

ResponseRing::ResponseRing(uint64_t first_id, int64_t most, bool keep_data)
    : first_id_(first_id),
      slots_(std::bit_ceil(static_cast<uint64_t>(std::max(most, kLeastRoom)) * 2)),
      mask_(slots_.size() - 1),
      keep_data_(keep_data),
      data_(keep_data ? slots_.size() : 0),
      opened_(first_id),
      taken_(first_id) {}

uint64_t ResponseRing::open(uint32_t index, int64_t due_ns, int64_t issued_ns) {
  const uint64_t id = opened_.load(std::memory_order_relaxed);
  Slot& slot = slot_of(id);
  slot.due_ns = due_ns;
  slot.issued_ns = issued_ns;
  slot.index = index;
  slot.first_token_ns.store(-1, std::memory_order_relaxed);
  slot.last_token_ns.store(-1, std::memory_order_relaxed);
  slot.tokens.store(0, std::memory_order_relaxed);
  slot.state.store(state_of(id, kOpen), std::memory_order_release);
  opened_.store(id + 1, std::memory_order_release);
  return id;
}

void ResponseRing::wait_for_answers(const std::atomic<bool>& stop) {
  const auto is_over = [&] { return unanswered() <= 0 || stop.load(std::memory_order_relaxed); };
  const int64_t until_ns = steady_ns() + kSpinFor_ns;
  while (!is_over() && steady_ns() < until_ns) {
  }
  if (is_over()) return;
  std::unique_lock lock(wait_lock_);
  is_waited_.store(true, std::memory_order_seq_cst);
  while (!is_over()) answered_all_.wait_for(lock, kLookAgain);
  is_waited_.store(false, std::memory_order_seq_cst);
}

void ResponseRing::note(const std::string& code, const std::string& first) {
  const std::lock_guard guard(odd_lock_);
  Oddity& oddity = odd_[code];
  if (oddity.count++ == 0) oddity.first = first;
}

bool ResponseRing::claim(uint64_t id, const char* what) {
  const bool issued = id >= first_id_ && id < opened();
  uint64_t expected = state_of(id, kOpen);
  if (issued &&
      slot_of(id).state.compare_exchange_strong(expected, state_of(id, kClaimed), std::memory_order_acq_rel)) {
    return true;
  }
  if (!issued) {
    note("unknown-ids", std::string(what) + " to id " + std::to_string(id) + ", which was not issued");
  } else {
    note("answered-twice", std::string(what) + " to id " + std::to_string(id) + ", which has one already");
  }
  return false;
}

void ResponseRing::settle(uint64_t id, Phase phase) {
  slot_of(id).state.store(state_of(id, phase), std::memory_order_release);
  answered_.fetch_add(1, std::memory_order_seq_cst);
  if (!is_waited_.load(std::memory_order_seq_cst)) return;
  const std::lock_guard guard(wait_lock_);
  answered_all_.notify_one();
}

void ResponseRing::token(uint64_t id, int64_t count, int64_t at_ns) {
  const int64_t now_ns = since_start(at_ns);
  const bool unknown = id < first_id_ || id >= opened();
  Slot& slot = slot_of(id);
  if (unknown || slot.state.load(std::memory_order_acquire) != state_of(id, kOpen)) {
    note(
        unknown ? "unknown-ids" : "late-tokens",
        "a token of id " + std::to_string(id) + (unknown ? ", which was not issued" : " behind the end of its answer"));
    return;
  }
  if (count <= 0) return;
  const int64_t before_ns = slot.last_token_ns.exchange(now_ns, std::memory_order_relaxed);
  if (before_ns < 0) {
    slot.first_token_ns.store(now_ns, std::memory_order_relaxed);
  } else {
    inter_token_.add(now_ns - before_ns);
  }
  slot.tokens.fetch_add(static_cast<int32_t>(std::min<int64_t>(count, 1 << 20)), std::memory_order_relaxed);
  last_token_ns_.store(now_ns, std::memory_order_relaxed);
}

void ResponseRing::complete(uint64_t id, const SampleAnswer& answer) {
  const int64_t now_ns = since_start(answer.at_ns);
  if (!claim(id, "an answer")) return;
  Slot& slot = slot_of(id);
  slot.answered_ns = std::max(now_ns, slot.issued_ns);
  const int32_t streamed = slot.tokens.load(std::memory_order_relaxed);
  slot.streamed_tokens = streamed;
  slot.prompt_tokens = static_cast<int32_t>(std::clamp<int64_t>(answer.prompt_tokens, 0, INT32_MAX));
  if (answer.tokens > 0) {
    if (streamed > 0 && answer.tokens != streamed && !answer.has_own_count) {
      note("token-counts", "the answer to id " + std::to_string(id) + " says " + std::to_string(answer.tokens) +
                               " tokens, " + std::to_string(streamed) + " came");
    }
    slot.tokens.store(static_cast<int32_t>(std::min<int64_t>(answer.tokens, INT32_MAX)), std::memory_order_relaxed);
    slot.streamed_tokens = static_cast<int32_t>(std::min<int64_t>(answer.tokens, streamed));
  }
  if (keep_data_) data_[id & mask_].assign(answer.data);
  settle(id, kDone);
}

void ResponseRing::fail(uint64_t id, const std::string& why, int64_t at_ns) {
  const int64_t now_ns = since_start(at_ns);
  if (!claim(id, "a failure")) return;
  slot_of(id).answered_ns = std::max(now_ns, slot_of(id).issued_ns);
  note("failed-answers", "id " + std::to_string(id) + ": " + printable(why));
  settle(id, kFailed);
}

void ResponseRing::nonsense(const std::string& what) { note("bad-answers", printable(what)); }

void ResponseRing::broke(const Error& error) {
  const std::lock_guard guard(odd_lock_);
  if (!broken_) broken_ = error;
}

std::optional<Error> ResponseRing::broken() const {
  const std::lock_guard guard(odd_lock_);
  return broken_;
}

SampleRecord ResponseRing::record_of(const Slot& slot, uint64_t id) const {
  SampleRecord record;
  record.id = id;
  record.index = slot.index;
  record.due_ns = slot.due_ns;
  record.issued_ns = slot.issued_ns;
  record.first_token_ns = slot.first_token_ns.load(std::memory_order_relaxed);
  record.tokens = slot.tokens.load(std::memory_order_relaxed);
  return record;
}

bool ResponseRing::take_one(uint64_t id, std::vector<SampleRecord>& records) {
  Slot& slot = slot_of(id);
  const uint64_t state = slot.state.load(std::memory_order_acquire);
  if (state == state_of(id, kTaken)) return true;
  const bool failed = state == state_of(id, kFailed);
  if (!failed && state != state_of(id, kDone)) return false;
  records.push_back(record_of(slot, id));
  records.back().answered_ns = slot.answered_ns;
  records.back().failed = failed;
  records.back().streamed_tokens = failed ? 0 : slot.streamed_tokens;
  records.back().prompt_tokens = failed ? 0 : slot.prompt_tokens;
  if (keep_data_) records.back().data.swap(data_[id & mask_]);
  slot.state.store(state_of(id, kTaken), std::memory_order_release);
  return true;
}

void ResponseRing::take(std::vector<SampleRecord>& records, size_t at_most) {
  const uint64_t end = opened();
  uint64_t id = taken_.load(std::memory_order_relaxed);
  while (id < end && records.size() < at_most && take_one(id, records)) ++id;
  taken_.store(id, std::memory_order_release);
  const uint64_t look_until = std::min(end, id + kLookAhead);
  for (uint64_t further = id + 1; further < look_until && records.size() < at_most; ++further) {
    take_one(further, records);
  }
}

std::optional<SampleRecord> ResponseRing::first_unanswered() const {
  const uint64_t end = opened();
  for (uint64_t id = taken_.load(std::memory_order_relaxed); id < end; ++id) {
    const uint64_t phase = slot_of(id).state.load(std::memory_order_acquire) % kPhases;
    if (phase == kOpen) return record_of(slot_of(id), id);
  }
  return std::nullopt;
}

std::vector<LoadFault> ResponseRing::faults() const {
  const std::lock_guard guard(odd_lock_);
  std::vector<LoadFault> faults;
  faults.reserve(odd_.size());
  for (const auto& [code, oddity] : odd_) {
    std::string message = oddity.first;
    if (oddity.count > 1) message += "; " + std::to_string(oddity.count) + " such in all";
    faults.push_back({code, message});
  }
  return faults;
}

}  // namespace perfcast::ai
