#include "program/adapt/adapt_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/json.h"
#include "base/report/table.h"
#include "base/significant.h"
#include "base/statistics.h"
#include "base/text.h"
#include "program/forecast/number_text.h"

namespace perfcast::program {
namespace {

using Q = Quantity;

constexpr size_t kEnoughForQuartiles = 8;
constexpr double kLessSure = 1.05;  // one half width over another
constexpr double kAllBeyond = 2;    // of the facts' own interval: not one run is within

std::string factor_text(double log_half_width) { return fmt::format("x/{:.2f}", std::exp(log_half_width)); }

ReportTable group_table(const AdaptReport& report) {
  using Row = AdaptedGroup;
  // Of the programs that were not run; there may be none.
  const auto of_the_others = [](double Row::*member) {
    return [member](const Row& row) { return row.measured < row.programs ? ReportValue(row.*member) : ReportValue(); };
  };
  const auto factor = [](double Row::*member) {
    return [member](const Row& row) { return row.measured < row.programs ? factor_text(row.*member) : "-"; };
  };
  return table_of<Row>("", report.groups,
                       {{"group", "programs", Q::kText, &Row::group},
                        {"measured", "run there", Q::kCount, &Row::measured},
                        {"programs", "of", Q::kCount, &Row::programs},
                        {"half_width_log", "typical 90% interval of the others", Q::kNumber,
                         of_the_others(&Row::half_width), factor(&Row::half_width)},
                        {"half_width_facts_log", "from facts alone", Q::kNumber, of_the_others(&Row::half_width_facts),
                         factor(&Row::half_width_facts)}});
}

ReportTable program_table(const std::vector<AdaptedProgram>& programs) {
  using Row = AdaptedProgram;
  return table_of<Row>("", programs,
                       {{"program", "program", Q::kText, &Row::program},
                        {"rpv", "", Q::kNumber, &Row::relative_time},
                        {"lower", "", Q::kNumber, &Row::lower},
                        {"upper", "", Q::kNumber, &Row::upper},
                        {"forecast_s", "", Q::kSpreadSeconds, &Row::forecast_s},
                        {"measured_s", "measured", Q::kSpreadSeconds, &Row::measured_s},
                        {"facts_s", "from facts", Q::kSpreadSeconds, &Row::facts_s},
                        {"", "off by", Q::kNumber, [](const Row& row) {
                           return row.measured_s && row.facts_s
                                      ? ReportValue(fmt::format("{:+.0f}%", 100 * (*row.facts_s / *row.measured_s - 1)))
                                      : ReportValue();
                         }}});
}

ReportTable suggestion_table(const AdaptReport& report) {
  struct Row {
    const SuggestedProgram* of;
    double left;  // doubt after this one and those before
  };
  std::vector<Row> rows;
  double left = 1;
  for (const SuggestedProgram& of : report.suggested) rows.push_back({&of, left *= of.half_width_ratio});
  return table_of<Row>("", rows,
                       {{"program", "to run next", Q::kText, [](const Row& row) { return row.of->program; }},
                        {"run_s", "run time", Q::kSpreadSeconds, [](const Row& row) { return row.of->run_s; }},
                        {"doubt_ratio", "", Q::kNumber, [](const Row& row) { return row.of->half_width_ratio; }},
                        {"", "doubt left", Q::kShare, [](const Row& row) { return row.left; }, 0}});
}

std::string check_text(const TransferCheck& check) {
  if (check.programs == 0) return "";
  const std::string errors = fmt::format(
      "each of the {} programs that ran here was also forecast from the others. These forecasts are off by {}, and "
      "forecasts from facts alone by {}",
      check.programs, percent(std::expm1(check.runs_error_log)), percent(std::expm1(check.facts_error_log)));
  const std::string share =
      check.share < 1
          ? fmt::format(
                ". perfcast applies {:.0f}% of the corrections that the runs suggest, which brings the error to {}",
                100 * check.share, percent(std::expm1(check.kept_error_log)))
          : "";
  return wrapped("cross-check: " + errors + (check.gains() ? share : ""), 118, "", "  ") + "\n";
}

// Did the runs help? Groups whose forecasts are less sure with them than by facts alone are named.
std::string gain_text(const AdaptReport& report) {
  if (report.check.programs == 0) return "";
  std::vector<std::string> less_sure;
  for (const AdaptedGroup& group : report.groups) {
    if (group.measured < group.programs && group.half_width > kLessSure * group.half_width_facts) {
      less_sure.push_back(fmt::format("{} ({}, was {})", group.group.empty() ? "no group" : group.group,
                                      factor_text(group.half_width), factor_text(group.half_width_facts)));
    }
  }
  const std::string of_runs =
      report.check.gains() ? fmt::format("forecasts gained: those of programs run here are off by {}, before by {}",
                                         percent(std::expm1(report.check.kept_error_log)),
                                         percent(std::expm1(report.check.facts_error_log)))
                           : std::string("the runs don't improve other forecasts: these still come from facts alone");
  return wrapped(of_runs + (less_sure.empty() ? "" : "; less sure than before: " + join(less_sure, ", ")), 118, "",
                 "  ") +
         "\n";
}

// What everybody asks next: how fast is it?
std::string speed_text(const AdaptReport& report) {
  std::vector<double> times, half_widths;
  for (const AdaptedProgram& program : report.programs) {
    if (!(program.relative_time > 0)) continue;
    times.push_back(program.relative_time);
    if (program.lower > 0) half_widths.push_back(std::log(program.upper / program.lower) / 2);
  }
  if (times.empty()) return "";
  std::string text = fmt::format("{}: programs take {:.2f} times as long as on the mean of all platforms",
                                 printable(report.platform.name), median(times));
  if (times.size() >= kEnoughForQuartiles) {
    text += fmt::format(" (median; half of them {:.2f} to {:.2f})", quantile(times, 0.25), quantile(times, 0.75));
  }
  if (!half_widths.empty()) {
    text += fmt::format("; typical 90% interval of one program {}", factor_text(median(std::move(half_widths))));
  }
  return wrapped(text, 118, "", "  ") + "\n";
}

std::string memory_text(const MemoryFacts& measured) {
  std::vector<std::string> parts;
  const auto add = [&](const char* fact, const char* words, const char* unit) {
    const auto found = measured.facts.find(fact);
    if (found != measured.facts.end()) parts.push_back(words + in_unit(found->second, unit));
  };
  add("bwmem_rd_16kib_per_vcpu_bytes_per_s", "a CPU reads 16 KiB at ", "B/s");
  add("bwmem_rd_256mb_per_vcpu_bytes_per_s", "256 MB at ", "B/s");
  add("membench_latency_32kib_ns", "latency in 32 KiB ", "ns");
  add("membench_latency_512kib_ns", "in 512 KiB ", "ns");
  if (parts.empty()) return "";
  return fmt::format("memory: {} facts measured in {}: {}\n", measured.facts.size(), human_seconds(measured.took_s),
                     join(parts, ", "));
}

std::string why_ended(const std::string& stopped) {
  if (stopped == "interval") return "ended as the intervals are narrow enough (--until)";
  if (stopped == "budget") return "ended by --time-limit";
  if (stopped == "programs") return "ended as all programs have been run";
  return "ended: " + stopped;
}

std::string here_text(const HereOutcome& outcome) {
  std::string text = fmt::format("cost: {} for {} programs; {}\n", human_seconds(outcome.cost_s), outcome.steps.size(),
                                 why_ended(outcome.stopped));
  for (const std::string& why : outcome.passed_over) text += "left out: " + printable(why) + "\n";
  return text;
}

}  // namespace

std::string all_beyond_facts(const std::vector<RunBesideFacts>& runs) {
  double least = INFINITY, most = -INFINITY;
  std::vector<double> widths;
  widths.reserve(runs.size());
  for (const RunBesideFacts& run : runs) {
    if (std::abs(run.log_ratio) <= kAllBeyond * run.half_width) return "";
    least = std::min(least, run.log_ratio);
    most = std::max(most, run.log_ratio);
    widths.push_back(run.half_width);
  }
  if (runs.size() < kFewestRuns || least * most <= 0) return "";
  return fmt::format(
      "all {} runs took {} to {} times as long as this platform's facts suggest, beyond their 90% interval "
      "(x/{:.2f}). Perhaps the runs did another amount of work, are in another unit, used several threads, or shared a "
      "busy machine. The intervals below don't allow for that",
      runs.size(), significant(std::exp(least), 2), significant(std::exp(most), 2),
      std::exp(median(std::move(widths))));
}

std::string adapt_as_text(const AdaptReport& report, const AdaptedHere& here, const std::string& bundle) {
  std::string text = gain_text(report) + speed_text(report);
  text +=
      fmt::format("platform: {} (nearest by facts: {})\n", printable(report.platform.name), printable(report.nearest));
  text += memory_text(here.memory);
  if (here.outcome != nullptr) text += here_text(*here.outcome);
  text += check_text(report.check);
  for (const std::string& note : report.notes) text += wrapped("note: " + printable(note), 118, "", "  ") + "\n";
  text += "\n" + rows_text(group_table(report));
  std::vector<AdaptedProgram> run;
  std::copy_if(report.programs.begin(), report.programs.end(), std::back_inserter(run),
               [](const AdaptedProgram& row) { return row.measured_s && row.facts_s; });
  if (!run.empty()) text += "\n" + rows_text(program_table(run));
  if (!report.suggested.empty()) text += "\n" + rows_text(suggestion_table(report));
  if (bundle.empty()) return text;
  return text + "\n" + printable(bundle) + ": a bundle that forecasts this platform, too" +
         (here.outcome == nullptr ? "" : "; with it, `predict` recognises this machine") +
         "\nnext: perfcast predict --bundle " + printable(bundle) + " -- ./prog args\n";
}

Json adapt_as_json(const AdaptReport& report, const AdaptedHere& here, const std::string& bundle) {
  Json json = {{"schema", "perfcast.adapt/1"},
               {"platform", {{"id", report.platform.id}, {"name", report.platform.name}}},
               {"nearest", report.nearest},
               {"runs_count", report.runs},
               {"groups", rows_json(group_table(report))},
               {"programs", rows_json(program_table(report.programs))},
               {"suggested", rows_json(suggestion_table(report))},
               {"notes", report.notes}};
  if (report.check.programs > 0) {
    json["cross_check"] = {{"programs_count", report.check.programs},
                           {"runs_error_log", report.check.runs_error_log},
                           {"facts_error_log", report.check.facts_error_log},
                           {"kept_error_log", report.check.kept_error_log},
                           {"kept_share", report.check.share},
                           {"gained", report.check.gains()}};
  }
  if (here.outcome != nullptr) json["here"] = here_as_json(*here.outcome);
  if (here.outcome != nullptr) put_known(json["here"], "runs_file", here.runs_file);
  if (!here.memory.facts.empty()) {
    json["here"]["measured_facts"] = here.memory.facts;
    json["here"]["measured_facts_s"] = here.memory.took_s;
  }
  put_known(json, "bundle", bundle);
  return json;
}

}  // namespace perfcast::program
