#pragma once
// The parent's side: a worker process, asked over pipes, stopped between its turns, ended with us.

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast::ai::gemm {

class WorkerProcess {
 public:
  // `environment` is added to ours. Errors: "worker-failed", spawn()'s.
  static Result<WorkerProcess> start(const std::vector<std::string>& command,
                                     const std::map<std::string, std::string>& environment);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();  // ends it and everything that it started

  // Sends one request, waits up to `limit_s` for the answer. Errors: the worker's own code, message and kind;
  // "worker-failed" where it died (by which signal, with the last line it wrote on stderr), kept silent or talked
  // nonsense; interrupted_error() on a signal that an InterruptGuard notes meanwhile: the worker was ended then.
  Result<Json> ask(const Json& request, double limit_s);

  void pause();   // SIGSTOP for it and its children
  void resume();  // SIGCONT
  void end();
  bool alive() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }

 private:
  WorkerProcess() = default;
  std::string obituary();  // reaps a dead worker and says how it died

  pid_t pid_ = -1;
  int to_ = -1, from_ = -1, log_ = -1;
  std::string buffer_;
};

}  // namespace perfcast::ai::gemm
