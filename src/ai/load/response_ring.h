#pragma once
// Where a run's answers are noted: a ring of slots, one for each sample that is on its way, without locks. The issuing
// thread opens slots in the order of ids, any thread answers them, one thread takes out what is answered.
//
// A slot's state holds its sample's id, so that an answer to a sample that was answered already, or was never asked,
// is told from a right one by the same instruction that takes the slot.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ai/load/latency_numbers.h"
#include "ai/load/load_result.h"
#include "ai/load/system_under_test.h"

namespace perfcast::ai {

class ResponseRing final : public ResponseSink {
 public:
  // Ids begin with `first_id`. At most `most` samples are unanswered at once; the ring has room for as many answered
  // ones that are still to be taken out. `keep_data`: answers' data are kept until then.
  ResponseRing(uint64_t first_id, int64_t most, bool keep_data);
  ~ResponseRing() override = default;
  ResponseRing(const ResponseRing&) = delete;
  ResponseRing& operator=(const ResponseRing&) = delete;

  // --- by the issuing thread
  void begin(int64_t start_ns) { start_ns_ = start_ns; }  // times of records count from it
  int64_t start_ns() const { return start_ns_; }
  bool has_room(int64_t samples) const {
    return opened_.load(std::memory_order_relaxed) - taken_.load(std::memory_order_acquire) +
               static_cast<uint64_t>(samples) <=
           slots_.size();
  }
  // The next id; has_room() said so. Times since the start.
  uint64_t open(uint32_t index, int64_t due_ns, int64_t issued_ns);
  int64_t unanswered() const {
    return static_cast<int64_t>(opened_.load(std::memory_order_relaxed) - first_id_ -
                                answered_.load(std::memory_order_seq_cst));
  }
  // Returns when every sample is answered, or `stop` is set.
  void wait_for_answers(const std::atomic<bool>& stop);

  // --- by any thread
  void token(uint64_t id, int64_t count, int64_t at_ns) override;
  void complete(uint64_t id, const SampleAnswer& answer) override;
  void fail(uint64_t id, const std::string& why, int64_t at_ns) override;
  void nonsense(const std::string& what) override;
  void broke(const Error& error) override;

  // --- by the thread that takes out
  // Appends what is answered, about `at_most` of it, and frees its slots; what waits behind an unanswered sample is
  // taken, too. Times since the start.
  void take(std::vector<SampleRecord>& records, size_t at_most);
  // Of the samples that are opened and not answered yet the first.
  std::optional<SampleRecord> first_unanswered() const;
  uint64_t opened() const { return opened_.load(std::memory_order_acquire); }
  int64_t last_token_ns() const { return last_token_ns_.load(std::memory_order_relaxed); }  // since the start
  std::optional<Error> broken() const;
  // What went wrong with answers so far.
  std::vector<LoadFault> faults() const;
  const LatencyHistogram& inter_token() const { return inter_token_; }

 private:
  enum Phase : uint64_t { kOpen = 0, kClaimed = 1, kDone = 2, kFailed = 3, kTaken = 4 };
  static constexpr uint64_t kPhases = 8;
  static uint64_t state_of(uint64_t id, Phase phase) { return id * kPhases + phase; }

  struct alignas(64) Slot {
    std::atomic<uint64_t> state{~uint64_t{0}};
    int64_t due_ns = 0, issued_ns = 0, answered_ns = 0;
    std::atomic<int64_t> first_token_ns{-1}, last_token_ns{-1};
    std::atomic<int32_t> tokens{0};
    int32_t streamed_tokens = 0;  // of `tokens`, when it is answered
    int32_t prompt_tokens = 0;
    uint32_t index = 0;
  };
  struct Oddity {
    int64_t count = 0;
    std::string first;
  };

  Slot& slot_of(uint64_t id) { return slots_[id & mask_]; }
  const Slot& slot_of(uint64_t id) const { return slots_[id & mask_]; }
  int64_t since_start(int64_t at_ns) const { return (at_ns != 0 ? at_ns : steady_ns()) - start_ns_; }
  bool claim(uint64_t id, const char* what);
  void settle(uint64_t id, Phase phase);
  void note(const std::string& code, const std::string& first);
  SampleRecord record_of(const Slot& slot, uint64_t id) const;
  bool take_one(uint64_t id, std::vector<SampleRecord>& records);

  const uint64_t first_id_;
  std::vector<Slot> slots_;
  uint64_t mask_;
  bool keep_data_;
  std::vector<std::string> data_;  // by slot; empty where they are not kept
  int64_t start_ns_ = 0;
  alignas(64) std::atomic<uint64_t> opened_;  // the next id
  alignas(64) std::atomic<uint64_t> answered_{0};
  alignas(64) std::atomic<uint64_t> taken_;  // all ids below are taken out
  std::atomic<int64_t> last_token_ns_{0};
  std::atomic<bool> is_waited_{false};
  std::mutex wait_lock_;
  std::condition_variable answered_all_;
  LatencyHistogram inter_token_;
  mutable std::mutex odd_lock_;
  std::map<std::string, Oddity> odd_;
  std::optional<Error> broken_;
};

}  // namespace perfcast::ai
