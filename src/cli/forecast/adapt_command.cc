// perfcast adapt: a platform that a bundle doesn't know, from its facts and a few runs.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/process/interrupt.h"
#include "base/process/temp_folder.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/forecast/adapt_slurm.h"
#include "cli/option_table.h"
#include "cli/shared/duration_option.h"
#include "cli/shared/named_file.h"
#include "machine/ceiling/memory_facts.h"
#include "machine/meter/meter.h"
#include "profile/collect/native/host_facts.h"
#include "profile/suite/suite_runner.h"
#include "program/adapt/adapt_here.h"
#include "program/adapt/adapt_platform.h"
#include "program/adapt/adapt_report.h"
#include "program/adapt/measured_facts.h"
#include "program/corpus/suite_corpus.h"

namespace perfcast::cli {
namespace {

constexpr size_t kMostRunsBytes = size_t{16} << 20;
constexpr size_t kMostFactsBytes = size_t{1} << 20;

struct AdaptArguments {
  std::string runs, facts, stress_ng, harness, save_runs;
  std::optional<std::string> name;
  std::vector<std::string> profiles;
  bool here = false, any_version = false, no_memory_facts = false, on_slurm = false;
  size_t suggest = 0;
  program::HereOptions limits;
  AdaptSlurmOptions slurm;
  double until_percent = 10;
  int repeats = 3;
};

struct ShippedSuite {
  Suite suite;
  std::set<std::string> runnable;
};

// The suites whose programs a machine is learned by: a unit of their work is what the published times are of. Those of
// applications are of other versions and inputs than ours.
Result<std::vector<ShippedSuite>> shipped_suites() {
  std::vector<ShippedSuite> suites;
  for (const char* name : {"cloud"}) {
    auto suite = read_suite(shipped_file(std::string("suites/") + name + ".json"));
    if (!suite) return suite.error();
    suites.push_back({std::move(*suite), {}});
  }
  return suites;
}

// What profiles say of the work of the bundle's programs: those of the shipped suites, then those of --profiles.
std::map<std::string, program::ProgramWork> work_of(const program::Bundle& bundle,
                                                    const std::vector<ShippedSuite>& suites,
                                                    const std::vector<std::string>& folders) {
  std::map<std::string, program::ProgramWork> work;
  std::vector<std::string> all;
  all.reserve(suites.size() + folders.size());
  for (const ShippedSuite& shipped : suites) all.push_back(shipped_file("profiles/" + shipped.suite.name));
  all.insert(all.end(), folders.begin(), folders.end());
  for (const Program& program : bundle.programs) {
    program::ProgramWork& entry = work[program.id];
    for (const std::string& folder : all) {
      const std::string path = folder + "/" + program.id + ".json";
      if (std::error_code ignored; !std::filesystem::exists(path, ignored)) continue;
      const auto profile = read_suite_profile(path);
      if (!profile || !profile->work_units) continue;
      const auto instructions = profile->metrics.find("instructions_count");
      if (instructions == profile->metrics.end()) continue;
      entry.instructions_per_unit = instructions->second / *profile->work_units;
      // Of programs that no shipped suite has: the user's own suite sizes a run as its profile does.
      entry.run_units = profile->work_units;
    }
    for (const ShippedSuite& shipped : suites) {
      const SuiteProgram* in_suite = shipped.suite.find(program.id);
      if (in_suite != nullptr) entry.run_units = native_work_units(in_suite->run);
    }
  }
  return work;
}

Result<Platform> platform_of(const AdaptArguments& arguments, std::vector<std::string>& notes) {
  Platform platform;
  if (!arguments.facts.empty()) {
    if (const Status there = check_named_file("--facts", arguments.facts); !there) return there.error();
    const auto text = read_file(arguments.facts, kMostFactsBytes);
    if (!text) return text.error();
    auto read = program::parse_platform_facts(*text, arguments.facts);
    if (!read) return read.error();
    platform = std::move(*read);
  } else {
    platform = program::host_platform(read_host_facts());
    if (!arguments.here) {
      notes.push_back("no --facts: the platform gets the facts of this machine (" + platform.name +
                      "), and predict takes this machine for it; --facts FILE if it is another machine");
    }
  }
  if (arguments.name) platform.name = *arguments.name;
  platform.id = slug(platform.name);
  return platform;
}

// What this machine's caches and memory do, as far as platforms of the bundle state it, beside what the platform
// states.
MemoryFacts add_memory_facts(const program::Bundle& bundle, Platform& platform, std::vector<std::string>& notes) {
  MemoryFacts measured = measure_memory_facts();
  std::erase_if(measured.facts, [&](const auto& fact) {
    return std::none_of(bundle.platforms.begin(), bundle.platforms.end(),
                        [&](const Platform& known) { return known.facts.contains(fact.first); });
  });
  notes.insert(notes.end(), measured.notes.begin(), measured.notes.end());
  program::take_memory_facts(bundle.platforms, measured, platform, notes);
  return measured;
}

// Of tools that were named by path, unlike those that are looked for.
Status check_named_tools(const AdaptArguments& arguments) {
  if (!arguments.stress_ng.empty()) {
    if (const auto found = find_stress_ng(arguments.stress_ng); !found) return found.error();
  }
  if (!arguments.harness.empty()) {
    if (const auto found = find_harness(arguments.harness); !found) return found.error();
  }
  return {};
}

// With what gets it: whoever reads why programs are left out can mend it.
std::string why_missing(const Error& error) {
  return error.message + (error.expected.empty() ? "" : " (expected: " + error.expected + ")");
}

SuiteTools tools_of(const AdaptArguments& arguments, const std::string& work_folder) {
  SuiteTools tools;
  tools.work_folder = work_folder;
  if (auto found = find_stress_ng(arguments.stress_ng)) {
    tools.stress_ng = std::move(*found);
  } else {
    tools.why_not["stress-ng"] = why_missing(found.error());
  }
  if (auto found = find_harness(arguments.harness)) {
    tools.harness = std::move(*found);
  } else {
    tools.why_not["harness"] = why_missing(found.error());
  }
  return tools;
}

// The suites' programs, timed natively on this machine.
class HostTimer {
 public:
  HostTimer(std::vector<ShippedSuite>& suites, const AdaptArguments& arguments, const SuiteTools& tools)
      : suites_(suites), tools_(tools) {
    options_.times_only = true;
    options_.any_version = arguments.any_version;
    options_.native_repeats = arguments.repeats;
    for (ShippedSuite& shipped : suites_) {
      const SuiteRunner runner(shipped.suite, options_, tools_, SuiteRunner::real_actions());
      for (const SuiteProgram& program : shipped.suite.programs) {
        if (const auto obstacle = runner.obstacle(program)) {
          why_not_[program.program.id] = obstacle->reason;
        } else {
          shipped.runnable.insert(program.program.id);
        }
      }
    }
  }

  bool may_run(const std::string& program) const {
    for (const ShippedSuite& shipped : suites_) {
      if (shipped.runnable.contains(program)) return true;
    }
    return false;
  }

  std::vector<program::LeftOutHere> left_out(const program::Bundle& bundle) const {
    std::vector<program::LeftOutHere> programs;
    for (const Program& program : bundle.programs) {
      if (may_run(program.id)) continue;
      const auto why = why_not_.find(program.id);
      programs.push_back({program.group, why == why_not_.end() ? "" : why->second});
    }
    return programs;
  }

  Result<program::TimedHere> time(const std::string& program) const {
    for (const ShippedSuite& shipped : suites_) {
      if (!shipped.runnable.contains(program)) continue;
      SuiteOptions options = options_;
      options.only = {program};
      SuiteRunner runner(shipped.suite, options, tools_, SuiteRunner::real_actions());
      const auto outcomes =
          runner.run([](const SuiteProgram&, const Profile&) { return Status(); }, [](const std::string&) {});
      if (!outcomes) return outcomes.error();
      for (const SuiteOutcome& outcome : *outcomes) {
        if (outcome.program != program) continue;
        if (!outcome.time_per_unit_s) return Error{"not-timed", outcome.reason, program, ""};
        return program::TimedHere{*outcome.time_per_unit_s, outcome.spread_ratio.value_or(0)};
      }
    }
    return Error{"not-timed", "no suite runs it here", program, ""};
  }

 private:
  std::vector<ShippedSuite>& suites_;
  std::map<std::string, std::string> why_not_;  // of programs that suites have and that can't be run
  SuiteTools tools_;
  SuiteOptions options_;
};

// What was timed on this machine, kept as it comes.
struct KeptRuns {
  std::string path;  // empty: nowhere
  size_t count = 0;

  Status keep(const std::vector<program::HereStep>& steps) {
    count = steps.size();
    return path.empty() ? Status() : write_file_atomically(path, program::runs_as_csv(steps));
  }
};

// Beside the bundle where nobody names a file; "-", and what is no file (/dev/null), has nothing beside it.
std::string kept_runs_path(const AdaptArguments& arguments, const std::string& output) {
  std::error_code ignored;
  if (!arguments.save_runs.empty()) return arguments.save_runs;
  if (!arguments.here || output == "-") return "";
  const auto status = std::filesystem::status(output, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) ? "" : output + ".runs.csv";
}

// What was timed before an end that nobody wished for isn't lost.
Error with_kept_runs(Error error, const KeptRuns& kept) {
  if (kept.count == 0) return error;
  const std::string counted = fmt::format("{} program{} timed", kept.count, kept.count == 1 ? " was" : "s were");
  if (kept.path.empty()) {
    error.message += "; " + counted + " and not kept: --save-runs FILE, or -o, keeps them";
    return error;
  }
  error.message += "; " + counted + ": " + printable(kept.path);
  if (!error.expected.empty()) error.expected += "; or ";
  error.expected +=
      kept.count < program::kFewestRuns
          ? fmt::format("rows for {} more and perfcast adapt --runs with it", program::kFewestRuns - kept.count)
          : "perfcast adapt --runs with it";
  return error;
}

// Fields of requests by the options that they come from.
Error with_options(Error error) {
  if (error.code == "known-platform") error.expected = "--name with another one";
  if (error.code == "no-work") error.expected += ": --profiles FOLDER has them";
  return error;
}

Result<std::vector<program::AdaptRun>> read_runs(const std::string& path) {
  if (const Status there = check_named_file("--runs", path); !there) return there.error();
  const auto text = read_file(path, kMostRunsBytes);
  if (!text) return text.error();
  std::string form;
  auto runs = program::parse_adapt_runs(*text, path, &form);
  note_form(path, form);
  return runs;
}

// The options of this machine's run, for the same on another.
std::vector<std::string> words_of(const AdaptArguments& arguments) {
  std::error_code problem;
  const auto absolute = [&](const std::string& path) { return std::filesystem::absolute(path, problem).string(); };
  std::vector<std::string> words = {"--until",      fmt::format("{}", arguments.until_percent),
                                    "--time-limit", fmt::format("{}", arguments.limits.budget_s),
                                    "--repeats",    std::to_string(arguments.repeats)};
  if (arguments.name) words.insert(words.end(), {"--name", *arguments.name});
  if (!arguments.save_runs.empty()) words.insert(words.end(), {"--save-runs", absolute(arguments.save_runs)});
  if (arguments.suggest > 0) words.insert(words.end(), {"--suggest", std::to_string(arguments.suggest)});
  for (const std::string& folder : arguments.profiles) words.insert(words.end(), {"--profiles", absolute(folder)});
  if (arguments.any_version) words.emplace_back("--any-version");
  if (arguments.no_memory_facts) words.emplace_back("--no-memory-facts");
  if (!arguments.stress_ng.empty()) words.insert(words.end(), {"--stress-ng", absolute(arguments.stress_ng)});
  if (!arguments.harness.empty()) words.insert(words.end(), {"--harness", absolute(arguments.harness)});
  return words;
}

int run_adapt(const AdaptArguments& arguments, const CommandContext& context) {
  const CommonOptions& common = context.options;
  const auto refuse = [&](const std::string& message, const std::string& expected) {
    return report_error(usage_error("bad-usage", message, "", expected), common);
  };
  if (arguments.here && (!arguments.runs.empty() || !arguments.facts.empty())) {
    return refuse("--here runs programs on this machine: --runs and --facts are of another", "one or the other");
  }
  if (arguments.runs.empty() && arguments.facts.empty() && !arguments.here && arguments.suggest == 0) {
    return refuse("nothing to adapt to", "--runs FILE, --facts FILE, --here, or --suggest N");
  }
  const bool saves = common.output != "-";
  if (saves && arguments.runs.empty() && arguments.facts.empty() && !arguments.here) {
    return refuse("--suggest names programs to run, and nothing was measured or told yet that a bundle could hold",
                  "--suggest without -o; or -o with --runs, --facts or --here");
  }
  if (arguments.name && slug(*arguments.name).empty()) {
    return refuse("--name '" + printable(*arguments.name) + "' has no letter or digit", "a name of letters and digits");
  }
  if (const Status writable = check_output_file("-o", common.output); !writable) {
    return report_error(writable.error(), common);
  }
  // What somebody measured is not written over; what belongs to -o is written with it.
  if (saves && !arguments.save_runs.empty() && same_file(arguments.save_runs, common.output)) {
    return refuse("--save-runs and -o name one file", "two files");
  }
  KeptRuns kept{kept_runs_path(arguments, common.output)};
  for (const Status& writable :
       {check_output_file("--save-runs", kept.path), check_new_file("--save-runs", arguments.save_runs)}) {
    if (!writable) return report_error(writable.error(), common);
  }
  for (const std::string& folder : arguments.profiles) {
    if (const Status there = check_named_file("--profiles", folder); !there) return report_error(there.error(), common);
  }
  if (const Status unread =
          check_not_read("-o", saves ? common.output : "", {common.bundle, arguments.runs, arguments.facts});
      !unread) {
    return report_error(unread.error(), common);
  }
  if (arguments.on_slurm) {
    ProgressLine progress(common);
    progress.show("waiting for a node of " + printable(arguments.slurm.partition) + ", and for its programs ...");
    const auto answer = adapt_on_slurm(arguments.slurm, words_of(arguments), common);
    if (!answer) return report_error(answer.error(), common);
    std::fputs(answer->c_str(), stdout);
    return kExitDone;
  }
  if (const Status there = check_named_tools(arguments); !there) return report_error(there.error(), common);
  auto suites = shipped_suites();
  if (!suites) return report_error(suites.error(), common);
  std::vector<std::string> notes;
  auto platform = platform_of(arguments, notes);
  if (!platform) return report_error(platform.error(), common);
  std::vector<program::AdaptRun> runs;
  if (!arguments.runs.empty()) {
    auto read = read_runs(arguments.runs);
    if (!read) return report_error(read.error(), common);
    runs = std::move(*read);
  }
  auto bundle = program::read_bundle(common.bundle);
  if (!bundle) return report_error(bundle.error(), common);
  if (!arguments.facts.empty()) {
    auto checked = program::check_known_facts(*platform, bundle->platforms, arguments.facts);
    if (!checked) return report_error(checked.error(), common);
    notes = std::move(*checked);
  }
  const InterruptGuard guard;
  MemoryFacts memory;
  if (arguments.here && !arguments.no_memory_facts) {
    ProgressLine progress(common);
    progress.show("measuring caches and memory ...");
    memory = add_memory_facts(*bundle, *platform, notes);
  }
  const auto known = std::make_shared<const program::Bundle>(std::move(*bundle));
  const std::map<std::string, program::ProgramWork> work_known = work_of(*known, *suites, arguments.profiles);
  if (const Status status = program::check_adapt_runs(*known, work_known, runs); !status) {
    return report_error(with_options(status.error()), common);
  }
  auto scenario = [&] {
    ProgressLine progress(common);
    progress.show("learning from " + std::to_string(known->platforms.size()) + " platforms ...");
    return program::AdaptScenario::start(known, *platform, work_known);
  }();
  if (!scenario) return report_error(with_options(scenario.error()), common);
  if (const Status status = scenario->measure(runs); !status) return report_error(status.error(), common);

  std::optional<program::HereOutcome> here;
  if (arguments.here) {
    const auto work = TempFolder::create();
    if (!work) return report_error(work.error(), common);
    const HostTimer timer(*suites, arguments, tools_of(arguments, work->path()));
    program::HereOptions limits = arguments.limits;
    limits.target_ratio = 1 + arguments.until_percent / 100;
    limits.repeats = arguments.repeats;
    limits.budget_s -= memory.took_s;
    limits.cpu_root = MeterRoots().cpu;
    limits.keep = [&](const std::vector<program::HereStep>& steps) { return kept.keep(steps); };
    const auto clock = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    ProgressLine progress(common);
    auto outcome = program::adapt_here(
        *scenario, limits, [&](const std::string& program) { return timer.may_run(program); },
        [&](const std::string& program) { return timer.time(program); }, clock,
        [&](const std::string& text) { progress.show(text); });
    if (!outcome) return report_error(with_kept_runs(with_options(outcome.error()), kept), common);
    here = std::move(*outcome);
    for (std::string& text : program::left_out_in_words(timer.left_out(*known))) here->notes.push_back(std::move(text));
  }
  program::AdaptReport report = scenario->report(arguments.suggest);
  report.notes.insert(report.notes.begin(), notes.begin(), notes.end());
  if (here) report.notes.insert(report.notes.end(), here->notes.begin(), here->notes.end());
  if (saves) {
    if (const Status status = program::write_bundle(scenario->finish(), common.output); !status) {
      return report_error(status.error(), common);
    }
  }
  const std::string written = saves ? common.output : "";
  const program::AdaptedHere ran{here ? &*here : nullptr, memory, kept.path};
  if (common.json) {
    std::fputs(to_text(program::adapt_as_json(report, ran, written)).c_str(), stdout);
  } else if (!common.quiet || !saves) {
    std::fputs(program::adapt_as_text(report, ran, written).c_str(), stdout);
  }
  return kExitDone;
}

}  // namespace

void add_adapt_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<AdaptArguments>();
  CLI::App* verb = add_verb(
      app, {"adapt",
            "Adds a platform to a bundle of models, from a few runs there.",
            "",
            {"perfcast adapt --here -o mine.pcb", "perfcast adapt --runs runs.csv --facts node7.json -o mine.pcb"},
            "adapt"});
  verb->footer(
      "The file of --runs is a CSV with the columns program, seconds (CPU time) and, if not 1, work_units (units of "
      "work in that time). perfcast collect --here prints such values. Without runs, perfcast adapts the bundle by the "
      "platform's facts alone.");
  add_basic(*verb, "--runs", arguments->runs, "FILE",
            "Times of programs on the new platform: a CSV with program, seconds and, if not 1, work_units.");
  add_basic(*verb, "--facts", arguments->facts, "FILE",
            "The platform's name and facts (JSON). Default: those of this machine.");
  CLI::Option* const here =
      add_basic(*verb, "--here", arguments->here,
                "Runs programs of the shipped suite on this machine until the forecasts are sure enough (--until).");
  CLI::Option* const slurm = add_basic(*verb, "--slurm", arguments->slurm.partition, "PARTITION",
                                       "With --here: runs them on a node of this Slurm partition.")
                                 ->needs(here);
  add_advanced(*verb, "--srun-option", arguments->slurm.options, "OPTION",
               "With --slurm: passes a further option to srun, such as --account=a. Repeatable.")
      ->needs(slurm)
      ->allow_extra_args(false);
  add_advanced(*verb, "--shared-nodes", arguments->slurm.shared,
               "With --slurm: lets other jobs run on the node meanwhile.")
      ->needs(slurm);
  add_basic(*verb, "--name", arguments->name, "NAME", "The name of the platform in tables.");
  add_basic(*verb, "--suggest", arguments->suggest, "N",
            "Names this many programs to run next. Those that improve the forecasts most per second come first.")
      ->check(CLI::Range(1, 1000));
  add_advanced(*verb, "--profiles", arguments->profiles, "FOLDER",
               "Reads profiles of further programs from this folder. Repeatable.")
      ->allow_extra_args(false);
  add_basic(*verb, "--until", arguments->until_percent, "PERCENT",
            "With --here: stops when the typical 90% interval reaches this far above the forecast, or less.")
      ->needs(here)
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  takes_duration(add_basic(*verb, "--time-limit,--budget", arguments->limits.budget_s, "TIME",
                           "With --here: stops after this time, such as 90s."))
      ->needs(here)
      ->capture_default_str();
  add_advanced(*verb, "--repeats", arguments->repeats, "N", "With --here: runs each program this often.")
      ->needs(here)
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  add_advanced(*verb, "--save-runs", arguments->save_runs, "FILE",
               "With --here: saves the times in this file after each program. --runs reads it. Default: OUT.runs.csv, "
               "if -o names OUT.")
      ->needs(here);
  add_advanced(*verb, "--any-version", arguments->any_version,
               "With --here: also accepts another version of stress-ng than the one of the known times.")
      ->needs(here);
  add_advanced(*verb, "--no-memory-facts", arguments->no_memory_facts,
               "With --here: does not measure bandwidths and latencies of caches and memory. This saves some seconds.")
      ->needs(here);
  add_advanced(*verb, "--stress-ng", arguments->stress_ng, "FILE", "The stress-ng program. Default: the one in PATH.");
  add_advanced(*verb, "--harness", arguments->harness, "FILE",
               "The program perfcast-harness. Default: the one beside perfcast, or in PATH.");
  add_common_options(*verb, context, kBundleOption | kQuietOption);
  verb->callback([arguments, slurm, &context] {
    arguments->on_slurm = slurm->count() > 0;
    context.run = [arguments, &context] { return run_adapt(*arguments, context); };
  });
}

}  // namespace perfcast::cli
