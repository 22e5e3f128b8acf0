#include "measure/phases/phase_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/parallel.h"
#include "base/unknown.h"
#include "learn/conformal/conformal.h"

namespace perfcast::measure {
namespace {

constexpr double kLeastRatio = 0.01;

constexpr double kCoverage = 0.9;
constexpr size_t kFewestOthers = 3;

// Of a new program: each program left out counts as much as any other.
double half_width_of(const std::vector<PhaseTimeModel::LeftOut>& programs) {
  size_t most = 0;
  for (const PhaseTimeModel::LeftOut& program : programs) most = std::max(most, program.logs.size());
  ConformalScores scores;
  scores.scores =
      Eigen::MatrixXd::Constant(static_cast<Eigen::Index>(programs.size()), static_cast<Eigen::Index>(most), kUnknown);
  for (size_t p = 0; p < programs.size(); ++p) {
    scores.family.push_back(static_cast<int64_t>(p));
    for (size_t i = 0; i < programs[p].logs.size(); ++i) {
      scores.scores(static_cast<Eigen::Index>(p), static_cast<Eigen::Index>(i)) = std::abs(programs[p].logs[i]);
    }
  }
  return conformal_quantile(scores, kCoverage);
}

// Of the profiles that have native times; a machine is its CPU, as far as the kernel tells.
std::vector<std::string> machines_of(const std::vector<Profile>& profiles) {
  std::vector<std::string> names;
  std::set<std::tuple<std::string, int64_t, int64_t, int64_t>> seen;
  for (const Profile& profile : profiles) {
    if (phase_examples(profile, kLeastRatio).empty()) continue;
    const HostFacts& host = profile.host;
    if (seen.emplace(host.name, host.cpu_family.value_or(-1), host.model.value_or(-1), host.stepping.value_or(-1))
            .second) {
      names.push_back(host.name.empty() ? "an unnamed machine" : host.name);
    }
  }
  return names;
}

std::vector<PhaseExample> examples_without(const std::vector<Profile>& profiles, const std::string& program) {
  std::vector<PhaseExample> examples;
  for (const Profile& profile : profiles) {
    if (profile.program == program) continue;
    for (PhaseExample& example : phase_examples(profile, kLeastRatio)) examples.push_back(std::move(example));
  }
  return examples;
}

}  // namespace

Result<PhaseForecast> forecast_phases(const Profile& profile, const std::vector<Profile>& others, int threads) {
  if (!profile.phase_kinds) {
    return Error{"no-phases", "the profile has no phases", profile.program,
                 "one written by perfcast profile --phases auto -o FILE -- CMD"};
  }
  const auto model = PhaseTimeModel::fit_with_errors(examples_without(others, profile.program), threads);
  if (!model) return model.error();
  PhaseForecast forecast;
  std::set<std::string> programs;
  for (const PhaseExample& example : model->examples()) programs.insert(example.program);
  forecast.programs = programs.size();
  forecast.settings = model->settings();
  for (const PhaseTimeModel::LeftOut& left : model->left_out()) forecast.left_out_errors.push_back(left.error);
  if (forecast.programs >= kFewPrograms) forecast.half_width_log = half_width_of(model->left_out());
  forecast.machines = machines_of(others);
  for (const Profile& other : others) {
    if (other.program != profile.program && phase_examples(other, kLeastRatio).empty())
      forecast.skipped.push_back(other.command.empty() ? other.program : other.command.front());
  }
  const auto& kinds = profile.phase_kinds->kinds;
  for (const PhaseKind& kind : kinds) {
    const auto costs = kind_costs(profile, kind.metrics);
    std::optional<double>& forecast_s = forecast.kind_s.emplace_back();
    if (costs) forecast_s = 1e-9 * model->ns_per_instruction(*costs) * kind.instructions_count;
  }
  forecast.slice_s.resize(profile.phases.size());
  std::vector<double> sums(kinds.size(), 0);
  for (size_t i = 0; i < profile.phases.size(); ++i) {
    const auto costs = slice_costs(profile, i);
    if (!costs) continue;
    forecast.slice_s[i] = 1e-9 * model->ns_per_instruction(*costs) * profile.phases[i].instructions_count;
    sums[*profile.phases[i].kind] += *forecast.slice_s[i];
  }
  for (size_t i = 0; i < profile.phases.size(); ++i) {
    if (!forecast.slice_s[i]) continue;
    const size_t kind = *profile.phases[i].kind;
    if (forecast.kind_s[kind] && sums[kind] > 0) *forecast.slice_s[i] *= *forecast.kind_s[kind] / sums[kind];
  }
  return forecast;
}

Result<PhaseScores> score_phases(const std::vector<Profile>& profiles, int threads) {
  PhaseScores scores;
  std::map<std::string, std::vector<const Profile*>> programs;
  for (const Profile& profile : profiles) {
    if (phase_examples(profile, kLeastRatio).empty()) {
      ++scores.without_times;
    } else {
      programs[profile.program].push_back(&profile);
    }
  }
  if (programs.size() <= kFewestOthers) {
    return Error{
        "too-few-phases",
        fmt::format("{} program{} with native times of phases, where each is forecast from {} others at least",
                    programs.size(), programs.size() == 1 ? "" : "s", kFewestOthers),
        "", fmt::format("profiles of {} programs and more, written by perfcast profile --phases", kFewestOthers + 1)};
  }
  std::vector<std::string> names;
  names.reserve(programs.size());
  for (const auto& [name, of] : programs) names.push_back(name);
  std::vector<std::vector<PhaseScore>> found(names.size());
  const Status done = parallel_for(names.size(), threads, [&](size_t i) -> Status {
    const auto model = PhaseTimeModel::fit(examples_without(profiles, names[i]));
    if (!model) return model.error();
    for (const Profile* profile : programs.at(names[i])) {
      for (const PhaseExample& example : phase_examples(*profile, kLeastRatio)) {
        PhaseScore& score = found[i].emplace_back();
        score.program = example.program;
        score.command = example.command;
        score.kind = example.kind;
        score.measured_s = example.cpu_s;
        score.deviation_s = example.deviation_s;
        score.forecast_s = 1e-9 * model->ns_per_instruction(example.costs) * example.instructions_count;
        score.mean_s = 1e-9 * model->mean_ns_per_instruction() * example.instructions_count;
      }
    }
    return {};
  });
  if (!done) return done.error();
  for (auto& of : found) scores.phases.insert(scores.phases.end(), of.begin(), of.end());
  scores.programs = names.size();
  scores.machines = machines_of(profiles);
  return scores;
}

PhaseErrors phase_errors(const PhaseScores& scores, double PhaseScore::*forecast) {
  struct Whole {
    double measured_s = 0, forecast_s = 0, off_s = 0;
  };
  std::map<std::string, Whole> wholes;
  PhaseErrors errors;
  for (const PhaseScore& score : scores.phases) {
    Whole& whole = wholes[score.command];
    const double off = std::abs(score.*forecast - score.measured_s);
    whole.measured_s += score.measured_s;
    whole.forecast_s += score.*forecast;
    whole.off_s += off;
    errors.phase += off / score.measured_s;
  }
  if (scores.phases.empty()) return errors;
  errors.phase /= static_cast<double>(scores.phases.size());
  for (const auto& [command, whole] : wholes) {
    errors.phase_by_time += whole.off_s / whole.measured_s;
    errors.whole += std::abs(whole.forecast_s / whole.measured_s - 1);
  }
  errors.phase_by_time /= static_cast<double>(wholes.size());
  errors.whole /= static_cast<double>(wholes.size());
  return errors;
}

std::optional<double> noise_of(const PhaseScores& scores) {
  double sum = 0;
  size_t repeated = 0;
  for (const PhaseScore& score : scores.phases) {
    if (!score.deviation_s) continue;
    sum += *score.deviation_s / score.measured_s;
    ++repeated;
  }
  if (repeated == 0) return std::nullopt;
  return sum / static_cast<double>(repeated);
}

}  // namespace perfcast::measure
