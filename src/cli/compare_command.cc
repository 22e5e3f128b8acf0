// perfcast compare: is B slower than A, by runs in turns and by counts.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/named_file.h"
#include "collect/process/duration.h"
#include "collect/process/interrupt.h"
#include "compare/comparison_report.h"
#include "schedule/slurm/job_script.h"

namespace perfcast {
namespace {

struct CompareArguments {
  std::string a, b, budget = "60s", limit, threshold = "0%", log, measure = "wall";
  double error = 0.05;
  int warmups = 1, counted_runs = 2;
  bool accept_failure = false, markdown = false;
};

// "2%" or 0.02; 2 alone would be 200%, which nobody means.
Result<double> parse_ratio(const std::string& text, const char* option) {
  const bool is_percent = text.ends_with('%');
  const auto value = parse_number(trim(is_percent ? text.substr(0, text.size() - 1) : text));
  if (value && *value >= 0 && *value < (is_percent ? 10000 : 1)) return is_percent ? *value / 100 : *value;
  return usage_error("bad-usage", "'" + printable(text) + "' is no ratio", option, "such as 2% or 0.02");
}

// Whether a shell would make something of the text that a split into words doesn't.
bool needs_shell(const std::string& text) {
  if (text.find_first_of("|&;<>$`*?~(){}[]!#\\\n") != std::string::npos) return true;
  const std::string first(trim(text).substr(0, trim(text).find_first_of(" \t'\"")));
  return first.find('=') != std::string::npos && first.find('/') > first.find('=');  // NAME=value before a command
}

// By a shell only where one of them needs it, and then both, as its start is timed and counted, too.
Status take_commands(const std::array<std::string, 2>& texts, CompareRequest& request) {
  const bool by_shell = needs_shell(texts[0]) || needs_shell(texts[1]);
  for (size_t i = 0; i < 2; ++i) {
    auto words = shell_words(texts[i], LineKind::kCommand);
    if (!words || words->empty()) {
      return usage_error("bad-usage", "'" + printable(texts[i]) + "' is no command", i == 0 ? "A" : "B",
                         "a command in quotes, such as \"xz -6 -k -c file\"");
    }
    request.commands[i] = by_shell ? std::vector<std::string>{"/bin/sh", "-c", texts[i]} : std::move(*words);
  }
  if (by_shell) request.notes.emplace_back("both are run by /bin/sh, whose start is part of their times and counts");
  return {};
}

// Grows by a line for each run, so that nothing is lost.
class RunLog {
 public:
  ~RunLog() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Status open_at(const std::string& path) {
    path_ = path;
    descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return descriptor_ >= 0 ? Status() : failed();
  }
  Status add(const ComparedRun& run) {
    const std::string line = run_line(run);
    for (size_t done = 0; done < line.size();) {
      const ssize_t written = write(descriptor_, line.data() + done, line.size() - done);
      if (written < 0) return failed();
      done += static_cast<size_t>(written);
    }
    return {};
  }

 private:
  Status failed() const {
    return environment_error("cannot-write", std::string("cannot write the log: ") + std::strerror(errno), path_,
                             "a place with room");
  }
  std::string path_;
  int descriptor_ = -1;
};

Result<CompareRequest> request_of(const CompareArguments& arguments, const CommonOptions& options) {
  CompareRequest request;
  if (Status taken = take_commands({arguments.a, arguments.b}, request); !taken) return taken.error();
  const auto budget_s = parse_duration_s(arguments.budget, "--budget");
  if (!budget_s) return budget_s.error();
  request.budget_s = *budget_s;
  if (!arguments.limit.empty()) {
    const auto limit_s = parse_duration_s(arguments.limit, "--limit");
    if (!limit_s) return limit_s.error();
    request.limit_s = *limit_s;
  }
  const auto threshold = parse_ratio(arguments.threshold, "--threshold");
  if (!threshold) return threshold.error();
  request.threshold_ratio = *threshold;
  request.time = arguments.measure == "cpu" ? ComparedTime::kCpu : ComparedTime::kWall;
  request.error_ratio = arguments.error;
  request.warmups = arguments.warmups;
  request.counted_runs = arguments.counted_runs;
  request.accept_failure = arguments.accept_failure;
  request.seed = options.seed;
  return request;
}

int exit_status_of(const Comparison& comparison) {
  if (comparison.interrupted) return kExitBySignal + interrupting_signal();
  return comparison.verdict == CompareVerdict::kSlower ? kExitRegression : kExitDone;
}

int run(const CompareArguments& arguments, const CommandContext& context) {
  const CommonOptions& options = context.options;
  auto request = request_of(arguments, options);
  if (!request) return report_error(request.error(), options);
  for (const auto& [option, path] : {std::pair{"--log", arguments.log}, {"-o", options.output}}) {
    if (Status writable = check_output_file(option, path); !writable) return report_error(writable.error(), options);
  }
  RunLog log;
  if (!arguments.log.empty()) {
    if (Status opened = log.open_at(arguments.log); !opened) return report_error(opened.error(), options);
    request->record = [&log](const ComparedRun& of) { return log.add(of); };
  }
  const InterruptGuard guard;
  const Result<Comparison> comparison = [&] {
    ProgressLine line(options);
    request->progress = [&line](const std::string& text) { line.show(text); };
    return arguments.measure == "instructions" ? compare_counts(*request) : compare_in_turns(*request);
  }();
  if (!comparison) {
    Error error = comparison.error();
    if (error.code == "program-failed") error.expected += ", or --accept-failure";
    if (error.code == "limit-reached") error.where = "--limit";
    return report_error(error, options);
  }
  const CommandTexts commands = {arguments.a, arguments.b};
  const int written = write_result(options.json ? to_text(comparison_json(*comparison, commands))
                                                : comparison_text(*comparison, commands, arguments.markdown),
                                   options);
  return written == kExitDone ? exit_status_of(*comparison) : written;
}

}  // namespace

void add_compare_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* verb = app.add_subcommand("compare", "Is B slower than A? Two commands, run in turns");
  verb->footer(
      "Runs A and B in turns, in an order that is drawn, until the answer is clear or the budget ends; then counts\n"
      "instructions of both. Their input is empty, their output discarded. Exit status 3: B is slower beyond the\n"
      "threshold. See docs/COMPARE.md.");
  verb->add_option("A", arguments->a, "The command to compare with, in quotes")->required();
  verb->add_option("B", arguments->b, "The other, in quotes")->required();
  verb->add_option("--measure", arguments->measure,
                   "What is compared: wall time, cpu time (user and system), or instructions, which need two runs of "
                   "each and no quiet machine")
      ->check(CLI::IsMember({"wall", "cpu", "instructions"}))
      ->capture_default_str();
  verb->add_option("--budget", arguments->budget, "Time for all timed runs and those before")->capture_default_str();
  verb->add_option("--threshold", arguments->threshold, "Slowdown of B that is accepted, such as 2%")
      ->capture_default_str();
  verb->add_option("--error", arguments->error, "How often two that are the same may be called different")
      ->check(CLI::Range(1e-6, 0.5))
      ->capture_default_str();
  verb->add_option("--warmups", arguments->warmups, "Runs of each before that don't count")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  verb->add_option("--counted-runs", arguments->counted_runs,
                   "Runs of each under the instrumenter, for counts; 0: none")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  verb->add_option("--limit", arguments->limit, "Time limit of a single run, such as 60s");
  verb->add_option("--log", arguments->log, "A line of JSON for each run, as it ends");
  verb->add_flag("--accept-failure", arguments->accept_failure, "Runs that fail count, too");
  verb->add_flag("--markdown", arguments->markdown, "For a pull request");
  add_common_options(*verb, context, kQuietOption | kSeedOption);
  verb->callback([arguments, &context] { context.run = [arguments, &context] { return run(*arguments, context); }; });
}

}  // namespace perfcast
