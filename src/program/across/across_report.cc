#include "program/across/across_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

using measure::CompareVerdict;

constexpr size_t kUnchangedShown = 10, kUnmatchedShown = 3;

bool is_changed(CompareVerdict verdict) {
  return verdict == CompareVerdict::kSlower || verdict == CompareVerdict::kFaster;
}

std::string in_words(const AcrossComparison& comparison) {
  switch (comparison.verdict) {
    case CompareVerdict::kSlower:
      return "B is slower";
    case CompareVerdict::kFaster:
      return "B is faster";
    case CompareVerdict::kBelowThreshold:
      return fmt::format("B is slower, by no more than the threshold of {:g}%", 100 * comparison.threshold_ratio);
    case CompareVerdict::kNoDifference:
      return "no relevant difference";
    case CompareVerdict::kUnclear:
      break;
  }
  return "not clear";
}

std::string basis_of(const AcrossComparison& comparison) {
  const MachineFactor& factor = comparison.factor;
  if (comparison.earlier > 0)
    return fmt::format("{} earlier result{} on {}", comparison.earlier, comparison.earlier == 1 ? "" : "s",
                       factor.machines[1].cpu);
  if (factor.basis == "servers") return "servers of one CPU model";
  if (factor.basis == "profile") return "the forecast of the profile";
  if (factor.basis == "all")
    return fmt::format("{} families of programs that were timed on both machines", factor.families);
  return fmt::format("{} families of the kind '{}' that were timed on both machines", factor.families, factor.basis);
}

std::string verdict_lines(const AcrossComparison& comparison) {
  const double sure = 100 * (1 - comparison.error_ratio);
  const bool is_left = is_changed(comparison.verdict);
  std::string text = fmt::format(
      "{}{}: B takes {:.2f} times as long as A; the change of machine alone would give {:.2f} to {:.2f} times",
      comparison.has_several() ? "all together: " : "", in_words(comparison), comparison.measured_ratio,
      comparison.expected_lower, comparison.expected_upper);
  if (is_left) text += fmt::format(". That leaves {:.2f} times for the program", comparison.ratio);
  text += fmt::format(" ({} time; {:g}% confidence)", comparison.time == measure::ComparedTime::kWall ? "wall" : "CPU",
                      sure);
  if (!comparison.has_several()) return text;
  const auto count = [&](CompareVerdict verdict) {
    return std::count_if(comparison.rows.begin(), comparison.rows.end(),
                         [&](const AcrossRow& row) { return row.verdict == verdict; });
  };
  const auto slower = count(CompareVerdict::kSlower);
  return text + fmt::format("\none by one, each against the others: {} of {} benchmarks {} slower in B, {} faster",
                            slower, comparison.rows.size(), slower == 1 ? "is" : "are", count(CompareVerdict::kFaster));
}

std::string range(double lower, double upper) {
  return std::isfinite(upper) ? fmt::format("{:.3f} .. {:.3f}", lower, upper) : "unknown";
}

// What changed first, the largest before; then all others as A has them.
std::vector<const AcrossRow*> in_order(const AcrossComparison& comparison) {
  std::vector<const AcrossRow*> rows;
  for (const AcrossRow& row : comparison.rows) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const AcrossRow* a, const AcrossRow* b) {
    const bool left = is_changed(a->verdict), right = is_changed(b->verdict);
    if (left != right) return left;
    return left && std::abs(std::log(a->ratio)) > std::abs(std::log(b->ratio));
  });
  return rows;
}

std::string unmatched_text(const std::vector<std::string>& names, const char* file) {
  std::string text = fmt::format("only in {}: ", file);
  for (size_t i = 0; i < std::min(names.size(), kUnmatchedShown); ++i)
    text += (i > 0 ? ", " : "") + printable(names[i]);
  if (names.size() > kUnmatchedShown) text += fmt::format(" and {} more", names.size() - kUnmatchedShown);
  return text;
}

Json side_json(const AcrossComparison& comparison, size_t side, const std::string& file) {
  const NamedMachine& machine = comparison.factor.machines[side];
  return {{"file", file},
          {"cpu", machine.cpu},
          {"server_deviation_log", std::sqrt(machine.server_variance)},
          {"unmatched", comparison.unmatched[side]}};
}

}  // namespace

std::string across_text(const AcrossComparison& comparison, const measure::CommandTexts& files, bool markdown) {
  const std::string bold = markdown ? "**" : "", tick = markdown ? "`" : "";
  std::string text;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    text += fmt::format("{0}{1}:{0} {2}{3}{2} on {4}\n{5}", bold, i == 0 ? "A" : "B", tick, printable(files[i]),
                        printable(comparison.factor.machines[i].cpu), markdown && i == 0 ? "\n" : "");
  }
  text += "\n" + bold + verdict_lines(comparison) + bold + "\n\n";
  text +=
      fmt::format("expected on B's machine without a change of the program: {:.3f} times A's time, judged by {}\n\n",
                  comparison.expected_ratio, basis_of(comparison));
  TextTable table;
  table.add_column("benchmark", TextTable::Align::kLeft);
  for (const char* title : {"A", "expected", "B", "B / expected", "interval", "runs"})
    table.add_column(title, TextTable::Align::kRight);
  table.add_column("", TextTable::Align::kLeft);
  size_t unchanged = 0;
  for (const AcrossRow* row : in_order(comparison)) {
    if (!is_changed(row->verdict) && ++unchanged > kUnchangedShown) continue;
    const std::vector<std::string> times = seconds_column({row->a_s, row->expected_s, row->b_s});
    table.add_row({printable(row->name), times[0], times[1], times[2], fmt::format("{:.3f}", row->ratio),
                   range(row->lower, row->upper), fmt::format("{}, {}", row->runs[0], row->runs[1]),
                   measure::name_of(row->verdict)});
  }
  text += markdown ? table.to_markdown() : table.to_text();
  if (unchanged > kUnchangedShown)
    text += fmt::format("... and {} more without a clear change: --json has all\n", unchanged - kUnchangedShown);
  std::vector<std::string> notes = comparison.notes;
  if (comparison.has_several()) {
    notes.insert(notes.begin(),
                 fmt::format("expected in the table is A's time multiplied by the ratio that all benchmarks share "
                             "({:.3f}). Their own ratios differ from it by {:.1f}% (one standard deviation)",
                             comparison.measured_ratio, 100 * comparison.apart_log));
  }
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (!comparison.unmatched[i].empty()) notes.push_back(unmatched_text(comparison.unmatched[i], i == 0 ? "A" : "B"));
  }
  for (const std::string& note : notes) text += "\n" + wrapped("note: " + printable(note), 120) + "\n";
  return text;
}

Json across_json(const AcrossComparison& comparison, const measure::CommandTexts& files) {
  Json rows = Json::array();
  for (const AcrossRow& row : comparison.rows) {
    rows.push_back({{"name", row.name},
                    {"verdict", measure::name_of(row.verdict)},
                    {"a_s", row.a_s},
                    {"b_s", row.b_s},
                    {"expected_s", row.expected_s},
                    {"a_runs", row.runs[0]},
                    {"b_runs", row.runs[1]},
                    {"ratio", row.ratio}});
    put_known(rows.back(), "lower", row.lower);
    put_known(rows.back(), "upper", row.upper);
  }
  Json json = {{"schema", "perfcast.across/1"},
               {"a", side_json(comparison, 0, files[0])},
               {"b", side_json(comparison, 1, files[1])},
               {"measured", comparison.time == measure::ComparedTime::kWall ? "wall_s" : "cpu_s"},
               {"error_ratio", comparison.error_ratio},
               {"threshold_ratio", comparison.threshold_ratio},
               {"verdict", measure::name_of(comparison.overall())},
               {"expected",
                {{"ratio", comparison.expected_ratio},
                 {"lower", comparison.expected_lower},
                 {"upper", comparison.expected_upper},
                 {"basis", comparison.earlier > 0 ? "earlier" : comparison.factor.basis},
                 {"families", comparison.factor.families},
                 {"earlier_results", comparison.earlier},
                 {"deviation_log", comparison.deviation_log}}},
               {"together",
                {{"measured_ratio", comparison.measured_ratio},
                 {"ratio", comparison.ratio},
                 {"verdict", measure::name_of(comparison.verdict)}}},
               {"slower", comparison.any(CompareVerdict::kSlower)},
               {"benchmarks", std::move(rows)},
               {"notes", comparison.notes}};
  put_known(json["together"], "lower", comparison.lower);
  put_known(json["together"], "upper", comparison.upper);
  if (comparison.has_several()) json["apart_log"] = comparison.apart_log;
  return json;
}

}  // namespace perfcast::program
