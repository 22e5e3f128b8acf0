#include "program/evaluate/report/evaluation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr size_t kWorstShown = 10;
constexpr double kRarelyChosen = 0.1;

using Q = Quantity;

// In the order of the table for people; pages and JSON have more.
constexpr std::pair<const char*, const char*> kScoreTitles[] = {{"r2_log", "R2 log"},
                                                                {"r2_log_platform", "by platf."},
                                                                {"r2", "R2"},
                                                                {"mape", "MAPE"},
                                                                {"median_error", "median"},
                                                                {"pair_order", "pairs"},
                                                                {"kendall_tau", "tau"},
                                                                {"sos", "SOS"},
                                                                {"best_share", "best"},
                                                                {"regret", "regret"},
                                                                {"coverage_90", "cover 90%"},
                                                                {"interval_90_factor", "width"}};

template <typename Row>
void add_scores(std::vector<ColumnOf<Row>>& columns, const std::string& prefix, Scores Row::*scores) {
  for (const ScoreField& field : score_fields()) {
    const auto* titled = std::ranges::find_if(
        kScoreTitles, [&](const auto& each) { return each.first == std::string_view(field.name); });
    columns.emplace_back(
        prefix + field.name, titled == std::end(kScoreTitles) ? "" : titled->second, Q::kNumber,
        [scores, value = field.value](const Row& row) { return row.*scores.*value; }, 3);
  }
}

template <typename Row>
void add_counts(std::vector<ColumnOf<Row>>& columns) {
  columns.insert(columns.end(), {{"n", "n", Q::kCount, [](const Row& row) { return row.scores.n; }},
                                 {"programs", "", Q::kCount, [](const Row& row) { return row.scores.programs; }},
                                 {"families", "", Q::kCount, [](const Row& row) { return row.scores.families; }}});
}

ReportTable family_table(const Evaluation& evaluation) {
  using Row = FamilyRow;
  std::vector<ColumnOf<Row>> columns = {{"model", "model", Q::kText, &Row::model},
                                        {"family", "family", Q::kText, &Row::family},
                                        {"group", "group", Q::kText, &Row::group}};
  add_counts(columns);
  add_scores(columns, "", &Row::scores);
  return table_of<Row>("", evaluation.by_family, columns);
}

ReportTable program_table(const std::vector<ProgramRow>& rows) {
  using Row = ProgramRow;
  return table_of<Row>("", rows,
                       {{"model", "model", Q::kText, &Row::model},
                        {"program", "program", Q::kText, &Row::program},
                        {"family", "", Q::kText, &Row::family},
                        {"group", "group", Q::kText, &Row::group},
                        {"n", "", Q::kCount, &Row::n},
                        {"mape", "MAPE", Q::kNumber, &Row::mape, 3},
                        {"worst_platform", "worst platform", Q::kText, &Row::worst_platform},
                        {"worst_measured_ratio", "measured", Q::kNumber, &Row::worst_measured_ratio},
                        {"worst_predicted_ratio", "predicted", Q::kNumber, &Row::worst_predicted_ratio}});
}

std::string reference_name(const Evaluation& evaluation) {
  return evaluation.reference.empty() ? "geometric mean of the platforms" : evaluation.reference;
}

bool has_any(const Scores& scores) {
  return std::ranges::any_of(score_fields(),
                             [&](const ScoreField& field) { return (scores.*field.value).has_value(); });
}

// With `prefix` "spread." the standard deviations.
std::string scores_as_table(const std::vector<EvaluationRow>& rows, const std::string& prefix = "") {
  std::vector<std::string> scores;
  for (const auto& [name, title] : kScoreTitles) scores.push_back(prefix + name);
  std::vector<std::string_view> names = {"group", "model", "n"};
  names.insert(names.end(), scores.begin(), scores.end());
  ReportTable table = picked(score_table(rows), names);
  table.shows_unknown = true;
  return rows_text(table);
}

// Of all programs; empty with one seed.
std::string spread_as_table(const Evaluation& evaluation) {
  std::vector<EvaluationRow> rows = evaluation.rows;
  std::erase_if(rows, [](const EvaluationRow& row) { return row.group != "all" || !has_any(row.spread); });
  if (rows.empty()) return "";
  return fmt::format("\nstandard deviation over the {} seeds\n{}", evaluation.seeds, scores_as_table(rows, "spread."));
}

const char* units_of(Split split) {
  switch (split) {
    case Split::kRandom:
      return "rows";
    case Split::kWorkload:
      return "workloads";
    case Split::kProgram:
      return "programs";
    case Split::kProgramFamily:
      return "families";
    case Split::kGroup:
      return "groups";
    case Split::kPlatform:
      return "platforms";
    case Split::kCoreDesign:
      return "core designs";
  }
  return "units";
}

std::string verdict(const PairedComparison& comparison) {
  if (!comparison.lower) return "too few to tell";
  if (!comparison.significant) return "no clear difference";
  const bool a_is_better = (comparison.difference < 0) == (comparison.metric == "mae_log");
  return (a_is_better ? comparison.a : comparison.b) + " is better";
}

ReportTable comparison_table(Split split, const std::vector<PairedComparison>& comparisons) {
  using Row = PairedComparison;
  return table_of<Row>(
      "", comparisons,
      {{"a", "a", Q::kText, &Row::a},
       {"b", "b", Q::kText, &Row::b},
       {"group", "", Q::kText, &Row::group},
       {"metric", "score", Q::kText, &Row::metric,
        [](const Row& row) { return std::string(row.metric == "mae_log" ? "log error" : "pairs"); }},
       {"difference", "a - b", Q::kNumber, &Row::difference,
        [](const Row& row) { return fmt::format("{:+.4f}", row.difference); }},
       {"", "interval", Q::kNumber,
        [](const Row& row) { return row.lower ? fmt::format("{:+.4f} .. {:+.4f}", *row.lower, *row.upper) : "-"; }},
       {"lower", "", Q::kNumber, &Row::lower},
       {"upper", "", Q::kNumber, &Row::upper},
       {"significant", "", Q::kYes, &Row::significant},
       {"units", units_of(split), Q::kCount, &Row::units},
       {"", "verdict", Q::kText, verdict}});
}

// Of all programs; empty without comparisons.
std::string comparisons_as_table(const Evaluation& evaluation) {
  std::vector<PairedComparison> rows = evaluation.comparisons;
  std::erase_if(rows, [](const PairedComparison& row) { return row.group != "all"; });
  if (rows.empty()) return "";
  return fmt::format("\npaired differences, a - b, over the same programs; 95% intervals by resampled {}\n{}",
                     units_of(evaluation.split), rows_text(comparison_table(evaluation.split, rows)));
}

std::string worst_as_table(const Evaluation& evaluation) {
  std::map<std::string, size_t> shown;
  std::vector<ProgramRow> programs = evaluation.by_program;
  std::erase_if(programs, [&](const ProgramRow& row) { return ++shown[row.model] > kWorstShown; });
  return fmt::format("\nfamilies, worst first\n{}\nprograms, the {} worst of each model (relative times)\n{}",
                     rows_text(picked(family_table(evaluation), {"model", "family", "group", "mape", "pair_order"})),
                     kWorstShown, rows_text(program_table(programs)));
}

}  // namespace

ReportTable score_table(const std::vector<EvaluationRow>& rows) {
  using Row = EvaluationRow;
  std::vector<ColumnOf<Row>> columns = {{"model", "model", Q::kText, &Row::model},
                                        {"group", "group", Q::kText, &Row::group}};
  add_counts(columns);
  add_scores(columns, "", &Row::scores);
  add_scores(columns, "spread.", &Row::spread);
  for (const auto& [name, value] : {std::pair{"order_auc", &OrderScores::order_auc},
                                    {"order_sensitivity", &OrderScores::order_sensitivity},
                                    {"order_specificity", &OrderScores::order_specificity},
                                    {"pair_auc", &OrderScores::pair_auc},
                                    {"pair_sensitivity", &OrderScores::pair_sensitivity},
                                    {"pair_specificity", &OrderScores::pair_specificity}}) {
    columns.emplace_back(name, "", Q::kNumber, [value = value](const Row& row) { return row.order.*value; });
  }
  columns.emplace_back("note", "", Q::kText, [](const Row& row) { return unless_empty(row.note); });
  return table_of<Row>("", rows, columns);
}

Json to_json(const Evaluation& evaluation, const std::string& corpus, bool details) {
  Json json;
  json["schema"] = kEvaluationSchema;
  json["corpus"] = corpus;
  json["split"] = to_string(evaluation.split);
  json["folds"] = evaluation.folds;
  json["seeds"] = evaluation.seeds;
  json["programs"] = evaluation.programs;
  json["families"] = evaluation.families;
  json["platforms"] = evaluation.platforms;
  json["reference"] = evaluation.reference.empty() ? "mean" : evaluation.reference;
  if (!evaluation.measured.empty()) {
    Json measured = Json::array();
    for (const MeasuredPlatform& choice : evaluation.measured) {
      measured.push_back({{"platform", choice.platform}, {"folds_share", choice.folds_share}});
    }
    json["measured"] = std::move(measured);
  }
  json["models"] = rows_json(score_table(evaluation.rows));
  json["comparisons"] = rows_json(comparison_table(evaluation.split, evaluation.comparisons));
  if (details) {
    json["family_scores"] = rows_json(family_table(evaluation));
    json["program_errors"] = rows_json(program_table(evaluation.by_program));
  }
  json["notes"] = evaluation.notes;
  return json;
}

namespace {

const EvaluationRow* row_named(const Evaluation& evaluation, std::string_view model) {
  const auto found = std::ranges::find_if(
      evaluation.rows, [&](const EvaluationRow& row) { return row.group == "all" && row.model == model; });
  return found == evaluation.rows.end() || !found->scores.mape ? nullptr : &*found;
}

// Rows that need no fit, or that know what no model can.
constexpr std::string_view kNoModels[] = {"mean", "majority", "nearest-platform", "noise-floor", "own-times"};

// The best model's error beside what needs no model and what no model can beat. Empty without a model.
std::string answer_text(const Evaluation& evaluation) {
  const EvaluationRow* best = nullptr;
  for (const EvaluationRow& row : evaluation.rows) {
    const bool is_model = std::ranges::find(kNoModels, row.model) == std::end(kNoModels);
    if (row.group != "all" || !is_model || !row.scores.mape) continue;
    if (best == nullptr || *row.scores.mape < *best->scores.mape) best = &row;
  }
  if (best == nullptr) return "";
  const auto in_percent = [](double ratio) { return fmt::format("{:.1f}%", 100 * ratio); };
  std::string text = fmt::format("{}: error {}", best->model, in_percent(*best->scores.mape));
  const EvaluationRow* const mean = row_named(evaluation, "mean");
  if (mean != nullptr)
    text += fmt::format("; error of the mean over programs, which needs no model: {}", in_percent(*mean->scores.mape));
  if (const EvaluationRow* const floor = row_named(evaluation, "noise-floor"); floor != nullptr) {
    text += fmt::format("; difference between repeated measurements: {}", in_percent(*floor->scores.mape));
  }
  text += "\n";
  if (best->scores.coverage_90 && best->scores.interval_90_factor) {
    text += fmt::format(
        "90% intervals: typically forecast / {0:.2f} to forecast x {0:.2f}; {1:.0f}% of the measured times lie in "
        "them\n",
        *best->scores.interval_90_factor, 100 * *best->scores.coverage_90);
  }
  if (mean == nullptr) return text;
  for (const PairedComparison& comparison : evaluation.comparisons) {
    const bool is_theirs = (comparison.a == best->model && comparison.b == "mean") ||
                           (comparison.b == best->model && comparison.a == "mean");
    if (comparison.group != "all" || comparison.metric != "mae_log" || !is_theirs) continue;
    const std::string said = verdict(comparison);
    text += fmt::format(
        "{} against the mean: {}\n", best->model,
        said == "no clear difference" ? fmt::format("{}: more {} would tell", said, units_of(evaluation.split)) : said);
  }
  return text;
}

}  // namespace

std::string to_text(const Evaluation& evaluation, const std::string& corpus, bool details) {
  std::string text = answer_text(evaluation);
  text += fmt::format("corpus {}: {} programs in {} families, {} platforms\n", corpus, evaluation.programs,
                      evaluation.families, evaluation.platforms.size());
  text += fmt::format("split {}: {} folds, {} {}; reference: {}\n", to_string(evaluation.split), evaluation.folds,
                      evaluation.seeds, evaluation.seeds == 1 ? "seed" : "seeds", reference_name(evaluation));
  if (!evaluation.measured.empty()) {
    std::vector<std::string> choices;
    for (const MeasuredPlatform& choice : evaluation.measured) {
      if (choice.folds_share < kRarelyChosen) continue;
      choices.push_back(fmt::format("{} ({:.0f}% of folds)", choice.platform, 100 * choice.folds_share));
    }
    text += "told to the model, so left out of the scores: times on " + join(choices, ", ") + "\n";
  }
  std::vector<EvaluationRow> by_group;
  for (const std::string& group : groups_of(evaluation)) {
    std::ranges::copy_if(evaluation.rows, std::back_inserter(by_group),
                         [&](const EvaluationRow& row) { return row.group == group; });
  }
  text += "\n" + scores_as_table(by_group) + spread_as_table(evaluation) + comparisons_as_table(evaluation);
  for (const EvaluationRow& row : evaluation.rows) {
    if (row.group != "all" || !row.scores.coverage_90 || row.model == "mean") continue;
    text +=
        fmt::format("\n{}: 90% intervals cover {:.3f} of {} entries; 95% interval over {} families {:.3f} .. {:.3f}",
                    row.model, *row.scores.coverage_90, row.scores.n, row.scores.families,
                    *row.scores.coverage_90_lower, *row.scores.coverage_90_upper);
  }
  text += "\n";
  for (const EvaluationRow& row : evaluation.rows) {
    if (row.group == "all" && !row.note.empty()) text += "  " + row.model + ": " + row.note + "\n";
  }
  for (const std::string& note : evaluation.notes) text += "note: " + note + "\n";
  if (details) text += worst_as_table(evaluation);
  return text;
}

}  // namespace perfcast::program
