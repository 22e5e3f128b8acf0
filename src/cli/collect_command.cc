// perfcast collect: the programs of a suite, timed and profiled on this machine.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "collect/host_facts.h"
#include "collect/interrupt.h"
#include "collect/suite_corpus.h"
#include "collect/suite_runner.h"
#include "collect/temp_folder.h"
#include "corpus/store.h"

namespace perfcast {
namespace {

constexpr int kExitBySignal = 128;

struct CollectArguments {
  std::string suite, profiles, stress_ng, harness, slurm;
  std::vector<std::string> only;
  bool here = false, list = false, again = false, retime = false, any_version = false, include_excluded = false;
  bool corpus_given = false;
  int repeats = 2;
  double limit_s = 900;
};

// "cloud" is the shipped suite of that name; anything with a slash or a dot is a file.
std::string suite_path(const std::string& name) {
  const bool is_file = name.find_first_of("/.") != std::string::npos;
  return is_file ? name : shipped_file("suites/" + name + ".json");
}

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

std::string rate_of(const Suite& suite, const SuiteOutcome& outcome) {
  const SuiteProgram* entry = suite.find(outcome.program);
  if (!outcome.time_per_unit_s || entry == nullptr) return "";
  return human_number(1 / *outcome.time_per_unit_s) + " " + entry->program.work_unit + "s/s";
}

std::string as_text(const Suite& suite, const std::vector<SuiteOutcome>& outcomes) {
  TextTable table;
  table.add_column("program", TextTable::Align::kLeft);
  table.add_column("status", TextTable::Align::kLeft);
  table.add_column("rate by CPU time", TextTable::Align::kRight);
  table.add_column("spread", TextTable::Align::kRight);
  table.add_column("note", TextTable::Align::kLeft);
  std::map<std::string, int> counts;
  for (const SuiteOutcome& outcome : outcomes) {
    ++counts[outcome.status];
    table.add_row({outcome.program, outcome.status, rate_of(suite, outcome),
                   outcome.spread_ratio ? fmt::format("{:.1f}%", 100 * *outcome.spread_ratio) : "",
                   printable(outcome.reason)});
  }
  std::string text = table.to_text() + "\n";
  for (const auto& [status, count] : counts) text += fmt::format("{} {}  ", count, status);
  return std::string(trim(text)) + "\n";
}

Json as_json(const Suite& suite, const std::vector<SuiteOutcome>& outcomes) {
  Json json;
  json["schema"] = "perfcast.collection/1";
  json["suite"] = suite.name;
  json["programs"] = Json::array();
  for (const SuiteOutcome& outcome : outcomes) {
    Json row{{"id", outcome.program}, {"status", outcome.status}};
    if (!outcome.reason.empty()) row["reason"] = outcome.reason;
    if (outcome.time_per_unit_s) row["time_per_unit_s"] = *outcome.time_per_unit_s;
    if (outcome.spread_ratio) row["spread_ratio"] = *outcome.spread_ratio;
    row["took_s"] = outcome.seconds_s;
    json["programs"].push_back(std::move(row));
  }
  return json;
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

int refuse(const std::string& message, const std::string& expected, const CommonOptions& common) {
  return report_error({"bad-usage", message, "", expected}, common);
}

int run_collect(const CommandContext& context, const CollectArguments& arguments) {
  const CommonOptions& common = context.options;
  if (!arguments.slurm.empty()) {
    return refuse("collecting through Slurm is not available yet", "perfcast collect --here, run on each machine",
                  common);
  }
  if (arguments.suite.empty() && !arguments.here) {
    return refuse("nothing to collect", "--suite cloud (profiles), or --here (times of this machine)", common);
  }
  const auto suite = read_suite(suite_path(arguments.suite.empty() ? "cloud" : arguments.suite));
  if (!suite) return report_error(suite.error(), common);

  const InterruptGuard guard;
  const auto work = TempFolder::create();
  if (!work) return report_error(work.error(), common);
  SuiteOptions options;
  options.folder = arguments.profiles.empty() ? user_data_folder() + "/profiles/" + suite->name : arguments.profiles;
  options.only = arguments.only;
  options.again = arguments.again;
  options.retime = arguments.retime;
  options.any_version = arguments.any_version;
  options.include_excluded = arguments.include_excluded;
  options.times_only = arguments.here;
  options.native_repeats = arguments.repeats;
  options.limit_s = arguments.limit_s;
  const SuiteTools tools = find_tools(arguments, work->path());
  SuiteRunner runner(*suite, options, tools, SuiteRunner::real_actions());
  if (arguments.list) {
    const auto rows = plan(*suite, runner);
    return write_result(common.json ? to_text(as_json(*suite, rows)) : as_text(*suite, rows), common);
  }
  const bool any_chosen = std::any_of(suite->programs.begin(), suite->programs.end(),
                                      [&](const SuiteProgram& entry) { return runner.chosen(entry); });
  if (!any_chosen) {
    return refuse("no program of the suite matches --only " + join(arguments.only, " "), "perfcast collect --list",
                  common);
  }

  std::unique_ptr<CorpusStore> store;
  if (arguments.corpus_given || arguments.here) {
    auto opened = CorpusStore::open(common.corpus);
    if (!opened) return report_error(opened.error(), common);
    store = std::move(*opened);
  }
  if (!arguments.here) {
    std::error_code problem;
    std::filesystem::create_directories(options.folder, problem);
    if (problem) {
      return report_error({"file-error", "can't create the folder of the profiles", options.folder,
                           "--profiles FOLDER that you may write"},
                          common);
    }
  }
  const auto outcomes = [&] {
    ProgressLine line(common);
    return runner.run(
        [&](const SuiteProgram& entry, const Profile& profile) {
          return store == nullptr ? Status() : store->merge(profile_rows(entry, profile));
        },
        [&](const std::string& text) { line.show(text); });
  }();
  if (!outcomes) {
    const int code = report_error(outcomes.error(), common);
    return outcomes.error().code == "interrupted" ? kExitBySignal + interrupting_signal() : code;
  }
  if (arguments.here) {
    const auto known = store->load();
    if (!known) return report_error(known.error(), common);
    const Corpus rows = host_rows(*suite, *outcomes, read_host_facts(), *known);
    if (const Status status = store->merge(rows); !status) return report_error(status.error(), common);
  }
  return write_result(common.json ? to_text(as_json(*suite, *outcomes)) : as_text(*suite, *outcomes), common);
}

}  // namespace

void add_collect_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<CollectArguments>();
  CLI::App* verb = app.add_subcommand("collect", "Profile or time the programs of a suite on this machine");
  verb->footer(
      "Each profile is written as it is complete; a run that was stopped goes on where it was. Programs whose tool is\n"
      "missing, or whose stress-ng is of another version than the labels', are skipped and listed with the reason;\n"
      "programs that are no comparison between machines are excluded by the rules that the suite file states.\n"
      "With --here the corpus learns this machine as a platform with the times of the suite's programs.");
  verb->add_option("--suite", arguments->suite, "Suite: cloud, or a suite file");
  verb->add_flag("--here", arguments->here, "Time the suite natively and add this machine to the corpus");
  verb->add_option("--slurm", arguments->slurm, "Partitions to collect on (not available yet)");
  verb->add_option("--stress-ng", arguments->stress_ng, "The stress-ng program; by PATH where absent");
  verb->add_option("--harness", arguments->harness, "perfcast-harness; beside perfcast or by PATH where absent");
  verb->add_option("--only", arguments->only, "Programs by pattern, such as 'compress.*'; may be repeated");
  verb->add_option("--profiles", arguments->profiles,
                   "Folder of the profiles; default: profiles/SUITE in the user's data folder");
  verb->add_flag("--list", arguments->list, "Only say which programs would be run, and why others would not");
  verb->add_flag("--again", arguments->again, "Also programs that have a valid profile already");
  verb->add_flag("--retime", arguments->retime,
                 "Time programs that have a valid profile again; the faster time is kept");
  verb->add_flag("--any-version", arguments->any_version, "Take a stress-ng of another version; profiles say so");
  verb->add_flag("--include-excluded", arguments->include_excluded, "Also programs that are no comparison");
  verb->add_option("--repeats", arguments->repeats, "Timed native runs of each program")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  verb->add_option("--limit", arguments->limit_s, "Seconds that one program's profile may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_common_options(*verb, context);
  const CLI::Option* corpus = verb->get_option("--corpus");
  verb->callback([arguments, corpus, &context] {
    arguments->corpus_given = corpus->count() > 0;
    context.run = [arguments, &context] { return run_collect(context, *arguments); };
  });
}

}  // namespace perfcast
