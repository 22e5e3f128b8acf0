// Where the time goes, as bars: of the first thread, of all threads, of the CPUs.
#include <fmt/format.h>

#include <algorithm>

#include "base/csv.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"
#include "measure/diagnose/report/diagnosis_figures.h"
#include "measure/diagnose/report/report_words.h"

namespace perfcast::measure {
namespace {

constexpr double kSplitLeft = 8, kSplitRight = kFigureWidth - 8, kBarHeight = 34, kBarGap = 26;
constexpr double kLeastPart = 0.004;  // of a bar: what is smaller is in its last part, as what is beyond so many
constexpr size_t kMostBounds = 6;

struct SplitPart {
  std::string name;
  double s = 0;
};

struct SplitBar {
  std::string title;
  std::vector<SplitPart> parts;  // in the order they are drawn
  double total_s() const {
    double all = 0;
    for (const SplitPart& part : parts) all += part.s;
    return all;
  }
};

// User code's time by what bounds its cycles, largest first; all of it as one where nothing was modelled.
void add_user_parts(const Diagnosis& diagnosis, SplitBar& bar) {
  const double user_s = diagnosis.seen.run.user_s;
  if (diagnosis.bounds.empty()) {
    bar.parts.push_back({"user code", user_s});
    return;
  }
  std::vector<std::pair<double, std::string>> order;
  double all = 0;
  for (const auto& [bound, share] : diagnosis.bounds) {
    order.emplace_back(-share, bound);
    all += share;
  }
  std::sort(order.begin(), order.end());
  double rest_s = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const double s = user_s * -order[i].first / std::max(1e-9, all);
    if (i < kMostBounds) bar.parts.push_back({"user: " + order[i].second, s});
    if (i >= kMostBounds) rest_s += s;
  }
  bar.parts.push_back({"user: other bounds", rest_s});
}

void add_waits(const ThreadTimes& times, SplitBar& bar) {
  for (size_t i = 1; i < kThreadStates; ++i) {
    const auto state = static_cast<ThreadState>(i);
    if (times.of(state) > 0)
      bar.parts.push_back({"waiting: " + std::string(thread_state_text(state)), times.of(state)});
  }
}

std::vector<SplitBar> bars_of(const Diagnosis& diagnosis) {
  const Observation& seen = diagnosis.seen;
  std::vector<SplitBar> bars;
  SplitBar cpu{"CPU time of all threads", {}};
  add_user_parts(diagnosis, cpu);
  cpu.parts.push_back({"the kernel", seen.run.system_s});
  SplitBar first{"the first thread, from start to end",
                 {{"running, or ready to run", seen.first_thread.of(ThreadState::kRunning)}}};
  add_waits(seen.first_thread, first);
  SplitBar all{"all threads' time", {}};
  const double ready_s = std::min(seen.ready_s, seen.threads.of(ThreadState::kRunning));
  all.parts.push_back({"running", seen.threads.of(ThreadState::kRunning) - ready_s});
  all.parts.push_back({"ready, without a CPU", ready_s});
  add_waits(seen.threads, all);
  bars.push_back(std::move(first));
  if (seen.run.threads.value_or(1) > 1) bars.push_back(std::move(all));
  bars.push_back(std::move(cpu));
  std::erase_if(bars, [](const SplitBar& bar) { return !(bar.total_s() > 0); });
  for (SplitBar& bar : bars) {
    const double least_s = kLeastPart * bar.total_s();
    double rest_s = 0;
    std::erase_if(bar.parts, [&](const SplitPart& part) {
      rest_s += part.s < least_s ? part.s : 0;
      return part.s < least_s;
    });
    if (rest_s > least_s) bar.parts.push_back({"the rest", rest_s});
  }
  return bars;
}

// Kernel and other code have the same colours in all figures.
std::string part_class(const std::string& name, size_t number) {
  constexpr const char* kClasses[] = {"s0", "s2", "s3", "s4", "s5", "s7"};
  if (name == "the kernel") return "s1";
  if (name == "the rest" || name == "user: other bounds" || name == "ready, without a CPU") return "s6";
  return kClasses[number % std::size(kClasses)];
}

double draw_bar(SvgCanvas& canvas, const SplitBar& bar, double top) {
  const double total_s = bar.total_s();
  canvas.text(kSplitLeft, top + 12, fmt::format("{}: {}", bar.title, human_seconds(total_s)), "panel");
  const double bar_top = top + 20, middle = bar_top + kBarHeight / 2 + 4;
  double at = kSplitLeft;
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < bar.parts.size(); ++i) {
    const SplitPart& part = bar.parts[i];
    const double share = part.s / total_s, width = share * (kSplitRight - kSplitLeft);
    const std::string colour = part_class(part.name, i);
    const std::string words = fmt::format("{} {}, {}", part.name, percent_words(share), human_seconds(part.s));
    canvas.rectangle(at, bar_top, width, kBarHeight, colour + " part", words);
    if (width > 46) canvas.text(at + width / 2, middle, percent_words(share), "on-bar", "middle", words);
    legend.push_back({LegendEntry::Kind::kBox, {}, colour + " part", words});
    at += width;
  }
  return draw_legend(canvas, kSplitLeft, kSplitRight, bar_top + kBarHeight + 17, legend) + kBarGap - 12;
}

}  // namespace

Figure time_split_figure(const Diagnosis& diagnosis) {
  Figure figure{"time", "Where the time goes", "", {}, csv_line({"of", "part", "time_s"})};
  const std::vector<SplitBar> bars = bars_of(diagnosis);
  if (bars.empty()) {
    figure.caption = "The run was too short to be looked at.";
    return figure;
  }
  figure.caption =
      "What the first thread waits for is what the user waits for. CPU time of user code is split by what bounds its "
      "cycles";
  figure.caption += diagnosis.bounds.empty() ? " where it was counted; here it was not."
                                             : fmt::format(" on this core, as the model of {} says.", diagnosis.design);
  for (const SplitBar& bar : bars) {
    for (const SplitPart& part : bar.parts) figure.csv += csv_line({bar.title, part.name, csv_number(part.s)});
  }
  // Legends wrap by themselves: drawn once to see how high it gets.
  SvgCanvas measure("time-measure", kFigureWidth, 100, "", "");
  double height = 6;
  for (const SplitBar& bar : bars) height = draw_bar(measure, bar, height);
  SvgCanvas canvas("time-bars", kFigureWidth, height, figure.title, "Bars that are cut by what time was spent on");
  double top = 6;
  for (const SplitBar& bar : bars) top = draw_bar(canvas, bar, top);
  figure.images.push_back(canvas.to_svg());
  return figure;
}

}  // namespace perfcast::measure
