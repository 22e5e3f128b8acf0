#include "base/process/input_feed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace perfcast {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 16;

Error feed_error(const std::string& doing) {
  return {"input-error", "cannot " + doing + ": " + std::strerror(errno), "standard input",
          "a readable standard input, or < /dev/null"};
}

int open_unlinked_file() {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/perfcast-input-XXXXXX";
  const int descriptor = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor >= 0) unlink(path.c_str());
  return descriptor;
}

}  // namespace

InputFeed::InputFeed(int descriptor, uint64_t spool_limit_bytes)
    : descriptor_(descriptor), spool_limit_bytes_(spool_limit_bytes) {
  struct stat facts {};
  if (descriptor < 0 || fstat(descriptor, &facts) != 0) return;
  if (S_ISREG(facts.st_mode)) {
    kind_ = Kind::kFile;
    start_offset_ = lseek(descriptor, 0, SEEK_CUR);
  } else if (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode)) {
    kind_ = Kind::kStream;
  } else if (isatty(descriptor) == 1) {
    kind_ = Kind::kTerminal;
  } else {
    kind_ = Kind::kDevice;
  }
}

InputFeed::~InputFeed() {
  end_run();
  if (spool_ >= 0) close(spool_);
}

Result<int> InputFeed::begin_run() {
  end_run();
  const bool first = runs_++ == 0;
  const bool take_nothing = kind_ == Kind::kNothing || (kind_ == Kind::kTerminal && !first);
  if (take_nothing) {
    given_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (given_ < 0) return feed_error("open /dev/null");
    return given_;
  }
  if (kind_ == Kind::kTerminal || kind_ == Kind::kDevice || (kind_ == Kind::kFile && first)) return descriptor_;
  if (kind_ == Kind::kFile) {
    given_ = open(("/proc/self/fd/" + std::to_string(descriptor_)).c_str(), O_RDONLY | O_CLOEXEC);
    if (given_ < 0) return feed_error("reopen the input file for another run");
    if (start_offset_ > 0 && lseek(given_, start_offset_, SEEK_SET) < 0) return feed_error("seek in the input file");
    return given_;
  }
  if (spool_problem_ != 0) {
    errno = spool_problem_;
    return feed_error("keep the input in a temporary file");
  }
  if (overflowed_) {
    return Error{"input-too-large", "the program read more from its pipe than can be kept for another run",
                 "standard input", "the input as a file: perfcast profile -- CMD < FILE"};
  }
  if (spool_ < 0) {
    spool_ = open_unlinked_file();
    if (spool_ < 0) return feed_error("keep the input in a temporary file");
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return feed_error("make a pipe");
  given_ = ends[0];
  sink_ = ends[1];
  fcntl(sink_, F_SETFL, O_NONBLOCK);
  replayed_bytes_ = 0;
  buffer_.clear();
  buffer_start_ = 0;
  return given_;
}

void InputFeed::program_started() {
  if (given_ >= 0) close(given_);
  given_ = -1;
}

void InputFeed::close_sink() {
  if (sink_ >= 0) close(sink_);
  sink_ = -1;
}

pollfd InputFeed::wants() const {
  if (sink_ < 0) return {-1, 0, 0};
  const bool must_read = buffer_start_ == buffer_.size() && replayed_bytes_ == spooled_bytes_;
  if (must_read && !source_ended_) return {descriptor_, POLLIN, 0};
  return {sink_, POLLOUT, 0};
}

// False: there is nothing more to give.
bool InputFeed::refill() {
  buffer_.resize(kChunkBytes);
  buffer_start_ = 0;
  ssize_t count = 0;
  if (replayed_bytes_ < spooled_bytes_) {
    const size_t wanted = std::min<uint64_t>(kChunkBytes, spooled_bytes_ - replayed_bytes_);
    count = pread(spool_, buffer_.data(), wanted, static_cast<off_t>(replayed_bytes_));
  } else if (!source_ended_) {
    count = read(descriptor_, buffer_.data(), kChunkBytes);
    if (count > 0 && !overflowed_) {
      const auto size = static_cast<size_t>(count);
      overflowed_ = spooled_bytes_ + size > spool_limit_bytes_;
      if (!overflowed_) {
        const ssize_t kept = pwrite(spool_, buffer_.data(), size, static_cast<off_t>(spooled_bytes_));
        if (kept != count) spool_problem_ = kept < 0 ? errno : ENOSPC;  // a part is kept where the disk is full
        overflowed_ = kept != count;
      }
      if (!overflowed_) spooled_bytes_ += size;
      replayed_bytes_ = spooled_bytes_ - (overflowed_ ? 0 : size);
    }
    if (count == 0) source_ended_ = true;
  }
  if (count <= 0) {
    buffer_.clear();
    return count < 0 && (errno == EAGAIN || errno == EINTR);
  }
  buffer_.resize(static_cast<size_t>(count));
  if (!overflowed_) replayed_bytes_ += static_cast<uint64_t>(count);
  return true;
}

void InputFeed::pump() {
  if (sink_ < 0) return;
  if (buffer_start_ == buffer_.size() && !refill()) {
    close_sink();
    return;
  }
  while (buffer_start_ < buffer_.size()) {
    const ssize_t count = write(sink_, buffer_.data() + buffer_start_, buffer_.size() - buffer_start_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      if (errno != EAGAIN) close_sink();  // the program closed its standard input
      return;
    }
    buffer_start_ += static_cast<size_t>(count);
  }
}

void InputFeed::end_run() {
  program_started();
  close_sink();
  buffer_.clear();
  buffer_start_ = 0;
}

}  // namespace perfcast
