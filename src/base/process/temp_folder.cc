#include "base/process/temp_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace perfcast {

Result<TempFolder> TempFolder::create(std::string_view forbidden) {
  const char* variable = std::getenv("TMPDIR");
  std::string base = variable != nullptr && *variable == '/' ? variable : "/tmp";
  if (base.find_first_of(forbidden) != std::string::npos) base = "/tmp";
  std::string path = base + "/perfcast-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return Error{"file-error", std::string("cannot make a temporary folder: ") + std::strerror(errno), base,
                 "a folder that you may write: TMPDIR=/path"};
  }
  return TempFolder(path);
}

TempFolder::TempFolder(TempFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}

TempFolder::~TempFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace perfcast
