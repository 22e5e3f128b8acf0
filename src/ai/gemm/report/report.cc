#include "ai/gemm/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include "ai/gemm/conv/conv_report.h"
#include "ai/gemm/report/rung_list.h"
#include "ai/gemm/report/slides.h"
#include "ai/gemm/rung/rung.h"
#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"

namespace perfcast::ai::gemm {
namespace {

constexpr double kSteady = 0.05;     // spread from which a time has fewer digits
constexpr size_t kMostAnswers = 12;  // more problems and number formats than that are a table to read

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
// Small ones with a digit that says something: naive loops reach tenths of a percent.
std::string share_text(double share) {
  return std::isfinite(share) && share < 0.0995 ? fmt::format("{:.2g}%", share * 100) : percent(share, 0);
}

std::string speedup_text(double speedup) {
  if (!std::isfinite(speedup)) return "-";
  return speedup < 10 ? fmt::format("{:.1f}x", speedup) : fmt::format("{:.0f}x", speedup);
}

ReportTable peak_table(const std::vector<Peak>& peaks) {
  using enum Quantity;
  return table_of<Peak>(
      "", peaks,
      {{"", "precision", kText, [](const Peak& peak) { return name_of(peak.precision); }},
       {"device", "", kText, &Peak::device},
       {"isa", "instructions", kText, &Peak::isa},
       {"threads", "threads", kCount, &Peak::threads},
       {"gflops", "GFLOP/s", kNumber, &Peak::gflops, [](const Peak& peak) { return digits(peak.gflops, peak.spread); }},
       {"spread_ratio", "+-", kNumber, &Peak::spread, [](const Peak& peak) { return spread_text(peak.spread); }}});
}

template <typename Row>
void add_shape(std::vector<ColumnOf<Row>>& columns) {
  columns.push_back({"m", "", Quantity::kCount, [](const Row& row) { return row.shape.m; }});
  columns.push_back({"n", "", Quantity::kCount, [](const Row& row) { return row.shape.n; }});
  columns.push_back({"k", "", Quantity::kCount, [](const Row& row) { return row.shape.k; }});
}

template <typename Row>
void add_conv(std::vector<ColumnOf<Row>>& columns) {
  const auto add = [&](const char* name, auto of) {
    columns.push_back({name, "", Quantity::kCount,
                       [of](const Row& row) { return row.conv ? ReportValue(of(*row.conv)) : ReportValue(); }});
  };
  add("layer", [](const ConvLayer& layer) { return layer.name.empty() ? ReportValue() : ReportValue(layer.name); });
  add("layer_count",
      [](const ConvLayer& layer) { return layer.name.empty() ? ReportValue() : ReportValue(layer.count); });
  for (const auto& [name, size] : {std::pair{"batch", &ConvShape::batch},
                                   {"in_channels", &ConvShape::in_channels},
                                   {"height", &ConvShape::height},
                                   {"width", &ConvShape::width},
                                   {"out_channels", &ConvShape::out_channels},
                                   {"kernel_height", &ConvShape::kernel_height},
                                   {"kernel_width", &ConvShape::kernel_width},
                                   {"stride", &ConvShape::stride},
                                   {"padding", &ConvShape::padding}}) {
    add(name, [size = size](const ConvLayer& layer) { return ReportValue(layer.shape.*size); });
  }
}

std::string note_of(const RungResult& row) {
  if (!row.correct) return "WRONG RESULT, not timed";
  if (row.precision == Precision::kFp32) return row.note;
  return fmt::format("{}{}error {:.2g}%", row.note, row.note.empty() ? "" : "; ", row.relative_error * 100);
}

// All columns, in the order of JSON.
ReportTable rung_table(const std::vector<RungResult>& rungs) {
  using enum Quantity;
  using Row = RungResult;
  std::vector<ColumnOf<Row>> columns = {
      {"name", "", kText, &Row::name},
      {"title", "rung", kText, &Row::title},
      {"device", "", kText, &Row::device},
      {"precision", "precision", kText, [](const Row& row) { return name_of(row.precision); }}};
  add_shape(columns);
  add_conv(columns);
  const std::vector<ColumnOf<Row>> figures = {
      {"threads", "threads", kCount, &Row::threads},
      {"median_s", "time", kSeconds, &Row::median_s,
       [](const Row& row) { return time_text(row.median_s, row.spread); }},
      {"low_s", "", kSeconds, &Row::low_s},
      {"high_s", "", kSeconds, &Row::high_s},
      {"spread_ratio", "+-", kNumber, &Row::spread, [](const Row& row) { return spread_text(row.spread); }},
      {"on_cpu_ratio", "", kNumber, &Row::on_cpu},
      {"samples", "", kCount, &Row::samples},
      {"gflops", "GFLOP/s", kNumber, &Row::gflops, [](const Row& row) { return digits(row.gflops, row.spread); }},
      {"best_gflops", "", kNumber, &Row::best_gflops},
      {"peak_share", "of peak", kShare, &Row::peak_share, [](const Row& row) { return share_text(row.peak_share); }},
      {"isa_share", "", kShare, &Row::isa_share},
      {"speedup", "speed-up", kNumber, &Row::speedup, [](const Row& row) { return speedup_text(row.speedup); }},
      {"correct", "", kYes, &Row::correct},
      {"relative_error", "", kNumber, &Row::relative_error},
      {"isa", "", kText, [](const Row& row) { return row.isa.empty() ? ReportValue() : ReportValue(row.isa); }},
      {"kernel", "kernel", kText, &Row::kernel},
      {"note", "note", kText, &Row::note, note_of}};
  columns.insert(columns.end(), figures.begin(), figures.end());
  ReportTable table = table_of<Row>("", rungs, columns);
  table.shows_unknown = true;
  return table;
}

Json skipped_json(const std::vector<SkippedRung>& skipped) {
  std::vector<ColumnOf<SkippedRung>> columns = {{"name", "", Quantity::kText, &SkippedRung::name},
                                                {"reason", "", Quantity::kText, &SkippedRung::reason}};
  add_shape(columns);
  columns.push_back({"threads", "", Quantity::kCount, &SkippedRung::threads});
  add_conv(columns);
  return rows_json(table_of<SkippedRung>("", skipped, columns));
}

Json advice_json(const std::vector<Advice>& advice) {
  using enum Quantity;
  std::vector<ColumnOf<Advice>> columns = {{"change", "", kText, &Advice::change}, {"kind", "", kText, &Advice::kind}};
  add_shape(columns);
  add_conv(columns);
  columns.push_back({"before_gflops", "", kNumber, &Advice::before_gflops});
  columns.push_back({"after_gflops", "", kNumber, &Advice::after_gflops});
  columns.push_back({"gain", "", kNumber, &Advice::gain});
  columns.push_back({"measured", "", kYes, &Advice::is_measured});
  columns.push_back({"cost", "", kText,
                     [](const Advice& each) { return each.cost.empty() ? ReportValue() : ReportValue(each.cost); }});
  return rows_json(table_of<Advice>("", advice, columns));
}

void limits(const GemmResult& result, std::string& text) {
  if (!result.peaks.empty()) {
    text += "\npeak measured here by loops of multiply-adds in registers\n" + rows_text(peak_table(result.peaks));
  }
  for (const Bandwidth& bandwidth : result.bandwidths) {
    text +=
        fmt::format("memory read: {} GB/s +- {}, {} ({} array)\n", digits(bandwidth.gb_per_s, bandwidth.spread),
                    spread_text(bandwidth.spread), threads_text(bandwidth.threads), human_bytes(bandwidth.array_bytes));
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
  std::vector<RungResult> rows;
  std::ranges::copy_if(result.rungs, std::back_inserter(rows),
                       [&first](const RungResult& row) { return same_problem(row, first); });
  text += rows_text(rung_table(rows));
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

// The fastest way for each problem and number format, and how far below it what is installed stays.
std::string answer_text(const GemmResult& result) {
  std::string text;
  std::vector<const RungResult*> best;  // of a problem and precision, in the order of the rungs
  for (const RungResult& row : result.rungs) {
    if (!row.correct || !std::isfinite(row.gflops)) continue;
    const auto same = std::ranges::find_if(best, [&row](const RungResult* other) {
      return other->precision == row.precision && other->device == row.device && same_problem(*other, row);
    });
    if (same == best.end()) {
      best.push_back(&row);
    } else if (row.gflops > (*same)->gflops) {
      *same = &row;
    }
  }
  if (best.size() > kMostAnswers) return text;
  const bool one = std::ranges::all_of(best, [&](const RungResult* row) { return same_problem(*row, *best.front()); });
  for (const RungResult* row : best) {
    text += fmt::format("fastest in {}{}{}{}: {}, {}: {}, {} GFLOP/s", name_of(row->precision),
                        row->device == "cpu" ? "" : " on the GPU", one ? "" : ", ",
                        one ? "" : problem_text(row->shape, row->conv), row->title, threads_text(row->threads),
                        time_text(row->median_s, row->spread), digits(row->gflops, row->spread));
    if (std::isfinite(row->peak_share)) {
      text += fmt::format(", {} of the peak that {} here", share_text(row->peak_share),
                          row->threads == 1 ? "one core reaches" : "these cores reach");
    }
    text += "\n";
  }
  return text;
}

// What is installed or set wrongly comes first, what needs other code last.
int rank_of(const Advice& advice) {
  constexpr std::array<std::string_view, 5> kOrder = {"library", "environment", "threads", "precision", "flags"};
  return static_cast<int>(std::ranges::find(kOrder, std::string_view(advice.kind)) - kOrder.begin());
}

void advice(const GemmResult& result, std::string& text) {
  if (result.advice.empty()) return;
  text += "\nadvice\n";
  std::vector<Advice> ordered = result.advice;
  std::ranges::stable_sort(ordered, [](const Advice& a, const Advice& b) { return rank_of(a) < rank_of(b); });
  for (const Advice& each : ordered) {
    text += fmt::format("  {} takes {}; a faster option exists: {}, {} {} ({} -> {} GFLOP/s, {}){}\n", each.subject,
                        time_text(operations(each.shape) / each.before_gflops / 1e9, 0), each.change,
                        each.is_measured ? "measured" : "expected", speedup_text(each.gain),
                        digits(each.before_gflops, 0), digits(each.after_gflops, 0),
                        problem_text(each.shape, each.conv), each.cost.empty() ? "" : "; " + each.cost);
  }
}

// The widest instructions at one thread and at the most threads that were measured and have a core each, then every
// loop.
Json peaks_json(const GemmResult& result) {
  Json all = Json::object();
  for (const Precision precision : precisions()) {
    Json entry = Json::object();
    int most = 0;
    for (const Peak& peak : result.peaks) {
      if (peak.precision != precision || peak.device != "cpu") continue;
      if (!result.oversubscribed(peak.device, peak.threads)) most = std::max(most, peak.threads);
    }
    if (most > 0) {
      put_known(entry, "per_core", result.peak("cpu", precision, 1));
      put_known(entry, "total", result.peak("cpu", precision, most));
      entry["total_threads"] = most;
    }
    std::vector<Peak> loops;
    std::ranges::copy_if(result.peaks, std::back_inserter(loops),
                         [precision](const Peak& peak) { return peak.precision == precision; });
    if (loops.empty()) continue;
    entry["loops"] = rows_json(peak_table(loops));
    all[std::string(name_of(precision))] = std::move(entry);
  }
  return all;
}

}  // namespace

std::string to_text(const GemmResult& result, bool beside_slides) {
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
  std::string first = answer_text(result);
  if (!first.empty()) text = first + "\n" + text;
  for (auto row = result.rungs.begin(); row != result.rungs.end(); ++row) {
    const auto same = [&row](const RungResult& before) { return same_problem(before, *row); };
    if (std::none_of(result.rungs.begin(), row, same)) ladder(result, *row, text);
  }
  if (beside_slides && result.op == "gemm") slides(result, text);
  if (result.op == "conv") text += network_text(result);
  advice(result, text);
  limits(result, text);
  if (!result.skipped.empty()) text += "\nskipped\n";
  // One line for those that share their reason: seven rungs of a GPU that is not there, a library at 1 and 2 threads.
  std::set<std::string> told;
  for (const SkippedRung& first_one : result.skipped) {
    const std::string problem = problem_text(first_one.shape, first_one.conv);
    if (!told.insert(problem + "\n" + first_one.reason).second) continue;
    std::vector<std::string> names, threads;
    for (const SkippedRung& other : result.skipped) {
      if (other.reason != first_one.reason || problem_text(other.shape, other.conv) != problem) continue;
      if (std::ranges::find(names, other.name) == names.end()) names.push_back(other.name);
      const std::string count = std::to_string(other.threads);
      if (std::ranges::find(threads, count) == threads.end()) threads.push_back(count);
    }
    text += fmt::format("  {}, {}, {}: {}\n", join(names, ", "), problem,
                        threads.size() == 1 ? threads_text(first_one.threads) : join(threads, " and ") + " threads",
                        first_one.reason);
  }
  if (!result.warnings.empty()) text += "\n";
  for (const std::string& warning : result.warnings) text += "warning: " + warning + "\n";
  return text;
}

Json to_json(const GemmResult& result) {
  Json json;
  json["schema"] = kGemmSchema;
  json["op"] = result.op;
  json["cpu"] = result.cpu;
  json["cores"] = result.cores;
  json["instruction_sets"] = result.isas;
  json["seed"] = result.seed;
  json["peak_gflops"] = peaks_json(result);
  Json bandwidths = Json::array();
  for (const Bandwidth& bandwidth : result.bandwidths) {
    bandwidths.push_back({{"threads", bandwidth.threads},
                          {"read_bytes_per_s", bandwidth.gb_per_s * 1e9},
                          {"array_bytes", bandwidth.array_bytes}});
    put_known(bandwidths.back(), "spread_ratio", bandwidth.spread);
  }
  json["bandwidth"] = std::move(bandwidths);
  if (result.gpu) {
    Json gpu;
    gpu["name"] = result.gpu->name;
    gpu["driver"] = result.gpu->driver;
    put_known(gpu, "memory_bytes", result.gpu->memory_bytes);
    put_known(gpu, "clock_hz", result.gpu->clock_hz);
    put_known(gpu, "clock_limit_hz", result.gpu->clock_limit_hz);
    put_known(gpu, "power_w", result.gpu->power_w);
    put_known(gpu, "power_limit_w", result.gpu->power_limit_w);
    put_known(gpu, "temperature_c", result.gpu->temperature_c);
    json["gpu"] = std::move(gpu);
  }
  json["rungs"] = rows_json(rung_table(result.rungs));
  json["skipped"] = skipped_json(result.skipped);
  json["advice"] = advice_json(result.advice);
  Json noise = Json::object();
  put_known(noise, "load_average", result.noise.load_average);
  put_known(noise, "steal_ratio", result.noise.steal_share);
  put_known(noise, "on_cpu_ratio", result.noise.on_cpu);
  put_known(noise, "peak_spread_ratio", result.noise.peak_spread);
  json["noise"] = std::move(noise);
  json["warnings"] = result.warnings;
  return json;
}

std::string rung_list_text() { return rows_text(rung_list(all_rungs())); }

Json rung_list_json() { return {{"schema", "perfcast.gemm.rungs/1"}, {"rungs", rows_json(rung_list(all_rungs()))}}; }

}  // namespace perfcast::ai::gemm
