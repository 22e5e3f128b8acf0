#include "profile/collect/cachegrind/cachegrind_collector.h"

#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/process/temp_folder.h"
#include "base/process/tool.h"
#include "base/text.h"

namespace perfcast {
namespace {

// A file per process, with a line per source line of the program.
constexpr size_t kOutputLimitBytes = size_t{256} << 20;
constexpr size_t kMostEvents = 64;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  size_t start = 0;
  while (start < line.size()) {
    size_t end = line.find(' ', start);
    if (end == std::string_view::npos) end = line.size();
    if (end > start) words.push_back(line.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

uint64_t saturating_sum(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max() : a + b;
}

// Valgrind's log of any process that names an instruction it can't run.
bool met_unknown_instruction(const std::string& folder) {
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    if (!entry.path().filename().string().starts_with("log.")) continue;
    const auto log = read_file(entry.path().string(), size_t{16} << 20);
    if (log && (log->find("unhandled instruction bytes") != std::string::npos ||
                log->find("Unrecognised instruction") != std::string::npos)) {
      return true;
    }
  }
  return false;
}

Result<std::map<std::string, uint64_t>> read_totals(const std::string& folder, size_t& processes) {
  std::map<std::string, uint64_t> totals;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("out.")) continue;
    const auto text = read_file(entry.path().string(), kOutputLimitBytes);
    if (!text) return text.error();
    // A process that became another by exec leaves an empty file.
    if (text->empty()) continue;
    const auto events = parse_cachegrind(*text, name);
    if (!events) return events.error();
    for (const auto& [event, count] : *events) totals[event] = saturating_sum(totals[event], count);
    ++processes;
  }
  return totals;
}

}  // namespace

Result<std::map<std::string, uint64_t>> parse_cachegrind(std::string_view text, const std::string& source) {
  std::optional<std::vector<std::string_view>> names, values;
  size_t line_number = 0, summary_line = 0;
  const auto wrong = [&](const std::string& found, const std::string& expected) {
    return Error{"bad-cachegrind", found, source + ":" + std::to_string(line_number), expected};
  };
  while (!text.empty()) {
    ++line_number;
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (values) return wrong("text after the summary", "the 'summary:' line at the end");
    if (line.starts_with("events:")) {
      if (names) return wrong("a second 'events:' line", "one");
      names = words_of(line.substr(std::string_view("events:").size()));
    } else if (line.starts_with("summary:")) {
      if (end == std::string_view::npos) return wrong("the file is cut off within its summary", "a complete file");
      values = words_of(line.substr(std::string_view("summary:").size()));
      summary_line = line_number;
    }
  }
  line_number = std::max<size_t>(1, line_number);
  if (!names || names->empty()) return wrong("no 'events:' line", "a file that cachegrind wrote");
  if (!values) return wrong("no 'summary:' line: the file is cut off", "a program that ended by itself");
  line_number = summary_line;
  if (names->size() > kMostEvents || values->size() != names->size()) {
    return wrong(fmt::format("{} events and {} sums", names->size(), values->size()), "one sum per event");
  }
  std::map<std::string, uint64_t> result;
  for (size_t i = 0; i < names->size(); ++i) {
    const std::string_view value = (*values)[i];
    uint64_t count = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), count);
    if (problem != std::errc() || end != value.data() + value.size()) {
      return wrong("'" + printable(value.substr(0, 40)) + "' is no count", "an integer from 0 to 2^64-1");
    }
    if (!result.emplace(std::string((*names)[i]), count).second) {
      return wrong("the event '" + printable((*names)[i].substr(0, 40)) + "' stands twice", "each event once");
    }
  }
  return result;
}

std::string CachegrindCollector::version() {
  const std::string line = first_line_of({"valgrind", "--version"});  // "valgrind-3.19.0"
  return line.starts_with("valgrind-") ? line.substr(std::string("valgrind-").size()) : line;
}

Status CachegrindCollector::available() const {
  if (find_in_path("valgrind").empty()) {
    return Error{"tool-missing", "valgrind is not installed", "cachegrind", install_advice("valgrind")};
  }
  return {};
}

CollectResult CachegrindCollector::collect(const CollectRequest& request) {
  if (const Status status = available(); !status) return status.error();
  const auto program = inspect_program(request.command);
  if (!program) return program.error();
  if (!program->runs_here) {
    return Error{"wrong-machine", "valgrind runs programs for this machine's processor only", program->binary,
                 "a program for " + host_instruction_set()};
  }
  const auto folder = TempFolder::create("%");
  if (!folder) return folder.error();

  ProcessRequest process;
  process.executable = find_in_path("valgrind");
  // The last-level cache that valgrind would detect is often a whole server's; these sizes are a core's share.
  process.arguments = {"valgrind",
                       "--tool=cachegrind",
                       "--vgdb=no",
                       "--I1=32768,8,64",
                       "--D1=49152,12,64",
                       "--LL=33554432,16,64",
                       "--branch-sim=yes",
                       "--trace-children=yes",
                       "--cachegrind-out-file=" + folder->path() + "/out.%p",
                       "--log-file=" + folder->path() + "/log.%p",
                       program->path};
  process.arguments.insert(process.arguments.end(), request.command.begin() + 1, request.command.end());
  process.input = request.input;
  process.around = request.around;
  process.limit_s = request.limit_s;
  process.fixed_addresses = true;
  process.output = request.pass_output ? StreamTo::kPass : StreamTo::kDiscard;
  process.error = request.pass_output ? StreamTo::kPass : StreamTo::kTail;
  const auto outcome = run_process(process);
  if (!outcome) return outcome.error();
  if (outcome->limit_reached) {
    return {RunEnd::kLimit,
            Error{"limit-reached",
                  fmt::format("the run under cachegrind did not end within {}", human_seconds(request.limit_s)),
                  program->path, "a longer time limit: cachegrind takes 15 to 60 times as long"}};
  }
  if (outcome->signal == SIGILL || met_unknown_instruction(folder->path())) {
    return Error{"unsupported-instructions", "the program uses instructions that valgrind can't run, such as AVX-512",
                 program->path, "a build for x86-64-v3: -march=x86-64-v3 instead of -march=native"};
  }
  size_t processes = 0;
  const auto totals = read_totals(folder->path(), processes);
  if (!totals) return totals.error();
  if (totals->empty()) {
    return {RunEnd::kProgramFailed,
            Error{"instrumenter-failed",
                  outcome->signal
                      ? "the program ended by signal " + signal_text(*outcome->signal) + " before it could report"
                      : "cachegrind wrote no counts",
                  program->path, "a program that valgrind can run"}};
  }
  Collection result;
  for (const auto& [event, count] : *totals) {
    if (const std::string* metric = Catalogue::built_in().metric_of(name(), event)) {
      result.counters[*metric] = static_cast<double>(count);
    }
  }
  result.instruction_set = program->elf.instruction_set;
  result.exit_code = outcome->exit_code;
  result.signal = outcome->signal;
  result.run_wall_s = outcome->wall_s;
  result.run_user_s = outcome->user_s;
  result.record = {name(), version(), outcome->wall_s, "ok",
                   fmt::format("{} process(es), executed programs included", processes)};
  return result;
}

DoctorFinding CachegrindCollector::examine() {
  if (const Status status = available(); !status) return missing(status.error());
  const std::string found = version();
  if (found.empty()) {
    return {name(), "missing", "valgrind is there but does not start",
            install_advice("--reinstall valgrind libc6-dbg")};
  }
  return {name(), "ok", "cross-check, and counts where QEMU fails; valgrind " + found, ""};
}

}  // namespace perfcast
