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
  if (options.most_in_flight < 0) {
    return bad_option("most_in_flight", std::to_string(options.most_in_flight), "at least 1");
  }
  if (options.data_parallel < 1)
    return bad_option("data_parallel", std::to_string(options.data_parallel), "at least 1");
  if (options.pipeline_parallel < 1) {
    return bad_option("pipeline_parallel", std::to_string(options.pipeline_parallel), "at least 1");
  }
  if (options.data_parallel > 1 && options.pipeline_parallel > 1) {
    return bad_option("pipeline_parallel", std::to_string(options.pipeline_parallel),
                      "1 beside engines that share experts (data_parallel)");
  }
  if (options.balance_steps < 0) {
    return bad_option("balance_steps", std::to_string(options.balance_steps), "at least 0");
  }
  if (options.prefill_replicas < 0) {
    return bad_option("prefill_replicas", std::to_string(options.prefill_replicas), "at least 1");
  }
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

// Of one engine. Steps of a pipeline divide sequences and cache among themselves.
EngineLimits lane_limits(const ServeOptions& options) {
  EngineLimits limits = options.limits;
  limits.cache_tokens = std::max(limits.block_tokens, limits.cache_tokens / options.pipeline_parallel);
  limits.max_sequences = (limits.max_sequences + options.pipeline_parallel - 1) / options.pipeline_parallel;
  return limits;
}

class Service {
 public:
  Service(const ServingTrace& trace, const ServeOptions& options, const BatchTime& times)
      : trace_(trace),
        options_(options),
        times_(times),
        limits_(lane_limits(options)),
        lanes_(static_cast<size_t>(options.data_parallel * options.pipeline_parallel)),
        for_answers_(static_cast<size_t>(options.prefill_replicas) * lanes_) {
    const size_t requests = trace.requests.size();
    run_.outcomes.assign(
        requests, {.ready_s = kUnknown, .scheduled_s = kUnknown, .first_token_s = kUnknown, .last_token_s = kUnknown});
    run_.sent_s.assign(requests, kUnknown);
    engines_.reserve(static_cast<size_t>(options.engines()));
    for (int64_t i = 0; i < options.engines(); ++i) engines_.emplace_back(limits_, times, trace, run_.outcomes);
    for (size_t i = 0; i < for_answers_; ++i) engines_[i].serve_prompts_alone();
    front_ends_ = static_cast<double>(options.prefill_replicas + options.replicas);
    link_free_s_.assign(for_answers_, 0);
    stage_free_s_.assign(options.pipeline_parallel > 1 ? engines_.size() : 0, 0);
    is_busy_.assign(engines_.size(), false);
    is_in_step_.assign(engines_.size(), false);
    awaits_stage_.assign(engines_.size(), false);
    held_steps_.assign(engines_.size(), 0);
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
      const double arrival_s = next_arrival_s(now_s);
      const double ready_s = ready_.empty() ? kNever : ready_.top().at_s;
      const double step_s = steps_.empty() ? kNever : steps_.top().at_s;
      const double handed_s = handed_.empty() ? kNever : handed_.top().at_s;
      const double seen_s = seen_.empty() ? kNever : seen_.top().at_s;
      const double next_s = std::min({arrival_s, ready_s, step_s, handed_s, seen_s});
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
        send(take_arrival(now_s), now_s);
      } else if (ready_s == now_s) {
        const int32_t request = ready_.top().what;
        ready_.pop();
        route(request, now_s);
      } else if (seen_s == now_s) {
        const int32_t request = seen_.top().what;
        seen_.pop();
        after_end(request, now_s);
      } else if (handed_s == now_s) {
        const int32_t request = handed_.top().what;
        handed_.pop();
        go_on(request);
      } else {
        const auto engine = static_cast<size_t>(steps_.top().what);
        steps_.pop();
        if (awaits_stage_[engine]) {
          awaits_stage_[engine] = false;
          to_begin_.push_back(engine);
        } else {
          end_step(engine, now_s);
        }
      }
    }
    for (const Replica& engine : engines_) add_counts(engine.counts());
    run_.cache_blocks = limits_.cache_tokens / limits_.block_tokens;
    return std::move(run_);
  }

 private:
  // Of an open loop; one that was held back comes now.
  double next_of_trace_s(double now_s) {
    if (options_.concurrency > 0) return kNever;
    while (next_ < trace_.requests.size() && trace_.requests[next_].after >= 0) ++next_;
    if (next_ == trace_.requests.size()) return kNever;
    if (options_.most_in_flight > 0 && in_flight_ >= options_.most_in_flight) return kNever;
    return std::max(now_s, trace_.requests[next_].arrival_s);
  }

  double next_arrival_s(double now_s) {
    return std::min(next_of_trace_s(now_s), later_.empty() ? kNever : later_.top().at_s);
  }

  int32_t take_arrival(double now_s) {
    if (next_of_trace_s(now_s) <= (later_.empty() ? kNever : later_.top().at_s)) {
      ++in_flight_;
      return static_cast<int32_t>(next_++);
    }
    const int32_t request = later_.top().what;
    later_.pop();
    if (options_.concurrency == 0) ++in_flight_;
    return request;
  }

  // A client of a closed loop is busy with its conversation while it thinks; in an open one, only what was sent counts.
  void send_later(int32_t request, double at_s) {
    if (options_.concurrency > 0) ++in_flight_;
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
    const FrontEndTime& front = options_.front_end;
    const double busy_s =
        front.request_s + front.prompt_token_s * static_cast<double>(trace_.requests[at].prompt_tokens);
    ready_.push({use_front_end(now_s, busy_s) + front.fixed_s, order_++, request});
  }

  // When it has done what takes one of its processes so long.
  double use_front_end(double now_s, double busy_s) {
    if (!(busy_s > 0)) return std::max(now_s, front_free_s_);
    front_free_s_ = std::max(now_s, front_free_s_) + busy_s / front_ends_;
    return front_free_s_;
  }

  int64_t load_of(const Replica& replica) const { return replica.running() + replica.waiting(); }

  // Of the engines from `begin` to `end`.
  size_t choose(int32_t request, size_t begin, size_t end) {
    if (end - begin == 1) return begin;
    if (options_.router == Router::kRoundRobin) return begin + turn_++ % (end - begin);
    size_t least = begin;
    for (size_t i = begin + 1; i < end; ++i) {
      if (load_of(engines_[i]) < load_of(engines_[least])) least = i;
    }
    if (options_.router == Router::kLeastLoaded) return least;
    const int64_t limit = load_of(engines_[least]) * 3 / 2 + 4;
    size_t best = least;
    int64_t most = engines_[least].matching_tokens(request);
    for (size_t i = begin; i < end; ++i) {
      if (load_of(engines_[i]) > limit) continue;
      const int64_t tokens = engines_[i].matching_tokens(request);
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
    const size_t chosen = choose(request, 0, for_answers_ > 0 ? for_answers_ : engines_.size());
    Replica& engine = engines_[chosen];
    if (!engine.fits(request)) {
      outcome.refused = true;
      ++run_.refused;
      after_end(request, now_s);
      return;
    }
    outcome.replica = replica_of(chosen);
    engine.add(request);
    plan_step(chosen);
  }

  // An answer, with the keys of its prompt.
  void go_on(int32_t request) {
    const size_t chosen = choose(request, for_answers_, engines_.size());
    RequestOutcome& outcome = run_.outcomes[static_cast<size_t>(request)];
    outcome.replica = replica_of(chosen);
    engines_[chosen].add_computed(request, outcome.first_token_s);
    plan_step(chosen);
  }

  // Engines that share experts are one; stages of a pipeline, too.
  int32_t replica_of(size_t engine) const { return static_cast<int32_t>(engine / lanes_); }
  // The first engine of a replica whose engines step together, else the engine itself.
  size_t stepper_of(size_t engine) const { return options_.data_parallel > 1 ? engine - engine % lanes_ : engine; }

  // Begins at the end of what happens at this time.
  void plan_step(size_t engine) {
    const size_t stepper = stepper_of(engine);
    if (is_busy_[stepper]) return;
    is_busy_[stepper] = true;
    to_begin_.push_back(stepper);
  }

  void begin_steps(double now_s) {
    for (const size_t engine : to_begin_) {
      const double end_s = options_.data_parallel > 1       ? now_s + begin_together(engine, now_s)
                           : options_.pipeline_parallel > 1 ? begin_in_pipeline(engine, now_s)
                                                            : now_s + engines_[engine].begin_step(now_s);
      if (options_.data_parallel == 1 && options_.pipeline_parallel == 1) is_in_step_[engine] = true;
      steps_.push({end_s, order_++, static_cast<int32_t>(engine)});
    }
    to_begin_.clear();
  }

  // Of engines that step together: whether those with prompts wait for the others to have some. Where nothing runs,
  // none waits.
  bool holds_prompts(size_t first) {
    if (options_.balance_steps == 0) return false;
    size_t with_prompts = 0;
    bool any_runs = false;
    for (size_t i = first; i < first + lanes_; ++i) {
      with_prompts += engines_[i].waiting() > 0 ? 1 : 0;
      any_runs = any_runs || engines_[i].running() > 0;
    }
    const bool holds =
        any_runs && with_prompts > 0 && with_prompts < lanes_ && held_steps_[first] < options_.balance_steps;
    held_steps_[first] = holds ? held_steps_[first] + 1 : 0;
    return holds;
  }

  // How long the slowest takes.
  double begin_together(size_t first, double now_s) {
    double shared_tokens = 0, longest_s = 0;
    const bool holds = holds_prompts(first);
    for (size_t i = first; i < first + lanes_; ++i) {
      engines_[i].hold_prompts(holds);
      is_in_step_[i] = !engines_[i].is_idle();
      if (is_in_step_[i]) shared_tokens += engines_[i].choose_step(now_s).tokens();
    }
    for (size_t i = first; i < first + lanes_; ++i) {
      if (is_in_step_[i]) longest_s = std::max(longest_s, times_.seconds(engines_[i].share_step(shared_tokens)));
    }
    return longest_s;
  }

  // When it has gone through all stages; where the first one isn't free yet, when that will be.
  double begin_in_pipeline(size_t lane, double now_s) {
    double* const free_s = &stage_free_s_[lane - lane % lanes_];
    if (free_s[0] > now_s) {
      awaits_stage_[lane] = true;
      return free_s[0];
    }
    is_in_step_[lane] = true;
    const StepBatch& batch = engines_[lane].choose_step(now_s);
    const double stage_s = times_.seconds(batch) / static_cast<double>(lanes_);
    const double hop_s = options_.hop_s + options_.hop_token_s * batch.tokens();
    double at_s = now_s;
    for (size_t stage = 0; stage < lanes_; ++stage) {
      if (stage > 0) at_s += hop_s;
      at_s = std::max(at_s, free_s[stage]) + stage_s;
      free_s[stage] = at_s;
    }
    return at_s;
  }

  void end_step(size_t stepper, double now_s) {
    const size_t count = options_.data_parallel > 1 ? lanes_ : 1;
    bool is_idle = true;
    for (size_t i = stepper; i < stepper + count; ++i) {
      if (is_in_step_[i]) end_step_of(engines_[i], now_s);
      if (is_in_step_[i] && i < for_answers_) hand_over(i, now_s);
      is_in_step_[i] = false;
      is_idle = is_idle && engines_[i].is_idle();
    }
    is_busy_[stepper] = false;
    if (!is_idle) plan_step(stepper);
  }

  void end_step_of(Replica& engine, double now_s) {
    const double sent_s =
        use_front_end(now_s, options_.front_end.token_s * static_cast<double>(engine.tokens_of_step()));
    ended_.clear();
    engine.end_step(now_s, sent_s, ended_);
    run_.end_s = std::max(run_.end_s, sent_s);
    for (const int32_t request : ended_) {
      ++run_.finished;
      if (sent_s > now_s) {
        seen_.push({sent_s, order_++, request});
      } else {
        after_end(request, now_s);
      }
    }
  }

  void hand_over(size_t engine, double now_s) {
    double& free_s = link_free_s_[options_.data_parallel > 1 ? engine : engine - engine % lanes_];
    for (const int32_t request : engines_[engine].handed_over()) {
      const auto tokens = static_cast<double>(trace_.requests[static_cast<size_t>(request)].prompt_tokens);
      free_s = std::max(free_s, now_s) + options_.transfer_s + options_.transfer_token_s * tokens;
      handed_.push({free_s, order_++, request});
    }
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
    for (const Replica& engine : engines_) {
      taken.running += engine.running();
      taken.waiting += engine.waiting();
      taken.cache_use += engine.cache_use() / static_cast<double>(engines_.size());
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
    all.joules += counts.joules;
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
  const BatchTime& times_;
  EngineLimits limits_;         // of an engine
  size_t lanes_, for_answers_;  // engines of a replica; the first engine for answers
  ServeRun run_;
  std::vector<Replica> engines_;                 // of all replicas, those for prompts alone first
  std::vector<bool> is_busy_;                    // of engines that step by themselves, or first ones: a step is planned
  std::vector<bool> is_in_step_;                 // and under way
  std::vector<bool> awaits_stage_;               // or planned for when a pipeline's first stage is free
  std::vector<int64_t> held_steps_;              // of first ones: since their prompts began to wait for the others'
  std::vector<size_t> to_begin_;                 // engines whose step begins now
  std::vector<double> stage_free_s_;             // of pipelines, as many as engines
  std::vector<double> link_free_s_;              // of engines for prompts alone; of stages, the first one's
  Events seen_;                                  // last tokens on their way to clients
  Events handed_;                                // requests that come with their keys
  std::vector<std::vector<int32_t>> followers_;  // empty where no request follows another
  size_t next_ = 0;                              // of the trace
  Events later_;                                 // requests that something else sends
  Events ready_;                                 // requests on their way through the front end
  Events steps_;                                 // ends of steps; of pipelines, when the first stage is free, too
  int64_t order_ = 0;
  int64_t in_flight_ = 0;  // sent, in a closed loop or about to be, and not ended
  uint64_t turn_ = 0;
  double front_ends_ = 1, front_free_s_ = 0;
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
