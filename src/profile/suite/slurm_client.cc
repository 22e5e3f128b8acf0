#include "profile/suite/slurm_client.h"

#include <algorithm>

#include "base/process/tool.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kLimit_s = 120;  // a controller may be busy

bool is_digits(std::string_view text) {
  return !text.empty() && text.size() <= 20 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::string> answer_of_slurm(const std::vector<std::string>& command, double limit_s = kLimit_s) {
  auto answer = answer_of(command, limit_s);
  if (answer) return answer;
  Error error = answer.error();
  if (error.code == "tool-missing") return Error{"slurm-missing", error.message, "", install_advice("slurm-client")};
  if (error.code == "tool-failed")
    return Error{"slurm-failed", error.message, "", "a working Slurm and partitions that it has: sinfo"};
  return error;
}

}  // namespace

bool is_partition_name(const std::string& name) {
  return !name.empty() && name[0] != '-' && name[0] != '.' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '+' || c == '-';
  });
}

Result<std::string> answer_of_node(const NodeRequest& request, const std::vector<std::string>& command) {
  std::vector<std::string> words = {"srun", "--partition=" + request.partition, "--job-name=" + request.name,
                                    "--nodes=1", "--ntasks=1"};
  if (request.exclusive) words.emplace_back("--exclusive");
  words.insert(words.end(), request.options.begin(), request.options.end());
  words.insert(words.end(), command.begin(), command.end());
  constexpr double kAsLongAsItTakes_s = 0;
  return answer_of_slurm(words, kAsLongAsItTakes_s);
}

Result<std::string> parse_job_id(std::string_view text) {
  const std::string_view id = trim(text.substr(0, text.find(';')));
  if (!is_digits(id)) {
    return Error{"slurm-failed", "sbatch gave no job id: " + printable(text.substr(0, 80)), "", "a working Slurm"};
  }
  return std::string(id);
}

std::map<std::string, std::string> parse_queue(std::string_view text) {
  std::map<std::string, std::string> tasks;
  for (const std::string& line : split(text, '\n')) {
    const std::string_view row = trim(line);
    const std::string_view id = row.substr(0, row.find(' '));
    const size_t bar = id.find('_');
    if (bar == std::string_view::npos || !is_digits(id.substr(0, bar)) || !is_digits(id.substr(bar + 1))) continue;
    tasks.emplace(id, trim(row.substr(id.size())));
  }
  return tasks;
}

std::string parse_accounts(std::string_view text, const std::string& name) {
  std::string last;
  for (const std::string& line : split(text, '\n')) {
    const size_t bar = line.find('|');  // "123_4", "123_[5-9]": tasks that never started
    const std::string id = line.substr(0, std::min(line.find('_'), bar));
    if (bar != std::string::npos && trim(std::string_view(line).substr(bar + 1)) == name && is_digits(id)) last = id;
  }
  return last;
}

SlurmClient real_slurm_client() {
  SlurmClient client;
  client.submit = [](const ArrayRequest& request) -> Result<std::string> {
    std::vector<std::string> command = {"sbatch",
                                        "--parsable",
                                        "--partition=" + request.partition,
                                        "--array=1-" + std::to_string(request.tasks),
                                        "--output=" + request.output,
                                        "--ntasks=1"};
    if (request.exclusive) command.emplace_back("--exclusive");
    command.insert(command.end(), request.options.begin(), request.options.end());
    command.push_back("--job-name=" + request.name);  // the last one holds: a later call knows the array by it
    command.push_back(request.script);
    const auto text = answer_of_slurm(command);
    if (!text) return text.error();
    return parse_job_id(*text);
  };
  client.queued = []() -> Result<std::map<std::string, std::string>> {
    const auto text = answer_of_slurm({"squeue", "--noheader", "--array", "--me", "--format=%i %j"});
    if (!text) return text.error();
    return parse_queue(*text);
  };
  client.accounted = [](const std::string& name) -> Result<std::string> {
    const auto text = answer_of_slurm({"sacct", "--noheader", "--parsable2", "--allocations", "--starttime=now-30days",
                                       "--name=" + name, "--format=JobID,JobName"});
    if (!text) return text.error();
    return parse_accounts(*text, name);
  };
  return client;
}

}  // namespace perfcast
