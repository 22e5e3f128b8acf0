#include "measure/diagnose/report/diagnosis_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "machine/facts/core_design.h"
#include "measure/diagnose/report/bloat_report.h"
#include "measure/diagnose/report/parallel_report.h"
#include "measure/diagnose/report/report_words.h"

namespace perfcast::measure {
namespace {

constexpr size_t kFunctionsShown = 8, kPointsShown = 5;
constexpr double kFewestShown = 20;  // samples

// Names have no end where templates take templates.
std::string cut(const std::string& name) {
  constexpr size_t kMost = 40;
  const std::string text = printable(name);
  return text.size() > kMost ? text.substr(0, kMost - 3) + "..." : text;
}

void add_time(const Diagnosis& diagnosis, std::string& text) {
  const Observation& seen = diagnosis.seen;
  const ProcessOutcome& run = seen.run;
  text += "where the time goes\n";
  TextTable table;
  table.add_column("  ", TextTable::Align::kLeft);
  table.add_column("s", TextTable::Align::kRight);
  table.add_column("", TextTable::Align::kLeft);
  const auto row = [&](const std::string& name, double s, const std::string& note) {
    table.add_row({"  " + name, fmt::format("{:.3f}", s), note});
  };
  row("wall", run.wall_s, "");
  row("user", run.user_s, fmt::format("{} of a CPU", percent_words(run.user_s / std::max(1e-9, run.wall_s))));
  row("kernel", run.system_s, "");
  if (seen.ready_s > 0.01 * run.wall_s) row("ready, no CPU", seen.ready_s, "all threads");
  for (size_t i = 1; i < kThreadStates; ++i) {
    const auto state = static_cast<ThreadState>(i);
    if (seen.threads.of(state) < 0.02 * run.wall_s) continue;
    row("waiting", seen.threads.of(state), std::string(thread_state_text(state)) + ", all threads");
  }
  text += table.to_text();
  if (const auto efficiency = diagnosis.parallel_efficiency_ratio()) {
    text += fmt::format("parallel efficiency {}: {:.2f} of {:.0f} CPUs were busy, with {} threads at most\n",
                        percent_words(*efficiency), *efficiency * diagnosis.cpus_count, diagnosis.cpus_count,
                        run.threads.value_or(1));
  }
}

void add_functions(const Diagnosis& diagnosis, size_t columns, std::string& text) {
  const Observation& seen = diagnosis.seen;
  if (seen.functions.empty() || seen.samples_count < kFewestShown) return;
  text += fmt::format("\nhot functions, by {:.0f} samples of the CPU time\n", seen.samples_count);
  TextTable table;
  table.add_column("  share", TextTable::Align::kRight);
  table.add_column("function", TextTable::Align::kLeft);
  table.add_column("where", TextTable::Align::kLeft);
  table.add_column("called by", TextTable::Align::kLeft);
  for (size_t i = 0; i < std::min(kFunctionsShown, seen.functions.size()); ++i) {
    const HotFunction& function = seen.functions[i];
    const std::string caller = function.caller.empty() ? "" : short_function_name(function.caller);
    table.add_row({percent_words(function.cpu_share), cut(function.short_name()), cut(function.place()), cut(caller)});
  }
  text += table.to_text(columns);
}

void add_script(const Diagnosis& diagnosis, size_t columns, std::string& text) {
  const std::vector<ScriptLine>& lines = diagnosis.seen.script;
  constexpr double kLeastShown = 0.02;
  if (lines.empty()) return;
  text += "\nwhere the script spends its time, from samples of its call stack\n";
  TextTable table;
  table.add_column("  CPU s", TextTable::Align::kRight);
  table.add_column("waiting s", TextTable::Align::kRight);
  table.add_column("function", TextTable::Align::kLeft);
  table.add_column("where", TextTable::Align::kLeft);
  table.add_column("line", TextTable::Align::kLeft);
  size_t shown = 0;
  for (const ScriptLine& line : lines) {
    const double waits_s = line.waits.total();
    if (line.cpu_s + waits_s < kLeastShown * diagnosis.seen.run.wall_s || shown++ == kFunctionsShown) break;
    table.add_row({fmt::format("{:.2f}", line.cpu_s), fmt::format("{:.2f}", waits_s), cut(line.function),
                   cut(line.place()), cut(line.text)});
  }
  text += table.to_text(columns);
}

void add_roofline(const Diagnosis& diagnosis, std::string& text) {
  if (!diagnosis.roofline || diagnosis.roofline->points.empty()) return;
  text += "\nhot functions, counted under the instrumenter, beside what one CPU of this machine reaches (measured)\n";
  size_t shown = 0;
  for (const RooflinePoint& point : diagnosis.roofline->points) {
    if (shown++ == kPointsShown) break;
    text +=
        fmt::format("  {}: {}\n", cut(diagnosis.seen.functions[point.function].short_name()), roofline_in_words(point));
  }
}

// Several causes may stand for the same time: gains that add up to more than the run took can't all be had.
std::string overlap_text(const std::vector<Finding>& findings) {
  double sum = 0;
  size_t known = 0;
  for (const Finding& finding : findings) {
    const ExperimentResult* const proven = finding.proven();
    const bool is_proven = proven != nullptr && !proven->experiment.by_cpu_time;
    const double gain = is_proven ? 1 - proven->ratio : finding.no_gain.empty() ? finding.gain_ratio : 0;
    if (!is_worth_showing(finding) || gain < kGainShown) continue;
    sum += gain;
    ++known;
  }
  if (known < 2 || sum <= 1) return "";
  return fmt::format(
      "\nthese gains overlap: they add up to {:.0f}% of the time, and all together save less than 100%; "
      "mend the first,\nthen diagnose again\n",
      100 * sum);
}

}  // namespace

std::string first_findings_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.gain_ratio < kGainShown) continue;
    text += fmt::format("seen: {} ({})\n", printable(finding.title), finding.cause);
  }
  return text;
}

std::vector<std::string> all_notes(const Diagnosis& diagnosis) {
  std::vector<std::string> notes = diagnosis.notes;
  if (diagnosis.roofline) notes.insert(notes.end(), diagnosis.roofline->notes.begin(), diagnosis.roofline->notes.end());
  return notes;
}

std::string diagnosis_text(const Diagnosis& diagnosis, size_t columns) {
  std::string text = printable(join(diagnosis.command, " ")) + "\n\n";
  add_time(diagnosis, text);
  add_script(diagnosis, columns, text);
  add_functions(diagnosis, columns, text);
  if (!diagnosis.bounds.empty()) {
    const CoreBoundRatios bounds(diagnosis.bounds.begin(), diagnosis.bounds.end());
    text += fmt::format("\nwhat bounds its instructions on this core ({}, modelled): {}\n", diagnosis.design,
                        core_bounds_in_words(bounds));
  }
  if (diagnosis.curve) text += thread_curve_text(*diagnosis.curve);
  add_roofline(diagnosis, text);
  if (diagnosis.bloat) text += "\n" + code_bloat_text(*diagnosis.bloat);
  size_t number = 0;
  for (const Finding& finding : diagnosis.findings) {
    if (!is_worth_showing(finding)) continue;
    text += fmt::format("\n{}. {}: {}\n", ++number, finding.cause, printable(finding.title));
    text += "   gain      " + gain_in_words(finding) + "\n";
    for (const std::string& evidence : finding.evidence) text += "   evidence  " + printable(evidence) + "\n";
    text += "   advice    " + finding.advice + "\n";
    text += "   if wrong  " + finding.if_wrong + "\n";
    if (finding.proven() == nullptr) text += "   to prove  " + finding.proof + "\n";
    for (const ExperimentResult& result : finding.results)
      text += "   tried     " + printable(experiment_in_words(result)) + "\n";
  }
  text += overlap_text(diagnosis.findings);
  if (number == 0) text += "\nnothing that is known to be slow was found\n";
  const std::vector<std::string> notes = all_notes(diagnosis);
  for (const std::string& note : notes) text += "\nnote: " + printable(note);
  if (!notes.empty()) text += "\n";
  text += fmt::format("\nfirst findings after {}, all after {}\n", duration_column({diagnosis.first_finding_s}).front(),
                      duration_column({diagnosis.took_s}).front());
  return text;
}

}  // namespace perfcast::measure
