#include "diagnose/report/diagnosis_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "corpus/machine/core_design.h"
#include "diagnose/report/bloat_report.h"
#include "diagnose/report/parallel_report.h"

namespace perfcast {
namespace {

constexpr size_t kFunctionsShown = 8;
constexpr double kFewestShown = 20;  // samples
constexpr double kGainShown = 0.02;  // findings below it are of no use to anybody

std::string percent(double ratio) {
  return ratio > 0 && ratio < 0.095 ? fmt::format("{:.1f}%", 100 * ratio) : fmt::format("{:.0f}%", 100 * ratio);
}

std::string result_text(const ExperimentResult& result) {
  const Experiment& experiment = result.experiment;
  // Flags and other commands stand in the name.
  std::string name = experiment.name;
  if (experiment.flags.empty() && !experiment.in_words().empty()) name += " (" + printable(experiment.in_words()) + ")";
  if (!result.failed.empty()) return name + ": not tried: " + result.failed;
  if (result.output_differs && !experiment.changes_results) return name + ": output differs: no gain is claimed";
  if (experiment.changes_results) {
    return fmt::format("{}: {:.2f} x the time, {}: no gain is claimed", name, result.ratio,
                       result.output_differs ? "output differs" : "the same output here, results may change");
  }
  const std::string what = result.experiment.by_cpu_time ? " CPU time" : "";
  if (result.is_screened) {
    return fmt::format("{}: {} ({:.2f} x the{} time, {:.0f} pairs of runs)", name,
                       result.is_promising ? "may help, no time to make sure" : "no gain", result.ratio,
                       what.empty() ? "" : " CPU", result.pairs_count);
  }
  return fmt::format("{}: {:.2f} x the{} time ({:.2f} .. {:.2f}, {:.0f} pairs){}", name, result.ratio,
                     what.empty() ? "" : " CPU", result.lower, result.upper, result.pairs_count,
                     result.is_gain() ? "" : ": no clear gain");
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
  row("user", run.user_s, fmt::format("{} of a CPU", percent(run.user_s / std::max(1e-9, run.wall_s))));
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
                        percent(*efficiency), *efficiency * diagnosis.cpus_count, diagnosis.cpus_count,
                        run.threads.value_or(1));
  }
}

void add_functions(const Diagnosis& diagnosis, std::string& text) {
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
    const std::string name = printable(function.name());
    table.add_row({percent(function.cpu_share), name.size() > 48 ? name.substr(0, 45) + "..." : name,
                   printable(function.place()), printable(function.caller)});
  }
  text += table.to_text();
}

Json experiment_json(const ExperimentResult& result) {
  const bool known = result.failed.empty();
  return {{"name", result.experiment.name},
          {"how", result.experiment.in_words()},
          {"time", result.experiment.by_cpu_time ? "cpu" : "wall"},
          {"time_ratio", known ? Json(result.ratio) : Json()},
          {"time_ratio_lower", known && !result.is_screened ? Json(result.lower) : Json()},
          {"time_ratio_upper", known && !result.is_screened ? Json(result.upper) : Json()},
          {"pairs_count", result.pairs_count},
          {"is_gain", known && result.is_gain()},
          {"is_promising", known && result.is_promising},
          {"flags", result.experiment.flags.empty() ? Json() : Json(result.experiment.flags)},
          {"output_differs", known && result.output_differs},
          {"changes_results", result.experiment.changes_results},
          {"failed", known ? Json() : Json(result.failed)}};
}

Json finding_json(const Finding& finding) {
  Json tried = Json::array();
  for (const ExperimentResult& result : finding.results) tried.push_back(experiment_json(result));
  const ExperimentResult* proven = finding.proven();
  // Less CPU time on one CPU is evidence, no gain.
  if (proven != nullptr && proven->experiment.by_cpu_time) proven = nullptr;
  return {{"cause", finding.cause},
          {"title", finding.title},
          {"kind", std::string(to_text(finding.basis))},
          {"severity_ratio", finding.gain_ratio},
          {"evidence", finding.evidence},
          {"advice", finding.advice},
          {"if_wrong", finding.if_wrong},
          {"how_to_prove", finding.proof},
          {"tried", tried},
          {"proven_gain_ratio", proven != nullptr ? Json(1 - proven->ratio) : Json()},
          {"proven_gain_ratio_lower", proven != nullptr ? Json(1 - proven->upper) : Json()},
          {"proven_gain_ratio_upper", proven != nullptr ? Json(1 - proven->lower) : Json()}};
}

Json function_json(const HotFunction& function) {
  return {{"function", function.function},
          {"library", function.library},
          {"source", function.source},
          {"line", function.line},
          {"compiler", function.compiler},
          {"role", std::string(code_role_text(function.role))},
          {"cpu_ratio", function.cpu_share},
          {"kernel_ratio", function.kernel_share},
          {"caller", function.caller},
          {"caller_place", function.caller_place},
          {"loop_cpu_ratio", function.loop ? Json(function.loop->cpu_share) : Json()},
          {"vector_bits", function.loop ? Json(function.loop->vector_bits()) : Json()}};
}

// What helped in the few runs that there was time for; null: nothing.
const ExperimentResult* most_promising(const Finding& finding) {
  const ExperimentResult* best = nullptr;
  for (const ExperimentResult& result : finding.results) {
    if (result.is_promising && (best == nullptr || result.ratio < best->ratio)) best = &result;
  }
  return best;
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

std::string diagnosis_text(const Diagnosis& diagnosis) {
  std::string text = printable(join(diagnosis.command, " ")) + "\n\n";
  add_time(diagnosis, text);
  add_functions(diagnosis, text);
  if (!diagnosis.bounds.empty()) {
    const CoreBoundRatios bounds(diagnosis.bounds.begin(), diagnosis.bounds.end());
    text += fmt::format("\nwhat bounds its instructions on this core ({}, modelled): {}\n", diagnosis.design,
                        core_bounds_in_words(bounds));
  }
  if (diagnosis.curve) text += thread_curve_text(*diagnosis.curve);
  if (diagnosis.bloat) text += "\n" + code_bloat_text(*diagnosis.bloat);
  size_t number = 0;
  for (const Finding& finding : diagnosis.findings) {
    const ExperimentResult* const open = most_promising(finding);
    const bool is_open = open != nullptr;
    if (finding.gain_ratio < kGainShown && finding.proven() == nullptr && !is_open && !finding.has_builds()) continue;
    text += fmt::format("\n{}. {}: {}\n", ++number, finding.cause, printable(finding.title));
    const ExperimentResult* const proven = finding.proven();
    if (proven != nullptr && !proven->experiment.by_cpu_time) {
      text += fmt::format("   gain      {} of the time, proven ({} .. {}): {}\n", percent(1 - proven->ratio),
                          percent(1 - proven->upper), percent(1 - proven->lower), proven->experiment.name);
    } else if (is_open && finding.gain_ratio < kGainShown) {
      text += fmt::format("   gain      perhaps {} of the time, by {:.0f} pairs of runs: {}\n",
                          percent(1 - open->ratio), open->pairs_count, open->experiment.name);
    } else {
      text +=
          fmt::format("   gain      about {} of the time, {}\n", percent(finding.gain_ratio), to_text(finding.basis));
    }
    for (const std::string& evidence : finding.evidence) text += "   evidence  " + printable(evidence) + "\n";
    text += "   advice    " + finding.advice + "\n";
    text += "   if wrong  " + finding.if_wrong + "\n";
    if (proven == nullptr) text += "   to prove  " + finding.proof + "\n";
    for (const ExperimentResult& result : finding.results)
      text += "   tried     " + printable(result_text(result)) + "\n";
  }
  if (number == 0) text += "\nnothing that is known to be slow was found\n";
  for (const std::string& note : diagnosis.notes) text += "\nnote: " + printable(note);
  if (!diagnosis.notes.empty()) text += "\n";
  text += fmt::format("\nfirst findings after {}, all after {}\n", duration_column({diagnosis.first_finding_s}).front(),
                      duration_column({diagnosis.took_s}).front());
  return text;
}

Json diagnosis_json(const Diagnosis& diagnosis) {
  const Observation& seen = diagnosis.seen;
  Json findings = Json::array(), functions = Json::array(), waiting = Json::object();
  for (const Finding& finding : diagnosis.findings) findings.push_back(finding_json(finding));
  for (const HotFunction& function : seen.functions) functions.push_back(function_json(function));
  for (size_t i = 1; i < kThreadStates; ++i) {
    if (const auto state = static_cast<ThreadState>(i); seen.threads.of(state) > 0)
      waiting[std::string(thread_state_text(state))] = seen.threads.of(state);
  }
  const auto efficiency = diagnosis.parallel_efficiency_ratio();
  return {{"schema", "perfcast.diagnosis/1"},
          {"command", diagnosis.command},
          {"wall_s", seen.run.wall_s},
          {"user_s", seen.run.user_s},
          {"system_s", seen.run.system_s},
          {"ready_s", seen.ready_s},
          {"waiting_s_by_what", waiting},
          {"samples_count", seen.samples_count},
          {"cpus_count", diagnosis.cpus_count},
          {"parallel_efficiency_ratio", efficiency ? Json(*efficiency) : Json()},
          {"thread_curve", diagnosis.curve ? thread_curve_json(*diagnosis.curve) : Json()},
          {"shared_lines", shared_lines_json(diagnosis.shared_lines)},
          {"hardware_counters", seen.hardware.empty() ? Json() : Json(seen.hardware)},
          {"no_hardware_counters", seen.no_hardware.empty() ? Json() : Json(seen.no_hardware)},
          {"core_design", diagnosis.design.empty() ? Json() : Json(diagnosis.design)},
          {"core_cycles_ratio_by_bound", diagnosis.bounds},
          {"findings", findings},
          {"functions", functions},
          {"bloat", diagnosis.bloat ? code_bloat_json(*diagnosis.bloat) : Json()},
          {"notes", diagnosis.notes},
          {"first_finding_s", diagnosis.first_finding_s},
          {"took_s", diagnosis.took_s}};
}

}  // namespace perfcast
