#include "base/process/spawn.h"

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/process/ending.h"
#include "base/process/interrupt.h"

extern char** environ;

namespace perfcast {
namespace {

Error spawn_error(const std::string& doing) {
  return environment_error("process-error", "cannot " + doing + ": " + std::strerror(errno), "",
                           "free processes, memory and descriptors");
}

Error exec_error(int number, const std::string& path) {
  if (number == ENOENT && access(path.c_str(), F_OK) == 0) {
    return {"not-executable", "the interpreter or loader that the program names is missing", path,
            "the interpreter after #!, or the loader shown by: file -L " + path};
  }
  if (number == ENOENT || number == ENOTDIR) {
    return {"program-not-found", "the program does not exist", path, "a program in PATH or the path of one"};
  }
  if (number == EACCES) {
    return {"not-executable", "the program may not be executed", path, "a file with the x permission: chmod +x"};
  }
  if (number == ENOEXEC) {
    return {"not-executable", "this machine cannot execute the file", path,
            "a program for this machine's processor, or a script that begins with #!"};
  }
  return {"exec-failed", std::string("the program could not be started: ") + std::strerror(number), path, ""};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : added) {
    std::string& entry = result.emplace_back(name);
    entry += '=';
    entry += value;
  }
  return result;
}

// Between fork and exec: async-signal-safe calls only. `go` and `status` are the ends that the child uses.
[[noreturn]] void become_program(const SpawnRequest& request, char* const* arguments, char* const* environment,
                                 pid_t parent, int go, int status) {
  const auto fail = [&] {
    const int number = errno;
    const ssize_t ignored = write(status, &number, sizeof(number));
    static_cast<void>(ignored);
    _exit(127);
  };
  if (request.own_group) setpgid(0, 0);
  if (request.dies_with_us) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // it died before we asked to follow it
  }
  const int null_device = open("/dev/null", O_RDWR | O_CLOEXEC);
  const std::array<int, 3> given = {request.input, request.output, request.error};
  // Copies above 2 first: the three may stand in each other's way.
  std::array<int, 3> copies{};
  for (size_t i = 0; i < given.size(); ++i) {
    copies[i] = fcntl(given[i] < 0 ? null_device : given[i], F_DUPFD_CLOEXEC, 3);
    // Our own streams are never the program's by accident; one that was given closed stays as it is.
    if (copies[i] < 0 && (given[i] < 0 || errno != EBADF)) fail();
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (copies[i] >= 0 && dup2(copies[i], static_cast<int>(i)) < 0) fail();
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    std::signal(number, InterruptGuard::was_ignored(number) ? SIG_IGN : SIG_DFL);
  }
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (request.fixed_addresses) personality(ADDR_NO_RANDOMIZE | static_cast<unsigned long>(personality(0xffffffff)));

  char byte = 0;
  ssize_t count = 0;
  do {
    count = read(go, &byte, 1);
  } while (count < 0 && errno == EINTR);
  if (count != 1) _exit(127);
  execve(request.executable.c_str(), arguments, environment);
  fail();
  _exit(127);
}

}  // namespace

void Descriptor::reset(int number) {
  if (number_ >= 0) close(number_);
  number_ = number;
}

bool Pipe::open() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  read_end.reset(ends[0]);
  write_end.reset(ends[1]);
  return true;
}

Result<HeldChild> spawn_held(const SpawnRequest& request) {
  std::vector<std::string> arguments = request.arguments, environment = merged_environment(request.environment);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  HeldChild child;
  child.executable_ = request.executable;
  if (!child.go_.open() || !child.status_.open()) return spawn_error("make a pipe");
  const pid_t parent = getpid();
  child.process_ = fork();
  if (child.process_ < 0) return spawn_error("start a process");
  if (child.process_ == 0) {
    // Holding the end that we are to write, it would wait for us for ever should we die before we do.
    close(child.go_.write_end.get());
    become_program(request, argv.data(), envp.data(), parent, child.go_.read_end.get(), child.status_.write_end.get());
  }
  if (request.own_group) setpgid(child.process_, child.process_);  // whoever comes first
  child.go_.read_end.reset();
  child.status_.write_end.reset();
  return child;
}

Status HeldChild::release() {
  const char byte = 1;
  // A child that failed before it waited has said why on the other pipe.
  ssize_t written = 0;
  do {
    written = write(go_.write_end.get(), &byte, 1);
  } while (written < 0 && errno == EINTR);
  const bool gone = written != 1;
  const int why = errno;
  if (gone && why != EPIPE) return spawn_error("start the program");
  int number = 0;
  ssize_t count = 0;
  do {
    count = read(status_.read_end.get(), &number, sizeof(number));
  } while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(sizeof(number))) return exec_error(number, executable_);
  errno = why;
  if (gone) return spawn_error("start the program");
  return {};
}

Result<pid_t> spawn(const SpawnRequest& request) {
  auto child = spawn_held(request);
  if (!child) return child.error();
  if (const Status status = child->release(); !status) {
    kill(child->process(), SIGKILL);  // it may wait for us
    while (waitpid(child->process(), nullptr, 0) < 0 && errno == EINTR) continue;
    return status.error();
  }
  return child->process();
}

void end_group(pid_t leader) {
  kill(-leader, SIGKILL);
  const auto give_up = Ending::Clock::now() + Ending::kPatience;
  // Most are gone at once.
  useconds_t pause_us = 50;
  constexpr useconds_t kLongestPause_us = 10'000;
  while (true) {
    const pid_t ended = waitpid(leader, nullptr, WNOHANG);
    if (ended > 0 || (ended < 0 && errno != EINTR) || Ending::Clock::now() >= give_up) return;
    usleep(pause_us);
    pause_us = std::min(2 * pause_us, kLongestPause_us);
  }
}

}  // namespace perfcast
