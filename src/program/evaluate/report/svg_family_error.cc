// Which families of programs are forecast badly.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/figure/svg_axes.h"
#include "program/evaluate/report/report_figure.h"

namespace perfcast::program {

Figure family_error_figure(const Evaluation& evaluation) {
  Figure figure{"families", "Error by family of programs", "", {}, ""};
  figure.csv = csv_line({"model", "family", "group", "programs", "entries", "mape_ratio"});
  std::map<std::string, std::set<std::string>> programs_of;
  for (const SeedForecasts::Row& row : evaluation.first_seed.rows) programs_of[row.family].insert(row.program);
  const SeedForecasts::Model* model = shown_model(evaluation);
  std::vector<const FamilyRow*> shown;
  std::map<std::string, double> mean_rpv;
  double most = 0, label_width = 0;
  for (const FamilyRow& row : evaluation.by_family) {
    if (!row.scores.mape) continue;
    const size_t programs = programs_of[row.family].size();
    figure.csv += csv_line({row.model, row.family, row.group, std::to_string(programs), std::to_string(row.scores.n),
                            csv_number(*row.scores.mape)});
    if (row.model == "mean") mean_rpv[row.family] = *row.scores.mape;
    if (row.model == model->name) shown.push_back(&row);
    if (row.model != "mean" && row.model != model->name) continue;
    most = std::max(most, *row.scores.mape);
    label_width = std::max(label_width, text_width(fmt::format("{} ({})", row.family, programs), 10.5));
  }
  if (shown.empty()) {
    figure.caption = "No entry was both measured and forecast.";
    return figure;
  }
  const bool with_mean = model->name != "mean";
  const double row_height = shown.size() <= 12 ? 26 : shown.size() <= 40 ? 19 : 15;
  const double left = std::min(label_width + 14, 280.0), right = kFigureWidth - 70;
  const bool two_axes = shown.size() > 20;
  const double top = two_axes ? 52 : 36;
  const double bottom = top + row_height * static_cast<double>(shown.size());
  SvgCanvas canvas("fig-" + figure.id, kFigureWidth, bottom + 44, figure.title,
                   "Bars of the mean absolute percentage error by family, worst first");
  std::vector<LegendEntry> legend = {{LegendEntry::Kind::kBox, {}, "s0 fill", model->name}};
  if (with_mean) legend.push_back({LegendEntry::Kind::kMarker, Marker::kDiamond, "s1 hollow", "mean RPV"});
  draw_legend(canvas, left, right, 14, legend);
  const Scale x = Scale::linear(0, most * 1.02, left, right);
  draw_x_axis(canvas, x, top, bottom, "mean absolute error of the forecast ratio (MAPE)", whole_percent_text, two_axes);
  for (size_t i = 0; i < shown.size(); ++i) {
    const FamilyRow& row = *shown[i];
    const double y = top + row_height * (static_cast<double>(i) + 0.5), height = row_height * 0.62;
    const std::string label = fmt::format("{} ({})", row.family, programs_of[row.family].size());
    canvas.text(left - 8, y + 4, fitted(label, left - 10, 10.5), "row", "end", label);
    canvas.rectangle(left, y - height / 2, std::max(0.5, x.at(*row.scores.mape) - left), height, "s0 fill",
                     fmt::format("{}: {} over {} entries", row.family, percent_text(*row.scores.mape), row.scores.n));
    double value_at = x.at(*row.scores.mape);
    const auto baseline = mean_rpv.find(row.family);
    if (with_mean && baseline != mean_rpv.end()) {
      canvas.marker(Marker::kDiamond, x.at(baseline->second), y, 4, "s1 hollow",
                    fmt::format("{}: mean RPV {}", row.family, percent_text(baseline->second)));
      if (x.at(baseline->second) < value_at + 52) value_at = std::max(value_at, x.at(baseline->second) + 4);
    }
    canvas.text(value_at + 6, y + 4, percent_text(*row.scores.mape), "value");
  }
  figure.images.push_back(canvas.to_svg());
  figure.caption = fmt::format(
      "Worst first; in brackets how many programs the family has. {}Groups: see the table and the CSV.",
      with_mean
          ? "Where the diamond lies left of the bar's end, the mean RPV, which knows nothing of the program, would "
            "have been the better forecast. "
          : "");
  return figure;
}

}  // namespace perfcast::program
