// perfcast energy: a command's joules, by every meter that there is; and which meters there are.

#include <memory>

#include "base/csv.h"
#include "base/json.h"
#include "base/process/duration.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/energy_text.h"
#include "cli/shared/meter_options.h"
#include "machine/meter/meter.h"
#include "profile/collect/native/energy_run.h"

namespace perfcast::cli {
namespace {

struct EnergyArguments {
  std::vector<std::string> meters;
  std::string idle = "5s", limit, clock_offset;
  int repeats = 1;
  bool list = false, accept_failure = false;
};

// Seconds, which may be negative: "-1.5", "-1500ms".
Result<double> parse_offset_s(const std::string& text) {
  if (const auto seconds = parse_number(text)) return *seconds;
  const bool behind = text.starts_with("-");
  const auto duration = parse_duration_s(behind ? text.substr(1) : text, "--clock-offset");
  if (!duration) return duration.error();
  return behind ? -*duration : *duration;
}

Result<MeterSet> meters_of(const EnergyArguments& arguments) {
  MeterFileOptions options;
  if (!arguments.clock_offset.empty()) {
    const auto offset_s = parse_offset_s(arguments.clock_offset);
    if (!offset_s) return offset_s.error();
    options.clock_offset_s = *offset_s;
  }
  return meters_of_option(arguments.meters, options);
}

Result<EnergyRun> measure(const EnergyArguments& arguments, const CommandContext& context) {
  auto set = meters_of(arguments);
  if (!set) return set.error();
  if (arguments.list) return listed_meters(*set);
  EnergyRunRequest request;
  request.clock_offset = "--clock-offset";
  request.command = context.command;
  request.repeats = arguments.repeats;
  request.accept_failure = arguments.accept_failure;
  request.show_output = context.options.show_output;
  request.idle_s = 0;
  if (arguments.idle != "none") {
    const auto idle_s = parse_duration_s(arguments.idle, "--idle");
    if (!idle_s) return idle_s.error();
    request.idle_s = *idle_s;
  }
  if (!arguments.limit.empty()) {
    const auto limit_s = parse_duration_s(arguments.limit, "--run-limit");
    if (!limit_s) return limit_s.error();
    request.limit_s = *limit_s;
  }
  ProgressLine line(context.options);
  return measure_energy(request, *set, [&line](const std::string& text) { line.show(text); });
}

int run(const EnergyArguments& arguments, const CommandContext& context) {
  const CommonOptions& options = context.options;
  if (arguments.list && !context.command.empty()) {
    return report_error(usage_error("bad-usage", "--list runs nothing", "--list", "perfcast energy --list, or -- CMD"),
                        options);
  }
  // A meter may be named by a file.
  if (Status kept = check_not_read("-o", options.output, arguments.meters); !kept) {
    return report_error(kept.error(), options);
  }
  const auto measured = measure(arguments, context);
  if (!measured) return report_error(measured.error(), options);
  const std::string text = options.json     ? to_text(to_json(*measured))
                           : arguments.list ? meters_text(*measured)
                                            : energy_run_text(*measured);
  const int written = write_result(text, options);
  if (written != kExitDone || arguments.list) return written;
  return measured->has_joules() ? kExitDone : kExitFailure;
}

}  // namespace

void add_energy_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<EnergyArguments>();
  CLI::App* verb = add_verb(
      app, {"energy",
            "Measures the energy of a command with this machine's meters.",
            "-- COMMAND ARGS...",
            {"perfcast energy -- ./prog input.dat", "perfcast energy --repeats 5 --meter rapl -- ./prog input.dat"},
            "energy"});
  verb->footer(
      "perfcast reads every meter of this machine (RAPL, NVML, hwmon) while the command runs. It can also read a file "
      "to which another program writes the values of an external meter meanwhile. The command gets empty input, and "
      "its output is discarded. The energy includes what the idle machine would use. That part is also printed by "
      "itself.\nExit status: 0 if a meter gave joules, 1 if none did. The time is printed in both cases.");
  add_basic(*verb, "--meter", arguments->meters, "NAME|FILE",
            "Reads only this meter, given by name, by kind, or as a file of an external meter (CSV, ipmitool, Redfish "
            "JSON). Repeatable. Default: all meters of this machine.")
      ->take_all()
      ->allow_extra_args(false);
  add_advanced(*verb, "--clock-offset", arguments->clock_offset, "SECONDS",
               "Adds these seconds to the times in an external meter's CSV. Use it if the meter's clock is behind this "
               "machine's by that much.");
  add_basic(*verb, "--idle", arguments->idle, "TIME",
            "Measures the idle machine for this long before the first run. The word none skips it.")
      ->capture_default_str();
  add_basic(*verb, "--repeats", arguments->repeats, "N", "Runs the command this often.")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_basic(*verb, "--run-limit,--limit", arguments->limit, "TIME",
            "Ends any single run after this time, such as 60s.");
  add_basic(*verb, "--list", arguments->list,
            "Lists the meters, what each covers, how well it reads, and which are missing.");
  add_advanced(*verb, "--accept-failure", arguments->accept_failure, "Also counts runs that fail.");
  add_common_options(*verb, context, kShowOutputOption | kQuietOption);
  verb->callback([arguments, &context] { context.run = [arguments, &context] { return run(*arguments, context); }; });
}

}  // namespace perfcast::cli
