#include "measure/phases/phase_description.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/statistics.h"
#include "machine/facts/core_design.h"
#include "measure/phases/native_alignment.h"
#include "measure/phases/phase_clusters.h"
#include "measure/phases/phase_cores.h"
#include "measure/phases/phase_functions.h"

namespace perfcast::measure {
namespace {

constexpr size_t kLeastIntervals = 4;
// Shares of instructions below this are as good as none; rates that differ by less than this factor's logarithm are
// taken for the same.
constexpr double kLeastRate = 2e-3, kSameRate = 0.15;
constexpr double kLeastOfRun = 0.95, kLeastAgreement = 0.35;

bool is_rate(const std::string& key) {
  static constexpr const char* kOthers[] = {"loads",           "stores",   "tb_execs",          "crit_chain_cycles",
                                            "dependent_loads", "syscalls", "string_iterations", "icache_line_fetches"};
  return key.starts_with("op_") || std::find(std::begin(kOthers), std::end(kOthers), key) != std::end(kOthers);
}

// Logarithms of what is counted at every execution, per instruction: they tell intervals apart by ratios. What caches
// did is known of some intervals only.
Eigen::MatrixXd rates_of(const PhaseSeries& series) {
  std::vector<size_t> keys;
  for (size_t k = 0; k < series.keys.size(); ++k) {
    if (is_rate(series.keys[k])) keys.push_back(k);
  }
  Eigen::MatrixXd rates(static_cast<Eigen::Index>(series.intervals.size()), static_cast<Eigen::Index>(keys.size()));
  for (Eigen::Index i = 0; i < rates.rows(); ++i) {
    const PhaseInterval& interval = series.intervals[static_cast<size_t>(i)];
    for (Eigen::Index k = 0; k < rates.cols(); ++k) {
      const auto count = static_cast<double>(interval.counts[keys[static_cast<size_t>(k)]]);
      rates(i, k) = std::log(count / static_cast<double>(interval.counts[0]) + kLeastRate) / kSameRate;
    }
  }
  return rates;
}

struct NativeTimes {
  std::vector<std::vector<double>> runs;  // CPU time of each interval
};

void warn(Profile& profile, const char* code, std::string message, std::string advice) {
  profile.warnings.push_back({code, std::move(message), std::move(advice)});
}

NativeTimes native_times(const PhaseSeries& series, const std::vector<CodeCourse>& native, PhaseFunctions& functions,
                         Profile& profile) {
  NativeTimes times;
  std::optional<Error> problem;
  if (profile.partly_seen) {
    warn(profile, "no-native-phases",
         "native time is not known phase by phase: the instrumented run saw the beginning of the program alone",
         "a shorter run of the same kind of work");
    return times;
  }
  double agreement = 0;
  size_t ordered = 0;
  for (const CodeCourse& course : native) {
    auto aligned = align_native(series, course);
    if (!aligned) {
      problem = aligned.error();
      continue;
    }
    if (aligned->by_order) {
      agreement += aligned->agreement;
      ++ordered;
    }
    functions.add(course, *aligned);
    times.runs.push_back(std::move(aligned->interval_s));
  }
  if (times.runs.empty() && problem) {
    warn(profile, "no-native-phases", "native time is not known phase by phase: " + problem->message,
         problem->expected);
  }
  if (ordered > 0 && agreement < kLeastAgreement * static_cast<double>(ordered)) {
    warn(profile, "phases-differ",
         fmt::format("the native runs and the instrumented one agree in {:.0f}% of the code over time: native times of "
                     "phases are rough",
                     100 * agreement / static_cast<double>(ordered)),
         "a command that does the same each time it is run, in the same order");
  }
  return times;
}

double sum_over(const std::vector<double>& values, const std::vector<size_t>& members) {
  double sum = 0;
  for (const size_t i : members) sum += values[i];
  return sum;
}

PhaseKind kind_of(const PhaseSeries& series, const std::vector<size_t>& members, const NativeTimes& times) {
  PhaseKind kind;
  for (size_t m = 0; m < members.size(); ++m) {
    kind.instructions_count += series.instructions(members[m]);
    if (m == 0 || members[m] != members[m - 1] + 1) kind.visits_count += 1;
  }
  kind.metrics = interval_metrics(series, members);
  std::vector<double> sums;
  sums.reserve(times.runs.size());
  for (const auto& run : times.runs) sums.push_back(sum_over(run, members));
  if (!sums.empty()) kind.native_cpu_s = mean(sums);
  if (sums.size() > 1) kind.native_deviation_s = standard_deviation(sums);
  return kind;
}

}  // namespace

void ask_for_phases(CollectRequest& request) {
  request.code_courses = std::make_shared<std::vector<CodeCourse>>();
  request.phase_series = std::make_shared<PhaseSeries>();
}

void describe_phases(const CollectRequest& request, PhaseRequest phases, Profile& profile) {
  if (request.core_designs) {
    for (const CoreDesign& design : *request.core_designs) {
      if (design.name == core_design(profile.host)) phases.design = &design;
    }
  }
  describe_phases(*request.phase_series, *request.code_courses, phases, profile);
}

void describe_phases(const PhaseSeries& series, const std::vector<CodeCourse>& native, const PhaseRequest& request,
                     Profile& profile) {
  profile.phases.clear();
  profile.phase_kinds.reset();
  const size_t count = series.intervals.size();
  if (count < kLeastIntervals) {
    warn(profile, "no-phases",
         count == 0 ? std::string("there is no series of counts to find phases in")
                    : fmt::format("the program ended after {} interval{} of a million instructions: too few for phases",
                                  count, count == 1 ? "" : "s"),
         count == 0 ? "a program that runs under QEMU (perfcast doctor)" : "more work for the program");
    return;
  }
  const Eigen::MatrixXd rates = rates_of(series);
  Eigen::VectorXd weights(rates.rows());
  for (Eigen::Index i = 0; i < weights.size(); ++i) weights(i) = series.instructions(static_cast<size_t>(i));
  const PhaseClusters found = request.kinds > 0 ? cluster_phases(rates, weights, request.kinds, request.seed)
                                                : choose_phases(rates, weights, kMostChosenKinds, 1, request.seed);
  if (found.count() < request.kinds) {
    warn(profile, "fewer-phases",
         fmt::format("the program has {} phases that differ, not {}", found.count(), request.kinds), "");
  }
  PhaseFunctions functions(found.cluster, found.count());
  const NativeTimes times = native_times(series, native, functions, profile);
  PhaseSet set;
  set.program = series.program;
  set.instructions_ratio = series.instructions_ratio;
  set.transitions.assign(found.count(), std::vector<double>(found.count(), 0));
  std::vector<std::vector<size_t>> members(found.count());
  double first = 0;
  profile.phases.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t kind = found.cluster[i];
    members[kind].push_back(i);
    if (i > 0) set.transitions[found.cluster[i - 1]][kind] += 1;
    ProfilePhase& phase = profile.phases.emplace_back();
    phase.first_instruction_count = first;
    phase.instructions_count = series.instructions(i);
    phase.kind = kind;
    const size_t self[] = {i};
    phase.metrics = interval_metrics(series, self);
    if (!times.runs.empty()) {
      double sum = 0;
      for (const auto& run : times.runs) sum += run[i];
      phase.native_cpu_s = sum / static_cast<double>(times.runs.size());
    }
    first += phase.instructions_count;
  }
  set.kinds.reserve(found.count());
  for (size_t k = 0; k < found.count(); ++k) {
    set.kinds.push_back(kind_of(series, members[k], times));
    set.kinds.back().representative_phase = found.representatives[k];
  }
  const auto of_kinds = functions.finish();
  for (size_t k = 0; k < found.count(); ++k) set.kinds[k].functions = of_kinds[k];
  if (request.design != nullptr) add_core_cycles(series, found.cluster, *request.design, set.kinds);
  if (series.processes > 1 && series.instructions_ratio < kLeastOfRun) {
    warn(profile, "phases-of-a-part",
         fmt::format("the phases are those of {}, which ran {:.0f}% of the instructions of {} processes", set.program,
                     100 * set.instructions_ratio, series.processes),
         "the program that does the work, without others around it");
  }
  profile.phase_kinds = std::move(set);
}

}  // namespace perfcast::measure
