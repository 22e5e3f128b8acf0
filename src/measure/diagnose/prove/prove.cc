#include "measure/diagnose/prove/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>

#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "measure/compare/paired_sequence.h"
#include "measure/compare/turns.h"
#include "measure/diagnose/prove/output_check.h"

namespace perfcast::measure {
namespace {

constexpr int kScreeningPairs = 2;
constexpr double kWorthwhile = 0.97;  // of the time as it is: above it nothing is proven
constexpr double kLeastBudget_s = 8;  // of one comparison
constexpr double kByCpuTime = 0.65;
constexpr double kShownByTrialAlone = 0.93;  // of findings that have no other evidence

class Prover {
 public:
  Prover(const ProofRequest& request, std::vector<Finding>& findings)
      : request_(request),
        findings_(findings),
        output_(Experiment().command(request.command), limit_s(Experiment()), request.around) {}
  Status run();

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    double time_s = 0;
    std::optional<double> events_count;  // of what the experiment is to take away
  };
  Result<Seen> run_of(const Experiment& experiment, TrialEffect effect, bool by_cpu_time);
  bool takes_cpu_time(const Experiment& experiment) const {
    return experiment.by_cpu_time || (request_.by_cpu_time && !experiment.by_wall_time);
  }
  Status try_out(ExperimentResult& result);
  Status compile(ExperimentResult& result);
  Status check_other_code(const RebuiltProgram& built);
  Status screen(const Experiment& experiment, ExperimentResult& result);
  Status compare(const Experiment& experiment, ExperimentResult& result);
  // Of one run, as it is or otherwise: what hangs ends.
  double limit_s(const Experiment& experiment) const {
    return request_.limit_s > 0 ? request_.limit_s : 10 * run_s(experiment) + 10;
  }
  // On one CPU it takes what all took together.
  double run_s(const Experiment& experiment) const {
    return request_.run_s * (experiment.by_cpu_time ? std::max(1.0, request_.cpus_used) : 1);
  }
  // What a comparison takes at least, by what two pairs of runs showed.
  double comparison_s(const ExperimentResult& screened) const {
    const double otherwise_s =
        screened.experiment.by_cpu_time ? run_s(screened.experiment) : request_.run_s * screened.ratio;
    return static_cast<double>(fewest_pairs(error_ratio_)) * (request_.run_s + otherwise_s);
  }
  double since_start_s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  double spent_s() const { return since_start_s() - builds_s_; }
  double left_s() const { return request_.budget_s - spent_s(); }
  void say(const std::string& text) const {
    if (request_.progress) request_.progress(text);
  }
  void take_gain(Finding& finding) const;

  const ProofRequest& request_;
  std::vector<Finding>& findings_;
  OutputCheck output_;
  Clock::time_point began_ = Clock::now();
  double builds_s_ = 0;
  double error_ratio_ = 0.05;  // of one comparison, so that all of them together err no more often than 5%
  uint64_t seed_ = 0;
  std::map<MachineCode, std::string> tried_code_;  // with which flags; "": the user's own
};

std::optional<double> events_of(const ProcessOutcome& run, TrialEffect effect) {
  switch (effect) {
    case TrialEffect::kPageFaults:
      return run.minor_faults;
    case TrialEffect::kCalls:
      return run.io ? std::optional(run.io->read_calls + run.io->write_calls) : std::nullopt;
    case TrialEffect::kThreads:
      return run.threads ? std::optional(static_cast<double>(*run.threads)) : std::nullopt;
    case TrialEffect::kNone:
      break;
  }
  return std::nullopt;
}

Result<Prover::Seen> Prover::run_of(const Experiment& experiment, TrialEffect effect, bool by_cpu_time) {
  ProcessRequest process;
  process.arguments = experiment.command(request_.command);
  const auto program = inspect_program(process.arguments);
  if (!program) return program.error();
  process.executable = program->path;
  process.limit_s = limit_s(experiment);
  process.around = request_.around;
  process.watch = effect == TrialEffect::kCalls || effect == TrialEffect::kThreads;
  const auto outcome = run_process(process);
  if (!outcome) return outcome.error();
  if (outcome->limit_reached)
    return Error{"limit-reached", fmt::format("a run took more than {:.0f} s", limit_s(experiment)), "",
                 "a longer --run-limit"};
  if (!outcome->ok()) {
    const bool is_as_it_is = experiment.name.empty();
    return Error{"program-failed", is_as_it_is ? "the command fails now and then" : "the command fails under it", "",
                 ""};
  }
  return Seen{by_cpu_time ? outcome->cpu_s() : outcome->wall_s, events_of(*outcome, effect)};
}

Status Prover::screen(const Experiment& experiment, ExperimentResult& result) {
  Experiment as_it_is;
  as_it_is.by_cpu_time = experiment.by_cpu_time;  // how long it may take
  std::array<double, 2> least = {INFINITY, INFINITY};
  std::array<std::optional<double>, 2> events;
  for (int pair = 0; pair < kScreeningPairs; ++pair) {
    for (const size_t side : {0, 1}) {
      const auto seen = run_of(side == 0 ? as_it_is : experiment, experiment.effect, takes_cpu_time(experiment));
      if (!seen) return seen.error();
      least.at(side) = std::min(least.at(side), seen->time_s);
      events.at(side) = seen->events_count;
    }
  }
  if (events[0] && events[1] && *events[0] > 0) result.removed_ratio = std::max(0.0, 1 - *events[1] / *events[0]);
  result.is_screened = true;
  result.ratio = least[0] > 0 ? least[1] / least[0] : 1;
  result.pairs_count = kScreeningPairs;
  return {};
}

Status Prover::compare(const Experiment& experiment, ExperimentResult& result) {
  CompareRequest turns;
  turns.commands = {Experiment().command(request_.command), experiment.command(request_.command)};
  turns.time = takes_cpu_time(experiment) ? ComparedTime::kCpu : ComparedTime::kWall;
  turns.budget_s = std::max(kLeastBudget_s, std::min(left_s() / 2, 30.0));
  turns.counted_runs = 0;
  turns.warmups = 0;
  turns.limit_s = limit_s(experiment);
  turns.around = request_.around;
  turns.error_ratio = error_ratio_;
  turns.seed = request_.seed + seed_++;
  const auto comparison = compare_in_turns(turns);
  if (!comparison) return comparison.error();
  if (comparison->interrupted) {
    Error interrupted{"interrupted", "interrupted while " + experiment.name + " was tried", "", ""};
    interrupted.kind = ErrorKind::kInterrupted;
    return interrupted;
  }
  result.is_screened = false;
  result.ratio = comparison->ratio;
  result.lower = comparison->lower;
  result.upper = comparison->upper;
  result.pairs_count = static_cast<double>(comparison->pairs);
  return {};
}

// Nothing is learned from timing the same program twice.
Status Prover::check_other_code(const RebuiltProgram& built) {
  if (tried_code_.empty()) {
    if (const auto own = machine_code(request_.rebuilder->program())) tried_code_.emplace(*own, "");
  }
  if (!built.code) return {};
  const auto [known, is_new] = tried_code_.emplace(*built.code, built.flags);
  if (is_new || known->second == built.flags) return {};
  const std::string with = known->second.empty() ? "before" : "with " + known->second;
  return Error{"same-code",
               "its machine code is the same as " + with + ": these flags change nothing, or don't reach the compiler",
               "--rebuild", "a line that passes {flags} on"};
}

// The program with the experiment's flags, and whether it prints the same.
Status Prover::compile(ExperimentResult& result) {
  Experiment& experiment = result.experiment;
  if (request_.rebuilder == nullptr) return Error{"bad-usage", "there is no source tree to compile", "", "--rebuild"};
  say("building with " + experiment.flags);
  const double before_s = since_start_s();
  const auto built = request_.rebuilder->rebuild(experiment.flags);
  builds_s_ += since_start_s() - before_s;
  if (!built) return built.error();
  if (Status other = check_other_code(*built); !other) return other;
  experiment.instead = built->command;
  const auto same = output_.compare(experiment.command(request_.command));
  if (!same) return same.error();
  if (*same == SameOutput::kVaries)
    return Error{"output-varies",
                 "what the program prints differs from run to run, so that nothing shows whether a build is right", "",
                 "a program that prints the same each time"};
  result.output_differs = *same == SameOutput::kDiffers;
  return {};
}

Status Prover::try_out(ExperimentResult& result) {
  if (!result.experiment.flags.empty()) {
    if (Status compiled = compile(result); !compiled) return compiled;
    // How fast a wrong program is tells nobody anything, but where it is known to compute otherwise.
    if (result.output_differs && !result.experiment.changes_results) return {};
  }
  say("trying " + result.experiment.name);
  if (Status screened = screen(result.experiment, result); !screened) return screened;
  if (result.ratio >= kWorthwhile || result.is_ignored()) return {};
  if (left_s() >= comparison_s(result)) return compare(result.experiment, result);
  // Less CPU time on one CPU is evidence, no gain.
  result.is_promising = !result.experiment.changes_results && !result.experiment.by_cpu_time;
  return {};
}

void Prover::take_gain(Finding& finding) const {
  const ExperimentResult* const proven = finding.proven();
  if (finding.is_shown_by_trial) {
    // Where CPUs share a core, or a clock, CPU time falls somewhat on one of them whatever the program does.
    const bool is_shown = proven != nullptr && (proven->experiment.by_cpu_time ? proven->upper < kByCpuTime
                                                                               : proven->ratio < kShownByTrialAlone);
    finding.gain_ratio = is_shown ? 1 - proven->ratio : 0;
  } else if (proven != nullptr && !proven->experiment.by_cpu_time) {
    finding.gain_ratio = std::max(finding.gain_ratio, 1 - proven->ratio);
  }
  // Of several trials that take the cause away, the one that gains most.
  std::optional<double> most;
  for (const ExperimentResult& result : finding.results) {
    if (const auto gain = result.most_gain()) most = std::max(most.value_or(0), *gain);
  }
  if (most) finding.gain_ratio = std::min(finding.gain_ratio, *most);
}

Status Prover::run() {
  size_t experiments = 0;
  for (const Finding& finding : findings_) experiments += finding.experiments.size();
  error_ratio_ = 0.05 / static_cast<double>(std::max<size_t>(1, experiments));
  for (Finding& finding : findings_) {
    for (const Experiment& experiment : finding.experiments) {
      ExperimentResult result;
      result.experiment = experiment;
      const double needed_s = kScreeningPairs * (request_.run_s + run_s(experiment));
      if (left_s() < needed_s) {
        result.failed = fmt::format("no time left: {:.0f} s are needed", needed_s);
        finding.results.push_back(std::move(result));
        continue;
      }
      if (Status done = try_out(result); !done) {
        if (done.error().kind == ErrorKind::kInterrupted) return done;
        result.failed = done.error().message;
      }
      finding.results.push_back(std::move(result));
      // One that helps is proof enough; which flags help most is what one wants to know.
      if (finding.results.back().failed.empty() && finding.results.back().is_gain() && experiment.flags.empty()) break;
    }
  }
  for (Finding& finding : findings_) take_gain(finding);
  std::erase_if(findings_, [](const Finding& finding) {
    const bool is_open = std::any_of(finding.results.begin(), finding.results.end(),
                                     [](const ExperimentResult& of) { return of.is_promising; });
    return finding.is_shown_by_trial && finding.gain_ratio <= 0 && !is_open && !finding.has_builds();
  });
  std::stable_sort(findings_.begin(), findings_.end(),
                   [](const Finding& a, const Finding& b) { return a.gain_ratio > b.gain_ratio; });
  return {};
}

}  // namespace

Status prove_findings(const ProofRequest& request, std::vector<Finding>& findings) {
  return Prover(request, findings).run();
}

}  // namespace perfcast::measure
