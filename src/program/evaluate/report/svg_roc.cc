// Figure 5 of the paper: ROC of "right order is the majority order", whole and by pairs.

#include <fmt/format.h>

#include <algorithm>

#include "base/figure/svg_axes.h"
#include "program/evaluate/order_roc.h"
#include "program/evaluate/report/report_figure.h"

namespace perfcast::program {
namespace {

constexpr double kTop = 40, kSide = 380, kLegendLine = 19;
constexpr double kRateStep = 0.004;  // of a rate: 1.5 pixels

struct ModelRoc {
  std::string model;
  size_t series;
  Roc roc;
};

std::vector<ModelRoc> rocs_of(const Evaluation& evaluation,
                              std::vector<RocSample> (*samples)(const ScoreInput&, const MajorityVotes&)) {
  std::vector<ModelRoc> rocs;
  for (size_t m = 0; m < evaluation.first_seed.models.size(); ++m) {
    const SeedForecasts::Model& model = evaluation.first_seed.models[m];
    ModelRoc item{model.name, m, roc_of(samples(model.entries, evaluation.first_seed.votes))};
    if (item.roc.auc) rocs.push_back(std::move(item));
  }
  return rocs;
}

// `legend_left`, `legend_top`: of the curves' list.
void draw_panel(SvgCanvas& canvas, double left, const std::string& title, const std::vector<ModelRoc>& rocs,
                double legend_left, double legend_top) {
  const double bottom = kTop + kSide, right = left + kSide;
  const Scale x = Scale::linear(0, 1, left, right), y = Scale::linear(0, 1, bottom, kTop);
  canvas.text(left, kTop - 14,
              fmt::format("{} ({} in the majority order, {} not)", title, rocs.front().roc.positives,
                          rocs.front().roc.negatives),
              "panel");
  draw_x_axis(canvas, x, kTop, bottom, "false positives / others", whole_percent_text);
  draw_y_axis(canvas, y, left, right, "true positives / those in the majority order", whole_percent_text);
  canvas.line(left, bottom, right, kTop, "rule");
  std::vector<LegendEntry> legend;
  for (const ModelRoc& item : rocs) {
    const std::string look = series_class(item.series);
    const std::vector<RocPoint> curve = thinned(item.roc.curve, kRateStep);
    std::vector<std::pair<double, double>> points;
    points.reserve(curve.size());
    for (const RocPoint& point : curve) {
      points.emplace_back(x.at(point.false_positive_rate), y.at(point.true_positive_rate));
    }
    canvas.polyline(points, look + " stroke curve");
    const std::string text = fmt::format("{}: AUC {:.3f}, sensitivity {}, specificity {}", item.model, *item.roc.auc,
                                         percent_text(*item.roc.sensitivity), percent_text(*item.roc.specificity));
    canvas.marker(series_marker(item.series), x.at(1 - *item.roc.specificity), y.at(*item.roc.sensitivity), 5,
                  look + " hollow", text);
    legend.push_back({LegendEntry::Kind::kMarker, series_marker(item.series), look + " hollow", text});
  }
  for (size_t i = 0; i < legend.size(); ++i) {
    const double at = legend_top + kLegendLine * static_cast<double>(i);
    canvas.line(legend_left - 3, at, legend_left + 27, at, series_class(rocs[i].series) + " stroke curve");
    draw_legend(canvas, legend_left, kFigureWidth, at, {legend[i]});
  }
}

}  // namespace

Figure roc_figure(const Evaluation& evaluation) {
  Figure figure{"roc", "ROC: does the program run in the majority order?", "", {}, ""};
  figure.csv = csv_line({"samples", "model", "false_positive_ratio", "true_positive_ratio", "threshold_log_ratio"});
  std::vector<std::pair<std::string, std::vector<ModelRoc>>> panels;
  if (!evaluation.first_seed.votes.empty()) {
    auto whole = rocs_of(evaluation, order_samples), pairs = rocs_of(evaluation, pair_samples);
    if (!whole.empty()) panels.emplace_back("whole orders", std::move(whole));
    if (!pairs.empty()) panels.emplace_back("pairs of platforms", std::move(pairs));
  }
  if (panels.empty()) {
    figure.caption = parts_platforms(evaluation.split)
                         ? "There is no majority order on platforms that no program was seen on."
                         : "There is no curve: it takes samples in the majority order and samples in another.";
    return figure;
  }
  size_t most = 0;
  for (const auto& [title, rocs] : panels) {
    most = std::max(most, rocs.size());
    for (const ModelRoc& item : rocs) {
      for (const RocPoint& point : thinned(item.roc.curve, kRateStep)) {
        figure.csv += csv_line({title, item.model, csv_number(point.false_positive_rate),
                                csv_number(point.true_positive_rate), csv_number(point.threshold)});
      }
    }
  }
  const bool alone = panels.size() == 1;
  const double below = kTop + kSide + 58, lines = kLegendLine * static_cast<double>(most);
  SvgCanvas canvas("fig-" + figure.id, kFigureWidth, alone ? std::max(below - 16, kTop + lines + 10) : below + lines,
                   figure.title, "ROC curves by model, with the point of the hard decision marked");
  for (size_t i = 0; i < panels.size(); ++i) {
    const double left = 70 + 500 * static_cast<double>(i);
    draw_panel(canvas, left, panels[i].first, panels[i].second, alone ? left + kSide + 30 : left,
               alone ? kTop + 10 : below);
  }
  figure.images.push_back(canvas.to_svg());
  figure.caption =
      "Can a model tell the programs that run in the usual order from those that do not? Whole orders: the score is "
      "the "
      "smallest step of the forecast along the order that most training programs show. Pairs: the forecast gap in the "
      "direction that most training programs show, for pairs over 5% apart. Marks are the forecast taken at its word; "
      "the dashed diagonal is guessing. ";
  if (panels.front().first != "whole orders") {
    figure.caption +=
        "There is no curve of whole orders: no program measured on all platforms runs in the majority order, or all "
        "do. ";
  }
  if (evaluation.seeds > 1) figure.caption += "Curves are of the first seed; the table has the mean of all. ";
  for (const auto& [title, rocs] : panels) {
    if (rocs.front().model != "mean" || *rocs.front().roc.auc >= 0.5) continue;
    figure.caption +=
        "A curve of 'mean' below the diagonal is no mistake: leaving a program out shifts the mean away from it. ";
    break;
  }
  return figure;
}

}  // namespace perfcast::program
