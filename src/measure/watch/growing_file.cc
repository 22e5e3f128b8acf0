#include "measure/watch/growing_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace perfcast::measure {
namespace {

constexpr size_t kPiece_bytes = size_t{1} << 20;
constexpr int kWait_ms = 100;

Error cannot_read(const std::string& path, const char* what) {
  return Error{"file-not-found", std::string(what) + ": " + std::strerror(errno), path,
               "a file that can be read, or - for standard input"};
}

}  // namespace

GrowingFile::~GrowingFile() {
  if (owned_ && descriptor_ >= 0) ::close(descriptor_);
}

GrowingFile::GrowingFile(GrowingFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      follow_(other.follow_),
      owned_(other.owned_),
      inode_(other.inode_),
      offset_bytes_(other.offset_bytes_) {}

Result<GrowingFile> GrowingFile::open(const std::string& path, bool follow, uint64_t inode, uint64_t offset_bytes) {
  GrowingFile file;
  file.path_ = path;
  file.follow_ = follow;
  if (path == "-") {
    file.descriptor_ = STDIN_FILENO;
    return file;
  }
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  file.owned_ = true;
  struct stat facts {};
  if (file.descriptor_ < 0 || ::fstat(file.descriptor_, &facts) != 0)
    return cannot_read(path, "cannot open the stream");
  if (S_ISDIR(facts.st_mode)) {
    errno = EISDIR;
    return cannot_read(path, "cannot open the stream");
  }
  file.inode_ = facts.st_ino;
  if (follow && inode == file.inode_ && offset_bytes <= static_cast<uint64_t>(facts.st_size) &&
      ::lseek(file.descriptor_, static_cast<off_t>(offset_bytes), SEEK_SET) >= 0) {
    file.offset_bytes_ = offset_bytes;
  }
  return file;
}

// At the end of a followed file: whether another has its name, or it is shorter than what was read.
Result<bool> GrowingFile::began_anew() {
  struct stat named {};
  if (::stat(path_.c_str(), &named) != 0) return false;  // moved away, and none there yet
  if (named.st_ino != inode_) {
    const int next = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (next < 0) return false;
    ::close(descriptor_);
    descriptor_ = next;
    inode_ = named.st_ino;
  } else if (static_cast<uint64_t>(named.st_size) < offset_bytes_) {
    if (::lseek(descriptor_, 0, SEEK_SET) < 0) return cannot_read(path_, "cannot read the stream anew");
  } else {
    return false;
  }
  offset_bytes_ = 0;
  return true;
}

Result<GrowingFile::Read> GrowingFile::read(std::string& bytes) {
  bytes.clear();
  pollfd waiting{descriptor_, POLLIN, 0};
  if (::poll(&waiting, 1, kWait_ms) <= 0) return Read::kBytes;
  bytes.resize(kPiece_bytes);
  const ssize_t got = ::read(descriptor_, bytes.data(), bytes.size());
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  if (got < 0) {
    if (errno == EINTR || errno == EAGAIN) return Read::kBytes;
    return cannot_read(path_, "cannot read the stream");
  }
  offset_bytes_ += static_cast<uint64_t>(got);
  if (got > 0) return Read::kBytes;
  if (!follow_ || path_ == "-") return Read::kEnd;
  const auto anew = began_anew();
  if (!anew) return anew.error();
  if (*anew) return Read::kRestarted;
  std::this_thread::sleep_for(std::chrono::milliseconds(kWait_ms));
  return Read::kBytes;
}

}  // namespace perfcast::measure
