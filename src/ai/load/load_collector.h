#pragma once
// The second thread of a run: takes answers out of the ring as they come, keeps their times, hands them to whoever
// writes them down, and looks out for what ends a run: a system that broke or hangs, an interrupt, a step of the wall
// clock.

#include <atomic>
#include <deque>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "ai/load/load_result.h"
#include "ai/load/response_ring.h"
#include "base/result.h"

namespace perfcast::ai {

struct LoadProgress {
  double elapsed_s = 0;
  int64_t issued = 0, answered = 0;                        // samples
  double answers_per_s = 0;                                // over the last 10 s
  int64_t p50_ns = 0, p99_ns = 0;                          // of latencies so far, within 0.4%
  int64_t first_token_p50_ns = 0, first_token_p99_ns = 0;  // 0: none so far
  int64_t tokens = 0;
};

// What a run calls meanwhile; all from the collector's thread, any may be empty.
struct LoadHooks {
  // Answers in the order in which they were taken up. A failure ends the run: what is not written is not measured.
  std::function<Status(std::span<const SampleRecord>)> record;
  std::function<void(const LoadProgress&)> progress;  // about five times a second
  std::function<bool()> is_interrupted;
  // Of an answer's data, where it is kept: whether it is right; absent: nobody can say.
  std::function<std::optional<bool>(uint32_t index, std::string_view data)> judge;
  // The wall clock minus the steady clock; tests give one that steps.
  std::function<int64_t()> wall_offset_ns;
};

// A wall clock that moves so far against the steady clock between two looks has stepped: slewing is at most 500 ppm.
inline constexpr int64_t kClockStep_ns = 50'000'000;

class LoadCollector {
 public:
  // Adds to `result`, which belongs to the collector until finish(). Sets `stop` where the run can't go on.
  LoadCollector(ResponseRing& ring, const LoadHooks& hooks, int64_t samples_per_query, LoadResult& result,
                std::atomic<bool>& stop);
  ~LoadCollector();
  LoadCollector(const LoadCollector&) = delete;
  LoadCollector& operator=(const LoadCollector&) = delete;

  // Takes up the rest, ends the thread. The system reports nothing more.
  void finish();

 private:
  void follow(const std::stop_token& stop);
  size_t take_up();
  void add(SampleRecord& record);
  void add_stream(const SampleRecord& record, int64_t latency_ns);
  void add_to_query(const SampleRecord& record);
  void look_out(int64_t now_ns);
  void look_at_clocks();
  void report(int64_t now_ns);
  void end_with(LoadFault fault);

  ResponseRing& ring_;
  const LoadHooks& hooks_;
  LoadResult& result_;
  std::atomic<bool>& stop_;
  const uint64_t first_id_, samples_per_query_;
  std::vector<SampleRecord> records_;
  LatencyHistogram latencies_, first_tokens_;
  // Of the latest query that anything was taken up of.
  uint64_t query_ = 0, query_samples_ = 0;
  int64_t query_answered_ns_ = 0;
  bool query_failed_ = false, ended_ = false;
  struct Reported {
    int64_t at_ns = 0, answers = 0;
  };
  std::deque<Reported> reports_;  // of the last 10 s
  int64_t last_answer_ns_ = 0, reported_ns_ = 0, wall_offset_ns_ = 0;
  int64_t answers_ = 0;
  std::vector<bool> judged_;  // accuracy: samples of the data set whose answers were counted as right or wrong
  std::jthread thread_;       // the last: it uses all others
};

}  // namespace perfcast::ai
