#include "measure/compare/comparison_report.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

std::string change(const Comparison& comparison) { return percent(std::abs(comparison.ratio - 1), 2); }

std::string range(const Comparison& comparison) {
  if (!std::isfinite(comparison.upper))
    return comparison.interrupted ? "unknown: too few pairs before it was interrupted"
                                  : "too few pairs for an interval";
  return fmt::format("{:.4f} .. {:.4f}", comparison.lower, comparison.upper);
}

bool is_timed(const Comparison& comparison) { return comparison.pairs > 0; }

std::string how_measured(const Comparison& comparison) {
  if (!is_timed(comparison)) return "instructions, counted";
  return fmt::format("{} time, {} pairs in turns in {:.0f} s", comparison.time == ComparedTime::kWall ? "wall" : "CPU",
                     comparison.pairs, comparison.spent_s);
}

void add_times(const Comparison& comparison, TextTable& table) {
  const auto add = [&](const char* name, const std::array<double, 2>& times, bool is_compared) {
    const std::vector<std::string> cells = seconds_column({times[0], times[1]});
    table.add_row({name, cells[0], cells[1],
                   is_compared    ? fmt::format("{:.4f}", comparison.ratio)
                   : times[0] > 0 ? fmt::format("{:.4f}", times[1] / times[0])
                                  : "-",
                   is_compared ? range(comparison) : ""});
  };
  add("wall time, median", comparison.median_wall_s, comparison.time == ComparedTime::kWall);
  add("CPU time, median", comparison.median_cpu_s, comparison.time == ComparedTime::kCpu);
}

}  // namespace

void add_count_rows(const std::vector<CountRow>& counts, TextTable& table) {
  for (const CountRow& row : counts) {
    table.add_row(
        {row.metric, human_number(row.a), human_number(row.b),
         std::isfinite(row.ratio) ? fmt::format("{:.4f}", row.ratio) : "-",
         row.differs ? fmt::format("repeats within {:.3f}%", 100 * std::expm1(row.repeats_within)) : "the same"});
  }
}

std::string more_instructions(const Comparison& comparison) {
  const CountRow& row = comparison.counts.front();
  if (!row.differs) return "the same instructions";
  return percent(std::abs(row.ratio - 1), 1) + (row.ratio > 1 ? " more" : " fewer") + " instructions";
}

std::string what_is_open(const Comparison& comparison) {
  if (!std::isfinite(comparison.upper)) return "there were too few runs";
  const std::string slower = percent(std::abs(comparison.upper - 1), 1);
  if (comparison.lower > 1)
    return fmt::format("B is slower, by {} to {}; the threshold is {:g}%", percent(comparison.lower - 1, 1), slower,
                       100 * comparison.threshold_ratio);
  return fmt::format("B may be {} faster or {} slower", percent(1 - comparison.lower, 1), slower);
}

const char* decided_by(const Comparison& comparison) {
  if (comparison.verdict == CompareVerdict::kUnclear) return "nothing";
  return comparison.by_counts || !is_timed(comparison) ? "instructions" : "times";
}

// Where times left it to the counts.
std::string counted_verdict(const Comparison& comparison) {
  const std::string counted = more_instructions(comparison);
  const std::string unclear = fmt::format("times not clear within {:g} s", comparison.budget_s);
  switch (comparison.verdict) {
    case CompareVerdict::kSlower:
      return fmt::format("B is slower by counts: {}; {}", counted, unclear);
    case CompareVerdict::kFaster:
      return fmt::format("B is faster by counts: {}; {}", counted, unclear);
    default:
      return fmt::format("no relevant difference: {}, and times within {}", counted,
                         percent(std::max(comparison.upper - 1, 1 - comparison.lower), 1));
  }
}

std::string verdict_line(const Comparison& comparison) {
  const std::string sure =
      fmt::format("{:.4g}% interval of B / A {}", 100 * (1 - comparison.error_ratio), range(comparison));
  const std::string counted = "B / A " + range(comparison) + " by how far runs of one command differ";
  const std::string how = how_measured(comparison) + "; " + (is_timed(comparison) ? sure : counted);
  if (comparison.by_counts) return fmt::format("{} ({})", counted_verdict(comparison), how);
  switch (comparison.verdict) {
    case CompareVerdict::kSlower:
      return fmt::format("B is slower by {} ({})", change(comparison), how);
    case CompareVerdict::kFaster:
      return fmt::format("B is faster: it takes {} less ({})", change(comparison), how);
    case CompareVerdict::kBelowThreshold:
      return fmt::format("B is slower by {}, which the threshold of {:g}% allows ({})", change(comparison),
                         100 * comparison.threshold_ratio, how);
    case CompareVerdict::kNoDifference:
      return fmt::format("no relevant difference ({})", how);
    case CompareVerdict::kUnclear:
      break;
  }
  const std::string when = comparison.interrupted    ? "when it was interrupted"
                           : comparison.budget_s > 0 ? fmt::format("within {:g} s", comparison.budget_s)
                                                     : "by these counts";
  return fmt::format("not clear {}: {} ({})", when, what_is_open(comparison), how);
}

std::string comparison_text(const Comparison& comparison, const CommandTexts& commands, bool markdown) {
  TextTable table;
  table.add_column("", TextTable::Align::kLeft);
  for (const char* title : {"A", "B", "B / A"}) table.add_column(title, TextTable::Align::kRight);
  table.add_column("", TextTable::Align::kLeft);
  if (is_timed(comparison)) add_times(comparison, table);
  add_count_rows(comparison.counts, table);
  const std::string tick = markdown ? "`" : "";
  std::string text = fmt::format("{0}A:{0} {1}{2}{1}\n{3}{0}B:{0} {1}{4}{1}\n\n", markdown ? "**" : "", tick,
                                 printable(commands[0]), markdown ? "\n" : "", printable(commands[1]));
  text += (markdown ? "**" + verdict_line(comparison) + "**" : verdict_line(comparison)) + "\n\n";
  text += markdown ? table.to_markdown() : table.to_text();
  for (const std::string& note : comparison.notes) text += "\n" + wrapped("note: " + printable(note), 120) + "\n";
  return text;
}

Json counts_json(const std::vector<CountRow>& counts) {
  Json json = Json::array();
  for (const CountRow& row : counts) {
    json.push_back({{"metric", row.metric}, {"a", row.a}, {"b", row.b}});
    if (std::isfinite(row.ratio)) json.back()["ratio"] = row.ratio;
    if (std::isfinite(row.repeats_within)) json.back()["repeats_within_log"] = row.repeats_within;
    json.back()["differs"] = row.differs;
  }
  return json;
}

Json comparison_json(const Comparison& comparison, const CommandTexts& commands) {
  Json json = {{"schema", "perfcast.comparison/1"},
               {"a", {{"command", commands[0]}}},
               {"b", {{"command", commands[1]}}},
               {"verdict", name_of(comparison.verdict)},
               {"decided_by", decided_by(comparison)},
               {"measured", !is_timed(comparison)                    ? "instructions"
                            : comparison.time == ComparedTime::kWall ? "wall_s"
                                                                     : "cpu_s"},
               {"ratio", comparison.ratio}};
  if (std::isfinite(comparison.upper)) {
    json["lower"] = comparison.lower;
    json["upper"] = comparison.upper;
  }
  json["significant"] = comparison.significant;
  json["threshold_ratio"] = comparison.threshold_ratio;
  json["runs"] = comparison.runs;
  if (is_timed(comparison)) {
    json["error_ratio"] = comparison.error_ratio;
    json["pairs"] = comparison.pairs;
    json["spent_s"] = comparison.spent_s;
    for (size_t i = 0; i < 2; ++i) {
      Json& side = json[i == 0 ? "a" : "b"];
      side["median_wall_s"] = comparison.median_wall_s[i];
      side["median_cpu_s"] = comparison.median_cpu_s[i];
    }
    if (comparison.first_over_second_ratio) json["first_over_second_ratio"] = *comparison.first_over_second_ratio;
  }
  json["counts"] = counts_json(comparison.counts);
  for (size_t i = 0; i < 2; ++i) {
    if (!comparison.all_counts[i].empty()) json[i == 0 ? "a" : "b"]["counts"] = comparison.all_counts[i];
  }
  json["notes"] = comparison.notes;
  json["interrupted"] = comparison.interrupted;
  if (Json host = to_json(comparison.host); !host.empty()) json["host"] = std::move(host);
  return json;
}

std::string run_line(const ComparedRun& run) {
  Json json = {{"command", run.command == 0 ? "a" : "b"},
               {"pair", run.pair},
               {"first", run.first},
               {"wall_s", run.wall_s},
               {"cpu_s", run.cpu_s}};
  if (run.peak_resident_bytes) json["peak_resident_bytes"] = *run.peak_resident_bytes;
  return json.dump() + "\n";
}

}  // namespace perfcast::measure
