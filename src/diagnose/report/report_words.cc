#include "diagnose/report/report_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace perfcast {

std::string percent_words(double ratio) {
  return ratio > 0 && ratio < 0.095 ? fmt::format("{:.1f}%", 100 * ratio) : fmt::format("{:.0f}%", 100 * ratio);
}

std::string experiment_in_words(const ExperimentResult& result) {
  const std::string name = result.experiment.name + " (" + printable(result.experiment.in_words()) + ")";
  if (!result.failed.empty()) return name + ": not tried: " + result.failed;
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

std::string gain_in_words(const Finding& finding) {
  const ExperimentResult* const proven = finding.proven();
  // Less CPU time on one CPU is evidence, no gain.
  if (proven == nullptr || proven->experiment.by_cpu_time)
    return fmt::format("about {} of the time, {}", percent_words(finding.gain_ratio), to_text(finding.basis));
  return fmt::format("{} of the time, proven ({} .. {}): {}", percent_words(1 - proven->ratio),
                     percent_words(1 - proven->upper), percent_words(1 - proven->lower), proven->experiment.name);
}

bool is_worth_showing(const Finding& finding) {
  const bool is_open = std::any_of(finding.results.begin(), finding.results.end(),
                                   [](const ExperimentResult& of) { return of.is_promising; });
  return finding.gain_ratio >= kGainShown || finding.proven() != nullptr || is_open;
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

}  // namespace perfcast
