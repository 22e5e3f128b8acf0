// Figure 2 of the paper: how relative performance is spread on each platform.

#include <fmt/format.h>

#include <algorithm>

#include "base/figure/svg_axes.h"
#include "base/statistics.h"
#include "program/evaluate/report/report_figure.h"

namespace perfcast::program {
namespace {

struct Box {
  double least = 0, low = 0, first = 0, middle = 0, third = 0, high = 0, most = 0;
  size_t n = 0;
};

Box box_of(const std::vector<double>& values) {
  return {quantile(values, 0),    quantile(values, 0.05), quantile(values, 0.25), quantile(values, 0.5),
          quantile(values, 0.75), quantile(values, 0.95), quantile(values, 1),    values.size()};
}

struct PlatformBoxes {
  int64_t column;
  Box measured, forecast;
};

void draw_box(SvgCanvas& canvas, const Scale& x, double y, double height, const Box& box, const std::string& look,
              const std::string& tooltip) {
  canvas.line(x.at(box.low), y, x.at(box.high), y, look + " stroke thin");
  for (const double end : {box.low, box.high}) {
    canvas.line(x.at(end), y - height / 4, x.at(end), y + height / 4, look + " stroke thin");
  }
  for (const double end : {box.least, box.most}) canvas.marker(Marker::kCircle, x.at(end), y, 1.3, look + " fill");
  canvas.rectangle(x.at(box.first), y - height / 2, std::max(1.0, x.at(box.third) - x.at(box.first)), height,
                   look + (look == "s0" ? " fill" : " hollow"), tooltip);
  canvas.line(x.at(box.middle), y - height / 2, x.at(box.middle), y + height / 2,
              look == "s0" ? "on-fill" : look + " stroke");
}

std::string spoken(const std::string& platform, const std::string& what, const Box& box) {
  return fmt::format("{}: {} median {}, middle half {} to {}, 90% of them {} to {}, n {}", platform, what,
                     ratio_text(box.middle), ratio_text(box.first), ratio_text(box.third), ratio_text(box.low),
                     ratio_text(box.high), box.n);
}

}  // namespace

Figure distribution_figure(const Evaluation& evaluation) {
  Figure figure{"distribution", "Relative time on each platform", "", {}, ""};
  const SeedForecasts& data = evaluation.first_seed;
  const SeedForecasts::Model* model = shown_model(evaluation);
  figure.csv = csv_line({"program", "family", "group", "platform", "model", "measured_ratio", "forecast_ratio",
                         "lower_ratio", "upper_ratio"});
  std::vector<std::vector<double>> measured(data.platform_names.size()), forecast(data.platform_names.size());
  const std::vector<Entry> entries = model == nullptr ? std::vector<Entry>() : entries_of(model->entries);
  if (entries.empty()) {
    figure.caption = "No entry was both measured and forecast.";
    return figure;
  }
  double least = entries.front().measured, most = least;
  for (const Entry& entry : entries) {
    measured[static_cast<size_t>(entry.column)].push_back(entry.measured);
    forecast[static_cast<size_t>(entry.column)].push_back(entry.forecast);
    least = std::min({least, entry.measured, entry.forecast});
    most = std::max({most, entry.measured, entry.forecast});
    const SeedForecasts::Row& row = data.rows[static_cast<size_t>(entry.row)];
    figure.csv += csv_line({row.program, row.family, row.group, evaluation.platforms[static_cast<size_t>(entry.column)],
                            model->name, csv_number(entry.measured), csv_number(entry.forecast),
                            entry.lower ? csv_number(*entry.lower) : "", entry.upper ? csv_number(*entry.upper) : ""});
  }
  std::vector<PlatformBoxes> boxes;
  double label_width = 0;
  for (size_t j = 0; j < measured.size(); ++j) {
    if (measured[j].empty()) continue;
    boxes.push_back({static_cast<int64_t>(j), box_of(measured[j]), box_of(forecast[j])});
    label_width = std::max(label_width, text_width(label_of(data.platform_names[j]), 10.5));
  }
  std::stable_sort(boxes.begin(), boxes.end(), [](const PlatformBoxes& a, const PlatformBoxes& b) {
    return a.measured.middle < b.measured.middle;
  });

  const double row_height = boxes.size() <= 12 ? 46 : boxes.size() <= 40 ? 26 : 17;
  const double left = std::min(label_width + 14, 310.0), right = kFigureWidth - 20, top = 58;
  const double bottom = top + row_height * static_cast<double>(boxes.size());
  SvgCanvas canvas("fig-" + figure.id, kFigureWidth, bottom + 44, figure.title,
                   fmt::format("Box plots of measured and forecast relative times on {} platforms, fastest first, from "
                               "{} to {}",
                               boxes.size(), ratio_text(least), ratio_text(most)));
  draw_legend(canvas, left, right, 14,
              {{LegendEntry::Kind::kBox, {}, "s0 fill", "measured"},
               {LegendEntry::Kind::kBox, {}, "s1 hollow", "forecast by " + model->name}});
  for (size_t i = 1; i < boxes.size(); i += 2) {
    canvas.rectangle(0, top + row_height * static_cast<double>(i), right, row_height, "band");
  }
  const Scale x = Scale::logarithmic(least / 1.04, most * 1.04, left, right);
  draw_x_axis(canvas, x, top, bottom,
              "time relative to " + label_of(reference_text(evaluation)) + " (ratio, log scale; less is faster)",
              ratio_text, true);
  canvas.line(x.at(1), top, x.at(1), bottom, "rule");
  for (size_t i = 0; i < boxes.size(); ++i) {
    const double y = top + row_height * (static_cast<double>(i) + 0.5);
    const std::string& name = data.platform_names[static_cast<size_t>(boxes[i].column)];
    canvas.text(left - 8, y + 4, fitted(label_of(name), left - 10, 10.5), "row", "end", name);
    const double height = std::min(13.0, row_height * 0.36), apart = row_height * 0.22;
    draw_box(canvas, x, y - apart, height, boxes[i].measured, "s0", spoken(name, "measured", boxes[i].measured));
    draw_box(canvas, x, y + apart, height, boxes[i].forecast, "s1", spoken(name, "forecast", boxes[i].forecast));
  }
  figure.images.push_back(canvas.to_svg());
  figure.caption = fmt::format(
      "Each platform's samples, fastest platform first. Boxes hold the middle half, the bar inside is the median, "
      "lines "
      "reach from 5% to 95% of them, dots are the extremes. Left of 1 a platform is faster than {}. A forecast "
      "box much narrower than the measured one means that {} hedges towards the mean. {} entries.",
      label_of(reference_text(evaluation)), model->name, entries.size());
  return figure;
}

}  // namespace perfcast::program
