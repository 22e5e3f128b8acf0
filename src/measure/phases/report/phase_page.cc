#include "measure/phases/report/phase_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/json.h"
#include "base/text.h"
#include "measure/phases/report/phase_report.h"

namespace perfcast::measure {
namespace {

constexpr double kPlotLeft = 70, kPlotRight = kFigureWidth - 16, kPlotHeight = 260, kStripHeight = 22, kBarHeight = 15;
// A step of the course stands for at least this part of the instructions: samples of shorter ones are too few.
constexpr double kLeastStep = 0.008;
constexpr size_t kColours = 8;

std::string percent_of_run(double value) { return fmt::format("{:.0f}%", value); }
std::string seconds_tick(double value) { return value == 0 ? "0" : human_seconds(value); }
std::string rate_tick(double value) { return fmt::format("{:g}", value); }

// Neighbours of one kind together.
struct Step {
  size_t kind = 0;
  double from = 0, instructions = 0;
  double native_s = 0, forecast_s = 0;
  bool has_native = true, has_forecast = true;
};

std::vector<Step> steps_of(const Profile& profile, const std::optional<PhaseForecast>& forecast) {
  std::vector<Step> steps;
  double all = 0;
  for (const ProfilePhase& phase : profile.phases) all += phase.instructions_count;
  for (size_t i = 0; i < profile.phases.size(); ++i) {
    const ProfilePhase& phase = profile.phases[i];
    const size_t kind = phase.kind.value_or(0);
    const bool goes_on = !steps.empty() && steps.back().kind == kind && steps.back().instructions < kLeastStep * all;
    if (!goes_on) {
      Step& step = steps.emplace_back();
      step.kind = kind;
      step.from = phase.first_instruction_count;
    }
    Step& step = steps.back();
    step.instructions += phase.instructions_count;
    step.native_s += phase.native_cpu_s.value_or(0);
    step.has_native = step.has_native && phase.native_cpu_s.has_value();
    const auto expected = forecast ? forecast->slice_s[i] : std::nullopt;
    step.forecast_s += expected.value_or(0);
    step.has_forecast = step.has_forecast && expected.has_value();
  }
  return steps;
}

std::string colour_of(size_t kind) { return series_class(kind % kColours); }

double ns_of(double seconds, const Step& step) { return 1e9 * seconds / step.instructions; }

// The largest rate that is drawn: single steps may be far above all others.
double top_rate(const std::vector<Step>& steps) {
  std::vector<std::pair<double, double>> rates;
  double mass = 0;
  for (const Step& step : steps) {
    const double rate = std::max(step.has_native ? ns_of(step.native_s, step) : 0,
                                 step.has_forecast ? ns_of(step.forecast_s, step) : 0);
    rates.emplace_back(rate, step.instructions);
    mass += step.instructions;
  }
  std::sort(rates.begin(), rates.end());
  double sum = 0;
  for (const auto& [rate, instructions] : rates) {
    sum += instructions;
    if (sum >= 0.98 * mass) return 1.1 * rate;
  }
  return 1;
}

void draw_course(SvgCanvas& canvas, const std::vector<Step>& steps, bool with_forecast) {
  double all = 0;
  for (const Step& step : steps) all += step.instructions;
  const double top = 20, bottom = top + kPlotHeight;
  const Scale x = Scale::linear(0, 100, kPlotLeft, kPlotRight);
  const double most = top_rate(steps);
  const Scale y = Scale::linear(0, most, bottom, top);
  draw_y_axis(canvas, y, kPlotLeft, kPlotRight, "ns an instruction", rate_tick);
  for (const Step& step : steps) {
    if (!step.has_native) continue;
    const double left = x.at(100 * step.from / all), right = x.at(100 * (step.from + step.instructions) / all);
    const double height = y.at(std::min(most, ns_of(step.native_s, step)));
    canvas.rectangle(left, height, std::max(0.4, right - left), bottom - height, colour_of(step.kind) + " fill",
                     fmt::format("{}: measured {}, {:.3f} ns an instruction", phase_name(step.kind),
                                 human_seconds(step.native_s), ns_of(step.native_s, step)));
  }
  if (with_forecast) {
    std::vector<std::pair<double, double>> line;
    const auto flush = [&] {
      if (line.size() > 1) canvas.polyline(line, "forecast-line");
      line.clear();
    };
    line.reserve(2 * steps.size());
    for (const Step& step : steps) {
      if (!step.has_forecast) {
        flush();
        continue;
      }
      const double height = y.at(std::min(most, ns_of(step.forecast_s, step)));
      line.emplace_back(x.at(100 * step.from / all), height);
      line.emplace_back(x.at(100 * (step.from + step.instructions) / all), height);
    }
    flush();
  }
  for (const Step& step : steps) {
    const double left = x.at(100 * step.from / all), right = x.at(100 * (step.from + step.instructions) / all);
    canvas.rectangle(left, bottom + 6, std::max(0.4, right - left), kStripHeight - 8, colour_of(step.kind) + " fill",
                     phase_name(step.kind));
  }
  draw_x_axis(canvas, x, top, bottom + kStripHeight, "instructions executed", percent_of_run);
}

std::string course_svg(const Profile& profile, const std::vector<Step>& steps, bool with_forecast) {
  const double height = kPlotHeight + kStripHeight + 100;
  SvgCanvas canvas("phase-course", kFigureWidth, height, "Time per instruction over the run",
                   "Bars: measured, coloured by phase. Line: forecast.");
  draw_course(canvas, steps, with_forecast);
  std::vector<LegendEntry> legend;
  for (size_t k = 0; k < profile.phase_kinds->kinds.size(); ++k) {
    legend.push_back({LegendEntry::Kind::kBox, Marker::kCircle, colour_of(k) + " fill",
                      phase_name(k) + " " + phase_character(profile.phase_kinds->kinds[k].metrics)});
  }
  if (with_forecast) legend.push_back({LegendEntry::Kind::kLine, Marker::kCircle, "forecast-line", "forecast"});
  draw_legend(canvas, kPlotLeft, kPlotRight, kPlotHeight + kStripHeight + 74, legend);
  return canvas.to_svg();
}

std::string times_svg(const Profile& profile, const PhaseForecast& forecast) {
  const auto& kinds = profile.phase_kinds->kinds;
  double most = 0;
  for (size_t k = 0; k < kinds.size(); ++k)
    most = std::max({most, kinds[k].native_cpu_s.value_or(0), forecast.kind_s[k].value_or(0)});
  const double row = 2 * kBarHeight + 12, top = 14, bottom = top + row * static_cast<double>(kinds.size());
  SvgCanvas canvas("phase-times", kFigureWidth, bottom + 60, "Time of each phase", "Measured above, forecast below.");
  const Scale x = Scale::linear(0, most, kPlotLeft, kPlotRight - 120);
  draw_x_axis(canvas, x, top, bottom, "CPU time", seconds_tick);
  for (size_t k = 0; k < kinds.size(); ++k) {
    const double y = top + row * static_cast<double>(k) + 4;
    canvas.text(kPlotLeft - 10, y + kBarHeight + 4, phase_name(k), "label", "end");
    const auto bar = [&](double at, const std::optional<double>& seconds, const char* classes, const char* what) {
      if (!seconds) return;
      canvas.rectangle(kPlotLeft, at, x.at(*seconds) - kPlotLeft, kBarHeight - 2, colour_of(k) + " " + classes);
      canvas.text(x.at(*seconds) + 6, at + kBarHeight - 4, fmt::format("{} {}", human_seconds(*seconds), what), "tick");
    };
    bar(y, kinds[k].native_cpu_s, "fill", "measured");
    bar(y + kBarHeight, forecast.kind_s[k], "hollow", "forecast");
  }
  return canvas.to_svg();
}

std::string course_csv(const std::vector<Step>& steps) {
  std::string csv = "phase,first_instruction_count,instructions_count,native_cpu_s,forecast_cpu_s\n";
  for (const Step& step : steps) {
    csv += fmt::format("{},{:.0f},{:.0f},{},{}\n", phase_name(step.kind), step.from, step.instructions,
                       step.has_native ? fmt::format("{:.6g}", step.native_s) : "",
                       step.has_forecast ? fmt::format("{:.6g}", step.forecast_s) : "");
  }
  return csv;
}

std::string transitions_html(const PhaseSet& set) {
  std::string html = "<div class=\"wide\"><table><caption>What follows a slice, in percent</caption><tr><th></th>";
  for (size_t to = 0; to < set.kinds.size(); ++to) html += "<th>" + phase_name(to) + "</th>";
  html += "</tr>\n";
  for (size_t from = 0; from < set.kinds.size(); ++from) {
    double sum = 0;
    for (const double count : set.transitions[from]) sum += count;
    html += "<tr><th class=\"name\">after " + phase_name(from) + "</th>";
    for (const double count : set.transitions[from])
      html += count > 0 ? fmt::format("<td>{:.0f}</td>", 100 * count / sum) : std::string("<td></td>");
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

}  // namespace

std::string phases_html(const Profile& profile, const std::optional<PhaseForecast>& forecast,
                        const std::optional<PhasePowers>& power) {
  const PhaseSet& set = *profile.phase_kinds;
  const std::vector<Step> steps = steps_of(profile, forecast);
  Page page;
  page.title = "Phases of " + profile.program;
  page.lead = fmt::format("{} phases in {} slices of the run.", set.kinds.size(), profile.phases.size());
  page.style =
      "svg .forecast-line{fill:none;stroke:var(--ink);stroke-width:2;stroke-dasharray:5 3}"
      "pre{font-size:12.5px}";
  page.facts_html = "<dl><dt>command</dt><dd>" + escape_html(join(profile.command, " ")) + "</dd></dl>\n";
  page.facts_html +=
      fmt::format("<p><a class=\"csv\" download=\"perfcast-phases.json\" href=\"{}\">These phases as JSON</a></p>\n",
                  data_uri("application/json", to_text(phases_json(profile, forecast, power))));
  Figure course;
  course.id = "course";
  course.title = "Over the run";
  const bool has_native = std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.has_native; });
  if (has_native) course.caption = "CPU time per instruction: bars are measured on this machine, coloured by phase. ";
  if (forecast) course.caption += "The dashed line is the forecast. ";
  course.caption += "The strip says which phase runs";
  course.caption += has_native ? "." : "; native time is not known phase by phase.";
  const double most = top_rate(steps);
  const bool is_cut = std::any_of(steps.begin(), steps.end(), [most](const Step& step) {
    return step.has_native && ns_of(step.native_s, step) > most;
  });
  if (is_cut) course.caption += " Bars that reach the top are higher: a touch on one says its rate.";
  course.images.push_back(course_svg(profile, steps, forecast.has_value()));
  course.csv = course_csv(steps);
  page.figures.push_back(std::move(course));
  if (forecast) {
    Figure times;
    times.id = "times";
    times.title = "Time of each phase";
    times.caption = fmt::format("Measured, and forecast from the phases of {} other programs.", forecast->programs);
    times.images.push_back(times_svg(profile, *forecast));
    page.figures.push_back(std::move(times));
  }
  page.sections.push_back({"table", "Phases", preformatted_html(phases_text(profile, forecast, power))});
  page.sections.push_back({"transitions", "Transitions", transitions_html(set)});
  page.figures_first = true;
  return html_page(page);
}

}  // namespace perfcast::measure
