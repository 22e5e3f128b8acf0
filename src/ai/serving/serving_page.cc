#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ai/serving/serving_report.h"
#include "base/csv.h"
#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kLeft = 90, kRight = 760, kTop = 40, kBottom = 360, kHeight = 420;
constexpr size_t kMostCourses = 6;  // pictures of single rows

std::string axis_number(double value) { return fmt::format("{:.4g}", value); }

bool is_drawn(const ServingRow& row) { return row.problem.empty(); }

// Requests per second, or clients.
double load_number(const ServingReport& report, const ServingRow& row) {
  const ServingLoad& load = report.result.request.loads[row.load];
  return load.concurrency > 0 ? static_cast<double>(load.concurrency) : load.rate_per_s;
}

struct Series {
  size_t device;
  std::vector<std::pair<double, const ServingRow*>> points;  // by load
};

std::vector<Series> series_of(const ServingReport& report) {
  std::vector<Series> all;
  for (const ServingRow& row : report.result.rows) {
    const double load = load_number(report, row);
    if (!is_drawn(row) || !(load > 0)) continue;
    if (all.empty() || all.back().device != row.device) all.push_back({row.device, {}});
    all.back().points.emplace_back(load, &row);
  }
  for (Series& series : all) std::sort(series.points.begin(), series.points.end());
  return all;
}

struct Curve {
  const char* id;
  const char* title;
  const Percentiles ServingSummary::*times;
};

// Medians as lines with marks, 95% as thin lines.
std::string times_picture(const ServingReport& report, const std::vector<Series>& all, const Curve& curve) {
  double least = INFINITY, most = 0, least_load = INFINITY, most_load = 0;
  for (const Series& series : all) {
    for (const auto& [load, row] : series.points) {
      const Percentiles& times = row->forecast.*curve.times;
      if (!(times.p50 > 0)) continue;
      least = std::min(least, times.p50);
      most = std::max(most, times.p95);
      least_load = std::min(least_load, load);
      most_load = std::max(most_load, load);
    }
  }
  if (!(most > 0)) return "";
  SvgCanvas canvas(curve.id, kFigureWidth, kHeight, curve.title, "One line for each device: medians, and thin 95%");
  const Scale x = Scale::logarithmic(least_load, most_load, kLeft + 10, kRight - 10);
  const Scale y = Scale::logarithmic(least, most, kBottom, kTop);
  const bool is_rate = report.result.request.loads.front().concurrency == 0;
  canvas.text(kLeft, 22, curve.title, "panel");
  draw_x_axis(canvas, x, kTop, kBottom, is_rate ? "requests per second" : "clients", axis_number);
  draw_y_axis(canvas, y, kLeft, kRight, "time", human_seconds);
  double legend = kTop + 8;
  for (size_t s = 0; s < all.size(); ++s) {
    const std::string look = series_class(s);
    std::vector<std::pair<double, double>> medians, highs;
    for (const auto& [load, row] : all[s].points) {
      const Percentiles& times = row->forecast.*curve.times;
      if (!(times.p50 > 0)) continue;
      medians.emplace_back(x.at(load), y.at(times.p50));
      highs.emplace_back(x.at(load), y.at(times.p95));
      canvas.marker(series_marker(s), medians.back().first, medians.back().second, 4.5, look + " hollow",
                    fmt::format("{}: median {}, 95% {}", report.result.request.loads[row->load].words,
                                human_seconds(times.p50), human_seconds(times.p95)));
    }
    if (medians.size() > 1) {
      canvas.polyline(medians, look + " stroke");
      canvas.polyline(highs, look + " stroke thin");
    }
    const std::string& name = report.result.request.devices[all[s].device].facts.name;
    canvas.marker(series_marker(s), kRight + 24, legend, 4.5, look + " hollow");
    canvas.text(kRight + 36, legend + 4, fitted(name, 195, 12), "series", "start", name);
    legend += 20;
  }
  return canvas.to_svg();
}

// How many requests run and wait, over time.
std::string course_picture(const ServingReport& report, const ServingRow& row, size_t number) {
  const std::vector<ServeSample>& samples = row.samples;
  if (samples.size() < 2) return "";
  int64_t most = 1;
  for (const ServeSample& sample : samples) most = std::max({most, sample.running, sample.waiting});
  const std::string title = fmt::format("{}, {}", report.result.request.devices[row.device].facts.name,
                                        report.result.request.loads[row.load].words);
  SvgCanvas canvas(fmt::format("course-{}", number), kFigureWidth, kHeight, title, "Requests that run and that wait");
  const Scale x = Scale::linear(samples.front().at_s, samples.back().at_s, kLeft, kRight);
  const Scale y = Scale::linear(0, static_cast<double>(most), kBottom, kTop);
  canvas.text(kLeft, 22, title, "panel");
  draw_x_axis(canvas, x, kTop, kBottom, "time", human_seconds);
  draw_y_axis(canvas, y, kLeft, kRight, "requests", axis_number);
  const std::pair<const char*, int64_t ServeSample::*> lines[] = {{"run", &ServeSample::running},
                                                                  {"wait", &ServeSample::waiting}};
  for (size_t s = 0; s < std::size(lines); ++s) {
    std::vector<std::pair<double, double>> points;
    for (const ServeSample& sample : samples) {
      points.emplace_back(x.at(sample.at_s), y.at(static_cast<double>(sample.*lines[s].second)));
    }
    canvas.polyline(points, series_class(s) + " stroke");
    canvas.marker(series_marker(s), kRight + 24, kTop + 8 + 20 * static_cast<double>(s), 4.5, series_class(s));
    canvas.text(kRight + 36, kTop + 12 + 20 * static_cast<double>(s), lines[s].first, "series");
  }
  return canvas.to_svg();
}

}  // namespace

std::string serving_page(const ServingReport& report) {
  const std::string text = serving_text(report);
  Page page;
  page.title = "A service of " + report.result.request.config.name;
  page.lead = text.substr(0, text.find('\n'));
  const std::vector<Series> all = series_of(report);
  Figure times;
  times.id = "times";
  times.title = "Times against load";
  times.caption =
      "Lines with marks are medians over the requests, thin lines 95%. Both axes are logarithmic. "
      "Where a service falls behind, times grow as long as the load lasts.";
  times.csv = csv_line(
      {"device", "load", "first_token_p50_s", "first_token_p95_s", "further_token_p50_s", "further_token_p95_s"});
  for (const Series& series : all) {
    for (const auto& [load, row] : series.points) {
      const Percentiles &first = row->forecast.first_token, &further = row->forecast.further_token;
      times.csv +=
          csv_line({report.result.request.devices[series.device].facts.name, csv_number(load), csv_number(first.p50),
                    csv_number(first.p95), csv_number(further.p50), csv_number(further.p95)});
    }
  }
  for (const Curve& curve : {Curve{"first-token", "First token", &ServingSummary::first_token},
                             Curve{"further-token", "Each further token", &ServingSummary::further_token}}) {
    if (std::string image = times_picture(report, all, curve); !image.empty()) times.images.push_back(std::move(image));
  }
  Figure courses;
  courses.id = "course";
  courses.title = "Course";
  courses.caption = "Requests that run and that wait in all replicas, over the time that was simulated.";
  courses.csv = csv_line({"device", "load", "at_s", "running", "waiting", "cache_use_share"});
  for (const ServingRow& row : report.result.rows) {
    if (!is_drawn(row) || courses.images.size() == kMostCourses) continue;
    std::string image = course_picture(report, row, courses.images.size() + 1);
    if (image.empty()) continue;
    courses.images.push_back(std::move(image));
    for (const ServeSample& sample : row.samples) {
      courses.csv +=
          csv_line({report.result.request.devices[row.device].facts.name, report.result.request.loads[row.load].words,
                    csv_number(sample.at_s), std::to_string(sample.running), std::to_string(sample.waiting),
                    csv_number(sample.cache_use)});
    }
  }
  if (!times.images.empty() && report.result.request.loads.size() > 1) page.figures.push_back(std::move(times));
  if (!courses.images.empty()) page.figures.push_back(std::move(courses));
  page.sections.push_back({"results", "Results", preformatted_html(text)});
  return html_page(page);
}

}  // namespace perfcast::ai
