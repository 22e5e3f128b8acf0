#include "ai/load/load_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "ai/load/early_stopping.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr const char* kSlower = "a lower --target-qps, or a faster system";

std::string percent_text(double share) { return fmt::format("{:.6g}", share * 100); }

std::string counted(int64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string time_text(int64_t time_ns) { return human_seconds(static_cast<double>(time_ns) / 1e9); }

std::string mend_of_fault(const std::string& code) {
  static const std::map<std::string, std::string> mends = {
      {"system-broke", "a system that runs to the end; what it wrote last is in the message"},
      {"system-hung", "a system that answers every sample, or a longer --answer-limit"},
      {"unanswered", "one answer for each sample that was issued"},
      {"failed-answers", "a system that answers every sample"},
      {"judge-failed", "what answers are held against, as it was when the system began"},
      {"answered-twice", "one answer for each id"},
      {"unknown-ids", "answers with the ids that were issued"},
      {"bad-answers", "answers in the form that docs/bench.md states"},
      {"token-counts", "at an answer's end as many tokens as came, or none"},
      {"late-tokens", "tokens before the end of their answer"},
      {"outstanding-limit", "a lower --target-qps, or a higher --max-outstanding"},
      {"clock-step", "a run during which nobody sets the clock and the machine doesn't sleep"},
      {"interrupted", "a run to its end"},
      {"partly-judged", "a right answer for each sample of the data set"},
      {"log-failed", "room and permission for the log's folder"}};
  const auto found = mends.find(code);
  return found == mends.end() ? "" : found->second;
}

class Judge {
 public:
  Judge(const LoadResult& result, const LoadSummary& summary, const LoadRules& rules)
      : result_(result), summary_(summary), rules_(rules), scenario_(result.settings.scenario) {}

  LoadVerdict all() {
    for (const LoadFault& fault : result_.faults) broken(fault.code, fault.message, mend_of_fault(fault.code));
    if (result_.answered == 0) broken("no-answers", "no sample was answered", "a system that answers");
    if (result_.settings.mode == LoadMode::kPerformance) {
      duration();
      queries();
      limits();
      if (rules_.early_stopping && scenario_ != LoadScenario::kOffline) early_stopping();
      if (rules_.seeds && *rules_.seeds != result_.settings.seeds) {
        broken("seeds", "the order of samples and arrivals is not that of the published seeds", "no --seed");
      }
    }
    few_tokens();
    accuracy();
    return std::move(verdict_);
  }

 private:
  void few_tokens() {
    if (!result_.settings.tokens) return;
    const int64_t empty = result_.empty_answers, few = result_.too_few_tokens - empty;
    if (empty > 0) {
      broken("empty-answers", counted(empty, "answer has", "answers have") + " no token at all",
             "a system whose answers have content, reasoning or tool calls");
    }
    if (few > 0) {
      broken("few-tokens", counted(few, "answer", "answers") + " of one token or one piece: no time per token",
             "answers of at least two tokens, streamed");
    }
  }

  void broken(const std::string& rule, const std::string& message, const std::string& mend) {
    verdict_.violations.push_back({rule, message, mend});
  }

  // What ended the run before it was long enough, if anything did: more queries were of no use then.
  std::optional<std::string> mend_of_early_end() const {
    static constexpr std::array<std::string_view, 5> kEnders = {"system-broke", "system-hung", "outstanding-limit",
                                                                "interrupted", "log-failed"};
    for (const LoadFault& fault : result_.faults) {
      const bool ends = std::find(kEnders.begin(), kEnders.end(), fault.code) != kEnders.end();
      if (ends) return "a run that isn't ended early: see " + fault.code;
    }
    const LoadSettings& settings = result_.settings;
    if (settings.max_queries > 0 && result_.queries >= settings.max_queries) return "a higher --max-queries, or none";
    return std::nullopt;
  }

  // Whether --max-duration cut it: it has neither the time nor the queries that it was to have.
  bool is_cut_by_time() const {
    const LoadSettings& settings = result_.settings;
    if (settings.max_duration_s <= 0 || scenario_ == LoadScenario::kOffline) return false;
    const bool server = scenario_ == LoadScenario::kServer;
    const auto least_ns = settings.min_duration_s * 1e9;
    const auto last_ns = static_cast<double>(server ? result_.last_due_ns : result_.last_issued_ns);
    return result_.queries < settings.min_queries || last_ns < least_ns;
  }

  std::string mend_of_cut() const {
    return scenario_ == LoadScenario::kServer ? "a longer --max-duration, or a higher --target-qps"
                                              : "a longer --max-duration";
  }

  void duration() {
    const bool server = scenario_ == LoadScenario::kServer, offline = scenario_ == LoadScenario::kOffline;
    // Clients end a run by sending nothing more.
    const bool by_end = offline || scenario_ == LoadScenario::kConcurrency;
    const int64_t took_ns = by_end ? result_.end_ns : server ? result_.last_due_ns : result_.last_issued_ns;
    const double took_s = static_cast<double>(took_ns) / 1e9;
    verdict_.duration_met = took_s >= rules_.min_duration_s;
    if (verdict_.duration_met) return;
    std::string mend = offline ? "a higher --target-qps: the query becomes larger" : "a longer --duration";
    if (const auto early = mend_of_early_end()) {
      mend = *early;
    } else if (is_cut_by_time()) {
      mend = mend_of_cut();
    }
    broken("min-duration",
           "it took " + human_seconds(took_s) + " of the " + human_seconds(rules_.min_duration_s) + " that are asked",
           mend);
  }

  void queries() {
    const bool offline = scenario_ == LoadScenario::kOffline;
    const int64_t count = offline ? result_.samples : result_.queries;
    verdict_.queries_met = count >= rules_.min_queries;
    if (verdict_.queries_met) return;
    broken("min-queries",
           counted(count, offline ? "sample" : "query", offline ? "samples" : "queries") + " of at least " +
               std::to_string(rules_.min_queries),
           mend_of_few(rules_.min_queries));
  }

  // What gives a run so many queries.
  std::string mend_of_few(int64_t needed) const {
    if (const auto early = mend_of_early_end()) return *early;
    if (is_cut_by_time()) return mend_of_cut();
    if (result_.answered < result_.samples && result_.queries >= needed) return "a system that answers every sample";
    std::string mend = "--min-queries " + std::to_string(needed);
    const LoadSettings& settings = result_.settings;
    const double takes_s = static_cast<double>(needed) / settings.target_qps;
    const bool in_time = scenario_ != LoadScenario::kServer || settings.max_duration_s <= 0;
    if (!in_time && takes_s > settings.max_duration_s) mend += " and a --max-duration above " + human_seconds(takes_s);
    if (settings.max_queries > 0 && settings.max_queries < needed) mend += " and as high a --max-queries";
    return mend;
  }

  void limit(const char* rule, const char* what, const std::optional<double>& limit_s, std::vector<int64_t> times) {
    if (!limit_s) return;
    // What has no such time is over any limit.
    const auto missing =
        static_cast<size_t>(std::max<int64_t>(result_.samples - static_cast<int64_t>(times.size()), 0));
    for (int64_t& time : times) {
      if (time < 0) time = INT64_MAX;
    }
    times.insert(times.end(), missing, INT64_MAX);
    if (times.empty()) return;
    std::sort(times.begin(), times.end());
    const auto limit_ns = static_cast<int64_t>(std::llround(*limit_s * 1e9));
    const int64_t over = times.end() - std::upper_bound(times.begin(), times.end(), limit_ns);
    over_.push_back({what, over, static_cast<int64_t>(times.size())});
    verdict_.over_limits = std::max(verdict_.over_limits, over);
    if (std::string_view(rule) == "latency") verdict_.over_latency = over;
    const int64_t found_ns = field_percentile(times, rules_.percentile);
    if (found_ns <= limit_ns) return;
    verdict_.latency_met = false;
    const std::string answers = mend_of_early_end().value_or("an answer to every sample, with its tokens");
    broken(rule,
           std::string("p") + percent_text(rules_.percentile) + " of " + what + " is " +
               (found_ns == INT64_MAX ? std::string("without end: answers are missing") : time_text(found_ns)) +
               ", the limit " + human_seconds(*limit_s) + "; " + std::to_string(over) + " of " +
               std::to_string(times.size()) + " are over it",
           found_ns == INT64_MAX ? answers : kSlower);
  }

  void limits() {
    if (scenario_ != LoadScenario::kServer) return;
    limit("latency", "latency", rules_.max_latency_s, result_.latencies_ns);
    limit("ttft", "time to first token", rules_.max_ttft_s, result_.ttft_ns);
    limit("tpot", "time per output token", rules_.max_tpot_s, result_.tpot_ns);
  }

  void early_stopping() {
    if (scenario_ == LoadScenario::kServer) return stop_within_limits();
    const bool multi = scenario_ == LoadScenario::kMultiStream;
    const int64_t count = summary_.latency.count, needed = least_queries(rules_.percentile);
    verdict_.early_stopping_met = count >= needed;
    const std::string percentile = "p" + percent_text(rules_.percentile);
    if (verdict_.early_stopping_met) {
      const auto estimate = estimate_at(multi ? result_.query_latencies_ns : result_.latencies_ns);
      if (estimate) {
        verdict_.early_stopping = percentile + " is at most " + time_text(estimate->latency_ns) +
                                  " with 99% confidence, by dropping the " + std::to_string(estimate->dropped) +
                                  " slowest of " + std::to_string(count) + " queries";
      }
      return;
    }
    verdict_.early_stopping = counted(count, "query", "queries") + ", " + percentile + " takes at least " +
                              std::to_string(needed) + " to be sure of";
    broken("early-stopping", verdict_.early_stopping, mend_of_few(needed));
  }

  std::optional<EarlyEstimate> estimate_at(std::vector<int64_t> latencies) const {
    if (rules_.percentile == 0.90 && summary_.early_p90) return summary_.early_p90;
    if (rules_.percentile == 0.99 && summary_.early_p99) return summary_.early_p99;
    std::sort(latencies.begin(), latencies.end());
    return early_estimate(latencies, rules_.percentile);
  }

  std::string mend_of_unsure(int64_t over, int64_t count, int64_t missing) const {
    if (const auto early = mend_of_early_end()) return *early;
    const bool is_far = static_cast<double>(over) > (1 - rules_.percentile) * static_cast<double>(count);
    std::string mend = is_far ? "" : mend_of_few(count + missing);
    if (over > 0) mend.append(mend.empty() ? "" : ", ").append(kSlower);
    return mend;
  }

  void stop_within_limits() {
    if (over_.empty()) return;
    for (const auto& [what, over, count] : over_) {
      const EarlyStop stop = stop_within(count, over, rules_.percentile);
      std::string words = what + ": " + std::to_string(over) + " of " + std::to_string(count) + " over the limit, ";
      words += stop.met ? "which is few enough to be sure of p" + percent_text(rules_.percentile)
                        : "at least " + std::to_string(stop.missing) + " further ones within it would be needed";
      verdict_.early_stopping += (verdict_.early_stopping.empty() ? "" : "; ") + words;
      if (stop.met) continue;
      verdict_.early_stopping_met = false;
      verdict_.missing_queries = std::max(verdict_.missing_queries, stop.missing);
      broken("early-stopping", words, mend_of_unsure(over, count, stop.missing));
    }
  }

  void accuracy() {
    if (!rules_.least_accuracy) return;
    const std::string& metric = rules_.accuracy_metric;
    if (!rules_.accuracy) {
      broken("accuracy-unknown", "no " + metric + " is known of this system",
             "--mode both with --reference FILE, or --accuracy VALUE from your own script");
    } else if (*rules_.accuracy < *rules_.least_accuracy) {
      broken("accuracy",
             fmt::format("{} is {:.6g}, but at least {:.6g} is required", metric, *rules_.accuracy,
                         *rules_.least_accuracy),
             "a system whose answers are right");
    }
  }

  struct OverLimit {
    std::string what;
    int64_t over = 0, count = 0;
  };
  const LoadResult& result_;
  const LoadSummary& summary_;
  const LoadRules& rules_;
  LoadScenario scenario_;
  LoadVerdict verdict_;
  std::vector<OverLimit> over_;
};

// Whether a rule asks for a longer run.
bool is_of_length(const LoadViolation& broken) {
  return broken.rule == "early-stopping" || broken.rule == "min-queries" || broken.rule == "min-duration";
}

}  // namespace

double field_percentile_of(LoadScenario scenario) { return scenario == LoadScenario::kSingleStream ? 0.90 : 0.99; }

bool LoadVerdict::breaks(std::string_view rule) const {
  return std::any_of(violations.begin(), violations.end(), [&](const auto& broken) { return broken.rule == rule; });
}

bool LoadVerdict::is_only_too_short() const {
  return !violations.empty() && std::all_of(violations.begin(), violations.end(), is_of_length);
}

bool LoadVerdict::is_sound() const {
  return std::all_of(violations.begin(), violations.end(),
                     [](const LoadViolation& broken) { return is_of_length(broken) || broken.rule == "few-tokens"; });
}

LoadVerdict judge(const LoadResult& result, const LoadSummary& summary, const LoadRules& rules) {
  return Judge(result, summary, rules).all();
}

}  // namespace perfcast::ai
