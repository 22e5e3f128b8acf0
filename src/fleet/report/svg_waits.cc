// How the waits are distributed, by policy.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "fleet/report/schedule_figure.h"

namespace perfcast::fleet {
namespace {

constexpr double kWaitsLeft = 70, kWaitsRight = 700, kWaitsTop = 16, kWaitsHeight = 360, kWaitsLegendLine = 19;
constexpr double kDecades = 4;   // of the axis, below the longest wait
constexpr size_t kPoints = 200;  // of a curve

std::string wait_tick(double seconds) { return ratio_text(seconds); }

}  // namespace

Figure wait_figure(const ScheduleReport& report) {
  Figure figure{"waits", "How long jobs wait", "", {}, ""};
  figure.csv = csv_line({"policy", "wait_s", "share_of_jobs_ratio"});
  const std::vector<PolicyRow> rows = policy_rows(report);
  std::vector<std::vector<double>> waits(rows.size());
  double most = 0;
  size_t jobs = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Outcome& outcome = rows[i].runs.front()->outcome;
    for (size_t k = 0; k < outcome.jobs.size(); ++k) {
      const double wait = wait_of(report.workload.jobs[k], outcome.jobs[k]);
      if (std::isfinite(wait)) waits[i].push_back(std::max(0.0, wait));
    }
    std::ranges::sort(waits[i]);
    jobs = std::max(jobs, waits[i].size());
    if (!waits[i].empty()) most = std::max(most, waits[i].back());
  }
  if (most <= 0) {
    figure.caption = jobs == 0 ? "No job started." : "No job waited.";
    return figure;
  }
  const double least = most / std::pow(10, kDecades), bottom = kWaitsTop + kWaitsHeight;
  const double list = kWaitsLegendLine * static_cast<double>(rows.size());
  SvgCanvas canvas("fig-" + figure.id, kFigureWidth, std::max(bottom + 44, kWaitsTop + list + 24), figure.title,
                   "Share of the jobs that waited no longer, by policy");
  const Scale x = Scale::logarithmic(least, most, kWaitsLeft, kWaitsRight), y = Scale::linear(0, 1, bottom, kWaitsTop);
  draw_x_axis(canvas, x, kWaitsTop, bottom, "wait (s), logarithmic", wait_tick);
  draw_y_axis(canvas, y, kWaitsLeft, kWaitsRight, "share of the jobs that waited no longer", whole_percent_text);
  double at = kWaitsTop + 10;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<double>& sorted = waits[i];
    if (sorted.empty()) continue;
    const auto n = static_cast<double>(sorted.size());
    std::vector<std::pair<double, double>> points;
    const auto add = [&](size_t k) {
      // All that lies on the left edge is one point.
      if (!points.empty() && points.front().first == points.back().first && x.at(sorted[k]) <= kWaitsLeft)
        points.clear();
      points.emplace_back(x.at(sorted[k]), y.at(static_cast<double>(k + 1) / n));
      figure.csv += csv_line({rows[i].policy, csv_number(sorted[k]), csv_number(static_cast<double>(k + 1) / n)});
    };
    size_t last = sorted.size();
    for (size_t p = 0; p < kPoints; ++p) {
      const size_t k = p * (sorted.size() - 1) / (kPoints - 1);
      if (k == last) continue;
      last = k;
      add(k);
    }
    points.emplace_back(kWaitsRight, points.back().second);
    canvas.polyline(points, series_class(i) + " stroke curve");
    const auto none = static_cast<double>(std::ranges::upper_bound(sorted, 0.0) - sorted.begin());
    draw_legend(canvas, kWaitsRight + 24, kFigureWidth, at,
                {{LegendEntry::Kind::kLine,
                  {},
                  series_class(i) + " curve",
                  fitted(fmt::format("{}: {:.0f}% at once", rows[i].policy, 100 * none / n), 240, 12)}});
    at += kWaitsLegendLine;
  }
  figure.images.push_back(canvas.to_svg());
  figure.caption =
      "From when a job could start to when it did; further up and left is better. Jobs that start at once or nearly so "
      "lie on the left edge.";
  return figure;
}

}  // namespace perfcast::fleet
