// perfcast phases: the phases of a profile, measured and forecast.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/output_width.h"
#include "cli/shared/around_options.h"
#include "cli/shared/energy_options.h"
#include "cli/shared/named_file.h"
#include "cli/shared/phase_options.h"
#include "machine/facts/core_design.h"
#include "measure/phases/phase_description.h"
#include "measure/phases/report/phase_page.h"
#include "measure/phases/report/phase_report.h"
#include "program/forecast/phase_power.h"

namespace perfcast::cli {
namespace {

struct PhasesArguments {
  std::vector<std::string> profiles, learn;
  std::string report, power_model, save_profile, kinds = "auto";
  AroundRun around;
  bool score = false;
};

Result<std::vector<Profile>> read_profiles(const std::vector<std::string>& paths) {
  std::vector<Profile> profiles;
  profiles.reserve(paths.size());
  for (const std::string& path : paths) {
    auto profile = read_profile(path);
    if (!profile) return as_named_file(profile.error(), true);
    profiles.push_back(std::move(*profile));
  }
  return profiles;
}

int score(const PhasesArguments& arguments, const CommonOptions& options) {
  if (!arguments.learn.empty() || !arguments.report.empty() || !arguments.power_model.empty()) {
    return report_error(usage_error("bad-usage", "--score does not work with --learn, --report and --power-model",
                                    "--score", "the profiles alone: each is forecast from the others"),
                        options);
  }
  const auto profiles = read_profiles(arguments.profiles);
  if (!profiles) return report_error(profiles.error(), options);
  const auto scores = measure::score_phases(*profiles, options.threads);
  if (!scores) return report_error(scores.error(), options);
  return write_result(options.json ? to_text(measure::phase_scores_json(*scores)) : measure::phase_scores_text(*scores),
                      options);
}

Result<Profile> measured(const PhasesArguments& arguments, const CommandContext& context) {
  const auto phases = phase_request(arguments.kinds, "--phases");
  if (!phases) return phases.error();
  CollectRequest request;
  request.command = context.command;
  request.around = arguments.around;
  request.core_designs = shipped_core_designs();
  request.needs_counts = true;
  request.pass_output = false;
  request.show_output = context.options.show_output;
  measure::ask_for_phases(request);
  ProgressLine line(context.options);
  auto profile = profile_command(request, [&line](const std::string& text) { line.show(text); });
  if (!profile) return profile.error();
  measure::describe_phases(request, *phases, *profile);
  if (!arguments.save_profile.empty()) {
    if (Status saved = write_file_atomically(arguments.save_profile, to_text(to_json(*profile)), NewFile::kPrivate);
        !saved)
      return saved.error();
  }
  return profile;
}

// Of the run, or of the file.
Result<Profile> shown_profile(const PhasesArguments& arguments, const CommandContext& context) {
  if (!context.command.empty()) {
    auto profile = measured(arguments, context);
    if (!profile || profile->phase_kinds) return profile;
    const auto& warnings = profile->warnings;
    const auto why = std::find_if(warnings.begin(), warnings.end(),
                                  [](const ProfileWarning& warning) { return warning.code == "no-phases"; });
    if (why == warnings.end()) return Error{"no-phases", "the run has no phases", "", "perfcast doctor"};
    return Error{why->code, why->message, "", why->advice};
  }
  auto profiles = read_profiles(arguments.profiles);
  if (!profiles) return profiles.error();
  if (profiles->front().phase_kinds) return std::move(profiles->front());
  return Error{"no-phases", "the profile has no phases", arguments.profiles[0],
               "one written by perfcast profile --phases auto -o FILE -- CMD"};
}

int run_phases(const PhasesArguments& arguments, const CommandContext& context) {
  const CommonOptions& options = context.options;
  if (arguments.profiles.empty() == context.command.empty()) {
    const bool nothing = context.command.empty();
    return report_error(usage_error("bad-usage", nothing ? "nothing to find phases in" : "both a profile and a command",
                                    "PROFILE", "perfcast phases -- CMD ARGS..., or perfcast phases p.json"),
                        options);
  }
  if (arguments.score) return score(arguments, options);
  if (arguments.profiles.size() > 1) {
    return report_error(usage_error("bad-usage", "several profiles are given", "PROFILE",
                                    "one of them, others with --learn, or --score for all"),
                        options);
  }
  for (const auto& [option, path] :
       {std::pair{"--report", arguments.report}, {"--save-profile", arguments.save_profile}}) {
    if (const Status status = check_output_file(option, path); !status) return report_error(status.error(), options);
  }
  for (const std::string& path : arguments.learn) {
    if (path.empty()) {
      return report_error(usage_error("bad-usage", "a name of a file is empty", "--learn",
                                      "profiles of other programs, such as a.json,b.json"),
                          options);
    }
  }
  std::vector<std::string> read = arguments.learn;
  read.insert(read.end(), arguments.profiles.begin(), arguments.profiles.end());
  std::optional<program::ProgramPowerModel> model;
  if (!arguments.power_model.empty()) {
    auto given = read_program_power_model(arguments.power_model, "FILE[,cpus=N][,machine=NAME][,clock=2.4GHz]");
    if (!given) return report_error(given.error(), options);
    read.push_back(given->source);
    model = std::move(*given);
  }
  if (const Status status = check_not_read("--report", arguments.report, read); !status)
    return report_error(status.error(), options);
  const auto profile = shown_profile(arguments, context);
  if (!profile) return report_error(profile.error(), options);
  const Profile& shown = *profile;
  std::optional<measure::PhaseForecast> forecast;
  if (!arguments.learn.empty()) {
    const auto others = read_profiles(arguments.learn);
    if (!others) return report_error(others.error(), options);
    auto found = measure::forecast_phases(shown, *others, options.threads);
    if (!found) return report_error(found.error(), options);
    forecast = std::move(*found);
  }
  std::optional<measure::PhasePowers> power;
  if (model) {
    auto found =
        program::phase_powers(*model, shown, forecast ? forecast->kind_s : std::vector<std::optional<double>>());
    if (!found) {
      Error error = found.error();
      if (error.where == "power-model") error.where = "--power-model";
      return report_error(error, options);
    }
    power = std::move(*found);
  }
  if (!arguments.report.empty()) {
    if (const Status status = write_file_atomically(arguments.report, measure::phases_html(shown, forecast, power));
        !status)
      return report_error(status.error(), options);
  }
  return write_result(options.json ? to_text(measure::phases_json(shown, forecast, power))
                                   : measure::phases_text(shown, forecast, power, output_columns()),
                      options);
}

}  // namespace

void add_phases_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<PhasesArguments>();
  CLI::App* verb = add_verb(app, {"phases",
                                  "Shows the phases of a program: what each does, how long it takes, and its forecast.",
                                  "-- COMMAND ARGS...",
                                  {"perfcast phases -- ./prog input.dat",
                                   "perfcast phases p.json --learn a.json,b.json --report phases.html"},
                                  "phases"});
  verb->footer(
      "Take the profiles for --learn on the machine that you want a forecast for, and from other programs. perfcast "
      "leaves out profiles of the same program.");
  add_basic(*verb, "PROFILE", arguments->profiles, "PROFILE ...",
            "A profile with phases, instead of a command. You make it with: perfcast profile --phases auto -o p.json "
            "-- COMMAND. Give several with --score.");
  add_basic(*verb, "--learn", arguments->learn, "FILE,...",
            "Forecasts the time of each phase from these profiles of other programs on one machine.")
      ->delimiter(',');
  add_basic(*verb, "--power-model", arguments->power_model, "FILE",
            "Adds watts and joules of each phase, computed with this model of perfcast power fit: "
            "FILE[,cpus=N][,machine=NAME][,clock=2.4GHz].");
  add_basic(*verb, "--score", arguments->score, "Forecasts each profile from the others and says how good that is.");
  add_basic(*verb, "--report", arguments->report, "FILE",
            "Writes a page (HTML) with measured and forecast times over the run.");
  add_basic(*verb, "--save-profile", arguments->save_profile, "FILE",
            "Stores the profile of the command, for later: perfcast phases FILE.");
  add_advanced(*verb, "--phases", arguments->kinds, "auto|N",
               "Finds this many phases in the run of the command. With auto, perfcast chooses the number.");
  add_around_options(*verb, arguments->around);
  add_common_options(*verb, context, kThreadsOption | kShowOutputOption | kQuietOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_phases(*arguments, context); }; });
}

}  // namespace perfcast::cli
