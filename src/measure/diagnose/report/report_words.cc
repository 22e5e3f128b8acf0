#include "measure/diagnose/report/report_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/text.h"

namespace perfcast::measure {

std::string percent_words(double ratio) {
  return ratio > 0 && ratio < 0.095 ? fmt::format("{:.1f}%", 100 * ratio) : fmt::format("{:.0f}%", 100 * ratio);
}

const ExperimentResult* most_promising(const Finding& finding) {
  const ExperimentResult* best = nullptr;
  for (const ExperimentResult& result : finding.results) {
    if (result.is_promising && (best == nullptr || result.ratio < best->ratio)) best = &result;
  }
  return best;
}

std::string experiment_in_words(const ExperimentResult& result) {
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
  if (result.is_ignored()) {
    static constexpr std::array<const char*, 4> kEvents = {"", "page faults", "reads and writes", "threads"};
    return name + ": the program does not go by it: as many " + kEvents.at(static_cast<size_t>(experiment.effect)) +
           " as before";
  }
  const std::string what = experiment.by_cpu_time ? " CPU time" : " time";
  if (result.is_screened) {
    return fmt::format("{}: {} ({:.2f} x the{}, {:.0f} pairs of runs)", name,
                       result.is_promising ? "may help, no time to make sure" : "no gain", result.ratio, what,
                       result.pairs_count);
  }
  if (!std::isfinite(result.upper)) {
    return fmt::format("{}: {:.2f} x the{}; {:.0f} pairs are too few for an interval", name, result.ratio, what,
                       result.pairs_count);
  }
  return fmt::format("{}: {:.2f} x the{} ({:.2f} .. {:.2f}, {:.0f} pairs){}", name, result.ratio, what, result.lower,
                     result.upper, result.pairs_count, result.is_gain() ? "" : ": no clear gain");
}

std::string gain_in_words(const Finding& finding) {
  const ExperimentResult* const proven = finding.proven();
  const ExperimentResult* const open = most_promising(finding);
  // Less CPU time on one CPU is evidence, no gain.
  if (proven != nullptr && !proven->experiment.by_cpu_time) {
    return fmt::format("{} of the time, proven ({} .. {}): {}", percent_words(1 - proven->ratio),
                       percent_words(1 - proven->upper), percent_words(std::min(1.0, 1 - proven->lower)),
                       proven->experiment.name);
  }
  if (open != nullptr && finding.gain_ratio < kGainShown) {
    return fmt::format("perhaps {} of the time, by {:.0f} pairs of runs: {}", percent_words(1 - open->ratio),
                       open->pairs_count, open->experiment.name);
  }
  if (!finding.no_gain.empty()) return "not known: " + finding.no_gain;
  // Only a trial measures a gain. What is seen is the time that the cause took.
  const char* const by = finding.basis == FindingBasis::kMeasured   ? "estimated from the time seen there"
                         : finding.basis == FindingBasis::kModelled ? "estimated by counts and a model"
                                                                    : "by a rule of thumb";
  return fmt::format("about {} of the time, {}", percent_words(finding.gain_ratio), by);
}

bool is_worth_showing(const Finding& finding) {
  return finding.gain_ratio >= kGainShown || finding.proven() != nullptr || most_promising(finding) != nullptr ||
         finding.has_builds();
}

std::string row_in_words(const TimelineRow& row, const Observation& seen) {
  if (row.function == TimelineRow::kKernelCode) return "the kernel";
  return row.function < 0 ? "other code" : seen.functions[static_cast<size_t>(row.function)].name();
}

std::string doing_in_words(const ThreadSpan& span) {
  switch (span.doing) {
    case ThreadSpan::Doing::kUserCode:
      return "user code";
    case ThreadSpan::Doing::kKernel:
      return "the kernel";
    case ThreadSpan::Doing::kReady:
      return "ready, without a CPU";
    case ThreadSpan::Doing::kWaiting:
      break;
  }
  std::string text = "waiting: ";
  text += thread_state_text(span.state);
  return text;
}

}  // namespace perfcast::measure
