#include "program/evaluate/report/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/json.h"
#include "base/text.h"
#include "program/evaluate/report/evaluation_report.h"
#include "program/evaluate/report/report_figure.h"

namespace perfcast::program {
namespace {

enum class Format { kCount, kThree, kPercent };
enum class Part { kBoth, kValues, kOrder };  // the table that a score stands in

struct ScoreColumn {
  const char* name;  // in perfcast.evaluation/1
  const char* title;
  const char* meaning;
  Format format;
  Part part;
};

// A score that no row has takes no column.
constexpr ScoreColumn kColumns[] = {
    {"n", "n", "entries: one program on one platform", Format::kCount, Part::kBoth},
    {"r2_log", "R2 log", "R2 of log relative times about their mean", Format::kThree, Part::kValues},
    {"r2_log_platform", "R2 by platform", "R2 of log relative times about each platform's mean", Format::kThree,
     Part::kValues},
    {"r2", "R2", "R2 of times relative to the fastest platform, as Nichols et al. have it", Format::kThree,
     Part::kValues},
    {"mse", "MSE", "mean squared error", Format::kThree, Part::kValues},
    {"mae", "MAE", "mean absolute error", Format::kThree, Part::kValues},
    {"mape", "MAPE", "mean absolute error of the forecast ratio", Format::kPercent, Part::kValues},
    {"median_error", "median error", "half of the forecasts are closer", Format::kPercent, Part::kValues},
    {"pair_order", "pairs", "pairs of platforms over 5% apart in the right order", Format::kPercent, Part::kOrder},
    {"sos", "whole order", "samples with all platforms in the right order", Format::kPercent, Part::kOrder},
    {"kendall_tau", "Kendall tau", "rank correlation of the platforms", Format::kThree, Part::kOrder},
    {"best_share", "best", "fastest platform right", Format::kPercent, Part::kOrder},
    {"regret", "regret", "mean of time on the chosen over time on the best platform", Format::kThree, Part::kOrder},
    {"coverage_90", "in 90% interval", "measured values inside their 90% interval", Format::kPercent, Part::kValues},
    {"order_auc", "order AUC", "area under the ROC of whole orders", Format::kThree, Part::kOrder},
    {"order_sensitivity", "order sens.", "sensitivity: majority order found", Format::kPercent, Part::kOrder},
    {"order_specificity", "order spec.", "specificity: other orders found", Format::kPercent, Part::kOrder},
    {"pair_auc", "pair AUC", "area under the ROC of pairs", Format::kThree, Part::kOrder},
    {"pair_sensitivity", "pair sens.", "sensitivity: majority pairs found", Format::kPercent, Part::kOrder},
    {"pair_specificity", "pair spec.", "specificity: pairs against the majority found", Format::kPercent, Part::kOrder},
};

bool is_baseline(const std::string& model) {
  return model == "mean" || model == "majority" || model == "noise-floor" || model == "nearest-platform";
}

const EvaluationRow* row_of(const Evaluation& evaluation, const std::string& model) {
  for (const EvaluationRow& row : evaluation.rows) {
    if (row.model == model && row.group == "all") return &row;
  }
  return nullptr;
}

std::string cell(const Json& scores, const ScoreColumn& column) {
  const auto found = scores.find(column.name);
  if (found == scores.end() || !found->is_number()) return "-";
  if (column.format == Format::kCount) return std::to_string(found->get<int64_t>());
  const double value = found->get<double>();
  return column.format == Format::kPercent ? percent_text(value) : fmt::format("{:.3f}", value);
}

// Where all rows belong to one group, `all` says the same again.
std::vector<std::string> shown_groups(const Evaluation& evaluation) {
  std::vector<std::string> groups = groups_of(evaluation);
  if (groups.size() == 2 && groups.back() == "all") groups.erase(groups.begin());
  return groups;
}

std::vector<ScoreColumn> columns_of(const std::vector<Json>& scores, Part part) {
  std::vector<ScoreColumn> columns;
  for (const ScoreColumn& column : kColumns) {
    if (column.part != part && column.part != Part::kBoth) continue;
    if (std::any_of(scores.begin(), scores.end(), [&](const Json& json) { return json.contains(column.name); })) {
      columns.push_back(column);
    }
  }
  return columns;
}

std::string score_table(const Evaluation& evaluation, const std::vector<Json>& scores,
                        const std::vector<ScoreColumn>& columns, const std::string& caption) {
  std::string html = "<div class=\"wide\"><table>\n<caption>" + caption +
                     "</caption>\n<thead><tr><th class=\"name\">group</th><th class=\"name\">model</th>";
  for (const ScoreColumn& column : columns) {
    std::string title = column.title;
    if (const size_t space = title.rfind(' '); space != std::string::npos) title.replace(space, 1, "<br/>");
    html += fmt::format("<th scope=\"col\" title=\"{}\">{}</th>", escape_html(column.meaning), title);
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::string& group : shown_groups(evaluation)) {
    bool first = true;
    for (size_t i = 0; i < evaluation.rows.size(); ++i) {
      const EvaluationRow& row = evaluation.rows[i];
      if (row.group != group) continue;
      html += fmt::format("<tr class=\"{}{}\"><td class=\"name\">{}</td><td class=\"name\" title=\"{}\">{}</td>",
                          first ? "first " : "", is_baseline(row.model) ? "baseline" : "model", escape_html(row.group),
                          escape_html(row.note), escape_html(row.model));
      for (const ScoreColumn& column : columns) html += "<td>" + cell(scores[i], column) + "</td>";
      html += "</tr>\n";
      first = false;
    }
  }
  return html + "</tbody></table></div>\n";
}

// What its columns mean is a tooltip away, and listed for those who print or can't point.
std::string score_tables(const Evaluation& evaluation) {
  const std::vector<Json> scores = rows_json(score_table(evaluation.rows)).get<std::vector<Json>>();
  std::string html, meanings;
  for (const auto& [part, caption] : {std::pair{Part::kValues, "How close the forecasts are"},
                                      std::pair{Part::kOrder, "How well they order the platforms"}}) {
    const std::vector<ScoreColumn> columns = columns_of(scores, part);
    html += score_table(evaluation, scores, columns, caption);
    for (const ScoreColumn& column : columns) {
      if (column.part != part && part != Part::kValues) continue;
      meanings += fmt::format("<dt>{}</dt><dd>{}</dd>\n", column.title, escape_html(column.meaning));
    }
  }
  return html + "<details><summary>What the columns mean</summary>\n<dl>\n" + meanings + "</dl>\n</details>\n";
}

std::string split_in_words(Split split) {
  switch (split) {
    case Split::kRandom:
      return "rows left out at random: the same program may be on both sides, which flatters";
    case Split::kWorkload:
      return "programs with their input left out";
    case Split::kProgram:
      return "programs left out with all their inputs";
    case Split::kProgramFamily:
      return "families of programs left out whole";
    case Split::kGroup:
      return "groups of programs left out whole: none of their kind is known";
    case Split::kPlatform:
      return "platforms left out: only their facts are known";
    case Split::kCoreDesign:
      return "core designs left out with all their platforms: only their facts are known";
  }
  return "";
}

void describe(std::string& html, const std::string& what, const std::string& text) {
  html += "<dt>" + what + "</dt><dd>" + escape_html(text) + "</dd>\n";
}

std::string header(const Evaluation& evaluation, const ReportOptions& options) {
  std::string html = "<dl>\n";
  describe(html, "corpus", options.corpus);
  describe(html, "split", to_string(evaluation.split) + ": " + split_in_words(evaluation.split));
  describe(html, "folds",
           fmt::format("{}, {}", evaluation.folds,
                       evaluation.seeds == 1 ? "1 seed" : std::to_string(evaluation.seeds) + " seeds"));
  std::set<std::string> programs;
  for (const SeedForecasts::Row& row : evaluation.first_seed.rows) programs.insert(row.program);
  const size_t samples = evaluation.first_seed.rows.size();
  describe(html, "programs",
           fmt::format("{} in {} families{}", programs.size(), evaluation.families,
                       samples == programs.size() ? "" : fmt::format("; {} profiles of them, each a sample", samples)));
  describe(html, "reference", reference_text(evaluation));
  if (!evaluation.measured.empty()) {
    std::vector<std::string> choices;
    choices.reserve(evaluation.measured.size());
    for (const MeasuredPlatform& choice : evaluation.measured) {
      choices.push_back(fmt::format("{} ({:.0f}% of folds)", choice.platform, 100 * choice.folds_share));
    }
    describe(html, "measured on", join(choices, ", ") + "; left out of the scores");
  }
  std::vector<std::string> names;
  names.reserve(evaluation.first_seed.platform_names.size());
  for (const std::string& name : evaluation.first_seed.platform_names) names.push_back(escape_html(name));
  constexpr size_t kFewPlatforms = 8;
  html += "<dt>platforms</dt><dd>";
  html += names.size() <= kFewPlatforms
              ? join(names, ", ")
              : fmt::format("<details><summary>{}</summary>{}</details>", names.size(), join(names, ", "));
  return html + "</dd>\n</dl>\n";
}

// A baseline in brackets, where there is one.
std::string beside(const Evaluation& evaluation, const std::string& model, std::optional<double> Scores::*score,
                   const std::string& name) {
  const EvaluationRow* row = row_of(evaluation, model);
  return row != nullptr && row->scores.*score ? fmt::format("{} {}", name, percent_text(*(row->scores.*score))) : "";
}

std::string in_brackets(const std::vector<std::string>& parts) {
  std::vector<std::string> present;
  for (const std::string& part : parts) {
    if (!part.empty()) present.push_back(part);
  }
  return present.empty() ? "" : " (" + join(present, ", ") + ")";
}

std::string summary(const Evaluation& evaluation) {
  const SeedForecasts::Model* model = shown_model(evaluation);
  const EvaluationRow* row = model == nullptr ? nullptr : row_of(evaluation, model->name);
  if (row == nullptr || !row->scores.mape) return "No entry was both measured and forecast.";
  const Scores& scores = row->scores;
  std::string text = fmt::format(
      "Over {} tested samples and {} platforms, forecasts by {} are off by {} on average and by {} in the median{}.",
      scores.programs, evaluation.platforms.size(), model->name, percent_text(*scores.mape),
      percent_text(scores.median_error.value_or(0)),
      in_brackets({model->name == "mean" ? "" : beside(evaluation, "mean", &Scores::mape, "on average the mean RPV"),
                   beside(evaluation, "noise-floor", &Scores::mape, "the measurements among themselves")}));
  if (scores.pair_order) {
    text += fmt::format(" Of two platforms over 5% apart it names the faster one in {} of cases{}.",
                        percent_text(*scores.pair_order),
                        in_brackets({beside(evaluation, "majority", &Scores::pair_order, "the majority vote"),
                                     beside(evaluation, "noise-floor", &Scores::pair_order, "noise floor")}));
  }
  if (scores.best_share && scores.regret) {
    text += fmt::format(
        " The platform it takes for the fastest is so in {} of cases; going by it costs {} more time than the best "
        "choice.",
        percent_text(*scores.best_share), percent_text(*scores.regret - 1));
  }
  if (scores.coverage_90) {
    text += fmt::format(" Its 90% intervals hold {} of the measured values.", percent_text(*scores.coverage_90));
  }
  if (evaluation.split == Split::kRandom) {
    text +=
        " The split is random, so relatives of the tested rows were in the training rows: expect worse on new "
        "programs.";
  }
  return text;
}

std::string notes(const Evaluation& evaluation) {
  std::string items;
  for (const EvaluationRow& row : evaluation.rows) {
    if (row.group == "all" && !row.note.empty()) items += "<li>" + escape_html(row.model + ": " + row.note) + "</li>\n";
  }
  for (const std::string& note : evaluation.notes) items += "<li>" + escape_html(note) + "</li>\n";
  return items.empty() ? "" : "<ul class=\"notes soft\">\n" + items + "</ul>\n";
}

}  // namespace

std::string html_report(const Evaluation& evaluation, const ReportOptions& options) {
  Page page;
  page.title = "perfcast evaluation of " + options.corpus;
  page.lead = summary(evaluation);
  page.facts_html = header(evaluation, options);
  page.sections = {{"scores", "Scores", score_tables(evaluation) + notes(evaluation)}};
  page.figures = {distribution_figure(evaluation), program_figure(evaluation, options.program),
                  order_share_figure(evaluation),  roc_figure(evaluation),
                  calibration_figure(evaluation),  family_error_figure(evaluation)};
  return html_page(page);
}

}  // namespace perfcast::program
