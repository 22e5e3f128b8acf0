#include "place/workload/placement_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/figure/label_placer.h"
#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "base/significant.h"
#include "base/text.h"

namespace perfcast::place {
namespace {

constexpr double kLeft = 84, kRight = kFigureWidth - 24, kTop = 88, kHeight = 480;
constexpr double kLabelPx = 10.5, kMarkRadius = 4.5;

struct DrawnRow {
  const PlacementRow* row = nullptr;
  double amount = 0;  // cost or energy
  bool on_front = false;
};

// Costs of short runs as prices are written: 0.000015.
std::string tick_text(double value) {
  if (value >= 1e-2) return human_number(value);
  if (value < 1e-5) return fmt::format("{:g}", value);
  std::string text = fmt::format("{:.6f}", value);
  return text.substr(0, text.find_last_not_of('0') + 1);
}

// One for the whole axis.
struct TimeUnit {
  const char* name;
  double seconds;
};
TimeUnit unit_of(double shortest_s) {
  if (shortest_s >= 0.1) return {"s", 1};
  return shortest_s >= 1e-4 ? TimeUnit{"ms", 1e-3} : TimeUnit{"us", 1e-6};
}

// Labels keep off the line that joins the front.
void add_line_marks(const std::vector<std::pair<double, double>>& front, std::vector<LabelMark>& marks) {
  constexpr double kStep = 5;
  for (size_t i = 1; i < front.size(); ++i) {
    const double dx = front[i].first - front[i - 1].first, dy = front[i].second - front[i - 1].second;
    const auto steps = static_cast<size_t>(std::hypot(dx, dy) / kStep) + 1;
    for (size_t k = 1; k < steps; ++k) {
      const double share = static_cast<double>(k) / static_cast<double>(steps);
      marks.push_back({front[i - 1].first + share * dx, front[i - 1].second + share * dy, 0.5});
    }
  }
}

std::vector<DrawnRow> drawn_rows(const Placement& placement, PlaceMeasure measure) {
  std::vector<DrawnRow> drawn;
  for (const PlacementRow& row : placement.rows) {
    const auto amount = row.value(measure);
    if (row.is_candidate() && row.time_s && amount) drawn.push_back({&row, *amount, false});
  }
  for (DrawnRow& one : drawn) {
    one.on_front = std::none_of(drawn.begin(), drawn.end(), [&](const DrawnRow& other) {
      const bool no_worse = *other.row->time_s <= *one.row->time_s && other.amount <= one.amount;
      return no_worse && (*other.row->time_s < *one.row->time_s || other.amount < one.amount);
    });
  }
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const DrawnRow& a, const DrawnRow& b) { return *a.row->time_s < *b.row->time_s; });
  return drawn;
}

std::string label_of(const PlacementRow& row) {
  return row.count > 1 ? fmt::format("{:.0f} x {}", row.count, row.device) : row.device;
}

Marker marker_of(PlaceKind kind) { return series_marker(static_cast<size_t>(kind)); }
std::string look_of(PlaceKind kind) { return series_class(static_cast<size_t>(kind)); }

std::vector<LegendEntry> kinds_legend(const std::vector<DrawnRow>& drawn) {
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < kPlaceKinds; ++i) {
    const auto kind = static_cast<PlaceKind>(i);
    const auto count =
        std::count_if(drawn.begin(), drawn.end(), [&](const DrawnRow& one) { return one.row->kind == kind; });
    if (count == 0) continue;
    legend.push_back({LegendEntry::Kind::kMarker, marker_of(kind), look_of(kind) + " fill",
                      fmt::format("{} ({})", name_of(kind), count)});
  }
  return legend;
}

}  // namespace

Result<std::string> placement_svg(const Placement& placement) {
  std::vector<DrawnRow> drawn = drawn_rows(placement, PlaceMeasure::kCost);
  PlaceMeasure measure = PlaceMeasure::kCost;
  if (drawn.size() < 2) {
    measure = PlaceMeasure::kEnergy;
    drawn = drawn_rows(placement, measure);
  }
  if (drawn.size() < 2) {
    return Error{"nothing-to-draw", "fewer than two rows that can be taken know a time and a cost or an energy", "",
                 "prices (--prices FILE, --price DEVICE=PER_HOUR) or powers (--power-w DEVICE=WATTS)"};
  }
  double low_x = HUGE_VAL, high_x = 0, low_y = HUGE_VAL, high_y = 0;
  for (const DrawnRow& one : drawn) {
    low_x = std::min(low_x, *one.row->time_s);
    high_x = std::max(high_x, *one.row->time_s);
    low_y = std::min(low_y, one.amount);
    high_y = std::max(high_y, one.amount);
  }
  const bool is_cost = measure == PlaceMeasure::kCost;
  const double bottom = kTop + kHeight;
  const TimeUnit unit = unit_of(low_x);
  // Room for labels beside the first and the last mark.
  const Scale x = Scale::logarithmic(low_x / unit.seconds / 1.7, high_x / unit.seconds * 1.7, kLeft, kRight);
  const Scale y = Scale::logarithmic(low_y / 1.3, high_y * 1.3, bottom, kTop);
  const std::string title = fmt::format("{}{}{}: time and {}", placement.workload,
                                        placement.details.empty() ? "" : ", ", placement.details, name_of(measure));
  SvgCanvas canvas("placement", kFigureWidth, bottom + 52, title,
                   "Each mark is a device: its time against its cost or energy; the command's table lists them");
  canvas.text(kLeft, 24, fitted(title, kRight - kLeft, kBoldPx), "panel");
  const auto left_out = std::count_if(placement.rows.begin(), placement.rows.end(),
                                      [](const PlacementRow& row) { return row.is_candidate(); }) -
                        static_cast<std::ptrdiff_t>(drawn.size());
  canvas.text(
      kLeft, 43,
      fmt::format(
          "filled, on the line: no other device is both faster and {}{}", is_cost ? "costs less" : "needs less energy",
          left_out > 0 ? fmt::format("; {} whose {} is not known left out", left_out, is_cost ? "price" : "power")
                       : ""),
      "tick");
  draw_legend(canvas, kLeft, kRight, 66, kinds_legend(drawn));
  draw_x_axis(canvas, x, kTop, bottom, fmt::format("time, {}", unit.name), tick_text);
  draw_y_axis(
      canvas, y, kLeft, kRight,
      is_cost ? fmt::format("cost{}{}", placement.currency.empty() ? "" : ", ", placement.currency) : "energy, J",
      tick_text);
  std::vector<std::pair<double, double>> front;
  std::vector<LabelMark> marks;
  for (const DrawnRow& one : drawn) {
    const double at_x = x.at(*one.row->time_s / unit.seconds), at_y = y.at(one.amount);
    marks.push_back({at_x, at_y, kMarkRadius});
    if (one.on_front) front.emplace_back(at_x, at_y);
  }
  for (size_t i = 1; i < front.size(); ++i) {
    canvas.line(front[i - 1].first, front[i - 1].second, front[i].first, front[i].second, "rule");
  }
  std::vector<LabelMark> obstacles = marks;
  add_line_marks(front, obstacles);
  LabelPlacer placer(obstacles, {kLeft, kTop, kRight, bottom});
  // The front last: what others cover can't be seen.
  for (const bool of_front : {false, true}) {
    for (size_t i = 0; i < drawn.size(); ++i) {
      if (drawn[i].on_front != of_front) continue;
      const PlacementRow& row = *drawn[i].row;
      canvas.marker(
          marker_of(row.kind), marks[i].x, marks[i].y, kMarkRadius,
          look_of(row.kind) + (of_front ? " fill" : " hollow"),
          fmt::format(
              "{} ({}, {}): {}, {}", label_of(row), name_of(row.kind), name_of(row.basis), human_seconds(*row.time_s),
              is_cost ? significant(drawn[i].amount, 3) + (placement.currency.empty() ? "" : " " + placement.currency)
                      : program::in_unit(drawn[i].amount, "J")));
    }
  }
  for (const bool of_front : {true, false}) {
    for (size_t i = 0; i < drawn.size(); ++i) {
      if (drawn[i].on_front == of_front) placer.place(canvas, marks[i], label_of(*drawn[i].row), "row", kLabelPx);
    }
  }
  return standalone_svg(canvas.to_svg());
}

}  // namespace perfcast::place
