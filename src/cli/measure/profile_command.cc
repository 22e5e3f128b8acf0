// perfcast profile: measure one program; its own streams and exit code pass through, as with perf stat.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/json.h"
#include "base/process/duration.h"
#include "base/process/interrupt.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/output_width.h"
#include "cli/shared/around_options.h"
#include "cli/shared/last_profile.h"
#include "cli/shared/named_file.h"
#include "cli/shared/phase_options.h"
#include "machine/facts/core_design.h"
#include "measure/phases/phase_description.h"
#include "measure/phases/report/phase_report.h"
#include "profile/collect/collector.h"
#include "profile/collect/session/profile_summary.h"

namespace perfcast::cli {
namespace {

constexpr const char* kWindowsNotWritten = "windows-not-written";

struct ProfileOptions {
  std::string limit, windows, phases;
  int repeats = 3;
  bool mix_only = false;
  bool cross_check = false;
  bool exact = false, quick = false, opencl = false;
  bool has_output = false;
  AroundRun around;
};

// Before minutes of measuring: can the result be stored?
int exit_code_of(const Profile& profile) {
  return profile.signal ? kExitBySignal + *profile.signal : profile.exit_code.value_or(kExitDone);
}

void print_warnings(const Profile& profile) {
  for (const ProfileWarning& warning : profile.warnings) {
    if (!is_serious(warning) || warning.code == kWindowsNotWritten) continue;  // that is an error, said last
    std::fprintf(stderr, "perfcast: warning: %s\n", printable(warning.message).c_str());
    if (!warning.advice.empty()) std::fprintf(stderr, "  advice: %s\n", printable(warning.advice).c_str());
  }
}

int run(const ProfileOptions& chosen, const CommandContext& context) {
  CommonOptions options = context.options;
  CollectRequest request;
  request.command = context.command;
  if (request.command.empty()) {
    return report_error(
        usage_error("bad-usage", "no command to measure", "", "perfcast profile [-o p.json] -- CMD ARGS..."), options);
  }
  if (!chosen.limit.empty()) {
    const auto limit_s = parse_duration_s(chosen.limit, "--time-limit");
    if (!limit_s) return report_error(limit_s.error(), options);
    request.limit_s = *limit_s;
  }
  const bool to_file = chosen.has_output && options.output != "-";
  const bool to_stdout = !to_file && (options.json || chosen.has_output);
  if (to_file) {
    if (const Status status = check_output_file("-o", options.output); !status)
      return report_error(status.error(), options);
  }
  if (!chosen.windows.empty()) {
    if (chosen.mix_only) {
      return report_error(usage_error("bad-usage", "--windows needs the simulation that --mix-only leaves out",
                                      "--windows", "one of both"),
                          options);
    }
    if (const Status status = check_output_file("--windows", chosen.windows); !status)
      return report_error(status.error(), options);
    if (to_file && same_file(chosen.windows, options.output)) {
      return report_error(usage_error("bad-usage", "the windows and the profile would go to the same file",
                                      chosen.windows, "two files"),
                          options);
    }
  }
  std::optional<measure::PhaseRequest> phases;
  if (!chosen.phases.empty()) {
    const auto asked = phase_request(chosen.phases, "--phases");
    if (!asked) return report_error(asked.error(), options);
    phases = *asked;
    measure::ask_for_phases(request);
  }
  request.trace_path = chosen.windows;
  request.native_repeats = chosen.repeats;
  request.around = chosen.around;
  request.mix_only = chosen.mix_only;
  request.cross_check = chosen.cross_check;
  request.exact = chosen.exact;
  request.quick = chosen.quick;
  request.opencl = chosen.opencl;
  request.core_designs = shipped_core_designs();
  // The profile on stdout and the program's stdout can't both be read.
  request.pass_output = !to_stdout;
  request.show_output = options.show_output;

  Result<Profile> profile = [&] {
    ProgressLine line(options);
    return profile_command(request, [&](const std::string& text) { line.show(text); });
  }();
  if (!profile) {
    return report_error(profile.error(), options);
  }
  if (phases) measure::describe_phases(request, *phases, *profile);
  if (!chosen.mix_only) keep_last_profile(to_text(to_json(*profile)));
  if (!options.quiet) {
    if (to_file || to_stdout) {
      print_warnings(*profile);
    } else {
      std::fprintf(stderr, "\n%s", profile_summary(*profile).c_str());
      if (profile->phase_kinds)
        std::fprintf(stderr, "\n%s",
                     measure::phases_text(*profile, std::nullopt, std::nullopt, output_columns()).c_str());
    }
  }
  if (to_file || to_stdout) {
    if (const int code = write_result(to_text(to_json(*profile)), options, NewFile::kPrivate); code != kExitDone)
      return code;
  }
  for (const ProfileWarning& warning : profile->warnings) {
    if (warning.code == kWindowsNotWritten)
      return report_error(Error{warning.code, warning.message, "--windows", warning.advice}, options);
  }
  return exit_code_of(*profile);
}

}  // namespace

void add_profile_command(CLI::App& app, CommandContext& context) {
  auto chosen = std::make_shared<ProfileOptions>();
  CLI::App* verb = add_verb(app, {"profile",
                                  "Measures a program once, so that you can forecast it later.",
                                  "-- COMMAND ARGS...",
                                  {"perfcast profile -o p.json -- ./prog input.dat",
                                   "perfcast profile --phases auto -o p.json -- ./prog input.dat"},
                                  "profile"});
  verb->footer(
      "perfcast runs the program natively a few times, then once under an emulator that counts its instructions. You "
      "see the output of the first run, and its exit code is returned. All runs read the same standard input. Each run "
      "writes its files again.\nWithout -o, a summary goes to stderr. With -o FILE, the profile goes into that file as "
      "JSON. With --json or -o -, the profile goes to stdout. The program's stdout is then discarded; --show-output "
      "sends it to stderr.\nExit status: that of the program, or 128+N if signal N killed it; 1 if the program can't "
      "be measured, 2 for bad usage.");
  add_basic(*verb, "--time-limit,--limit", chosen->limit, "TIME",
            "Ends the measurement after this time, such as 60s or 2m. Default: no limit.");
  CLI::Option* repeats = add_basic(*verb, "--repeats", chosen->repeats, "N",
                                   "Runs the program natively at most this often. Long programs run fewer times.")
                             ->check(CLI::Range(1, 1000))
                             ->capture_default_str();
  add_advanced(*verb, "--mix-only", chosen->mix_only,
               "Counts only how often each kind of instruction runs. This takes one emulated run and no native one.");
  CLI::Option* exact = add_basic(
      *verb, "--exact", chosen->exact,
      "Simulates caches and branches during the whole run. Default: only in short samples, which is much faster.");
  add_basic(*verb, "--quick", chosen->quick,
            "Measures once and samples less. The profile comes sooner and is less sure.")
      ->excludes(exact)
      ->excludes(repeats);
  add_advanced(*verb, "--windows", chosen->windows, "FILE",
               "Writes a trace into this file (perfcast.trace/1): samples of the run, instruction by instruction. "
               "perfcast cores reads it.");
  add_basic(*verb, "--phases", chosen->phases, "auto|N",
            "Finds this many phases in the run; with auto, perfcast chooses the number. perfcast phases shows them.");
  add_advanced(
      *verb, "--opencl", chosen->opencl,
      "Counts OpenCL kernels under Oclgrind, which simulates a device. Default: only if the program's own file "
      "names libOpenCL. Python scripts and the like need the option.");
  add_around_options(*verb, chosen->around);
  add_advanced(*verb, "--cross-check", chosen->cross_check,
               "Also runs the program under cachegrind, to check the counts.");
  add_common_options(*verb, context, kShowOutputOption | kQuietOption);
  const CLI::Option* output = verb->get_option("--output");
  verb->callback([chosen, output, &context] {
    chosen->has_output = output->count() > 0;
    context.run = [chosen, &context] { return run(*chosen, context); };
  });
}

}  // namespace perfcast::cli
