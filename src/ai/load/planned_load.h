#pragma once
// Queries as clients of a service send them: at planned times, after others' answers, or as soon as one of so many
// clients is free. Unlike the field's scenarios these need to know which sample ended.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ai/load/load_result.h"
#include "ai/load/query_order.h"
#include "ai/load/response_ring.h"

namespace perfcast::ai {

// Passes everything on, and tells the issuing thread which samples ended.
class WatchedSink final : public ResponseSink {
 public:
  struct End {
    uint64_t id = 0;
    int64_t at_ns = 0;  // since the start
    bool failed = false;
  };

  explicit WatchedSink(ResponseRing& ring) : ring_(ring) {}
  void token(uint64_t id, int64_t count, int64_t at_ns) override { ring_.token(id, count, at_ns); }
  void complete(uint64_t id, const SampleAnswer& answer) override;
  void fail(uint64_t id, const std::string& why, int64_t at_ns) override;
  void nonsense(const std::string& what) override { ring_.nonsense(what); }
  void broke(const Error& error) override { ring_.broke(error); }

  // Waits until samples end, or until a time since the start, at most some milliseconds; `ends` has what ended.
  void wait(std::vector<End>& ends, int64_t until_ns);

 private:
  void note(uint64_t id, int64_t at_ns, bool failed);
  int64_t now_ns() const { return steady_ns() - ring_.start_ns(); }

  ResponseRing& ring_;
  std::mutex lock_;
  std::condition_variable ended_;
  std::atomic<bool> has_ends_{false};
  std::vector<End> ends_;
};

// What the issuing thread did.
struct PlannedRun {
  int64_t queries = 0, last_due_ns = 0, last_issued_ns = 0;
  std::optional<LoadFault> fault;
};

// Until the plan ends, it is enough, or `stop`; waits for the answers then. `order` has the samples of clients without
// a plan. `query` issues one; times since the start.
PlannedRun issue_planned(const LoadSettings& settings, QueryOrder& order, SystemUnderTest& system, ResponseRing& ring,
                         WatchedSink& sink, const std::atomic<bool>& stop);

}  // namespace perfcast::ai
