#include "base/process/temp_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace perfcast {

namespace {
namespace fs = std::filesystem;

constexpr const char* kPrefix = "perfcast-run-";
constexpr int kTrials = 10;

// Of this user, and what it seems to be: in a folder that anybody may write, others can leave links and the like.
int open_own_folder(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat facts {};
  if (descriptor < 0 || (fstat(descriptor, &facts) == 0 && facts.st_uid == geteuid())) return descriptor;
  close(descriptor);
  errno = EACCES;
  return -1;
}

// Removes the folders whose lock nobody holds any more.
void remove_orphans(const std::string& base) {
  std::error_code failed;
  for (fs::directory_iterator entry(base, failed), end; !failed && entry != end; entry.increment(failed)) {
    if (entry->path().filename().native().rfind(kPrefix, 0) != 0) continue;
    const int descriptor = open_own_folder(entry->path());
    if (descriptor < 0) continue;
    std::error_code ignored;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry->path(), ignored);
    close(descriptor);
  }
}

// -1 where folders can't be locked here: such a one is never taken for an orphan, as its lock can't be had either.
// `is_gone`: another process took it for an orphan before it was locked.
int lock_folder(const std::string& path, bool& is_gone) {
  const int descriptor = open_own_folder(path);
  if (descriptor < 0) {
    is_gone = errno == ENOENT;
    return -1;
  }
  struct stat facts {};
  if (flock(descriptor, LOCK_EX) == 0) {
    is_gone = fstat(descriptor, &facts) != 0 || facts.st_nlink == 0;
    if (!is_gone) return descriptor;
  }
  close(descriptor);
  return -1;
}

}  // namespace

Result<TempFolder> TempFolder::create(std::string_view forbidden) {
  const char* variable = std::getenv("TMPDIR");
  std::string base = variable != nullptr && *variable == '/' ? variable : "/tmp";
  if (base.find_first_of(forbidden) != std::string::npos) base = "/tmp";
  remove_orphans(base);
  for (int trial = 0; trial < kTrials; ++trial) {
    std::string path = base + "/" + kPrefix + "XXXXXX";
    if (mkdtemp(path.data()) == nullptr) break;
    bool is_gone = false;
    const int lock = lock_folder(path, is_gone);
    if (!is_gone) return TempFolder(path, lock);
  }
  return Error{"file-error", std::string("cannot make a temporary folder: ") + std::strerror(errno), base,
               "a folder that you may write: TMPDIR=/path"};
}

TempFolder::TempFolder(TempFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")), lock_(std::exchange(other.lock_, -1)) {}

TempFolder::~TempFolder() {
  if (path_.empty()) return;
  // First: where all descriptors are in use, removing needs one.
  if (lock_ >= 0) close(lock_);
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace perfcast
