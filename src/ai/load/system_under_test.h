#pragma once
// What is measured, and how it reports. A system takes queries from one thread and answers from any.
//
//   Status start(samples, sink)   once before each run: bring these samples into memory, be ready
//   issue(query)                  as often as the run needs; may answer at once, or later from another thread
//   flush()                       no further query comes: answer what was put aside for larger batches
//   finish()                      the run is over; when it returns, nothing more is reported to this sink
//
// A generator measures from when a query was due; what a system says of times, it says by the steady clock.

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast::ai {

// The steady clock in nanoseconds.
inline int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct IssuedSample {
  uint64_t id = 0;     // counts from 0 within a run
  uint32_t index = 0;  // of the data set
};

// `at_ns`: steady_ns() when it happened; 0: now.
struct SampleAnswer {
  int64_t tokens = 0;     // of the whole answer; 0: as many as were reported one by one
  std::string_view data;  // what accuracy is judged by; copied
  int64_t at_ns = 0;
  // What was reported one by one may be pieces of several tokens. Else `tokens` must be their number where any were.
  bool has_own_count = false;
  int64_t prompt_tokens = 0;  // that the system read; 0: it doesn't say
};

// All of these from any thread, also from within issue(); none waits for a lock on its usual way.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  // So many further tokens of an answer arrived; the first call is the first token.
  virtual void token(uint64_t id, int64_t count = 1, int64_t at_ns = 0) = 0;
  virtual void complete(uint64_t id, const SampleAnswer& answer = {}) = 0;
  // There is no answer to this sample, and why.
  virtual void fail(uint64_t id, const std::string& why, int64_t at_ns = 0) = 0;
  // What came was no answer at all and belongs to no sample that is known; the run goes on, and is not valid.
  virtual void nonsense(const std::string& what) = 0;
  // The system can't go on: the run ends with what was measured until now.
  virtual void broke(const Error& error) = 0;
};

class SystemUnderTest {
 public:
  virtual ~SystemUnderTest() = default;
  virtual std::string name() const = 0;  // in one line, for reports
  virtual Status start(std::span<const uint32_t> samples, ResponseSink& sink) = 0;
  // The samples are a view that ends with the call.
  virtual void issue(std::span<const IssuedSample> query) = 0;
  virtual void flush() {}
  virtual void finish() = 0;
  // Whether an answer to a sample of the data set is right; absent: this system can't say.
  virtual std::optional<bool> is_right(uint32_t /*index*/, std::string_view /*data*/) { return std::nullopt; }
  // That all of its work is done by this machine's CPUs: a GPU's joules are none of its.
  virtual bool runs_on_cpus() const { return false; }
  // Why a system that judges its answers couldn't, the first time; absent: nothing stood against it.
  virtual std::optional<Error> judging_error() const { return std::nullopt; }
};

}  // namespace perfcast::ai
