#include "ai/serving/serve.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::pair<Router, std::string_view> kRouters[] = {{Router::kRoundRobin, "round-robin"},
                                                            {Router::kLeastLoaded, "least-loaded"},
                                                            {Router::kPrefixAware, "prefix-aware"}};

Error bad_option(const char* field, const std::string& value, const char* expected) {
  return usage_error("bad-usage", std::string(field) + " is " + value, field, expected);
}

Status check(const ServingTrace& trace, const ServeOptions& options) {
  if (Status status = check(options.limits); !status) return status.error();
  if (options.replicas < 1) return bad_option("replicas", std::to_string(options.replicas), "at least 1");
  if (options.concurrency < 0) return bad_option("concurrency", std::to_string(options.concurrency), "at least 1");
  if (trace.hash_block_tokens < 1) {
    return bad_option("hash_block_tokens", std::to_string(trace.hash_block_tokens), "at least 1");
  }
  double last_s = 0;
  for (size_t i = 0; i < trace.requests.size(); ++i) {
    const ServingRequest& request = trace.requests[i];
    const std::string where = "request " + std::to_string(i + 1);
    if (request.prompt_tokens < 1 || request.output_tokens < 1) {
      return Error{"bad-request", "a request without " + std::string(request.prompt_tokens < 1 ? "prompt" : "output"),
                   where, "at least one token of each"};
    }
    if (request.after >= static_cast<int64_t>(i)) {
      return Error{"bad-request", "a turn before the one that it follows", where, "the index of an earlier request"};
    }
    if (!(request.arrival_s >= 0) || (request.after < 0 && request.arrival_s < last_s)) {
      return Error{"bad-request", "arrivals are out of order", where, "times of 0 s or later, sorted"};
    }
    if (request.after < 0) last_s = request.arrival_s;
  }
  return {};
}

// Something that happens to a replica, or a request that reaches the service.
struct Event {
  double at_s;
  int64_t order;  // of events at one time: as they were made
  int32_t what;
  bool operator>(const Event& other) const { return std::tie(at_s, order) > std::tie(other.at_s, other.order); }
};
using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

class Service {
 public:
  Service(const ServingTrace& trace, const ServeOptions& options, const BatchTime& times)
      : trace_(trace), options_(options) {
    const size_t requests = trace.requests.size();
    run_.outcomes.assign(
        requests, {.ready_s = kUnknown, .scheduled_s = kUnknown, .first_token_s = kUnknown, .last_token_s = kUnknown});
    run_.sent_s.assign(requests, kUnknown);
    replicas_.reserve(static_cast<size_t>(options.replicas));
    for (int64_t i = 0; i < options.replicas; ++i) replicas_.emplace_back(options.limits, times, trace, run_.outcomes);
    is_busy_.assign(replicas_.size(), false);
    for (size_t i = 0; i < requests; ++i) {
      const ServingRequest& request = trace.requests[i];
      if (request.after >= 0) {
        followers_.resize(requests);
        followers_[static_cast<size_t>(request.after)].push_back(static_cast<int32_t>(i));
      }
    }
  }

  ServeRun simulate() {
    for (int64_t i = 0; i < options_.concurrency && next_ < trace_.requests.size(); ++i) send_next_of_closed_loop(0);
    double now_s = 0;
    for (;;) {
      const double arrival_s = next_arrival_s();
      const double ready_s = ready_.empty() ? kNever : ready_.top().at_s;
      const double step_s = steps_.empty() ? kNever : steps_.top().at_s;
      const double next_s = std::min({arrival_s, ready_s, step_s});
      // All that happens at one time is in time for the steps that begin then.
      if (next_s > now_s && !to_begin_.empty()) {
        begin_steps(now_s);
        continue;
      }
      if (next_s == kNever) break;
      if (options_.most_s > 0 && next_s > options_.most_s) {
        run_.is_cut = true;
        break;
      }
      now_s = next_s;
      sample(now_s);
      if (arrival_s == now_s) {
        send(take_arrival(), now_s);
      } else if (ready_s == now_s) {
        const int32_t request = ready_.top().what;
        ready_.pop();
        route(request, now_s);
      } else {
        const auto replica = static_cast<size_t>(steps_.top().what);
        steps_.pop();
        end_step(replica, now_s);
      }
    }
    for (const Replica& replica : replicas_) add_counts(replica.counts());
    run_.cache_blocks = options_.limits.cache_tokens / options_.limits.block_tokens;
    return std::move(run_);
  }

 private:
  double next_arrival_s() {
    double at_s = later_.empty() ? kNever : later_.top().at_s;
    if (options_.concurrency == 0) {
      while (next_ < trace_.requests.size() && trace_.requests[next_].after >= 0) ++next_;
      if (next_ < trace_.requests.size()) at_s = std::min(at_s, trace_.requests[next_].arrival_s);
    }
    return at_s;
  }

  int32_t take_arrival() {
    const bool is_of_trace = options_.concurrency == 0 && next_ < trace_.requests.size() &&
                             (later_.empty() || trace_.requests[next_].arrival_s <= later_.top().at_s);
    if (is_of_trace) return static_cast<int32_t>(next_++);
    const int32_t request = later_.top().what;
    later_.pop();
    return request;
  }

  void send_later(int32_t request, double at_s) {
    ++in_flight_;
    later_.push({at_s, order_++, request});
  }

  // First turns, in order; the others follow by themselves.
  void send_next_of_closed_loop(double now_s) {
    while (next_ < trace_.requests.size() && trace_.requests[next_].after >= 0) ++next_;
    if (next_ < trace_.requests.size()) send_later(static_cast<int32_t>(next_++), now_s);
  }

  void send(int32_t request, double now_s) {
    const auto at = static_cast<size_t>(request);
    run_.sent_s[at] = now_s;
    const double begun_s = std::max(now_s, tokeniser_free_s_);
    tokeniser_free_s_ =
        begun_s + options_.front_end.prompt_token_s * static_cast<double>(trace_.requests[at].prompt_tokens);
    ready_.push({tokeniser_free_s_ + options_.front_end.fixed_s, order_++, request});
  }

  int64_t load_of(const Replica& replica) const { return replica.running() + replica.waiting(); }

  size_t choose(int32_t request) {
    if (replicas_.size() == 1) return 0;
    if (options_.router == Router::kRoundRobin) return turn_++ % replicas_.size();
    size_t least = 0;
    for (size_t i = 1; i < replicas_.size(); ++i) {
      if (load_of(replicas_[i]) < load_of(replicas_[least])) least = i;
    }
    if (options_.router == Router::kLeastLoaded) return least;
    const int64_t limit = load_of(replicas_[least]) * 3 / 2 + 4;
    size_t best = least;
    int64_t most = replicas_[least].matching_tokens(request);
    for (size_t i = 0; i < replicas_.size(); ++i) {
      if (load_of(replicas_[i]) > limit) continue;
      const int64_t tokens = replicas_[i].matching_tokens(request);
      if (tokens > most) {
        best = i;
        most = tokens;
      }
    }
    return best;
  }

  void route(int32_t request, double now_s) {
    RequestOutcome& outcome = run_.outcomes[static_cast<size_t>(request)];
    outcome.ready_s = now_s;
    const size_t chosen = choose(request);
    Replica& replica = replicas_[chosen];
    if (!replica.fits(request)) {
      outcome.refused = true;
      ++run_.refused;
      after_end(request, now_s);
      return;
    }
    outcome.replica = static_cast<int32_t>(chosen);
    replica.add(request);
    if (!is_busy_[chosen]) plan_step(chosen);
  }

  // Begins at the end of what happens at this time.
  void plan_step(size_t replica) {
    is_busy_[replica] = true;
    to_begin_.push_back(replica);
  }

  void begin_steps(double now_s) {
    for (const size_t replica : to_begin_) {
      steps_.push({now_s + replicas_[replica].begin_step(now_s), order_++, static_cast<int32_t>(replica)});
    }
    to_begin_.clear();
  }

  void end_step(size_t replica, double now_s) {
    ended_.clear();
    replicas_[replica].end_step(now_s, ended_);
    run_.end_s = now_s;
    for (const int32_t request : ended_) {
      ++run_.finished;
      after_end(request, now_s);
    }
    is_busy_[replica] = false;
    if (!replicas_[replica].is_idle()) plan_step(replica);
  }

  // Its turns come next. A client of a closed loop sends its next conversation when all turns have ended.
  void after_end(int32_t request, double now_s) {
    if (!followers_.empty()) {
      for (const int32_t next : followers_[static_cast<size_t>(request)]) {
        send_later(next, now_s + trace_.requests[static_cast<size_t>(next)].arrival_s);
      }
    }
    --in_flight_;
    if (options_.concurrency > 0 && in_flight_ < options_.concurrency) send_next_of_closed_loop(now_s);
  }

  // Every sample stands for an equal time: where there are too many, every second goes.
  void sample(double now_s) {
    if (now_s < next_sample_s_) return;
    ServeSample taken{.at_s = now_s};
    for (const Replica& replica : replicas_) {
      taken.running += replica.running();
      taken.waiting += replica.waiting();
      taken.cache_use += replica.cache_use() / static_cast<double>(replicas_.size());
    }
    if (run_.samples.size() == ServeRun::kMostSamples) {
      for (size_t i = 0; 2 * i < run_.samples.size(); ++i) run_.samples[i] = run_.samples[2 * i];
      run_.samples.resize(run_.samples.size() / 2);
      sample_every_s_ *= 2;
    }
    run_.samples.push_back(taken);
    next_sample_s_ = now_s + sample_every_s_;
  }

  void add_counts(const ReplicaCounts& counts) {
    ReplicaCounts& all = run_.counts;
    all.steps += counts.steps;
    all.preemptions += counts.preemptions;
    all.busy_s += counts.busy_s;
    all.generated_tokens += counts.generated_tokens;
    all.prompt_tokens += counts.prompt_tokens;
    all.cached_tokens += counts.cached_tokens;
    all.used_block_seconds += counts.used_block_seconds;
    all.running_seconds += counts.running_seconds;
    all.most_used_blocks = std::max(all.most_used_blocks, counts.most_used_blocks);
    all.most_waiting = std::max(all.most_waiting, counts.most_waiting);
    all.gaps.add(counts.gaps);
  }

  static constexpr double kFirstSampleEvery_s = 0.01;

  const ServingTrace& trace_;
  const ServeOptions& options_;
  ServeRun run_;
  std::vector<Replica> replicas_;
  std::vector<bool> is_busy_;
  std::vector<size_t> to_begin_;                 // replicas whose step begins now
  std::vector<std::vector<int32_t>> followers_;  // empty where no request follows another
  size_t next_ = 0;                              // of the trace
  Events later_;                                 // requests that something else sends
  Events ready_;                                 // requests on their way through the front end
  Events steps_;                                 // ends of steps, by replica
  int64_t order_ = 0;
  int64_t in_flight_ = 0;  // of a closed loop: sent or about to be, and not ended
  uint64_t turn_ = 0;
  double tokeniser_free_s_ = 0;
  double sample_every_s_ = kFirstSampleEvery_s, next_sample_s_ = 0;
  std::vector<int32_t> ended_;
};

}  // namespace

std::string_view name_of(Router router) {
  for (const auto& [value, name] : kRouters) {
    if (value == router) return name;
  }
  return "";
}

Result<Router> router_from(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [value, known] : kRouters) {
    if (known == name) return value;
    names.emplace_back(known);
  }
  return usage_error("bad-usage", "there is no router '" + printable(std::string(name)) + "'", "--router",
                     "one of " + join(names, ", "));
}

Result<ServeRun> serve(const ServingTrace& trace, const ServeOptions& options, const BatchTime& times) {
  if (Status status = check(trace, options); !status) return status.error();
  return Service(trace, options, times).simulate();
}

}  // namespace perfcast::ai
