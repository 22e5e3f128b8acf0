#include "ai/serving/serving_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ai/serving/serving_report.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

using enum Quantity;

constexpr auto kCachedPrompts = +[](const ServingSummary& summary) { return summary.cached_prompt_share; };

// A figure with an interval. In JSON "first_token_s.p95" is p95 in an object first_token_s, and its interval is in
// first_token_lower_s and first_token_upper_s; in CSV first_token_p95_s and first_token_p95_lower_s.
struct ServingFigure {
  const char *stem, *unit, *part;  // "first_token", "_s", "p95"
  const char* title;               // of the table of several rows; "": not there
  const char* words;               // of one row's list; "": not there
  Quantity quantity;
  double (*of)(const ServingSummary&);

  std::string name(const char* end, ServingForm form) const {
    const std::string dot = *part == '\0' ? "" : part;
    if (form == ServingForm::kJson) return std::string(stem) + end + unit + (dot.empty() ? "" : "." + dot);
    return std::string(stem) + (dot.empty() ? "" : "_" + dot) + end + unit;
  }
};

const std::vector<ServingFigure>& figures() {
  using S = const ServingSummary&;
  static const std::vector<ServingFigure> all = {
      {"first_token", "_s", "mean", "", "time to first token, mean", kSeconds, [](S s) { return s.first_token.mean; }},
      {"first_token", "_s", "p50", "first token", "... median", kSpreadSeconds, [](S s) { return s.first_token.p50; }},
      {"first_token", "_s", "p90", "", "", kSeconds, [](S s) { return s.first_token.p90; }},
      {"first_token", "_s", "p95", "95%", "... 95%", kSpreadSeconds, [](S s) { return s.first_token.p95; }},
      {"first_token", "_s", "p99", "", "... 99%", kSeconds, [](S s) { return s.first_token.p99; }},
      {"further_token", "_s", "mean", "", "time per further token, mean", kSeconds,
       [](S s) { return s.further_token.mean; }},
      {"further_token", "_s", "p50", "per token", "... median", kSpreadSeconds,
       [](S s) { return s.further_token.p50; }},
      {"further_token", "_s", "p90", "", "", kSeconds, [](S s) { return s.further_token.p90; }},
      {"further_token", "_s", "p95", "95% ", "... 95%", kSpreadSeconds, [](S s) { return s.further_token.p95; }},
      {"further_token", "_s", "p99", "", "", kSeconds, [](S s) { return s.further_token.p99; }},
      {"gap", "_s", "p50", "", "between two tokens, median", kSeconds, [](S s) { return s.gap_p50_s; }},
      {"gap", "_s", "p95", "", "... 95%", kSeconds, [](S s) { return s.gap_p95_s; }},
      {"gap", "_s", "p99", "", "... 99%", kSeconds, [](S s) { return s.gap_p99_s; }},
      {"request", "_s", "mean", "", "whole request, mean", kSeconds, [](S s) { return s.whole.mean; }},
      {"request", "_s", "p50", "", "... median", kSeconds, [](S s) { return s.whole.p50; }},
      {"request", "_s", "p90", "", "", kSeconds, [](S s) { return s.whole.p90; }},
      {"request", "_s", "p95", "", "... 95%", kSeconds, [](S s) { return s.whole.p95; }},
      {"request", "_s", "p99", "", "", kSeconds, [](S s) { return s.whole.p99; }},
      {"queued", "_s", "p50", "", "", kSeconds, [](S s) { return s.queued.p50; }},
      {"queued", "_s", "p95", "", "of it waiting, 95%", kSeconds, [](S s) { return s.queued.p95; }},
      {"output_tokens", "_per_s", "", "tokens/s", "tokens/s", kHuman, [](S s) { return s.output_tokens_per_s; }},
      {"prompt_tokens", "_per_s", "", "", "", kHuman, [](S s) { return s.prompt_tokens_per_s; }},
      {"requests", "_per_s", "", "", "requests/s", kHuman, [](S s) { return s.requests_per_s; }},
      {"growth", "_per_s", "", "more each s", "more in it each second", kHuman,
       [](S s) { return s.pace == Pace::kFallsBehind ? s.growth_per_s : kUnknown; }},
      {"running", "", "", "running", "sequences that run, mean", kHuman, [](S s) { return s.mean_running; }},
      {"busy", "_share", "", "", "busy", kShare, [](S s) { return s.busy_share; }},
      {"cache_use", "_share", "mean", "", "cache in use, mean", kShare, [](S s) { return s.mean_cache_use; }},
      {"cache_use", "_share", "most", "cache", "... at the most", kShare, [](S s) { return s.most_cache_use; }},
      {"power", "_w", "", "", "power of all devices, W", kHuman, [](S s) { return s.power_w; }},
      {"energy_per_request", "_j", "", "", "energy of a request", kJoules, [](S s) { return s.energy_per_request_j; }},
      {"energy_per_output_token", "_j", "", "", "... of a token of output", kJoules,
       [](S s) { return s.energy_per_token_j; }},
      {"cached_prompt", "_share", "", "", "prompts found in the cache", kShare, kCachedPrompts},
  };
  return all;
}

// The least and the most of the forecast and its ends; unknown where one of them is.
ValueRange range_of(const ServingRow& row, double (*of)(const ServingSummary&)) {
  const std::array values = {of(row.forecast), of(row.slow), of(row.fast)};
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
    return {kUnknown, kUnknown};
  }
  return {*std::min_element(values.begin(), values.end()), *std::max_element(values.begin(), values.end())};
}

std::string words_of(Quantity quantity, double value) {
  if (std::isnan(value)) return "-";
  return quantity == kSeconds || quantity == kSpreadSeconds ? human_seconds(value)
         : quantity == kJoules                              ? energy_column({value}).front()
         : quantity == kShare                               ? percent(value, 1)
                                                            : human_number(value);
}

const char* pace_word(const ServingRow& row) {
  if (!row.problem.empty()) return "not simulated";
  switch (row.forecast.pace) {
    case Pace::kNotAsked:
      return "closed loop";
    case Pace::kKeepsUp:
      return "keeps up";
    case Pace::kFallsBehind:
      return "falls behind";
    case Pace::kTooShort:
      break;
  }
  return "too short to tell";
}

}  // namespace

std::string figures_text(const ServingRow& row) {
  TextTable table;
  table.add_column("", TextTable::Align::kLeft);
  table.add_column("forecast", TextTable::Align::kRight);
  table.add_column("90% interval", TextTable::Align::kRight);
  for (const ServingFigure& figure : figures()) {
    if (*figure.words == '\0') continue;
    const double value = figure.of(row.forecast);
    if (std::isnan(value)) continue;
    if (figure.of == kCachedPrompts && range_of(row, figure.of).upper == 0) continue;  // nothing is shared
    const ValueRange range = range_of(row, figure.of);
    const std::string lower = words_of(figure.quantity, range.lower), upper = words_of(figure.quantity, range.upper);
    table.add_row({figure.words, words_of(figure.quantity, value), lower == upper ? "" : lower + " to " + upper});
  }
  for (const ObjectiveOutcome& outcome : row.forecast.objectives) {
    table.add_row(
        {"goodput, requests/s: " + printable(outcome.objective.text), human_number(outcome.goodput_per_s), ""});
  }
  if (row.forecast.preemptions > 0) {
    table.add_row({"thrown out of a full cache", std::to_string(row.forecast.preemptions), ""});
  }
  if (row.forecast.most_waiting > 0)
    table.add_row({"waiting at once, most", std::to_string(row.forecast.most_waiting), ""});
  if (std::isfinite(row.cost_per_million)) {
    table.add_row({"USD per million tokens of output", money_text(row.cost_per_million), ""});
    table.add_row({"... a thousand requests", money_text(1e3 * row.cost_per_request), ""});
  }
  return table.to_text();
}

ReportTable serving_table(const ServingResult& result, ServingForm form) {
  using Row = ServingRow;
  const auto known = [](const Row& row) { return row.problem.empty(); };
  const auto if_simulated = [known](auto of) {
    return [known, of](const Row& row) { return known(row) ? ReportValue(of(row)) : ReportValue(); };
  };
  std::vector<ColumnOf<Row>> columns = {
      {"device", "device", kText, [&](const Row& row) { return result.request.devices[row.device].facts.name; }},
      {"devices", result.rows.empty() || result.rows.front().devices == 1 ? "" : "devices", kCount,
       [](const Row& row) { return row.devices; }},
      {"host_cpu", "", kText,
       [&](const Row& row) { return unless_empty(result.request.devices[row.device].host.cpu); }},
      {"", result.request.loads.size() > 1 ? "load" : "", kText,
       [&](const Row& row) { return result.request.loads[row.load].words; }},
      {"rate_per_s", "", kNumber, [&](const Row& row) { return result.request.loads[row.load].rate_per_s; }},
      {"concurrency", "", kCount,
       [&](const Row& row) {
         const int64_t clients = result.request.loads[row.load].concurrency;
         return clients > 0 ? ReportValue(clients) : ReportValue();
       }},
      {"most_in_flight", "", kCount,
       [&](const Row& row) {
         const int64_t most = result.request.loads[row.load].most_in_flight;
         return most > 0 ? ReportValue(most) : ReportValue();
       }},
      {"requests", "", kCount, [](const Row& row) { return row.requests; }},
      {"prompt_tokens_mean", "", kNumber, [](const Row& row) { return row.prompt_tokens; }},
      {"output_tokens_mean", "", kNumber, [](const Row& row) { return row.output_tokens; }},
      {"pace", "pace", kText, [](const Row& row) { return pace_word(row); }},
      {"problem", "", kText, [](const Row& row) { return unless_empty(row.problem); }},
      {"fits_on_devices", "", kCount,
       [](const Row& row) { return row.fits_on > 0 ? ReportValue(row.fits_on) : ReportValue(); }},
      {"finished", "", kCount, if_simulated([](const Row& row) { return row.forecast.finished; })},
      {"refused", "", kCount, if_simulated([](const Row& row) { return row.forecast.refused; })},
      {"seconds", "", kNumber, if_simulated([](const Row& row) { return row.forecast.seconds; })},
      {"offered_per_s", "", kNumber, if_simulated([](const Row& row) { return row.forecast.offered_per_s; })}};
  for (const ServingFigure& figure : figures()) {
    columns.push_back({figure.name("", form), figure.title, figure.quantity,
                       if_simulated([of = figure.of](const Row& row) { return of(row.forecast); }), 0});
    if (form == ServingForm::kText) continue;
    columns.push_back({figure.name("_lower", form), "", figure.quantity,
                       if_simulated([of = figure.of](const Row& row) { return range_of(row, of).lower; })});
    columns.push_back({figure.name("_upper", form), "", figure.quantity,
                       if_simulated([of = figure.of](const Row& row) { return range_of(row, of).upper; })});
  }
  columns.push_back({"preemptions", "", kCount, if_simulated([](const Row& row) { return row.forecast.preemptions; })});
  columns.push_back(
      {"most_waiting", "", kCount, if_simulated([](const Row& row) { return row.forecast.most_waiting; })});
  columns.push_back(
      {"max_sequences", "", kCount, if_simulated([](const Row& row) { return row.limits.max_sequences; })});
  columns.push_back({"step_tokens", "", kCount, if_simulated([](const Row& row) { return row.limits.step_tokens; })});
  columns.push_back({"cache_tokens", "", kCount, if_simulated([](const Row& row) { return row.limits.cache_tokens; })});
  const auto objectives = result.request.objectives.size();
  for (size_t i = 0; i < objectives && form != ServingForm::kJson; ++i) {
    const std::string end = objectives > 1 ? "_" + std::to_string(i + 1) : "";
    columns.push_back({"kept_share" + end, "keep " + result.request.objectives[i].text, kShare,
                       if_simulated([i](const Row& row) { return row.forecast.objectives[i].kept_share; }), 1});
    columns.push_back({"goodput_per_s" + end, "goodput/s", kHuman,
                       if_simulated([i](const Row& row) { return row.forecast.objectives[i].goodput_per_s; })});
  }
  columns.push_back({"cost_per_million_output_tokens_usd", "USD/M tokens", kMoney,
                     [](const Row& row) { return row.cost_per_million; }});
  columns.push_back({"cost_per_request_usd", "", kMoney, [](const Row& row) { return row.cost_per_request; }});
  columns.push_back({"engine_unmeasured", "", kText,
                     [](const Row& row) { return unless_empty(unmeasured_in_words(row.unmeasured)); }});
  return table_of<Row>("", result.rows, columns);
}

ReportTable objective_table(const std::vector<ObjectiveOutcome>& outcomes) {
  using Row = ObjectiveOutcome;
  return table_of<Row>("", outcomes,
                       {{"objective", "objective", kText, [](const Row& row) { return row.objective.text; }},
                        {"kept", "", kCount, [](const Row& row) { return row.kept; }},
                        {"requests", "", kCount, [](const Row& row) { return row.requests; }},
                        {"kept_share", "keep it", kShare, [](const Row& row) { return row.kept_share; }},
                        {"met", "met", kYes, [](const Row& row) { return row.met; }},
                        {"goodput_per_s", "goodput/s", kHuman, [](const Row& row) { return row.goodput_per_s; }}});
}

std::string request_times_csv(const ServingRequestFor& request, const ServingRow& row, const ServingTrace& trace,
                              const ServeRun& run, bool with_header) {
  constexpr size_t kAtOnce = 10000;  // lines that are held as values
  const std::string& device = request.devices[row.device].facts.name;
  const std::string& load = request.loads[row.load].words;
  std::string text;
  std::vector<size_t> part;
  for (size_t begin = 0; begin < trace.requests.size(); begin += kAtOnce) {
    part.clear();
    for (size_t i = begin; i < std::min(begin + kAtOnce, trace.requests.size()); ++i) part.push_back(i);
    const auto since_sent = [&](double RequestOutcome::*at) {
      return [&run, at](size_t i) { return run.outcomes[i].*at - run.sent_s[i]; };
    };
    const std::string lines = rows_csv(
        table_of<size_t>(
            "", part,
            {{"device", "", kText, [&](size_t) { return device; }},
             {"load", "", kText, [&](size_t) { return load; }},
             {"request", "", kCount, [](size_t i) { return i + 1; }},
             {"sent_s", "", kNumber, [&](size_t i) { return run.sent_s[i]; }},
             {"prompt_tokens", "", kCount, [&](size_t i) { return trace.requests[i].prompt_tokens; }},
             {"output_tokens", "", kCount, [&](size_t i) { return trace.requests[i].output_tokens; }},
             {"cached_tokens", "", kCount, [&](size_t i) { return run.outcomes[i].cached_tokens; }},
             {"replica", "", kCount,
              [&](size_t i) {
                return run.outcomes[i].replica < 0 ? ReportValue() : ReportValue(run.outcomes[i].replica + 1);
              }},
             {"queued_s", "", kNumber, [&](size_t i) { return run.outcomes[i].scheduled_s - run.outcomes[i].ready_s; }},
             {"first_token_s", "", kNumber, since_sent(&RequestOutcome::first_token_s)},
             {"request_s", "", kNumber, since_sent(&RequestOutcome::last_token_s)},
             {"preemptions", "", kCount, [&](size_t i) { return run.outcomes[i].preemptions; }},
             {"refused", "", kYes, [&](size_t i) { return run.outcomes[i].refused; }}}),
        {.digits = 9});
    text += with_header && begin == 0 ? lines : lines.substr(lines.find('\n') + 1);
  }
  return text;
}

}  // namespace perfcast::ai
