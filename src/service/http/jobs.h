#pragma once
// Operations that take long, run behind the request that began them: their state, progress and answer.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "service/http/workers.h"
#include "service/operation.h"

namespace perfcast::service {

struct JobLimits {
  size_t most_kept = 64;  // that have ended; the oldest go first
  double kept_s = 600;
  size_t threads = 1, most_waiting = 64;
};

class Jobs {
 public:
  explicit Jobs(const JobLimits& limits = {});
  ~Jobs();  // cancels what runs
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  using Run = std::function<Result<Answer>(const Watch&)>;
  // The id: 32 hexadecimal digits that nobody guesses. "too-many-requests" where too many wait.
  Result<std::string> begin(const std::string& operation, Run run);

  // perfcast.job/1: id, operation, state (waiting, running, done, failed, cancelled), stage, and once it has ended
  // "answer", or "error" as perfcast.error/1. "unknown-job".
  Result<std::string> describe(const std::string& id);
  // Its state afterwards, likewise.
  Result<std::string> cancel(const std::string& id);

  // Called with each event's name ("progress", "end") and document from any thread; with "end" last. The first event is
  // the state as it is.
  using Listener = std::function<void(const std::string& event, const std::string& document)>;
  // A number for leave().
  Result<uint64_t> listen(const std::string& id, Listener listener);
  void leave(const std::string& id, uint64_t listener);

  size_t waiting() const { return workers_.waiting(); }
  size_t running() const { return workers_.running(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    std::string id, operation, stage;
    std::string state = "waiting";
    std::optional<std::string> answer;
    std::optional<Error> error;
    std::atomic<bool> is_cancelled = false;
    Clock::time_point told = {}, ended = {};
    std::map<uint64_t, Listener> listeners;
    bool has_ended() const { return answer || error; }
  };
  // The rest with the lock.
  std::shared_ptr<Job> find(const std::string& id);
  void forget_old();
  static std::string document(const Job& job, bool with_answer);
  void tell(Job& job, const char* event);
  void end(Job& job, Result<Answer> result);

  const JobLimits limits_;
  std::mutex lock_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;
  std::deque<std::string> ended_;  // in the order in which they did
  uint64_t next_listener_ = 1;
  Workers workers_;  // the last: they use all others
};

// 128 bits from the system, in hexadecimal digits.
std::string random_id();

}  // namespace perfcast::service
