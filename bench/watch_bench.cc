// Rows a second from text to scores, 50 metrics, behind the warm-up: one core.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "base/random.h"
#include "measure/watch/line_splitter.h"
#include "measure/watch/row_parser.h"
#include "measure/watch/watcher.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMetrics = 50, kBlockRows = 1024;

std::string text_of(size_t rows, size_t first, bool json) {
  Random random(first);
  std::string text;
  double load = 1;
  for (size_t r = 0; r < rows; ++r) {
    load = 0.95 * load + 0.05 * (1 + 0.3 * random.normal());
    text += json ? "{\"time_s\":" + std::to_string(first + r) : std::to_string(first + r);
    for (size_t j = 0; j < kMetrics; ++j) {
      char cell[64];
      const double value =
          std::pow(10.0, static_cast<double>(j % 9)) * (1 + std::abs(load)) * (1 + 0.03 * random.normal());
      if (json) {
        std::snprintf(cell, sizeof(cell), ",\"metric_%zu\":%.7g", j, value);
      } else {
        std::snprintf(cell, sizeof(cell), ",%.7g", value);
      }
      text += cell;
    }
    text += json ? "}\n" : "\n";
  }
  return text;
}

void bench_watch(benchmark::State& state, bool json, bool detect) {
  WatcherOptions options;
  options.detector.refresh_s = detect ? 86400 : 1e18;
  Watcher watcher(options);
  ParserOptions parser_options;
  auto parser = json ? make_json_parser(parser_options) : make_csv_parser(parser_options);
  std::vector<Alert> alerts;
  LineSplitter lines;
  const auto feed = [&](const std::string& text) {
    lines.feed(text, [&](std::string_view line) {
      if (!parser->line(line, watcher.block()).ok()) return false;
      if (watcher.block().rows() >= kBlockRows) {
        if (detect) {
          if (!watcher.flush(alerts).ok()) return false;
        } else {
          watcher.block().clear();
        }
      }
      return true;
    });
  };
  std::string header = "time_s";
  for (size_t j = 0; j < kMetrics; ++j) header += ",metric_" + std::to_string(j);
  if (!json) feed(header + "\n");
  feed(text_of(6144, 0, json));
  const std::string text = text_of(20000, 6144, json);
  size_t rows = 0;
  for (auto _ : state) {
    feed(text);
    rows += 20000;
  }
  state.counters["rows/s"] = benchmark::Counter(static_cast<double>(rows), benchmark::Counter::kIsRate);
  state.counters["alerts"] = static_cast<double>(alerts.size());
}
BENCHMARK_CAPTURE(bench_watch, csv, false, true)->Unit(benchmark::kMillisecond)->MinTime(2);
BENCHMARK_CAPTURE(bench_watch, json_lines, true, true)->Unit(benchmark::kMillisecond)->MinTime(2);
BENCHMARK_CAPTURE(bench_watch, csv_reading_alone, false, false)->Unit(benchmark::kMillisecond)->MinTime(1);
BENCHMARK_CAPTURE(bench_watch, json_lines_reading_alone, true, false)->Unit(benchmark::kMillisecond)->MinTime(1);

}  // namespace
}  // namespace perfcast::measure
