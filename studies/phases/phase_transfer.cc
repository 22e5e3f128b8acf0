#include "studies/phases/phase_transfer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/unknown.h"
#include "measure/phases/phase_clusters.h"
#include "measure/phases/phase_time_model.h"

namespace perfcast::measure::phases_study {
namespace {

constexpr Eigen::Index kPieces = 40;
constexpr double kSameWork = 1.15, kSameRate = 0.1, kLeastRate = 1e-5;

// One kind of phase of one program, on both platforms.
struct TransferPhase {
  std::string program;
  Eigen::VectorXd source, target, repeated;  // sums of columns; repeated: empty where there was one run
};

const RecordedRun* run_of(const RecordedSet& set, const std::string& program, const std::string& platform, int repeat) {
  const auto found = std::find_if(set.runs.begin(), set.runs.end(), [&](const RecordedRun& run) {
    return run.program == program && run.platform == platform && run.repeat == repeat;
  });
  return found == set.runs.end() ? nullptr : &*found;
}

Eigen::MatrixXd rates_of(const Eigen::MatrixXd& cut) {
  Eigen::MatrixXd rates(cut.rows(), cut.cols());
  for (Eigen::Index i = 0; i < cut.rows(); ++i) {
    const double instructions = std::max(1.0, cut(i, kInstructionsColumn));
    for (Eigen::Index k = 0; k < cut.cols(); ++k) {
      const double scale = k == kBusyColumn || k == kJoulesColumn ? 1e9 : 1;
      rates(i, k) = std::log(scale * cut(i, k) / instructions + kLeastRate) / kSameRate;
    }
    rates(i, kInstructionsColumn) = 0;
  }
  // What was not read tells nothing apart.
  for (Eigen::Index k = 0; k < rates.cols(); ++k) {
    if (!rates.col(k).allFinite()) rates.col(k).setZero();
  }
  return rates;
}

std::vector<TransferPhase> phases_of(const RecordedRun& source, const RecordedRun& target, const RecordedRun* repeat) {
  const Eigen::MatrixXd from = cut_by_instructions(source, kPieces), to = cut_by_instructions(target, kPieces);
  const PhaseClusters found =
      choose_phases(rates_of(from), from.col(kBusyColumn).cwiseMax(1e-9), kMostChosenKinds, 1, 1);
  std::vector<TransferPhase> phases(found.count());
  for (size_t k = 0; k < phases.size(); ++k) {
    TransferPhase& phase = phases[k];
    phase.program = source.program;
    phase.source = Eigen::VectorXd::Zero(from.cols());
    phase.target = Eigen::VectorXd::Zero(to.cols());
    Eigen::MatrixXd again;
    if (repeat != nullptr) {
      again = cut_by_instructions(*repeat, kPieces);
      phase.repeated = Eigen::VectorXd::Zero(to.cols());
    }
    for (Eigen::Index i = 0; i < kPieces; ++i) {
      if (found.cluster[static_cast<size_t>(i)] != k) continue;
      phase.source += from.row(i).transpose();
      phase.target += to.row(i).transpose();
      if (repeat != nullptr) phase.repeated += again.row(i).transpose();
    }
  }
  return phases;
}

// What a forecast of time is made from, per instruction; of power, per second.
PhaseExample time_example(const TransferPhase& phase) {
  PhaseExample example;
  example.program = example.command = phase.program;
  example.instructions_count = phase.source(kInstructionsColumn);
  example.cpu_s = phase.target(kBusyColumn);
  example.costs = phase.source / phase.source(kInstructionsColumn);
  example.costs(kBusyColumn) *= 1e9;
  example.costs(kInstructionsColumn) = 1;
  example.costs(kJoulesColumn) = 0;
  return example;
}

PhaseExample power_example(const TransferPhase& phase) {
  PhaseExample example;
  example.program = example.command = phase.program;
  example.instructions_count = phase.target(kBusyColumn);
  example.cpu_s = 1e-9 * phase.target(kJoulesColumn);  // watts, in the place of ns an instruction
  example.costs = phase.source / phase.source(kBusyColumn);
  example.costs(kBusyColumn) = 1;
  return example;
}

struct Sums {
  double measured = 0, forecast = 0, off = 0;
};

class ErrorTable {
 public:
  void add(const std::string& program, double measured, double forecast) {
    Sums& sums = of_[program];
    sums.measured += measured;
    sums.forecast += forecast;
    sums.off += std::abs(forecast - measured);
  }
  TransferScores::Errors errors() const {
    if (of_.empty()) return {kUnknown, kUnknown};
    TransferScores::Errors errors;
    for (const auto& [program, sums] : of_) {
      errors.phase += sums.off / sums.measured;
      errors.whole += std::abs(sums.forecast / sums.measured - 1);
    }
    errors.phase /= static_cast<double>(of_.size());
    errors.whole /= static_cast<double>(of_.size());
    return errors;
  }

 private:
  std::map<std::string, Sums> of_;
};

template <typename Example>
std::vector<PhaseExample> examples_without(const std::vector<TransferPhase>& phases, const std::string& program,
                                           Example example) {
  std::vector<PhaseExample> others;
  others.reserve(phases.size());
  for (const TransferPhase& phase : phases) {
    if (phase.program != program) others.push_back(example(phase));
  }
  return others;
}

// Of the other programs, each alike.
template <typename Ratio>
double mean_ratio(const std::vector<TransferPhase>& phases, const std::string& program, Ratio ratio) {
  std::map<std::string, std::pair<Eigen::VectorXd, Eigen::VectorXd>> wholes;
  for (const TransferPhase& phase : phases) {
    if (phase.program == program) continue;
    auto& [source, target] = wholes[phase.program];
    if (source.size() == 0) {
      source = phase.source;
      target = phase.target;
    } else {
      source += phase.source;
      target += phase.target;
    }
  }
  double sum = 0;
  for (const auto& [name, whole] : wholes) sum += ratio(whole.first, whole.second);
  return sum / static_cast<double>(wholes.size());
}

double watts(const Eigen::VectorXd& of) { return of(kJoulesColumn) / of(kBusyColumn); }

}  // namespace

Result<TransferScores> score_transfer(const RecordedSet& set, const std::string& from, const std::string& to,
                                      bool with_time) {
  TransferScores scores;
  std::vector<TransferPhase> phases;
  std::vector<std::string> programs;
  for (const RecordedRun& run : set.runs) {
    if (run.platform != from || run.repeat != 1) continue;
    const RecordedRun* target = run_of(set, run.program, to, 1);
    if (target == nullptr) continue;
    const double ratio = target->samples.col(kInstructionsColumn).sum() / run.samples.col(kInstructionsColumn).sum();
    if (with_time && (ratio > kSameWork || ratio < 1 / kSameWork)) {
      scores.other_work.push_back(run.program);
      continue;
    }
    const auto found = phases_of(run, *target, run_of(set, run.program, to, 2));
    phases.insert(phases.end(), found.begin(), found.end());
    programs.push_back(run.program);
  }
  ErrorTable time, time_mean, time_floor, power, power_mean, power_floor, energy, energy_mean;
  for (const std::string& program : programs) {
    std::optional<PhaseTimeModel> time_model;
    if (with_time) {
      auto fitted = PhaseTimeModel::fit(examples_without(phases, program, time_example));
      if (!fitted) return fitted.error();
      time_model = std::move(*fitted);
    }
    const auto power_model = PhaseTimeModel::fit(examples_without(phases, program, power_example));
    if (!power_model) return power_model.error();
    const double slower = mean_ratio(phases, program, [](const auto& source, const auto& target) {
      return target(kBusyColumn) / target(kInstructionsColumn) / (source(kBusyColumn) / source(kInstructionsColumn));
    });
    const double hotter = mean_ratio(
        phases, program, [](const auto& source, const auto& target) { return watts(target) / watts(source); });
    for (const TransferPhase& phase : phases) {
      if (phase.program != program) continue;
      const double measured_s = phase.target(kBusyColumn), measured_w = watts(phase.target);
      const double forecast_w = power_model->ns_per_instruction(power_example(phase).costs);
      // Power of phases by their time on the target.
      power.add(program, measured_w * measured_s, forecast_w * measured_s);
      power_mean.add(program, measured_w * measured_s, hotter * watts(phase.source) * measured_s);
      if (phase.repeated.size() > 0)
        power_floor.add(program, measured_w * measured_s, watts(phase.repeated) * measured_s);
      if (!time_model) continue;
      const double forecast_s =
          1e-9 * time_model->ns_per_instruction(time_example(phase).costs) * phase.source(kInstructionsColumn);
      const double mean_s = slower * phase.source(kBusyColumn);
      time.add(program, measured_s, forecast_s);
      time_mean.add(program, measured_s, mean_s);
      if (phase.repeated.size() > 0) time_floor.add(program, measured_s, phase.repeated(kBusyColumn));
      energy.add(program, phase.target(kJoulesColumn), forecast_s * forecast_w);
      energy_mean.add(program, phase.target(kJoulesColumn), mean_s * hotter * watts(phase.source));
    }
  }
  scores.programs = programs.size();
  scores.phases = phases.size();
  scores.time = time.errors();
  scores.time_mean = time_mean.errors();
  scores.time_floor = time_floor.errors();
  scores.power = power.errors();
  scores.power_mean = power_mean.errors();
  scores.power_floor = power_floor.errors();
  scores.energy = energy.errors();
  scores.energy_mean = energy_mean.errors();
  return scores;
}

}  // namespace perfcast::measure::phases_study
