#include "measure/diagnose/prove/output_check.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include "base/process/process.h"
#include "base/process/program_inspector.h"

namespace perfcast::measure {
namespace {

constexpr int kLook_ms = 50;  // how long what was written last may wait

}  // namespace

// What comes through a named pipe, hashed as it comes: a program may print more than there is room for. FNV-1a, of 64
// bits.
class OutputCheck::PipeReader {
 public:
  explicit PipeReader(int descriptor) : descriptor_(descriptor) {
    // Signals are for the thread that runs the program.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { read_all(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;
  ~PipeReader() {
    end();
    close(descriptor_);
  }
  // Nobody writes any more.
  Printed end() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
    return printed_;
  }

 private:
  void read_all() {
    std::array<char, 1 << 16> block;
    for (;;) {
      const bool was_over = is_over_;
      const ssize_t count = read(descriptor_, block.data(), block.size());
      for (ssize_t i = 0; i < count; ++i)
        printed_.hash = (printed_.hash ^ static_cast<uint8_t>(block.at(static_cast<size_t>(i)))) * 0x100000001b3;
      if (count > 0) {
        printed_.bytes += static_cast<uint64_t>(count);
        continue;
      }
      if (was_over) return;
      // Before the first writer, and after the last, a pipe is at its end without being over.
      pollfd waiting{descriptor_, POLLIN, 0};
      if (count == 0 || poll(&waiting, 1, kLook_ms) < 0) usleep(1000);
    }
  }

  int descriptor_;
  Printed printed_ = {0, 0xcbf29ce484222325};
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

Result<OutputCheck::Printed> OutputCheck::printed_by(const std::vector<std::string>& command) const {
  auto folder = TempFolder::create();
  if (!folder) return folder.error();
  const auto program = inspect_program(command);
  if (!program) return program.error();
  ProcessRequest process;
  process.executable = program->path;
  process.arguments = command;
  process.output_file = folder->path() + "/output";
  const int descriptor = mkfifo(process.output_file.c_str(), 0600) == 0
                             ? open(process.output_file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                             : -1;
  if (descriptor < 0)
    return Error{"file-error", "no pipe can be made to read the program's output from", process.output_file,
                 "a folder that allows named pipes: TMPDIR=/path"};
  PipeReader reader(descriptor);
  process.limit_s = limit_s_;
  process.around = around_;
  const auto outcome = run_process(process);
  if (!outcome) return outcome.error();
  if (!outcome->ok())
    return Error{"program-failed", outcome->limit_reached ? "it takes too long" : "it fails", "",
                 "a program that works"};
  return reader.end();
}

Result<SameOutput> OutputCheck::compare(const std::vector<std::string>& other) {
  if (own_failed_) return *own_failed_;
  if (!own_) {
    const auto first = printed_by(command_);
    const auto again = first ? printed_by(command_) : first;
    if (!first || !again) {
      const Error& why = first ? again.error() : first.error();
      if (why.kind == ErrorKind::kInterrupted) return why;
      own_failed_ = Error{why.code, "the command as it is can't be compared with: " + why.message, why.where, ""};
      return *own_failed_;
    }
    own_ = *first;
    varies_ = !(*first == *again);
  }
  if (varies_) return SameOutput::kVaries;
  const auto printed = printed_by(other);
  if (!printed) return printed.error();
  return *printed == *own_ ? SameOutput::kSame : SameOutput::kDiffers;
}

}  // namespace perfcast::measure
