#include "base/process/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

namespace perfcast {
namespace {

constexpr std::array<int, 4> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

std::atomic<int> noted_signal{0};
std::array<int, 2> wake_pipe = {-1, -1};
std::array<struct sigaction, kSignals.size()> saved_actions;
std::mutex guard_mutex;
int guard_depth = 0;

void note(int number) {
  const int saved_errno = errno;
  noted_signal = number;
  const char byte = 0;
  const ssize_t ignored = write(wake_pipe[1], &byte, 1);
  static_cast<void>(ignored);
  errno = saved_errno;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  const std::lock_guard lock(guard_mutex);
  if (guard_depth++ > 0) return;
  if (wake_pipe[0] < 0 && pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) wake_pipe = {-1, -1};
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    action.sa_handler = kSignals[i] == SIGPIPE ? SIG_IGN : note;
    sigaction(kSignals[i], nullptr, &saved_actions[i]);
    const bool stays_ignored = kSignals[i] == SIGHUP && saved_actions[i].sa_handler == SIG_IGN;
    if (!stays_ignored) sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  const std::lock_guard lock(guard_mutex);
  if (--guard_depth > 0) return;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &saved_actions[i], nullptr);
}

int InterruptGuard::descriptor() { return wake_pipe[0]; }

void InterruptGuard::acknowledge() {
  std::array<char, 16> bytes;
  while (read(wake_pipe[0], bytes.data(), bytes.size()) > 0) {
  }
}

bool InterruptGuard::was_ignored(int signal) {
  if (guard_depth == 0) {
    struct sigaction now {};
    return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
  }
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal) return saved_actions[i].sa_handler == SIG_IGN;
  }
  return false;
}

int interrupting_signal() { return noted_signal; }
void forget_interrupt() { noted_signal = 0; }

}  // namespace perfcast
