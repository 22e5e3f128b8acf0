#include "cli/shared/energy_options.h"

#include <array>
#include <fstream>

#include "base/csv.h"
#include "base/file.h"
#include "base/process/duration.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "cli/shared/power_model_file.h"

namespace perfcast::cli {
namespace {

constexpr size_t kLargestFrequencyFileBytes = size_t{16} << 20;
constexpr double kMostCpus = 65536;
constexpr const char* kEnergyGroup = "Energy";

struct Suffix {
  const char* text;
  double factor;
};
constexpr std::array<Suffix, 4> kEnergySuffixes = {{{"kJ", 1e3}, {"Wh", 3600}, {"mJ", 1e-3}, {"J", 1}}};
constexpr std::array<Suffix, 3> kClockSuffixes = {{{"GHz", 1e9}, {"MHz", 1e6}, {"Hz", 1}}};

template <size_t N>
std::optional<double> number_with_unit(std::string_view text, const std::array<Suffix, N>& suffixes) {
  text = trim(text);
  for (const Suffix& suffix : suffixes) {
    if (!text.ends_with(suffix.text)) continue;
    const auto value = parse_number(trim(text.substr(0, text.size() - std::string_view(suffix.text).size())));
    return value ? std::optional(*value * suffix.factor) : std::nullopt;
  }
  return parse_number(text);
}

Status take_measured_energy(const std::vector<std::string>& texts, program::EnergyQuestion& question) {
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    const auto joules = equals == std::string::npos || equals == 0
                            ? std::nullopt
                            : number_with_unit(std::string_view(text).substr(equals + 1), kEnergySuffixes);
    if (!joules) {
      return usage_error("bad-usage", "'" + printable(text) + "' is no measured energy", "--measured-energy",
                         "PLATFORM=JOULES, such as \"AMD EPYC 7763=35.2\" or 1.2kJ");
    }
    question.measured_joules.emplace_back(trim(text.substr(0, equals)), *joules);
  }
  return {};
}

// "PLATFORM=FILE[,machine=NAME][,clock=2GHz][,cpus=N]".
Result<program::ProgramPowerModel> power_model_of(const std::string& text) {
  const char* const form = "PLATFORM=FILE[,cpus=N][,machine=NAME][,clock=2.4GHz]";
  const size_t equals = text.find('=');
  const std::string platform =
      equals == std::string::npos ? "" : std::string(trim(std::string_view(text).substr(0, equals)));
  if (platform.empty() || equals + 1 == text.size())
    return usage_error("bad-usage", "'" + printable(text) + "' names no power model", "--power-model", form);
  auto given = read_program_power_model(std::string_view(text).substr(equals + 1), form);
  if (given) given->platform = platform;
  return given;
}

// A model that `perfcast power fit` wrote, or a name with its keys; anything else is taken for a table.
bool is_power_model(const std::string& name) {
  for (const char* key : {",cpus=", ",machine=", ",clock="}) {
    if (name.find(key) != std::string::npos) return true;
  }
  char first = 0;
  return std::ifstream(name) >> first && first == '{';
}

Result<program::FrequencyRequest> frequency_request(const EnergyOptions& options) {
  program::FrequencyRequest request;
  if (is_power_model(options.frequencies)) {
    auto model = read_program_power_model(options.frequencies, "FILE[,cpus=N][,machine=NAME]");
    if (!model) {
      Error error = model.error();
      if (error.where == "--power-model") error.where = "--frequencies";
      return error;
    }
    if (model->frequency_hz) {
      return usage_error("bad-usage", "one clock is named", "--frequencies",
                         "no clock=: all clocks of the model are compared");
    }
    request.model = std::move(*model);
  } else {
    if (Status there = check_named_file("--frequencies", options.frequencies); !there) return there.error();
    const auto text = read_file(options.frequencies, kLargestFrequencyFileBytes);
    if (!text) return text.error();
    std::string form;
    auto table = parse_frequency_table(*text, options.frequencies, &form);
    if (!table) return table.error();
    note_form(options.frequencies, form);
    request.table = std::move(*table);
  }
  request.platform = options.frequencies_of;
  request.memory_ratio = options.memory_share;
  if (!options.frequency.empty()) {
    request.time_at_hz = number_with_unit(options.frequency, kClockSuffixes);
    if (!request.time_at_hz || !(*request.time_at_hz > 0)) {
      return usage_error("bad-usage", "'" + printable(options.frequency) + "' is no clock", "--frequency",
                         "such as 3.2GHz");
    }
    if (const std::string fits = clock_that_fits(*request.time_at_hz); !fits.empty()) {
      return usage_error("bad-usage", "'" + printable(options.frequency) + "' is no processor's clock", "--frequency",
                         "such as 3.2GHz; " + fits);
    }
  }
  if (!options.period.empty()) {
    const auto period_s = parse_duration_s(options.period, "--period");
    if (!period_s) return period_s.error();
    request.period_s = *period_s;
  }
  return request;
}

}  // namespace

std::optional<double> joules_in_words(std::string_view text) { return number_with_unit(text, kEnergySuffixes); }

// Keys from behind, since names of files may have commas.
Result<program::ProgramPowerModel> read_program_power_model(std::string_view text, const char* form) {
  program::ProgramPowerModel given;
  std::string_view rest = text;
  while (true) {
    const size_t comma = rest.rfind(',');
    if (comma == std::string_view::npos) break;
    const std::string_view piece = rest.substr(comma + 1);
    const size_t is = piece.find('=');
    if (is == std::string_view::npos) break;
    const std::string_view key = piece.substr(0, is), value = piece.substr(is + 1);
    if (key == "machine") {
      given.machine = std::string(value);
    } else if (key == "clock") {
      given.frequency_hz = number_with_unit(value, kClockSuffixes);
      if (!given.frequency_hz || !(*given.frequency_hz > 0))
        return usage_error("bad-usage", "'" + printable(value) + "' is no clock", "--power-model",
                           "such as clock=3.2GHz");
    } else if (key == "cpus") {
      given.cpus = parse_number(value);
      if (!given.cpus || !(*given.cpus >= 1 && *given.cpus <= kMostCpus))
        return usage_error("bad-usage", "'" + printable(value) + "' is no number of CPUs", "--power-model",
                           "such as cpus=64");
    } else {
      return usage_error("bad-usage", "'" + printable(key) + "' is no part of a power model", "--power-model", form);
    }
    rest = rest.substr(0, comma);
  }
  given.source = std::string(rest);
  if (given.source.empty())
    return usage_error("bad-usage", "'" + printable(text) + "' names no power model", "--power-model", form);
  if (Status there = check_named_file("--power-model", given.source); !there) return there.error();
  auto model = read_power_model(given.source);
  if (!model) return model.error();
  given.model = std::move(*model);
  return given;
}

void add_power_options(CLI::App& verb, EnergyOptions& options) {
  add_advanced(verb, "--power", options.power, "FILE",
               "Reads the CPUs' thermal design powers from this file (JSON, perfcast.platform-power/1). Default: the "
               "shipped file.")
      ->group(kEnergyGroup);
  add_advanced(verb, "--measured-energy", options.measured, "PLATFORM=JOULES",
               "The joules that a run of this program took on a platform. They improve all other energies. Repeatable.")
      ->take_all()
      ->allow_extra_args(false)
      ->group(kEnergyGroup);
  add_advanced(verb, "--power-model", options.models, "PLATFORM=FILE",
               "Computes the joules on a platform with this model of `perfcast power fit`, for a machine whose N CPUs "
               "all run the program. Its form is PLATFORM=FILE[,cpus=N][,machine=NAME][,clock=2.4GHz]. Repeatable.")
      ->take_all()
      ->allow_extra_args(false)
      ->group(kEnergyGroup);
}

void add_energy_options(CLI::App& verb, EnergyOptions& options) {
  add_advanced(verb, "--energy", options.energy,
               "Shows the joules of a run beside its time, if a platform's power is known.")
      ->group(kEnergyGroup);
  add_power_options(verb, options);
  CLI::Option* frequencies = add_advanced(verb, "--frequencies", options.frequencies, "FILE",
                                          "Forecasts time and joules at each clock, and names the best clock. FILE is "
                                          "a CSV with frequency_hz, active_w and idle_w, or a model of `perfcast power "
                                          "fit` from samples at several clocks: FILE[,cpus=N][,machine=NAME].")
                                 ->group(kEnergyGroup);
  add_advanced(verb, "--frequencies-of", options.frequencies_of, "PLATFORM",
               "The platform that the clocks of --frequencies belong to. Default: the host.")
      ->needs(frequencies)
      ->group(kEnergyGroup);
  add_advanced(verb, "--frequency", options.frequency, "CLOCK",
               "The clock at which the forecast time holds, such as 3.2GHz. Default: the highest clock of the file.")
      ->needs(frequencies)
      ->group(kEnergyGroup);
  add_advanced(verb, "--memory-share", options.memory_share, "SHARE",
               "The share of the forecast time during which the program waits for memory, such as 0.3. Default: what "
               "the model of the core says.")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(frequencies)
      ->group(kEnergyGroup);
  add_advanced(verb, "--period", options.period, "TIME",
               "Starts a run once per this time, such as 10s. The idle power until the next run is added.")
      ->needs(frequencies)
      ->group(kEnergyGroup);
}

Status take_energy_options(const EnergyOptions& options, program::ForecastRequest& request) {
  if (!options.frequencies.empty()) {
    auto frequencies = frequency_request(options);
    if (!frequencies) return frequencies.error();
    request.frequencies = std::move(*frequencies);
  }
  const bool wanted = options.energy || !options.measured.empty() || !options.power.empty() ||
                      !options.models.empty() || request.sort == program::ForecastRequest::Sort::kEnergy;
  if (!wanted) return {};
  program::EnergyQuestion question;
  if (Status status = take_measured_energy(options.measured, question); !status) return status;
  if (Status there = check_named_file("--power", options.power); !there) return there;
  auto table =
      PlatformPowerTable::read(options.power.empty() ? shipped_file("platform-power/cpus.json") : options.power);
  if (!table) return table.error();
  question.table = std::move(*table);
  question.models.reserve(options.models.size());
  for (const std::string& text : options.models) {
    auto model = power_model_of(text);
    if (!model) return model.error();
    question.models.push_back(std::move(*model));
  }
  request.energy = std::move(question);
  return {};
}

}  // namespace perfcast::cli
