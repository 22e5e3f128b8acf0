#include "ai/results/result_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/csv.h"
#include "base/statistics.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr const char* kForm = "accelerator=h100,count=8,model=bert-99,scenario=Offline";
constexpr std::array<const char*, 7> kKeys = {"accelerator", "count",   "model",    "scenario",
                                              "nodes",       "version", "submitter"};
constexpr size_t kLongestQuery = 1000;

Error bad_query(const std::string& message, const std::string& expected) {
  return usage_error("bad-usage", message, "--predict", expected);
}

Result<int64_t> whole_number(const std::string& key, const std::string& text) {
  constexpr double kMost = 1e6;
  const auto value = parse_number(text);
  if (value && *value >= 1 && *value <= kMost && *value == std::floor(*value)) return static_cast<int64_t>(*value);
  return bad_query("'" + printable(text) + "' is no " + key, "a whole number from 1 to a million");
}

std::vector<std::string> names_of(const std::vector<ResultRow>& rows, std::string ResultRow::*member) {
  std::set<std::string> names;
  for (const ResultRow& row : rows) names.insert(row.*member);
  return {names.begin(), names.end()};
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Error unknown_name(const char* code, const std::string& kind, const std::string& name,
                   const std::vector<std::string>& names) {
  return usage_error(code, fmt::format("no result is of the {} '{}'", kind, printable(name)), "--predict",
                     "one of these: " + nearest_names(name, names, 8));
}

Status check_known(const std::vector<ResultRow>& rows, const ResultRow& asked) {
  const auto models = names_of(rows, &ResultRow::model);
  if (!is_among(models, asked.model)) return unknown_name("unknown-model", "model", asked.model, models);
  const auto scenarios = names_of(rows, &ResultRow::scenario);
  if (!is_among(scenarios, asked.scenario))
    return unknown_name("unknown-scenario", "scenario", asked.scenario, scenarios);
  const auto accelerators = names_of(rows, &ResultRow::accelerator);
  if (asked.knows_facts() || is_among(accelerators, asked.accelerator)) return {};
  Error error = unknown_name("unknown-accelerator", "accelerator", asked.accelerator, accelerators);
  error.message += ", and the catalogue of devices has no facts of it";
  error.expected += ", another of the catalogue of devices, or its facts with --device-file";
  return error;
}

// Rounds follow each other by their names: "v2.1" before "v4.1".
std::string newest_version(const std::vector<ResultRow>& rows, const std::string& model) {
  std::string newest;
  for (const ResultRow& row : rows) {
    if (row.model == model) newest = std::max(newest, row.version);
  }
  return newest;
}

}  // namespace

Result<PublishedResult> parse_result_query(std::string_view text) {
  if (text.size() > kLongestQuery) return bad_query("the description is too long", kForm);
  std::map<std::string, std::string> values;
  for (const std::string& part : split(text, ',')) {
    const size_t sign = part.find('=');
    const std::string key(trim(part.substr(0, sign)));
    if (sign == std::string::npos || std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      return bad_query("'" + printable(part) + "' describes nothing of a system",
                       fmt::format("{}; known are {}", kForm, fmt::join(kKeys, ", ")));
    }
    const std::string value(trim(part.substr(sign + 1)));
    if (value.empty()) return bad_query("nothing stands behind '" + key + "='", kForm);
    if (!values.emplace(key, value).second) return bad_query("'" + key + "' is given twice", kForm);
  }
  for (const char* needed : {"accelerator", "model", "scenario"}) {
    if (values.count(needed) == 0) return bad_query(fmt::format("the description names no {}", needed), kForm);
  }
  PublishedResult asked;
  asked.accelerator = values["accelerator"];
  asked.model = values["model"];
  asked.scenario = values["scenario"];
  asked.version = values["version"];
  asked.submitter = values["submitter"];
  asked.accelerators_per_node = 1;
  asked.nodes = 1;
  if (const auto nodes = values.find("nodes"); nodes != values.end()) {
    const auto number = whole_number("nodes", nodes->second);
    if (!number) return number.error();
    asked.nodes = *number;
  }
  if (const auto count = values.find("count"); count != values.end()) {
    const auto number = whole_number("count", count->second);
    if (!number) return number.error();
    if (*number % *asked.nodes != 0) {
      return bad_query(fmt::format("{} accelerators don't divide into {} nodes", *number, *asked.nodes),
                       "count of the whole system, a multiple of nodes");
    }
    asked.accelerators_per_node = *number / *asked.nodes;
  } else if (*asked.nodes > 1) {
    return bad_query("several nodes, and no count of accelerators", kForm);
  }
  return asked;
}

Result<ResultRow> asked_row(const std::vector<ResultRow>& rows, const PublishedResult& asked,
                            const std::vector<DeviceFacts>& devices) {
  ResultRow row = result_row(asked, devices);
  if (Status known = check_known(rows, row); !known) return known.error();
  if (row.version.empty()) row.version = newest_version(rows, row.model);
  return row;
}

Result<std::vector<ForecastResult>> forecast_rows(const std::vector<ResultRow>& rows,
                                                  const std::vector<ResultRow>& asked,
                                                  const ResultFitOptions& options) {
  std::vector<size_t> all(rows.size());
  std::iota(all.begin(), all.end(), size_t{0});
  const auto fit = fit_results(rows, all, options);
  if (!fit) return fit.error();
  const auto model = ResultModel::create(rows, *fit);
  if (!model) return model.error();
  const std::vector<ResultForecast> numbers = model->forecast(asked);
  std::array<std::optional<WidthsByScenario>, kResultSplits> widths;
  std::vector<ForecastResult> forecasts;
  forecasts.reserve(asked.size());
  for (size_t a = 0; a < asked.size(); ++a) {
    ForecastResult forecast;
    forecast.row = asked[a];
    bool generation = false;
    std::vector<double> tokens;
    tokens.reserve(rows.size());
    for (const ResultRow& row : rows) {
      if (row.whole == asked[a].whole) ++forecast.same_accelerator;
      if (row.generation == asked[a].generation) generation = true;
      if (row.model != asked[a].model) continue;
      ++forecast.same_model;
      tokens.push_back(row.tokens_per_sample);
    }
    forecast.tokens_per_sample = median_of_known(std::move(tokens));
    forecast.novelty = forecast.same_accelerator > 0 ? ResultSplit::kSystem
                       : generation                  ? ResultSplit::kAccelerator
                                                     : ResultSplit::kGeneration;
    auto& own = widths[static_cast<size_t>(forecast.novelty)];
    if (!own) own = interval_widths(*model, forecast.novelty);
    const double half = width_for(*own, forecast.row.scenario) * numbers[a].deviation;
    forecast.rate_per_s = std::exp(numbers[a].log_rate);
    forecast.lower = std::exp(numbers[a].log_rate - half);
    forecast.upper = std::exp(numbers[a].log_rate + half);
    forecast.baseline_per_s = std::exp(scaled_by_peak(rows, asked[a]));
    forecasts.push_back(std::move(forecast));
  }
  return forecasts;
}

Result<KeptApart> check_kept_apart(const std::vector<ResultRow>& rows, const std::vector<ResultRow>& kept_apart,
                                   const ResultFitOptions& options) {
  std::set<std::string> models, scenarios;
  for (const ResultRow& row : rows) {
    models.insert(row.model);
    scenarios.insert(row.scenario);
  }
  std::vector<ResultRow> asked;
  asked.reserve(kept_apart.size());
  for (const ResultRow& row : kept_apart) {
    if (models.count(row.model) > 0 && scenarios.count(row.scenario) > 0) asked.push_back(row);
  }
  if (asked.empty()) {
    return Error{"no-results", "none of the results that were kept apart is of a model and scenario that others have",
                 "", "results of the same models"};
  }
  KeptApart result;
  result.without = kept_apart.size() - asked.size();
  auto forecasts = forecast_rows(rows, asked, options);
  if (!forecasts) return forecasts.error();
  result.forecasts = std::move(*forecasts);
  for (size_t i = 0; i < asked.size(); ++i) {
    const ForecastResult& forecast = result.forecasts[i];
    ScoredRow row;
    row.row = i;
    row.log_rate = asked[i].log_rate;
    row.forecast = std::log(forecast.rate_per_s);
    row.lower = std::log(forecast.lower);
    row.upper = std::log(forecast.upper);
    row.baseline = std::log(forecast.baseline_per_s);
    result.rows.push_back(row);
  }
  const std::vector<int> group = split_groups(asked, ResultSplit::kSystem);
  result.scores.push_back(score_rows("all", result.rows, group, [](const ScoredRow&) { return true; }));
  for (const auto& [name, novelty] :
       {std::pair{"known accelerator", ResultSplit::kSystem}, std::pair{"new accelerator", ResultSplit::kAccelerator},
        std::pair{"new generation", ResultSplit::kGeneration}}) {
    const ResultSplit wanted = novelty;
    ResultScore score = score_rows(name, result.rows, group, [&result, wanted](const ScoredRow& row) {
      return result.forecasts[row.row].novelty == wanted;
    });
    if (score.rows > 0) result.scores.push_back(std::move(score));
  }
  return result;
}

}  // namespace perfcast::ai
