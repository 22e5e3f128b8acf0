#include "measure/tune/run/trial_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>

#include "base/csv.h"
#include "base/file.h"
#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr size_t kLongestLine = 2000;
constexpr size_t kLargestOutputBytes = size_t{256} << 20;
constexpr size_t kMostWords = 200;

constexpr std::array<const char*, 5> kStates = {"done", "failed", "limit", "wrong-output", "too-much-memory"};

std::string last_words(const std::string& text) {
  const std::string words = printable(trim(text));
  return words.size() > kMostWords ? words.substr(words.size() - kMostWords) : words;
}

// Of the setting, not of this machine.
bool cannot_start(const Error& error) {
  return error.code == "program-not-found" || error.code == "not-executable" || error.code == "exec-failed" ||
         error.code == "bad-usage";
}

std::string ending_of(const ProcessOutcome& outcome) {
  std::string text = outcome.signal ? "killed by signal " + signal_text(*outcome.signal)
                                    : fmt::format("status {}", outcome.exit_code.value_or(0));
  const std::string words = last_words(outcome.error_tail);
  return words.empty() ? text : text + ": " + words;
}

}  // namespace

std::string name_of(TrialState state) { return kStates[static_cast<size_t>(state)]; }

std::optional<TrialState> parse_trial_state(const std::string& name) {
  for (size_t i = 0; i < kStates.size(); ++i) {
    if (name == kStates[i]) return static_cast<TrialState>(i);
  }
  return std::nullopt;
}

std::optional<double> printed_number(std::string_view output, const std::string& pattern) {
  const std::regex compiled(pattern);
  std::optional<double> number;
  for (size_t from = 0; from < output.size();) {
    const size_t end = std::min(output.find('\n', from), output.size());
    const std::string line(output.substr(from, std::min(end - from, kLongestLine)));
    std::smatch found;
    if (std::regex_search(line, found, compiled)) {
      number.reset();
      for (size_t group = 1; group < found.size() && !number; ++group) {
        if (found[group].matched) number = parse_number(found[group].str());
      }
    }
    from = end + 1;
  }
  return number && *number > 0 ? number : std::nullopt;
}

TrialRunner::TrialRunner(const TuneFile& file, CommandTemplate command, TempFolder folder)
    : file_(&file),
      command_(std::move(command)),
      folder_(std::move(folder)),
      output_path_(folder_.path() + "/output") {}

Result<TrialRunner> TrialRunner::create(const TuneFile& file, std::vector<std::string> command) {
  auto made = CommandTemplate::create(file, std::move(command));
  if (!made) return made.error();
  auto folder = TempFolder::create();
  if (!folder) return folder.error();
  return TrialRunner(file, std::move(*made), std::move(*folder));
}

bool TrialRunner::needs_output() const {
  return file_->same_output || file_->objective.measure == ObjectiveMeasure::kPrinted ||
         file_->check.find("{output}") != std::string::npos;
}

double usual_limit_s(double default_wall_s) {
  constexpr double kFactor = 10, kLeast_s = 10;
  return std::max(kLeast_s, kFactor * default_wall_s);
}

// nullopt: status 0; else what went wrong.
Result<std::optional<std::string>> TrialRunner::shell(const std::string& line, const Setting& setting,
                                                      const char* what) {
  ProcessRequest request;
  request.executable = "/bin/sh";
  request.arguments = {"sh", "-c", line};
  request.environment = command_.environment(setting);
  request.limit_s = limit_s_;
  const auto outcome = run_process(request);
  if (!outcome) return outcome.error();
  if (outcome->limit_reached) return std::optional(fmt::format("{} took more than {:g} s", what, limit_s_));
  if (!outcome->ok()) return std::optional(fmt::format("{}: {}", what, ending_of(*outcome)));
  return std::optional<std::string>();
}

Result<std::optional<std::string>> TrialRunner::prepare(const Setting& setting) {
  if (file_->prepare.empty()) return std::optional<std::string>();
  const auto known = prepared_.find(setting);
  if (known != prepared_.end()) return known->second;
  auto problem = shell(command_.shell_line(file_->prepare, setting, output_path_), setting, "prepare");
  if (problem) prepared_.emplace(setting, *problem);
  return problem;
}

Result<ProcessOutcome> TrialRunner::execute(const Setting& setting, bool keeps_output) {
  ProcessRequest request;
  request.arguments = command_.arguments(setting);
  request.environment = command_.environment(setting);
  request.limit_s = limit_s_;
  if (keeps_output) request.output_file = output_path_;
  request.around = {command_.shell_line(around_.prepare, setting, output_path_),
                    command_.shell_line(around_.cleanup, setting, output_path_)};
  const auto program = inspect_program(request.arguments);
  if (!program) return program.error();
  request.executable = program->path;
  return run_process(request);
}

Result<std::optional<OutputFacts>> TrialRunner::output_of(const Setting& setting) {
  const auto problem = prepare(setting);
  if (!problem) return problem.error();
  if (*problem) return std::optional<OutputFacts>();
  const auto outcome = execute(setting, true);
  if (!outcome && !cannot_start(outcome.error())) return outcome.error();
  if (!outcome || !outcome->ok()) return std::optional<OutputFacts>();
  const auto output = read_bytes(output_path_, kLargestOutputBytes);
  if (!output) return std::optional<OutputFacts>();
  return std::optional(OutputFacts{static_cast<double>(output->size()), short_hash(*output)});
}

Result<TrialRun> TrialRunner::run(const Setting& setting) {
  TrialRun run;
  const auto problem = prepare(setting);
  if (!problem) return problem.error();
  if (*problem) {
    run.state = TrialState::kFailed;
    run.why = **problem;
    return run;
  }
  const auto outcome = execute(setting, needs_output());
  if (!outcome) {
    if (!cannot_start(outcome.error())) return outcome.error();
    run.state = TrialState::kFailed;
    run.why = "can't be started: " + outcome.error().message;
    return run;
  }
  run.wall_s = outcome->wall_s;
  run.cpu_s = outcome->cpu_s();
  run.peak_resident_bytes = outcome->peak_resident_bytes;
  if (outcome->limit_reached) {
    run.state = TrialState::kLimit;
    run.why = fmt::format("took more than {:g} s", limit_s_);
  } else if (!outcome->ok()) {
    run.state = TrialState::kFailed;
    run.why = ending_of(*outcome);
  } else if (file_->peak_memory_bytes && run.peak_resident_bytes.value_or(0) > *file_->peak_memory_bytes) {
    run.state = TrialState::kTooMuchMemory;
    run.why = fmt::format("took {} at its peak", human_bytes(*run.peak_resident_bytes));
  }
  if (run.state != TrialState::kDone) return run;
  return finish(std::move(run), setting);
}

Result<TrialRun> TrialRunner::finish(TrialRun run, const Setting& setting) {
  const auto wrong = [&run](std::string why) {
    run.state = TrialState::kWrongOutput;
    run.why = std::move(why);
    return run;
  };
  const Objective& objective = file_->objective;
  std::string output;
  if (file_->same_output || objective.measure == ObjectiveMeasure::kPrinted) {
    auto read = read_bytes(output_path_, kLargestOutputBytes);  // what it printed may be compressed
    if (!read) return wrong("its output can't be read: " + read.error().message);
    output = std::move(*read);
  }
  if (!file_->check.empty()) {
    const auto problem = shell(command_.shell_line(file_->check, setting, output_path_), setting, "check");
    if (!problem) return problem.error();
    if (*problem) return wrong(**problem);
  }
  run.value = objective.measure == ObjectiveMeasure::kCpu ? run.cpu_s : run.wall_s;
  if (objective.measure == ObjectiveMeasure::kPrinted) {
    const auto number = printed_number(output, objective.pattern);
    if (!number) return wrong("it prints no number above 0 where the objective's pattern looks for it");
    run.value = *number;
  } else if (!(run.value > 0)) {
    run.state = TrialState::kFailed;
    run.why = "takes no time that the system counts";
    return run;
  }
  if (file_->same_output) {
    if (!reference_output_ && setting == file_->space.default_setting())
      reference_output_ = short_hash(output) + std::to_string(output.size());
    if (reference_output_ != short_hash(output) + std::to_string(output.size()))
      return wrong("it prints other than with the default setting");
  }
  return run;
}

}  // namespace perfcast::measure
