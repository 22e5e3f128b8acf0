#include "ai/bench/bench_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ai/load/query_order.h"
#include "ai/transformer_forecast/load_forecast.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

// An offline query is so many fillings of all slots on paper, whatever its length: more say the same.
constexpr int64_t kMostFillings = 16;
// So much longer by the clock on the wall than by the CPU's, a thread shared its core with others.
constexpr double kBusyRatio = 1.05;

// When the requests of a run, or of one query where queries wait for each other, are due.
std::vector<double> due_times(const LoadResult& result, int64_t slots) {
  const LoadSettings& settings = result.settings;
  if (settings.scenario == LoadScenario::kSingleStream) return {0};
  if (settings.scenario == LoadScenario::kMultiStream) {
    return std::vector<double>(static_cast<size_t>(settings.samples_per_query), 0.0);
  }
  if (settings.scenario == LoadScenario::kOffline) {
    return std::vector<double>(static_cast<size_t>(std::min(result.samples, kMostFillings * slots)), 0.0);
  }
  std::vector<double> due_s;
  due_s.reserve(static_cast<size_t>(result.queries));
  QueryOrder order(settings, sample_sets(settings).front());
  std::vector<uint32_t> samples;
  int64_t due_ns = 0;
  while (static_cast<int64_t>(due_s.size()) < result.queries && order.next(samples, due_ns)) {
    due_s.push_back(static_cast<double>(due_ns) / 1e9);
  }
  return due_s;
}

double seconds_of(const LatencySummary& times) {
  return times.count > 0 ? static_cast<double>(times.mean) / 1e9 : kUnknown;
}

class ForecastRows {
 public:
  ForecastRows(int64_t slots, BenchForecast& forecast)
      : slots_(slots), forecast_(forecast), comparison_(forecast.comparison), model_(comparison_.models.front()) {}

  Status add(const BenchReport& report) {
    if (report.result.answered == 0) return {};
    LoadShape shape;
    shape.due_s = due_times(report.result, slots_);
    shape.slots = slots_;
    shape.prompt_tokens = comparison_.request.prompt_tokens;
    shape.new_tokens = comparison_.request.new_tokens;
    std::array<LoadTimes, 3> times;
    no_interval_ = busy();
    for (size_t i = 0; i < times.size(); ++i) {
      if (i > 0 && !no_interval_.empty()) {
        times[i] = {kUnknown, kUnknown, kUnknown};
        continue;
      }
      const auto found = times_of_load(shape, [&](const StepPoint& point) { return step_seconds(point, i); });
      if (!found) return found.error();
      times[i] = *found;
    }
    const auto& [middle, lower, upper] = times;
    const LoadSummary& summary = report.summary;
    const bool offline = report.result.settings.scenario == LoadScenario::kOffline;
    // Of an offline query each answer waits for those before it: its times say nothing but its length.
    if (!offline) {
      add_row(report, ForecastQuantity::kFirstToken, middle.ttft_s, lower.ttft_s, upper.ttft_s,
              seconds_of(summary.ttft));
      if (!std::isnan(middle.tpot_s)) {
        add_row(report, ForecastQuantity::kPerToken, middle.tpot_s, lower.tpot_s, upper.tpot_s,
                seconds_of(summary.tpot));
      }
    }
    add_row(report, ForecastQuantity::kTokensPerS, middle.tokens_per_s, upper.tokens_per_s, lower.tokens_per_s,
            summary.tokens_per_s);
    // A server's machine idles between requests: what it draws then isn't known.
    if (!comparison_.power_scope || report.result.settings.scenario == LoadScenario::kServer) return {};
    // Joules of another scope are joules of something else.
    const auto joules = report.energy ? joules_of_scope(report.energy->report, *comparison_.power_scope) : std::nullopt;
    if (!joules || report.result.tokens == 0) return {};
    const double watts = comparison_.calibration_w;
    add_row(report, ForecastQuantity::kJoulesPerToken, watts / middle.tokens_per_s, watts / lower.tokens_per_s,
            watts / upper.tokens_per_s, *joules / static_cast<double>(report.result.tokens));
    return {};
  }

 private:
  // `bound`: 0 the forecast, 1 the lower end of its interval, 2 the upper.
  Result<double> step_seconds(const StepPoint& point, size_t bound) {
    const auto step = comparison_.host->forecast(model_.config, point);
    if (!step) return step.error();
    for (const std::string& what : step->beyond) {
      const std::string reason = "beyond what was learned from: " + what;
      const std::string kind = reason.substr(0, reason.rfind(':'));  // of each kind the first
      const bool is_new = std::none_of(no_interval_.begin(), no_interval_.end(),
                                       [&](const std::string& known) { return known.starts_with(kind); });
      if (is_new) no_interval_.push_back(reason);
    }
    return bound == 0 ? step->seconds : bound == 1 ? step->lower_s : step->upper_s;
  }

  // One thread is forecast by the CPU time that it takes, and a load by the clock on the wall.
  std::vector<std::string> busy() const {
    double most = 1;
    for (const ComparedStep& step : model_.steps) most = std::max(most, step.wall_ratio);
    if (comparison_.request.threads > 1 || most <= kBusyRatio) return {};
    return {
        fmt::format("others ran on this machine: by the clock on the wall steps took up to {:.0f}% longer than the "
                    "CPU time that is forecast",
                    100 * (most - 1))};
  }

  void add_row(const BenchReport& report, ForecastQuantity quantity, double middle, double lower, double upper,
               double measured) {
    BenchForecastRow row{report.result.settings.scenario, quantity, middle, lower, upper, measured, no_interval_, ""};
    if (row.outside()) row.farthest_operator = operator_of(row);
    forecast_.rows.push_back(std::move(row));
  }

  std::string operator_of(const BenchForecastRow& row) const {
    const bool single = row.scenario == LoadScenario::kSingleStream;
    const LlmPhase phase = row.quantity == ForecastQuantity::kFirstToken ? LlmPhase::kPrefill : LlmPhase::kDecode;
    for (const ComparedStep& step : model_.steps) {
      const bool batch_fits = single ? step.point.batch == 1 : step.point.batch == model_.steps.back().point.batch;
      if (step.point.phase != phase || !batch_fits || !step.outside()) continue;
      const ComparedOperator* const farthest = step.farthest();
      return farthest == nullptr ? "" : operator_title(farthest->forecast.name);
    }
    return "";
  }

  int64_t slots_;
  BenchForecast& forecast_;
  const TransformerComparison& comparison_;
  const ComparedTransformer& model_;
  std::vector<std::string> no_interval_;  // of the report at hand
};

std::string key_of(ForecastQuantity quantity) {
  switch (quantity) {
    case ForecastQuantity::kFirstToken:
      return "ttft_s";
    case ForecastQuantity::kPerToken:
      return "tpot_s";
    case ForecastQuantity::kTokensPerS:
      return "tokens_per_s";
    case ForecastQuantity::kJoulesPerToken:
      return "joules_per_token";
  }
  return {};
}

// What a row's numbers end in.
std::string unit_of(ForecastQuantity quantity) {
  const bool times = quantity == ForecastQuantity::kFirstToken || quantity == ForecastQuantity::kPerToken;
  return times ? "_s" : "_" + key_of(quantity);
}

}  // namespace

std::string title_of(ForecastQuantity quantity) {
  switch (quantity) {
    case ForecastQuantity::kFirstToken:
      return "first token";
    case ForecastQuantity::kPerToken:
      return "per output token";
    case ForecastQuantity::kTokensPerS:
      return "tokens/s";
    case ForecastQuantity::kJoulesPerToken:
      return "energy a token";
  }
  return {};
}

Status add_forecast_rows(int64_t slots, const std::vector<BenchReport>& reports, BenchForecast& forecast) {
  ForecastRows rows(slots, forecast);
  for (const BenchReport& report : reports) {
    if (Status added = rows.add(report); !added) return added;
  }
  return {};
}

Result<BenchForecast> forecast_bench(ComparisonRequest request, int64_t slots, const std::vector<BenchReport>& reports,
                                     const std::function<void(const std::string&)>& progress) {
  request.batches = {1};
  if (slots > 1) request.batches.push_back(std::min(slots, kMostComparedBatch));
  auto comparison = compare_with_forecast(request, progress);
  if (!comparison) return comparison.error();
  BenchForecast forecast;
  forecast.comparison = std::move(*comparison);
  if (Status added = add_forecast_rows(slots, reports, forecast); !added) return added.error();
  auto steps = llm_forecast_steps(forecast.comparison, forecast.comparison.models.front());
  if (steps) {
    forecast.llm_steps = std::move(*steps);
  } else {
    forecast.no_llm_steps = steps.error().message;
  }
  return forecast;
}

Json to_json(const BenchForecast& forecast) {
  Json rows = Json::array();
  for (const BenchForecastRow& row : forecast.rows) {
    const std::string unit = unit_of(row.quantity);
    Json entry{
        {"scenario", to_string(row.scenario)}, {"quantity", key_of(row.quantity)}, {"forecast" + unit, row.forecast}};
    if (row.no_interval.empty()) {
      entry["lower" + unit] = row.lower;
      entry["upper" + unit] = row.upper;
    } else {
      entry["no_interval"] = row.no_interval;
    }
    if (!std::isnan(row.measured)) {
      entry["measured" + unit] = row.measured;
      if (row.no_interval.empty()) entry["outside"] = row.outside();
    }
    if (!row.farthest_operator.empty()) entry["farthest_operator"] = row.farthest_operator;
    rows.push_back(std::move(entry));
  }
  const auto scope = forecast.comparison.power_scope;
  Json json{{"load", std::move(rows)}, {"has_meter", scope.has_value()}, {"steps", to_json(forecast.comparison)}};
  json["llm_forecast"] = rows_json(llm_steps_table(forecast.llm_steps));
  if (!forecast.no_llm_steps.empty()) json["no_llm_forecast"] = forecast.no_llm_steps;
  if (scope) {
    json["calibration_w"] = forecast.comparison.calibration_w;
    json["power_covers"] = to_string(*scope);
  }
  return json;
}

}  // namespace perfcast::ai
