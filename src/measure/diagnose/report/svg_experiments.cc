// What was tried for a finding: its time over that of the command as it is, with the 95% interval.
#include <fmt/format.h>

#include <algorithm>

#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"
#include "measure/diagnose/report/diagnosis_figures.h"

namespace perfcast::measure {
namespace {

constexpr double kTriedLeft = 330, kTriedRight = 760, kTriedRow = 26, kTriedTop = 24, kTriedWords = 775;

std::string tried_words(const ExperimentResult& result) {
  if (!result.failed.empty()) return "not tried";
  if (!result.is_timed()) return "prints something else";
  if (result.is_screened)
    return fmt::format("{:.2f} x, {:.0f} pairs{}", result.ratio, result.pairs_count,
                       result.is_promising ? ": may help" : "");
  return fmt::format("{:.2f} x ({:.2f} .. {:.2f})", result.ratio, result.lower, result.upper);
}

}  // namespace

std::string experiments_svg(const Finding& finding, size_t number) {
  if (finding.results.empty()) return "";
  double low = 0.5, high = 1.2;
  for (const ExperimentResult& result : finding.results) {
    if (!result.failed.empty() || !result.is_timed()) continue;
    low = std::min({low, result.ratio - 0.05, result.is_screened ? low : result.lower - 0.05});
    high = std::max({high, result.ratio + 0.05, result.is_screened ? high : result.upper + 0.05});
  }
  const double bottom = kTriedTop + kTriedRow * static_cast<double>(finding.results.size()) + 4;
  SvgCanvas canvas(fmt::format("tried-{}", number), kFigureWidth, bottom + 40, "What was tried",
                   "Time over that of the command as it is, with its 95% interval");
  const Scale x = Scale::linear(std::max(0.0, low), std::min(high, 4.0), kTriedLeft, kTriedRight);
  draw_x_axis(canvas, x, kTriedTop - 6, bottom, "time over that of the command as it is", ratio_text);
  canvas.line(x.at(1), kTriedTop - 10, x.at(1), bottom, "even");
  canvas.text(x.at(1), kTriedTop - 13, "as it is", "tick halo", "middle");
  double y = kTriedTop + kTriedRow / 2;
  for (const ExperimentResult& result : finding.results) {
    const std::string how = result.experiment.name + ": " + result.experiment.in_words();
    canvas.text(kTriedLeft - 14, y + 4, fitted(result.experiment.name, kTriedLeft - 26, 12), "series", "end", how);
    if (!result.failed.empty()) {
      canvas.text(x.at(1) + 8, y + 4, fitted(result.failed, kFigureWidth - x.at(1) - 20, 11), "tick halo", "start",
                  result.failed);
    } else if (result.is_timed()) {
      if (!result.is_screened)
        canvas.line(x.at(result.lower), y, x.at(result.upper), y, result.is_gain() ? "proven" : "open");
      canvas.marker(Marker::kCircle, x.at(result.ratio), y, 4, "dot", how);
      canvas.text(kTriedWords, y + 4, tried_words(result) + (result.experiment.by_cpu_time ? " CPU time" : ""), "row");
    }
    y += kTriedRow;
  }
  return canvas.to_svg();
}

}  // namespace perfcast::measure
