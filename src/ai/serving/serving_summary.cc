#include "ai/serving/serving_summary.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/statistics.h"
#include "base/unknown.h"

namespace perfcast::ai {
namespace {

// Growth by less than this share of the arrivals is a service near its capacity, and so is growth within two standard
// deviations of what comes by chance.
constexpr double kLeastGrowth = 0.02, kChance = 2;
constexpr double kLongerWait = 1.5, kWaitOfService = 0.25;  // of waits_grow()
// A service that keeps up has as many requests in it as ever after this many times what one takes.
constexpr double kFilledAfter = 2;

double as_double(int64_t value) { return static_cast<double>(value); }

// Of values in order.
double sorted_quantile(const std::vector<double>& values, double probability) {
  if (values.empty()) return kUnknown;
  const double place = probability * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

// How many requests there are at a time: those that came, less those that left. Both in order.
struct Crowd {
  std::vector<double> came_s, left_s;

  double at(double time_s) const {
    const auto until = [&](const std::vector<double>& times) {
      return std::upper_bound(times.begin(), times.end(), time_s) - times.begin();
    };
    return static_cast<double>(until(came_s) - until(left_s));
  }

  // Slope between two times, by least squares.
  double growth_per_s(double from_s, double to_s) const {
    double sum_tt = 0, sum_tn = 0;
    for (int i = 0; i <= kLooks; ++i) {
      const double t = (static_cast<double>(i) / kLooks - 0.5) * (to_s - from_s);
      sum_tt += t * t;
      sum_tn += t * at((from_s + to_s) / 2 + t);
    }
    return sum_tn / sum_tt;
  }

 private:
  static constexpr int kLooks = 200;
};

// Whether requests wait longer and longer for their first step, by more than chance in arrivals does: the fourth
// quarter of them, by arrival, against the second.
bool waits_grow(const ServeRun& run, double served_s) {
  std::vector<std::pair<double, double>> waits;  // when it came, how long it waited
  for (size_t i = 0; i < run.outcomes.size(); ++i) {
    const RequestOutcome& outcome = run.outcomes[i];
    if (!std::isnan(outcome.scheduled_s)) waits.emplace_back(run.sent_s[i], outcome.scheduled_s - outcome.ready_s);
  }
  std::sort(waits.begin(), waits.end());
  const size_t quarter = waits.size() / 4;
  if (quarter == 0) return false;
  const auto mean_of = [&](size_t from) {
    double sum = 0;
    for (size_t i = from; i < from + quarter; ++i) sum += waits[i].second;
    return sum / static_cast<double>(quarter);
  };
  const double second_s = mean_of(quarter), fourth_s = mean_of(waits.size() - quarter);
  return fourth_s > kLongerWait * second_s && fourth_s > kWaitOfService * served_s;
}

// Requests wait where an engine can't take more; those that run grow until it does. `served_s`: what one takes from its
// first step on.
void judge_pace(const ServeRun& run, const std::vector<double>& came_s, double begin_s, double last_came_s,
                double served_s, ServingSummary& summary) {
  Crowd inside, waiting;
  for (size_t i = 0; i < run.outcomes.size(); ++i) {
    const RequestOutcome& outcome = run.outcomes[i];
    if (std::isnan(outcome.ready_s) || outcome.refused) continue;
    inside.came_s.push_back(came_s[i]);
    waiting.came_s.push_back(outcome.ready_s + (came_s[i] - run.sent_s[i]));
    if (!std::isnan(outcome.last_token_s)) inside.left_s.push_back(outcome.last_token_s);
    if (!std::isnan(outcome.scheduled_s)) waiting.left_s.push_back(outcome.scheduled_s);
  }
  for (auto* times : {&inside.came_s, &inside.left_s, &waiting.came_s, &waiting.left_s}) {
    std::sort(times->begin(), times->end());
  }
  const double half_s = (last_came_s - begin_s) / 2;
  const double by_chance = kChance * std::sqrt(summary.offered_per_s * half_s);
  const auto growth_of = [&](const Crowd& crowd) {
    const double growth = crowd.growth_per_s(begin_s + half_s, last_came_s);
    return growth > kLeastGrowth * summary.offered_per_s && growth * half_s > by_chance ? growth : 0;
  };
  summary.growth_per_s = growth_of(inside);
  if (growth_of(waiting) > 0) {
    summary.pace = Pace::kFallsBehind;
  } else {
    summary.pace = summary.growth_per_s > 0 && half_s < kFilledAfter * served_s ? Pace::kTooShort : Pace::kKeepsUp;
  }
  if (summary.pace == Pace::kKeepsUp && waits_grow(run, served_s)) summary.pace = Pace::kTooShort;
  if (summary.pace != Pace::kFallsBehind) summary.growth_per_s = 0;
}

int64_t nanoseconds(double seconds) { return std::isnan(seconds) ? -1 : std::llround(seconds * 1e9); }

}  // namespace

Percentiles percentiles_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {.mean = mean(values),
          .p50 = sorted_quantile(values, 0.5),
          .p90 = sorted_quantile(values, 0.9),
          .p95 = sorted_quantile(values, 0.95),
          .p99 = sorted_quantile(values, 0.99)};
}

ServingSummary summarise(const ServingTrace& trace, const ServeOptions& options, const ServeRun& run,
                         const std::vector<LoadObjective>& objectives) {
  ServingSummary summary;
  std::vector<double> first, further, whole, queued, served;
  LoadResult judged;  // as a measured run has it
  judged.settings.tokens = true;
  double begin_s = kUnknown, end_s = kUnknown, last_came_s = kUnknown, output = 0, prompt = 0;
  std::vector<double> came_s = run.sent_s;  // to the client, which may have held it back
  for (size_t i = 0; i < trace.requests.size(); ++i) {
    const ServingRequest& request = trace.requests[i];
    const RequestOutcome& outcome = run.outcomes[i];
    const double sent_s = run.sent_s[i];
    if (std::isnan(sent_s)) continue;  // cut off before it came
    ++summary.requests;
    if (options.most_in_flight > 0 && request.after < 0) came_s[i] = request.arrival_s;
    begin_s = std::fmin(begin_s, came_s[i]);
    last_came_s = std::fmax(last_came_s, came_s[i]);
    summary.refused += outcome.refused ? 1 : 0;
    if (outcome.refused || std::isnan(outcome.last_token_s)) continue;
    ++summary.finished;
    end_s = std::fmax(end_s, outcome.last_token_s);
    output += as_double(request.output_tokens);
    prompt += as_double(request.prompt_tokens);
    first.push_back(outcome.first_token_s - sent_s);
    whole.push_back(outcome.last_token_s - sent_s);
    queued.push_back(outcome.scheduled_s - outcome.ready_s);
    served.push_back(outcome.last_token_s - outcome.scheduled_s);
    double further_s = kUnknown;
    if (request.output_tokens > 1) {
      further_s = (outcome.last_token_s - outcome.first_token_s) / as_double(request.output_tokens - 1);
      further.push_back(further_s);
    }
    if (objectives.empty()) continue;
    judged.latencies_ns.push_back(nanoseconds(whole.back()));
    judged.ttft_ns.push_back(nanoseconds(first.back()));
    judged.tpot_ns.push_back(nanoseconds(further_s));
  }
  summary.unfinished = summary.requests - summary.finished - summary.refused;
  if (summary.finished > 0) summary.seconds = end_s - begin_s;
  if (summary.seconds > 0) {
    summary.requests_per_s = as_double(summary.finished) / summary.seconds;
    summary.output_tokens_per_s = output / summary.seconds;
    summary.prompt_tokens_per_s = prompt / summary.seconds;
  }
  judged.samples = summary.requests;
  judged.answered = summary.finished;
  for (const LoadObjective& objective : objectives) {
    summary.objectives.push_back(judge_load_objective(objective, judged, summary.requests_per_s));
  }
  const double served_s = percentiles_of(std::move(served)).p90;
  summary.first_token = percentiles_of(std::move(first));
  summary.further_token = percentiles_of(std::move(further));
  summary.whole = percentiles_of(std::move(whole));
  summary.queued = percentiles_of(std::move(queued));
  summary.gap_p50_s = run.counts.gaps.quantile(0.5);
  summary.gap_p95_s = run.counts.gaps.quantile(0.95);
  summary.gap_p99_s = run.counts.gaps.quantile(0.99);
  if (run.counts.busy_s > 0) {
    summary.mean_running = run.counts.running_seconds / run.counts.busy_s;
    summary.mean_cache_use = run.counts.used_block_seconds / run.counts.busy_s / as_double(run.cache_blocks);
    summary.busy_share = run.counts.busy_s / (run.end_s - begin_s) / as_double(options.engines());
  }
  const double idle_s = std::max(0.0, as_double(options.engines()) * (run.end_s - begin_s) - run.counts.busy_s);
  summary.energy_j = run.counts.joules + options.idle_w * idle_s;
  if (summary.finished > 0) {
    summary.power_w = summary.energy_j / (run.end_s - begin_s);
    summary.energy_per_request_j = summary.energy_j / as_double(summary.finished);
    summary.energy_per_token_j = summary.energy_j / output;
  }
  summary.most_cache_use = as_double(run.counts.most_used_blocks) / as_double(run.cache_blocks);
  const double prompts = run.counts.prompt_tokens + run.counts.cached_tokens;
  summary.cached_prompt_share = prompts > 0 ? run.counts.cached_tokens / prompts : 0;
  summary.preemptions = run.counts.preemptions;
  summary.most_waiting = run.counts.most_waiting;
  const bool is_open = options.concurrency == 0 && last_came_s > begin_s;
  summary.offered_per_s = is_open ? as_double(summary.requests - 1) / (last_came_s - begin_s) : kUnknown;
  if (is_open && summary.finished > 0) judge_pace(run, came_s, begin_s, last_came_s, served_s, summary);
  return summary;
}

double moved_end(double forecast, double end, double ratio) {
  return forecast > 0 && end > 0 ? forecast * std::pow(end / forecast, ratio) : end;
}

void move_ends(const ServingSummary& forecast, double token_ratio, double first_ratio, ServingSummary& end) {
  if (token_ratio == 1 && first_ratio == 1) return;
  using P = Percentiles;
  using S = ServingSummary;
  const auto move_all = [&](P S::*of, double ratio) {
    for (double P::*each : {&P::mean, &P::p50, &P::p90, &P::p95, &P::p99}) {
      end.*of.*each = moved_end(forecast.*of.*each, end.*of.*each, ratio);
    }
  };
  move_all(&S::first_token, first_ratio);
  move_all(&S::further_token, token_ratio);
  move_all(&S::whole, token_ratio);
  for (double S::*each : {&S::gap_p50_s, &S::gap_p95_s, &S::gap_p99_s, &S::requests_per_s, &S::output_tokens_per_s,
                          &S::prompt_tokens_per_s}) {
    end.*each = moved_end(forecast.*each, end.*each, token_ratio);
  }
}

}  // namespace perfcast::ai
