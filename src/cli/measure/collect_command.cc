// perfcast collect: the programs of a suite, timed and profiled on this machine.

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "base/json.h"
#include "base/process/interrupt.h"
#include "base/process/temp_folder.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/measure/collect_table.h"
#include "cli/option_table.h"
#include "cli/shared/duration_option.h"
#include "cli/shared/named_file.h"
#include "profile/collect/native/host_facts.h"
#include "profile/suite/slurm_campaign.h"
#include "profile/suite/suite_runner.h"
#include "program/corpus/store/store.h"
#include "program/corpus/suite_corpus.h"

namespace perfcast::cli {
namespace {

struct CollectArguments {
  std::string suite, profiles, windows, stress_ng, harness, slurm, campaign;
  std::vector<std::string> only, sbatch;
  bool here = false, list = false, again = false, retime = false, sampled = false, any_version = false,
       include_excluded = false;
  bool no_wait = false, shared = false;
  double lag_s = 60;
  bool corpus_given = false;
  int repeats = 2;
  double limit_s = 900;
};

// "cloud" is the shipped suite of that name; anything with a slash or a dot is a file.
bool is_file(const std::string& suite) { return suite.find_first_of("/.") != std::string::npos; }
std::string suite_path(const std::string& given) {
  const std::string name = given.empty() ? "cloud" : given;
  return is_file(name) ? name : shipped_file("suites/" + name + ".json");
}

// A suite without --here is profiled; on Slurm, too.
bool profiles_wanted(const CollectArguments& arguments) { return !arguments.suite.empty() && !arguments.here; }

SuiteTools find_tools(const CollectArguments& arguments, const std::string& work_folder) {
  SuiteTools tools;
  tools.work_folder = work_folder;
  const auto why = [](const Error& error) { return error.message + ": " + error.expected; };
  if (auto found = find_stress_ng(arguments.stress_ng)) {
    tools.stress_ng = std::move(*found);
  } else {
    tools.why_not["stress-ng"] = why(found.error());
  }
  if (auto found = find_harness(arguments.harness)) {
    tools.harness = std::move(*found);
  } else {
    tools.why_not["harness"] = why(found.error());
  }
  return tools;
}

// --list: what would be run, and what would not and why.
std::vector<SuiteOutcome> plan(const Suite& suite, const SuiteRunner& runner) {
  std::vector<SuiteOutcome> rows;
  for (const SuiteProgram& entry : suite.programs) {
    if (!runner.chosen(entry)) continue;
    SuiteOutcome row;
    row.program = entry.program.id;
    const auto why = runner.obstacle(entry);
    row.status = why ? why->status : "runs";
    row.reason = why ? why->reason : entry.note;
    rows.push_back(std::move(row));
  }
  return rows;
}

int write_collected(const Suite& suite, const std::vector<CollectedProgram>& programs, const CommonOptions& common) {
  return write_result(common.json ? to_text(collected_as_json(suite, programs)) : collected_as_text(suite, programs),
                      common);
}

int refuse(const std::string& message, const std::string& expected, const CommonOptions& common) {
  return report_error(usage_error("bad-usage", message, "", expected), common);
}

// What each task of a campaign runs, without what belongs to the task alone.
std::vector<std::string> task_command(const CollectArguments& arguments) {
  std::error_code problem;
  const auto absolute = [&](const std::string& path) { return std::filesystem::absolute(path, problem).string(); };
  std::vector<std::string> command = {std::filesystem::read_symlink("/proc/self/exe", problem).string(), "collect",
                                      "--suite", absolute(suite_path(arguments.suite)), "--quiet"};
  if (!profiles_wanted(arguments)) command.emplace_back("--here");
  if (!arguments.stress_ng.empty()) command.insert(command.end(), {"--stress-ng", absolute(arguments.stress_ng)});
  if (!arguments.harness.empty()) command.insert(command.end(), {"--harness", absolute(arguments.harness)});
  if (arguments.again) command.emplace_back("--again");
  if (arguments.sampled) command.emplace_back("--sampled");
  if (arguments.any_version) command.emplace_back("--any-version");
  if (arguments.include_excluded) command.emplace_back("--include-excluded");
  command.insert(command.end(),
                 {"--repeats", std::to_string(arguments.repeats), "--run-limit", fmt::format("{}", arguments.limit_s)});
  return command;
}

// Sleeps, unless a signal comes.
Status wait_or_interrupt(double seconds) {
  pollfd descriptor{InterruptGuard::descriptor(), POLLIN, 0};
  poll(&descriptor, 1, static_cast<int>(1000 * seconds));
  if (interrupting_signal() == 0) return {};
  return interrupted_error("interrupted; the tasks go on in Slurm", "", "the same command again: it goes on, too");
}

int run_campaign(const Suite& suite, const CollectArguments& arguments, const CommonOptions& common) {
  if (arguments.retime || arguments.list || !arguments.profiles.empty() || !arguments.windows.empty()) {
    return refuse("--retime, --list, --profiles and --windows are not for a campaign through Slurm",
                  "--campaign FOLDER has the profiles of each partition", common);
  }
  auto store = program::CorpusStore::open(common.corpus);
  if (!store) return report_error(store.error(), common);
  auto known = (*store)->load();
  if (!known) return report_error(known.error(), common);

  CampaignOptions options;
  std::error_code problem;
  const std::string folder = arguments.campaign.empty() ? in_user_data("campaigns/" + suite.name) : arguments.campaign;
  options.folder = std::filesystem::absolute(folder, problem).string();
  for (const std::string& name : split(arguments.slurm, ',')) options.partitions.emplace_back(trim(name));
  options.only = arguments.only;
  options.include_excluded = arguments.include_excluded;
  options.profile = profiles_wanted(arguments);
  options.again = arguments.again;
  options.wait = !arguments.no_wait;
  options.exclusive = !arguments.shared;
  options.lag_s = arguments.lag_s;
  options.task_command = task_command(arguments);
  options.sbatch_options = arguments.sbatch;
  const auto merge = [&](const std::string& partition, const std::string& path) -> Status {
    auto task = program::CorpusStore::open_read_only(path);
    if (!task) return task.error();
    auto rows = (*task)->load();
    if (!rows) return rows.error();
    const program::Corpus settled = partition_rows(std::move(*rows), partition, *known);
    if (Status status = (*store)->merge(settled); !status) return status;
    known->platforms.insert(known->platforms.end(), settled.platforms.begin(), settled.platforms.end());
    return {};
  };
  SlurmCampaign campaign(suite, options, real_slurm_client(), wait_or_interrupt);
  const auto rows = [&] {
    ProgressLine line(common);
    return campaign.run(merge, [&](const std::string& text) { line.show(text); });
  }();
  if (!rows) {
    return report_error(rows.error(), common);
  }
  if (rows->empty()) {
    return refuse("no program of the suite matches --only " + join(arguments.only, " "), "perfcast collect --list",
                  common);
  }
  std::vector<CollectedProgram> programs;
  programs.reserve(rows->size());
  for (const CampaignRow& row : *rows) programs.push_back({row.outcome, row.partition});
  return write_collected(suite, programs, common);
}

int run_collect(const CommandContext& context, const CollectArguments& arguments) {
  const CommonOptions& common = context.options;
  const bool on_slurm = !arguments.slurm.empty();
  if (arguments.suite.empty() && !arguments.here && !on_slurm) {
    return refuse("nothing to collect", "--suite cloud (profiles), or --here (times of this machine)", common);
  }
  if (!on_slurm &&
      (arguments.no_wait || arguments.shared || !arguments.campaign.empty() || !arguments.sbatch.empty())) {
    return refuse("--no-wait, --shared-nodes, --campaign and --sbatch-option are of a campaign through Slurm",
                  "--slurm PARTITION,... with them", common);
  }
  if (is_file(arguments.suite)) {
    if (const Status there = check_named_file("--suite", arguments.suite); !there) {
      return report_error(there.error(), common);
    }
  }
  const auto suite = read_suite(suite_path(arguments.suite));
  if (!suite) return report_error(suite.error(), common);

  const InterruptGuard guard;
  if (on_slurm) return run_campaign(*suite, arguments, common);
  const auto work = TempFolder::create();
  if (!work) return report_error(work.error(), common);
  SuiteOptions options;
  options.folder = arguments.profiles.empty() ? in_user_data("profiles/" + suite->name) : arguments.profiles;
  options.only = arguments.only;
  options.again = arguments.again;
  options.sampled = arguments.sampled;
  options.trace_folder = arguments.windows;
  options.core_designs = shipped_core_designs();
  options.retime = arguments.retime;
  options.any_version = arguments.any_version;
  options.include_excluded = arguments.include_excluded;
  options.times_only = arguments.here;
  options.native_repeats = arguments.repeats;
  options.limit_s = arguments.limit_s;
  const SuiteTools tools = find_tools(arguments, work->path());
  SuiteRunner runner(*suite, options, tools, SuiteRunner::real_actions());
  const bool any_chosen = std::any_of(suite->programs.begin(), suite->programs.end(),
                                      [&](const SuiteProgram& entry) { return runner.chosen(entry); });
  if (!any_chosen) {
    return refuse("no program of the suite matches --only " + join(arguments.only, " "), "perfcast collect --list",
                  common);
  }
  if (arguments.list) {
    const auto rows = plan(*suite, runner);
    return write_collected(*suite, of_this_machine(rows), common);
  }

  std::unique_ptr<program::CorpusStore> store;
  if (arguments.corpus_given || arguments.here) {
    auto opened = program::CorpusStore::open(common.corpus);
    if (!opened) return report_error(opened.error(), common);
    store = std::move(*opened);
  }
  if (!arguments.here) {
    for (const std::string& folder : {options.folder, options.trace_folder}) {
      std::error_code problem;
      if (!folder.empty()) std::filesystem::create_directories(folder, problem);
      if (problem) {
        return report_error(
            {"file-error", "can't create the folder: " + problem.message(), folder, "a FOLDER that you may write"},
            common);
      }
    }
  }
  const auto outcomes = [&] {
    ProgressLine line(common);
    return runner.run(
        [&](const SuiteProgram& entry, const Profile& profile) {
          return store == nullptr ? Status() : store->merge(program::profile_rows(entry, profile));
        },
        [&](const std::string& text) { line.show(text); });
  }();
  if (!outcomes) {
    return report_error(outcomes.error(), common);
  }
  if (arguments.here) {
    const auto known = store->load();
    if (!known) return report_error(known.error(), common);
    const program::Corpus rows = program::host_rows(*suite, *outcomes, read_host_facts(), *known);
    if (const Status status = store->merge(rows); !status) return report_error(status.error(), common);
  }
  return write_collected(*suite, of_this_machine(*outcomes), common);
}

}  // namespace

void add_collect_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<CollectArguments>();
  CLI::App* verb =
      add_verb(app, {"collect",
                     "Measures a suite of programs for the corpus, the database that models learn from.",
                     "",
                     {"perfcast collect --suite cloud --list", "perfcast collect --here --suite apps --corpus mine.db"},
                     "collect"});
  verb->footer(
      "perfcast writes each profile as soon as it is complete. If you stop it, the same command continues later. It "
      "skips a program if its tool is missing, or if stress-ng here has another version than in the known times. It "
      "lists what it skipped, with the reason. It also leaves out programs whose work depends on the machine; the "
      "suite file says which.\nWith --here, this machine becomes a platform of the corpus, with the times of the "
      "suite's programs. With --slurm, the nodes of each partition become platforms. Results are merged as they "
      "arrive.");
  add_basic(*verb, "--suite", arguments->suite, "NAME|FILE",
            "The programs to run: cloud, apps, or your own suite file.");
  add_basic(*verb, "--here", arguments->here,
            "Times the programs natively and adds this machine to the corpus as a platform.");
  add_basic(*verb, "--slurm", arguments->slurm, "PARTITION,...",
            "Runs the suite on a node of each of these Slurm partitions, as a job array.");
  add_advanced(*verb, "--campaign", arguments->campaign, "FOLDER",
               "With --slurm: the folder for jobs and results, which the nodes must share. Default: campaigns/SUITE in "
               "your data folder.");
  add_advanced(*verb, "--no-wait", arguments->no_wait,
               "Submits what is missing, merges what is done, and ends. Run the same command again to continue.");
  add_advanced(*verb, "--shared-nodes", arguments->shared,
               "Lets tasks share a node with other jobs. The times get less accurate.");
  takes_duration(add_advanced(*verb, "--folder-lag", arguments->lag_s, "TIME",
                              "Waits this long for the result of a task that has ended, since shared folders lag "
                              "behind. After that the task counts as failed."),
                 true)
      ->capture_default_str();
  add_advanced(*verb, "--sbatch-option", arguments->sbatch, "OPTION",
               "Passes a further option to sbatch, such as --qos=low. Repeatable.")
      ->allow_extra_args(false);
  add_advanced(*verb, "--stress-ng", arguments->stress_ng, "FILE", "The stress-ng program. Default: the one in PATH.");
  add_advanced(*verb, "--harness", arguments->harness, "FILE",
               "The program perfcast-harness. Default: the one beside perfcast, or in PATH.");
  add_basic(*verb, "--only", arguments->only, "PATTERN",
            "Runs only the programs that match, such as 'compress.*'. Repeatable.");
  add_basic(*verb, "--profiles", arguments->profiles, "FOLDER",
            "Keeps the profiles in this folder. Default: profiles/SUITE in your data folder.");
  add_basic(*verb, "--list", arguments->list, "Runs nothing. Says which programs would run, and why others would not.");
  add_advanced(*verb, "--again", arguments->again, "Also runs programs that have a valid profile already.");
  add_advanced(*verb, "--retime", arguments->retime,
               "Times programs again even if they have a valid profile, and keeps the faster time.");
  add_advanced(*verb, "--sampled", arguments->sampled,
               "Samples each run, as predict does, so that you can see what sampling costs in accuracy. Default: exact "
               "profiles.");
  add_advanced(*verb, "--windows", arguments->windows, "FOLDER",
               "Writes a trace of each program into this folder, for perfcast cores.");
  add_advanced(*verb, "--any-version", arguments->any_version,
               "Accepts another version of stress-ng. The profiles say so.");
  add_advanced(*verb, "--include-excluded", arguments->include_excluded,
               "Also runs the programs that the suite leaves out.");
  add_basic(*verb, "--repeats", arguments->repeats, "N", "Times each program natively this often.")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  takes_duration(add_basic(*verb, "--run-limit,--limit", arguments->limit_s, "TIME",
                           "Ends the profile of any one program after this time, such as 15m."))
      ->capture_default_str();
  add_common_options(*verb, context, kCorpusOption | kQuietOption);
  const CLI::Option* corpus = verb->get_option("--corpus");
  verb->callback([arguments, corpus, &context] {
    arguments->corpus_given = corpus->count() > 0;
    context.run = [arguments, &context] { return run_collect(context, *arguments); };
  });
}

}  // namespace perfcast::cli
