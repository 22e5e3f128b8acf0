// Policies by makespan and mean completion time, between random and the oracle.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "fleet/policy/policy.h"
#include "fleet/report/schedule_figure.h"

namespace perfcast::fleet {
namespace {

constexpr double kNamesWidth = 190, kBarsWidth = 370, kBetween = 60, kBarsTop = 52, kRow = 27;

struct Panel {
  const char* title;
  double ScheduleSummary::*value;
  double PolicyRow::*to_oracle;
};
constexpr Panel kPanels[] = {
    {"makespan", &ScheduleSummary::makespan_s, &PolicyRow::makespan_to_oracle},
    {"mean completion time", &ScheduleSummary::mean_completion_s, &PolicyRow::completion_to_oracle}};

void draw_bars(SvgCanvas& canvas, const std::vector<PolicyRow>& rows, const Panel& panel, double left, double bottom) {
  double most = 0;
  for (const PolicyRow& row : rows) most = std::fmax(most, row.highest.*panel.value);
  const TimeUnit unit = time_unit(most);
  const Scale x = Scale::linear(0, most / unit.seconds * 1.42, left, left + kBarsWidth);  // with room for the numbers
  canvas.text(left, 16, panel.title, "panel");
  draw_x_axis(canvas, x, kBarsTop - 6, bottom, fmt::format("{} ({})", panel.title, unit.name), ratio_text);
  for (size_t i = 0; i < rows.size(); ++i) {
    const PolicyRow& row = rows[i];
    const double value = row.middle.*panel.value, y = kBarsTop + kRow * (static_cast<double>(i) + 0.5);
    if (std::isnan(value)) continue;
    const bool reference = is_reference(row.policy);
    double end = x.at(value / unit.seconds);
    canvas.rectangle(left, y - kRow * 0.32, std::max(0.5, end - left), kRow * 0.64,
                     reference ? "s6 fill reference" : "s0 fill", row.policy + ": " + duration_text(value));
    if (row.runs.size() > 1) {
      const double low = x.at(row.lowest.*panel.value / unit.seconds),
                   high = x.at(row.highest.*panel.value / unit.seconds);
      canvas.line(low, y, high, y, "whisker");
      for (const double at : {low, high}) canvas.line(at, y - 4, at, y + 4, "whisker");
      end = std::max(end, high);
    }
    const double ratio = row.*panel.to_oracle;
    canvas.text(
        end + 6, y + 4,
        duration_text(value) +
            (std::isfinite(ratio) && row.policy != info(Policy::kOracle).name ? fmt::format("  ×{:.2f}", ratio) : ""),
        "value");
  }
  // The lines go over the bars, and their names where the other's is not.
  for (const PolicyRow& row : rows) {
    if (!is_reference(row.policy)) continue;
    const double value = row.middle.*panel.value;
    if (std::isnan(value)) continue;
    const double at = x.at(value / unit.seconds);
    canvas.line(at, kBarsTop - 6, at, bottom, "rule");
    canvas.text(at + (row.policy == info(Policy::kOracle).name ? -3 : 3), kBarsTop - 11, row.policy, "tick",
                row.policy == info(Policy::kOracle).name ? "end" : "start");
  }
}

}  // namespace

Figure policy_bars_figure(const ScheduleReport& report) {
  Figure figure{"policies-bars", "Makespan and completion by policy", "", {}, ""};
  const std::vector<PolicyRow> rows = policy_rows(report);
  figure.csv = csv_line({"policy", "score", "median_s", "lowest_s", "highest_s", "to_oracle_ratio"});
  bool any = false;
  for (const PolicyRow& row : rows) {
    for (const Panel& panel : kPanels) {
      figure.csv +=
          csv_line({row.policy, panel.title, csv_number(row.middle.*panel.value), csv_number(row.lowest.*panel.value),
                    csv_number(row.highest.*panel.value), csv_number(row.*panel.to_oracle)});
      any = any || std::isfinite(row.middle.*panel.value);
    }
  }
  if (!any) {
    figure.caption = "No job ran.";
    return figure;
  }
  const double bottom = kBarsTop + kRow * static_cast<double>(rows.size());
  SvgCanvas canvas("fig-" + figure.id, kFigureWidth, bottom + 44, figure.title,
                   "Bars by policy, with lines at random and at the oracle");
  for (size_t i = 0; i < rows.size(); ++i) {
    canvas.text(kNamesWidth - 8, kBarsTop + kRow * (static_cast<double>(i) + 0.5) + 4,
                fitted(rows[i].policy, kNamesWidth - 12, 12), "series", "end");
  }
  draw_bars(canvas, rows, kPanels[0], kNamesWidth, bottom);
  draw_bars(canvas, rows, kPanels[1], kNamesWidth + kBarsWidth + kBetween, bottom);
  figure.images.push_back(canvas.to_svg());
  figure.caption =
      "Shorter is better. Dashed lines: random placement, which knows nothing, and the oracle, which places by the "
      "true "
      "times; × is the ratio to the oracle.";
  if (seeds_of(report).size() > 1) {
    figure.caption += fmt::format(" Bars are medians over {} seeds, whiskers reach from the least to the most.",
                                  seeds_of(report).size());
  }
  return figure;
}

}  // namespace perfcast::fleet
