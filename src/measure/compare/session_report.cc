#include "measure/compare/session_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr size_t kUnchangedShown = 20;
constexpr size_t kNamesShown = 8;

bool is_changed(const SessionRow& row) {
  return row.verdict == CompareVerdict::kSlower || row.verdict == CompareVerdict::kFaster ||
         row.verdict == CompareVerdict::kBelowThreshold;
}

// Slower ones first, the most first; what isn't clear in the file's order behind them.
std::vector<const SessionRow*> in_order(const SessionComparison& comparison) {
  std::vector<const SessionRow*> rows;
  for (const SessionRow& row : comparison.rows) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const SessionRow* a, const SessionRow* b) {
    if (is_changed(*a) != is_changed(*b)) return is_changed(*a);
    return is_changed(*a) && a->ratio > b->ratio;
  });
  return rows;
}

size_t count_of(const SessionComparison& comparison, CompareVerdict verdict) {
  return static_cast<size_t>(std::count_if(comparison.rows.begin(), comparison.rows.end(),
                                           [&](const SessionRow& row) { return row.verdict == verdict; }));
}

std::string range(const SessionRow& row) {
  return std::isfinite(row.upper) ? fmt::format("{:.3f} .. {:.3f}", row.lower, row.upper) : "too few runs";
}

std::string unmatched_text(const std::vector<std::string>& names, const char* where) {
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + static_cast<ptrdiff_t>(std::min(kNamesShown, names.size())));
  std::string text = fmt::format("only in {}: {}", where, join(shown, ", "));
  if (names.size() > kNamesShown) text += fmt::format(" and {} more", names.size() - kNamesShown);
  return text;
}

}  // namespace

std::string verdict_line(const SessionComparison& comparison) {
  const size_t slower = count_of(comparison, CompareVerdict::kSlower), all = comparison.rows.size();
  const size_t faster = count_of(comparison, CompareVerdict::kFaster);
  const size_t allowed = count_of(comparison, CompareVerdict::kBelowThreshold);
  std::string text;
  if (all == 1) {
    const SessionRow& row = comparison.rows.front();
    text = slower    ? fmt::format("B is slower by {:.1f}%", 100 * (row.ratio - 1))
           : faster  ? fmt::format("B is faster: it takes {:.1f}% less", 100 * (1 - row.ratio))
           : allowed ? fmt::format("B is slower by {:.1f}%, which the threshold of {:g}% allows", 100 * (row.ratio - 1),
                                   100 * comparison.threshold_ratio)
           : row.verdict == CompareVerdict::kNoDifference ? "no relevant difference"
                                                          : "not clear";
  } else {
    text =
        fmt::format("{} of {} benchmarks {} slower in B, {} faster", slower, all, slower == 1 ? "is" : "are", faster);
    if (allowed > 0) text += fmt::format(", {} slower by no more than the threshold", allowed);
  }
  return fmt::format("{} ({} time, two sessions; all intervals together hold with {:g}% confidence)", text,
                     comparison.time == ComparedTime::kWall ? "wall" : "CPU", 100 * (1 - comparison.error_ratio));
}

std::string comparison_text(const SessionComparison& comparison, const CommandTexts& files, bool markdown) {
  TextTable table;
  table.add_column("benchmark", TextTable::Align::kLeft);
  for (const char* title : {"A", "B", "B / A", "interval", "runs"}) table.add_column(title, TextTable::Align::kRight);
  table.add_column("", TextTable::Align::kLeft);
  size_t unchanged = 0;
  for (const SessionRow* row : in_order(comparison)) {
    if (!is_changed(*row) && ++unchanged > kUnchangedShown) continue;
    const std::vector<std::string> times = seconds_column({row->time_s[0], row->time_s[1]});
    table.add_row({printable(row->name), times[0], times[1], fmt::format("{:.3f}", row->ratio), range(*row),
                   fmt::format("{}, {}", row->runs[0], row->runs[1]), name_of(row->verdict)});
  }
  const std::string bold = markdown ? "**" : "", tick = markdown ? "`" : "";
  std::string text =
      fmt::format("{0}A:{0} {1}{2}{1}\n{3}{0}B:{0} {1}{4}{1}\n\n{0}{5}{0}\n\n", bold, tick, printable(files[0]),
                  markdown ? "\n" : "", printable(files[1]), verdict_line(comparison));
  text += markdown ? table.to_markdown() : table.to_text();
  if (unchanged > kUnchangedShown)
    text += fmt::format("... and {} more without a clear change: --json has all\n", unchanged - kUnchangedShown);
  if (!comparison.counts.empty()) {
    TextTable counts;
    counts.add_column("counted", TextTable::Align::kLeft);
    for (const char* title : {"A", "B", "B / A"}) counts.add_column(title, TextTable::Align::kRight);
    counts.add_column("", TextTable::Align::kLeft);
    add_count_rows(comparison.counts, counts);
    text += "\n" + (markdown ? counts.to_markdown() : counts.to_text());
  }
  std::vector<std::string> notes = comparison.notes;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (!comparison.unmatched[i].empty()) notes.push_back(unmatched_text(comparison.unmatched[i], i == 0 ? "A" : "B"));
  }
  for (const std::string& note : notes) text += "\n" + wrapped("note: " + printable(note), 120) + "\n";
  return text;
}

Json comparison_json(const SessionComparison& comparison, const CommandTexts& files) {
  Json rows = Json::array();
  for (const SessionRow& row : comparison.rows) {
    Json json = {{"name", row.name},     {"verdict", name_of(row.verdict)}, {"a_s", row.time_s[0]},
                 {"b_s", row.time_s[1]}, {"a_runs", row.runs[0]},           {"b_runs", row.runs[1]},
                 {"ratio", row.ratio}};
    if (std::isfinite(row.upper)) {
      json["lower"] = row.lower;
      json["upper"] = row.upper;
    }
    json["between_sessions_log"] = row.between_sessions;
    rows.push_back(std::move(json));
  }
  return {{"schema", "perfcast.session-comparison/1"},
          {"a", {{"file", files[0]}, {"unmatched", comparison.unmatched[0]}}},
          {"b", {{"file", files[1]}, {"unmatched", comparison.unmatched[1]}}},
          {"measured", comparison.time == ComparedTime::kWall ? "wall_s" : "cpu_s"},
          {"error_ratio", comparison.error_ratio},
          {"threshold_ratio", comparison.threshold_ratio},
          {"between_sessions_estimated", comparison.is_estimated},
          {"median_ratio", comparison.median_ratio},
          {"slower", comparison.any(CompareVerdict::kSlower)},
          {"benchmarks", std::move(rows)},
          {"counts", counts_json(comparison.counts)},
          {"notes", comparison.notes}};
}

}  // namespace perfcast::measure
