#include "program/map/svg_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/csv.h"
#include "base/figure/label_placer.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr double kLabelPx = 10.5, kMarkPx = 4.2, kOwnPx = 8;
constexpr double kLeft = 66, kRight = kFigureWidth - 12;

// What is drawn of a program or a profile.
struct DrawnPoint {
  double x = 0, y = 0;
  std::string label, tooltip, classes;
  Marker shape = Marker::kCircle;
  double radius = kMarkPx;
  int rank = 0;  // labels of low ranks are placed first
};

std::pair<double, double> range_of(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double room = std::max(1e-6, 0.04 * (*most - *least));
  return {*least - room, *most + room};
}

using Coordinates = std::optional<std::pair<double, double>> (*)(const MapPoint&);
std::optional<std::pair<double, double>> in_plane(const MapPoint& point) { return std::pair(point.pc1, point.pc2); }
std::optional<std::pair<double, double>> by_tsne(const MapPoint& point) {
  if (!point.tsne1 || !point.tsne2) return std::nullopt;
  return std::pair(*point.tsne1, *point.tsne2);
}

// The order in which labels take their room: own profiles, medoids, one of each family, kept ones, all others.
std::vector<DrawnPoint> drawn_points(const CorpusMap& map, Coordinates coordinates) {
  std::vector<DrawnPoint> points;
  std::set<std::string> families, medoids;
  for (const MapCluster& cluster : map.clusters) medoids.insert(cluster.medoid);
  for (const MappedProgram& program : map.programs) {
    const auto at = coordinates(program.point);
    if (!at) continue;
    DrawnPoint point;
    std::tie(point.x, point.y) = *at;
    const auto cluster = static_cast<size_t>(program.cluster);
    point.label = short_program_name(program.id);
    point.tooltip = fmt::format("{} (family {}, {}): cluster {}, {}", program.id, program.family, program.group,
                                cluster + 1, program.kept ? "kept" : "can be dropped");
    if (program.nearest) {
      point.tooltip += fmt::format("; nearest {} at {:.2f}", program.nearest->id, program.nearest->distance);
    }
    point.classes = fmt::format("{} {}", series_class(cluster), program.kept ? "fill" : "hollow");
    point.shape = series_marker(cluster);
    const bool is_medoid = medoids.contains(program.id), is_first = families.insert(program.family).second;
    point.rank = is_medoid ? 1 : is_first ? 2 : program.kept ? 3 : 4;
    points.push_back(std::move(point));
  }
  const auto add = [&](const PlacedProfile& one, const char* what) {
    const auto at = coordinates(one.point);
    if (!at) return;
    DrawnPoint point;
    std::tie(point.x, point.y) = *at;
    point.label = one.name;
    point.tooltip = fmt::format("{} {}: nearest cluster {}{}", what, one.name, one.cluster + 1,
                                one.covered ? "" : ", outside what the corpus covers");
    point.classes = "own";
    point.shape = Marker::kPlus;
    point.radius = kOwnPx;
    points.push_back(std::move(point));
  };
  for (const PlacedProfile& one : map.profiles) add(one, "your profile");
  for (const PlacedProfile& one : map.candidates) add(one, "candidate");
  return points;
}

std::string points_csv(const CorpusMap& map, const char* x, const char* y, Coordinates coordinates) {
  std::string csv = csv_line({"name", "kind", "family", "group", "cluster", "kept", x, y});
  const auto cells = [&](const MapPoint& point) {
    const auto at = coordinates(point);
    return std::pair(at ? csv_number(at->first) : "", at ? csv_number(at->second) : "");
  };
  for (const MappedProgram& program : map.programs) {
    const auto [first, second] = cells(program.point);
    csv += csv_line({program.id, "program", program.family, program.group, std::to_string(program.cluster + 1),
                     program.kept ? "1" : "0", first, second});
  }
  const auto add = [&](const std::vector<PlacedProfile>& placed, const char* kind) {
    for (const PlacedProfile& one : placed) {
      const auto [first, second] = cells(one.point);
      csv += csv_line({one.name, kind, "", "", std::to_string(one.cluster + 1), "", first, second});
    }
  };
  add(map.profiles, "profile");
  add(map.candidates, "candidate");
  return csv;
}

std::vector<LegendEntry> legend_of(const CorpusMap& map) {
  std::vector<LegendEntry> legend;
  for (size_t c = 0; c < map.clusters.size(); ++c) {
    legend.push_back({LegendEntry::Kind::kMarker, series_marker(c), series_class(c) + " fill",
                      fmt::format("{}: like {}", c + 1, short_program_name(map.clusters[c].medoid))});
  }
  if (std::any_of(map.programs.begin(), map.programs.end(), [](const MappedProgram& one) { return !one.kept; })) {
    legend.push_back({LegendEntry::Kind::kMarker, Marker::kCircle, "s6 hollow", "hollow: can be dropped"});
  }
  if (!map.profiles.empty() || !map.candidates.empty()) {
    legend.push_back({LegendEntry::Kind::kMarker, Marker::kPlus, "own",
                      map.candidates.empty() ? "your profile" : "your profile or candidate"});
  }
  return legend;
}

struct AxisTexts {
  std::string x, y;  // empty: no axis, the coordinates mean nothing by themselves
};

std::string draw_plane(const CorpusMap& map, const Figure& figure, std::vector<DrawnPoint> points,
                       const AxisTexts& axes) {
  std::vector<double> xs, ys;
  for (const DrawnPoint& point : points) {
    xs.push_back(point.x);
    ys.push_back(point.y);
  }
  const auto [x_low, x_high] = range_of(xs);
  const auto [y_low, y_high] = range_of(ys);
  const double left = axes.x.empty() ? 12 : kLeft;
  // One unit is as long upwards as to the right, where that gives a drawing of bearable height.
  const double height = std::clamp((kRight - left) * (y_high - y_low) / (x_high - x_low), 460.0, 760.0);
  SvgCanvas measured("unused", kFigureWidth, 10, "", "");
  const double top = draw_legend(measured, left, kRight, 14, legend_of(map)) + 6, bottom = top + height;
  SvgCanvas canvas("fig-" + figure.id, kFigureWidth, bottom + (axes.x.empty() ? 10 : 44), figure.title,
                   "Programs as points, near where their profiles are alike; the table lists them");
  draw_legend(canvas, left, kRight, 14, legend_of(map));
  const Scale x = Scale::linear(x_low, x_high, left, kRight), y = Scale::linear(y_low, y_high, bottom, top);
  if (axes.x.empty()) {
    canvas.rectangle(left, top, kRight - left, height, "band");
  } else {
    draw_x_axis(canvas, x, top, bottom, axes.x, ratio_text);
    draw_y_axis(canvas, y, left, kRight, axes.y, ratio_text);
  }
  for (DrawnPoint& point : points) {
    point.x = x.at(point.x);
    point.y = y.at(point.y);
    canvas.marker(point.shape, point.x, point.y, point.radius, point.classes, point.tooltip);
  }
  std::vector<LabelMark> marks;
  marks.reserve(points.size());
  for (const DrawnPoint& point : points) marks.push_back({point.x, point.y, point.radius});
  LabelPlacer placer(marks, {left, top, kRight, bottom});
  for (int rank = 0; rank <= 4; ++rank) {
    for (const DrawnPoint& point : points) {
      if (point.rank != rank) continue;
      placer.place(canvas, {point.x, point.y, point.radius}, point.label,
                   rank == 0   ? "own-label"
                   : rank == 1 ? "row medoid"
                               : "row",
                   rank == 0   ? kBoldPx
                   : rank == 1 ? kLabelPx * 1.1
                               : kLabelPx,
                   point.tooltip);
    }
  }
  return canvas.to_svg();
}

}  // namespace

std::string short_program_name(const std::string& id) {
  const size_t dot = id.find('.');
  return dot == std::string::npos || dot + 1 == id.size() ? id : id.substr(dot + 1);
}

Figure principal_plane_figure(const CorpusMap& map) {
  Figure figure{"plane", "Programs by their profiles: principal components", "", {}, ""};
  figure.csv = points_csv(map, "pc1", "pc2", in_plane);
  const double share = map.pc_shares_ratio[0] + map.pc_shares_ratio[1];
  figure.caption = fmt::format(
      "Each point is a program; its {} standardised numbers are laid on the plane in which programs, each family "
      "weighing "
      "the same, differ most: {} of their variance. Points that are far apart here are different; near ones may still "
      "differ in what the plane doesn't show. Where a label would hide another there is none: point at it, or see the "
      "table.",
      map.inputs, percent_text(share));
  figure.images.push_back(
      draw_plane(map, figure, drawn_points(map, in_plane),
                 {fmt::format("first component ({} of the variance)", percent_text(map.pc_shares_ratio[0])),
                  fmt::format("second component ({})", percent_text(map.pc_shares_ratio[1]))}));
  return figure;
}

Figure tsne_figure(const CorpusMap& map) {
  Figure figure{"neighbours", "Programs by their profiles: neighbours (t-SNE)", "", {}, ""};
  std::vector<DrawnPoint> points = drawn_points(map, by_tsne);
  if (points.empty()) {
    figure.caption = "Too many programs for this picture.";
    return figure;
  }
  figure.csv = points_csv(map, "tsne1", "tsne2", by_tsne);
  figure.caption =
      "The same programs, laid so that near neighbours in all numbers are neighbours here. Neighbourhoods count; "
      "distances between groups, their sizes and the axes mean nothing.";
  figure.images.push_back(draw_plane(map, figure, std::move(points), {}));
  return figure;
}

Figure drop_cost_figure(const CorpusMap& map) {
  Figure figure{"cost", "What dropping costs", "", {}, ""};
  if (map.drops.empty()) {
    figure.caption = "All programs are kept.";
    return figure;
  }
  figure.csv = csv_line({"left_count", "dropped", "coverage_ratio", "change_ratio", "error_ratio"});
  const auto all = static_cast<double>(map.programs.size());
  figure.csv += csv_line({std::to_string(map.programs.size()), "", csv_number(map.coverage), map.error_log ? "0" : "",
                          map.error_log ? csv_number(std::expm1(*map.error_log)) : ""});
  using Line = std::vector<std::pair<double, double>>;
  Line coverage = {{all, map.coverage}}, change, error;
  if (map.error_log) {
    change.emplace_back(all, 0.0);
    error.emplace_back(all, std::expm1(*map.error_log));
  }
  for (const DropStep& step : map.drops) {
    const auto left = static_cast<double>(step.left);
    coverage.emplace_back(left, step.coverage);
    if (step.change_log) change.emplace_back(left, std::expm1(*step.change_log));
    if (step.error_log) error.emplace_back(left, std::expm1(*step.error_log));
    figure.csv += csv_line({std::to_string(step.left), step.program, csv_number(step.coverage),
                            step.change_log ? csv_number(std::expm1(*step.change_log)) : "",
                            step.error_log ? csv_number(std::expm1(*step.error_log)) : ""});
  }
  double most = coverage.front().second;
  for (const Line& line : {change, error}) {
    for (const auto& [left, value] : line) most = std::max(most, value);
  }
  const double top = 42, bottom = top + 320;
  SvgCanvas canvas("fig-" + figure.id, kFigureWidth, bottom + 44, figure.title,
                   "Coverage, change and error of forecasts over the number of programs that are left");
  std::vector<LegendEntry> legend = {{LegendEntry::Kind::kLine, {}, series_class(0) + " curve", "coverage"}};
  if (map.error_log) {
    legend.push_back({LegendEntry::Kind::kLine, {}, series_class(1) + " curve", "error of forecasts"});
    legend.push_back({LegendEntry::Kind::kLine, {}, series_class(2) + " curve", "change of forecasts"});
  }
  draw_legend(canvas, kLeft, kRight, 14, legend);
  const Scale x = Scale::linear(static_cast<double>(map.drops.back().left), all, kLeft, kRight - 20);
  const Scale y = Scale::linear(0, std::min(1.0, most * 1.05), bottom, top);
  draw_x_axis(canvas, x, top, bottom, "programs left", ratio_text);
  draw_y_axis(canvas, y, kLeft, kRight - 20, "share", whole_percent_text);
  size_t series = 0;
  for (Line* const line : {&coverage, &error, &change}) {
    for (auto& [left, value] : *line) {
      left = x.at(left);
      value = y.at(value);
    }
    if (!line->empty()) canvas.polyline(*line, series_class(series) + " stroke curve");
    ++series;
  }
  figure.images.push_back(canvas.to_svg());
  figure.caption =
      "From right to left the least valuable program goes first. Coverage: the share of the variance of all programs, "
      "each family weighing the same, that a Gaussian process would know from those left.";
  if (map.error_log) {
    figure.caption += fmt::format(
        " Forecasts: of each program by {} fitted on the programs left, without the program's family; how far they are "
        "from those with all programs, and from the measured times.",
        map.model);
  }
  return figure;
}

}  // namespace perfcast::program
