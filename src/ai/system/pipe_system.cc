#include "ai/system/pipe_system.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/process/interrupt.h"
#include "base/process/program_inspector.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kReadAtOnce = size_t{1} << 16;
constexpr double kPatience_s = 2;  // for a system to end by itself when its input does

Error not_ready(const std::string& message) {
  return environment_error("system-not-ready", message, "--system",
                           "a command that answers {\"start\": ...} with {\"ready\": true}: docs/bench.md");
}

void append_count(std::string& text, uint64_t value) { text += std::to_string(value); }

bool make_non_blocking(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

}  // namespace

std::string PipeSystem::name() const { return printable(join(options_.command, " ")).substr(0, 100); }

PipeSystem::~PipeSystem() { end_child(kPatience_s); }

Status PipeSystem::spawn_command() {
  const auto program = inspect_program(options_.command);
  if (!program) return program.error();
  Pipe in, out;
  log_.reset(memfd_create("perfcast-system-log", MFD_CLOEXEC));
  wake_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (log_.get() < 0 || wake_.get() < 0 || !in.open() || !out.open()) {
    return environment_error("process-error", std::string("no pipes: ") + std::strerror(errno), "", "");
  }
  SpawnRequest request;
  request.executable = program->path;
  request.arguments = options_.command;
  request.input = in.read_end.get();
  request.output = out.write_end.get();
  request.error = options_.show_stderr ? STDERR_FILENO : log_.get();
  request.dies_with_us = true;
  const auto child = spawn(request);
  if (!child) return child.error();
  child_ = *child;
  to_child_ = std::move(in.write_end);
  from_child_ = std::move(out.read_end);
  make_non_blocking(to_child_.get());
  make_non_blocking(from_child_.get());
  lost_.reset();
  owed_ = 0;
  in_.clear();
  writing_.clear();
  written_ = 0;
  out_.clear();
  thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
  return {};
}

void PipeSystem::end_child(double patience_s) {
  if (thread_.joinable()) {
    thread_.request_stop();
    const uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof one);
    thread_.join();
  }
  to_child_.reset();
  from_child_.reset();
  if (child_ <= 0) return;
  const int64_t until_ns = steady_ns() + static_cast<int64_t>(patience_s * 1e9);
  pid_t ended = 0;
  while ((ended = waitpid(child_, nullptr, WNOHANG)) == 0 && steady_ns() < until_ns) usleep(1000);
  kill(-child_, SIGKILL);  // also what it left behind
  while (ended == 0 && waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

Status PipeSystem::start(std::span<const uint32_t> samples, ResponseSink& sink) {
  bool is_usable = child_ > 0;
  if (is_usable) {
    const std::lock_guard guard(lock_);
    is_usable = !lost_ && owed_ == 0;
  }
  if (!is_usable) {
    end_child(0);
    if (const Status spawned = spawn_command(); !spawned) return spawned.error();
  }
  {
    const std::lock_guard guard(lock_);
    sink_ = &sink;
    is_ready_ = flushed_ = false;
    base_ = next_wire_;
  }
  std::string line = "{\"start\": {\"samples\": [";
  for (size_t i = 0; i < samples.size(); ++i) {
    if (i > 0) line += ", ";
    append_count(line, samples[i]);
  }
  send(line + "]}}\n");
  std::unique_lock lock(lock_);
  const int64_t until_ns = steady_ns() + static_cast<int64_t>(options_.ready_limit_s * 1e9);
  while (!is_ready_ && !lost_ && steady_ns() < until_ns && interrupting_signal() == 0) {
    changed_.wait_for(lock, std::chrono::milliseconds(50));
  }
  if (is_ready_) return {};
  sink_ = nullptr;
  const std::string why =
      lost_ ? lost_->message : "no {\"ready\": true} within " + human_seconds(options_.ready_limit_s);
  lock.unlock();
  end_child(0);
  if (interrupting_signal() != 0) return interrupted_error("interrupted while the system got ready");
  return not_ready(why);
}

void PipeSystem::send(std::string_view text) {
  bool was_empty = false;
  {
    const std::lock_guard guard(out_lock_);
    was_empty = out_.empty();
    out_.append(text);
  }
  if (!was_empty) return;
  const uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

void PipeSystem::issue(std::span<const IssuedSample> query) {
  uint64_t base = 0;
  {
    const std::lock_guard guard(lock_);
    base = base_;
    owed_ += static_cast<int64_t>(query.size());
    if (!query.empty()) next_wire_ = base_ + query.back().id + 1;
  }
  std::string line = "{\"samples\": [";
  for (const IssuedSample& sample : query) {
    if (&sample != query.data()) line += ", ";
    line += "{\"id\": ";
    append_count(line, base + sample.id);
    line += ", \"index\": ";
    append_count(line, sample.index);
    line += '}';
  }
  send(line + "]}\n");
}

void PipeSystem::flush() {
  {
    const std::lock_guard guard(lock_);
    flushed_ = true;
  }
  send("{\"flush\": true}\n");
}

void PipeSystem::finish() {
  bool is_broken = false;
  {
    const std::lock_guard guard(lock_);
    sink_ = nullptr;
    is_broken = lost_ || owed_ > 0;
  }
  if (is_broken) end_child(0);
}

// What the thread does: all reading and writing. SIGPIPE is blocked in it, a pipe without a reader is an error of
// write().
void PipeSystem::follow(const std::stop_token& stop) {
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  std::string chunk(kReadAtOnce, '\0');
  while (!stop.stop_requested()) {
    const short wanted = has_to_write() ? POLLOUT : 0;
    std::array<pollfd, 3> waits = {{{from_child_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}, {-1, wanted, 0}}};
    if (wanted != 0) waits[2].fd = to_child_.get();
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return lose("poll fails");
    if (waits[1].revents != 0) {
      uint64_t count = 0;
      (void)!read(wake_.get(), &count, sizeof count);
    }
    if (stop.stop_requested()) return;
    if (waits[2].revents != 0 && !write_some()) return lose(obituary());
    if (waits[0].revents != 0 && !read_some(chunk)) return lose(obituary());
  }
}

bool PipeSystem::has_to_write() {
  if (written_ < writing_.size()) return true;
  writing_.clear();
  written_ = 0;
  const std::lock_guard guard(out_lock_);
  writing_.swap(out_);
  return !writing_.empty();
}

bool PipeSystem::write_some() {
  const ssize_t count = write(to_child_.get(), writing_.data() + written_, writing_.size() - written_);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  written_ += static_cast<size_t>(count);
  return true;
}

bool PipeSystem::read_some(std::string& chunk) {
  const ssize_t count = read(from_child_.get(), chunk.data(), chunk.size());
  const int64_t at_ns = steady_ns();
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  take_bytes({chunk.data(), static_cast<size_t>(count)}, at_ns);
  return true;
}

void PipeSystem::take_bytes(std::string_view bytes, int64_t at_ns) {
  const std::lock_guard guard(lock_);
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    // Of a line that is too long its beginning is kept, and refused at its end.
    if (in_.size() <= kLongestAnswerLine) in_.append(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    take_line(in_, at_ns);
    in_.clear();
  }
}

void PipeSystem::take_line(std::string_view line, int64_t at_ns) {
  if (trim(line).empty()) return;
  const auto answer = parse_answer_line(line);
  if (!answer) {
    if (sink_ != nullptr) sink_->nonsense(answer.error().message);
    return;
  }
  if (answer->kind == AnswerLine::Kind::kReady) {
    is_ready_ = true;
    changed_.notify_all();
    return;
  }
  if (answer->id < base_) return;  // of a former run
  const uint64_t id = answer->id - base_;
  if (answer->kind == AnswerLine::Kind::kToken) {
    if (sink_ != nullptr) sink_->token(id, answer->tokens, at_ns);
    return;
  }
  if (owed_ > 0) --owed_;
  if (sink_ == nullptr) return;
  if (answer->kind == AnswerLine::Kind::kError) {
    sink_->fail(id, answer->error, at_ns);
  } else {
    sink_->complete(id, {answer->tokens, answer->data, at_ns});
  }
}

void PipeSystem::lose(const std::string& message) {
  const std::lock_guard guard(lock_);
  const Error error = environment_error("system-broke", message, "--system", "");
  lost_ = error;
  changed_.notify_all();
  const bool was_its_end = flushed_ && owed_ == 0;
  if (sink_ != nullptr && is_ready_ && !was_its_end) sink_->broke(error);
}

// How the command ended, and the last line that it wrote on stderr. It stays to be waited for.
std::string PipeSystem::obituary() {
  siginfo_t state = {};
  const int64_t until_ns = steady_ns() + 500'000'000;
  while (waitid(P_PID, static_cast<id_t>(child_), &state, WEXITED | WNOHANG | WNOWAIT) == 0 && state.si_pid == 0 &&
         steady_ns() < until_ns) {
    usleep(1000);
  }
  std::string text = "the system closed its output and runs on";
  if (state.si_pid != 0) {
    text = state.si_code == CLD_EXITED ? "the system ended with exit status " + std::to_string(state.si_status)
                                       : "the system was ended by signal " + signal_text(state.si_status);
  }
  std::array<char, 2048> tail;
  const off_t size = lseek(log_.get(), 0, SEEK_END);
  const auto room = static_cast<off_t>(tail.size());
  const ssize_t got = pread(log_.get(), tail.data(), tail.size(), size > room ? size - room : 0);
  if (got <= 0) return text;
  std::string_view said = trim(std::string_view(tail.data(), static_cast<size_t>(got)));
  if (const size_t line = said.rfind('\n'); line != std::string_view::npos) said = said.substr(line + 1);
  if (!said.empty()) text += ": " + printable(trim(said));
  return text;
}

}  // namespace perfcast::ai
