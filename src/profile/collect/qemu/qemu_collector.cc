#include "profile/collect/qemu/qemu_collector.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/process/shipped_file.h"
#include "base/process/temp_folder.h"
#include "base/process/tool.h"
#include "base/text.h"
#include "machine/ceiling/free_memory.h"
#include "profile/collect/qemu/emulator_memory.h"
#include "profile/collect/qemu/executed_code.h"
#include "profile/collect/qemu/follow_plan.h"
#include "profile/collect/qemu/phase_series.h"
#include "profile/collect/qemu/shared_lines.h"
#include "profile/collect/qemu/traced_processes.h"
#include "profile/core/memory_counts.h"
#include "profile/trace/trace.h"

namespace perfcast {
namespace {

constexpr const char* kPlugin = "libperfcast_qemu_plugin.so";
constexpr const char* kCountsPrefix = "counts.";
constexpr size_t kCountsLimitBytes = size_t{1} << 20;
constexpr const char *kTraceSuffix = ".trace", *kSharingSuffix = ".sharing";
constexpr size_t kTraceLimitBytes = size_t{1} << 28;
constexpr const char* kBlocksSuffix = ".blocks";
constexpr size_t kBlocksLimitBytes = size_t{1} << 30;
constexpr const char* kPhasesSuffix = ".phases";
constexpr size_t kPhasesLimitBytes = size_t{1} << 26;
constexpr size_t kPhaseIntervals = 512;               // half as many at the least, of a long program
constexpr size_t kMostBlocksOfRun = size_t{1} << 22;  // 200 MB
// Of many processes the largest.
constexpr size_t kTracedProcesses = 32, kTracedBytes = size_t{3} << 26;
// Where nobody gave a limit, a sampled run of a longer program is ended here; what it has seen by then stands for all.
constexpr double kMostOfCutRun = 0.95;
constexpr double kLongestSampled_s = 180;
// Of a core that nobody knows more about: only to say how much of a program was seen.
constexpr double kTypicalInstructionsPer_s = 2.5e9;
// The beginning has to do where a quick look would take longer: most compiled programs of a second are through by then,
// interpreters are not.
constexpr double kQuick_s = 3, kQuickRatio = 1;
constexpr size_t kManyProcesses = 20;
constexpr size_t kLineBytes = 300;
constexpr size_t kLastLines = 4;
constexpr size_t kThreadsKept = 64;
constexpr const char *kFewWindows = ",sample=3000000:3000000:0.2:0:1",
                     *kQuickWindows = ",sample=2000000:2000000:0.1:0:1";
constexpr const char* kLeftOutByPlan = "by-plan";
// The folder of the other architecture's libraries, as Debian's cross packages install them.
constexpr const char* kArmLibraries = "/usr/aarch64-linux-gnu";

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

std::string qemu_of(const std::string& instruction_set) { return "qemu-" + instruction_set; }

// "qemu-x86_64 version 7.2.22 (Debian ...)"
std::string version_in(const std::string& line) {
  const size_t at = line.find("version ");
  if (at == std::string::npos) return "";
  const std::string rest = line.substr(at + std::string("version ").size());
  return rest.substr(0, rest.find(' '));
}

// One of each program and process that came to its end, whatever killed it.
Result<std::vector<PluginCounts>> read_counts(const std::string& folder) {
  std::vector<PluginCounts> parts;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kCountsPrefix) || name.ends_with(".tmp") || name.ends_with(kTraceSuffix) ||
        name.ends_with(kSharingSuffix) || name.ends_with(kBlocksSuffix) || name.ends_with(kPhasesSuffix))
      continue;
    const auto text = read_file(entry.path().string(), kCountsLimitBytes);
    if (!text) return text.error();
    auto counts = parse_plugin_counts(*text, name);
    if (!counts) return counts.error();
    parts.push_back(std::move(*counts));
  }
  return parts;
}

double weight_of(const PluginCounts& counts, const std::vector<double>& weights) {
  return counts.group < 0 ? 1 : weights.at(static_cast<size_t>(counts.group));
}

// Which code ran in the processes of these counts, largest processes first. What can't be read is ours to mend: an
// error.
void take_executed_code(const std::string& folder, const std::vector<PluginCounts>& all,
                        const std::vector<double>& weights, std::vector<ExecutedCode>& executed,
                        std::vector<ProfileWarning>& warnings) {
  std::vector<std::pair<double, const PluginCounts*>> largest;
  largest.reserve(all.size());
  for (const PluginCounts& counts : all)
    largest.emplace_back(weight_of(counts, weights) * static_cast<double>(counts.counts.at("instructions")), &counts);
  std::stable_sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  size_t blocks = 0;
  executed.clear();
  for (const auto& [instructions, counts] : largest) {
    const std::string path = folder + "/" + counts->source + kBlocksSuffix;
    if (!is_file(path)) continue;
    const auto text = read_bytes(path, kBlocksLimitBytes);
    auto code = text ? parse_executed_code(*text, path) : Result<ExecutedCode>(text.error());
    if (!code) {
      warnings.push_back({"executed-code-not-read", code.error().message + ": " + counts->program, "a report of this"});
      continue;
    }
    blocks += code->blocks.size();
    if (blocks > kMostBlocksOfRun && !executed.empty()) break;
    code->program = counts->program;
    code->process = counts->process;
    code->weight = weight_of(*counts, weights);
    executed.push_back(std::move(*code));
  }
  if (executed.size() < all.size()) {
    warnings.push_back(
        {"executed-code-of-a-part",
         fmt::format("which code ran is known of {} of {} processes, the largest of them", executed.size(), all.size()),
         "a command that starts fewer processes"});
  }
}

// The series of the process that ran most instructions. What can't be read is ours to mend: an error.
Status take_phase_series(const std::string& folder, const std::vector<PluginCounts>& all, PhaseSeries& series) {
  series = {};
  double sum = 0, most = 0;
  size_t processes = 0;
  const PluginCounts* largest = nullptr;
  for (const PluginCounts& counts : all) {
    const auto instructions = static_cast<double>(counts.counts.at("instructions"));
    sum += instructions;
    if (!is_file(folder + "/" + counts.source + kPhasesSuffix)) continue;
    ++processes;
    if (instructions <= most) continue;
    most = instructions;
    largest = &counts;
  }
  if (largest == nullptr) return {};
  const std::string path = folder + "/" + largest->source + kPhasesSuffix;
  const auto text = read_bytes(path, kPhasesLimitBytes);
  if (!text) return text.error();
  auto read = parse_phase_series(*text, path);
  if (!read) return read.error();
  series = std::move(*read);
  series.program = largest->program;
  series.processes = processes;
  series.instructions_ratio = most / sum;
  if (const std::string windows = folder + "/" + largest->source + kTraceSuffix; is_file(windows)) {
    const auto bytes = read_file(windows, kTraceLimitBytes);
    if (!bytes) return bytes.error();
    auto trace = parse_process_trace(*bytes, windows);
    if (!trace) return trace.error();
    series.trace = std::make_shared<const ProcessTrace>(std::move(*trace));
  }
  return {};
}

bool wants_trace(const CollectRequest& request) {
  return !request.trace_path.empty() || (request.core_designs != nullptr && !request.mix_only);
}

// The pieces that the processes of these counts left. A trace that can't be read is ours to mend: an error.
Result<std::vector<TracedProcess>> read_pieces(const std::string& folder, const std::vector<PluginCounts>& all,
                                               const std::vector<double>& weights) {
  std::vector<TracedProcess> processes;
  for (const PluginCounts& counts : all) {
    const std::string path = folder + "/" + counts.source + kTraceSuffix;
    if (!is_file(path)) continue;
    const auto bytes = read_file(path, kTraceLimitBytes);
    if (!bytes) return bytes.error();
    auto trace = parse_process_trace(*bytes, path);
    if (!trace) return trace.error();
    TracedProcess& process = processes.emplace_back();
    process.trace = std::move(*trace);
    process.trace.program = std::filesystem::path(counts.program).filename().string();
    process.instructions_count = weight_of(counts, weights) * static_cast<double>(counts.counts.at("instructions"));
  }
  return processes;
}

// The windows of the run, to the file where one was asked for.
Status take_windows(const CollectRequest& request, const std::string& folder,
                    const std::vector<PluginCounts>& all_counts, const std::vector<double>& weights,
                    const RunCounts& counts, Collection& result) {
  auto processes = read_pieces(folder, all_counts, weights);
  if (!processes) return processes.error();
  std::map<std::string, double> instructions_by_program;
  for (const ProgramCounts& program : counts.programs)
    instructions_by_program[program.name] = program.counts.at("instructions");
  Trace trace;
  trace.program = std::filesystem::path(request.command[0]).filename().string();
  trace.command = request.command;
  trace.counts = memory_counts(metrics_of(counts.counts));
  const size_t all = processes->size();
  trace.processes = kept_processes(std::move(*processes), instructions_by_program, kTracedProcesses, kTracedBytes);
  if (!request.trace_path.empty()) {
    size_t pieces = 0;
    uint64_t instructions = 0;
    for (const ProcessTrace& process : trace.processes) {
      pieces += process.pieces.size();
      instructions += process.instructions_count();
    }
    result.record.note += fmt::format("; trace of {} pieces, {} instructions", pieces, instructions);
    if (all > trace.processes.size())
      result.record.note += fmt::format(", from {} of {} processes", trace.processes.size(), all);
    if (const Status status = write_trace(trace, request.trace_path); !status)  // what was counted stays
      result.warnings.push_back({"windows-not-written", status.error().message + ": " + request.trace_path,
                                 "--windows FILE in a folder with room that you may write"});
  }
  result.trace = std::make_shared<const Trace>(std::move(trace));
  return {};
}

// What each process saw; one that can't be read is ours to mend: an error.
Status take_shared_lines(const std::string& folder, const std::vector<PluginCounts>& all_counts, SharedLines& lines) {
  lines = {};
  for (const PluginCounts& counts : all_counts) {
    const std::string path = folder + "/" + counts.source + kSharingSuffix;
    if (!is_file(path)) continue;
    const auto text = read_file(path, kCountsLimitBytes);
    if (!text) return text.error();
    const auto of_process = parse_shared_lines(*text, path);
    if (!of_process) return of_process.error();
    lines.add(*of_process);
  }
  return {};
}

std::string last_lines(const std::string& text, size_t count) {
  const auto lines = split(trim(text), '\n');
  std::string found;
  for (size_t i = lines.size() - std::min(count, lines.size()); i < lines.size(); ++i) {
    found += (found.empty() ? "" : " | ") + printable(lines[i].substr(0, kLineBytes));
  }
  return found;
}

// What ended the emulator before the program's own end.
CollectResult failure(const ProcessOutcome& outcome, const std::string& program) {
  const bool illegal =
      outcome.signal == SIGILL || outcome.error_tail.find("uncaught target signal 4") != std::string::npos;
  if (illegal) {
    return Error{"unsupported-instructions", "the program uses instructions that QEMU can't run, such as AVX-512",
                 program,
                 "a build for x86-64-v3: -march=x86-64-v3 instead of -march=native; or, where the program chooses at "
                 "run time, GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F or the library's own switch"};
  }
  std::string message = "QEMU ended without counts";
  if (outcome.signal) message += ", by signal " + signal_text(*outcome.signal);
  if (outcome.exit_code) message += fmt::format(", with exit code {}", *outcome.exit_code);
  if (!outcome.error_tail.empty()) message += ": " + last_lines(outcome.error_tail, 1);
  return {RunEnd::kProgramFailed,
          Error{"instrumenter-failed", message, program, "a program that QEMU's user-mode emulation can run"}};
}

void note_sampling(const RunCounts& counts, Collection& result) {
  const auto value = [&](const char* key) {
    const auto found = counts.counts.find(key);
    return found == counts.counts.end() ? 0.0 : found->second;
  };
  const double windows = value("sampling_windows"), all = value("instructions");
  if (windows <= 0 || all <= 0) return;
  result.record.note +=
      fmt::format("; caches and branches sampled in {:.0f} windows, with the starts {:.2g}% of the instructions",
                  windows, 100 * value("sampled_instructions") / all);
}

void take_wider_code(const RunCounts& counts, Collection& result) {
  WiderCode wider = counts.arch == "x86_64" ? find_wider_code(counts.files, counts.counts.at("instructions"))
                                            : WiderCode{{}, "known of x86-64 programs only", {}};
  result.counters.merge(metrics_of(wider.counts));
  for (const char* key : kWiderCodeKeys) {
    const std::string* metric = Catalogue::built_in().metric_of("qemu", key);
    if (metric != nullptr && !wider.missing.empty()) result.missing[*metric] = wider.missing;
  }
  if (wider.warning) result.warnings.push_back(*std::move(wider.warning));
}

// The limit ended the instrumented run before the program had done its work: its beginning has to stand for all.
void take_beginning_for_all(const CollectRequest& request, Collection& result) {
  const auto instructions = result.counters.find("instructions_count");
  if (instructions == result.counters.end() || instructions->second <= 0) return;
  const double expected = request.native_cpu_s * kTypicalInstructionsPer_s;
  // The rate is typical, not the program's own: a run that was cut did not end, whatever it says.
  const double scale = std::max(1 / kMostOfCutRun, expected / instructions->second);
  result.stretch(scale);
  // It ended by our signal, not as the program does.
  result.exit_code.reset();
  result.signal.reset();
  result.seen_ratio = 1 / scale;
}

}  // namespace

MetricValues metrics_of(const std::map<std::string, double, std::less<>>& counts) {
  MetricValues metrics;
  for (const auto& [key, count] : counts) {
    if (const std::string* metric = Catalogue::built_in().metric_of("qemu", key)) {
      metrics[*metric] = count;
    }
  }
  return metrics;
}

std::string QemuCollector::find_plugin() {
  if (const char* path = std::getenv("PERFCAST_QEMU_PLUGIN"); path != nullptr && *path != '\0') {
    return is_file(path) ? path : "";
  }
  return find_shipped_file(kPlugin, "src/profile/collect/qemu/plugin");
}

Status QemuCollector::available() const {
  const std::string qemu = qemu_of(host_instruction_set());
  if (find_in_path(qemu).empty()) {
    return Error{"tool-missing", qemu + " is not installed", "qemu", install_advice("qemu-user")};
  }
  if ((plugin_.empty() ? find_plugin() : plugin_).empty()) {
    return Error{"tool-missing", std::string(kPlugin) + " is neither beside the binary nor in ../lib/perfcast", "qemu",
                 "a build with libcapstone-dev installed, or PERFCAST_QEMU_PLUGIN=/path/" + std::string(kPlugin)};
  }
  return {};
}

CollectResult QemuCollector::collect(const CollectRequest& request) {
  const auto program = inspect_program(request.command);
  if (!program) return program.error();
  const std::string& set = program->elf.instruction_set;
  if (set != "x86_64" && set != "aarch64") {
    return Error{"wrong-machine", "programs for " + set + " can't be profiled", program->binary,
                 "a program for x86-64 or AArch64"};
  }
  const std::string qemu = find_in_path(qemu_of(set));
  if (qemu.empty()) {
    return Error{"tool-missing", qemu_of(set) + " is not installed", program->binary, install_advice("qemu-user")};
  }
  const std::string plugin = plugin_.empty() ? find_plugin() : plugin_;
  if (plugin.empty()) return available().error();
  const auto folder = TempFolder::create(",=");
  if (!folder) return folder.error();

  ProcessRequest process;
  process.executable = qemu;
  std::string options =
      fmt::format("{},out={}/counts,mode={},follow=on", plugin, folder->path(), request.mix_only ? "mix" : "full");
  // Many processes are many starts: as many windows in each as in one would cost more than they tell.
  if (!request.exact && !request.mix_only)
    options += request.quick ? kQuickWindows : request.census.size() > kManyProcesses ? kFewWindows : ",sample=on";
  if (wants_trace(request)) options += ",trace=on";
  if (request.shared_lines) options += ",sharing=on";
  if (request.executed_code) options += ",blocks=on";
  options += ",files=on";
  if (request.phase_series) options += fmt::format(",phases={}", kPhaseIntervals);
  const bool foreign_libraries = std::getenv("QEMU_LD_PREFIX") == nullptr && host_instruction_set() != "aarch64";
  if (foreign_libraries) options += std::string(",sysroot=") + kArmLibraries;
  const FollowPlan plan = plan_following(request.census);
  if (!plan.rules.empty()) {
    const std::string path = folder->path() + "/plan";
    if (const Status status = write_file_atomically(path, plan_file(plan)); !status) return status.error();
    options += ",plan=" + path;
  }
  process.arguments = {qemu, "-cpu", "max", "-plugin", options};
  if (foreign_libraries && set == "aarch64") {
    process.arguments.insert(process.arguments.end(), {"-L", kArmLibraries});
  }
  // Loaded before the C library the plugin sees fatal signals; the program itself doesn't get to see the setting.
  if (std::getenv("LD_PRELOAD") == nullptr) {
    process.environment["LD_PRELOAD"] = plugin;
    process.arguments.insert(process.arguments.end(), {"-U", "LD_PRELOAD"});
  }
  process.arguments.insert(process.arguments.end(), {"-0", program->arguments[0], program->binary});
  process.arguments.insert(process.arguments.end(), program->arguments.begin() + 1, program->arguments.end());
  process.input = request.input;
  process.around = request.around;
  process.limit_s = request.limit_s;
  if (!request.exact && process.limit_s <= 0) process.limit_s = kLongestSampled_s;
  // Of several processes the beginning is another program.
  if (request.quick && request.native_cpu_s > 0 && request.census.size() <= 1)
    process.limit_s = std::min(process.limit_s, kQuick_s + kQuickRatio * request.native_cpu_s);
  process.fixed_addresses = true;
  process.memory_limit_bytes = emulator_memory_bytes(request, free_memory_bytes());
  process.output = request.pass_output    ? StreamTo::kPass
                   : request.show_output  ? StreamTo::kStderr
                   : request.wants_output ? StreamTo::kDigest
                                          : StreamTo::kDiscard;
  process.error = request.pass_output || request.show_output ? StreamTo::kPass : StreamTo::kTail;
  FirstLineLater version({qemu, "--version"});
  const double records_bytes = address_records_bytes(request.native_address_bytes);
  if (records_bytes > process.memory_limit_bytes && keeps_address_records(version_in(version.get()))) {
    return {RunEnd::kMemory,
            too_much_memory(fmt::format("the program reserves {} of address space, for which the emulator takes {}",
                                        human_bytes(request.native_address_bytes), human_bytes(records_bytes)),
                            process.memory_limit_bytes, program->binary)};
  }
  const auto outcome = run_process(process);
  if (!outcome) return outcome.error();
  if (outcome->memory_limit_reached) {
    return {RunEnd::kMemory, too_much_memory("the emulator was ended: it took too much memory",
                                             process.memory_limit_bytes, program->binary)};
  }
  const auto found = read_counts(folder->path());
  if (!found) return found.error();
  std::vector<ProfileWarning> warnings;
  if (request.executed_code) {  // whatever ended the run
    take_executed_code(folder->path(), *found, plan.weights(), *request.executed_code, warnings);
  }
  if (request.phase_series) {
    if (const Status taken = take_phase_series(folder->path(), *found, *request.phase_series); !taken)
      warnings.push_back({"phases-not-read", taken.error().message, "a report of this"});
  }
  if (outcome->limit_reached && (request.exact || found->empty() || request.native_cpu_s <= 0)) {
    return {RunEnd::kLimit,
            Error{"limit-reached",
                  fmt::format("the instrumented run did not end within the {} that were left for it",
                              human_seconds(process.limit_s)),
                  program->binary, "a longer time limit: an instrumented run takes 10 to 25 times as long"}};
  }
  if (found->empty() || outcome->signal == SIGILL) return failure(*outcome, program->binary);
  const auto counts = join_plugin_counts(*found, plan.weights(), "QEMU plugin");
  if (!counts) return counts.error();

  Collection result;
  result.warnings = std::move(warnings);
  result.counters = metrics_of(counts->counts);
  result.instruction_set = counts->arch;
  result.exit_code = outcome->exit_code;
  result.signal = outcome->signal;
  if (!outcome->ok()) result.last_words = last_lines(outcome->error_tail, kLastLines);
  result.run_wall_s = outcome->wall_s;
  result.run_user_s = outcome->user_s;
  if (outcome->digest) result.outputs.push_back(*outcome->digest);
  for (const ProgramCounts& part : counts->programs) {
    result.parts.push_back({part.name, part.command, part.processes, part.represented, metrics_of(part.counts)});
  }
  for (const ThreadOfRun& thread : counts->threads) {
    if (result.threads.size() == kThreadsKept) break;
    result.threads.push_back({thread.program, metrics_of(thread.counts)});
  }
  for (const UnseenProgram& unseen : counts->unseen) {
    if (unseen.why != kLeftOutByPlan) result.unseen.push_back(unseen);
  }
  result.record = {name(), version_in(version.get()), outcome->wall_s, "ok",
                   "fixed addresses: counts repeat where the program's work does"};
  if (counts->processes > 1) result.record.note += fmt::format("; {} processes", counts->processes);
  for (const FollowGroup& group : plan.groups) {
    result.record.note += fmt::format("; of {} {} processes {} were instrumented, the others ran natively",
                                      group.members, group.program, group.followed);
  }
  for (const auto& replicate : counts->replicates) result.replicates.push_back(metrics_of(replicate));
  note_sampling(*counts, result);
  take_wider_code(*counts, result);
  if (wants_trace(request)) {
    const Status status = take_windows(request, folder->path(), *found, plan.weights(), *counts, result);
    if (!status) return status.error();
  }
  if (request.shared_lines) {
    // What was counted stays.
    if (Status taken = take_shared_lines(folder->path(), *found, *request.shared_lines); !taken)
      result.warnings.push_back({"shared-lines-not-read", taken.error().message, "a report of this"});
  }
  if (outcome->limit_reached) take_beginning_for_all(request, result);
  for (const std::string& other : counts->other_arches) {
    result.warnings.push_back({"several-architectures", "some of the command's programs are built for " + other,
                               "a command whose programs are all built for " + counts->arch});
  }
  if (const auto untracked = counts->counts.find("untracked");
      untracked != counts->counts.end() && untracked->second > 0) {
    result.warnings.push_back({"partial-counts",
                               fmt::format("{:.0f} blocks or threads of the program exceeded the plugin's tables and "
                                           "were not counted",
                                           untracked->second),
                               "a smaller program, or cachegrind: --cross-check"});
  }
  return result;
}

DoctorFinding QemuCollector::examine() {
  if (const Status status = available(); !status) return missing(status.error());
  const auto found = collect(trial_request());
  if (!found) return missing(found.error());
  return {
      name(), "ok",
      fmt::format("instruction mix, caches, TLB, branches; QEMU {}, plugin {}", found->record.version, find_plugin()),
      ""};
}

}  // namespace perfcast
