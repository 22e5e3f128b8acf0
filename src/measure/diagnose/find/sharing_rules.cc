// Cache lines that threads on several CPUs write: whether they need to, is what the instrumenter tells.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "base/text.h"
#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

constexpr double kLeastAccesses = 1e5;  // that were looked at, for their absence to mean anything
constexpr double kLeastSharingShare = 0.05;
constexpr size_t kLinesShown = 2;
constexpr double kLeastOfALine = 0.01;  // of a line's accesses, for a thread to count as a user
constexpr double kLeastOfAccesses =
    0.001;  // of all loads and stores: data that is handed on has many lines, used little

// "0-15", of the bytes of a line.
std::string bytes_in_words(uint64_t bytes) {
  if (bytes == 0) return "none";
  const int first = std::countr_zero(bytes), last = 63 - std::countl_zero(bytes);
  return first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
}

std::string line_in_words(const SharedPlace& place) {
  std::vector<std::string> users;
  for (size_t i = 0; i < place.line.users.size(); ++i) {
    const LineUser& user = place.line.users[i];
    // Who fills it once is of no matter.
    if (user.writes_count < kLeastOfALine * place.line.accesses_count()) continue;
    const std::string thread =
        user.thread == kSeveralThreads ? "further threads" : fmt::format("thread {}", user.thread);
    users.push_back(fmt::format("{} writes bytes {}{}", thread, bytes_in_words(user.written),
                                place.functions[i].empty() ? "" : " in " + place.functions[i]));
  }
  return fmt::format("line of 64 bytes at {:#x}: {}", place.line.address, join(users, ", "));
}

// Locks are found under their own name.
bool is_written_by_the_program(const SharedPlace& place) {
  for (size_t i = 0; i < place.line.users.size(); ++i) {
    const bool is_user = place.line.users[i].writes_count >= kLeastOfALine * place.line.accesses_count();
    if (is_user && place.roles[i] != CodeRole::kOwn) return false;
  }
  return true;
}

struct Contended {
  std::vector<const SharedPlace*> places;
  double transfers_count = 0, contended_count = 0, writes_count = 0, atomic_count = 0;
  std::set<std::string> functions;
};

Contended contended_lines(const Evidence& evidence, bool is_false) {
  Contended all;
  for (const SharedPlace& place : evidence.shared_lines) {
    const SharedCacheLine& line = place.line;
    if (!is_written_by_the_program(place) || line.is_false_sharing() != is_false ||
        line.contended_count() < kLeastOfAccesses * evidence.shared_accesses_count)
      continue;
    all.places.push_back(&place);
    all.transfers_count += line.transfers_count;
    all.contended_count += line.contended_count();
    all.writes_count += line.writes_count();
    all.atomic_count += line.atomic_count();
    for (size_t i = 0; i < place.functions.size(); ++i) {
      if (line.users[i].writes_count >= kLeastOfALine * line.accesses_count()) all.functions.insert(place.functions[i]);
    }
  }
  return all;
}

// Of the CPU time: so many changes of CPU among the accesses that were looked at, each as long as one takes here; but
// no more than was seen in the functions that write.
double share_of_transfers(const Evidence& evidence, const Contended& lines, double transfers_count) {
  const auto accesses = evidence.count("memory_accesses_count");
  const double cpu_s = evidence.seen.run.cpu_s();
  if (!accesses || evidence.shared_accesses_count <= 0 || cpu_s <= 0) return 0;
  const double transfers = transfers_count / evidence.shared_accesses_count * *accesses;
  double in_functions = 0;
  for (const HotFunction& function : evidence.seen.functions) {
    if (!function.function.empty() &&
        std::any_of(lines.functions.begin(), lines.functions.end(), [&](const std::string& of) {
          return of == function.short_name() || of.starts_with(function.short_name() + " (");
        }))
      in_functions += function.cpu_share;
  }
  if (evidence.seen.samples_count < kFewestSamples) in_functions = 1;
  return std::min({0.9, transfers * evidence.costs.line_transfer_s / cpu_s, in_functions});
}

Experiment on_one_cpu(const Evidence& evidence) {
  Experiment experiment{
      "all threads on one CPU, by CPU time", {}, {}, {"taskset", "-c", std::to_string(evidence.first_cpu)}, true};
  return experiment;
}

void add_seen_sharing(const Evidence& evidence, bool is_false, std::vector<Finding>& findings) {
  const Contended lines = contended_lines(evidence, is_false);
  const double share = share_of_transfers(evidence, lines, lines.transfers_count);
  // Where CPUs were taken, threads hardly met under the emulator. If they took turns, access by access, it would be so
  // much at most.
  const double at_most = share_of_transfers(evidence, lines, 2 * lines.contended_count);
  if (at_most < kLeastSharingShare) return;
  Finding finding;
  finding.cause = is_false ? "false-sharing" : "true-sharing";
  finding.is_shown_by_trial = share < kLeastSharingShare;
  finding.basis = finding.is_shown_by_trial ? FindingBasis::kRule : FindingBasis::kModelled;
  finding.gain_ratio = finding.is_shown_by_trial ? 0 : 0.9 * share * evidence.busy_ratio();
  finding.title = is_false ? "threads write different bytes of the same cache lines"
                           : "threads write the same variables, whose cache lines travel between CPUs";
  for (size_t i = 0; i < std::min(kLinesShown, lines.places.size()); ++i)
    finding.evidence.push_back(line_in_words(*lines.places[i]));
  finding.evidence.push_back(fmt::format(
      "{} such lines; {} of {} loads and stores looked at are a second thread's, {} changed the CPU, which takes "
      "{:.0f} ns",
      lines.places.size(), human_number(lines.contended_count), human_number(evidence.shared_accesses_count),
      human_number(lines.transfers_count), 1e9 * evidence.costs.line_transfer_s));
  if (!is_false) {
    finding.evidence.push_back(fmt::format("{} of their writes are atomic",
                                           in_percent(lines.atomic_count / std::max(1.0, lines.writes_count))));
  }
  finding.advice =
      is_false ? "give each thread's data lines of its own (alignas(64)); add up in a local variable, write once"
               : "let each thread add up in a variable of its own and join them at the end; write less often";
  finding.if_wrong = is_false ? "memory for what fills lines up" : "sums that are seen later by other threads";
  finding.proof = "perf c2c where there are counters";
  Experiment experiment = on_one_cpu(evidence);
  // Lines that stay on one CPU cost nothing: what is saved there is all that sharing takes.
  experiment.bounds_gain = true;
  finding.experiments.push_back(std::move(experiment));
  findings.push_back(std::move(finding));
}

// Without counts a trial tells: the same work takes less CPU time on one CPU alone.
void add_suspected_sharing(const Evidence& evidence, std::vector<Finding>& findings) {
  const Observation& seen = evidence.seen;
  Finding finding;
  finding.cause = "false-sharing";
  finding.basis = FindingBasis::kRule;
  finding.is_shown_by_trial = true;
  finding.title = "threads on several CPUs write to the same cache lines";
  for (const HotFunction& function : seen.functions) {
    if (function.role != CodeRole::kOwn) continue;
    finding.evidence.push_back("most likely in " + function.own_words());
    break;
  }
  finding.evidence.push_back(fmt::format("{} threads used {:.1f} CPUs; on one CPU the same work takes less CPU time",
                                         seen.run.threads.value_or(1),
                                         seen.run.cpu_s() / std::max(1e-9, evidence.wall_s())));
  finding.evidence.emplace_back("whether they write the same bytes (true sharing) is not known");
  finding.advice = "give each thread's data lines of its own (alignas(64)); add up in a local variable, write once";
  finding.if_wrong = "memory for what fills lines up";
  finding.proof = "perf c2c where there are counters";
  finding.experiments.push_back(on_one_cpu(evidence));
  findings.push_back(std::move(finding));
}

}  // namespace

void find_in_sharing(const Evidence& evidence, std::vector<Finding>& findings) {
  const Observation& seen = evidence.seen;
  const double used = seen.run.cpu_s() / std::max(1e-9, evidence.wall_s());
  if (seen.run.threads.value_or(1) < 2 || used < 1.2 || seen.share_of(CodeRole::kLock) > 0.1 ||
      seen.share_of(CodeRole::kYield) > 0.1 || seen.run.system_s > 0.3 * seen.run.cpu_s())
    return;
  const bool is_known = evidence.has_shared_lines && evidence.shared_accesses_count >= kLeastAccesses &&
                        evidence.costs.line_transfer_s > 0;
  if (!is_known) {
    add_suspected_sharing(evidence, findings);
    return;
  }
  add_seen_sharing(evidence, true, findings);
  add_seen_sharing(evidence, false, findings);
}

}  // namespace perfcast::measure
