#pragma once
// What a Slurm batch script asks for and which program it runs. Scripts are untrusted text and are never run.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::fleet {

struct JobScript {
  std::string source;  // path or what stands for it
  // #SBATCH directives, verbatim; empty where absent.
  std::string job_name, partition, constraint, comment, array, time, memory;
  std::optional<int64_t> tasks, cpus_per_task, nodes;  // nodes: the least of a range
  std::optional<int64_t> tasks_per_node;
  bool exclusive = false;               // --exclusive: whole nodes
  std::optional<int64_t> time_limit_s;  // absent also where it is unlimited
  std::optional<int64_t> memory_bytes;  // per node; absent for 0, which is all of a node's
  std::optional<int64_t> memory_bytes_per_core;
  // The program and its arguments: of the last srun or mpirun line, else of the last plain command. Empty where it
  // can't be told, with the reason.
  std::vector<std::string> command;
  std::string command_unclear;
  // Why the job is not one run of `command` alone: a loop, a second run, other commands. Empty where it is.
  std::string runs_more;

  // Cores that a node must have for one task.
  int64_t cores_per_task() const { return cpus_per_task.value_or(1); }
  // Of all nodes together, for one element of an array. sbatch takes one task where nothing is said, one a node where
  // only nodes are.
  double cores() const {
    const double tasks_of_nodes =
        static_cast<double>(nodes.value_or(1)) * static_cast<double>(tasks_per_node.value_or(1));
    return (tasks ? static_cast<double>(*tasks) : tasks_of_nodes) * static_cast<double>(cores_per_task());
  }
};

// As sbatch does: directives count up to the first command, the last of a kind holds, "#SBATCH" is written in capitals.
// Errors: "bad-job-script" (no "#!" first line, DOS line ends, NUL bytes: all of them refused by sbatch too),
// "bad-directive" (a value that is no count, time or size, with its line), "heterogeneous-job" (#SBATCH
// hetjob), "file-too-large".
Result<JobScript> parse_job_script(std::string_view text, const std::string& source);
Result<JobScript> read_job_script(const std::string& path);

// "90" (minutes), "1:30" (minutes and seconds), "2:00:00", "1-12", "1-12:30", "1-12:30:00" -> seconds. None for
// "UNLIMITED", "INFINITE" and "-1" (no limit); error "bad-directive" for anything else.
Result<std::optional<int64_t>> parse_slurm_time_s(std::string_view text, const std::string& where);

// Words as a POSIX shell splits them, quotes removed, nothing expanded, $(...) and the like one piece of a word; ends
// at a word that begins with an unquoted '#'. Operators (| & ; < >) are words of their own in a command, without the
// number that stands before a redirection, and letters like others in a directive. None where a quote stays open.
enum class LineKind { kCommand, kDirective };
struct ShellToken {
  std::string text;
  bool is_operator = false;
};
std::optional<std::vector<ShellToken>> shell_tokens(std::string_view line, LineKind kind);
std::optional<std::vector<std::string>> shell_words(std::string_view line, LineKind kind);

}  // namespace perfcast::fleet
