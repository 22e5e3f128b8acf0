// Who ran where and when: a Gantt chart for each policy.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "fleet/jobs/stretches.h"
#include "fleet/jobs/usage_bins.h"
#include "fleet/report/schedule_figure.h"

namespace perfcast::fleet {
namespace {

constexpr double kGanttLeft = 150, kGanttRight = kFigureWidth - 16;
constexpr int64_t kMostRows = 40;
constexpr size_t kMostRectangles = 5000;  // of the whole figure
constexpr double kMostSlots = 2048;       // of one row
constexpr size_t kGanttBins = 160;
constexpr double kThin_px = 3;  // a box so low has no room for a pattern or an outline

struct Chart {
  const ScheduleReport& report;
  const JobKinds& kinds;
  Scale time;
  TimeUnit unit;
  double from_s, to_s;
  double x(double seconds) const { return time.at((seconds - from_s) / unit.seconds); }
};

// The cores (GPUs) of one row, given out from the lowest free one.
class Slots {
 public:
  explicit Slots(double count) : free_from_s_(static_cast<size_t>(count), -HUGE_VAL) {}

  // -> [first, count] runs of slots held from start_s to end_s.
  std::vector<std::pair<size_t, size_t>> take(double start_s, double end_s, double count) {
    std::vector<std::pair<size_t, size_t>> runs;
    auto wanted = static_cast<size_t>(count);
    for (size_t i = 0; i < free_from_s_.size() && wanted > 0; ++i) {
      if (free_from_s_[i] > start_s) continue;
      free_from_s_[i] = end_s;
      --wanted;
      if (!runs.empty() && runs.back().first + runs.back().second == i) {
        ++runs.back().second;
      } else {
        runs.emplace_back(i, 1);
      }
    }
    return runs;
  }

 private:
  std::vector<double> free_from_s_;
};

// One node, or a whole group where segments name no nodes.
struct Row {
  double y, height, slots;
  Slots taken;
};

bool names_nodes(const Outcome& outcome) {
  return std::ranges::all_of(outcome.segments, [](const Segment& segment) { return segment.parts > 0; });
}

bool fits_rows(const ScheduleReport& report, const Outcome& outcome, size_t most_rectangles) {
  if (outcome.segments.empty() || std::max(outcome.parts.size(), outcome.segments.size()) > most_rectangles)
    return false;
  const bool nodes = names_nodes(outcome);
  const auto rows = nodes ? report.cluster.nodes() : static_cast<int64_t>(report.cluster.groups.size());
  return rows <= kMostRows && std::ranges::all_of(report.cluster.groups, [&](const NodeGroup& group) {
           const bool gpus = counts_gpus(group, report.workload);
           const double slots = capacity_of(group, gpus);
           return (nodes && group.nodes > 0 ? slots / static_cast<double>(group.nodes) : slots) <= kMostSlots;
         });
}

std::string tooltip_of(const Chart& chart, const Outcome& outcome, const Segment& segment) {
  const Workload& workload = chart.report.workload;
  const auto job = static_cast<size_t>(segment.job);
  const JobRequest& request = workload.jobs[job];
  std::string text = fmt::format("job {}", request.id);
  if (request.program != kNoIndex) text += ", " + workload.programs[static_cast<size_t>(request.program)];
  if (request.owner != kNoIndex) text += ", " + workload.owners[static_cast<size_t>(request.owner)];
  text += request.gpus > 0 ? fmt::format(", {} GPUs", request.gpus) : fmt::format(", {} cores", request.cores);
  text += fmt::format(": {} to {}, waited {}", duration_text(segment.start_s - chart.from_s),
                      duration_text(segment.end_s - chart.from_s), duration_text(wait_of(request, outcome.jobs[job])));
  if (outcome.jobs[job].state == JobState::kKilled) text += ", killed at its limit";
  return text;
}

std::string heading(const PolicyRow& row, bool aggregated) {
  return fmt::format("{}: makespan {}{}", row.policy, duration_text(row.runs.front()->summary.makespan_s),
                     aggregated ? " (in use over time, by platform)" : "");
}

void csv_job(const Chart& chart, const std::string& policy, const Segment& segment, const std::string& node,
             double held, JobState state, std::string& csv) {
  const Workload& workload = chart.report.workload;
  csv += csv_line({policy, chart.report.cluster.groups[static_cast<size_t>(segment.group)].platform, node,
                   std::to_string(workload.jobs[static_cast<size_t>(segment.job)].id),
                   chart.kinds.names[chart.kinds.of_job[static_cast<size_t>(segment.job)]], to_string(state),
                   fmt::format("{}", segment.start_s), fmt::format("{}", segment.end_s), csv_number(held)});
}

std::string draw_rows(const Chart& chart, const PolicyRow& policy, const std::string& id, std::string& csv) {
  const ScheduleReport& report = chart.report;
  const Outcome& outcome = policy.runs.front()->outcome;
  const bool nodes = names_nodes(outcome);
  const double node_height =
      std::clamp(420 / static_cast<double>(std::max<int64_t>(1, report.cluster.nodes())), 9.0, 34.0);
  std::vector<std::vector<Row>> rows;
  double y = 30;
  for (const NodeGroup& group : report.cluster.groups) {
    const double slots = capacity_of(group, counts_gpus(group, report.workload));
    const int64_t count = nodes ? group.nodes : 1;
    const double height = nodes ? node_height : 70;
    std::vector<Row>& list = rows.emplace_back();
    for (int64_t i = 0; i < count; ++i) {
      const double of_row = slots / static_cast<double>(std::max<int64_t>(1, count));
      list.push_back({y, height, of_row, Slots(of_row)});
      y += height + (node_height > 12 ? 3 : 1.5);
    }
    y += 8;
  }
  const double bottom = y - 4;
  SvgCanvas canvas(id, kFigureWidth, bottom + 42, "Gantt chart of " + policy.policy,
                   "Rows are nodes, by platform; boxes are jobs, as high as the share of the node that they hold");
  canvas.text(kGanttLeft, 16, heading(policy, false), "panel");
  for (size_t g = 0; g < rows.size(); ++g) {
    const NodeGroup& group = report.cluster.groups[g];
    for (size_t i = 0; i < rows[g].size(); ++i) {
      canvas.rectangle(kGanttLeft, rows[g][i].y, kGanttRight - kGanttLeft, rows[g][i].height, "band");
    }
    if (rows[g].empty()) continue;
    const double top = rows[g].front().y, end = rows[g].back().y + rows[g].back().height;
    const std::string size = nodes && group.nodes > 1 ? fmt::format("{} nodes", group.nodes) : "";
    const bool two_lines = !size.empty() && end - top >= 26;
    canvas.text(kGanttLeft - 8, (top + end) / 2 + (two_lines ? -2 : 4), fitted(group.platform, kGanttLeft - 14, 12),
                "label", "end", group.platform);
    if (two_lines) canvas.text(kGanttLeft - 8, (top + end) / 2 + 12, size, "tick", "end");
  }
  draw_x_axis(canvas, chart.time, 28, bottom, fmt::format("time since the first arrival ({})", chart.unit.name),
              ratio_text);
  for (const Segment& segment : outcome.segments) {
    const auto g = static_cast<size_t>(segment.group), job = static_cast<size_t>(segment.job);
    const bool gpus = counts_gpus(report.cluster.groups[g], report.workload);
    const JobState state = outcome.jobs[job].state;
    const std::string classes =
        kind_class(chart.kinds.of_job[job]) + (state == JobState::kKilled ? " fill job killed" : " fill job");
    const std::string thin = kind_colour(chart.kinds.of_job[job]) + " fill low";
    const std::string tooltip = tooltip_of(chart, outcome, segment);
    const auto draw = [&](Row& row, double held) {
      for (const auto& [first, count] : row.taken.take(segment.start_s, segment.end_s, held)) {
        const double x = chart.x(segment.start_s), unit = row.height / row.slots;
        const double height = unit * static_cast<double>(count);
        canvas.rectangle(x, row.y + unit * static_cast<double>(first), std::max(0.6, chart.x(segment.end_s) - x),
                         height, height < kThin_px ? thin : classes, tooltip);
      }
    };
    if (!nodes) {
      const double held = held_of(report.workload.jobs[job], gpus);
      draw(rows[g].front(), held);
      csv_job(chart, policy.policy, segment, "", held, state, csv);
      continue;
    }
    for (uint32_t k = 0; k < segment.parts; ++k) {
      const NodePart& part = outcome.parts[segment.first_part + k];
      draw(rows[g][static_cast<size_t>(part.node)], gpus ? part.gpus : part.cores);
      csv_job(chart, policy.policy, segment, std::to_string(part.node), gpus ? part.gpus : part.cores, state, csv);
    }
  }
  return canvas.to_svg();
}

// Upper and lower edge of a band as one outline; points on a level stretch are left out.
std::vector<std::pair<double, double>> outline(const std::vector<std::pair<double, double>>& upper,
                                               const std::vector<std::pair<double, double>>& lower) {
  std::vector<std::pair<double, double>> points;
  const auto add = [&](const std::pair<double, double>& point) {
    const size_t n = points.size();
    if (n >= 2 && points[n - 1].second == point.second && points[n - 2].second == point.second) {
      points[n - 1] = point;
    } else {
      points.push_back(point);
    }
  };
  for (const auto& point : upper) add(point);
  for (size_t i = lower.size(); i-- > 0;) add(lower[i]);
  return points;
}

std::string draw_areas(const Chart& chart, const PolicyRow& policy, const std::string& id, std::string& csv) {
  constexpr double kGanttHeight = 84, kGap = 14;
  const ScheduleReport& report = chart.report;
  const Outcome& outcome = policy.runs.front()->outcome;
  const size_t groups = report.cluster.groups.size(), kinds = chart.kinds.names.size();
  std::vector<UsageBins> use(groups * kinds, UsageBins(chart.from_s, chart.to_s, kGanttBins));
  std::vector<bool> gpus;
  for (const NodeGroup& group : report.cluster.groups) gpus.push_back(counts_gpus(group, report.workload));
  for_each_stretch(outcome, [&](const Segment& stretch, double) {
    const auto g = static_cast<size_t>(stretch.group), job = static_cast<size_t>(stretch.job);
    use[g * kinds + chart.kinds.of_job[job]].add(stretch.start_s, stretch.end_s,
                                                 held_of(report.workload.jobs[job], gpus[g]));
  });
  const double bottom = 30 + static_cast<double>(groups) * (kGanttHeight + kGap) - kGap;
  SvgCanvas canvas(id, kFigureWidth, bottom + 42, "Use over time under " + policy.policy,
                   "Areas are the cores or GPUs in use, by platform and kind of job");
  canvas.text(kGanttLeft, 16, heading(policy, true), "panel");
  draw_x_axis(canvas, chart.time, 28, bottom, fmt::format("time since the first arrival ({})", chart.unit.name),
              ratio_text);
  for (size_t g = 0; g < groups; ++g) {
    const NodeGroup& group = report.cluster.groups[g];
    const double top = 30 + static_cast<double>(g) * (kGanttHeight + kGap), capacity = capacity_of(group, gpus[g]);
    const Scale y = Scale::linear(0, std::max(1.0, capacity), top + kGanttHeight, top);
    canvas.rectangle(kGanttLeft, top, kGanttRight - kGanttLeft, kGanttHeight, "band");
    canvas.text(kGanttLeft - 8, top + kGanttHeight / 2 - 2, fitted(group.platform, kGanttLeft - 14, 12), "label", "end",
                group.platform);
    canvas.text(kGanttLeft - 8, top + kGanttHeight / 2 + 13,
                fmt::format("{:.0f} {}", capacity, gpus[g] ? "GPUs" : "cores"), "tick", "end");
    std::vector<double> level(kGanttBins, 0);
    const auto edge = [&] {
      std::vector<std::pair<double, double>> points;
      for (size_t b = 0; b < kGanttBins; ++b) {
        // Where the drawing has only tenths of a pixel, so have its edges: level stretches are then level.
        const double at = std::round(10 * y.at(level[b])) / 10;
        points.emplace_back(chart.x(use.front().start_s(b)), at);
        points.emplace_back(chart.x(use.front().start_s(b) + (chart.to_s - chart.from_s) / kGanttBins), at);
      }
      return points;
    };
    for (size_t k = 0; k < kinds; ++k) {
      const std::vector<double> held = use[g * kinds + k].means();
      if (std::ranges::all_of(held, [](double value) { return value < 1e-9; })) continue;
      const auto lower = edge();
      for (size_t b = 0; b < kGanttBins; ++b) {
        level[b] += held[b];
        if (held[b] < 1e-9) continue;
        csv += csv_line(
            {policy.policy, group.platform, "", "", chart.kinds.names[k], "", csv_number(use.front().start_s(b)),
             csv_number(use.front().start_s(b) + (chart.to_s - chart.from_s) / kGanttBins), csv_number(held[b])});
      }
      canvas.polyline(outline(edge(), lower), kind_class(k) + " fill area");
    }
    canvas.line(kGanttLeft, top + kGanttHeight, kGanttRight, top + kGanttHeight, "axis");
  }
  return canvas.to_svg();
}

}  // namespace

Figure gantt_figure(const ScheduleReport& report) {
  Figure figure{"gantt", "Who ran where and when", "", {}, ""};
  const Horizon horizon = horizon_of(report);
  if (!horizon.any()) {
    figure.caption = "No job ran.";
    return figure;
  }
  const JobKinds kinds = kinds_of(report.workload);
  const TimeUnit unit = time_unit(horizon.to_s - horizon.from_s);
  const Chart chart{
      report, kinds,          Scale::linear(0, (horizon.to_s - horizon.from_s) / unit.seconds, kGanttLeft, kGanttRight),
      unit,   horizon.from_s, horizon.to_s};
  const std::vector<PolicyRow> rows = policy_rows(report);
  figure.csv = csv_line(
      {"policy", "platform", "node", "job", kinds.by.empty() ? "kind" : kinds.by, "state", "start_s", "end_s", "held"});
  std::vector<LegendEntry> legend = kind_legend(kinds);
  std::vector<std::string> images;
  bool any_rows = false, any_areas = false, any_killed = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Outcome& outcome = rows[i].runs.front()->outcome;
    if (outcome.jobs.empty()) continue;
    const std::string id = fmt::format("fig-{}-{}", figure.id, i);
    const bool as_rows = fits_rows(report, outcome, kMostRectangles / rows.size());
    (as_rows ? any_rows : any_areas) = true;
    any_killed = any_killed || (as_rows && rows[i].runs.front()->summary.killed > 0);
    images.push_back(as_rows ? draw_rows(chart, rows[i], id, figure.csv) : draw_areas(chart, rows[i], id, figure.csv));
  }
  if (any_killed) legend.push_back({LegendEntry::Kind::kBox, {}, "s6 hollow job killed", "killed at its limit"});
  SvgCanvas measure("fig-gantt-legend", kFigureWidth, 30, "", "");
  const double height = draw_legend(measure, 16, kGanttRight, 14, legend);
  SvgCanvas key("fig-gantt-legend", kFigureWidth, height - 4, "Legend", "Colours and patterns of the jobs");
  draw_legend(key, 16, kGanttRight, 14, legend);
  figure.images.push_back(key.to_svg());
  figure.images.insert(figure.images.end(), images.begin(), images.end());
  figure.caption = kinds.by.empty() ? "" : fmt::format("Colour and pattern: the {} that the job runs. ", kinds.by);
  if (kinds.by == "owner") figure.caption = "Colour and pattern: the job's owner. ";
  figure.caption += "All charts have the same time axis. ";
  if (any_rows) {
    figure.caption +=
        "A row is a node (or a platform, where the policy names no nodes); a box is as high as the share of the row "
        "that the job holds, and tells more when pointed at. ";
  }
  if (any_areas) {
    figure.caption += fmt::format(
        "Over {} nodes or {} boxes, or without segments, single jobs can't be told apart: such charts show what was in "
        "use, averaged over {} stretches of time. ",
        kMostRows, kMostRectangles / rows.size(), kGanttBins);
  }
  return figure;
}

}  // namespace perfcast::fleet
