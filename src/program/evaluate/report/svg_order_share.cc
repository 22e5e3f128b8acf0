// Figure 4 of the paper: how often the platforms are put in the right order.

#include <fmt/format.h>

#include <algorithm>

#include "base/figure/svg_axes.h"
#include "program/evaluate/report/report_figure.h"

namespace perfcast::program {
namespace {

// One column of bars per group; where they would be too many, or the only group is everything, `all` alone.
std::vector<std::string> groups_with_bars(const Evaluation& evaluation) {
  std::vector<std::string> groups = groups_of(evaluation);
  if (groups.size() == 2 || groups.size() > 4) groups = {"all"};
  std::stable_partition(groups.begin(), groups.end(), [](const std::string& group) { return group == "all"; });
  return groups;
}

}  // namespace

Figure order_share_figure(const Evaluation& evaluation) {
  Figure figure{"order", "Share of samples in the right order", "", {}, ""};
  figure.csv = csv_line({"model", "group", "whole_order_ratio", "pair_order_ratio", "entries"});
  std::vector<std::string> models;
  for (const EvaluationRow& row : evaluation.rows) {
    figure.csv +=
        csv_line({row.model, row.group, row.scores.sos ? csv_number(*row.scores.sos) : "",
                  row.scores.pair_order ? csv_number(*row.scores.pair_order) : "", std::to_string(row.scores.n)});
    if (!row.scores.sos && !row.scores.pair_order) continue;
    if (std::find(models.begin(), models.end(), row.model) == models.end()) models.push_back(row.model);
  }
  if (models.empty()) {
    figure.caption = "No two platforms over 5% apart were both forecast for one program.";
    return figure;
  }
  const std::vector<std::string> groups = groups_with_bars(evaluation);
  double label_width = 0;
  for (const std::string& model : models) label_width = std::max(label_width, text_width(model, 12));
  const double left = std::min(label_width + 16, 220.0), gap = 40, top = groups.size() > 1 ? 62 : 38, row_height = 44;
  const auto columns = static_cast<double>(groups.size());
  const double width = (kFigureWidth - 30 - left - gap * (columns - 1)) / columns;
  const double bottom = top + row_height * static_cast<double>(models.size());
  SvgCanvas canvas("fig-" + figure.id, kFigureWidth, bottom + 44, figure.title,
                   "Bars of the share of whole orders and of pairs of platforms in the right order, by model");
  draw_legend(canvas, left, kFigureWidth, 14,
              {{LegendEntry::Kind::kBox, {}, "s0 fill", "whole order of all platforms right"},
               {LegendEntry::Kind::kBox, {}, "s1 hollow", "pairs of platforms over 5% apart in the right order"}});
  for (size_t m = 0; m < models.size(); ++m) {
    canvas.text(left - 8, top + row_height * (static_cast<double>(m) + 0.5) + 4, fitted(models[m], left - 10, 12),
                "series", "end", models[m]);
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    const double from = left + static_cast<double>(g) * (width + gap);
    const Scale x = Scale::linear(0, 1, from, from + width - 34);
    if (groups.size() > 1) canvas.text(from, top - 16, fitted(groups[g], width, kBoldPx), "panel", "start", groups[g]);
    draw_x_axis(canvas, x, top, bottom, "share in the right order", whole_percent_text);
    for (const EvaluationRow& row : evaluation.rows) {
      const auto found = std::find(models.begin(), models.end(), row.model);
      if (row.group != groups[g] || found == models.end()) continue;
      double y = top + row_height * static_cast<double>(found - models.begin()) + 5;
      for (const auto& [share, look, name] : {std::tuple{row.scores.sos, "s0 fill", "whole order"},
                                              std::tuple{row.scores.pair_order, "s1 hollow", "pairs"}}) {
        if (share) {
          canvas.rectangle(from, y, std::max(0.5, x.at(*share) - from), 15, look,
                           fmt::format("{}, {}: {} {}", row.model, row.group, name, percent_text(*share)));
          canvas.text(x.at(*share) + 6, y + 11.5, percent_text(*share), "value");
        } else {
          canvas.text(from + 6, y + 11.5, "no sample", "tick");
        }
        y += 18;
      }
    }
  }
  figure.images.push_back(canvas.to_svg());
  figure.caption =
      "A model earns its keep by what it has over 'majority', the order that most training programs show, and over "
      "'mean'; 'noise-floor' is what the measurements themselves agree on. The whole order counts for programs that "
      "were "
      "measured on all platforms: with many platforms nobody gets it, because some of them are a hair apart.";
  return figure;
}

}  // namespace perfcast::program
