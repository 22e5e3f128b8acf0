#include "ai/load/planned_load.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <queue>
#include <unordered_map>
#include <utility>

namespace perfcast::ai {
namespace {

constexpr int64_t kSpinAhead_ns = 400'000;  // of what is due: a timer wakes some 60 microseconds late
constexpr int64_t kLongestWait_ns = 20'000'000;

int64_t in_ns(double seconds) { return std::llround(seconds * 1e9); }

class PlannedIssuer {
 public:
  PlannedIssuer(const LoadSettings& settings, QueryOrder& order, SystemUnderTest& system, ResponseRing& ring,
                WatchedSink& sink, const std::atomic<bool>& stop)
      : settings_(settings), order_(order), system_(system), ring_(ring), sink_(sink), stop_(stop) {
    if (settings_.plan) follow_plan(*settings_.plan);
    is_closed_ = settings_.scenario == LoadScenario::kConcurrency;
    free_clients_ = is_closed_ ? settings_.concurrency : 0;
  }

  PlannedRun run() {
    std::vector<WatchedSink::End> ends;
    while (!is_stopped()) {
      take_clients();
      if (turns_.empty() && is_out_of_firsts() && on_their_way_.empty()) break;
      const int64_t due_ns = next_due_ns();
      if (due_ns <= now_ns()) {
        if (!issue_next()) break;
        continue;
      }
      sink_.wait(ends, std::min(due_ns - kSpinAhead_ns, now_ns() + kLongestWait_ns));
      for (const WatchedSink::End& end : ends) take_end(end);
    }
    system_.flush();
    ring_.wait_for_answers(stop_);
    return std::move(run_);
  }

 private:
  static constexpr int64_t kNever = INT64_MAX / 2;

  // A query that is due, or will be.
  struct Turn {
    int64_t due_ns;
    uint32_t sample;
    int32_t query;                                                             // of the plan; -1: none
    bool operator<(const Turn& other) const { return due_ns > other.due_ns; }  // the earliest is on top
  };

  bool is_stopped() const { return stop_.load(std::memory_order_relaxed); }
  int64_t now_ns() const { return steady_ns() - ring_.start_ns(); }

  void follow_plan(const LoadPlan& plan) {
    for (size_t i = 0; i < plan.size(); ++i) {
      const auto query = static_cast<int32_t>(i);
      if (plan[i].after < 0) {
        firsts_.push_back(query);
      } else {
        next_turns_[plan[i].after].push_back(query);
      }
    }
  }

  // Whether what begins then is too late, or what was issued is enough: of clients, and of a trace that is cut.
  bool is_enough(int64_t begins_ns) const {
    const auto begins = static_cast<double>(begins_ns);
    if (settings_.max_queries > 0 && run_.queries >= settings_.max_queries) return true;
    if (run_.queries >= kMostLoadSamples) return true;
    if (settings_.max_duration_s > 0 && run_.queries > 0 && begins > settings_.max_duration_s * 1e9) return true;
    return is_closed_ && run_.queries >= settings_.min_queries && begins >= settings_.min_duration_s * 1e9;
  }

  bool is_out_of_firsts() const {
    if (is_closed_) return is_over_;
    return is_over_ || next_first_ == firsts_.size();
  }

  // A free client begins with the next conversation at once.
  void take_clients() {
    while (free_clients_ > 0 && !is_over_) {
      const int64_t now = now_ns();
      if (is_enough(now)) {
        is_over_ = true;
        return;
      }
      if (settings_.plan) {
        const int32_t query = firsts_[next_first_++ % firsts_.size()];
        turns_.push({now, static_cast<uint32_t>(query), query});
      } else if (int64_t unused = 0; order_.next(samples_, unused)) {
        turns_.push({now, samples_.front(), -1});
      }
      --free_clients_;
      if (!issue_next()) return;
    }
  }

  int64_t next_due_ns() const {
    int64_t due_ns = turns_.empty() ? kNever : turns_.top().due_ns;
    if (!is_closed_ && !is_out_of_firsts()) due_ns = std::min(due_ns, first_due_ns());
    return due_ns;
  }
  int64_t first_due_ns() const { return in_ns((*settings_.plan)[static_cast<size_t>(firsts_[next_first_])].at_s); }

  // What is due next, in its time; false: the run can't go on.
  bool issue_next() {
    Turn turn{kNever, 0, -1};
    const bool is_first =
        !is_closed_ && !is_out_of_firsts() && (turns_.empty() || first_due_ns() <= turns_.top().due_ns);
    if (is_first) {
      const int32_t query = firsts_[next_first_++];
      turn = {in_ns((*settings_.plan)[static_cast<size_t>(query)].at_s), static_cast<uint32_t>(query), query};
    } else {
      turn = turns_.top();
      turns_.pop();
    }
    if (is_enough(turn.due_ns)) {  // nor is anything that is due later
      is_over_ = true;
      turns_ = {};
      return true;
    }
    if (!make_room()) return false;
    int64_t now = now_ns();
    while (now < turn.due_ns && !is_stopped()) now = now_ns();
    if (is_stopped()) return false;
    const IssuedSample sample{ring_.open(turn.sample, turn.due_ns, now), turn.sample};
    on_their_way_[sample.id] = turn.query;
    ++run_.queries;
    run_.last_due_ns = turn.due_ns;
    run_.last_issued_ns = now;
    system_.issue({&sample, 1});
    return true;
  }

  bool make_room() {
    if (!is_closed_ && ring_.unanswered() >= settings_.max_outstanding) {
      run_.fault = LoadFault{"outstanding-limit", std::to_string(settings_.max_outstanding) +
                                                      " samples are unanswered at once: the system falls behind"};
      return false;
    }
    while (!ring_.has_room(1)) {
      if (is_stopped()) return false;
    }
    return true;
  }

  void take_end(const WatchedSink::End& end) {
    const auto found = on_their_way_.find(end.id);
    if (found == on_their_way_.end()) return;  // answered twice, or never issued: the ring says so
    const int32_t query = found->second;
    on_their_way_.erase(found);
    const auto turns = end.failed ? next_turns_.end() : next_turns_.find(query);
    if (turns != next_turns_.end() && !is_over_) {
      for (const int32_t next : turns->second) {
        const int64_t due_ns = end.at_ns + in_ns((*settings_.plan)[static_cast<size_t>(next)].at_s);
        turns_.push({due_ns, static_cast<uint32_t>(next), next});
      }
      if (is_closed_) free_clients_ -= static_cast<int64_t>(turns->second.size());  // it goes on with them
    }
    if (is_closed_) ++free_clients_;
  }

  const LoadSettings& settings_;
  QueryOrder& order_;
  SystemUnderTest& system_;
  ResponseRing& ring_;
  WatchedSink& sink_;
  const std::atomic<bool>& stop_;
  std::vector<int32_t> firsts_;                                   // queries that follow none
  std::unordered_map<int32_t, std::vector<int32_t>> next_turns_;  // by the one that they follow
  size_t next_first_ = 0;
  std::priority_queue<Turn> turns_;
  std::unordered_map<uint64_t, int32_t> on_their_way_;  // the plan's queries by id
  std::vector<uint32_t> samples_;
  int64_t free_clients_ = 0;
  bool is_closed_ = false, is_over_ = false;
  PlannedRun run_;
};

}  // namespace

void WatchedSink::note(uint64_t id, int64_t at_ns, bool failed) {
  const std::lock_guard guard(lock_);
  ends_.push_back({id, at_ns, failed});
  has_ends_.store(true, std::memory_order_release);
  ended_.notify_one();
}

void WatchedSink::complete(uint64_t id, const SampleAnswer& answer) {
  ring_.complete(id, answer);
  note(id, answer.at_ns != 0 ? answer.at_ns - ring_.start_ns() : now_ns(), false);
}

void WatchedSink::fail(uint64_t id, const std::string& why, int64_t at_ns) {
  ring_.fail(id, why, at_ns);
  note(id, at_ns != 0 ? at_ns - ring_.start_ns() : now_ns(), true);
}

void WatchedSink::wait(std::vector<End>& ends, int64_t until_ns) {
  ends.clear();
  const int64_t left_ns = until_ns - now_ns();
  if (!has_ends_.load(std::memory_order_acquire) && left_ns <= 0) return;
  std::unique_lock lock(lock_);
  if (left_ns > 0) ended_.wait_for(lock, std::chrono::nanoseconds(left_ns), [this] { return !ends_.empty(); });
  ends.swap(ends_);
  has_ends_.store(false, std::memory_order_release);
}

PlannedRun issue_planned(const LoadSettings& settings, QueryOrder& order, SystemUnderTest& system, ResponseRing& ring,
                         WatchedSink& sink, const std::atomic<bool>& stop) {
  return PlannedIssuer(settings, order, system, ring, sink, stop).run();
}

}  // namespace perfcast::ai
