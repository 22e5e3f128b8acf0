#include "measure/tune/report/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/csv.h"
#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"
#include "measure/tune/report/tuning_report.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostAxes = 12;
constexpr size_t kMostLines = 400;
constexpr size_t kMostLabels = 14;
constexpr double kAxisHeight = 340, kTop = 70;
constexpr double kGoodShare = 0.05, kBetterShare = 0.25;

constexpr const char* kStyle =
    "svg .rest{fill:none;stroke:var(--faint);stroke-width:1}\n"
    "svg .better{fill:none;stroke:var(--s0);stroke-width:1;stroke-opacity:.45}\n"
    "svg .good{fill:none;stroke:var(--s0);stroke-width:1.6}\n"
    "svg .best{fill:none;stroke:var(--s1);stroke-width:3}\n"
    "svg .standard{fill:none;stroke:var(--ink);stroke-width:2;stroke-dasharray:6 4}\n"
    "svg .halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}\n";

std::string value_name(const Tuning& tuning) {
  return tuning.objective.measure == ObjectiveMeasure::kPrinted ? "value" : "time_s";
}

// The knobs by importance, where that is known.
std::vector<size_t> knob_order(const Tuning& tuning) {
  std::vector<size_t> order(tuning.knobs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!tuning.importance.empty())
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return tuning.importance[a] > tuning.importance[b]; });
  return order;
}

// Usable points of tried, the best first.
std::vector<size_t> usable_best_first(const Tuning& tuning) {
  std::vector<size_t> order;
  for (size_t i = 0; i < tuning.tried.size(); ++i) {
    if (tuning.tried[i].value) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return cost_of(*tuning.tried[a].value, tuning.objective) < cost_of(*tuning.tried[b].value, tuning.objective);
  });
  return order;
}

std::string tried_csv(const Tuning& tuning) {
  std::vector<std::string> cells = {"trial"};
  for (const Knob& knob : tuning.knobs) cells.push_back(knob.name);
  cells.insert(cells.end(), {value_name(tuning), "runs", "state"});
  std::string text = csv_line(cells);
  for (size_t i = 0; i < tuning.tried.size(); ++i) {
    const TriedPoint& point = tuning.tried[i];
    cells = {std::to_string(i + 1)};
    for (size_t knob = 0; knob < tuning.knobs.size(); ++knob)
      cells.push_back(point.setting[knob] == kNotInPlay
                          ? ""
                          : tuning.knobs[knob].values[static_cast<size_t>(point.setting[knob])].text);
    cells.push_back(point.value ? csv_number(*point.value) : "");
    cells.push_back(std::to_string(point.runs));
    cells.push_back(name_of(point.state));
    text += csv_line(cells);
  }
  return text;
}

class ParallelCoordinates {
 public:
  explicit ParallelCoordinates(const Tuning& tuning)
      : tuning_(tuning),
        axes_(knob_order(tuning)),
        order_(usable_best_first(tuning)),
        canvas_("parallel", kFigureWidth, kTop + kAxisHeight + 50, "Settings as parallel coordinates",
                "Each tried setting is a line across one axis per knob, to its time or value"),
        scale_(value_scale()) {
    if (axes_.size() > kMostAxes) axes_.resize(kMostAxes);
  }

  std::string draw() {
    draw_lines();
    draw_axes();
    std::vector<LegendEntry> legend;
    for (const auto& [classes, text] : {std::pair{"best", "the best"},
                                        {"standard", "the default"},
                                        {"good", "the best 5%"},
                                        {"better", "the better quarter"},
                                        {"rest", "others"}}) {
      if (std::string_view(classes) == "standard" && !tuning_.standard) continue;
      legend.push_back({LegendEntry::Kind::kLine, Marker::kCircle, classes, text});
    }
    draw_legend(canvas_, kLeft, kRight, 20, legend);
    return canvas_.to_svg();
  }

 private:
  static constexpr double kLeft = 40, kRight = kFigureWidth - 90;
  using Points = std::vector<std::pair<double, double>>;

  Scale value_scale() const {
    const double first = *tuning_.tried[order_.front()].value, last = *tuning_.tried[order_.back()].value;
    const double low = std::min(first, last), high = std::max(first, last);
    // The better end below, whichever that is.
    const double bottom = kTop + kAxisHeight, top = kTop;
    return tuning_.objective.maximise ? Scale::logarithmic(low, high, top, bottom)
                                      : Scale::logarithmic(low, high, bottom, top);
  }
  double x_of(size_t axis) const {
    return kLeft + (kRight - kLeft) * static_cast<double>(axis) / static_cast<double>(axes_.size());
  }
  bool has_gap(size_t knob) const {
    return tuning_.knobs[knob].when.has_value() ||
           std::any_of(tuning_.tried.begin(), tuning_.tried.end(),
                       [knob](const TriedPoint& point) { return point.setting[knob] == kNotInPlay; });
  }
  double y_of(size_t knob, int16_t level) const {
    const size_t levels = tuning_.knobs[knob].values.size() + (has_gap(knob) ? 1 : 0);
    const double place = level == kNotInPlay ? 0 : static_cast<double>(level) + (has_gap(knob) ? 1 : 0);
    if (levels < 2) return kTop + kAxisHeight / 2;
    return kTop + kAxisHeight - kAxisHeight * place / static_cast<double>(levels - 1);
  }
  // Lines through one value are spread a little, so that many look like many.
  Points line_of(size_t point, double spread) const {
    const TriedPoint& tried = tuning_.tried[point];
    const double offset = spread * (static_cast<double>((point * 37) % 17) / 8 - 1);
    Points points;
    for (size_t axis = 0; axis < axes_.size(); ++axis)
      points.emplace_back(x_of(axis), y_of(axes_[axis], tried.setting[axes_[axis]]) + offset);
    points.emplace_back(x_of(axes_.size()), scale_.at(*tried.value));
    return points;
  }
  void draw_lines() {
    const auto good = static_cast<size_t>(std::ceil(kGoodShare * static_cast<double>(order_.size())));
    const auto better = static_cast<size_t>(std::ceil(kBetterShare * static_cast<double>(order_.size())));
    const size_t stride = std::max<size_t>(1, order_.size() / kMostLines);
    for (size_t rank = order_.size(); rank-- > 0;) {
      if (rank >= better && rank % stride != 0) continue;
      canvas_.polyline(line_of(order_[rank], 7), rank < good ? "good" : rank < better ? "better" : "rest");
    }
    if (tuning_.standard && tuning_.tried[*tuning_.standard].value)
      canvas_.polyline(line_of(*tuning_.standard, 0), "standard");
    if (tuning_.best) canvas_.polyline(line_of(*tuning_.best, 0), "best");
  }
  void draw_axes() {
    const double step = (kRight - kLeft) / static_cast<double>(axes_.size());
    for (size_t axis = 0; axis < axes_.size(); ++axis) {
      const size_t knob = axes_[axis];
      const double x = x_of(axis);
      canvas_.line(x, kTop, x, kTop + kAxisHeight, "axis");
      canvas_.text(x, kTop - 14, fitted(tuning_.knobs[knob].name, step - 8, 12.5), "panel", "middle",
                   tuning_.knobs[knob].name);
      if (!tuning_.importance.empty())
        canvas_.text(x, kTop + kAxisHeight + 30, percent_text(tuning_.importance[knob]), "tick", "middle",
                     "importance");
      const auto& values = tuning_.knobs[knob].values;
      const size_t every = (values.size() + kMostLabels - 1) / kMostLabels;
      for (size_t level = 0; level < values.size(); ++level) {
        if (level % every != 0 && level + 1 != values.size()) continue;
        const std::string text = values[level].text.empty() ? "none" : values[level].text;
        canvas_.text(x + 6, y_of(knob, static_cast<int16_t>(level)) + 4, fitted(text, step - 12, 11), "tick halo",
                     "start", text);
      }
      if (has_gap(knob)) canvas_.text(x + 6, y_of(knob, kNotInPlay) + 4, "not in play", "tick halo");
    }
    const double x = x_of(axes_.size());
    canvas_.line(x, kTop, x, kTop + kAxisHeight, "axis");
    const bool is_time = tuning_.objective.measure != ObjectiveMeasure::kPrinted;
    canvas_.text(x, kTop - 14, is_time ? "time" : "value", "panel", "middle");
    std::vector<double> labels = {*tuning_.tried[order_.front()].value, *tuning_.tried[order_.back()].value};
    for (const double tick : scale_.ticks()) labels.push_back(tick);
    std::vector<double> drawn;
    for (const double value : labels) {
      const double y = scale_.at(value);
      if (std::any_of(drawn.begin(), drawn.end(), [y](double other) { return std::abs(other - y) < 14; })) continue;
      drawn.push_back(y);
      canvas_.line(x, y, x + 4, y, "axis");
      canvas_.text(x + 8, y + 4, objective_value_text(value, tuning_.objective), "tick");
    }
    if (!tuning_.importance.empty()) canvas_.text(kRight + 85, kTop + kAxisHeight + 30, "importance", "tick", "end");
  }

  const Tuning& tuning_;
  std::vector<size_t> axes_, order_;
  SvgCanvas canvas_;
  Scale scale_;
};

Figure parallel_figure(const Tuning& tuning) {
  Figure figure{"settings", "Settings", "", {}, tried_csv(tuning)};
  if (usable_best_first(tuning).size() < 2) {
    figure.caption = "Fewer than two settings could be used: nothing to draw.";
    return figure;
  }
  figure.caption =
      "Each line is a usable setting: it passes through the value of each knob and ends at the result. Lower is "
      "better. The most important knobs come first; the numbers below are their importance.";
  if (tuning.knobs.size() > kMostAxes)
    figure.caption +=
        fmt::format(" The figure shows the {} most important of {} knobs.", kMostAxes, tuning.knobs.size());
  if (tuning.failed_trials() > 0)
    figure.caption += fmt::format(" {} settings that failed have no line.", tuning.failed_trials());
  figure.images.push_back(ParallelCoordinates(tuning).draw());
  return figure;
}

Figure importance_figure(const Tuning& tuning) {
  Figure figure{"importance", "Importance of the knobs", "", {}, ""};
  if (tuning.importance.empty()) {
    figure.caption = "Too few settings were tried to tell how much each knob matters.";
    return figure;
  }
  figure.caption =
      "How much of the differences in the result (its logarithm) each knob explains, alone and together with others. "
      "The shares come from models of the settings that were tried.";
  const std::vector<size_t> order = knob_order(tuning);
  figure.csv = csv_line({"knob", "share"});
  constexpr double kRow = 24, kLabels = 220;
  SvgCanvas canvas("shares", kFigureWidth, kRow * static_cast<double>(order.size()) + 20, figure.title, figure.caption);
  const double most = tuning.importance[order.front()];
  for (size_t i = 0; i < order.size(); ++i) {
    const double share = tuning.importance[order[i]], y = 10 + kRow * static_cast<double>(i);
    const double width = most > 0 ? (kFigureWidth - kLabels - 90) * share / most : 0;
    figure.csv += csv_line({tuning.knobs[order[i]].name, csv_number(share)});
    canvas.text(kLabels - 10, y + 15, fitted(tuning.knobs[order[i]].name, kLabels - 20, 12), "series", "end",
                tuning.knobs[order[i]].name);
    canvas.rectangle(kLabels, y + 3, width, kRow - 8, "s0 fill");
    canvas.text(kLabels + width + 8, y + 15, percent_text(share), "series");
  }
  figure.images.push_back(canvas.to_svg());
  return figure;
}

Figure progress_figure(const Tuning& tuning) {
  Figure figure{"progress", "Best so far", "", {}, csv_line({"trial", value_name(tuning), "best_so_far"})};
  const std::vector<size_t> order = usable_best_first(tuning);
  if (order.size() < 2) {
    figure.caption = "Fewer than two settings could be used: nothing to draw.";
    return figure;
  }
  figure.caption =
      "Each setting in the order of trials (a cross at the top: it could not be used), and the best until then.";
  constexpr double kLeft = 80, kTopEdge = 30, kBottom = 290;
  SvgCanvas canvas("trials", kFigureWidth, 340, figure.title, figure.caption);
  const double first = *tuning.tried[order.front()].value, last = *tuning.tried[order.back()].value;
  const Scale y = Scale::logarithmic(std::min(first, last), std::max(first, last), kBottom, kTopEdge + 15);
  const Scale x = Scale::linear(1, static_cast<double>(tuning.tried.size()), kLeft, kFigureWidth - 20);
  draw_x_axis(canvas, x, kTopEdge, kBottom, "trial", ratio_text);
  const bool is_time = tuning.objective.measure != ObjectiveMeasure::kPrinted;
  draw_y_axis(
      canvas, y, kLeft, kFigureWidth - 20, is_time ? "time" : "value",
      is_time ? +[](double value) { return human_seconds(value); } : +[](double value) { return human_number(value); });
  std::vector<std::pair<double, double>> line;
  std::optional<double> best;
  for (size_t i = 0; i < tuning.tried.size(); ++i) {
    const TriedPoint& point = tuning.tried[i];
    const double at = x.at(static_cast<double>(i + 1));
    if (point.value) {
      if (!best || cost_of(*point.value, tuning.objective) < cost_of(*best, tuning.objective)) {
        if (best) line.emplace_back(at, y.at(*best));
        best = point.value;
        line.emplace_back(at, y.at(*best));
      }
      canvas.marker(Marker::kCircle, at, y.at(*point.value), 3, "s0 hollow",
                    objective_value_text(*point.value, tuning.objective));
    } else {
      canvas.marker(Marker::kCross, at, kTopEdge, 4, "s3 stroke", point.why);
    }
    figure.csv +=
        csv_line({std::to_string(i + 1), point.value ? csv_number(*point.value) : "", best ? csv_number(*best) : ""});
  }
  if (best) line.emplace_back(x.at(static_cast<double>(tuning.tried.size())), y.at(*best));
  canvas.polyline(line, "best");
  figure.images.push_back(canvas.to_svg());
  return figure;
}

}  // namespace

std::string tuning_html(const Tuning& tuning) {
  Page page;
  page.title = tuning.command.empty() ? "Tuning of " + tuning.source : "Tuning of " + join(tuning.command, " ");
  page.style = kStyle;
  std::string text = tuning_text(tuning);
  const size_t begin = text.find("\n\n") + 2;
  page.lead = text.substr(begin, text.find("\n\n", begin) - begin);
  text.erase(begin, page.lead.size() + 2);
  page.facts_html = preformatted_html(text);
  page.figures = {parallel_figure(tuning), importance_figure(tuning), progress_figure(tuning)};
  return html_page(page);
}

}  // namespace perfcast::measure
