#include "diagnose/prove/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "collect/process/process.h"
#include "collect/process/program_inspector.h"
#include "compare/turns.h"

namespace perfcast {
namespace {

constexpr int kScreeningPairs = 2;
constexpr double kWorthwhile = 0.97;         // of the time as it is: above it nothing is proven
constexpr double kLeastBudget_s = 8;         // of one comparison
constexpr double kShownByTrialAlone = 0.93;  // of findings that have no other evidence

class Prover {
 public:
  Prover(const ProofRequest& request, std::vector<Finding>& findings) : request_(request), findings_(findings) {}
  Status run();

 private:
  using Clock = std::chrono::steady_clock;
  Result<double> time_of(const Experiment& experiment);
  Status screen(const Experiment& experiment, ExperimentResult& result);
  Status compare(const Experiment& experiment, ExperimentResult& result);
  double spent_s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  double left_s() const { return request_.budget_s - spent_s(); }
  void say(const std::string& text) const {
    if (request_.progress) request_.progress(text);
  }

  const ProofRequest& request_;
  std::vector<Finding>& findings_;
  Clock::time_point began_ = Clock::now();
};

Result<double> Prover::time_of(const Experiment& experiment) {
  ProcessRequest process;
  process.arguments = experiment.command(request_.command);
  const auto program = inspect_program(process.arguments);
  if (!program) return program.error();
  process.executable = program->path;
  process.limit_s = request_.limit_s > 0 ? request_.limit_s : 10 * request_.run_s + 10;
  const auto outcome = run_process(process);
  if (!outcome) return outcome.error();
  if (!outcome->ok()) return Error{"program-failed", "the command fails under it", "", ""};
  return experiment.by_cpu_time ? outcome->cpu_s() : outcome->wall_s;
}

Status Prover::screen(const Experiment& experiment, ExperimentResult& result) {
  Experiment as_it_is;
  as_it_is.by_cpu_time = experiment.by_cpu_time;
  std::array<double, 2> least = {INFINITY, INFINITY};
  for (int pair = 0; pair < kScreeningPairs; ++pair) {
    for (const size_t side : {0, 1}) {
      const auto time = time_of(side == 0 ? as_it_is : experiment);
      if (!time) return time.error();
      least.at(side) = std::min(least.at(side), *time);
    }
  }
  result.is_screened = true;
  result.ratio = least[0] > 0 ? least[1] / least[0] : 1;
  result.pairs_count = kScreeningPairs;
  return {};
}

Status Prover::compare(const Experiment& experiment, ExperimentResult& result) {
  CompareRequest turns;
  turns.commands = {Experiment().command(request_.command), experiment.command(request_.command)};
  turns.time = experiment.by_cpu_time ? ComparedTime::kCpu : ComparedTime::kWall;
  turns.budget_s = std::max(kLeastBudget_s, std::min(left_s() / 2, 30.0));
  turns.counted_runs = 0;
  turns.warmups = 0;
  turns.limit_s = request_.limit_s;
  turns.seed = request_.seed;
  const auto comparison = compare_in_turns(turns);
  if (!comparison) return comparison.error();
  result.is_screened = false;
  result.ratio = comparison->ratio;
  result.lower = comparison->lower;
  result.upper = comparison->upper;
  result.pairs_count = static_cast<double>(comparison->pairs);
  return {};
}

Status Prover::run() {
  for (Finding& finding : findings_) {
    for (const Experiment& experiment : finding.experiments) {
      ExperimentResult result;
      result.experiment = experiment;
      const double needed_s = 2 * kScreeningPairs * request_.run_s;
      if (left_s() < needed_s) {
        result.failed = fmt::format("no time left: {:.0f} s are needed", needed_s);
        finding.results.push_back(std::move(result));
        continue;
      }
      say("trying " + experiment.name);
      Status done = screen(experiment, result);
      if (done && result.ratio < kWorthwhile && left_s() > 0) done = compare(experiment, result);
      if (!done && done.error().kind == ErrorKind::kInterrupted) return done;
      if (!done) result.failed = done.error().message;
      finding.results.push_back(std::move(result));
      // One that helps is proof enough.
      if (finding.results.back().failed.empty() && finding.results.back().is_gain()) break;
    }
  }
  for (Finding& finding : findings_) {
    const ExperimentResult* const proven = finding.proven();
    if (!finding.is_shown_by_trial) continue;
    finding.gain_ratio = proven != nullptr && proven->ratio < kShownByTrialAlone ? 1 - proven->ratio : 0;
    finding.basis = FindingBasis::kMeasured;
  }
  std::erase_if(findings_, [](const Finding& finding) { return finding.is_shown_by_trial && finding.gain_ratio <= 0; });
  std::stable_sort(findings_.begin(), findings_.end(),
                   [](const Finding& a, const Finding& b) { return a.gain_ratio > b.gain_ratio; });
  return {};
}

}  // namespace

Status prove_findings(const ProofRequest& request, std::vector<Finding>& findings) {
  return Prover(request, findings).run();
}

}  // namespace perfcast
