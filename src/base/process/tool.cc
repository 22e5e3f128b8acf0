#include "base/process/tool.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/file.h"
#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/process/temp_folder.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr int kPatience_ms = 5000;
constexpr size_t kLongestLineBytes = 4096;

}  // namespace

FirstLineLater::FirstLineLater(const std::vector<std::string>& command) {
  const bool is_path = command.front().find('/') != std::string::npos;
  const std::string program = is_path ? command.front() : find_in_path(command.front());
  Pipe pipe;
  if (program.empty() || !pipe.open()) return;
  SpawnRequest request;
  request.executable = program;
  request.arguments = command;
  request.output = pipe.write_end.get();
  const auto process = spawn(request);
  if (!process) return;
  process_ = *process;
  answer_ = std::move(pipe.read_end);
}

FirstLineLater::~FirstLineLater() { end(); }

void FirstLineLater::end() {
  if (process_ <= 0) return;
  end_group(process_);
  process_ = -1;
}

std::string FirstLineLater::get() {
  if (process_ <= 0) return line_;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatience_ms);
  std::string text;
  std::array<char, 512> part{};
  bool whole = false;
  while (!whole && text.size() < kLongestLineBytes) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(give_up - std::chrono::steady_clock::now()).count();
    pollfd ready{answer_.get(), POLLIN, 0};
    const int readable = left > 0 ? poll(&ready, 1, static_cast<int>(left)) : 0;
    if (readable < 0 && errno == EINTR) continue;
    if (readable <= 0) break;
    const ssize_t count = read(answer_.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) text.append(part.data(), static_cast<size_t>(count));
    whole = count <= 0 || text.find('\n') != std::string::npos;
  }
  if (!whole) text.clear();
  end();  // it has said all that is wanted
  line_ = printable(trim(text.substr(0, text.find('\n'))));
  return line_;
}

std::string first_line_of(const std::vector<std::string>& command) {
  const std::string program = find_in_path(command.front());
  const std::string shell = find_in_path("sh");
  if (program.empty() || shell.empty()) return "";
  // The shell turns stdout into stderr, of which run_process keeps the end.
  ProcessRequest request;
  request.executable = shell;
  request.arguments = {"sh", "-c", "exec 3>&2; \"$@\" 2>/dev/null | sed -n '/./{p;q;}' >&3", "sh", program};
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
