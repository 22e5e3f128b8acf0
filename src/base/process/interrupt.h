#pragma once
// SIGINT, SIGTERM and SIGHUP while programs are measured: noted, so that whoever runs a program can end it first.

namespace perfcast {

// Takes the signals over for its lifetime; nests. SIGPIPE is ignored meanwhile: a program may close its input early.
// An ignored SIGHUP (nohup) stays ignored; SIGINT and SIGTERM are taken even where a shell ignores them for a
// background command: whoever sends one wants an end.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Becomes readable when a signal arrives.
  static int descriptor();
  // Eats what made descriptor() readable.
  static void acknowledge();
  // Whether the signal was ignored before a guard took it over, or is where none did: a program that is started now is
  // to find it so.
  static bool was_ignored(int signal);
};

// The last such signal this process received under a guard, or 0. It stays set: a caller that was told "interrupted"
// exits with 128 + signal.
int interrupting_signal();
void forget_interrupt();  // for tests

}  // namespace perfcast
