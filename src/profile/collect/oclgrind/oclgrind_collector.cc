#include "profile/collect/oclgrind/oclgrind_collector.h"

#include <fmt/format.h>

#include <algorithm>
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
#include "profile/collect/oclgrind/kernel_counts.h"

namespace perfcast {
namespace {

constexpr const char* kPlugin = "libperfcast_oclgrind_plugin.so";
constexpr const char* kCountsName = "kernels";
constexpr size_t kCountsLimitBytes = size_t{64} << 20;
// As with QEMU: where nobody gave a limit, the run is ended here.
constexpr double kLongest_s = 180;
// The plugin ends the run itself, a little earlier, and knows then what was cut.
constexpr double kPluginShare = 0.9, kGrace_s = 2;
constexpr double kMostDeviceBytes = 8.0 * (1ULL << 30);
constexpr double kDeviceShare = 0.5;          // of the free memory
constexpr const char* kLocalBytes = "65536";  // as most GPUs have
constexpr size_t kWordsShown = 300;

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// Beside the tool: PREFIX/bin/oclgrind has PREFIX/lib/oclgrind/liboclgrind-rt.so.
std::string find_runtime() {
  const std::string tool = find_in_path("oclgrind");
  if (tool.empty()) return "";
  std::error_code problem;
  const auto real = std::filesystem::canonical(tool, problem);
  if (problem) return "";
  const std::string path = (real.parent_path().parent_path() / "lib/oclgrind/liboclgrind-rt.so").string();
  return is_file(path) ? path : "";
}

// "Oclgrind 21.10"
std::string version() {
  for (const std::string& word : split(first_line_of({"oclgrind", "--version"}), ' ')) {
    if (!word.empty() && word[0] >= '0' && word[0] <= '9') return word;
  }
  return "";
}

void set_unless_given(std::map<std::string, std::string>& environment, const char* name, const std::string& value) {
  if (std::getenv(name) == nullptr) environment[name] = value;
}

Result<KernelCounts> read_counts(const std::string& folder) {
  KernelCounts sum;
  std::vector<std::string> paths;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kCountsName) && !name.ends_with(".tmp")) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const auto text = read_file(path, kCountsLimitBytes);
    if (!text) return text.error();
    const auto counts = parse_kernel_counts(*text, path);
    if (!counts) return counts.error();
    join(sum, *counts);
  }
  return sum;
}

void warn_of_errors(const KernelCounts& counts, Collection& result) {
  const std::string first = counts.first_error.empty() ? "" : "; the first: " + printable(counts.first_error);
  if (counts.errors > 0) {
    result.warnings.push_back({"kernel-errors",
                               fmt::format("Oclgrind reports {:.0f} error{} of the program's kernels{}", counts.errors,
                                           counts.errors == 1 ? "" : "s", first),
                               "oclgrind COMMAND shows them all; what a device does in these cases is not defined"});
  }
  if (counts.races > 0) {
    result.warnings.push_back({"kernel-races",
                               fmt::format("Oclgrind reports {:.0f} data race{} between work items{}", counts.races,
                                           counts.races == 1 ? "" : "s", counts.errors > 0 ? "" : first),
                               "oclgrind --data-races COMMAND shows them all; results may differ from run to run"});
  }
}

void warn_of_cut(const KernelCounts& counts, double limit_s, Collection& result) {
  const std::string where =
      counts.cut_kernel.empty() ? "" : ", while the kernel " + printable(counts.cut_kernel) + " ran";
  result.warnings.push_back(
      {"kernels-cut",
       fmt::format("the run under Oclgrind was ended after {}{}: that launch is counted by the work groups that were "
                   "done, and launches after it are not known",
                   human_seconds(limit_s), where),
       "a smaller input, or a longer --time-limit: Oclgrind runs some ten million instructions a second"});
  result.exit_code.reset();
  result.signal.reset();
}

}  // namespace

std::string OclgrindCollector::find_plugin() {
  if (const char* path = std::getenv("PERFCAST_OCLGRIND_PLUGIN"); path != nullptr && *path != '\0') {
    return is_file(path) ? path : "";
  }
  return find_shipped_file(kPlugin, "src/profile/collect/oclgrind/plugin");
}

Status OclgrindCollector::available() const {
  if (find_runtime().empty()) {
    return Error{"tool-missing", "Oclgrind is not installed", "oclgrind", install_advice("oclgrind")};
  }
  if ((plugin_.empty() ? find_plugin() : plugin_).empty()) {
    return Error{"tool-missing", std::string(kPlugin) + " is neither beside the binary nor in ../lib/perfcast",
                 "oclgrind",
                 "a build with liboclgrind-dev installed, or PERFCAST_OCLGRIND_PLUGIN=/path/" + std::string(kPlugin)};
  }
  return {};
}

CollectResult OclgrindCollector::collect(const CollectRequest& request) {
  if (const Status status = available(); !status) return status.error();
  const auto program = inspect_program(request.command);
  if (!program) return program.error();
  if (!program->runs_here) {
    return Error{"wrong-machine", "Oclgrind runs programs for this machine's processor only", program->binary,
                 "a program for " + host_instruction_set()};
  }
  const std::string plugin = plugin_.empty() ? find_plugin() : plugin_;
  const auto folder = TempFolder::create(": ");  // separators of LD_PRELOAD
  if (!folder) return folder.error();
  if (plugin.find_first_of(": ") != std::string::npos) {
    return Error{"bad-path", "the plugin's path has a colon or a space, which separate libraries", plugin,
                 "PERFCAST_OCLGRIND_PLUGIN=/another/path/" + std::string(kPlugin)};
  }
  const double limit_s = request.limit_s > 0 ? request.limit_s : kLongest_s;

  ProcessRequest process;
  process.executable = program->path;
  process.arguments = request.command;
  std::map<std::string, std::string>& environment = process.environment;
  const char* preloaded = std::getenv("LD_PRELOAD");
  environment["LD_PRELOAD"] =
      plugin + ":" + find_runtime() + (preloaded != nullptr && *preloaded != '\0' ? ":" + std::string(preloaded) : "");
  const char* plugins = std::getenv("OCLGRIND_PLUGINS");
  environment["OCLGRIND_PLUGINS"] = plugin + (plugins != nullptr ? ":" + std::string(plugins) : "");
  environment["PERFCAST_OCLGRIND_OUT"] = folder->path() + "/" + kCountsName;
  environment["PERFCAST_OCLGRIND_LIMIT_S"] = fmt::format("{:.3f}", kPluginShare * limit_s);
  const double device_bytes = std::min(kMostDeviceBytes, kDeviceShare * free_memory_bytes());
  set_unless_given(environment, "OCLGRIND_GLOBAL_MEM_SIZE", fmt::format("{:.0f}", device_bytes));
  set_unless_given(environment, "OCLGRIND_LOCAL_MEM_SIZE", kLocalBytes);
  // Its messages are counted; the program's standard error stays the program's.
  set_unless_given(environment, "OCLGRIND_LOG", "/dev/null");
  process.input = request.input;
  process.around = request.around;
  process.limit_s = limit_s + kGrace_s;
  process.output = request.pass_output    ? StreamTo::kPass
                   : request.show_output  ? StreamTo::kStderr
                   : request.wants_output ? StreamTo::kDigest
                                          : StreamTo::kDiscard;
  process.error = request.pass_output || request.show_output ? StreamTo::kPass : StreamTo::kTail;
  const auto outcome = run_process(process);
  if (!outcome) return outcome.error();
  auto counts = read_counts(folder->path());
  if (!counts) return counts.error();
  counts->cut = counts->cut || outcome->limit_reached;
  const bool is_counted = std::any_of(counts->kernels.begin(), counts->kernels.end(),
                                      [](const ProfileKernel& kernel) { return !kernel.launches.empty(); });
  if (counts->cut && !is_counted) {
    return {RunEnd::kLimit,
            Error{"kernels-cut",
                  fmt::format("the run under Oclgrind had counted no kernel after {}", human_seconds(limit_s)),
                  program->binary,
                  "a smaller input, or a longer --time-limit: Oclgrind runs some ten million instructions a second"}};
  }

  Collection result;
  result.kernels = counts->kernels;
  if (!result.kernels.empty()) result.counters = run_metrics(*counts);
  result.instruction_set = program->elf.instruction_set;
  result.exit_code = outcome->exit_code;
  result.signal = outcome->signal;
  if (!outcome->ok()) result.last_words = printable(trim(outcome->error_tail).substr(0, kWordsShown));
  result.run_wall_s = outcome->wall_s;
  result.run_user_s = outcome->user_s;
  if (outcome->digest) result.outputs.push_back(*outcome->digest);
  double launches = 0, counted = 0;
  for (const ProfileKernel& kernel : result.kernels) {
    launches += kernel.launches_count;
    counted += static_cast<double>(kernel.launches.size());
  }
  result.record = {name(), version(), outcome->wall_s, "ok",
                   fmt::format("{} kernel{}; launches {:.0f}, counted {:.0f}", result.kernels.size(),
                               result.kernels.size() == 1 ? "" : "s", launches, counted)};
  warn_of_errors(*counts, result);
  if (counts->cut) warn_of_cut(*counts, limit_s, result);
  return result;
}

DoctorFinding OclgrindCollector::examine() {
  if (const Status status = available(); !status) return missing(status.error());
  const std::string found = version();
  if (found.empty())
    return {name(), "missing", "Oclgrind is there but does not start", install_advice("--reinstall oclgrind")};
  return {name(), "ok", fmt::format("OpenCL kernels without a GPU; Oclgrind {}, plugin {}", found, find_plugin()), ""};
}

}  // namespace perfcast
