#include "collect/process/tool.h"

#include "base/file.h"
#include "base/text.h"
#include "collect/process/process.h"
#include "collect/process/program_inspector.h"
#include "collect/process/temp_folder.h"

namespace perfcast {

std::string first_line_of(const std::vector<std::string>& command) {
  const std::string program = find_in_path(command.front());
  const std::string shell = find_in_path("sh");
  if (program.empty() || shell.empty()) return "";
  // The shell turns stdout into stderr, of which run_process keeps the end.
  ProcessRequest request;
  request.executable = shell;
  request.arguments = {"sh", "-c", "exec 3>&2; \"$@\" 2>/dev/null | head -n 1 >&3", "sh", program};
  request.arguments.insert(request.arguments.end(), command.begin() + 1, command.end());
  request.limit_s = 5;
  const auto outcome = run_process(request);
  if (!outcome || !outcome->ok()) return "";
  return printable(trim(outcome->error_tail));
}

Result<std::string> answer_of(const std::vector<std::string>& command, double limit_s) {
  constexpr size_t kLargestAnswerBytes = size_t{64} << 20;
  if (command.front().find('/') == std::string::npos && find_in_path(command.front()).empty())
    return Error{"tool-missing", command.front() + " is not installed", "", "its package"};
  const auto folder = TempFolder::create();
  if (!folder) return folder.error();
  // Through a file: an answer may be long.
  const std::string file = folder->path() + "/answer";
  ProcessRequest request;
  request.executable = find_in_path("sh");
  request.arguments = {"sh", "-c", "answer=$1; shift; exec \"$@\" >\"$answer\"", "sh", file};
  request.arguments.insert(request.arguments.end(), command.begin(), command.end());
  request.limit_s = limit_s;
  const auto outcome = run_process(request);
  if (!outcome) return outcome.error();
  if (!outcome->ok()) {
    const std::string words = printable(trim(outcome->error_tail));
    return Error{"tool-failed", command.front() + (outcome->limit_reached ? " took too long" : " failed: " + words),
                 command.front(), "a working " + command.front()};
  }
  return read_file(file, kLargestAnswerBytes);
}

std::string install_advice(const std::string& package) { return "apt install " + package; }

}  // namespace perfcast
