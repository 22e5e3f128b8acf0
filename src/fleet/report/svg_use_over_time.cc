// How much of each platform is in use over time, under each policy.

#include <fmt/format.h>

#include <algorithm>

#include "base/csv.h"
#include "fleet/jobs/stretches.h"
#include "fleet/jobs/usage_bins.h"
#include "fleet/report/schedule_figure.h"

namespace perfcast::fleet {
namespace {

constexpr size_t kUseBins = 160;
constexpr size_t kMostLines = 8;
constexpr double kPanelWidth = 425, kPanelHeight = 120, kColumn = 500, kLine = 196;

}  // namespace

Figure use_over_time_figure(const ScheduleReport& report) {
  Figure figure{"use", "Use of the platforms over time", "", {}, ""};
  const Horizon horizon = horizon_of(report);
  if (!horizon.any()) {
    figure.caption = "No job ran.";
    return figure;
  }
  figure.csv = csv_line({"policy", "platform", "time_s", "used_ratio"});
  const auto& groups = report.cluster.groups;
  // Many lines in one panel are a knot: then all platforms are one line.
  const bool together = groups.size() > kMostLines;
  const size_t lines = together ? 1 : groups.size();
  std::vector<double> capacity(lines, 0);
  std::vector<bool> gpus;
  std::vector<std::string> names;
  for (size_t g = 0; g < groups.size(); ++g) {
    gpus.push_back(counts_gpus(groups[g], report.workload));
    capacity[together ? 0 : g] += capacity_of(groups[g], gpus[g]);
    if (!together) names.push_back(groups[g].platform);
  }
  if (together) names.emplace_back("all platforms");
  const TimeUnit unit = time_unit(horizon.to_s - horizon.from_s);
  const std::vector<PolicyRow> rows = policy_rows(report);
  std::vector<LegendEntry> legend;
  for (size_t k = 0; k < lines; ++k) {
    legend.push_back({LegendEntry::Kind::kLine, {}, series_class(k) + " curve use", fitted(names[k], 260, 12)});
  }
  SvgCanvas measure("fig-use-measure", kFigureWidth, 30, "", "");
  const double top = draw_legend(measure, 60, kFigureWidth - 16, 14, legend) + 24;
  const size_t lines_of_panels = (rows.size() + 1) / 2;
  const double height = top + kLine * static_cast<double>(lines_of_panels) - 14;
  SvgCanvas canvas("fig-" + figure.id, kFigureWidth, height, figure.title, "Share in use by platform and policy");
  draw_legend(canvas, 60, kFigureWidth - 16, 14, legend);
  for (size_t i = 0; i < rows.size(); ++i) {
    const double left = 60 + kColumn * static_cast<double>(i % 2), right = left + kPanelWidth;
    const size_t line = i / 2;
    const double panel_top = top + kLine * static_cast<double>(line), bottom = panel_top + kPanelHeight;
    const Scale x = Scale::linear(0, (horizon.to_s - horizon.from_s) / unit.seconds, left, right);
    const Scale y = Scale::linear(0, 1, bottom, panel_top);
    canvas.text(left, panel_top - 8, rows[i].policy, "panel");
    draw_x_axis(canvas, x, panel_top, bottom, fmt::format("time since the first arrival ({})", unit.name), ratio_text);
    for (const double share : {0.0, 0.5, 1.0}) {
      canvas.line(left, y.at(share), right, y.at(share), "grid");
      canvas.text(left - 7, y.at(share) + 4, whole_percent_text(share), "tick", "end");
    }
    std::vector<UsageBins> use(lines, UsageBins(horizon.from_s, horizon.to_s, kUseBins));
    for_each_stretch(rows[i].runs.front()->outcome, [&](const Segment& stretch, double) {
      const auto g = static_cast<size_t>(stretch.group);
      use[together ? 0 : g].add(stretch.start_s, stretch.end_s,
                                held_of(report.workload.jobs[static_cast<size_t>(stretch.job)], gpus[g]));
    });
    for (size_t k = 0; k < lines; ++k) {
      if (capacity[k] <= 0) continue;
      std::vector<std::pair<double, double>> points;
      const std::vector<double> means = use[k].means();
      for (size_t b = 0; b < kUseBins; ++b) {
        const double share = means[b] / capacity[k];
        points.emplace_back(x.at((use[k].middle_s(b) - horizon.from_s) / unit.seconds), y.at(share));
        figure.csv += csv_line({rows[i].policy, names[k], csv_number(use[k].middle_s(b)), csv_number(share)});
      }
      canvas.polyline(points, series_class(k) + " stroke curve use");
    }
  }
  figure.images.push_back(canvas.to_svg());
  figure.caption = fmt::format(
      "Share of the cores (of the GPUs, where jobs ask for GPUs) that jobs hold, averaged over {} stretches of time. A "
      "long tail on one platform means that work lay badly.",
      kUseBins);
  if (together) figure.caption += fmt::format(" Over {} platforms, so all of them are one line.", kMostLines);
  return figure;
}

}  // namespace perfcast::fleet
