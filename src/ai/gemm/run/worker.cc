#include "ai/gemm/run/worker.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "ai/gemm/run/task.h"
#include "base/json.h"

namespace perfcast::ai::gemm {
namespace {

constexpr size_t kLongestLine = 1 << 16;

// One line without its end; nothing at the end of the input.
std::optional<std::string> read_line(int fd, std::string& buffer) {
  for (;;) {
    if (const size_t end = buffer.find('\n'); end != std::string::npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    if (buffer.size() > kLongestLine) return std::nullopt;
    char chunk[4096];
    const ssize_t got = read(fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    buffer.append(chunk, static_cast<size_t>(got));
  }
}

bool write_line(int fd, const std::string& line) {
  const std::string text = line + "\n";
  for (size_t done = 0; done < text.size();) {
    const ssize_t put = write(fd, text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    done += static_cast<size_t>(put);
  }
  return true;
}

Json failure(const Error& error) {
  Json answer = {{"ok", false}, {"code", error.code}, {"message", error.message}};
  if (error.kind == ErrorKind::kEnvironment) answer["kind"] = "environment";
  return answer;
}

// That all threads of this process had.
double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Server {
 public:
  Json answer(const std::string& line) {
    const auto request = parse_json(line, "request");
    if (!request) return failure(request.error());
    JsonReader in(*request, "request");
    const std::string verb = in.string("do");
    if (verb == "prepare") {
      const Json* spec = in.require_object("spec");
      if (const Status status = in.finish(); !status) return failure(status.error());
      return prepare(*spec);
    }
    const int64_t calls = in.integer_or("calls", 1);
    if (const Status status = in.finish(); !status) return failure(status.error());
    if (!task_) return failure({"unknown-task", "nothing is prepared", "", ""});
    if (verb == "estimate") return seconds(task_->estimate_s());
    if (verb == "run" && calls >= 1) {
      const double before_s = cpu_seconds();
      Json answer = seconds(task_->run(calls));
      answer["cpu_seconds"] = cpu_seconds() - before_s;
      return answer;
    }
    if (verb == "check") return verdict(task_->check());
    return failure({"bad-usage", "unknown request", "", ""});
  }

 private:
  Json prepare(const Json& json) {
    const auto spec = task_spec_from(json);
    if (!spec) return failure(spec.error());
    auto task = make_task(*spec);
    if (!task) return failure(task.error());
    if (const Status ready = (*task)->prepare(); !ready) return failure(ready.error());
    task_ = *std::move(task);
    return {{"ok", true}, {"work", task_->work()}, {"kernel", task_->kernel()}, {"note", task_->note()}};
  }
  static Json seconds(const Result<double>& result) {
    return result ? Json{{"ok", true}, {"seconds", *result}} : failure(result.error());
  }
  static Json verdict(const Result<Verdict>& result) {
    if (!result) return failure(result.error());
    return {{"ok", true},
            {"correct", result->correct},
            {"worst", result->worst},
            {"relative_error", result->relative_error},
            {"detail", result->detail}};
  }

  std::unique_ptr<Task> task_;
};

}  // namespace

int worker_main(int input_fd, int output_fd) {
  // What a library prints to standard output is no answer: it joins standard error.
  const int in = fcntl(input_fd, F_DUPFD_CLOEXEC, 3), out = fcntl(output_fd, F_DUPFD_CLOEXEC, 3);
  if (in < 0 || out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  Server server;
  std::string buffer;
  while (const auto line = read_line(in, buffer)) {
    Json answer;
    try {
      answer = server.answer(*line);
    } catch (const std::bad_alloc&) {
      answer = failure({"no-memory", "there is not enough memory for it", "", ""});
    } catch (const std::exception& problem) {
      answer = failure({"library-failed", problem.what(), "", ""});
    }
    // Text of libraries may be no UTF-8.
    if (!write_line(out, answer.dump(-1, ' ', false, Json::error_handler_t::replace))) return 1;
  }
  return 0;
}

}  // namespace perfcast::ai::gemm
