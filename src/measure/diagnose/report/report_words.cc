#include "measure/diagnose/report/report_words.h"

#include <fmt/format.h>

#include <algorithm>
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
  const std::string what = experiment.by_cpu_time ? " CPU time" : " time";
  if (result.is_screened) {
    return fmt::format("{}: {} ({:.2f} x the{}, {:.0f} pairs of runs)", name,
                       result.is_promising ? "may help, no time to make sure" : "no gain", result.ratio, what,
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
                       percent_words(1 - proven->upper), percent_words(1 - proven->lower), proven->experiment.name);
  }
  if (open != nullptr && finding.gain_ratio < kGainShown) {
    return fmt::format("perhaps {} of the time, by {:.0f} pairs of runs: {}", percent_words(1 - open->ratio),
                       open->pairs_count, open->experiment.name);
  }
  return fmt::format("about {} of the time, {}", percent_words(finding.gain_ratio), to_text(finding.basis));
}

bool is_worth_showing(const Finding& finding) {
  return finding.gain_ratio >= kGainShown || finding.proven() != nullptr || most_promising(finding) != nullptr ||
         finding.has_builds();
}

std::string short_function_name(const std::string& name) {
  std::string text = name;
  for (size_t at = text.find(" [clone "); at != std::string::npos; at = text.find(" [clone "))
    text.erase(at, text.find(']', at) == std::string::npos ? std::string::npos : text.find(']', at) + 1 - at);
  if (text.ends_with(" const")) text.resize(text.size() - 6);
  // Its parameters: from the parenthesis that the last one closes.
  if (text.ends_with(')') && !text.ends_with("operator()")) {
    int depth = 0;
    for (size_t at = text.size(); at-- > 0;) {
      depth += text[at] == ')' ? 1 : text[at] == '(' ? -1 : 0;
      if (depth > 0) continue;
      if (at > 0) text.resize(at);
      break;
    }
  }
  constexpr std::string_view kNameless = "(anonymous namespace)::";
  for (size_t at = text.find(kNameless); at != std::string::npos; at = text.find(kNameless))
    text.erase(at, kNameless.size());
  return text.empty() ? name : text;
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
