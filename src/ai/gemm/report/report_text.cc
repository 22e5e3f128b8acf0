#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/gemm/conv/conv_report.h"
#include "ai/gemm/report/report.h"
#include "ai/gemm/report/slides.h"
#include "ai/gemm/rung/rung.h"
#include "base/text.h"

namespace perfcast::ai::gemm {
namespace {

constexpr double kSteady = 0.05;  // spread from which a time has fewer digits

using Align = TextTable::Align;

std::string threads_text(int threads) { return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s"); }

// No more digits than the spread leaves; an unknown one leaves as few as a wide one.
std::string digits(double value, double spread) {
  if (!std::isfinite(value)) return "-";
  const bool steady = spread <= kSteady;
  if (value == 0) return "0";
  const int places = (steady ? 2 : 1) - static_cast<int>(std::floor(std::log10(std::abs(value))));
  if (places > 0) return fmt::format("{:.{}f}", value, std::min(places, 9));
  const double step = std::pow(10.0, -places);
  return fmt::format("{:.0f}", std::round(value / step) * step);
}

std::string time_text(double seconds, double spread) {
  if (!std::isfinite(seconds)) return "-";
  for (const auto& [unit, scale] : {std::pair{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}}) {
    if (seconds >= scale) return digits(seconds / scale, spread) + " " + unit;
  }
  return digits(seconds / 1e-9, spread) + " ns";
}

// Half of it on either side; one sample has none.
std::string spread_text(double spread) { return std::isfinite(spread) ? fmt::format("{:.0f}%", spread * 50) : "?"; }
std::string percent(double share) { return std::isfinite(share) ? fmt::format("{:.0f}%", share * 100) : "-"; }
// Small ones with a digit that says something: naive loops reach tenths of a percent.
std::string share_text(double share) {
  return std::isfinite(share) && share < 0.0995 ? fmt::format("{:.2g}%", share * 100) : percent(share);
}

std::string speedup_text(double speedup) {
  if (!std::isfinite(speedup)) return "-";
  return speedup < 10 ? fmt::format("{:.1f}x", speedup) : fmt::format("{:.0f}x", speedup);
}

void limits(const GemmResult& result, std::string& text) {
  if (!result.peaks.empty()) {
    text += "\npeak measured here by loops of multiply-adds in registers\n";
    TextTable table;
    for (const char* title : {"precision", "instructions"}) table.add_column(title, Align::kLeft);
    for (const char* title : {"threads", "GFLOP/s", "+-"}) table.add_column(title, Align::kRight);
    for (const Peak& peak : result.peaks) {
      table.add_row({std::string(name_of(peak.precision)), peak.isa, std::to_string(peak.threads),
                     digits(peak.gflops, peak.spread), spread_text(peak.spread)});
    }
    text += table.to_text();
  }
  for (const Bandwidth& bandwidth : result.bandwidths) {
    text += fmt::format("memory read: {} GB/s, {} ({} array)\n", digits(bandwidth.gb_per_s, 0),
                        threads_text(bandwidth.threads), human_bytes(bandwidth.array_bytes));
  }
}

// Of the problem that `first` is a row of.
void ladder(const GemmResult& result, const RungResult& first, std::string& text) {
  const Shape& shape = first.shape;
  const bool square = shape.m == shape.n && shape.n == shape.k;
  if (first.conv) {
    text += fmt::format("\nconvolution {}\n= M x N x K = {}, {} MACs\n", to_text(*first.conv), to_text(shape),
                        human_number(operations(shape) / 2));
  } else {
    text += fmt::format("\nC = A B, {}{}\n", square ? "N = " : "M x N x K = ", to_text(shape));
  }
  TextTable table;
  table.add_column("rung", Align::kLeft);
  table.add_column("precision", Align::kLeft);
  for (const char* title : {"threads", "time", "+-", "GFLOP/s", "of peak", "speed-up"}) {
    table.add_column(title, Align::kRight);
  }
  table.add_column("kernel", Align::kLeft);
  table.add_column("note", Align::kLeft);
  for (const RungResult& row : result.rungs) {
    if (!same_problem(row, first)) continue;
    std::string note = row.note;
    if (!row.correct) note = "WRONG RESULT, not timed";
    if (row.correct && row.precision != Precision::kFp32) {
      note += fmt::format("{}error {:.2g}%", note.empty() ? "" : "; ", row.relative_error * 100);
    }
    table.add_row({row.title, std::string(name_of(row.precision)), std::to_string(row.threads),
                   time_text(row.median_s, row.spread), spread_text(row.spread), digits(row.gflops, row.spread),
                   share_text(row.peak_share), speedup_text(row.speedup), row.kernel, note});
  }
  text += table.to_text();
}

// Ours beside the slides': the shape with the most of their rungs, which is the largest.
void slides(const GemmResult& result, std::string& text) {
  Shape shape;
  for (const RungResult& row : result.rungs) {
    if (operations(row.shape) > operations(shape)) shape = row.shape;
  }
  const auto ours = [&](std::string_view rung) -> const RungResult* {
    const RungResult* best = nullptr;
    for (const RungResult& row : result.rungs) {
      if (row.name != rung || row.shape != shape || std::isnan(row.median_s)) continue;
      if (best == nullptr || row.median_s < best->median_s) best = &row;
    }
    return best;
  };
  const RungResult* first = ours(slide_rows().front().rung);
  const auto both = std::count_if(slide_rows().begin(), slide_rows().end(),
                                  [&](const SlideRow& row) { return !row.rung.empty() && ours(row.rung) != nullptr; });
  if (both < 2) return;
  text +=
      fmt::format("\nthe keynote's GEMM table (John, ICPE 2025; its N is not stated, 4096 fits) beside ours (N = {})\n",
                  to_text(shape));
  TextTable table;
  table.add_column("keynote", Align::kLeft);
  for (const char* title : {"time", "speed-up", "ours", "speed-up"}) table.add_column(title, Align::kRight);
  for (const SlideRow& row : slide_rows()) {
    const RungResult* here = row.rung.empty() ? nullptr : ours(row.rung);
    table.add_row({std::string(row.title), time_text(row.seconds, 0), speedup_text(kSlideFirst_s / row.seconds),
                   here == nullptr ? "-" : time_text(here->median_s, here->spread),
                   here == nullptr || first == nullptr ? "-" : speedup_text(first->median_s / here->median_s)});
  }
  text += table.to_text();
}

void advice(const GemmResult& result, std::string& text) {
  if (result.advice.empty()) return;
  text += "\nadvice, each measured before and after, in turns\n";
  for (const Advice& each : result.advice) {
    text += fmt::format("  {} takes {}; a faster option exists: {}, measured {} ({} -> {} GFLOP/s, {}){}\n",
                        each.subject, time_text(operations(each.shape) / each.before_gflops / 1e9, 0), each.change,
                        speedup_text(each.gain), digits(each.before_gflops, 0), digits(each.after_gflops, 0),
                        problem_text(each.shape, each.conv), each.cost.empty() ? "" : "; " + each.cost);
  }
}

}  // namespace

std::string to_text(const GemmResult& result) {
  std::string text = fmt::format("{}, {} core{}; {}\n", result.cpu, result.cores, result.cores == 1 ? "" : "s",
                                 join(result.isas, " "));
  if (std::isfinite(result.noise.load_average)) {
    text += fmt::format("load average {:.2f}", result.noise.load_average);
    if (std::isfinite(result.noise.steal_share))
      text += fmt::format(", stolen {:.1f}%", result.noise.steal_share * 100);
    if (std::isfinite(result.noise.peak_spread))
      text += fmt::format(", peak loop {:.1f}% apart", result.noise.peak_spread * 100);
    text += "\n";
  }
  if (result.gpu) {
    text += fmt::format("GPU: {}, driver {}", result.gpu->name, result.gpu->driver);
    if (std::isfinite(result.gpu->clock_hz)) text += fmt::format(", {:.0f} MHz", result.gpu->clock_hz / 1e6);
    if (std::isfinite(result.gpu->clock_limit_hz)) text += fmt::format(" of {:.0f}", result.gpu->clock_limit_hz / 1e6);
    if (std::isfinite(result.gpu->power_w)) text += fmt::format(", {:.0f} W", result.gpu->power_w);
    text += "\n";
  }
  limits(result, text);
  for (auto row = result.rungs.begin(); row != result.rungs.end(); ++row) {
    const auto same = [&row](const RungResult& before) { return same_problem(before, *row); };
    if (std::none_of(result.rungs.begin(), row, same)) ladder(result, *row, text);
  }
  if (result.op == "gemm") slides(result, text);
  if (result.op == "conv") text += network_text(result);
  advice(result, text);
  if (!result.skipped.empty()) text += "\nskipped\n";
  // One line for neighbours that share their reason: seven rungs of a GPU that is not there.
  for (size_t i = 0; i < result.skipped.size();) {
    const SkippedRung& skipped = result.skipped[i];
    std::vector<std::string> names;
    for (; i < result.skipped.size(); ++i) {
      const SkippedRung& next = result.skipped[i];
      const bool same = next.reason == skipped.reason && next.shape == skipped.shape && next.conv == skipped.conv;
      if (!same || next.threads != skipped.threads) break;
      names.push_back(next.name);
    }
    text += fmt::format("  {}, {}, {}: {}\n", join(names, ", "), problem_text(skipped.shape, skipped.conv),
                        threads_text(skipped.threads), skipped.reason);
  }
  if (!result.warnings.empty()) text += "\n";
  for (const std::string& warning : result.warnings) text += "warning: " + warning + "\n";
  return text;
}

std::string rung_list_text() {
  TextTable table;
  for (const char* title : {"rung", "what", "precision", "threads", "here"}) table.add_column(title, Align::kLeft);
  for (const Rung& rung : all_rungs()) {
    const std::string reason = rung.unavailable ? rung.unavailable() : "";
    table.add_row({rung.name, rung.title, std::string(name_of(rung.precision)), rung.threaded ? "any" : "1",
                   reason.empty() ? "yes" : "no: " + reason});
  }
  return table.to_text();
}

}  // namespace perfcast::ai::gemm
