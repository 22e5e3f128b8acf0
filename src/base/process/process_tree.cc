#include "base/process/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace perfcast {
namespace {

// Small files of /proc without any allocation that a forked helper could trip over.
size_t read_small(const char* path, char* buffer, size_t size) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  size_t total = 0;
  while (total + 1 < size) {
    const ssize_t count = read(descriptor, buffer + total, size - 1 - total);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    total += static_cast<size_t>(count);
  }
  close(descriptor);
  buffer[total] = '\0';
  return total;
}

void append_children(const char* children_file, std::vector<pid_t>& found) {
  std::array<char, 8192> text;
  if (read_small(children_file, text.data(), text.size()) == 0) return;
  char* position = text.data();
  while (true) {
    char* end = nullptr;
    const long number = std::strtol(position, &end, 10);
    if (end == position) return;
    if (number > 1) found.push_back(static_cast<pid_t>(number));
    position = end;
  }
}

}  // namespace

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  std::array<char, 96> path;
  std::snprintf(path.data(), path.size(), "/proc/%d/task", parent);
  DIR* folder = opendir(path.data());
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] == '.') continue;
    std::snprintf(path.data(), path.size(), "/proc/%d/task/%.16s/children", parent, entry->d_name);
    append_children(path.data(), found);
  }
  closedir(folder);
  return found;
}

std::vector<pid_t> descendants_of(pid_t root, const std::set<pid_t>& except) {
  std::vector<pid_t> found;
  std::vector<pid_t> open = {root};
  std::set<pid_t> seen = except;
  seen.insert(root);
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    for (const pid_t child : children_of(parent)) {
      if (!seen.insert(child).second) continue;
      found.push_back(child);
      open.push_back(child);
    }
  }
  return found;
}

double stat_number(std::string_view text, int field) {
  // "PID (NAME) STATE ...": the name may hold anything. Behind it stands a space and the third field.
  text.remove_prefix(std::min(text.size(), text.rfind(')') + 1));
  for (int at = 3; at < field && !text.empty(); ++at) text.remove_prefix(std::min(text.size(), text.find(' ', 1)));
  uint64_t number = 0;
  if (!text.empty()) std::from_chars(text.data() + 1, text.data() + text.size(), number);
  return static_cast<double>(number);
}

bool is_zombie(pid_t process) {
  std::array<char, 64> path;
  std::array<char, 512> text;
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", process);
  if (read_small(path.data(), text.data(), text.size()) == 0) return true;
  const char* after_name = std::strrchr(text.data(), ')');
  return after_name == nullptr || (after_name[1] == ' ' && (after_name[2] == 'Z' || after_name[2] == 'X'));
}

int open_descriptors(pid_t process) {
  std::array<char, 64> path;
  std::snprintf(path.data(), path.size(), "/proc/%d/fd", process);
  DIR* folder = opendir(path.data());
  if (folder == nullptr) return -1;
  int count = 0;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(folder);
  return count;
}

ProcessState state_of(pid_t process) {
  std::array<char, 64> path;
  std::array<char, 4096> text;
  std::snprintf(path.data(), path.size(), "/proc/%d/status", process);
  ProcessState state;
  if (read_small(path.data(), text.data(), text.size()) == 0) return state;
  const auto field = [&](const char* name) {
    const char* line = std::strstr(text.data(), name);
    return line == nullptr ? 0.0 : std::strtod(line + std::strlen(name), nullptr);
  };
  state.threads = static_cast<int>(field("\nThreads:"));
  state.resident_bytes = 1024 * field("\nVmRSS:");
  state.peak_resident_bytes = 1024 * field("\nVmHWM:");
  state.peak_address_bytes = 1024 * field("\nVmPeak:");
  state.voluntary_switches = field("\nvoluntary_ctxt_switches:");
  state.involuntary_switches = field("\nnonvoluntary_ctxt_switches:");
  return state;
}

double memory_bytes_of(const std::vector<pid_t>& processes) {
  double sum_bytes = 0;
  for (const pid_t process : processes) {
    std::array<char, 64> path;
    std::array<char, 2048> text;
    std::snprintf(path.data(), path.size(), "/proc/%d/smaps_rollup", process);
    if (read_small(path.data(), text.data(), text.size()) == 0) continue;
    const char* line = std::strstr(text.data(), "\nPss:");
    if (line != nullptr) sum_bytes += 1024 * std::strtod(line + std::strlen("\nPss:"), nullptr);
  }
  return sum_bytes;
}

ProcessState full_state_of(pid_t process) {
  ProcessState state = state_of(process);
  std::array<char, 64> path;
  std::array<char, 1024> text;
  std::snprintf(path.data(), path.size(), "/proc/%d/schedstat", process);
  if (read_small(path.data(), text.data(), text.size()) > 0) state.cpu_s = 1e-9 * std::strtod(text.data(), nullptr);
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", process);
  if (read_small(path.data(), text.data(), text.size()) > 0) {
    const char* field = std::strrchr(text.data(), ')');
    // After the name: state, parent, group, session, terminal, its group, flags, minor faults.
    for (int skipped = 0; skipped < 8 && field != nullptr; ++skipped) field = std::strchr(field + 1, ' ');
    if (field != nullptr) state.minor_faults = std::strtod(field, nullptr);
  }
  return state;
}

void end_descendants(const std::set<pid_t>& except) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < give_up) {
    const std::vector<pid_t> left = descendants_of(getpid(), except);
    if (left.empty()) return;
    for (const pid_t process : left) kill(process, SIGKILL);
    for (const pid_t process : left) waitpid(process, nullptr, WNOHANG);
    usleep(1000);
  }
}

Guardian::Guardian() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  process_ = fork();
  if (process_ != 0) {
    close(ends[0]);
    pipe_ = ends[1];
    if (process_ < 0) dismiss();
    return;
  }
  // Out of reach of the terminal's signals, and holding nothing of ours open but the pipe's end.
  setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) std::signal(number, SIG_IGN);
  dup2(ends[0], 0);
  close_range(1, ~0U, 0);
  std::array<pid_t, 2> target = {-1, 0};
  std::array<pid_t, 2> message;
  while (true) {
    const ssize_t count = read(0, message.data(), sizeof(message));
    if (count < 0 && errno == EINTR) continue;
    if (count != static_cast<ssize_t>(sizeof(message))) break;
    if (message[0] == 0) _exit(0);
    target = message;
  }
  if (target[0] > 0) {
    kill(target[0], SIGSTOP);
    for (const pid_t process : descendants_of(target[0])) kill(process, SIGKILL);
    kill(target[0], SIGKILL);
    if (target[1] != 0) kill(-target[0], SIGKILL);
  }
  _exit(0);
}

Guardian::~Guardian() { dismiss(); }

void Guardian::watch(pid_t program, bool own_group) {
  const std::array<pid_t, 2> message = {program, own_group ? 1 : 0};
  ssize_t count = 0;
  do {
    count = write(pipe_, message.data(), sizeof(message));
  } while (count < 0 && errno == EINTR);
}

void Guardian::dismiss() {
  if (pipe_ < 0) return;
  watch(0, false);
  close(pipe_);
  pipe_ = -1;
  if (process_ > 0) waitpid(process_, nullptr, 0);
  process_ = -1;
}

}  // namespace perfcast
