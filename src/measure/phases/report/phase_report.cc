#include "measure/phases/report/phase_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::measure {
namespace {

constexpr size_t kLetters = 26;
constexpr size_t kMostCharacters = 3;
// CPU time of an instruction below which no core runs: ten at once at 6 GHz.
constexpr double kLeastInstruction_s = 1.0 / 6e10;

struct Character {
  const char* name;
  double least;  // events per instruction
  std::array<const char*, 6> metrics;
};
constexpr std::array<Character, 9> kCharacters = {{
    {"floats", 0.1, {"fp_single_count", "fp_double_count"}},
    {"vectors of integers",
     0.1,
     {"op_vec_int_alu_count", "op_vec_int_mul_count", "op_vec_logic_count", "op_vec_shuffle_count"}},
    {"divisions",
     0.01,
     {"op_int_div_count", "op_fp_scalar_div_count", "op_fp_scalar_sqrt_count", "op_fp_vec_div_count"}},
    {"branch misses", 0.008, {"tage_misses_count"}},
    {"memory", 0.002, {"miss_32m_count"}},
    {"cache misses", 0.02, {"miss_32k_count"}},
    {"calls", 0.04, {"op_call_count", "op_ind_call_count"}},
    {"code misses", 0.005, {"icache_32k_miss_count"}},
    {"system calls", 0.0002, {"syscalls_count"}},
}};

double metric_of(const MetricValues& metrics, const char* name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? 0 : found->second;
}

bool is_impossible(const PhaseKind& kind) {
  return kind.native_cpu_s && *kind.native_cpu_s < kLeastInstruction_s * kind.instructions_count;
}

std::string rate_text(const PhaseKind& kind) {
  if (!kind.native_cpu_s) return "-";
  return fmt::format("{:.3f}{}", 1e9 * *kind.native_cpu_s / kind.instructions_count, is_impossible(kind) ? "!" : "");
}

// What makes times of phases doubtful.
std::vector<std::string> doubts(const Profile& profile) {
  std::vector<std::string> texts;
  for (const ProfileWarning& warning : profile.warnings) {
    if (warning.code == "phases-differ" || is_serious(warning)) texts.push_back(warning.message);
  }
  const auto& kinds = profile.phase_kinds->kinds;
  if (std::any_of(kinds.begin(), kinds.end(), is_impossible))
    texts.emplace_back(
        "times marked ! are shorter than any core takes for so many instructions: natively other code ran than under "
        "the instrumenter, or they belong to another phase");
  return texts;
}

// And those of a forecast.
std::vector<std::string> forecast_doubts(const PhaseForecast& forecast) {
  std::vector<std::string> texts;
  if (forecast.programs < kFewPrograms) {
    texts.push_back(
        fmt::format("{} programs are few to learn from: a phase unlike theirs may take another time by far; "
                    "tens are better",
                    forecast.programs));
  }
  if (forecast.machines.size() > 1) {
    texts.push_back(
        fmt::format("the profiles after --learn have times of {} machines ({}): what is learnt from them together is "
                    "the time of none",
                    forecast.machines.size(), join(forecast.machines, ", ")));
  }
  if (!forecast.skipped.empty()) {
    texts.push_back(
        fmt::format("{} of the profiles after --learn {} no native times of phases and {} not learnt from: {}",
                    forecast.skipped.size(), forecast.skipped.size() == 1 ? "has" : "have",
                    forecast.skipped.size() == 1 ? "was" : "were", join(forecast.skipped, ", ")));
  }
  return texts;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string seconds_or_dash(const std::optional<double>& seconds) { return seconds ? human_seconds(*seconds) : "-"; }

std::string off_text(const std::optional<double>& forecast, const std::optional<double>& measured) {
  if (!forecast || !measured || !(*measured > 0)) return "-";
  return fmt::format("{:+.0f}%", 100 * (*forecast / *measured - 1));
}

// Joules of the phases, and of all whose power is known; "-" where it isn't.
std::vector<std::string> joules_of(const PhasePowers& power) {
  std::vector<double> joules;
  double sum = 0;
  for (const auto& kind : power.kinds) {
    joules.push_back(kind ? kind->energy_joules : kUnknown);
    sum += kind ? kind->energy_joules : 0;
  }
  joules.push_back(sum > 0 ? sum : kUnknown);
  return energy_column(joules);
}

std::string power_note(const PhasePowers& power, bool is_forecast) {
  double lowest_w = 0, highest_w = 0, widest = 0;
  for (const auto& kind : power.kinds) {
    if (!kind) continue;
    lowest_w = lowest_w == 0 ? kind->machine_w : std::min(lowest_w, kind->machine_w);
    highest_w = std::max(highest_w, kind->machine_w);
    widest = std::max(widest, kind->log_half_width);
  }
  std::string text;
  if (highest_w > 0) {
    text = fmt::format(
        "power: a CPU's share when all {:g} CPUs{} run copies of the phase, idle power with it, by {}; the machine "
        "draws {:.4g} to {:.4g} W\nenergy: that power for the {} time; {:.0f}% interval of the power within x/{:.2f}\n",
        power.cpus, power.machine.empty() ? "" : " of " + power.machine, printable(power.source), lowest_w, highest_w,
        is_forecast ? "forecast (where it isn't known, the native)" : "native", 100 * power.coverage_ratio,
        std::exp(widest));
  }
  for (const std::string& note : power.notes) text += "note: " + printable(note) + "\n";
  return text;
}

double all_instructions(const PhaseSet& set) {
  double sum = 0;
  for (const PhaseKind& kind : set.kinds) sum += kind.instructions_count;
  return sum;
}

std::string transitions_text(const PhaseSet& set) {
  std::string text = "\nwhat follows, of 100 slices\n          ";
  for (size_t to = 0; to < set.kinds.size(); ++to) text += fmt::format("{:>6}", phase_name(to));
  text += "\n";
  for (size_t from = 0; from < set.kinds.size(); ++from) {
    double sum = 0;
    for (const double count : set.transitions[from]) sum += count;
    text += fmt::format("  after {:<2}", phase_name(from));
    for (const double count : set.transitions[from])
      text += count > 0 ? fmt::format("{:>6.0f}", 100 * count / sum) : fmt::format("{:>6}", ".");
    text += "\n";
  }
  return text;
}

}  // namespace

std::string phase_name(size_t kind) {
  const std::string letter(1, static_cast<char>('A' + kind % kLetters));
  return kind < kLetters ? letter : letter + std::to_string(kind / kLetters);
}

std::string phase_character(const MetricValues& metrics) {
  const double instructions = metric_of(metrics, "instructions_count");
  std::vector<std::pair<double, std::string>> found;
  found.reserve(kCharacters.size());
  for (const Character& character : kCharacters) {
    double sum = 0;
    for (const char* metric : character.metrics) sum += metric != nullptr ? metric_of(metrics, metric) : 0;
    if (instructions > 0 && sum / instructions >= character.least)
      found.emplace_back(sum / instructions / character.least, character.name);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (size_t i = 0; i < found.size() && i < kMostCharacters; ++i) {
    if (i > 0) text += ", ";
    text += found[i].second;
  }
  return text.empty() ? "mixed" : text;
}

std::string phase_table_text(const Profile& profile, const std::optional<PhaseForecast>& forecast,
                             const std::optional<PhasePowers>& power) {
  const PhaseSet& set = *profile.phase_kinds;
  const double all = all_instructions(set);
  std::string text = fmt::format("{}: {} phase{} in {} slice{}; {} instructions in all\n", printable(profile.program),
                                 set.kinds.size(), set.kinds.size() == 1 ? "" : "s", profile.phases.size(),
                                 profile.phases.size() == 1 ? "" : "s", human_number(all));
  text +=
      fmt::format("{:<6}{:>9}{:>7}{:>9}{:>11}{:>10}", "phase", "instr.", "visits", "first at", "native", "ns/instr");
  if (forecast) text += fmt::format("{:>11}{:>6}", "forecast", "off");
  const std::vector<std::string> joules = power ? joules_of(*power) : std::vector<std::string>();
  if (power) text += fmt::format("{:>10}{:>10}", "power", "energy");
  text += "  what it does\n";
  double measured_s = 0, forecast_s = 0;  // of phases that have both
  for (size_t k = 0; k < set.kinds.size(); ++k) {
    const PhaseKind& kind = set.kinds[k];
    if (kind.native_cpu_s && (!forecast || forecast->kind_s[k])) {
      measured_s += *kind.native_cpu_s;
      if (forecast) forecast_s += *forecast->kind_s[k];
    }
    const auto first = std::find_if(profile.phases.begin(), profile.phases.end(),
                                    [k](const ProfilePhase& phase) { return phase.kind == k; });
    const double at = first == profile.phases.end() ? 0 : first->first_instruction_count / all;
    text +=
        fmt::format("{:<6}{:>8.1f}%{:>7.0f}{:>8.1f}%{:>11}{:>10}", phase_name(k), 100 * kind.instructions_count / all,
                    kind.visits_count, 100 * at, seconds_or_dash(kind.native_cpu_s), rate_text(kind));
    if (forecast)
      text += fmt::format("{:>11}{:>6}", seconds_or_dash(forecast->kind_s[k]),
                          off_text(forecast->kind_s[k], kind.native_cpu_s));
    if (power) {
      text += fmt::format("{:>10}{:>10}", power->kinds[k] ? fmt::format("{:.3g} W", power->kinds[k]->core_w) : "-",
                          joules[k]);
    }
    text += "  " + phase_character(kind.metrics) + "\n";
  }
  text +=
      fmt::format("{:<6}{:>9}{:>7}{:>9}{:>11}", "all", "", "", "", measured_s > 0 ? human_seconds(measured_s) : "-");
  if (forecast) {
    text += fmt::format("{:>10}{:>11}{:>6}", "", human_seconds(forecast_s), off_text(forecast_s, measured_s));
  }
  if (power) text += fmt::format("{:>{}}", joules.back(), forecast ? 20 : 30);
  text += "\n";
  if (forecast) {
    text += fmt::format("forecast: learnt from phases of {} other programs", forecast->programs);
    if (const auto& errors = forecast->left_out_errors; !errors.empty()) {
      text += fmt::format("; of each of them, left out in turn, it is off by {:.0f}% on average, {:.0f}% at most",
                          100 * mean_of(errors), 100 * *std::max_element(errors.begin(), errors.end()));
    }
    if (forecast->half_width_log) {
      text += fmt::format("; 90% of a new program's phases are within x/{:.2f}", std::exp(*forecast->half_width_log));
    }
    text += "\n";
    for (const std::string& doubt : forecast_doubts(*forecast)) text += "warning: " + printable(doubt) + "\n";
  }
  if (power) text += power_note(*power, forecast.has_value());
  for (const std::string& doubt : doubts(profile)) text += "warning: " + printable(doubt) + "\n";
  return text;
}

std::string phases_text(const Profile& profile, const std::optional<PhaseForecast>& forecast,
                        const std::optional<PhasePowers>& power) {
  return phase_table_text(profile, forecast, power) + transitions_text(*profile.phase_kinds);
}

Json phases_json(const Profile& profile, const std::optional<PhaseForecast>& forecast,
                 const std::optional<PhasePowers>& power) {
  const PhaseSet& set = *profile.phase_kinds;
  Json json = {
      {"schema", kPhasesSchema}, {"program", profile.program},     {"instructions_ratio", set.instructions_ratio},
      {"phases", Json::array()}, {"transitions", set.transitions}, {"slices", Json::array()}};
  if (forecast) json["learnt_from_programs_count"] = forecast->programs;
  if (forecast && !forecast->left_out_errors.empty()) {
    const std::vector<double>& errors = forecast->left_out_errors;
    json["left_out_error_ratio"] = mean_of(errors);
    json["left_out_worst_error_ratio"] = *std::max_element(errors.begin(), errors.end());
    json["learnt_from_machines"] = forecast->machines;
  }
  std::vector<std::string> warnings = doubts(profile);
  if (forecast) {
    for (std::string& doubt : forecast_doubts(*forecast)) warnings.push_back(std::move(doubt));
  }
  json["warnings"] = std::move(warnings);
  if (power) {
    json["power_model"] = {{"file", power->source},
                           {"cpus_count", power->cpus},
                           {"coverage_ratio", power->coverage_ratio},
                           {"notes", power->notes}};
    if (!power->machine.empty()) json["power_model"]["machine"] = power->machine;
  }
  for (size_t k = 0; k < set.kinds.size(); ++k) {
    const PhaseKind& kind = set.kinds[k];
    Json entry = {{"name", phase_name(k)},
                  {"character", phase_character(kind.metrics)},
                  {"instructions_count", kind.instructions_count},
                  {"visits_count", kind.visits_count},
                  {"representative_slice", kind.representative_phase}};
    if (kind.native_cpu_s) entry["native_cpu_s"] = *kind.native_cpu_s;
    if (is_impossible(kind)) entry["native_is_impossible"] = true;
    if (kind.native_deviation_s) entry["native_deviation_s"] = *kind.native_deviation_s;
    if (forecast && forecast->kind_s[k]) {
      entry["forecast_cpu_s"] = *forecast->kind_s[k];
      if (forecast->half_width_log) {
        entry["forecast_lower_cpu_s"] = *forecast->kind_s[k] * std::exp(-*forecast->half_width_log);
        entry["forecast_upper_cpu_s"] = *forecast->kind_s[k] * std::exp(*forecast->half_width_log);
      }
    }
    if (power && power->kinds[k]) {
      const PhasePower& of_kind = *power->kinds[k];
      const double factor = std::exp(of_kind.log_half_width);
      entry["machine_power_w"] = of_kind.machine_w;
      entry["core_power_w"] = of_kind.core_w;
      entry["core_power_lower_w"] = of_kind.core_w / factor;
      entry["core_power_upper_w"] = of_kind.core_w * factor;
      entry["energy_joules"] = of_kind.energy_joules;
    }
    json["phases"].push_back(std::move(entry));
  }
  for (size_t i = 0; i < profile.phases.size(); ++i) {
    const ProfilePhase& phase = profile.phases[i];
    Json entry = {{"first_instruction_count", phase.first_instruction_count},
                  {"instructions_count", phase.instructions_count}};
    if (phase.kind) entry["phase"] = phase_name(*phase.kind);
    if (phase.native_cpu_s) entry["native_cpu_s"] = *phase.native_cpu_s;
    if (forecast && forecast->slice_s[i]) entry["forecast_cpu_s"] = *forecast->slice_s[i];
    json["slices"].push_back(std::move(entry));
  }
  return json;
}

std::string phase_scores_text(const PhaseScores& scores) {
  std::string text =
      fmt::format("{:<44}{:>6}{:>10}{:>10}{:>7}\n", "program, left out", "phase", "native", "forecast", "off");
  std::vector<double> times_s;  // of both columns, which are read side by side
  for (const PhaseScore& score : scores.phases) times_s.insert(times_s.end(), {score.measured_s, score.forecast_s});
  const std::vector<std::string> times = spread_seconds_column(times_s);
  for (size_t i = 0; i < scores.phases.size(); ++i) {
    const PhaseScore& score = scores.phases[i];
    text +=
        fmt::format("{:<44}{:>6}{:>10}{:>10}{:>7}\n", printable(score.command.substr(0, 43)), phase_name(score.kind),
                    times[2 * i], times[2 * i + 1], off_text(score.forecast_s, score.measured_s));
  }
  const PhaseErrors ours = phase_errors(scores, &PhaseScore::forecast_s);
  const PhaseErrors mean = phase_errors(scores, &PhaseScore::mean_s);
  text += fmt::format("\naccuracy (1 - mean absolute percentage error), {} phases of {} programs, program left out\n",
                      scores.phases.size(), scores.programs);
  text += fmt::format("{:<34}{:>9}{:>9}{:>9}\n", "", "phases", "by time", "whole");
  const auto row = [&](const char* name, const PhaseErrors& errors) {
    text += fmt::format("{:<34}{:>8.1f}%{:>8.1f}%{:>8.1f}%\n", name, 100 * (1 - errors.phase),
                        100 * (1 - errors.phase_by_time), 100 * (1 - errors.whole));
  };
  row("non-negative lasso, local", ours);
  row("mean rate of the others", mean);
  if (const auto noise = noise_of(scores))
    text += fmt::format("{:<34}{:>8.1f}%   (native runs among themselves)\n", "noise floor", 100 * (1 - *noise));
  if (scores.without_times > 0) {
    text += fmt::format("{} of the profiles {} no native times of phases\n", scores.without_times,
                        scores.without_times == 1 ? "has" : "have");
  }
  if (scores.machines.size() > 1) {
    text += fmt::format("warning: times of {} machines ({}) are scored as if they were one's\n", scores.machines.size(),
                        printable(join(scores.machines, ", ")));
  }
  return text;
}

Json phase_scores_json(const PhaseScores& scores) {
  Json json = {{"schema", kPhaseScoresSchema},
               {"split", "program"},
               {"programs_count", scores.programs},
               {"without_times_count", scores.without_times},
               {"machines", scores.machines},
               {"models", Json::array()},
               {"phases", Json::array()}};
  const auto add = [&](const char* name, double PhaseScore::*forecast) {
    const PhaseErrors errors = phase_errors(scores, forecast);
    json["models"].push_back({{"model", name},
                              {"phase_error_ratio", errors.phase},
                              {"phase_by_time_error_ratio", errors.phase_by_time},
                              {"whole_error_ratio", errors.whole}});
  };
  add("nnlasso", &PhaseScore::forecast_s);
  add("mean", &PhaseScore::mean_s);
  if (const auto noise = noise_of(scores)) json["noise_ratio"] = *noise;
  for (const PhaseScore& score : scores.phases) {
    json["phases"].push_back({{"program", score.program},
                              {"command", score.command},
                              {"phase", phase_name(score.kind)},
                              {"native_cpu_s", score.measured_s},
                              {"forecast_cpu_s", score.forecast_s},
                              {"mean_cpu_s", score.mean_s}});
  }
  return json;
}

}  // namespace perfcast::measure
