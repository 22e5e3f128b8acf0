// Whether the 90% intervals hold what they promise: how coverage changes with their width, and who is left out.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/figure/svg_axes.h"
#include "program/evaluate/report/report_figure.h"

namespace perfcast::program {
namespace {

constexpr double kNominal = 0.9, kWidest = 2.5, kStretchStep = 0.02;

// By how much the interval must be stretched about its forecast, in log time, to reach the measured value.
double stretch_to_cover(const Entry& entry) {
  const double miss = std::log(entry.measured / entry.forecast);
  const double reach = miss >= 0 ? std::log(*entry.upper / entry.forecast) : std::log(entry.forecast / *entry.lower);
  if (miss == 0) return 0;
  return reach > 0 ? std::abs(miss) / reach : std::numeric_limits<double>::infinity();
}

struct ModelCurve {
  std::string model;
  size_t series;
  std::vector<double> stretches;  // sorted
  double coverage_at(double factor) const {
    const auto inside = std::upper_bound(stretches.begin(), stretches.end(), factor) - stretches.begin();
    return static_cast<double>(inside) / static_cast<double>(stretches.size());
  }
  double factor_for(double coverage) const {
    const auto needed = static_cast<size_t>(std::ceil(coverage * static_cast<double>(stretches.size())));
    return stretches[std::clamp<size_t>(needed, 1, stretches.size()) - 1];
  }
};

std::vector<ModelCurve> curves_of(const Evaluation& evaluation) {
  std::vector<ModelCurve> curves;
  for (size_t m = 0; m < evaluation.first_seed.models.size(); ++m) {
    ModelCurve curve{evaluation.first_seed.models[m].name, m, {}};
    for (const Entry& entry : entries_of(evaluation.first_seed.models[m].entries)) {
      if (entry.lower) curve.stretches.push_back(stretch_to_cover(entry));
    }
    if (curve.stretches.empty()) continue;
    std::sort(curve.stretches.begin(), curve.stretches.end());
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::string draw_curves(const Figure& figure, const std::vector<ModelCurve>& curves) {
  const double left = 70, right = 600, top = 14, bottom = 300;
  const double legend = static_cast<double>(curves.size()) * 38;
  SvgCanvas canvas("fig-" + figure.id + "-curves", kFigureWidth, std::max(bottom + 44, top + legend + 20),
                   "Coverage by width of the intervals", "Lines of observed coverage over the factor on the width");
  const Scale x = Scale::linear(0, kWidest, left, right), y = Scale::linear(0, 1, bottom, top);
  draw_x_axis(canvas, x, top, bottom, "factor on the width of the 90% intervals (1: as forecast)", ratio_text);
  draw_y_axis(canvas, y, left, right, "measured values inside", whole_percent_text);
  canvas.line(left, y.at(kNominal), right, y.at(kNominal), "rule");
  canvas.line(x.at(1), top, x.at(1), bottom, "rule");
  double at = top + 14;
  for (const ModelCurve& curve : curves) {
    const std::string look = series_class(curve.series);
    std::vector<std::pair<double, double>> points;
    for (int i = 0; i * kStretchStep <= kWidest + 1e-9; ++i) {
      points.emplace_back(x.at(i * kStretchStep), y.at(curve.coverage_at(i * kStretchStep)));
    }
    canvas.polyline(points, look + " stroke curve");
    canvas.marker(series_marker(curve.series), x.at(1), y.at(curve.coverage_at(1)), 5, look + " hollow");
    canvas.line(right + 25, at, right + 55, at, look + " stroke curve");
    canvas.marker(series_marker(curve.series), right + 40, at, 4.5, look + " hollow");
    canvas.text(right + 64, at + 4, fitted(curve.model, kFigureWidth - right - 70, 12), "series", "start", curve.model);
    const double needed = curve.factor_for(kNominal);
    canvas.text(right + 64, at + 19,
                fmt::format("{} inside; 90% would take {}", percent_text(curve.coverage_at(1)),
                            std::isfinite(needed) ? "factor " + ratio_text(std::round(100 * needed) / 100)
                                                  : std::string("more than any factor")),
                "legend");
    at += 38;
  }
  return canvas.to_svg();
}

struct Share {
  std::string name;  // verbatim
  int64_t inside = 0, total = 0;
  double value() const { return static_cast<double>(inside) / static_cast<double>(total); }
};

std::vector<Share> sorted_shares(const std::map<std::string, Share>& by_name) {
  std::vector<Share> shares;
  shares.reserve(by_name.size());
  for (const auto& [key, share] : by_name) shares.push_back(share);
  std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.value() < b.value(); });
  return shares;
}

bool two_axes(size_t rows) { return rows > 20; }
double top_of(size_t rows) { return two_axes(rows) ? 54 : 32; }
double row_height_of(size_t rows) { return rows <= 12 ? 22 : rows <= 40 ? 17 : 14.5; }

void draw_shares(SvgCanvas& canvas, double left, const std::string& title, const std::vector<Share>& shares,
                 double row_height) {
  double labels = 0;
  for (const Share& share : shares) labels = std::max(labels, text_width(label_of(share.name), 10.5) + 12);
  labels = std::min(labels, 255.0);
  const double from = left + labels, to = left + 445, top = top_of(shares.size());
  const double bottom = top + row_height * static_cast<double>(shares.size());
  for (size_t i = 1; i < shares.size(); i += 2) {
    canvas.rectangle(left, top + row_height * static_cast<double>(i), to - left + 38, row_height, "band");
  }
  const double lowest = std::min(0.5, std::floor(shares.front().value() * 10) / 10);
  const Scale x = Scale::linear(lowest, 1, from, to);
  canvas.text(left, 16, title, "panel");
  draw_x_axis(canvas, x, top, bottom, "inside the 90% interval", whole_percent_text, two_axes(shares.size()));
  canvas.line(x.at(kNominal), top, x.at(kNominal), bottom, "rule");
  for (size_t i = 0; i < shares.size(); ++i) {
    const double y = top + row_height * (static_cast<double>(i) + 0.5), value = shares[i].value();
    canvas.text(from - 8, y + 3.5, fitted(label_of(shares[i].name), labels - 10, 10.5), "row", "end", shares[i].name);
    canvas.line(x.at(kNominal), y, x.at(value), y, value < kNominal ? "s1 stroke thin" : "s0 stroke thin");
    canvas.marker(value < kNominal ? Marker::kDiamond : Marker::kCircle, x.at(value), y, 3.5,
                  value < kNominal ? "s1 hollow" : "s0 fill",
                  fmt::format("{}: {} of {} inside", shares[i].name, shares[i].inside, shares[i].total));
    canvas.text(to + 8, y + 3.5, whole_percent_text(std::round(100 * value) / 100), "tick");
  }
}

}  // namespace

Figure calibration_figure(const Evaluation& evaluation) {
  Figure figure{"calibration", "Do the 90% intervals hold?", "", {}, ""};
  figure.csv = csv_line({"kind", "name", "model", "factor_ratio", "coverage_ratio", "entries"});
  const std::vector<ModelCurve> curves = curves_of(evaluation);
  if (curves.empty()) {
    figure.caption = "There are no intervals: the evaluation ran with --no-intervals.";
    return figure;
  }
  for (const ModelCurve& curve : curves) {
    for (int i = 0; i * kStretchStep <= kWidest + 1e-9; ++i) {
      figure.csv += csv_line({"width", "all", curve.model, csv_number(i * kStretchStep),
                              csv_number(curve.coverage_at(i * kStretchStep)), std::to_string(curve.stretches.size())});
    }
  }
  const SeedForecasts& data = evaluation.first_seed;
  const SeedForecasts::Model& model = *shown_model(evaluation);
  std::map<std::string, Share> platforms, families;
  for (const Entry& entry : entries_of(model.entries)) {
    if (!entry.lower) continue;
    const auto column = static_cast<size_t>(entry.column);
    const std::string& family = data.rows[static_cast<size_t>(entry.row)].family;
    Share& of_platform = platforms[evaluation.platforms[column]];
    of_platform.name = data.platform_names[column];
    Share& of_family = families[family];
    of_family.name = family;
    for (Share* share : {&of_platform, &of_family}) {
      ++share->total;
      share->inside += covers(entry) ? 1 : 0;
    }
  }
  for (const auto& [kind, shares] : {std::pair{"platform", &platforms}, std::pair{"family", &families}}) {
    for (const auto& [name, share] : *shares) {
      figure.csv += csv_line({kind, name, model.name, "1", csv_number(share.value()), std::to_string(share.total)});
    }
  }
  figure.images.push_back(draw_curves(figure, curves));
  if (!platforms.empty()) {
    const std::vector<Share> by_platform = sorted_shares(platforms), by_family = sorted_shares(families);
    const double rows_left = row_height_of(by_platform.size()), rows_right = row_height_of(by_family.size());
    const double height = 54 + 44 +
                          std::max(rows_left * static_cast<double>(by_platform.size()),
                                   rows_right * static_cast<double>(by_family.size()));
    SvgCanvas canvas("fig-" + figure.id + "-shares", kFigureWidth, height, "Coverage by platform and by family",
                     "Dots of the share of measured values inside the 90% interval, lowest first");
    draw_shares(canvas, 0, "by platform, " + model.name, by_platform, rows_left);
    draw_shares(canvas, 515, "by family, " + model.name, by_family, rows_right);
    figure.images.push_back(canvas.to_svg());
  }
  figure.caption = fmt::format(
      "Only 90% intervals are forecast, so other levels are not judged: the curves say what coverage the same "
      "intervals "
      "would have if all were stretched by a factor about their forecast, in log time. A good model crosses 90% at 1; "
      "left of 1 its intervals are too wide, right of it too narrow. Below, {}: diamonds cover less than 90%. Entries "
      "of "
      "one family depend on each other, so a family far below 90% is to be expected now and then; a platform is not.",
      model.name);
  if (evaluation.split == Split::kRandom || evaluation.split == Split::kWorkload) {
    figure.caption +=
        " Intervals are made to hold for families that a model has not seen; this split leaves relatives in its "
        "training rows, where they are wider than need be.";
  }
  return figure;
}

}  // namespace perfcast::program
