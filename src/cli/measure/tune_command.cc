// perfcast tune: the best setting of a command's knobs, and what it gains.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process/duration.h"
#include "base/process/interrupt.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/around_options.h"
#include "cli/shared/named_file.h"
#include "measure/tune/replay/replayed_tuning.h"
#include "measure/tune/report/html_report.h"
#include "measure/tune/report/tuning_report.h"
#include "measure/tune/run/tuner.h"
#include "measure/tune/space/knob_words.h"

namespace perfcast::cli {
namespace {

constexpr size_t kLargestFileBytes = size_t{64} << 20;

struct TuneArguments {
  std::string space = "tune.json", replay, record, log, report, budget = "5m", limit, share, strategy = "surrogate";
  std::vector<std::string> warm_start, knobs;
  int64_t trials = 0, seeds = 1, repeats = 3;
  bool resume = false, space_given = false;
  AroundRun around;
  const CLI::App* verb = nullptr;  // knows which options were given
};

Result<double> parse_share(const std::string& text) {
  const bool is_percent = text.ends_with('%');
  const auto value = parse_number(trim(is_percent ? text.substr(0, text.size() - 1) : text));
  if (value && *value > 0 && *value <= (is_percent ? 100 : 1)) return is_percent ? *value / 100 : *value;
  return usage_error("bad-usage", "'" + printable(text) + "' is no share of a space", "--share", "such as 5% or 0.05");
}

class TuneRun {
 public:
  TuneRun(const TuneArguments& arguments, const CommandContext& context)
      : arguments_(arguments), context_(context), options_(context.options) {}

  int run() {
    const Status checked = check();
    if (!checked) return report_error(checked.error(), options_);
    return arguments_.replay.empty() ? run_command() : run_replay();
  }

 private:
  Status check() const {
    for (const auto& [option, path] : {std::pair{"--log", arguments_.log},
                                       {"--report", arguments_.report},
                                       {"--record", arguments_.record},
                                       {"-o", options_.output}}) {
      if (Status writable = check_output_file(option, path); !writable) return writable;
      std::vector<std::string> read = arguments_.warm_start;
      if (arguments_.knobs.empty()) read.push_back(arguments_.replay.empty() ? arguments_.space : arguments_.replay);
      if (std::string_view(option) != "--log") read.push_back(arguments_.log);
      if (Status kept = check_not_read(option, path, read); !kept) return kept;
    }
    if (Status fresh = check_new_file("--record", arguments_.record); !fresh) return fresh;
    const bool replays = !arguments_.replay.empty();
    const auto excluded = [](const char* option, const std::string& why, const char* expected) {
      return usage_error("bad-usage", why, option, expected);
    };
    if (replays && !context_.command.empty())
      return excluded("--replay", "a recording beside a command", "one of both");
    if (!arguments_.knobs.empty() && arguments_.space_given)
      return excluded("--knob", "knobs beside a file of knobs", "--knob or --space");
    if (replays && (arguments_.space_given || !arguments_.knobs.empty() || !arguments_.log.empty() ||
                    arguments_.resume || !arguments_.warm_start.empty() || !arguments_.record.empty()))
      return excluded("--replay", "a replay runs nothing: it has no space file, no log and records nothing",
                      "--replay alone, with --strategy, --trials or --share, --seeds, --report");
    const CLI::App& verb = *arguments_.verb;
    if (replays) {
      if (Status used =
              check_unused(verb, "--replay", {"--time-limit", "--repeats", "--run-limit", "--prepare", "--cleanup"});
          !used)
        return used;
      if (arguments_.strategy == "halving")
        return excluded("--strategy", "halving runs settings again, and a recording has one time of each",
                        "surrogate, annealing, random or all");
    } else if (Status used = check_unused(verb, "a command, of which one run goes at a time:", {"--threads"}); !used) {
      return used;
    }
    if (!arguments_.record.empty()) {
      if (Status used =
              check_unused(verb, "--record, which measures every setting", {"--time-limit", "--trials", "--strategy"});
          !used)
        return used;
    }
    if (!replays && arguments_.seeds != 1)
      return excluded("--seeds", "a command is tuned once", "--seed, or --seeds with --replay");
    if (!replays && !arguments_.share.empty())
      return excluded("--share", "of a command trials are counted", "--trials, or --share with --replay");
    if (!replays && arguments_.strategy == "all")
      return excluded("--strategy", "all strategies are for recordings", "one of them");
    if (!arguments_.share.empty() && arguments_.trials > 0)
      return excluded("--share", "beside --trials", "one of both");
    if (arguments_.resume && arguments_.log.empty())
      return excluded("--resume", "there is no log to go on with", "--log FILE --resume");
    if (!arguments_.record.empty() &&
        (arguments_.resume || !arguments_.warm_start.empty() || !arguments_.report.empty()))
      return excluded("--record", "every setting is measured: nothing is searched for",
                      "--record FILE with --repeats, --run-limit, --log");
    return {};
  }

  // A file that the command line names, whole.
  static Result<std::string> read_named(const std::string& path, bool named) {
    auto text = read_file(path, kLargestFileBytes);
    if (!text) return as_named_file(text.error(), named);
    return text;
  }

  template <typename Request, typename Work>
  auto with_progress(Request& request, const Work& work) {
    ProgressLine line(options_);
    request.progress = [&line](const std::string& text) { line.show(text); };
    auto result = work();
    request.progress = nullptr;
    return result;
  }

  int run_replay() {
    const auto text = read_named(arguments_.replay, true);
    if (!text) return report_error(text.error(), options_);
    const auto space = measure::parse_recorded_space(*text, arguments_.replay);
    if (!space) return report_error(space.error(), options_);
    note_form(arguments_.replay, space->form);
    measure::ReplayRequest request;
    const auto share = parse_share(arguments_.share.empty() ? "5%" : arguments_.share);
    if (!share) return report_error(share.error(), options_);
    request.trials = arguments_.trials > 0 ? static_cast<size_t>(arguments_.trials)
                                           : static_cast<size_t>(*share * static_cast<double>(space->points.size()));
    if (arguments_.strategy == "all") {
      request.strategies = {measure::StrategyKind::kSurrogate, measure::StrategyKind::kAnnealing,
                            measure::StrategyKind::kRandom};
    } else {
      const auto kind = measure::parse_strategy(arguments_.strategy);
      if (!kind) return report_error(kind.error(), options_);
      request.strategies = {*kind};
    }
    request.seed = options_.seed;
    request.seeds = static_cast<size_t>(arguments_.seeds);
    request.threads = options_.threads;
    const auto replay = with_progress(request, [&] { return measure::replay_tuning(*space, request); });
    if (!replay) return report_error(replay.error(), options_);
    const measure::ReplayedStrategy& first = replay->strategies.front();
    const measure::Tuning tuning =
        measure::replayed_tuning(*space, *replay, first, first.searches.front(), arguments_.replay);
    if (const int written = write_report(tuning); written != kExitDone) return written;
    if (options_.json) {
      Json json = measure::tuning_json(tuning);
      measure::add_replay(*space, *replay, json);
      return write_result(to_text(json), options_);
    }
    const bool several = request.seeds > 1 || request.strategies.size() > 1;
    return write_result(
        several ? measure::replay_text(*space, *replay, arguments_.replay) : measure::tuning_text(tuning), options_);
  }

  int write_report(const measure::Tuning& tuning) const {
    if (arguments_.report.empty()) return kExitDone;
    const Status written = write_file_atomically(arguments_.report, measure::tuning_html(tuning));
    return written ? kExitDone : report_error(written.error(), options_);
  }

  Status take_request(const measure::TuneFile& file, measure::TuneRequest& request) const {
    request.file = &file;
    request.command = context_.command.empty() ? file.command : context_.command;
    request.source = arguments_.knobs.empty() ? arguments_.space : "--knob " + join(arguments_.knobs, " --knob ");
    request.trials = static_cast<size_t>(arguments_.trials);
    request.repeats = static_cast<int>(arguments_.repeats);
    request.seed = options_.seed;
    request.around = arguments_.around;
    const auto kind = measure::parse_strategy(arguments_.strategy);
    if (!kind) return kind.error();
    request.strategy = *kind;
    const auto budget = parse_duration_s(arguments_.budget, "--time-limit");
    if (!budget) return budget.error();
    request.budget_s = *budget;
    if (!arguments_.limit.empty()) {
      const auto limit = parse_duration_s(arguments_.limit, "--run-limit");
      if (!limit) return limit.error();
      request.limit_s = *limit;
    }
    return {};
  }

  Status take_logs(const measure::TuneFile& file, measure::TuneRequest& request) {
    for (const std::string& path : arguments_.warm_start) {
      const auto text = read_named(path, true);
      if (!text) return text.error();
      auto log = measure::parse_trial_log(*text, file.space, path);
      if (!log) return log.error();
      if (log->objective != measure::objective_text(file.objective)) {
        return usage_error("other-log",
                           "the log's results are of another objective, '" + printable(log->objective) + "'", path,
                           "a log of '" + printable(measure::objective_text(file.objective)) + "'");
      }
      if (log->unknown > 0 && !options_.quiet) {
        std::fprintf(stderr, "note: %zu of %zu runs of %s are not settings of this space\n", log->unknown,
                     log->unknown + log->runs.size(), printable(path).c_str());
      }
      request.earlier.insert(request.earlier.end(), log->runs.begin(), log->runs.end());
    }
    if (arguments_.log.empty()) return {};
    std::error_code ignored;
    const bool there =
        std::filesystem::exists(arguments_.log, ignored) && std::filesystem::file_size(arguments_.log, ignored) > 0;
    if (there && !arguments_.resume) {
      return usage_error("log-exists", "the log is there already", arguments_.log,
                         "--resume to go on with it, --warm-start to begin from it, or another --log");
    }
    if (arguments_.resume && !there && !options_.quiet)
      std::fprintf(stderr, "note: there is no log %s yet: the search begins anew\n", printable(arguments_.log).c_str());
    std::optional<size_t> keep;
    if (there) {
      const auto text = read_named(arguments_.log, true);
      if (!text) return text.error();
      auto log = measure::parse_trial_log(*text, file.space, arguments_.log);
      if (!log) return log.error();
      if (log->fingerprint != measure::fingerprint_of(file, request.command)) {
        return usage_error("other-log", "the log is of another space or command", arguments_.log,
                           "the space and command that it began with; --warm-start takes results of another");
      }
      request.resumed = std::move(log->runs);
      keep = log->whole_bytes;
    }
    if (Status opened = log_.open_at(arguments_.log, keep); !opened) return opened;
    if (!there) {
      if (Status added = log_.add(measure::log_head(file, request.command, request.seed)); !added) return added;
    }
    request.record = [this, &file](const measure::LoggedRun& run) {
      return log_.add(measure::log_line(file.space, run));
    };
    return {};
  }

  Result<measure::TuneFile> read_space() const {
    if (!arguments_.knobs.empty()) return measure::knobs_as_space(arguments_.knobs, context_.command);
    const auto text = read_named(arguments_.space, arguments_.space_given);
    if (text) return measure::parse_tune_file(*text, arguments_.space);
    Error error = text.error();
    if (!arguments_.space_given) error.expected = "--knob NAME=VALUES, --space FILE, or --replay CSV";
    return error;
  }

  int run_command() {
    const auto file = read_space();
    if (!file) return report_error(file.error(), options_);
    measure::TuneRequest request;
    if (Status taken = take_request(*file, request); !taken) return report_error(taken.error(), options_);
    if (const auto command = measure::CommandTemplate::create(*file, request.command); !command)
      return report_error(command.error(), options_);
    if (Status taken = take_logs(*file, request); !taken) return report_error(taken.error(), options_);
    const InterruptGuard guard;
    return arguments_.record.empty() ? run_tuning(request) : run_recording(request);
  }

  int run_recording(measure::TuneRequest& request) {
    request.save = [this](const std::string& csv) { return write_file_atomically(arguments_.record, csv); };
    const auto recorded = with_progress(request, [&] { return measure::record_space(request); });
    if (!recorded) return report_error(recorded.error(), options_);
    const std::string text = options_.json ? to_text(Json{{"schema", "perfcast.recording/1"},
                                                          {"points", recorded->points},
                                                          {"invalid_points", recorded->invalid},
                                                          {"rounds", recorded->rounds},
                                                          {"spent_s", recorded->spent_s},
                                                          {"interrupted", recorded->interrupted}})
                                           : std::to_string(recorded->points) + " settings, " +
                                                 std::to_string(recorded->invalid) + " of them not valid, in " +
                                                 std::to_string(recorded->rounds) +
                                                 " rounds: " + printable(arguments_.record) + "\n";
    const int written = write_result(text, options_);
    return recorded->interrupted ? kExitBySignal + interrupting_signal() : written;
  }

  int run_tuning(measure::TuneRequest& request) {
    const auto tuning = with_progress(request, [&] { return measure::tune(request); });
    if (!tuning) return report_error(tuning.error(), options_);
    if (const int written = write_report(*tuning); written != kExitDone) return written;
    const int written =
        write_result(options_.json ? to_text(measure::tuning_json(*tuning)) : measure::tuning_text(*tuning), options_);
    return tuning->interrupted ? kExitBySignal + interrupting_signal() : written;
  }

  const TuneArguments& arguments_;
  const CommandContext& context_;
  const CommonOptions& options_;
  measure::TrialLogFile log_;
};

void add_options(CLI::App& verb, TuneArguments& arguments) {
  add_basic(verb, "--knob", arguments.knobs, "NAME=VALUES",
            "A knob (something to choose) and its values, such as level=1..9, opt=-O2,-O3 or size=64,128@128; the "
            "value after @ is the default. Repeatable.")
      ->allow_extra_args(false);
  add_basic(verb, "--space", arguments.space, "FILE",
            "Reads the knobs and their values from this file (perfcast.tune/1).")
      ->each([&arguments](const std::string&) { arguments.space_given = true; })
      ->capture_default_str();
  add_basic(verb, "--time-limit,--budget", arguments.budget, "TIME",
            "Starts no run after this time. The last quarter of it is for comparing the best setting with the default.")
      ->capture_default_str();
  add_basic(verb, "--trials", arguments.trials, "N",
            "Tries at most this many settings. Default: as many as the time allows.")
      ->check(CLI::Range(int64_t{1}, int64_t{1000000}));
  add_advanced(
      verb, "--strategy", arguments.strategy, "NAME",
      "How the search chooses settings: surrogate, halving, random or annealing. With --replay, all compares them.")
      ->capture_default_str();
  add_basic(verb, "--repeats", arguments.repeats, "N", "Runs a setting this often before it counts as the best.")
      ->check(CLI::Range(int64_t{1}, int64_t{100}))
      ->capture_default_str();
  add_basic(
      verb, "--run-limit,--limit", arguments.limit, "TIME",
      "Ends any single run after this time. Default: ten times the time of the default setting, and at least 10s.");
  add_around_options(verb, arguments.around);
  add_basic(verb, "--log", arguments.log, "FILE", "Writes a line of JSON for each run, as it ends.");
  add_basic(verb, "--resume", arguments.resume, "Continues an earlier search where its --log ends.");
  add_advanced(verb, "--warm-start", arguments.warm_start, "LOG",
               "Starts from what the log of an earlier search found. Repeatable.")
      ->allow_extra_args(false);
  add_basic(verb, "--report", arguments.report, "FILE", "Writes a page (HTML) with pictures.");
  add_advanced(verb, "--record", arguments.record, "FILE",
               "Measures every setting and writes the times into this CSV file, for --replay.");
  add_advanced(verb, "--replay", arguments.replay, "FILE",
               "Searches among the recorded times in this file and runs nothing. It is a CSV with a column for each "
               "knob, time_s and valid.");
  add_advanced(verb, "--share", arguments.share, "PERCENT",
               "With --replay: tries this share of the recorded settings. Default: 5%.");
  add_advanced(verb, "--seeds", arguments.seeds, "N",
               "With --replay: repeats the search with this many seeds, starting at --seed.")
      ->check(CLI::Range(int64_t{1}, int64_t{100000}))
      ->capture_default_str();
}

}  // namespace

void add_tune_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<TuneArguments>();
  CLI::App* verb =
      add_verb(app, {"tune",
                     "Finds the best setting of a command's options.",
                     "-- COMMAND {knob}...",
                     {"perfcast tune --knob level=1..9 --knob threads=1,2 -- zstd -{level} -T{threads} -c file",
                      "perfcast tune --space tune.json --time-limit 20m --report tune.html -- make {flags}"},
                     "tune"});
  verb->footer(
      "Write {name} in the command where the value of knob NAME belongs, and {flags} where compiler flags belong. "
      "perfcast runs the command with different settings until the time is up, and learns from each run what to try "
      "next. Then it runs the best setting and the default in turns, to measure the gain. The command gets empty "
      "input. perfcast says whether the best setting prints the same as the default. It avoids settings that fail, "
      "hang, take too much memory or fail a check of their output. If you interrupt it, it reports what it has found.");
  arguments->verb = verb;
  add_options(*verb, *arguments);
  add_common_options(*verb, context, kQuietOption | kSeedOption | kThreadsOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return TuneRun(*arguments, context).run(); }; });
}

}  // namespace perfcast::cli
