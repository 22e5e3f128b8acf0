#include "ai/results/results_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/train_time/train_report.h"
#include "base/json.h"
#include "base/report/put_known.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kTextWidth = 120;

std::string rate_text(double rate_per_s) { return std::isfinite(rate_per_s) ? human_number(rate_per_s) : "-"; }

std::string share_text(double share) { return std::isnan(share) ? "-" : fmt::format("{:.1f}%", 100 * share); }

// What the scenario is judged by, of a rate of the whole system.
std::string metric_text(const std::string& scenario, double rate_per_s) {
  if (scenario == "SingleStream") return human_seconds(1 / rate_per_s) + " (p90)";
  if (scenario == "MultiStream") return human_seconds(kMultiStreamSamples / rate_per_s) + " (p99 of 8)";
  if (scenario == kTrainingScenario) return training_time_text(1 / rate_per_s);
  return human_number(rate_per_s) + "/s";
}

std::string table_text(const TaskTable& table, size_t most) {
  TextTable text;
  const bool training = table.scenario == kTrainingScenario;
  const bool latency = !scales_with_accelerators(table.scenario);
  text.add_column("accelerator", TextTable::Align::kLeft);
  for (const char* title : {"results", "systems"}) text.add_column(title, TextTable::Align::kRight);
  text.add_column(training ? "best" : latency ? "best latency" : "best, samples/s each", TextTable::Align::kRight);
  text.add_column(training ? "best, trainings/day each" : "median, samples/s each", TextTable::Align::kRight);
  text.add_column("accelerators", TextTable::Align::kRight);
  text.add_column("version", TextTable::Align::kLeft);
  text.add_column("with power", TextTable::Align::kRight);
  text.add_column("samples/J", TextTable::Align::kRight);
  constexpr double kDay_s = 86400;
  for (const TaskEntry& entry : table.entries) {
    if (text.rows() == most) break;
    const std::string best = training  ? training_time_text(entry.best_training_s)
                             : latency ? human_seconds(entry.best_latency_s)
                                       : rate_text(entry.best_per_accelerator);
    text.add_row({entry.accelerator, std::to_string(entry.results), std::to_string(entry.systems), best,
                  training ? rate_text(kDay_s * entry.best_per_accelerator) : rate_text(entry.median_per_accelerator),
                  std::to_string(entry.best_count), entry.best_version, std::to_string(entry.with_power),
                  rate_text(entry.best_samples_per_j)});
  }
  std::string result = fmt::format("\n{}, {}\n{}", table.model, table.scenario, text.to_text());
  if (table.entries.size() > most) result += fmt::format("  and {} more (--most)\n", table.entries.size() - most);
  return result;
}

TextTable scores_table(const char* first, const char* second) {
  TextTable table;
  table.add_column(first, TextTable::Align::kLeft);
  table.add_column(second, TextTable::Align::kLeft);
  for (const char* title : {"results", "groups", "median error", "90% holds", "interval", "with a peak", "median",
                            "mean", "by peak: median", "mean", "ratio of medians"}) {
    table.add_column(title, TextTable::Align::kRight);
  }
  return table;
}

void add_score(const std::string& first, const ResultScore& score, TextTable& table) {
  table.add_row({first, score.scenario == first ? std::string() : score.scenario, std::to_string(score.rows),
                 std::to_string(score.groups), share_text(score.median_error), share_text(score.coverage_90),
                 fmt::format("x/{:.2f}", std::sqrt(score.interval_ratio)), std::to_string(score.baseline_rows),
                 share_text(score.median_error_there), share_text(score.mean_error_there),
                 share_text(score.baseline_median_error), share_text(score.baseline_mean_error),
                 score.baseline_rows == 0
                     ? std::string("-")
                     : fmt::format("{:.2f}", score.median_error_there / score.baseline_median_error)});
}

std::string baseline_words() {
  return "with a peak: results that scaling by peak has a forecast of, too, with both errors; by peak: the median rate "
         "per peak FLOP/s of the others on the same model and scenario, times the peak of all accelerators";
}

std::string scores_text(const ResultScores& scores) {
  TextTable table = scores_table("left out", "scenario");
  for (const SplitScores& split : scores.splits) {
    for (const ResultScore& score : split.scores) add_score(name_of(split.split), score, table);
  }
  std::string text = "\nforecasts of results that were left out\n" + table.to_text();
  text += wrapped(
              "system: all results of a submitter's systems with so many of an accelerator, of every version; "
              "accelerator: all systems with it; generation: all accelerators of its generation. " +
                  baseline_words(),
              kTextWidth) +
          "\n";
  text += fmt::format(
      "noise floor: two submitters with as many of the same accelerator, on the same model, scenario "
      "and version, differ by {} ({} results)\n",
      share_text(scores.noise_floor), scores.noise_rows);
  return text;
}

std::string kept_apart_text(const KeptApart& kept_apart) {
  TextTable table = scores_table("kept apart", "");
  for (const ResultScore& score : kept_apart.scores) add_score(score.scenario, score, table);
  std::string text = "\nforecasts of results that were kept apart\n" + table.to_text();
  if (kept_apart.without > 0)
    text += fmt::format("{} more are of a model or scenario that no other result has\n", kept_apart.without);
  return text + wrapped(baseline_words(), kTextWidth) + "\n";
}

std::string novelty_text(const ForecastResult& forecast) {
  switch (forecast.novelty) {
    case ResultSplit::kSystem:
      return fmt::format("{} results of this accelerator", forecast.same_accelerator);
    case ResultSplit::kAccelerator:
      return "no result of this accelerator, some of its generation";
    case ResultSplit::kGeneration:
      break;
  }
  return "no result of its generation";
}

std::string forecasts_text(const std::vector<ForecastResult>& forecasts) {
  std::string text = "\nforecasts\n";
  for (const ForecastResult& forecast : forecasts) {
    const ResultRow& row = forecast.row;
    text += fmt::format("{} x {}, {}, {}, {}: {}\n", row.count, row.accelerator, row.model, row.scenario, row.version,
                        metric_text(row.scenario, forecast.rate_per_s));
    std::string details = fmt::format("90% interval {} to {}", metric_text(row.scenario, forecast.lower),
                                      metric_text(row.scenario, forecast.upper));
    if (std::isfinite(forecast.baseline_per_s))
      details += fmt::format("; scaled by peak {}", metric_text(row.scenario, forecast.baseline_per_s));
    if (std::isfinite(forecast.tokens_per_sample) && scales_with_accelerators(row.scenario))
      details +=
          fmt::format("; {} tokens/s at {:.4g} a sample",
                      human_number(forecast.rate_per_s * forecast.tokens_per_sample), forecast.tokens_per_sample);
    details += fmt::format("; learned from {}, and {} of this model", novelty_text(forecast), forecast.same_model);
    text += wrapped(details, kTextWidth, "  ", "  ") + "\n";
  }
  return text;
}

Json tables_json(const std::vector<TaskTable>& tables) {
  Json entries = Json::array();
  for (const TaskTable& table : tables) {
    for (const TaskEntry& entry : table.entries) {
      Json json = {{"model", table.model},
                   {"scenario", table.scenario},
                   {"accelerator", entry.accelerator},
                   {"results", entry.results},
                   {"systems", entry.systems}};
      put_known(json, "best_per_accelerator_per_s", entry.best_per_accelerator);
      put_known(json, "median_per_accelerator_per_s", entry.median_per_accelerator);
      put_known(json, "best_latency_s", entry.best_latency_s);
      put_known(json, "best_training_s", entry.best_training_s);
      json["best_accelerators"] = entry.best_count;
      json["best_version"] = entry.best_version;
      json["best_platform"] = entry.best_platform;
      json["results_with_power"] = entry.with_power;
      put_known(json, "best_samples_per_joule", entry.best_samples_per_j);
      entries.push_back(std::move(json));
    }
  }
  return entries;
}

Json score_json(const std::string& split, const ResultScore& score) {
  Json json = {{"split", split}, {"scenario", score.scenario}, {"results", score.rows}, {"groups", score.groups}};
  put_known(json, "median_error", score.median_error);
  put_known(json, "mean_error", score.mean_error);
  put_known(json, "coverage_90", score.coverage_90);
  put_known(json, "interval_ratio", score.interval_ratio);
  json["baseline_results"] = score.baseline_rows;
  put_known(json, "median_error_where_baseline", score.median_error_there);
  put_known(json, "mean_error_where_baseline", score.mean_error_there);
  put_known(json, "baseline_median_error", score.baseline_median_error);
  put_known(json, "baseline_mean_error", score.baseline_mean_error);
  return json;
}

Json scores_json(const ResultScores& scores) {
  Json entries = Json::array();
  for (const SplitScores& split : scores.splits) {
    for (const ResultScore& score : split.scores) entries.push_back(score_json(name_of(split.split), score));
  }
  return entries;
}

Json forecast_json(const ForecastResult& forecast) {
  const ResultRow& row = forecast.row;
  Json json = {{"model", row.model},        {"scenario", row.scenario}, {"accelerator", row.accelerator},
               {"accelerators", row.count}, {"nodes", row.nodes},       {"version", row.version}};
  put_known(json, "rate_per_s", forecast.rate_per_s);
  put_known(json, "lower_per_s", forecast.lower);
  put_known(json, "upper_per_s", forecast.upper);
  if (row.scenario == "SingleStream") put_known(json, "p90_latency_s", 1 / forecast.rate_per_s);
  if (row.scenario == "MultiStream") put_known(json, "p99_latency_s", kMultiStreamSamples / forecast.rate_per_s);
  if (row.scenario == kTrainingScenario) put_known(json, "training_s", 1 / forecast.rate_per_s);
  put_known(json, "baseline_per_s", forecast.baseline_per_s);
  if (scales_with_accelerators(row.scenario))
    put_known(json, "tokens_per_s", forecast.rate_per_s * forecast.tokens_per_sample);
  json["calibrated_for"] = name_of(forecast.novelty);
  json["results_of_accelerator"] = forecast.same_accelerator;
  json["results_of_model"] = forecast.same_model;
  return json;
}

}  // namespace

std::string results_report_text(const ResultsReport& report, size_t most) {
  std::vector<std::string> divisions;
  divisions.reserve(report.divisions.size());
  for (const auto& [name, rows] : report.divisions)
    divisions.push_back(fmt::format("{} {}", rows, name.empty() ? "of no division" : name));
  std::string text = fmt::format("{} results of the division {}, {} of them valid with a rate; all: {}\n",
                                 report.results, report.division, report.with_rate, join(divisions, ", "));
  text += report.with_power == 0
              ? std::string("no result measured power\n")
              : fmt::format("{} of them, of {} systems, measured power: average watts of the whole system\n",
                            report.with_power, report.systems_with_power);
  for (const std::string& note : report.notes) text += wrapped("note: " + note, kTextWidth, "", "  ") + "\n";
  if (most > 0) {
    for (const TaskTable& table : report.tables) text += table_text(table, most);
  }
  if (report.scores) text += scores_text(*report.scores);
  if (report.kept_apart) text += kept_apart_text(*report.kept_apart);
  if (!report.forecasts.empty()) text += forecasts_text(report.forecasts);
  return text;
}

Json results_report_json(const ResultsReport& report) {
  Json json = {{"schema", "perfcast.bench.results/1"}, {"sources", report.sources}, {"division", report.division}};
  for (const auto& [name, rows] : report.divisions) json["divisions"][name] = rows;
  json["results"] = report.results;
  json["results_with_rate"] = report.with_rate;
  json["results_with_power"] = report.with_power;
  json["systems_with_power"] = report.systems_with_power;
  json["notes"] = report.notes;
  json["tables"] = tables_json(report.tables);
  if (report.scores) {
    json["scores"] = scores_json(*report.scores);
    json["folds"] = report.scores->folds;
    put_known(json, "noise_floor", report.scores->noise_floor);
  }
  if (report.kept_apart) {
    Json& kept_apart = json["kept_apart"] = {{"without", report.kept_apart->without}};
    for (const ResultScore& score : report.kept_apart->scores)
      kept_apart["scores"].push_back(score_json("kept-apart", score));
    for (size_t i = 0; i < report.kept_apart->forecasts.size(); ++i) {
      Json entry = forecast_json(report.kept_apart->forecasts[i]);
      entry["system"] = report.kept_apart->forecasts[i].row.system;
      entry["measured_per_s"] = std::exp(report.kept_apart->rows[i].log_rate);
      kept_apart["results"].push_back(std::move(entry));
    }
  }
  Json& forecasts = json["forecasts"] = Json::array();
  for (const ForecastResult& forecast : report.forecasts) forecasts.push_back(forecast_json(forecast));
  return json;
}

}  // namespace perfcast::ai
