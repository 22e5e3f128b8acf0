// perfcast compare: is B slower than A, by runs in turns, by counts, by files of results; and since which revision.

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/process/interrupt.h"
#include "base/process/temp_folder.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/measure/compare_across.h"
#include "cli/measure/compare_request.h"
#include "cli/option_table.h"
#include "cli/shared/around_options.h"
#include "cli/shared/named_file.h"
#include "measure/compare/comparison_report.h"
#include "measure/compare/counts.h"
#include "measure/compare/result_file.h"
#include "measure/compare/revision_report.h"
#include "measure/compare/session_report.h"
#include "measure/compare/turns.h"
#include "profile/collect/native/host_facts.h"
#include "program/forecast/forecast.h"

namespace perfcast::cli {
namespace {

int exit_status_of(const measure::Comparison& comparison) {
  if (comparison.interrupted) return kExitBySignal + interrupting_signal();
  if (comparison.verdict == measure::CompareVerdict::kSlower) return kExitRegression;
  return comparison.verdict == measure::CompareVerdict::kUnclear ? kExitUnclear : kExitDone;
}

int report_failure(Error error, const CommonOptions& options) {
  if (error.code == "program-failed") error.expected += ", or --accept-failure";
  if (error.code == "limit-reached" && error.where.empty()) error.where = "--run-limit";
  return report_error(error, options);
}

int print(const measure::Comparison& comparison, const measure::CommandTexts& texts, const CompareArguments& arguments,
          const CommonOptions& options) {
  const int written = write_result(options.json ? to_text(measure::comparison_json(comparison, texts))
                                                : measure::comparison_text(comparison, texts, arguments.markdown),
                                   options);
  return written == kExitDone ? exit_status_of(comparison) : written;
}

// Two files of times, runs of which were not in turns.
int compare_files(const std::array<measure::ComparedFile, 2>& files, const CompareArguments& arguments,
                  const CommonOptions& options) {
  const auto request = session_request(arguments);
  if (!request) return report_error(request.error(), options);
  auto comparison = measure::compare_sessions(files[0].results, files[1].results, *request);
  if (!comparison) return report_error(comparison.error(), options);
  if (files[0].profile && files[1].profile) {
    if (Status added = measure::add_profile_facts(*files[0].profile, *files[1].profile, *comparison); !added)
      return report_error(added.error(), options);
  }
  const measure::CommandTexts texts = {arguments.a, arguments.b};
  const int written = write_result(options.json ? to_text(measure::comparison_json(*comparison, texts))
                                                : measure::comparison_text(*comparison, texts, arguments.markdown),
                                   options);
  if (written != kExitDone) return written;
  if (comparison->any(measure::CompareVerdict::kSlower)) return kExitRegression;
  return comparison->any(measure::CompareVerdict::kUnclear) ? kExitUnclear : kExitDone;
}

// Counts of a profile, or of an earlier comparison's B, stand for the command; only counts can be compared with those
// of another time.
Status take_recorded(const std::array<std::optional<measure::ComparedFile>, 2>& files,
                     const CompareArguments& arguments, measure::CompareRequest& request) {
  for (size_t i = 0; i < 2; ++i) {
    if (!files[i]) continue;
    const std::string& path = files[i]->results.path;
    if (files[i]->counts) {
      request.recorded[i] = *files[i]->counts;
      continue;
    }
    if (!files[i]->profile) {
      // A path that names no file of results is most often a mistyped one.
      const std::string& other = i == 0 ? arguments.b : arguments.a;
      if (other.find(' ') == std::string::npos && other.ends_with(".json")) {
        return usage_error("file-not-found", "'" + printable(other) + "' is no file of results", i == 0 ? "B" : "A",
                           "the path of an existing file of results, which is not empty");
      }
      return usage_error("bad-usage", "'" + printable(path) + "' holds times, and the other is a command",
                         i == 0 ? "A" : "B", "two files, two commands, or a profile or comparison beside a command");
    }
    auto counts = measure::counts_of(*files[i]->profile, path);
    if (!counts) return counts.error();
    request.recorded[i] = std::move(*counts);
  }
  return {};
}

// The user's folder for trees, or one that goes when the comparison ends.
struct TreeFolder {
  std::optional<TempFolder> own;
  std::string path;
};
Result<TreeFolder> make_tree_folder(const std::string& given) {
  TreeFolder folder;
  if (given.empty()) {
    auto made = TempFolder::create(" \t'\"$`\\");
    if (!made) return made.error();
    folder.own.emplace(std::move(*made));
    folder.path = folder.own->path();
    return folder;
  }
  std::error_code problem;
  std::filesystem::create_directories(given, problem);
  if (problem)
    return environment_error("cannot-write", "cannot make the folder: " + problem.message(), given,
                             "--trees with a folder that you may write");
  folder.path = given;
  return folder;
}

class CompareRun {
 public:
  CompareRun(const CompareArguments& arguments, const CommonOptions& options)
      : arguments_(arguments), options_(options) {}

  int run() {
    for (const auto& [option, path] : {std::pair{"--log", arguments_.log}, {"-o", options_.output}}) {
      if (Status writable = check_output_file(option, path); !writable) return report_error(writable.error(), options_);
      if (Status kept = check_not_read(option, path, {arguments_.a, arguments_.b}); !kept)
        return report_error(kept.error(), options_);
    }
    if (Status fresh = check_new_file("--log", arguments_.log); !fresh) return report_error(fresh.error(), options_);
    if (Status understood = check_across(arguments_); !understood) return report_error(understood.error(), options_);
    if (arguments_.across) return run_across(arguments_, options_);
    if (!arguments_.at.empty() || !arguments_.build.empty()) return compare_builds();
    if (arguments_.bisect || !arguments_.trees.empty()) {
      return report_error(usage_error("bad-usage", "without revisions there is nothing to look through",
                                      arguments_.bisect ? "--bisect" : "--trees", "--build COMMAND --at OLD --at NEW"),
                          options_);
    }
    if (arguments_.b.empty()) {
      return report_error(
          usage_error("bad-usage", "B is missing", "B", "a second command or file, or --build and --at"), options_);
    }
    std::array<std::optional<measure::ComparedFile>, 2> files;
    for (size_t i = 0; i < 2; ++i) {
      const std::string& text = i == 0 ? arguments_.a : arguments_.b;
      if (!measure::is_compared_file(text)) continue;
      auto file = measure::read_compared_file(text);
      if (!file) return report_error(file.error(), options_);
      if (file->profile) {
        if (Status ran = program::check_success(*file->profile, arguments_.accept_failure); !ran)
          return report_error(ran.error(), options_);
      }
      files[i] = std::move(*file);
    }
    const bool have_times = files[0] && files[1] && !files[0]->counts && !files[1]->counts;
    if (have_times && !arguments_.by_counts()) return compare_files({*files[0], *files[1]}, arguments_, options_);
    if (!arguments_.between_sessions.empty()) {
      return report_error(usage_error("bad-usage", "what is compared are not times of two files", "--between-sessions",
                                      "two files of results"),
                          options_);
    }
    return compare_commands(files);
  }

 private:
  template <typename Work>
  auto with_progress(measure::CompareRequest& request, const Work& work) {
    ProgressLine line(options_);
    request.progress = [&line](const std::string& text) { line.show(text); };
    auto result = work();
    request.progress = nullptr;
    return result;
  }

  // With the host, as it may be compared with another's later.
  int print_with_host(measure::Comparison comparison, const measure::CommandTexts& texts) const {
    if (comparison.pairs > 0) comparison.host = read_host_facts();
    return print(comparison, texts, arguments_, options_);
  }

  Status open_log(measure::CompareRequest& request) {
    if (arguments_.log.empty()) return {};
    if (Status opened = log_.open_at(arguments_.log); !opened) return opened;
    request.record = [this](const measure::ComparedRun& of) { return log_.add(of); };
    return {};
  }

  int compare_commands(const std::array<std::optional<measure::ComparedFile>, 2>& files) {
    auto request = compare_request(arguments_, options_);
    if (!request) return report_error(request.error(), options_);
    if (Status taken = take_recorded(files, arguments_, *request); !taken) return report_error(taken.error(), options_);
    const bool has_record = files[0] || files[1];
    if (has_record && arguments_.measure_given && !arguments_.by_counts()) {
      return report_error(usage_error("bad-usage", "times of a file and of a command are not of one session",
                                      "--measure", "--measure instructions, or two commands"),
                          options_);
    }
    if (Status opened = open_log(*request); !opened) return report_error(opened.error(), options_);
    const InterruptGuard guard;
    const Result<measure::Comparison> comparison = with_progress(*request, [&] {
      return has_record || arguments_.by_counts() ? measure::compare_counts(*request)
                                                  : measure::compare_in_turns(*request);
    });
    if (!comparison) return report_failure(comparison.error(), options_);
    return print_with_host(*comparison, {arguments_.a, arguments_.b});
  }

  int compare_builds() {
    CompareArguments arguments = arguments_;
    if (arguments.b.empty()) arguments.b = arguments.a;
    auto request = revision_request(arguments, options_);
    if (!request) return report_error(request.error(), options_);
    const InterruptGuard guard;
    const auto repository = measure::Repository::open();
    if (!repository) return report_error(repository.error(), options_);
    for (size_t i = 0; i < 2; ++i) {
      auto revision = repository->resolve(arguments.at[i]);
      if (!revision) return report_error(revision.error(), options_);
      (i == 0 ? request->a : request->b) = std::move(*revision);
    }
    const auto trees = make_tree_folder(request->trees);
    if (!trees) return report_error(trees.error(), options_);
    request->trees = trees->path;
    if (Status opened = open_log(request->comparison); !opened) return report_error(opened.error(), options_);
    const measure::CommandTexts texts = {measure::revision_text(arguments.at[0], request->a, arguments.a),
                                         measure::revision_text(arguments.at[1], request->b, arguments.b)};
    if (!arguments.bisect) {
      const auto comparison =
          with_progress(request->comparison, [&] { return measure::compare_revisions(*repository, *request); });
      return comparison ? print_with_host(*comparison, texts) : report_failure(comparison.error(), options_);
    }
    const auto search =
        with_progress(request->comparison, [&] { return measure::find_first_slow(*repository, *request); });
    if (!search) return report_failure(search.error(), options_);
    const int written = write_result(options_.json ? to_text(measure::search_json(*search, texts))
                                                   : measure::search_text(*search, texts, arguments.markdown),
                                     options_);
    return written == kExitDone ? exit_status_of(search->ends) : written;
  }

  const CompareArguments& arguments_;
  const CommonOptions& options_;
  RunLog log_;
};

void add_options(CLI::App& verb, CompareArguments& arguments) {
  add_basic(verb, "A", arguments.a, "A",
            "The old command, in quotes; or a file of its results (hyperfine, Google Benchmark, pytest-benchmark, "
            "JMH); or a profile.")
      ->required();
  add_basic(verb, "B", arguments.b, "B", "The new command or file.");
  add_basic(verb, "--measure", arguments.measure, "wall|cpu|instructions",
            "What is compared: wall time, CPU time, or the number of instructions. Instructions need only two runs of "
            "each command, and the machine may be busy. If the times are not clear, the instructions decide.")
      ->check(CLI::IsMember({"wall", "cpu", "instructions"}))
      ->capture_default_str();
  add_basic(verb, "--time-limit,--budget", arguments.budget, "TIME",
            "Ends the comparison after this time. The time of runs under the emulator counts, too.")
      ->capture_default_str();
  add_basic(verb, "--threshold", arguments.threshold, "PERCENT",
            "The slowdown of B that you accept. If B is slower than that, the exit status is 3.")
      ->capture_default_str();
  add_advanced(verb, "--error", arguments.error, "RATE",
               "How often perfcast may call two equal programs different, as a share of comparisons.")
      ->check(CLI::Range(1e-6, 0.5))
      ->capture_default_str();
  add_advanced(verb, "--warmups", arguments.warmups, "N", "Runs each command this often before it measures.")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  add_advanced(verb, "--counted-runs", arguments.counted_runs, "N",
               "Runs each command this often under an emulator that counts instructions. 0 skips it.")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  add_basic(verb, "--run-limit,--limit", arguments.limit, "TIME", "Ends any single run after this time, such as 60s.");
  add_around_options(verb, arguments.around);
  add_advanced(verb, "--log", arguments.log, "FILE", "Writes a line of JSON for each run, as it ends.");
  add_advanced(verb, "--accept-failure", arguments.accept_failure, "Also counts runs that fail.");
  add_advanced(verb, "--between-sessions", arguments.between_sessions, "PERCENT",
               "With two files of results: how much the times of the same code differ from one session to another (one "
               "standard deviation), such as 2%.");
  add_basic(verb, "--across", arguments.across,
            "Compares files of results from two machines. It says how much of the difference comes from the machines, "
            "and whether the rest is a change of the program.");
  add_advanced(verb, "--host-a", arguments.host_a, "HOST",
               "With --across: A's machine, if file A does not name it: a CPU model, an instance type such as "
               "aws:m7g.large, or a file with the output of lscpu.");
  add_advanced(verb, "--host-b", arguments.host_b, "HOST", "With --across: B's machine, if file B does not name it.");
  add_advanced(verb, "--earlier", arguments.earlier, "FILE",
               "With --across: an earlier result of A's version on B's CPU model. Repeatable.")
      ->allow_extra_args(false);
  add_advanced(
      verb, "--profile", arguments.profile, "FILE",
      "With --across: the program's profile. perfcast forecasts from it how the two machines differ for this program.");
  add_advanced(verb, "--kind", arguments.kind, "GROUP",
               "With --across and no profile: judges how the two machines differ by programs of this kind, such as "
               "application or compressor.")
      ->capture_default_str();
  add_basic(verb, "--at", arguments.at, "REVISION",
            "A revision of this git repository. Give two, the older one first, with --build.")
      ->allow_extra_args(false);
  add_basic(verb, "--build", arguments.build, "LINE",
            "The shell line that builds a revision. It runs in the top folder of that revision's files. {tree} in A "
            "stands for that folder.");
  add_advanced(verb, "--build-limit", arguments.build_limit, "TIME", "Ends a build after this time.");
  add_advanced(verb, "--trees", arguments.trees, "FOLDER",
               "Keeps each revision's files in this folder, so that the next build is faster.");
  add_basic(verb, "--bisect", arguments.bisect, "Finds the first slow revision between the two of --at.");
  add_advanced(verb, "--markdown", arguments.markdown, "Prints the result as Markdown, for a pull request.");
}

}  // namespace

void add_compare_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* verb = add_verb(app, {"compare",
                                  "Says whether B is slower than A: two commands, revisions or result files.",
                                  "",
                                  {"perfcast compare './old input.dat' './new input.dat'",
                                   "perfcast compare --across old.json new.json --host-b aws:m7g.large",
                                   "perfcast compare '{tree}/prog' --build 'make -j4' --at v1.0 --at HEAD --bisect"},
                                  "compare"});
  verb->footer(
      "perfcast runs A and B in turns, in random order, until the answer is clear or the time is up. It also counts "
      "the instructions of both. The commands get empty input, and their output is discarded.\nExit status: 3 if B is "
      "slower by more than the threshold, 4 if the answer is not clear, else 0.");
  add_options(*verb, *arguments);
  add_common_options(*verb, context, kQuietOption | kSeedOption | kBundleOption);
  verb->callback([arguments, verb, &context] {
    arguments->measure_given = verb->count("--measure") > 0;
    arguments->time_limit_given = verb->count("--time-limit") > 0;
    context.run = [arguments, &context] { return CompareRun(*arguments, context.options).run(); };
  });
}

}  // namespace perfcast::cli
