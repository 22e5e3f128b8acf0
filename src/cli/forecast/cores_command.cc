// perfcast cores TRACE: a trace on every known core design.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "machine/facts/core_design.h"
#include "profile/collect/native/host_facts.h"
#include "profile/core/core_report.h"
#include "profile/metrics/catalogue.h"
#include "profile/profile.h"

namespace perfcast::cli {
namespace {

struct CoresArguments {
  std::string trace, designs, into;
};

// Two runs of a program differ less, two programs more.
constexpr double kSameRun = 1.1;

double stands_for_count(const Trace& trace) {
  double sum = 0;
  for (const ProcessTrace& process : trace.processes) {
    for (const TracePiece& piece : process.pieces) sum += static_cast<double>(piece.stands_for_count);
  }
  return sum;
}

// Both of one program? By what ran: a suite gives its programs names of its own.
Status check_same_run(const Trace& trace, const CoreReport& report, const Profile& profile, double instructions_count) {
  const Error other{"other-program", "", profile.program,
                    "the profile that perfcast profile --windows wrote with the trace, or one of the same command"};
  const auto& sets = report.instruction_sets;
  if (std::find(sets.begin(), sets.end(), profile.instruction_set) == sets.end()) {
    Error error = other;
    error.message = fmt::format("the trace is of {}, the profile of {}", join(sets, ", "), profile.instruction_set);
    return error;
  }
  const double ratio = stands_for_count(trace) / instructions_count;
  // The profile of a run that was cut says what all of it would be.
  if (profile.partly_seen || (ratio < kSameRun && ratio > 1 / kSameRun)) return {};
  Error error = other;
  error.message =
      fmt::format("the trace ({}) stands for {} instructions, the profile ({}) has {}", printable(trace.program),
                  human_number(stands_for_count(trace)), printable(profile.program), human_number(instructions_count));
  return error;
}

// What the designs make of the trace, as metrics of the profile that it belongs to.
Status add_to_profile(const Trace& trace, const CoreReport& report, const std::string& path) {
  auto profile = read_profile(path);
  if (!profile) return profile.error();
  const auto instructions = profile->metrics.find("instructions_count");
  if (instructions == profile->metrics.end()) {
    return Error{"no-instructions", "the profile does not say how many instructions ran", path,
                 "the profile that perfcast profile --windows wrote with the trace"};
  }
  if (Status status = check_same_run(trace, report, *profile, instructions->second); !status) return status;
  for (const auto& [name, cycles] : modelled_cycles(report, instructions->second)) {
    if (Catalogue::built_in().find(name) == nullptr) continue;
    profile->metrics[name] = cycles;
    profile->missing.erase(name);
  }
  profile->core_bounds = modelled_bounds(report);
  std::erase_if(profile->collectors, [](const CollectorRecord& record) { return record.name == "cores"; });
  profile->collectors.push_back({"cores",
                                 core_models_version(report.designs),
                                 {},
                                 "ok",
                                 fmt::format("{} core designs on a trace", report.designs.size())});
  return write_file_atomically(path, to_json(*profile).dump(0) + "\n");
}

int run(const CoresArguments& arguments, const CommandContext& context) {
  const CommonOptions& common = context.options;
  if (!arguments.into.empty() && !arguments.designs.empty()) {
    return report_error(usage_error("bad-usage", "profiles hold cycles of the shipped designs, forecasts go by those",
                                    "--designs", "--into without --designs"),
                        common);
  }
  for (const auto& [option, path] :
       {std::pair{"TRACE", arguments.trace}, {"--designs", arguments.designs}, {"--into", arguments.into}}) {
    if (const Status there = check_named_file(option, path); !there) return report_error(there.error(), common);
  }
  const auto designs =
      read_core_designs(arguments.designs.empty() ? shipped_file("cores/designs.json") : arguments.designs);
  if (!designs) return report_error(designs.error(), common);
  const auto trace = read_trace(arguments.trace);
  if (!trace) return report_error(trace.error(), common);
  auto report = simulate_trace(*trace, *designs, common.threads);
  if (!report) return report_error(report.error(), common);
  report->host_design = core_design(read_host_facts());
  if (!arguments.into.empty()) {
    if (const auto profile = read_profile(arguments.into); profile && report->counts.empty())
      report->counts = memory_counts(profile->metrics);
    if (const Status status = add_to_profile(*trace, *report, arguments.into); !status)
      return report_error(status.error(), common);
    if (!common.quiet)
      std::fprintf(stderr, "cycles of %zu core designs added to %s\n", report->designs.size(), arguments.into.c_str());
  }
  return write_result(common.json ? to_text(cores_json(*report)) : cores_text(*report), common);
}

}  // namespace

void add_cores_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<CoresArguments>();
  CLI::App* verb =
      add_verb(app, {"cores",
                     "Says how many cycles a trace takes on each known core design, and what limits it there.",
                     "",
                     {"perfcast cores t.trace", "perfcast cores t.trace --into p.json"},
                     "cores"});
  verb->footer(
      "The forecast is for one core, and for the part of the run that the trace holds. It leaves out the kernel and "
      "other cores.");
  add_basic(*verb, "trace", arguments->trace, "TRACE",
            "The trace of a program's instructions. You make it with: perfcast profile --windows TRACE -- COMMAND.")
      ->required();
  add_basic(*verb, "--designs", arguments->designs, "FILE",
            "Reads the core designs from this file (JSON). Default: the shipped file.");
  add_basic(*verb, "--into", arguments->into, "PROFILE", "Adds the modelled cycles to this profile of the same run.");
  add_common_options(*verb, context, kThreadsOption);
  verb->callback([arguments, &context] { context.run = [arguments, &context] { return run(*arguments, context); }; });
}

}  // namespace perfcast::cli
