// perfcast bench train: time to accuracy of training commands and of logs of earlier ones.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ai/rules/bench_rules.h"
#include "ai/rules/training_goal.h"
#include "ai/train_time/sample_training.h"
#include "ai/train_time/train_log.h"
#include "ai/train_time/train_report.h"
#include "ai/train_time/train_runner.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process/duration.h"
#include "base/process/interrupt.h"
#include "base/text.h"
#include "cli/ai/bench_command.h"
#include "cli/option_table.h"
#include "cli/shared/meter_options.h"
#include "cli/shared/named_file.h"
#include "measure/tune/run/trial_log.h"

namespace perfcast::cli {
namespace {

constexpr size_t kLargestTrainLogBytes = size_t{256} << 20;
constexpr const char* kUsualRecord = "bench-train.jsonl";

struct BenchTrainArguments {
  std::vector<std::string> commands, samples, logs, meters;
  std::string metric, pattern, rule = "raw", name, from, limit, record = kUsualRecord, report, one_sample;
  std::string benchmark, rules_file;
  std::vector<double> thresholds;
  double threshold = 0;
  int64_t seeds = 5, epochs = 30;
  bool lower = false, resume = false, no_energy = false;
  const CLI::App* verb = nullptr;
};

// "NAME=REST"; the name may be left out where `fallback` is given.
std::pair<std::string, std::string> split_name(const std::string& text, const std::string& fallback) {
  const size_t sign = text.find('=');
  const bool has_name = sign != std::string::npos && sign > 0 && text.find('/') > sign && text.find(' ') > sign;
  return has_name ? std::pair(text.substr(0, sign), text.substr(sign + 1)) : std::pair(fallback, text);
}

class BenchTrainRun {
 public:
  BenchTrainRun(const BenchTrainArguments& arguments, const CommandContext& context)
      : arguments_(arguments), context_(context), options_(context.options) {}

  int run() {
    if (!arguments_.one_sample.empty()) return run_one_sample();
    const Status done = work();
    if (!done && (done.error().kind != ErrorKind::kInterrupted || report_.curves.empty()))
      return report_error(done.error(), options_);
    const auto comparison = ai::compare_trainings(report_.curves, request_);
    if (!comparison) return report_error(done ? comparison.error() : done.error(), options_);
    report_.comparison = *comparison;
    note_percent();
    if (!arguments_.report.empty()) {
      const Status written = write_file_atomically(arguments_.report, ai::train_report_page(report_));
      if (!written) return report_error(written.error(), options_);
    }
    const int written = write_result(
        options_.json ? to_text(ai::train_report_json(report_)) : ai::train_report_text(report_), options_);
    return done ? written : report_error(done.error(), quiet_json());
  }

 private:
  // The result is on stdout already: the error goes to stderr.
  CommonOptions quiet_json() const {
    CommonOptions options = options_;
    options.json = false;
    return options;
  }

  int run_one_sample() const {
    const Status done =
        ai::run_sample_training(arguments_.one_sample, options_.seed, arguments_.epochs, [](const std::string& line) {
          std::fputs((line + "\n").c_str(), stdout);
          std::fflush(stdout);
        });
    return done ? kExitDone : report_error(done.error(), options_);
  }

  Status work() {
    if (Status checked = check(); !checked) return checked;
    if (Status taken = take_benchmark(); !taken) return taken;
    if (Status found = find_systems(); !found) return found;
    const auto reader = ai::MetricReader::create(metric_, arguments_.pattern);
    if (!reader) return reader.error();
    const auto rule = ai::parse_threshold_rule(arguments_.rule, lower_);
    if (!rule) return rule.error();
    request_.rule = *rule;
    request_.threshold = *threshold_;
    request_.thresholds = arguments_.thresholds;
    request_.seed = options_.seed;
    report_.metric = metric_;
    if (Status taken = take_logs(*reader); !taken) return taken;
    if (systems_.empty()) return {};
    Status ran = run_systems(*reader);
    if (!ran && ran.error().kind != ErrorKind::kInterrupted) return ran;
    // What was recorded is what is reported, also after an interrupt.
    if (Status taken = take_record(*reader); !taken) return ran ? taken : ran;
    return ran;
  }

  Status check() const {
    for (const auto& [option, path] : {std::pair{"--report", arguments_.report}, std::pair{"-o", options_.output}}) {
      if (Status fits = check_output_file(option, path); !fits) return fits;
      std::vector<std::string> read;
      for (const std::string& log : arguments_.logs) read.push_back(split_name(log, "").second);
      read.push_back(arguments_.record);
      if (Status apart = check_not_read(option, path, read); !apart) return apart;
    }
    if (Status fits = check_output_file("--record", arguments_.record); !fits) return fits;
    const bool runs = !context_.command.empty() || !arguments_.commands.empty() || !arguments_.samples.empty();
    if (!runs && arguments_.logs.empty()) {
      return usage_error("bad-usage", "nothing to train and no log", "",
                         "perfcast bench train --metric NAME --threshold X -- CMD ARGS {seed}, or --log FILE");
    }
    if (!runs) {
      return check_unused(*arguments_.verb, "a log, with nothing to run",
                          {"--seeds", "--run-limit", "--record", "--resume", "--meter", "--no-energy", "--name"},
                          "a command with it");
    }
    return {};
  }

  bool given(const char* option) const { return arguments_.verb->get_option(option)->count() > 0; }

  // What is measured, and up to where: the options', else a benchmark's.
  Status take_benchmark() {
    metric_ = arguments_.metric;
    lower_ = arguments_.lower;
    if (given("--threshold")) threshold_ = arguments_.threshold;
    if (!given("--benchmark")) {
      return check_unused(*arguments_.verb, "a training of no benchmark", {"--rules"}, "--benchmark NAME with it");
    }
    const std::string path = arguments_.rules_file.empty() ? shipped_file("bench/rules.json") : arguments_.rules_file;
    const auto rules = ai::read_bench_rules(path);
    if (!rules) return as_named_file(rules.error(), !arguments_.rules_file.empty());
    auto goal = ai::training_goal_of(*rules, arguments_.benchmark, {metric_, threshold_, lower_});
    if (!goal) return goal.error();
    goal_ = std::move(*goal);
    metric_ = goal_->metric;
    threshold_ = goal_->threshold;
    lower_ = goal_->lower_is_better;
    report_.benchmark = goal_->benchmark;
    report_.quality = goal_->quality;
    for (const std::string& note : goal_->notes) report_.notes.push_back(printable(note));
    return {};
  }

  // A benchmark's target is a share of 1; trainings that print percent are at it with their first evaluation.
  void note_percent() {
    if (!goal_) return;
    double largest = 0;
    for (const ai::TrainCurve& curve : report_.curves) {
      for (const ai::MetricReading& reading : curve.readings) {
        if (std::isfinite(reading.value)) largest = std::max(largest, reading.value);
      }
    }
    const std::string note = ai::percent_note(*goal_, largest);
    if (!note.empty()) report_.notes.push_back(note);
  }

  Status find_systems() {
    std::set<std::string> names;
    const auto add = [&](const std::string& name, std::vector<std::string> command) -> Status {
      if (!names.insert(name).second)
        return usage_error("bad-usage", "two systems are called '" + printable(name) + "'", "--command",
                           "NAME=COMMAND with names that differ");
      systems_.push_back({name, std::move(command)});
      return {};
    };
    if (!context_.command.empty()) {
      const std::string usual = std::filesystem::path(context_.command.front()).filename().string();
      if (Status added = add(arguments_.name.empty() ? usual : arguments_.name, context_.command); !added) return added;
    }
    for (const std::string& text : arguments_.commands) {
      const auto [name, line] = split_name(text, text);
      if (Status added = add(name, {"/bin/sh", "-c", line}); !added) return added;
    }
    for (const std::string& sample : arguments_.samples) {
      const auto& known = ai::sample_training_names();
      if (std::find(known.begin(), known.end(), sample) == known.end())
        return usage_error("bad-usage", "there is no sample training '" + printable(sample) + "'", "--sample",
                           "one of: " + join(known, ", "));
      std::error_code ignored;
      const std::string self = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
      if (Status added = add(sample, {self, "bench", "train", "--one-sample", sample, "--epochs",
                                      std::to_string(arguments_.epochs), "--seed", "{seed}"});
          !added)
        return added;
      if (metric_.empty()) {
        metric_ = ai::sample_training_metric(sample);
        lower_ = lower_ || metric_ == "loss";
      }
    }
    if (metric_.empty())
      return usage_error("bad-usage", "which metric?", "--metric", "its name as the training prints it");
    if (!threshold_)
      return usage_error("bad-usage", "which quality is to be reached?", "--threshold", "a value of " + metric_);
    return {};
  }

  // A seed that a system has already gets the next free number: two logs of one system are two seeds.
  void add_curve(ai::TrainCurve curve) {
    const auto is_taken = [&](int64_t seed) {
      return std::any_of(report_.curves.begin(), report_.curves.end(), [&](const ai::TrainCurve& known) {
        return known.system == curve.system && known.seed == seed;
      });
    };
    while (is_taken(curve.seed)) ++curve.seed;
    report_.curves.push_back(std::move(curve));
  }

  Status take_logs(const ai::MetricReader& reader) {
    for (const std::string& each : arguments_.logs) {
      const auto [name, path] = split_name(each, "");
      const auto text = read_file(path, kLargestTrainLogBytes);
      if (!text) return as_named_file(text.error(), true);
      const std::string usual = name.empty() ? std::filesystem::path(path).stem().string() : name;
      auto log = ai::parse_train_log(*text, path, reader, usual, arguments_.from);
      if (!log) return log.error();
      for (const std::string& note : log->notes) report_.notes.push_back(printable(note));
      for (ai::TrainCurve& curve : log->curves) {
        if (!name.empty() && log->curves.size() == 1) curve.system = name;
        add_curve(std::move(curve));
      }
      report_.commands.insert(log->commands.begin(), log->commands.end());
    }
    return {};
  }

  Status open_record(const ai::MetricReader& reader, std::vector<std::pair<std::string, int64_t>>& done) {
    std::error_code ignored;
    bool there = std::filesystem::exists(arguments_.record, ignored) &&
                 std::filesystem::file_size(arguments_.record, ignored) > 0;
    std::string text;
    if (there) {
      auto read = read_file(arguments_.record, kLargestTrainLogBytes);
      if (!read) return read.error();
      text = std::move(*read);
      // That of a mistyped metric, say.
      const bool is_other = !text.starts_with(ai::train_log_head(metric_));
      if (ai::is_spent_record(text) && (is_other || !arguments_.resume)) there = false;
    }
    if (there && !arguments_.resume) {
      return usage_error("record-exists", "the record is there already", arguments_.record,
                         "--resume to go on with it, --log to look at it, or another --record");
    }
    std::optional<size_t> keep;
    if (there) {
      const auto log = ai::parse_train_log(text, arguments_.record, reader, "");
      if (!log) return log.error();
      if (!log->is_own) return Error{"bad-log", "it is no record", arguments_.record, "a file of --record"};
      for (const ai::TrainCurve& curve : log->curves) {
        const bool ended = curve.state == ai::TrainRunState::kDone || curve.state == ai::TrainRunState::kFailed ||
                           curve.state == ai::TrainRunState::kLimit;
        if (ended) done.emplace_back(curve.system, curve.seed);
      }
      keep = log->whole_bytes;
    }
    if (Status opened = record_.open_at(arguments_.record, keep); !opened) return opened;
    return there ? Status() : record_.add(ai::train_log_head(metric_));
  }

  Status run_systems(const ai::MetricReader& reader) {
    ai::TrainRunRequest request;
    request.systems = systems_;
    request.reader = &reader;
    request.start_pattern = arguments_.from;
    request.show_output = options_.show_output;
    for (int64_t i = 0; i < arguments_.seeds; ++i) request.seeds.push_back(static_cast<int64_t>(options_.seed) + i);
    if (!arguments_.limit.empty()) {
      const auto limit_s = parse_duration_s(arguments_.limit, "--run-limit");
      if (!limit_s) return limit_s.error();
      request.limit_s = *limit_s;
    }
    MeterSet meters;
    if (!arguments_.no_energy) {
      auto chosen = meters_of_option(arguments_.meters);
      if (!chosen) return chosen.error();
      meters = std::move(*chosen);
      if (meters.meters.empty()) {
        for (const MissingMeter& missing : meters.missing)
          report_.no_meter.push_back(missing.kind + ": " + missing.reason);
      }
      request.meters = &meters;
    }
    if (Status found = ai::check_programs(systems_); !found) return found;
    if (Status opened = open_record(reader, request.done); !opened) return opened;
    report_.record = arguments_.record;
    request.record = [this](const std::string& line) { return record_.add(line); };
    for (const ai::TrainSystem& system : systems_) {
      report_.commands[system.name] = system.command;
      if (!system.takes_seed() && arguments_.seeds > 1)
        report_.notes.push_back(printable(system.name) +
                                " has no {seed} in its command: unless it reads PERFCAST_SEED, its runs differ by "
                                "what the program draws, if it draws anything");
    }
    ProgressLine line(options_);
    request.progress = [&line](const std::string& text) { line.show(text); };
    const auto ran = ai::run_trainings(request);
    return ran ? Status() : Status(ran.error());
  }

  Status take_record(const ai::MetricReader& reader) {
    const auto text = read_file(arguments_.record, kLargestTrainLogBytes);
    if (!text) return text.error();
    auto log = ai::parse_train_log(*text, arguments_.record, reader, "");
    if (!log) return log.error();
    for (ai::TrainCurve& curve : log->curves) add_curve(std::move(curve));
    return {};
  }

  const BenchTrainArguments& arguments_;
  const CommandContext& context_;
  const CommonOptions& options_;
  std::string metric_;
  bool lower_ = false;
  std::optional<double> threshold_;
  std::optional<ai::TrainingGoal> goal_;  // of --benchmark
  std::vector<ai::TrainSystem> systems_;
  ai::TrainRequest request_;
  ai::TrainReport report_;
  measure::TrialLogFile record_;
};

void add_bench_train_options(CLI::App& verb, BenchTrainArguments& arguments) {
  add_basic(verb, "--metric", arguments.metric, "NAME",
            "The name of the metric, as your training prints it, such as accuracy, val/loss or eval_accuracy.");
  add_basic(verb, "--threshold", arguments.threshold, "X", "The value that the metric must reach.");
  add_basic(verb, "--lower-is-better", arguments.lower, "The metric is a loss or an error rate.");
  add_basic(verb, "--benchmark", arguments.benchmark, "NAME",
            "Takes metric and threshold from this benchmark, such as retinanet, bert or dlrm.");
  add_advanced(verb, "--rules", arguments.rules_file, "FILE",
               "Reads the rules from this file (JSON) instead of the shipped ones.");
  add_advanced(verb, "--rule", arguments.rule, "RULE",
               "When the threshold counts as reached: raw (at the first evaluation that reaches it), median:K (when "
               "the median of the last K evaluations does), or hold:M (when M evaluations in a row do).")
      ->capture_default_str();
  add_advanced(verb, "--thresholds", arguments.thresholds, "X,Y,...",
               "Compares the systems at these thresholds, too. Default: where the curves change.")
      ->delimiter(',');
  add_advanced(verb, "--pattern", arguments.pattern, "PATTERN",
               "Finds the metric's value by this regular expression: its first group is the value.");
  add_advanced(verb, "--from", arguments.from, "PATTERN",
               "Starts the clock at the first line that matches this regular expression. Default: at the start of the "
               "command; for a log, at its run_start.");
  add_basic(verb, "--command", arguments.commands, "NAME=LINE",
            "Compares one more system. Write {seed} where the seed belongs. Repeatable.")
      ->take_all()
      ->allow_extra_args(false);
  add_advanced(verb, "--sample", arguments.samples, "NAME",
               "Runs a built-in training on made-up data: mlp or vae-dnn. Repeatable.")
      ->take_all()
      ->allow_extra_args(false);
  add_basic(verb, "--log", arguments.logs, "[NAME=]FILE",
            "Reads the log of an earlier training instead: CSV with time_s, or JSON lines. Repeatable.")
      ->take_all()
      ->allow_extra_args(false);
  add_advanced(verb, "--name", arguments.name, "NAME", "Names the command after --.");
  add_basic(verb, "--seeds", arguments.seeds, "N", "Trains each system with this many seeds.")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->capture_default_str();
  add_basic(verb, "--run-limit,--limit", arguments.limit, "TIME",
            "Ends any single training after this time, such as 2h.");
  add_advanced(verb, "--epochs", arguments.epochs, "N", "Trains the built-in sample for this many epochs.")
      ->check(CLI::Range(int64_t{1}, int64_t{100000}))
      ->capture_default_str();
  add_advanced(verb, "--record", arguments.record, "FILE", "Writes a line of JSON for each evaluation, as it arrives.")
      ->capture_default_str();
  add_advanced(verb, "--resume", arguments.resume,
               "Continues from the file of --record. Seeds that have ended are not run again.");
  add_advanced(
      verb, "--meter", arguments.meters, "NAME|FILE",
      "Reads only this energy meter, by name, by kind, or as a file. Repeatable. Default: all meters of this machine.")
      ->take_all()
      ->allow_extra_args(false);
  add_advanced(verb, "--no-energy", arguments.no_energy, "Reads no energy meter.");
  add_basic(verb, "--report", arguments.report, "FILE", "Writes a page (HTML) with the metric over time.");
  add_advanced(verb, "--one-sample", arguments.one_sample, "VALUE", "")->group("");  // what --sample runs
}

}  // namespace

void add_bench_train_command(CLI::App& bench, CommandContext& context) {
  auto arguments = std::make_shared<BenchTrainArguments>();
  CLI::App* verb =
      add_verb(bench, {"train",
                       "Measures the time until a training reaches its quality, over several seeds.",
                       "-- COMMAND ARGS {seed}",
                       {"perfcast bench train --metric accuracy --threshold 0.9 -- ./train --seed {seed}",
                        "perfcast bench train --metric accuracy --threshold 0.9 --log a=a.csv --log b=b.csv"},
                       "bench-train"});
  verb->footer(
      "perfcast runs the command once with each seed, which stands for {seed} in the command and in the environment "
      "variable PERFCAST_SEED. It runs several systems in turns. It notes when each line with the metric is printed. "
      "The score is the mean without the fastest and the slowest seed. perfcast lists seeds that never reach the "
      "threshold; the exit status is still 0.");
  arguments->verb = verb;
  add_bench_train_options(*verb, *arguments);
  add_common_options(*verb, context, kQuietOption | kSeedOption | kShowOutputOption);
  verb->callback([arguments, &context] {
    context.run = [arguments, &context] { return BenchTrainRun(*arguments, context).run(); };
  });
}

}  // namespace perfcast::cli
