#include "program/map/subset_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "program/corpus/splits.h"
#include "program/evaluate/noise_floor.h"
#include "program/map/program_space.h"
#include "program/map/subset_choice.h"
#include "program/map/subset_forecasts.h"
#include "program/model/predictor.h"

namespace perfcast::program {
namespace {

struct SubsetTrial {
  std::string programs;
  std::vector<std::vector<size_t>> rows;  // by fold
  std::string model;
};

std::vector<std::vector<size_t>> all_rows(const std::vector<Fold>& folds) {
  std::vector<std::vector<size_t>> rows;
  rows.reserve(folds.size());
  for (const Fold& fold : folds) rows.push_back(fold.train_programs);
  return rows;
}

// Of the training rows of each fold, by their profiles, and by where they were timed.
std::vector<std::vector<size_t>> chosen_rows(const TrainingTable& table, const std::vector<Fold>& folds,
                                             SubsetRule rule, double keep_ratio, uint64_t seed) {
  std::vector<std::vector<size_t>> chosen;
  for (const Fold& fold : folds) {
    const TrainingTable training = table.with_programs(fold.train_programs);
    const ProgramSpace space = make_program_space(training.programs, profiles_of(training), training.inputs);
    const SubsetRanking ranking = rank_programs(space, rule, seed, timed_entries(training));
    const auto count = static_cast<size_t>(kept_count(keep_ratio, static_cast<int64_t>(ranking.order.size())));
    std::vector<size_t>& rows = chosen.emplace_back();
    for (size_t i = 0; i < count; ++i) rows.push_back(fold.train_programs[static_cast<size_t>(ranking.order[i])]);
    std::sort(rows.begin(), rows.end());  // models may depend on the order of rows: not on that of the choice
  }
  return chosen;
}

std::optional<double> ratio_of(const std::optional<double>& part, const std::optional<double>& whole) {
  if (!part || !whole || !(*whole > 0)) return std::nullopt;
  return *part / *whole;
}

std::vector<SubsetScore> score_trials(const TrainingTable& table, const std::vector<SubsetTrial>& trials,
                                      const std::vector<Eigen::MatrixXd>& forecasts) {
  Eigen::MatrixXd truth = log_times(table);
  // A choice may have no time on some platform: then no row is scored there.
  for (const Eigen::MatrixXd& forecast : forecasts) truth = forecast.array().isNaN().select(kUnknown, truth.array());
  std::vector<std::string> families;
  for (const Program& program : table.programs) families.push_back(program.family);
  std::vector<SubsetScore> rows;
  for (size_t i = 0; i < trials.size(); ++i) {
    ScoreInput input{truth, forecasts[i], {}, {}, families, {}};
    relative_to(-1, input);
    SubsetScore row;
    row.programs = trials[i].programs;
    row.scores = score(input);
    const std::optional<double>& baseline = i == 0 ? row.scores.mae_log : rows.front().scores.mae_log;
    if (row.scores.mae_log && baseline && *baseline > 0) row.accuracy = 1 - *row.scores.mae_log / *baseline;
    rows.push_back(std::move(row));
  }
  return rows;
}

// Rows of one rule become one: the mean over its draws.
std::vector<SubsetScore> pooled(const std::vector<SubsetScore>& rows) {
  std::vector<SubsetScore> result;
  for (size_t first = 0; first < rows.size();) {
    size_t end = first;
    std::vector<Scores> scores;
    std::vector<double> accuracies, kept;
    for (; end < rows.size() && rows[end].programs == rows[first].programs; ++end) {
      scores.push_back(rows[end].scores);
      if (rows[end].accuracy) accuracies.push_back(*rows[end].accuracy);
      if (rows[end].kept_accuracy) kept.push_back(*rows[end].kept_accuracy);
    }
    SubsetScore row = rows[first];
    if (end - first > 1) {
      row.draws = static_cast<int64_t>(end - first);
      row.scores = average(scores);
      row.accuracy = if_known(mean(accuracies));
      row.kept_accuracy = if_known(mean(kept));
      if (!kept.empty()) {
        row.least_kept_accuracy = *std::min_element(kept.begin(), kept.end());
        row.most_kept_accuracy = *std::max_element(kept.begin(), kept.end());
      }
    }
    result.push_back(std::move(row));
    first = end;
  }
  return result;
}

std::string cell(const std::optional<double>& value, int decimals = 3) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

}  // namespace

int64_t kept_count(double keep_ratio, int64_t programs) {
  const auto count = static_cast<int64_t>(std::ceil(keep_ratio * static_cast<double>(programs) - 1e-9));
  return std::clamp<int64_t>(count, 1, std::max<int64_t>(programs, 1));
}

Result<SubsetEvaluation> evaluate_subsets(const TrainingTable& table, const SubsetEvaluationOptions& options) {
  if (auto known = make_predictor(options.model); !known) return known.error();
  std::set<std::string> families;
  for (const Program& program : table.programs) families.insert(program.family);
  if (families.size() < 3 || table.platforms.size() < 2) {
    return Error{
        "empty-corpus",
        fmt::format("{} program families on {} platforms: too few to leave one out and choose among the others",
                    families.size(), table.platforms.size()),
        "", "three families and two platforms or more"};
  }
  const std::vector<Fold> folds = make_folds(table, Split::kProgramFamily, options.folds, options.seed);

  std::vector<SubsetTrial> trials = {{"mean", all_rows(folds), "mean"}, {"all", all_rows(folds), options.model}};
  for (const SubsetRule rule :
       {SubsetRule::kVariance, SubsetRule::kRepresentative, SubsetRule::kFamilies, SubsetRule::kRandom}) {
    const bool draws = rule == SubsetRule::kFamilies || rule == SubsetRule::kRandom;
    for (int64_t draw = 0; draw < (draws ? options.draws : 1); ++draw) {
      if (options.progress) options.progress("choosing subsets: " + to_string(rule));
      trials.push_back({to_string(rule),
                        chosen_rows(table, folds, rule, options.keep_ratio, options.seed + static_cast<uint64_t>(draw)),
                        options.model});
    }
  }
  std::vector<RowChoice> choices;
  std::vector<SubsetFitOptions> fits;
  for (const SubsetTrial& trial : trials) {
    choices.emplace_back([&trial](size_t fold) { return trial.rows[fold]; });
    fits.push_back({trial.model, options.seed, options.inner_folds});
  }
  const auto forecasts = forecast_left_out(table, folds, choices, fits, options.threads, options.progress);
  if (!forecasts) return forecasts.error();

  std::vector<SubsetScore> rows = score_trials(table, trials, *forecasts);
  const SubsetScore all = rows[1];
  for (SubsetScore& row : rows) {
    if (row.programs != "mean") row.kept_accuracy = ratio_of(row.accuracy, all.accuracy);
  }
  SubsetEvaluation evaluation;
  evaluation.model = options.model;
  evaluation.keep_ratio = options.keep_ratio;
  evaluation.programs = static_cast<int64_t>(table.programs.size());
  evaluation.families = static_cast<int64_t>(families.size());
  evaluation.platforms = static_cast<int64_t>(table.platforms.size());
  evaluation.folds = static_cast<int64_t>(folds.size());
  for (const Fold& fold : folds) {
    const auto trained = static_cast<int64_t>(fold.train_programs.size());
    evaluation.trained += static_cast<double>(trained) / static_cast<double>(folds.size());
    evaluation.kept += static_cast<double>(kept_count(options.keep_ratio, trained)) / static_cast<double>(folds.size());
  }
  evaluation.rows = pooled(rows);
  for (SubsetScore& row : evaluation.rows) {
    if (row.programs == "mean") continue;  // a part of nothing
    row.kept_r2_log = ratio_of(row.scores.r2_log, all.scores.r2_log);
    row.kept_r2_log_platform = ratio_of(row.scores.r2_log_platform, all.scores.r2_log_platform);
  }
  return evaluation;
}

std::string to_text(const SubsetEvaluation& evaluation) {
  std::string text = fmt::format(
      "{} programs of {} families on {} platforms, model {}; families left out in {} folds, {:.0f} programs to train "
      "on, "
      "of which {:.0f} are kept; {} entries are scored\n\n",
      evaluation.programs, evaluation.families, evaluation.platforms, evaluation.model, evaluation.folds,
      evaluation.trained, evaluation.kept, evaluation.rows.front().scores.n);
  TextTable table;
  table.add_column("programs kept", TextTable::Align::kLeft);
  for (const char* title : {"draws", "MAE log", "R2 log", "R2 by platform", "accuracy", "kept", "least .. most",
                            "kept R2 log", "kept R2 by platform"}) {
    table.add_column(title, TextTable::Align::kRight);
  }
  for (const SubsetScore& row : evaluation.rows) {
    const bool is_mean = row.programs == "mean";
    table.add_row({is_mean ? "mean of all" : row.programs, std::to_string(row.draws), cell(row.scores.mae_log, 4),
                   cell(row.scores.r2_log), cell(row.scores.r2_log_platform), cell(row.accuracy),
                   cell(row.kept_accuracy),
                   row.least_kept_accuracy ? cell(row.least_kept_accuracy) + " .. " + cell(row.most_kept_accuracy) : "",
                   cell(row.kept_r2_log), cell(row.kept_r2_log_platform)});
  }
  return text + table.to_text() +
         "\naccuracy: the share of the mean RPV's mean absolute error (log) that the model takes away; kept: that over "
         "the one with all programs\n";
}

Json to_json(const SubsetEvaluation& evaluation) {
  Json json{{"schema", "perfcast.subset-evaluation/1"}, {"model", evaluation.model},
            {"keep_ratio", evaluation.keep_ratio},      {"programs_count", evaluation.programs},
            {"families_count", evaluation.families},    {"platforms_count", evaluation.platforms},
            {"folds_count", evaluation.folds},          {"mean_trained_count", evaluation.trained},
            {"mean_kept_count", evaluation.kept},       {"rows", Json::array()}};
  for (const SubsetScore& row : evaluation.rows) {
    Json entry{{"programs", row.programs}, {"draws_count", row.draws}, {"n", row.scores.n}};
    const auto put = [&entry](const char* name, const std::optional<double>& value) {
      if (value) entry[name] = *value;
    };
    put("mae_log", row.scores.mae_log);
    put("r2_log", row.scores.r2_log);
    put("r2_log_platform", row.scores.r2_log_platform);
    put("pair_order", row.scores.pair_order);
    put("accuracy_ratio", row.accuracy);
    put("kept_accuracy_ratio", row.kept_accuracy);
    put("least_kept_accuracy_ratio", row.least_kept_accuracy);
    put("most_kept_accuracy_ratio", row.most_kept_accuracy);
    put("kept_r2_log_ratio", row.kept_r2_log);
    put("kept_r2_log_platform_ratio", row.kept_r2_log_platform);
    json["rows"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace perfcast::program
