#include "ai/results/results_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/train_time/train_report.h"
#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kTextWidth = 120;

std::string rate_text(double rate_per_s) { return std::isfinite(rate_per_s) ? human_number(rate_per_s) : "-"; }

// What the scenario is judged by, of a rate of the whole system.
std::string metric_text(const std::string& scenario, double rate_per_s) {
  if (scenario == "SingleStream") return human_seconds(1 / rate_per_s) + " (p90)";
  if (scenario == "MultiStream") return human_seconds(kMultiStreamSamples / rate_per_s) + " (p99 of 8)";
  if (scenario == kTrainingScenario) return training_time_text(1 / rate_per_s);
  return human_number(rate_per_s) + "/s";
}

// All columns, in the order of JSON.
ReportTable entries_table(const TaskTable& table) {
  using enum Quantity;
  using Entry = TaskEntry;
  constexpr double kDay_s = 86400;
  const bool training = table.scenario == kTrainingScenario;
  const bool latency = !scales_with_accelerators(table.scenario);
  const auto best = [=](const Entry& entry) {
    return training  ? training_time_text(entry.best_training_s)
           : latency ? human_seconds(entry.best_latency_s)
                     : rate_text(entry.best_per_accelerator);
  };
  const auto median = [=](const Entry& entry) {
    return rate_text(training ? kDay_s * entry.best_per_accelerator : entry.median_per_accelerator);
  };
  ReportTable result = table_of<Entry>(
      "", table.entries,
      {{"model", "", kText, [&](const Entry&) { return table.model; }},
       {"scenario", "", kText, [&](const Entry&) { return table.scenario; }},
       {"accelerator", "accelerator", kText, &Entry::accelerator},
       {"results", "results", kCount, &Entry::results},
       {"systems", "systems", kCount, &Entry::systems},
       {"best_per_accelerator_per_s",
        training  ? "best"
        : latency ? "best latency"
                  : "best, samples/s each",
        kHuman, &Entry::best_per_accelerator, best},
       {"median_per_accelerator_per_s", training ? "best, trainings/day each" : "median, samples/s each", kHuman,
        &Entry::median_per_accelerator, median},
       {"best_latency_s", "", kSeconds, &Entry::best_latency_s},
       {"best_training_s", "", kSeconds, &Entry::best_training_s},
       {"best_accelerators", "accelerators", kCount, &Entry::best_count},
       {"best_version", "version", kText, &Entry::best_version},
       {"best_platform", "", kText, &Entry::best_platform},
       {"results_with_power", "with power", kCount, &Entry::with_power},
       {"best_samples_per_joule", "samples/J", kHuman, &Entry::best_samples_per_j,
        [](const Entry& entry) { return rate_text(entry.best_samples_per_j); }}});
  result.shows_unknown = true;
  return result;
}

std::string table_text(const TaskTable& table, size_t most) {
  TaskTable shown = table;
  shown.entries.resize(std::min(most, table.entries.size()));
  std::string text = fmt::format("\n{}, {}\n{}", table.model, table.scenario, rows_text(entries_table(shown)));
  if (table.entries.size() > most) text += fmt::format("  and {} more (--most)\n", table.entries.size() - most);
  return text;
}

struct ScoreRow {
  std::string split;
  const ResultScore* score;
};

// All columns, in the order of JSON. People read the split's name in the place of the scenario where it is the same.
ReportTable scores_table(const char* first, const char* second, const std::vector<ScoreRow>& rows) {
  using enum Quantity;
  const auto of = [](auto ResultScore::*member) {
    return [member](const ScoreRow& row) { return ReportValue(row.score->*member); };
  };
  ReportTable table = table_of<ScoreRow>(
      "", rows,
      {{"split", first, kText, &ScoreRow::split},
       {"scenario", second, kText, of(&ResultScore::scenario),
        [](const ScoreRow& row) { return row.score->scenario == row.split ? "" : row.score->scenario; }},
       {"results", "results", kCount, of(&ResultScore::rows)},
       {"groups", "groups", kCount, of(&ResultScore::groups)},
       {"median_error", "median error", kShare, of(&ResultScore::median_error), 1},
       {"mean_error", "", kShare, of(&ResultScore::mean_error), 1},
       {"coverage_90", "90% holds", kShare, of(&ResultScore::coverage_90), 1},
       {"interval_ratio", "interval", kNumber, of(&ResultScore::interval_ratio),
        [](const ScoreRow& row) { return fmt::format("x/{:.2f}", std::sqrt(row.score->interval_ratio)); }},
       {"baseline_results", "with a peak", kCount, of(&ResultScore::baseline_rows)},
       {"median_error_where_baseline", "median", kShare, of(&ResultScore::median_error_there), 1},
       {"mean_error_where_baseline", "mean", kShare, of(&ResultScore::mean_error_there), 1},
       {"baseline_median_error", "by peak: median", kShare, of(&ResultScore::baseline_median_error), 1},
       {"baseline_mean_error", "mean", kShare, of(&ResultScore::baseline_mean_error), 1},
       {"", "ratio of medians", kNumber, [](const ScoreRow& row) {
          const ResultScore& score = *row.score;
          return score.baseline_rows == 0 ? ReportValue()
                                          : ReportValue(score.median_error_there / score.baseline_median_error);
        }}});
  table.shows_unknown = true;
  return table;
}

std::vector<ScoreRow> score_rows(const ResultScores& scores) {
  std::vector<ScoreRow> rows;
  for (const SplitScores& split : scores.splits) {
    for (const ResultScore& score : split.scores) rows.push_back({name_of(split.split), &score});
  }
  return rows;
}

std::string baseline_words() {
  return "with a peak: results that scaling by peak has a forecast of, too, with both errors; by peak: the median rate "
         "per peak FLOP/s of the others on the same model and scenario, times the peak of all accelerators";
}

std::string scores_text(const ResultScores& scores) {
  std::string text = "\nforecasts of results that were left out\n" +
                     rows_text(scores_table("left out", "scenario", score_rows(scores)));
  text += wrapped(
              "system: all results of a submitter's systems with so many of an accelerator, of every version; "
              "accelerator: all systems with it; generation: all accelerators of its generation. " +
                  baseline_words(),
              kTextWidth) +
          "\n";
  text += fmt::format(
      "noise floor: two submitters with as many of the same accelerator, on the same model, scenario "
      "and version, differ by {} ({} results)\n",
      percent(scores.noise_floor), scores.noise_rows);
  return text;
}

std::string kept_apart_text(const KeptApart& kept_apart) {
  std::vector<ScoreRow> rows;
  for (const ResultScore& score : kept_apart.scores) rows.push_back({score.scenario, &score});
  std::string text = "\nforecasts of results that were kept apart\n" + rows_text(scores_table("kept apart", " ", rows));
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
    for (Json& entry : rows_json(entries_table(table))) entries.push_back(std::move(entry));
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
    json["scores"] = rows_json(scores_table("", "", score_rows(*report.scores)));
    json["folds"] = report.scores->folds;
    put_known(json, "noise_floor", report.scores->noise_floor);
  }
  if (report.kept_apart) {
    Json& kept_apart = json["kept_apart"] = {{"without", report.kept_apart->without}};
    std::vector<ScoreRow> rows;
    for (const ResultScore& score : report.kept_apart->scores) rows.push_back({"kept-apart", &score});
    if (!rows.empty()) kept_apart["scores"] = rows_json(scores_table("", "", rows));
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
