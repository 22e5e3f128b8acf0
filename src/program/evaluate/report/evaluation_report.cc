#include "program/evaluate/report/evaluation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr size_t kWorstShown = 10;
constexpr double kRarelyChosen = 0.1;

std::string digits(const std::optional<double>& value, int decimals) {
  return value ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

void put(Json& json, const char* name, const std::optional<double>& value) {
  if (value) json[name] = *value;
}

std::string reference_name(const Evaluation& evaluation) {
  return evaluation.reference.empty() ? "geometric mean of the platforms" : evaluation.reference;
}

std::vector<std::string> cells(const EvaluationRow& row, const Scores& s) {
  return {row.group,
          row.model,
          std::to_string(row.scores.n),
          digits(s.r2_log, 3),
          digits(s.r2_log_platform, 3),
          digits(s.r2, 3),
          digits(s.mape, 3),
          digits(s.median_error, 3),
          digits(s.pair_order, 3),
          digits(s.kendall_tau, 3),
          digits(s.sos, 3),
          digits(s.best_share, 3),
          digits(s.regret, 3),
          digits(s.coverage_90, 3)};
}

TextTable table_of_scores() {
  TextTable table;
  table.add_column("group", TextTable::Align::kLeft);
  table.add_column("model", TextTable::Align::kLeft);
  for (const char* title :
       {"n", "R2 log", "by platf.", "R2", "MAPE", "median", "pairs", "tau", "SOS", "best", "regret", "cover 90%"}) {
    table.add_column(title, TextTable::Align::kRight);
  }
  return table;
}

std::string scores_as_table(const Evaluation& evaluation) {
  TextTable table = table_of_scores();
  for (const std::string& group : groups_of(evaluation)) {
    for (const EvaluationRow& row : evaluation.rows) {
      if (row.group == group) table.add_row(cells(row, row.scores));
    }
  }
  return table.to_text();
}

bool has_any(const Scores& scores) {
  return std::ranges::any_of(score_fields(),
                             [&](const ScoreField& field) { return (scores.*field.value).has_value(); });
}

// Of all programs; empty with one seed.
std::string spread_as_table(const Evaluation& evaluation) {
  TextTable table = table_of_scores();
  for (const EvaluationRow& row : evaluation.rows) {
    if (row.group == "all" && has_any(row.spread)) table.add_row(cells(row, row.spread));
  }
  if (table.rows() == 0) return "";
  return fmt::format("\nstandard deviation over the {} seeds\n{}", evaluation.seeds, table.to_text());
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

// Of all programs; empty without comparisons.
std::string comparisons_as_table(const Evaluation& evaluation) {
  TextTable table;
  table.add_column("a", TextTable::Align::kLeft);
  table.add_column("b", TextTable::Align::kLeft);
  table.add_column("score", TextTable::Align::kLeft);
  table.add_column("a - b", TextTable::Align::kRight);
  table.add_column("interval", TextTable::Align::kRight);
  table.add_column(units_of(evaluation.split), TextTable::Align::kRight);
  table.add_column("verdict", TextTable::Align::kLeft);
  for (const PairedComparison& c : evaluation.comparisons) {
    if (c.group != "all") continue;
    table.add_row({c.a, c.b, c.metric == "mae_log" ? "log error" : "pairs", fmt::format("{:+.4f}", c.difference),
                   c.lower ? fmt::format("{:+.4f} .. {:+.4f}", *c.lower, *c.upper) : "-", std::to_string(c.units),
                   verdict(c)});
  }
  if (table.rows() == 0) return "";
  return fmt::format("\npaired differences, a - b, over the same programs; 95% intervals by resampled {}\n{}",
                     units_of(evaluation.split), table.to_text());
}

Json to_json(const PairedComparison& comparison) {
  Json json;
  json["a"] = comparison.a;
  json["b"] = comparison.b;
  json["group"] = comparison.group;
  json["metric"] = comparison.metric;
  json["difference"] = comparison.difference;
  put(json, "lower", comparison.lower);
  put(json, "upper", comparison.upper);
  json["significant"] = comparison.significant;
  json["units"] = comparison.units;
  return json;
}

std::string worst_as_table(const Evaluation& evaluation) {
  TextTable families, programs;
  for (TextTable* table : {&families, &programs}) {
    table->add_column("model", TextTable::Align::kLeft);
    table->add_column(table == &families ? "family" : "program", TextTable::Align::kLeft);
    table->add_column("group", TextTable::Align::kLeft);
    table->add_column("MAPE", TextTable::Align::kRight);
  }
  families.add_column("pairs", TextTable::Align::kRight);
  programs.add_column("worst platform", TextTable::Align::kLeft);
  programs.add_column("measured", TextTable::Align::kRight);
  programs.add_column("predicted", TextTable::Align::kRight);
  std::map<std::string, size_t> shown;
  for (const FamilyRow& row : evaluation.by_family) {
    families.add_row({row.model, row.family, row.group, digits(row.scores.mape, 3), digits(row.scores.pair_order, 3)});
  }
  for (const ProgramRow& row : evaluation.by_program) {
    if (++shown[row.model] > kWorstShown) continue;
    programs.add_row({row.model, row.program, row.group, digits(row.mape, 3), row.worst_platform,
                      digits(row.worst_measured_ratio, 2), digits(row.worst_predicted_ratio, 2)});
  }
  return fmt::format("\nfamilies, worst first\n{}\nprograms, the {} worst of each model (relative times)\n{}",
                     families.to_text(), kWorstShown, programs.to_text());
}

}  // namespace

Json to_json(const Scores& scores) {
  Json json;
  json["n"] = scores.n;
  json["programs"] = scores.programs;
  json["families"] = scores.families;
  for (const ScoreField& field : score_fields()) put(json, field.name, scores.*field.value);
  return json;
}

Json to_json(const OrderScores& order) {
  Json json = Json::object();
  put(json, "order_auc", order.order_auc);
  put(json, "order_sensitivity", order.order_sensitivity);
  put(json, "order_specificity", order.order_specificity);
  put(json, "pair_auc", order.pair_auc);
  put(json, "pair_sensitivity", order.pair_sensitivity);
  put(json, "pair_specificity", order.pair_specificity);
  return json;
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
  Json& models = json["models"] = Json::array();
  for (const EvaluationRow& row : evaluation.rows) {
    Json item;
    item["model"] = row.model;
    item["group"] = row.group;
    item.update(to_json(row.scores));
    if (has_any(row.spread)) {
      Json& spread = item["spread"];
      for (const ScoreField& field : score_fields()) put(spread, field.name, row.spread.*field.value);
    }
    item.update(to_json(row.order));
    if (!row.note.empty()) item["note"] = row.note;
    models.push_back(std::move(item));
  }
  Json& comparisons = json["comparisons"] = Json::array();
  for (const PairedComparison& comparison : evaluation.comparisons) comparisons.push_back(to_json(comparison));
  if (details) {
    Json& families = json["family_scores"] = Json::array();
    for (const FamilyRow& row : evaluation.by_family) {
      Json item;
      item["model"] = row.model;
      item["family"] = row.family;
      item["group"] = row.group;
      item.update(to_json(row.scores));
      families.push_back(std::move(item));
    }
    Json& programs = json["program_errors"] = Json::array();
    for (const ProgramRow& row : evaluation.by_program) {
      Json item;
      item["model"] = row.model;
      item["program"] = row.program;
      item["family"] = row.family;
      item["group"] = row.group;
      item["n"] = row.n;
      item["mape"] = row.mape;
      item["worst_platform"] = row.worst_platform;
      item["worst_measured_ratio"] = row.worst_measured_ratio;
      item["worst_predicted_ratio"] = row.worst_predicted_ratio;
      programs.push_back(std::move(item));
    }
  }
  json["notes"] = evaluation.notes;
  return json;
}

std::string to_text(const Evaluation& evaluation, const std::string& corpus, bool details) {
  std::string text = fmt::format("corpus {}: {} programs in {} families, {} platforms\n", corpus, evaluation.programs,
                                 evaluation.families, evaluation.platforms.size());
  text += fmt::format("split {}: {} folds, {} {}; reference: {}\n", to_string(evaluation.split), evaluation.folds,
                      evaluation.seeds, evaluation.seeds == 1 ? "seed" : "seeds", reference_name(evaluation));
  if (!evaluation.measured.empty()) {
    std::vector<std::string> choices;
    for (const MeasuredPlatform& choice : evaluation.measured) {
      if (choice.folds_share < kRarelyChosen) continue;
      choices.push_back(fmt::format("{} ({:.0f}% of folds)", choice.platform, 100 * choice.folds_share));
    }
    text += "measured on, so left out of the scores: " + join(choices, ", ") + "\n";
  }
  text += "\n" + scores_as_table(evaluation) + spread_as_table(evaluation) + comparisons_as_table(evaluation);
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
