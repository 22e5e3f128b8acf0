#include "program/forecast/forecast_energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/significant.h"
#include "base/text.h"
#include "base/unknown.h"
#include "machine/facts/chip_names.h"
#include "machine/facts/core_design.h"
#include "program/evaluate/platform_name.h"
#include "program/forecast/forecast.h"
#include "program/forecast/forecast_seconds.h"
#include "program/forecast/number_text.h"

namespace perfcast::program {
namespace {

constexpr double kZ90 = 1.6449;  // of a normal distribution, 90% two-sided
constexpr double kMostJoules = 1e15;
constexpr double kUsualMost_w = 3e3;  // of one machine without several GPUs
// Measured joules, so many times the TDP's share or a part of it, are of something else: 41 pairs of server and
// workload had 0.5 to 3.3 times, and a mobile processor with one busy core several times.
constexpr double kOtherEnergy = 10;

struct MeasuredJoules {
  size_t platform = 0;
  double joules = 0;
};

Result<std::vector<MeasuredJoules>> measured_in(const Bundle& bundle, const EnergyQuestion& question) {
  std::vector<MeasuredJoules> measured;
  for (const auto& [name, joules] : question.measured_joules) {
    const auto index = find_platform(bundle.platforms, name, "measured-energy");
    if (!index) return index.error();
    const bool twice = std::any_of(measured.begin(), measured.end(),
                                   [&index](const MeasuredJoules& other) { return other.platform == *index; });
    if (twice) {
      return usage_error("bad-usage", bundle.platforms[*index].name + " has two energies", "measured-energy",
                         "one for each platform");
    }
    if (!(joules > 0 && joules < kMostJoules)) {
      return usage_error("bad-usage", "the measured energy of " + printable(name) + " is not above 0",
                         "measured-energy", "joules of one run, above 0");
    }
    measured.push_back({*index, joules});
  }
  return measured;
}

// Which platform each model of power is of.
Result<std::vector<size_t>> modelled_in(const Bundle& bundle, const EnergyQuestion& question) {
  std::vector<size_t> platforms;
  platforms.reserve(question.models.size());
  for (const ProgramPowerModel& model : question.models) {
    const auto index = find_platform(bundle.platforms, model.platform, "power-model");
    if (!index) return index.error();
    if (std::find(platforms.begin(), platforms.end(), *index) != platforms.end()) {
      return usage_error("bad-usage", bundle.platforms[*index].name + " has two models of power", "power-model",
                         "one for each platform");
    }
    if (const auto machine = power_machine(model); !machine) return machine.error();
    platforms.push_back(*index);
  }
  return platforms;
}

std::string in_words(const EnergyModel& model) {
  std::string text = printable(model.source);
  std::vector<std::string> details;
  if (!model.setting.machine.empty()) details.push_back(printable(model.setting.machine));
  if (model.setting.frequency_hz) details.push_back(in_unit(*model.setting.frequency_hz, "Hz"));
  details.push_back(fmt::format("{:g} CPUs", model.cpus));
  return text + " (" + join(details, ", ") + ")";
}

// The row's energy by its model; where it can't be told a note says why.
std::optional<PlatformEnergy> modelled_energy(const ProgramPowerModel& model, const Profile& profile, double cores_busy,
                                              const PlatformRow& row, double& log_half_width,
                                              std::vector<std::string>& notes) {
  const auto machine = power_machine(model);
  const std::string refused = "energy: " + printable(model.source) + " can't tell the power on " + row.platform.name;
  if (!row.time_s || !machine) {
    notes.push_back(refused + ": events a second need seconds");
    return std::nullopt;
  }
  const auto power = program_power(model, row.platform, profile, *row.time_s * cores_busy, row.is_host);
  if (!power) {
    notes.push_back(refused + ": " + power.error().message);
    return std::nullopt;
  }
  PlatformEnergy energy;
  energy.basis = "modelled";
  energy.core_w = power->core_w;
  energy.model = EnergyModel{model.source, machine->setting, machine->cpus, power->machine_w};
  log_half_width = power->log_half_width;
  notes.push_back(fmt::format("energy: {} by {}: {} when it is full of copies of the program, idle power with it",
                              row.platform.name, in_words(*energy.model), in_unit(power->machine_w, "W")));
  if (power->is_held) {
    notes.push_back("energy: the program lies beyond the samples of " + printable(model.source) +
                    ": its power is that at the samples' edge");
  }
  return energy;
}

// Cores that are busy for each second of the forecast's time: CPU seconds have one by themselves.
double cores_busy_in(const Profile& profile) {
  if (host_time_of(profile).basis != "wall") return 1;
  const auto cpu = profile.metrics.find("cpu_s"), wall = profile.metrics.find("wall_s");
  if (cpu == profile.metrics.end() || wall == profile.metrics.end() || !(wall->second > 0)) return 1;
  return std::max(1.0, cpu->second / wall->second);
}

// A row's log joules against those of relative time 1, before any calibration. NaN: its power isn't known.
struct LogEnergy {
  double log = kUnknown;
  double time_lower = 0, time_upper = 0;  // log half widths of the time's interval
  double power_half = 0;                  // modelled: log half width of the power
};

std::string why_no_power(const Platform& platform) {
  if (platform.name.starts_with("Neoverse") || platform.name.starts_with("Cortex") || platform.name.starts_with("ARMv"))
    return "the name is of a core design: whose chip it is, and its power, is not known";
  const std::string name = told_name(platform.name);
  if (name.find('(') != std::string::npos && name.find("(R)") == std::string::npos)
    return "a name that a hypervisor made up: the CPU behind it is not known";
  return "no data sheet in the table states its power: a part made for one customer, or a hidden name";
}

// What the program draws, over its share of the TDP: prior and what measurements make of it (a normal distribution in
// logarithms, conditioned on independent observations).
struct TdpCalibration {
  double log_center = 0;          // added to TDP-based rows
  double log_bias = kTdpLogBias;  // middle of the interval, above the centre
  double program_variance = kTdpProgramLogDeviation * kTdpProgramLogDeviation;
  bool is_measured = false;
};

TdpCalibration calibrate(const std::vector<LogEnergy>& energies, const std::vector<PlatformRow>& rows,
                         const std::vector<MeasuredJoules>& measured) {
  TdpCalibration result;
  double precision = 1 / result.program_variance, weighted = kTdpLogBias * precision;
  for (const MeasuredJoules& each : measured) {
    const LogEnergy& energy = energies[each.platform];
    const auto& at = rows[each.platform].energy;
    if (std::isnan(energy.log) || !at || at->basis != "TDP-based") continue;
    if (std::abs(std::log(each.joules) - energy.log) > std::log(kOtherEnergy)) continue;
    const double time_deviation = (energy.time_lower + energy.time_upper) / 2 / kZ90;
    const double variance = kTdpPlatformLogDeviation * kTdpPlatformLogDeviation + time_deviation * time_deviation;
    weighted += (std::log(each.joules) - energy.log) / variance;
    precision += 1 / variance;
    result.is_measured = true;
  }
  if (!result.is_measured) return result;
  result.log_center = weighted / precision;
  result.log_bias = 0;
  result.program_variance = 1 / precision;
  return result;
}

// Which measured joules can't be of such a run; they calibrate nothing.
void note_other_energies(const std::vector<LogEnergy>& energies, const std::vector<MeasuredJoules>& measured,
                         ForecastReport& report) {
  for (const MeasuredJoules& each : measured) {
    const PlatformRow& row = report.rows[each.platform];
    const double log = energies[each.platform].log;
    if (std::isnan(log) || !row.energy || row.energy->basis != "TDP-based") continue;
    const double ratio = each.joules / std::exp(log);
    if (ratio <= kOtherEnergy && ratio >= 1 / kOtherEnergy) continue;
    report.out_of_line = fmt::format(
        "the measured energy of {} is {}x its share of the TDP ({} for each busy core, where that has {}), and "
        "servers had 0.5x to 3.3x: was it of the same run, in joules?",
        row.platform.name, significant(ratio, 3), in_unit(row.energy->core_w * ratio, "W"),
        in_unit(row.energy->core_w, "W"));
    report.notes.push_back("energy: " + report.out_of_line + " Other rows are not scaled by it");
  }
}

double log_over(double upper, double value) {
  return value > 0 && upper > 0 ? std::max(0.0, std::log(upper / value)) : 0;
}

}  // namespace

Status check_energy(const Bundle& bundle, const std::optional<EnergyQuestion>& energy,
                    const std::optional<FrequencyRequest>& frequencies) {
  if (energy) {
    if (const auto measured = measured_in(bundle, *energy); !measured) return measured.error();
    if (const auto modelled = modelled_in(bundle, *energy); !modelled) return modelled.error();
  }
  if (frequencies && !frequencies->platform.empty()) {
    const auto platform = find_platform(bundle.platforms, frequencies->platform, "frequencies-of");
    if (!platform) return platform.error();
  }
  return {};
}

Status add_energy(const Bundle& bundle, const Profile& profile, const EnergyQuestion& question,
                  ForecastReport& report) {
  const auto measured = measured_in(bundle, question);
  if (!measured) return measured.error();
  const auto modelled = modelled_in(bundle, question);
  if (!modelled) return modelled.error();
  EnergySummary summary;
  summary.platforms = report.rows.size();
  summary.cores_busy = cores_busy_in(profile);
  const double log_cores = std::log(summary.cores_busy);
  std::vector<LogEnergy> energies(report.rows.size());
  for (size_t i = 0; i < report.rows.size(); ++i) {
    PlatformRow& row = report.rows[i];
    const auto model = std::find(modelled->begin(), modelled->end(), i);
    const CpuPower* cpu = question.table.find(row.platform.name);
    PlatformEnergy energy;
    std::optional<PlatformEnergy> told;
    if (model != modelled->end()) {
      told = modelled_energy(question.models[static_cast<size_t>(model - modelled->begin())], profile,
                             summary.cores_busy, row, energies[i].power_half, report.notes);
    }
    if (told) {
      energy = std::move(*told);
    } else if (cpu != nullptr) {
      energy.basis = "TDP-based";
      energy.core_w = tdp_joules(*cpu, 1);
      energy.cpu = *cpu;
    } else {
      row.energy_missing = why_no_power(row.platform);
      continue;
    }
    // Of seconds where there are any; relative times are against the forecast's reference, which cancels.
    energies[i].log = std::log(energy.core_w) + log_cores + std::log(row.time_s.value_or(row.rpv));
    energies[i].time_lower = row.time_s ? log_over(*row.time_s, *row.time_lower_s) : log_over(row.rpv, row.lower);
    energies[i].time_upper = row.time_s ? log_over(*row.time_upper_s, *row.time_s) : log_over(row.upper, row.rpv);
    row.energy = std::move(energy);
  }
  const bool has_seconds = std::any_of(report.rows.begin(), report.rows.end(),
                                       [](const PlatformRow& row) { return row.time_s.has_value(); });
  const TdpCalibration calibration =
      calibrate(energies, report.rows, has_seconds ? *measured : std::vector<MeasuredJoules>());
  if (has_seconds) note_other_energies(energies, *measured, report);
  if (calibration.is_measured) summary.calibration_ratio = std::exp(calibration.log_center);
  const double platform_variance = kTdpPlatformLogDeviation * kTdpPlatformLogDeviation;
  double log_mean = 0;
  for (size_t i = 0; i < report.rows.size(); ++i) {
    PlatformRow& row = report.rows[i];
    const auto given = std::find_if(measured->begin(), measured->end(),
                                    [i](const MeasuredJoules& each) { return each.platform == i; });
    const bool is_measured = given != measured->end() && has_seconds;
    if (!row.energy && !is_measured) continue;
    if (!row.energy) row.energy.emplace();
    PlatformEnergy& energy = *row.energy;
    row.energy_missing.clear();
    LogEnergy& log = energies[i];
    double power_lower = log.power_half, power_upper = log.power_half, relative_half = log.power_half, bias = 0;
    if (is_measured) {
      energy.basis = "measured";
      energy.cpu.reset();
      energy.model.reset();
      log = {std::log(given->joules), 0, 0, 0};
      power_lower = power_upper = relative_half = 0;
      energy.core_w = given->joules / (*row.time_s * summary.cores_busy);
    } else if (energy.basis == "TDP-based") {
      log.log += calibration.log_center;
      bias = calibration.log_bias;
      power_lower = power_upper = kZ90 * std::sqrt(platform_variance + calibration.program_variance);
      relative_half = kZ90 * kTdpPlatformLogDeviation;
    }
    if (row.time_s) {
      energy.joules = is_measured ? given->joules : std::exp(log.log);
      energy.lower_joules = *energy.joules * std::exp(bias - std::hypot(power_lower, log.time_lower));
      energy.upper_joules = *energy.joules * std::exp(bias + std::hypot(power_upper, log.time_upper));
      energy.energy_delay_js = *energy.joules * *row.time_s;
    }
    energy.lower = std::exp(-std::hypot(relative_half, log.time_lower));
    energy.upper = std::exp(std::hypot(relative_half, log.time_upper));
    log_mean += log.log;
    ++summary.known;
  }
  if (summary.known > 0) log_mean /= static_cast<double>(summary.known);
  for (size_t i = 0; i < report.rows.size(); ++i) {
    if (!report.rows[i].energy) continue;
    PlatformEnergy& energy = *report.rows[i].energy;
    energy.relative = std::exp(energies[i].log - log_mean);
    energy.lower *= energy.relative;
    energy.upper *= energy.relative;
  }
  if (summary.known == 0) {
    report.notes.push_back("energy: no platform's power is known");
  } else {
    report.notes.push_back(fmt::format(
        "energy: TDP-based rows are a core's share of its package's TDP, {}; how far that is off is known from five "
        "older "
        "servers, so intervals are wide; {} of {} platforms have a power",
        calibration.is_measured ? fmt::format("times {:.2f} by what was measured", *summary.calibration_ratio)
                                : std::string("for a package whose other cores are busy too"),
        summary.known, summary.platforms));
  }
  if (!has_seconds) {
    report.notes.push_back(measured->empty() ? "energy: joules need seconds: relative energies alone"
                                             : "energy: measured joules need seconds to be compared with: not used");
  }
  if (const auto counted = profile.metrics.find("energy_package_joules"); counted != profile.metrics.end()) {
    report.notes.push_back(fmt::format(
        "energy: the packages of the profile's host counted {} J in a run, idle power and other programs' with it: "
        "no row has it",
        significant(counted->second, 4)));
  }
  report.energy = summary;
  return {};
}

namespace {

// A program runs slower at a lower clock, so that its events per second are fewer, too.
Result<std::vector<FrequencyPower>> modelled_over_clocks(const ProgramPowerModel& model,
                                                         const std::vector<double>& clocks_hz,
                                                         const FrequencyQuestion& question, const PlatformRow& row,
                                                         const Profile& profile) {
  const double cores_busy = cores_busy_in(profile);
  std::vector<FrequencyPower> table;
  for (const double clock_hz : clocks_hz) {
    ProgramPowerModel at = model;
    at.frequency_hz = clock_hz;
    const auto power = program_power(at, row.platform, profile, time_at(question, clock_hz) * cores_busy, row.is_host);
    if (!power) return power.error();
    table.push_back({clock_hz, power->core_w * cores_busy, std::nullopt});
  }
  return table;
}

}  // namespace

Status add_frequencies(const Bundle& bundle, const Profile& profile, const FrequencyRequest& request,
                       ForecastReport& report) {
  std::optional<size_t> platform;
  if (!request.platform.empty()) {
    const auto named = find_platform(bundle.platforms, request.platform, "frequencies-of");
    if (!named) return named.error();
    platform = *named;
  } else if (report.host) {
    platform = report.host->platform;
  }
  if (!platform || *platform >= report.rows.size() || !report.rows[*platform].time_s) {
    return Error{"no-seconds", "the program's time on the platform of the frequencies is not known", "frequencies",
                 "--frequencies-of PLATFORM, and a host that is known or a measured time", ErrorKind::kUsage};
  }
  const PlatformRow& row = report.rows[*platform];
  FrequencyReport result;
  result.platform = row.platform.name;
  result.period_s = request.period_s;
  if (request.memory_ratio) {
    result.memory_ratio = *request.memory_ratio;
    result.memory_source = "as the request says";
  } else {
    const std::string design = core_design(row.platform);
    const auto bounds = profile.core_bounds.find(design);
    if (bounds == profile.core_bounds.end()) {
      return Error{"unknown-memory-share",
                   "how much of the time waits for memory on " + row.platform.name +
                       " is not known: the profile has no "
                       "model of its core (" +
                       design + ")",
                   "frequencies", "--memory-share 0..1, or a profile taken with core models", ErrorKind::kUsage};
    }
    const auto memory = bounds->second.find("memory");
    result.memory_ratio = memory == bounds->second.end() ? 0 : std::clamp(memory->second, 0.0, 1.0);
    result.memory_source = "by the model of " + design;
  }
  std::vector<double> clocks_hz;
  if (request.model) {
    auto known = power_clocks_hz(*request.model);
    if (!known) return known.error();
    if (known->size() < 2) {
      return usage_error("too-few-rows", printable(request.model->source) + " has samples of one clock, or of none",
                         "frequencies",
                         "a model of a machine that was sampled at several clocks (column frequency_mhz)");
    }
    clocks_hz = *std::move(known);
    result.power_model = request.model->source;
    report.notes.push_back(
        fmt::format("frequencies: watts by {}: the busy CPUs' share of a machine full of copies of the program, "
                    "idle power with it",
                    printable(request.model->source)));
  }
  for (const FrequencyPower& power : request.table) clocks_hz.push_back(power.frequency_hz);
  result.time_at_hz = request.time_at_hz.value_or(*std::max_element(clocks_hz.begin(), clocks_hz.end()));
  const FrequencyQuestion question = {*row.time_s, result.time_at_hz, result.memory_ratio, request.period_s};
  std::vector<FrequencyPower> table = request.table;
  if (request.model) {
    auto modelled = modelled_over_clocks(*request.model, clocks_hz, question, row, profile);
    if (!modelled) return modelled.error();
    table = *std::move(modelled);
  }
  const auto forecast = forecast_over_frequency(table, question);
  if (!forecast) return forecast.error();
  result.forecast = *forecast;
  double highest_w = 0;
  for (const FrequencyPower& power : table) highest_w = std::max(highest_w, power.active_w);
  if (highest_w > kUsualMost_w) {
    report.notes.push_back(fmt::format("frequencies: active_w goes up to {}: if that was in milliwatts, divide by 1000",
                                       in_unit(highest_w, "W")));
  }
  if (request.period_s && !forecast->best_period) {
    const bool any_idle =
        std::any_of(table.begin(), table.end(), [](const FrequencyPower& power) { return power.idle_w.has_value(); });
    report.notes.push_back(
        any_idle ? fmt::format("frequencies: nothing is told of a period of {}: at no clock with idle power is the run "
                               "done in it, the fastest takes {}",
                               human_seconds(*request.period_s), human_seconds(forecast->points.back().time_s))
                 : std::string("frequencies: a period needs idle power: a column idle_w"));
  }
  report.frequencies = std::move(result);
  return {};
}

}  // namespace perfcast::program
