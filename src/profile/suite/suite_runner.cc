#include "profile/suite/suite_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/file.h"
#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/process/tool.h"
#include "base/statistics.h"
#include "base/text.h"
#include "profile/suite/suite_tools.h"

namespace perfcast {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Result<WorkReport> run_natively(const std::vector<std::string>& command, double limit_s) {
  const auto program = inspect_program(command);
  if (!program) return program.error();
  ProcessRequest request;
  request.executable = program->path;
  request.arguments = command;
  request.limit_s = limit_s;
  const auto outcome = run_process(request);
  if (!outcome) return outcome.error();
  if (outcome->limit_reached) {
    return Error{"limit-reached", fmt::format("a native run did not end within {}", human_seconds(limit_s)), command[0],
                 "a longer time limit"};
  }
  if (!outcome->ok()) {
    const std::string how = outcome->signal ? fmt::format("signal {}", *outcome->signal)
                                            : fmt::format("exit code {}", outcome->exit_code.value_or(0));
    return Error{"program-failed",
                 fmt::format("a native run ended with {}: {}", how, printable(trim(outcome->error_tail))), command[0],
                 "a program that works here"};
  }
  return WorkReport{0, outcome->user_s, outcome->system_s, outcome->wall_s};
}

std::vector<double> times_per_unit(const std::vector<WorkReport>& runs) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const WorkReport& run : runs) values.push_back(run.cpu_s() / run.work_units);
  return values;
}

double spread_of(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double middle = median(values);
  return middle > 0 ? (*high - *low) / middle : 0;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos && !from.empty(); at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

bool is_there(const std::string& name) {
  return name.find('/') == std::string::npos ? !find_in_path(name).empty() : exists(name);
}

// A program that the preparation makes has no other name than one that begins with its folder.
bool is_made(const std::string& name) { return name.starts_with("{"); }

std::optional<std::string> what_is_missing(const SuiteRun& run) {
  std::vector<std::string> needed = run.needs;
  needed.push_back(run.command[0]);
  for (const auto& step : run.prepare) needed.push_back(step[0]);
  std::string missing;
  for (const std::string& name : needed) {
    if (!is_made(name) && !is_there(name)) {
      missing = name;
      break;
    }
  }
  if (missing.empty()) return std::nullopt;
  std::string text = missing + (missing.find('/') == std::string::npos ? " is not installed" : " is not there");
  if (!run.packages.empty()) text += ": " + install_advice(join(run.packages, " "));
  return text;
}

}  // namespace

SuiteRunner::Actions SuiteRunner::real_actions() {
  return {[](const CollectRequest& request, const Progress& progress) { return profile_command(request, progress); },
          &run_natively};
}

SuiteRunner::SuiteRunner(const Suite& suite, SuiteOptions options, SuiteTools tools, Actions actions)
    : suite_(suite), options_(std::move(options)), tools_(std::move(tools)), actions_(std::move(actions)) {}

std::string SuiteRunner::profile_path(const SuiteProgram& program) const {
  return options_.folder + "/" + program.program.id + ".json";
}

std::string SuiteRunner::program_folder(const SuiteProgram& program) const {
  return tools_.work_folder + "/" + program.program.id;
}

std::vector<std::string> SuiteRunner::filled(const SuiteProgram& entry, const std::vector<std::string>& command) const {
  std::vector<std::string> words;
  for (std::string word : command) {
    word = replaced(std::move(word), "{input}", fmt::format("{}/text-{}", tools_.work_folder, entry.run.input_bytes));
    word = replaced(std::move(word), "{archive}", program_folder(entry) + "/archive.zpaq");
    word = replaced(std::move(word), "{suite}", suite_.folder);
    words.push_back(replaced(std::move(word), "{work}", program_folder(entry)));
  }
  return words;
}

bool SuiteRunner::chosen(const SuiteProgram& program) const {
  if (options_.only.empty()) return true;
  return std::any_of(options_.only.begin(), options_.only.end(),
                     [&](const std::string& pattern) { return matches_pattern(pattern, program.program.id); });
}

std::optional<SuiteRunner::Obstacle> SuiteRunner::obstacle(const SuiteProgram& entry) const {
  const Program& program = entry.program;
  if (!program.excluded.empty() && !options_.include_excluded) {
    return Obstacle{"excluded", program.excluded + ": " + entry.evidence};
  }
  const auto missing = [&](const std::string& tool) {
    const auto why = tools_.why_not.find(tool);
    return Obstacle{"skipped", why == tools_.why_not.end() ? tool + " is missing" : why->second};
  };
  const SuiteRun& run = entry.run;
  if (run.tool == "stress-ng") {
    if (!tools_.stress_ng) return missing("stress-ng");
    if (!tools_.stress_ng->stressors.contains(run.stressor)) {
      return Obstacle{"skipped", fmt::format("stress-ng {} does not know {}", tools_.stress_ng->version, run.stressor)};
    }
    if (tools_.stress_ng->version != suite_.stress_ng_version && !options_.any_version) {
      return Obstacle{
          "skipped",
          fmt::format("stress-ng is {}, the labels are of {}: operations may differ (--any-version takes it)",
                      tools_.stress_ng->version, suite_.stress_ng_version)};
    }
  } else if (run.tool == "harness" || run.input_bytes > 0) {
    if (!tools_.harness) return missing("harness");
    if (run.mode == "compress" && !tools_.harness->compressors.contains(run.algorithm)) {
      return Obstacle{"skipped", "perfcast-harness was built without " + run.algorithm};
    }
    if (run.mode == "openssl" && !tools_.harness->crypto) {
      return Obstacle{"skipped", "perfcast-harness was built without OpenSSL"};
    }
  }
  if (run.tool == "command") {
    if (const auto missing_here = what_is_missing(run)) return Obstacle{"skipped", *missing_here};
  }
  return std::nullopt;
}

SuiteRunner::Invocation SuiteRunner::invocation(const SuiteProgram& entry, bool native) const {
  const SuiteRun& run = entry.run;
  const std::string& work = tools_.work_folder;
  const std::string input = fmt::format("{}/text-{}", work, run.input_bytes);
  const std::string archive = work + "/archive";
  Invocation result;
  if (run.tool == "stress-ng") {
    result.report = work + "/report.yaml";
    result.command = {tools_.stress_ng->path,
                      "--no-rand-seed",
                      "--temp-path",
                      work,
                      "--metrics",
                      "--yaml",
                      result.report,
                      "--" + run.stressor,
                      "1",
                      "--" + run.stressor + "-ops",
                      std::to_string(native ? run.native_operations : run.operations)};
    return result;
  }
  if (run.tool == "command") {
    result.command = filled(entry, run.command);
    // What has no input of a size is done as a whole: one run is one unit.
    result.work_units = run.input_bytes > 0 ? static_cast<double>(run.input_bytes) : 1;
    return result;
  }
  const std::string repeats = std::to_string(native ? run.native_repeats : run.repeats);
  result.report = work + "/report.json";
  result.command = {tools_.harness->path, run.mode, "--algorithm", run.algorithm,
                    "--repeat",           repeats,  "-o",          result.report};
  const auto add = [&](const char* name, const std::string& value) {
    result.command.insert(result.command.end(), {name, value});
  };
  if (run.mode == "openssl") {
    add("--block-bytes", std::to_string(*run.block_bytes));
    return result;
  }
  if (run.level) add("--level", std::to_string(*run.level));
  if (run.block_bytes) add("--block", std::to_string(*run.block_bytes));
  add("--direction", run.direction);
  add("--archive", archive);
  if (run.direction == "compress") add("--input", input);
  return result;
}

Status SuiteRunner::prepare(const SuiteProgram& entry) {
  const SuiteRun& run = entry.run;
  const std::string input = fmt::format("{}/text-{}", tools_.work_folder, run.input_bytes);
  if (run.input_bytes > 0 && !exists(input)) {
    const auto made = actions_.run(
        {tools_.harness->path, "generate", "--bytes", std::to_string(run.input_bytes), "-o", input}, options_.limit_s);
    if (!made) return made.error();
  }
  if (run.tool == "harness") {
    std::vector<std::string> command = {
        tools_.harness->path,           "prepare", "--algorithm", run.algorithm, "--input", input, "-o",
        tools_.work_folder + "/archive"};
    if (run.level) command.insert(command.end(), {"--level", std::to_string(*run.level)});
    if (run.block_bytes) command.insert(command.end(), {"--block", std::to_string(*run.block_bytes)});
    const auto made = actions_.run(command, options_.limit_s);
    return made ? Status() : made.error();
  }
  if (run.tool != "command") return {};
  // Nothing of an earlier program or preparation may stand for this one's.
  std::error_code problem;
  const std::string folder = program_folder(entry);
  std::filesystem::remove_all(folder, problem);
  if (!problem) std::filesystem::create_directory(folder, problem);
  if (problem) return Error{"file-error", "can't make a new folder: " + problem.message(), folder, "room for it"};
  for (const std::vector<std::string>& step : run.prepare) {
    const auto made = actions_.run(filled(entry, step), options_.limit_s);
    if (!made) {
      Error error = made.error();
      error.message = "preparing it failed: " + error.message;
      return error;
    }
  }
  return {};
}

Result<WorkReport> SuiteRunner::read_report(const SuiteProgram& entry, const Invocation& invocation,
                                            const WorkReport& process_times) const {
  if (invocation.report.empty()) {
    WorkReport report = process_times;
    report.work_units = invocation.work_units;
    return report;
  }
  const auto text = read_file(invocation.report, size_t{1} << 20);
  if (!text) return text.error();
  if (entry.run.tool != "stress-ng") return parse_harness_report(*text, invocation.report);
  auto report = parse_stress_ng_metrics(*text, entry.run.stressor, invocation.report);
  if (!report) return report;
  report->work_units -= static_cast<double>(entry.run.early_operations);
  if (report->work_units <= 0) {
    return Error{"no-work", entry.run.stressor + " did no operation in full", invocation.report, "more operations"};
  }
  return report;
}

Result<std::vector<WorkReport>> SuiteRunner::time(const SuiteProgram& entry, const Progress& progress) const {
  const Invocation native = invocation(entry, true);
  std::vector<WorkReport> runs;
  for (int64_t i = 0; i < options_.native_repeats; ++i) {
    progress(fmt::format("timing, run {} of {}", i + 1, options_.native_repeats));
    if (!native.report.empty()) remove_file(native.report);
    const auto times = actions_.run(native.command, options_.limit_s);
    if (!times) return times.error();
    auto report = read_report(entry, native, *times);
    if (!report) return report.error();
    if (report->cpu_s() <= 0) {
      return Error{"no-time", "a native run reports no CPU time", entry.program.id, "more operations"};
    }
    runs.push_back(*report);
  }
  return runs;
}

Status SuiteRunner::retime(const SuiteProgram& entry, Profile& profile, const std::vector<WorkReport>& timed,
                           SuiteOutcome& outcome) const {
  const double before_s = profile.metrics.at("cpu_s") / *profile.work_units;
  outcome.status = *outcome.time_per_unit_s < before_s ? "retimed" : "kept";
  if (outcome.status == "kept") {
    outcome.time_per_unit_s = before_s;
    return {};
  }
  WorkReport counted;
  counted.work_units = *profile.work_units;
  settle_times(profile, entry, counted, timed);
  return write_suite_profile(profile, profile_path(entry));
}

// "/home/me/bin/stress-ng --yaml /tmp/x/report" -> "stress-ng --yaml {work}/report": files hold no local paths.
void SuiteRunner::make_portable(Profile& profile, const SuiteProgram& entry) const {
  const auto portable = [&](std::string text) {
    text = replaced(std::move(text), program_folder(entry), "{work}");
    text = replaced(std::move(text), tools_.work_folder, "{work}");
    return replaced(std::move(text), suite_.folder, "{suite}");
  };
  profile.command[0] = std::filesystem::path(profile.command[0]).filename().string();
  for (std::string& word : profile.command) word = portable(std::move(word));
  for (ProfilePart& part : profile.parts) part.command = portable(std::move(part.command));
}

Result<SuiteOutcome> SuiteRunner::run_one(const SuiteProgram& entry, const ProfileSink& sink,
                                          const Progress& progress) {
  const Clock::time_point start = Clock::now();
  SuiteOutcome outcome;
  outcome.program = entry.program.id;
  const auto fail = [&](const Error& error) -> Result<SuiteOutcome> {
    if (error.kind == ErrorKind::kInterrupted) return error;
    outcome.status = "failed";
    outcome.reason = error.message;
    outcome.seconds_s = seconds_since(start);
    return outcome;
  };
  const auto why = obstacle(entry);
  if (why && why->status == "excluded") {
    outcome.status = why->status;
    outcome.reason = why->reason;
    return outcome;
  }
  const std::string path = profile_path(entry);
  std::optional<Profile> stored;
  if (!options_.times_only && !options_.again && exists(path)) {
    if (auto kept = read_suite_profile(path)) stored = std::move(*kept);
  }
  // What is there already needs no tool.
  if (stored && (!options_.retime || why)) {
    outcome.status = "kept";
    outcome.time_per_unit_s = stored->metrics.at("cpu_s") / *stored->work_units;
    if (const Status status = sink(entry, *stored); !status) return status.error();
    return outcome;
  }
  if (why) {
    outcome.status = why->status;
    outcome.reason = why->reason;
    return outcome;
  }
  if (const Status status = prepare(entry); !status) return fail(status.error());
  const auto timed = time(entry, progress);
  if (!timed) return fail(timed.error());
  const std::vector<double> per_unit = times_per_unit(*timed);
  outcome.time_per_unit_s = *std::min_element(per_unit.begin(), per_unit.end());
  outcome.spread_ratio = spread_of(per_unit);
  if (options_.times_only) {
    outcome.status = "timed";
    outcome.seconds_s = seconds_since(start);
    return outcome;
  }
  if (stored) {
    if (const Status status = retime(entry, *stored, *timed, outcome); !status) return status.error();
    if (const Status status = sink(entry, *stored); !status) return status.error();
    outcome.seconds_s = seconds_since(start);
    return outcome;
  }

  const Invocation instrumented = invocation(entry, false);
  if (!instrumented.report.empty()) remove_file(instrumented.report);
  CollectRequest request;
  // Many models are trained on it: no sampling error is to be learned, unless that is the question.
  request.exact = !options_.sampled;
  if (!options_.trace_folder.empty()) request.trace_path = options_.trace_folder + "/" + entry.program.id + ".trace";
  request.core_designs = options_.core_designs;
  request.command = instrumented.command;
  request.limit_s = options_.limit_s;
  request.native_repeats = 1;  // for faults, switches and files; its time is replaced
  request.pass_output = false;
  request.input_descriptor = -1;
  auto profile = actions_.profile(request, progress);
  if (!profile) return fail(profile.error());
  const auto work = read_report(entry, instrumented, {});
  if (!work) return fail(work.error());
  profile->program = entry.program.id;
  profile->work_unit = entry.program.work_unit;
  make_portable(*profile, entry);
  settle_times(*profile, entry, *work, *timed);
  if (entry.run.tool == "stress-ng" && tools_.stress_ng->version != suite_.stress_ng_version) {
    profile->warnings.push_back(
        {"other-version",
         fmt::format("stress-ng is {}, the labels are of {}", tools_.stress_ng->version, suite_.stress_ng_version),
         "stress-ng " + suite_.stress_ng_version});
  }
  if (const Status status = write_suite_profile(*profile, path); !status) return status.error();
  const auto valid = read_suite_profile(path);
  if (!valid) {
    remove_file(path);
    return fail(valid.error());
  }
  if (const Status status = sink(entry, *valid); !status) return status.error();
  outcome.status = "profiled";
  outcome.seconds_s = seconds_since(start);
  return outcome;
}

Result<std::vector<SuiteOutcome>> SuiteRunner::run(const ProfileSink& sink, const Progress& progress) {
  std::vector<const SuiteProgram*> todo;
  for (const SuiteProgram& entry : suite_.programs) {
    if (chosen(entry)) todo.push_back(&entry);
  }
  std::vector<SuiteOutcome> outcomes;
  for (size_t i = 0; i < todo.size(); ++i) {
    const std::string head = fmt::format("[{}/{}] {}: ", i + 1, todo.size(), todo[i]->program.id);
    auto outcome = run_one(*todo[i], sink, [&](const std::string& text) { progress(head + text); });
    if (!outcome) return outcome.error();
    outcomes.push_back(std::move(*outcome));
  }
  return outcomes;
}

}  // namespace perfcast
