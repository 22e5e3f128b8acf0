#pragma once
// The one place that starts other programs: fork, descriptors, exec, and what went wrong with them. process.h runs a
// program to its end on top of it; who talks with a worker through pipes uses it as it is.

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast {

// A file descriptor that is closed with its owner; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  int get() const { return number_; }
  void reset(int number = -1);
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read_end, write_end;  // both closed by an exec
  bool open();
};

struct SpawnRequest {
  std::string executable;                          // path: no search
  std::vector<std::string> arguments;              // argv, with argv[0]
  std::map<std::string, std::string> environment;  // added to ours
  int input = -1, output = -1, error = -1;         // become its first three descriptors; -1: /dev/null
  bool own_group = true;                           // a process group of its own, led by it
  bool dies_with_us = false;                       // killed when the thread that started it ends
  bool fixed_addresses = false;                    // no address space randomisation
};

// A child that stands still right before it becomes the program. Signals have their default action in it, but SIGINT,
// SIGTERM and SIGHUP stay ignored where we were started so. Destroyed unreleased it ends by itself, but is not waited
// for.
class HeldChild {
 public:
  pid_t process() const { return process_; }
  // Lets it become the program. Errors: "program-not-found", "not-executable", "exec-failed"; it is gone then, and is
  // still to be waited for.
  Status release();

 private:
  friend Result<HeldChild> spawn_held(const SpawnRequest& request);
  std::string executable_;
  Pipe go_, status_;
  pid_t process_ = -1;
};

// Error "process-error" where there is no process or descriptor to be had.
Result<HeldChild> spawn_held(const SpawnRequest& request);

// Both in one: the process, or the errors of both; nothing is left to be waited for then.
Result<pid_t> spawn(const SpawnRequest& request);

// Ends a child that leads a group of its own, with all of that group, by SIGKILL, and waits for it, but no longer than
// Ending::kPatience.
void end_group(pid_t leader);

}  // namespace perfcast
