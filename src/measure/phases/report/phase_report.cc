#include "measure/phases/report/phase_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/json.h"
#include "base/report/table.h"
#include "base/text.h"
#include "base/unknown.h"
#include "measure/diagnose/report/report_words.h"

namespace perfcast::measure {
namespace {

constexpr size_t kLetters = 26;
constexpr size_t kMostCharacters = 3, kFunctionsShown = 3, kUsualWidth = 100;
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

std::string off_text(const std::optional<double>& forecast, const std::optional<double>& measured) {
  if (!forecast || !measured || !(*measured > 0)) return "-";
  return fmt::format("{:+.0f}%", 100 * (*forecast / *measured - 1));
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
        is_forecast ? "forecast (or native, if there is no forecast)" : "native", 100 * power.coverage_ratio,
        std::exp(widest));
  }
  for (const std::string& note : power.notes) text += "note: " + printable(note) + "\n";
  return text;
}

std::string function_words(const TimedFunction& function) {
  return function.function.empty() ? "in " + function.file : short_function_name(function.function);
}

// "longest_match 81%, deflate 12%".
std::string functions_words(const PhaseKind& kind) {
  std::string text;
  for (size_t i = 0; i < std::min(kFunctionsShown, kind.functions.size()); ++i) {
    text += fmt::format("{}{} {:.0f}%", i > 0 ? ", " : "", printable(function_words(kind.functions[i])),
                        100 * kind.functions[i].time_ratio);
  }
  return text.empty() ? "-" : text;
}

// All that is known of one phase.
struct PhaseRow {
  size_t index = 0;
  const PhaseKind& kind;
  std::optional<double> forecast_s, half_width_log, share;  // share of the native time of all
  const PhasePower* power = nullptr;
};

struct Totals {
  double instructions = 0;
  double native_s = 0, forecast_s = 0;  // of phases that have both, where there is a forecast
  double energy_joules = 0;             // NaN where a phase has none
};

std::vector<PhaseRow> rows_of(const PhaseSet& set, const std::optional<PhaseForecast>& forecast,
                              const std::optional<PhasePowers>& power, Totals& totals) {
  double native_s = 0;  // NaN where a phase has no time: then there are no shares
  for (const PhaseKind& kind : set.kinds) native_s += kind.native_cpu_s.value_or(kUnknown);
  std::vector<PhaseRow> rows;
  rows.reserve(set.kinds.size());
  for (size_t k = 0; k < set.kinds.size(); ++k) {
    PhaseRow row{k, set.kinds[k], {}, {}, {}};
    if (forecast) {
      row.forecast_s = forecast->kind_s[k];
      row.half_width_log = forecast->half_width_log;
    }
    if (power && power->kinds[k]) row.power = &*power->kinds[k];
    if (native_s > 0 && row.kind.native_cpu_s) row.share = *row.kind.native_cpu_s / native_s;
    if (row.kind.native_cpu_s && (!forecast || row.forecast_s)) {
      totals.native_s += *row.kind.native_cpu_s;
      totals.forecast_s += row.forecast_s.value_or(0);
    }
    totals.instructions += row.kind.instructions_count;
    totals.energy_joules += row.power != nullptr ? row.power->energy_joules : kUnknown;
    rows.push_back(row);
  }
  return rows;
}

ReportTable phase_table(const std::vector<PhaseRow>& rows) {
  using Row = PhaseRow;
  const auto powered = [](double (*value)(const PhasePower&)) {
    return [value](const Row& row) { return row.power == nullptr ? ReportValue() : ReportValue(value(*row.power)); };
  };
  const auto factor = [](double sign) {
    return [sign](const Row& row) {
      if (!row.forecast_s || !row.half_width_log) return ReportValue();
      return ReportValue(*row.forecast_s * std::exp(sign * *row.half_width_log));
    };
  };
  return table_of<Row>(
      "", rows,
      {{"name", "phase", Quantity::kText, [](const Row& row) { return phase_name(row.index); }},
       {"native_cpu_s", "CPU time", Quantity::kSeconds, [](const Row& row) { return row.kind.native_cpu_s; }},
       {"native_is_impossible", "", Quantity::kYes,
        [](const Row& row) { return is_impossible(row.kind) ? ReportValue(true) : ReportValue(); }},
       {"native_deviation_s", "", Quantity::kSeconds, [](const Row& row) { return row.kind.native_deviation_s; }},
       {"", "share", Quantity::kShare, [](const Row& row) { return row.share; }, 0},
       {"instructions_count", "instructions", Quantity::kHuman,
        [](const Row& row) { return row.kind.instructions_count; }},
       {"", "ns/instr", Quantity::kNumber, [](const Row& row) { return rate_text(row.kind); }},
       {"visits_count", "visits", Quantity::kCount, [](const Row& row) { return row.kind.visits_count; }},
       {"representative_slice", "", Quantity::kCount, [](const Row& row) { return row.kind.representative_phase; }},
       {"forecast_cpu_s", "forecast", Quantity::kSeconds, [](const Row& row) { return row.forecast_s; }},
       {"forecast_lower_cpu_s", "", Quantity::kSeconds, factor(-1)},
       {"forecast_upper_cpu_s", "", Quantity::kSeconds, factor(1)},
       {"", "off", Quantity::kNumber, [](const Row& row) { return off_text(row.forecast_s, row.kind.native_cpu_s); }},
       {"machine_power_w", "", Quantity::kNumber, powered([](const PhasePower& of) { return of.machine_w; })},
       {"core_power_w", "power", Quantity::kNumber, powered([](const PhasePower& of) { return of.core_w; }),
        [](const Row& row) { return row.power == nullptr ? "-" : fmt::format("{:.3g} W", row.power->core_w); }},
       {"core_power_lower_w", "", Quantity::kNumber,
        powered([](const PhasePower& of) { return of.core_w / std::exp(of.log_half_width); })},
       {"core_power_upper_w", "", Quantity::kNumber,
        powered([](const PhasePower& of) { return of.core_w * std::exp(of.log_half_width); })},
       {"energy_joules", "energy", Quantity::kJoules, powered([](const PhasePower& of) { return of.energy_joules; })},
       {"", "where", Quantity::kText, [](const Row& row) { return functions_words(row.kind); }},
       {"character", "what it does", Quantity::kText,
        [](const Row& row) { return phase_character(row.kind.metrics); }}});
}

// The run from left to right, a letter for each piece of equal CPU time (instructions, where no time is known): the
// phase that took most of it.
std::string course_text(const Profile& profile, size_t columns) {
  const bool timed = std::all_of(profile.phases.begin(), profile.phases.end(),
                                 [](const ProfilePhase& phase) { return phase.native_cpu_s.has_value(); });
  const auto length_of = [&](const ProfilePhase& phase) {
    return timed ? *phase.native_cpu_s : phase.instructions_count;
  };
  double all = 0;
  for (const ProfilePhase& phase : profile.phases) all += length_of(phase);
  if (!(all > 0) || profile.phase_kinds->kinds.size() < 2) return "";
  std::vector<std::vector<double>> parts(columns, std::vector<double>(profile.phase_kinds->kinds.size(), 0));
  double from = 0;
  for (const ProfilePhase& phase : profile.phases) {
    const double to = from + length_of(phase) / all * static_cast<double>(columns);
    for (auto column = static_cast<size_t>(from); column < columns && static_cast<double>(column) < to; ++column) {
      const double overlap =
          std::min(to, static_cast<double>(column + 1)) - std::max(from, static_cast<double>(column));
      parts[column][phase.kind.value_or(0)] += std::max(0.0, overlap);
    }
    from = to;
  }
  std::string letters;
  for (const auto& of_kinds : parts) {
    const auto most = std::max_element(of_kinds.begin(), of_kinds.end());
    letters += *most > 0 ? phase_name(static_cast<size_t>(most - of_kinds.begin()))[0] : ' ';
  }
  const double piece = all / static_cast<double>(columns);
  return fmt::format("\n{}\nfrom start to end; a letter is {}\n", letters,
                     timed ? human_seconds(piece) + " of CPU time" : human_number(piece) + " instructions");
}

// What the run is, and where most of its time goes.
std::string answer_text(const Profile& profile, const std::vector<PhaseRow>& rows, const Totals& totals,
                        bool is_forecast) {
  std::string text = fmt::format("{}: {} phase{}, {} instructions", printable(profile.program), rows.size(),
                                 rows.size() == 1 ? "" : "s", human_number(totals.instructions));
  if (totals.native_s > 0) text += ", " + human_seconds(totals.native_s) + " of CPU time";
  if (is_forecast && totals.native_s > 0)
    text += fmt::format("; forecast {} ({})", human_seconds(totals.forecast_s),
                        off_text(totals.forecast_s, totals.native_s));
  if (totals.energy_joules > 0) text += "; " + energy_column({totals.energy_joules})[0];
  text += "\n";
  const auto most = std::max_element(rows.begin(), rows.end(), [](const PhaseRow& a, const PhaseRow& b) {
    return a.share.value_or(0) < b.share.value_or(0);
  });
  if (rows.size() > 1 && most != rows.end() && most->share) {
    text += fmt::format("most time: phase {}, {:.0f}%", phase_name(most->index), 100 * *most->share);
    if (!most->kind.functions.empty()) {
      const TimedFunction& first = most->kind.functions.front();
      text += fmt::format(", {:.0f}% of it {}{}", 100 * first.time_ratio, first.function.empty() ? "" : "in ",
                          printable(function_words(first)));
    }
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

std::string phases_text(const Profile& profile, const std::optional<PhaseForecast>& forecast,
                        const std::optional<PhasePowers>& power, size_t width) {
  Totals totals;
  const std::vector<PhaseRow> rows = rows_of(*profile.phase_kinds, forecast, power, totals);
  std::string text = answer_text(profile, rows, totals, forecast.has_value());
  text += course_text(profile, std::min(width == 0 ? kUsualWidth : width, kUsualWidth));
  text += "\n" + rows_text(phase_table(rows), {.width = width});
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
  Totals totals;
  json["phases"] = rows_json(phase_table(rows_of(set, forecast, power, totals)));
  for (size_t k = 0; k < set.kinds.size(); ++k) {
    if (!set.kinds[k].functions.empty()) json["phases"][k]["functions"] = to_json(set.kinds[k].functions);
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
