#include "ai/gemm/run/worker_process.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/json.h"
#include "base/process/interrupt.h"
#include "base/process/spawn.h"
#include "base/text.h"

namespace perfcast::ai::gemm {
namespace {

constexpr size_t kLongestAnswer = 1 << 20;

Error failed(const std::string& message) { return {"worker-failed", message, "", ""}; }

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::vector<std::string>& command,
                                           const std::map<std::string, std::string>& environment) {
  if (command.empty()) return failed("there is no command for a worker");
  WorkerProcess worker;
  Pipe in, out;
  worker.log_ = memfd_create("perfcast-worker-log", MFD_CLOEXEC);
  if (worker.log_ < 0 || !in.open() || !out.open()) {
    return failed(std::string("cannot start a worker: ") + std::strerror(errno));
  }
  SpawnRequest request;
  request.executable = command.front();
  request.arguments = command;
  request.environment = environment;
  request.input = in.read_end.get();
  request.output = out.write_end.get();
  request.error = worker.log_;
  request.dies_with_us = true;
  const auto child = spawn(request);
  if (!child) return child.error();
  worker.pid_ = *child;
  worker.to_ = in.write_end.release();
  worker.from_ = out.read_end.release();
  return worker;
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept { *this = std::move(other); }

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(to_, other.to_);
  std::swap(from_, other.from_);
  std::swap(log_, other.log_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

WorkerProcess::~WorkerProcess() {
  end();
  if (log_ >= 0) close(log_);
}

void WorkerProcess::pause() {
  if (pid_ > 0) kill(-pid_, SIGSTOP);
}

void WorkerProcess::resume() {
  if (pid_ > 0) kill(-pid_, SIGCONT);
}

void WorkerProcess::end() {
  for (int* fd : {&to_, &from_}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string WorkerProcess::obituary() {
  int state = 0;
  kill(-pid_, SIGKILL);  // a worker that closed its pipe and lives on is of no use
  while (waitpid(pid_, &state, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  std::string text = "the worker ended";
  if (WIFSIGNALED(state)) text += std::string(" by signal ") + strsignal(WTERMSIG(state));
  if (WIFEXITED(state)) text += " with exit code " + std::to_string(WEXITSTATUS(state));
  char tail[2048];
  const off_t size = lseek(log_, 0, SEEK_END);
  const off_t from = size > static_cast<off_t>(sizeof tail) ? size - static_cast<off_t>(sizeof tail) : 0;
  const ssize_t got = pread(log_, tail, sizeof tail, from);
  if (got > 0) {
    std::string_view said(tail, static_cast<size_t>(got));
    said = trim(said);
    if (const size_t line = said.rfind('\n'); line != std::string_view::npos) said = said.substr(line + 1);
    if (!said.empty()) text += ": " + printable(trim(said));
  }
  return text;
}

Result<Json> WorkerProcess::ask(const Json& request, double limit_s) {
  if (pid_ <= 0) return failed("the worker is gone");
  const std::string line = request.dump() + "\n";  // far below what a pipe holds
  struct sigaction ignore = {}, before = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  const ssize_t put = write(to_, line.data(), line.size());
  sigaction(SIGPIPE, &before, nullptr);
  if (put != static_cast<ssize_t>(line.size())) return failed(obituary());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
  for (;;) {
    if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
      auto answer = parse_json(std::string_view(buffer_).substr(0, end), "worker");
      buffer_.erase(0, end + 1);
      if (!answer || !answer->is_object()) return failed("the worker's answer makes no sense");
      if (answer->value("ok", false)) return *answer;
      Error error = failed(printable(answer->value("message", "it did not say why")));
      error.code = answer->value("code", error.code);
      if (answer->value("kind", "") == "environment") error.kind = ErrorKind::kEnvironment;
      return error;
    }
    const double left = std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      end();
      return failed("no answer within " + human_seconds(limit_s));
    }
    pollfd waits[] = {{from_, POLLIN, 0}, {InterruptGuard::descriptor(), POLLIN, 0}};
    if (poll(waits, 2, static_cast<int>(left * 1000) + 1) <= 0) continue;
    if (waits[1].revents != 0) {
      end();
      return interrupted_error("interrupted", "", "");
    }
    char chunk[4096];
    const ssize_t got = read(from_, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failed(obituary());
    buffer_.append(chunk, static_cast<size_t>(got));
    if (buffer_.size() > kLongestAnswer) {
      end();
      return failed("the worker does not stop talking");
    }
  }
}

}  // namespace perfcast::ai::gemm
