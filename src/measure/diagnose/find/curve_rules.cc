// What other numbers of threads showed.
#include <fmt/format.h>

#include <algorithm>

#include "base/significant.h"
#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

constexpr double kLeastSerialShare = 0.05;
constexpr double kWorthOtherThreads = 0.95;  // of the time that the command takes as it is

std::string curve_in_words(const ThreadCurve& curve) {
  std::string text = "speed-up by threads:";
  for (const ThreadPoint& point : curve.points) text += fmt::format(" {}: {:.2f}", point.threads, point.speed_up_ratio);
  return text;
}

Experiment with_thread_count(const Evidence& evidence, int threads) {
  Experiment experiment;
  experiment.name = fmt::format("{} threads", threads);
  const std::string number = std::to_string(threads);
  if (evidence.command_of_threads.empty()) {
    for (const std::string& variable : thread_variables()) experiment.environment[variable] = number;
  } else {
    experiment.instead = {"env"};
    for (const std::string& word : with_threads(evidence.command_of_threads, threads))
      experiment.instead.push_back(word);
  }
  return experiment;
}

// Fewer or more threads than the command starts by itself.
void add_other_count(const Evidence& evidence, std::vector<Finding>& findings) {
  const ThreadPoint* const fastest = evidence.curve->fastest();
  if (fastest == nullptr || fastest->median_wall_s > kWorthOtherThreads * evidence.wall_s()) return;
  const std::string evidence_text =
      fmt::format("with {} threads {} s, as it is {} s", fastest->threads, significant(fastest->median_wall_s, 3),
                  significant(evidence.wall_s(), 3));
  const auto known = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& finding) { return finding.cause == "oversubscription"; });
  if (known != findings.end()) {
    known->evidence.push_back(evidence_text + "; " + curve_in_words(*evidence.curve));
    known->experiments.insert(known->experiments.begin(), with_thread_count(evidence, fastest->threads));
    return;
  }
  Finding finding;
  finding.cause = "thread-count";
  finding.basis = FindingBasis::kMeasured;
  finding.is_shown_by_trial = true;
  finding.title = fmt::format("{} threads are faster than as many as it starts", fastest->threads);
  finding.evidence = {evidence_text, curve_in_words(*evidence.curve)};
  finding.advice = fmt::format("set the number of threads to {}", fastest->threads);
  finding.if_wrong = "CPUs that idle, or more threads than CPUs, with larger inputs";
  finding.proof = "perfcast compare of both numbers of threads";
  finding.experiments.push_back(with_thread_count(evidence, fastest->threads));
  findings.push_back(std::move(finding));
}

// By Amdahl's law: what would go if the serial part were divided among all CPUs, too.
void add_serial_part(const Evidence& evidence, std::vector<Finding>& findings) {
  const auto& serial = evidence.curve->serial;
  if (evidence.others_took_cpus()) return;
  std::erase_if(findings, [](const Finding& finding) { return finding.cause == "serial-part"; });  // this knows more
  if (!serial || serial->lower < 0.01 || serial->serial_ratio < kLeastSerialShare || evidence.cpus_count < 2) return;
  const double share = std::min(1.0, serial->serial_ratio);
  const double on_all = share + (1 - share) / evidence.cpus_count;
  Finding finding;
  finding.cause = "serial-part";
  finding.basis = FindingBasis::kModelled;
  finding.gain_ratio = 0.8 * share * (1 - 1 / evidence.cpus_count) / on_all;
  finding.title = fmt::format("{} of the work is done by one thread alone, however many there are", in_percent(share));
  finding.evidence.push_back(curve_in_words(*evidence.curve));
  finding.evidence.push_back(fmt::format("by Amdahl's law {} ({} .. {}) of the time with one thread", in_percent(share),
                                         in_percent(std::max(0.0, serial->lower)),
                                         in_percent(std::min(1.0, serial->upper))));
  finding.advice =
      "divide what runs before, between and after the parallel parts: reading, merging, allocating, writing";
  finding.if_wrong = "threads that wait for memory, locks or each other look serial, too: more of them would not help";
  finding.proof = "--threads with a larger input: work that is truly serial keeps its share";
  findings.push_back(std::move(finding));
}

}  // namespace

void find_in_curve(const Evidence& evidence, std::vector<Finding>& findings) {
  if (evidence.curve == nullptr || !evidence.curve->is_obeyed) return;
  add_other_count(evidence, findings);
  add_serial_part(evidence, findings);
}

}  // namespace perfcast::measure
