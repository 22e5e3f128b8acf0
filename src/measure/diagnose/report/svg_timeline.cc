// The course of a run: CPU time by function, phases, what threads wait for, what each thread did.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/csv.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"
#include "measure/diagnose/report/diagnosis_figures.h"
#include "measure/diagnose/report/report_words.h"

namespace perfcast::measure {
namespace {

constexpr double kCourseLeft = 150, kCourseRight = kFigureWidth - 12, kCourseHeight = 170, kLaneHeight = 15;
constexpr size_t kFunctionsDrawn = 6, kLanesDrawn = 24, kStatesDrawn = 5;
constexpr size_t kLaneColumns = 420;
constexpr double kWaitsShown = 0.02;  // of all threads' time
constexpr double kLeastLayer = 0.005;
constexpr const char* kFunctionClasses[kFunctionsDrawn] = {"s0", "s2", "s3", "s4", "s5", "s7"};
constexpr const char* kStateClasses[kStatesDrawn] = {"s3", "s5", "s4", "s7", "s2"};

struct CourseLayer {
  std::string name, colour;
  std::vector<double> values;  // for each interval
};

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

class TimelineDrawing {
 public:
  explicit TimelineDrawing(const Diagnosis& diagnosis)
      : seen_(diagnosis.seen),
        timeline_(diagnosis.seen.timeline),
        x_(Scale::linear(0, timeline_.length_s, kCourseLeft, kCourseRight)) {}

  // Draws all of it; -> the height that it takes.
  double draw(SvgCanvas& canvas);
  std::string csv() const;

 private:
  std::string class_of(int32_t function) const;
  std::vector<CourseLayer> cpu_layers() const;
  std::vector<CourseLayer> state_layers() const;
  double draw_layers(SvgCanvas& canvas, double top, const std::string& title, const std::string& unit,
                     const std::vector<CourseLayer>& layers);
  double draw_phases(SvgCanvas& canvas, double top);
  double draw_lanes(SvgCanvas& canvas, double top);
  void draw_lane(SvgCanvas& canvas, double top, const ThreadTrack& track);

  const Observation& seen_;
  const RunTimeline& timeline_;
  Scale x_;
};

// Of a function that has a layer of its own, in all panels the same.
std::string TimelineDrawing::class_of(int32_t function) const {
  for (size_t i = 0; i < std::min(kFunctionsDrawn, timeline_.cpu.size()); ++i) {
    if (function >= 0 && timeline_.cpu[i].function == function) return kFunctionClasses[i];
  }
  return "s6";
}

std::vector<CourseLayer> TimelineDrawing::cpu_layers() const {
  std::vector<CourseLayer> layers;
  CourseLayer other{"other code", "s6", std::vector<double>(timeline_.intervals_count())};
  CourseLayer kernel{"the kernel", "s1", other.values};
  for (const TimelineRow& row : timeline_.cpu) {
    const std::string colour = class_of(row.function);
    if (colour != "s6") {
      layers.push_back({short_function_name(row_in_words(row, seen_)), colour, row.cpu_s});
      continue;
    }
    CourseLayer& to = row.function == TimelineRow::kKernelCode ? kernel : other;
    for (size_t i = 0; i < row.cpu_s.size(); ++i) to.values[i] += row.cpu_s[i];
  }
  layers.push_back(std::move(other));
  layers.push_back(std::move(kernel));
  for (CourseLayer& layer : layers) {
    for (double& value : layer.values) value /= timeline_.interval_s;
  }
  double all = 0;
  for (const CourseLayer& layer : layers) all += sum_of(layer.values);
  std::erase_if(layers, [&](const CourseLayer& layer) { return sum_of(layer.values) <= kLeastLayer * all; });
  return layers;
}

// By state: threads that run, and those that wait, by what for.
std::vector<CourseLayer> TimelineDrawing::state_layers() const {
  std::vector<std::pair<double, size_t>> order;
  double waits = 0, all = 0;
  for (size_t i = 0; i < kThreadStates; ++i) {
    const double s = sum_of(timeline_.state_s.at(i));
    all += s;
    if (i > 0 && s > 0) order.emplace_back(-s, i);
    if (i > 0) waits += s;
  }
  if (!(waits > kWaitsShown * all)) return {};
  std::sort(order.begin(), order.end());
  std::vector<CourseLayer> layers = {
      {std::string(thread_state_text(ThreadState::kRunning)), "s0", timeline_.state_s[0]}};
  CourseLayer rest{"waiting for other things", "s6", std::vector<double>(timeline_.intervals_count())};
  for (size_t i = 0; i < order.size(); ++i) {
    const std::vector<double>& s = timeline_.state_s.at(order[i].second);
    if (i < kStatesDrawn) {
      layers.push_back({"waiting: " + std::string(thread_state_text(static_cast<ThreadState>(order[i].second))),
                        kStateClasses[i], s});
    } else {
      for (size_t k = 0; k < s.size(); ++k) rest.values[k] += s[k];
    }
  }
  if (sum_of(rest.values) > 0) layers.push_back(std::move(rest));
  for (CourseLayer& layer : layers) {
    for (double& value : layer.values) value /= timeline_.interval_s;
  }
  return layers;
}

double TimelineDrawing::draw_layers(SvgCanvas& canvas, double top, const std::string& title, const std::string& unit,
                                    const std::vector<CourseLayer>& layers) {
  std::vector<LegendEntry> legend;
  legend.reserve(layers.size());
  std::vector<double> below(timeline_.intervals_count());
  double most = 1;
  for (size_t i = 0; i < below.size(); ++i) {
    double all = 0;
    for (const CourseLayer& layer : layers) all += layer.values[i];
    most = std::max(most, all);
  }
  for (const CourseLayer& layer : layers)
    legend.push_back({LegendEntry::Kind::kBox, {}, layer.colour + " part", fitted(layer.name, 400, 12)});
  canvas.text(8, top + 12, title, "panel");
  const double panel_top = draw_legend(canvas, 8, kCourseRight, top + 31, legend) - 2,
               bottom = panel_top + kCourseHeight;
  const Scale y = Scale::linear(0, most, bottom, panel_top);
  draw_x_axis(canvas, x_, panel_top, bottom, "time since the start (s)", ratio_text);
  draw_y_axis(canvas, y, kCourseLeft, kCourseRight, unit, ratio_text);
  for (const CourseLayer& layer : layers) {
    std::vector<std::pair<double, double>> outline, back;
    for (size_t i = 0; i < below.size(); ++i) {
      // Steps: an interval's mean is all that is known of it.
      const double from = x_.at(timeline_.interval_s * static_cast<double>(i));
      const double until = x_.at(timeline_.interval_s * static_cast<double>(i + 1));
      const double low = y.at(below[i]), high = y.at(below[i] + layer.values[i]);
      outline.emplace_back(from, high);
      outline.emplace_back(until, high);
      back.emplace_back(from, low);
      back.emplace_back(until, low);
      below[i] += layer.values[i];
    }
    outline.insert(outline.end(), back.rbegin(), back.rend());
    canvas.polyline(outline, layer.colour + " area");
  }
  return bottom + 52;
}

double TimelineDrawing::draw_phases(SvgCanvas& canvas, double top) {
  if (timeline_.phases.size() < 2) return top;
  canvas.text(8, top + 15, "phases", "panel");
  for (size_t i = 0; i < timeline_.phases.size(); ++i) {
    const RunPhase& phase = timeline_.phases[i];
    const double from = x_.at(phase.start_s), width = x_.at(phase.end_s) - from;
    const std::string words =
        fmt::format("{}: {} to {}", phase.name, human_seconds(phase.start_s), human_seconds(phase.end_s));
    canvas.rectangle(from, top, width, 22, "wait part", words);
    if (width > 60)
      canvas.text(from + 6, top + 15, fitted(short_function_name(phase.name), width - 10, 11), "", "start", words);
  }
  return top + 40;
}

// A column shows what the thread did for most of it.
void TimelineDrawing::draw_lane(SvgCanvas& canvas, double top, const ThreadTrack& track) {
  const double column_s = timeline_.length_s / static_cast<double>(kLaneColumns);
  size_t span = 0;
  const ThreadSpan* current = nullptr;
  double from_s = 0, until_s = 0;
  const auto finish = [&] {
    if (current == nullptr) return;
    std::string colour = "idle", words = doing_in_words(*current);
    if (current->doing == ThreadSpan::Doing::kUserCode) {
      colour = class_of(current->function);
      words = current->function >= 0 ? seen_.functions[static_cast<size_t>(current->function)].name() : "other code";
    }
    if (current->doing == ThreadSpan::Doing::kKernel) colour = "s1";
    if (current->doing == ThreadSpan::Doing::kWaiting) colour = "wait";
    canvas.rectangle(x_.at(from_s), top + 1, std::max(0.4, x_.at(until_s) - x_.at(from_s)), kLaneHeight - 3,
                     colour + " lane", words);
  };
  const auto is_alike = [](const ThreadSpan& a, const ThreadSpan& b) {
    return a.doing == b.doing && a.function == b.function && a.state == b.state;
  };
  for (size_t column = 0; column < kLaneColumns; ++column) {
    const double from = column_s * static_cast<double>(column), until = from + column_s;
    const ThreadSpan* most = nullptr;
    double most_s = 0;
    while (span < track.spans.size() && track.spans[span].end_s <= from) ++span;
    for (size_t i = span; i < track.spans.size() && track.spans[i].start_s < until; ++i) {
      const double s = std::min(until, track.spans[i].end_s) - std::max(from, track.spans[i].start_s);
      if (s <= most_s) continue;
      most_s = s;
      most = &track.spans[i];
    }
    if (current != nullptr && most != nullptr && is_alike(*current, *most)) {
      until_s = until;
      continue;
    }
    finish();
    current = most;
    from_s = from;
    until_s = until;
  }
  finish();
}

double TimelineDrawing::draw_lanes(SvgCanvas& canvas, double top) {
  const size_t count = std::min(kLanesDrawn, timeline_.threads.size());
  if (count == 0) return top;
  // Those with most CPU time, by their start.
  std::vector<size_t> order(timeline_.threads.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return timeline_.threads[a].cpu_s > timeline_.threads[b].cpu_s; });
  order.resize(count);
  std::sort(order.begin(), order.end());
  const size_t hidden = timeline_.threads.size() - count + timeline_.threads_left_out_count;
  canvas.text(8, top + 12,
              hidden == 0 ? "threads" : fmt::format("threads: {} with most CPU time, of {}", count, count + hidden),
              "panel");
  const std::vector<LegendEntry> legend = {{LegendEntry::Kind::kBox, {}, "wait part", "waiting"},
                                           {LegendEntry::Kind::kBox, {}, "idle part", "ready, without a CPU"},
                                           {LegendEntry::Kind::kBox, {}, "s1 part", "the kernel"},
                                           {LegendEntry::Kind::kBox, {}, "s6 part", "other code"}};
  double y = draw_legend(canvas, 8, kCourseRight, top + 31, legend);
  const double bottom = y + kLaneHeight * static_cast<double>(count);
  draw_x_axis(canvas, x_, y, bottom, "time since the start (s)", ratio_text);
  for (const size_t number : order) {
    const ThreadTrack& track = timeline_.threads[number];
    const std::string name = fmt::format("{} {}", track.program.empty() ? "process" : track.program, track.thread);
    canvas.text(
        kCourseLeft - 8, y + 11, fitted(name, kCourseLeft - 18, 10.5), "row", "end",
        fmt::format("process {}, thread {}: {} of CPU time", track.process, track.thread, human_seconds(track.cpu_s)));
    draw_lane(canvas, y, track);
    y += kLaneHeight;
  }
  return bottom + 46;
}

double TimelineDrawing::draw(SvgCanvas& canvas) {
  double top = 6;
  if (const auto layers = cpu_layers(); !layers.empty())
    top = draw_layers(canvas, top, "CPUs in use, by what runs on them", "CPUs", layers);
  top = draw_phases(canvas, top);
  if (const auto layers = state_layers(); !layers.empty())
    top = draw_layers(canvas, top, "threads, by what they do", "threads", layers);
  return draw_lanes(canvas, top);
}

std::string TimelineDrawing::csv() const {
  std::vector<std::string> cells = {"start_s"};
  for (const TimelineRow& row : timeline_.cpu) cells.push_back(row_in_words(row, seen_) + " (CPU s)");
  for (size_t i = 1; i < kThreadStates; ++i)
    cells.push_back("waiting: " + std::string(thread_state_text(static_cast<ThreadState>(i))) + " (s)");
  cells.emplace_back("threads");
  std::string text = csv_line(cells);
  for (size_t interval = 0; interval < timeline_.intervals_count(); ++interval) {
    cells = {csv_number(timeline_.interval_s * static_cast<double>(interval))};
    for (const TimelineRow& row : timeline_.cpu) cells.push_back(csv_number(row.cpu_s[interval]));
    for (size_t i = 1; i < kThreadStates; ++i) cells.push_back(csv_number(timeline_.state_s.at(i)[interval]));
    cells.push_back(csv_number(timeline_.threads_count[interval]));
    text += csv_line(cells);
  }
  return text;
}

}  // namespace

Figure timeline_figure(const Diagnosis& diagnosis) {
  Figure figure{"timeline", "Timeline", "", {}, ""};
  if (diagnosis.seen.timeline.intervals_count() == 0) {
    figure.caption = "No timeline: the run was too short to be looked at.";
    return figure;
  }
  figure.caption =
      "What ran is known by samples of the CPU time, what was waited for by looks at each thread; shorter than those "
      "are "
      "apart, neither is seen.";
  TimelineDrawing drawing(diagnosis);
  figure.csv = drawing.csv();
  // Legends wrap by themselves: drawn once to see how high it gets.
  SvgCanvas measure("timeline-measure", kFigureWidth, 100, "", "");
  SvgCanvas canvas("timeline-course", kFigureWidth, drawing.draw(measure), figure.title,
                   "CPUs in use by function, phases of the run, and a lane for each thread");
  drawing.draw(canvas);
  figure.images.push_back(canvas.to_svg());
  return figure;
}

}  // namespace perfcast::measure
