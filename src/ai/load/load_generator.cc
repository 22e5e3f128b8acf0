#include "ai/load/load_generator.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <numeric>
#include <utility>

#include "ai/load/planned_load.h"
#include "ai/load/query_order.h"
#include "ai/load/response_ring.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

// Before a query is due the thread sleeps until so long before, then spins: a timer wakes it some 60 microseconds late.
constexpr int64_t kSpinBefore_ns = 400'000;
constexpr int64_t kLookAtStopEvery_ns = 20'000'000;
constexpr int64_t kLead_ns = 200'000;  // from the end of the preparations to the first arrival

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Timers wake this thread without the slack of 50 microseconds that is usual.
class SharpTimers {
 public:
  SharpTimers() : before_(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)) { prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); }
  ~SharpTimers() {
    if (before_ > 0) prctl(PR_SET_TIMERSLACK, before_, 0, 0, 0);
  }
  SharpTimers(const SharpTimers&) = delete;
  SharpTimers& operator=(const SharpTimers&) = delete;

 private:
  int before_;
};

// What the issuing thread did over one set of samples.
using Issued = PlannedRun;

class Issuer {
 public:
  // `begins_ns`: since the run's start, what a server's schedule counts from.
  Issuer(const LoadSettings& settings, QueryOrder& order, SystemUnderTest& system, ResponseRing& ring,
         int64_t begins_ns, const std::atomic<bool>& stop)
      : settings_(settings), order_(order), system_(system), ring_(ring), begins_ns_(begins_ns), stop_(stop) {}

  // Until the order ends, it is enough, or `stop`; waits for the answers then.
  Issued issue_all();

 private:
  int64_t now_ns() const { return steady_ns() - ring_.start_ns(); }
  bool is_stopped() const { return stop_.load(std::memory_order_relaxed); }
  int64_t wait_until(int64_t due_ns) const;
  bool make_room(int64_t samples);
  void issue(int64_t due_ns, int64_t now);
  bool is_enough(int64_t issued_ns) const;
  bool is_too_late(int64_t begins_ns) const;

  const LoadSettings& settings_;
  QueryOrder& order_;
  SystemUnderTest& system_;
  ResponseRing& ring_;
  const int64_t begins_ns_;
  const std::atomic<bool>& stop_;
  std::vector<uint32_t> samples_;
  std::vector<IssuedSample> query_;
  Issued issued_;
};

int64_t Issuer::wait_until(int64_t due_ns) const {
  for (;;) {
    const int64_t now = now_ns();
    if (now >= due_ns || is_stopped()) return now;
    const int64_t left_ns = due_ns - now;
    if (left_ns > 2 * kSpinBefore_ns) {
      const int64_t sleep_ns = std::min(left_ns - kSpinBefore_ns, kLookAtStopEvery_ns);
      const timespec duration{0, static_cast<long>(sleep_ns)};
      nanosleep(&duration, nullptr);
    } else {
      pause_briefly();
    }
  }
}

bool Issuer::make_room(int64_t samples) {
  const bool limited = settings_.scenario == LoadScenario::kServer && settings_.mode == LoadMode::kPerformance;
  if (limited && ring_.unanswered() >= settings_.max_outstanding) {
    issued_.fault = LoadFault{"outstanding-limit", std::to_string(settings_.max_outstanding) +
                                                       " samples are unanswered at once: the system falls behind"};
    return false;
  }
  // Full: answers are still to be taken up, or one of long ago is missing.
  while (!ring_.has_room(samples)) {
    if (is_stopped()) return false;
    pause_briefly();
  }
  return true;
}

void Issuer::issue(int64_t due_ns, int64_t now) {
  query_.resize(samples_.size());
  for (size_t i = 0; i < samples_.size(); ++i) query_[i] = {ring_.open(samples_[i], due_ns, now), samples_[i]};
  ++issued_.queries;
  issued_.last_due_ns = due_ns;
  issued_.last_issued_ns = now;
  system_.issue(query_);
}

bool Issuer::is_enough(int64_t issued_ns) const {
  if (settings_.mode == LoadMode::kAccuracy) return false;
  if (settings_.max_queries > 0 && issued_.queries >= settings_.max_queries) return true;
  if (issued_.queries * order_.samples_per_query() >= kMostLoadSamples) return true;
  const bool streams =
      settings_.scenario == LoadScenario::kSingleStream || settings_.scenario == LoadScenario::kMultiStream;
  const double least_ns = settings_.min_duration_s * 1e9;
  return streams && issued_.queries >= settings_.min_queries && static_cast<double>(issued_ns) >= least_ns;
}

// Whether a query that would begin then is none any more; one there is always.
bool Issuer::is_too_late(int64_t begins_ns) const {
  if (settings_.mode == LoadMode::kAccuracy || settings_.max_duration_s <= 0 || issued_.queries == 0) return false;
  return static_cast<double>(begins_ns) > settings_.max_duration_s * 1e9;
}

Issued Issuer::issue_all() {
  const bool server = settings_.scenario == LoadScenario::kServer;
  int64_t due_ns = 0;
  while (!is_stopped() && order_.next(samples_, due_ns)) {
    due_ns += begins_ns_;
    if (is_too_late(server ? due_ns : now_ns())) break;
    if (!make_room(static_cast<int64_t>(samples_.size()))) break;
    const int64_t now = server ? wait_until(due_ns) : now_ns();
    if (is_stopped()) break;
    issue(server ? due_ns : now, now);
    if (!server) ring_.wait_for_answers(stop_);
    if (is_enough(now)) break;
  }
  system_.flush();
  ring_.wait_for_answers(stop_);
  return issued_;
}

// One set of samples; ids and times count on over the sets. `start_ns`: by the steady clock; 0: the run starts with it.
Status run_set(const LoadSettings& settings, std::vector<uint32_t> samples, SystemUnderTest& system,
               const LoadHooks& hooks, int64_t& start_ns, LoadResult& result, std::atomic<bool>& stop) {
  const auto first_id = static_cast<uint64_t>(result.samples);
  QueryOrder order(settings, std::move(samples));
  const int64_t size = order.samples_per_query();
  if (size > kMostOutstandingSamples) {
    return usage_error("bad-usage", human_number(static_cast<double>(size)) + " samples in a query", "target_qps",
                       "a lower expected rate or less time");
  }
  const bool timed = is_timed(settings.scenario);
  const bool accuracy = settings.mode == LoadMode::kAccuracy;
  const bool planned = !accuracy && (settings.scenario == LoadScenario::kConcurrency || settings.plan);
  const auto set_size = static_cast<int64_t>(order.loaded().size());
  const int64_t at_once = timed ? settings.max_outstanding : planned ? settings.concurrency : size;
  ResponseRing ring(first_id, accuracy ? std::max(size, set_size) : at_once, accuracy);
  WatchedSink watched(ring);
  if (Status ready = system.start(order.loaded(), planned ? static_cast<ResponseSink&>(watched) : ring); !ready) {
    return ready;
  }
  const int64_t set_start_ns = steady_ns() + (timed ? kLead_ns : 0);
  if (start_ns == 0) start_ns = set_start_ns;
  ring.begin(start_ns);
  const SharpTimers sharp;
  LoadCollector collector(ring, hooks, size, result, stop);
  const Issued issued = planned ? issue_planned(settings, order, system, ring, watched, stop)
                                : Issuer(settings, order, system, ring, set_start_ns - start_ns, stop).issue_all();
  system.finish();
  collector.finish();
  result.queries += issued.queries;
  result.samples += static_cast<int64_t>(ring.opened() - first_id);
  if (issued.queries > 0) {
    result.last_due_ns = issued.last_due_ns;
    result.last_issued_ns = issued.last_issued_ns;
  }
  if (issued.fault) result.faults.push_back(*issued.fault);
  return {};
}

void add_unanswered(LoadResult& result) {
  if (result.unanswered() <= 0) return;
  result.faults.push_back({"unanswered", std::to_string(result.unanswered()) + " of " + std::to_string(result.samples) +
                                             " samples have no answer"});
}

}  // namespace

Result<LoadResult> run_load(const LoadSettings& settings, SystemUnderTest& system, const LoadHooks& hooks) {
  if (const Status valid = check(settings); !valid) return valid.error();
  LoadResult result;
  result.settings = settings;
  result.system = system.name();
  std::atomic<bool> stop{false};
  int64_t start_ns = 0;
  std::vector<std::vector<uint32_t>> sets = sample_sets(settings);
  if (settings.plan && settings.mode == LoadMode::kPerformance) std::iota(sets.front().begin(), sets.front().end(), 0);
  for (auto& set : sets) {
    const Status ran = run_set(settings, std::move(set), system, hooks, start_ns, result, stop);
    if (!ran) return ran.error();
    if (stop.load()) break;
  }
  add_unanswered(result);
  return result;
}

Result<std::vector<LoadFault>> warm_up(const LoadSettings& settings, int64_t queries, SystemUnderTest& system,
                                       const LoadHooks& hooks) {
  LoadSettings warm = settings;
  warm.mode = LoadMode::kPerformance;
  warm.scenario = LoadScenario::kSingleStream;
  warm.plan = nullptr;
  warm.keeps_due = false;
  warm.equal_issue = false;
  warm.min_queries = warm.max_queries = queries;
  warm.min_duration_s = warm.max_duration_s = 0;
  LoadHooks without_records = hooks;
  without_records.record = {};
  without_records.progress = {};
  auto ran = run_load(warm, system, without_records);
  if (!ran) return ran.error();
  return std::move(ran->faults);
}

}  // namespace perfcast::ai
