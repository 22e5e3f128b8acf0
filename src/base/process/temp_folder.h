#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace perfcast {

// A private folder under $TMPDIR (or /tmp), gone with its content at the end of its life. Its path holds none of
// `forbidden`: tools take some characters for separators. Folders whose process was killed are removed by the next that
// makes one: each is locked (flock) as long as its process lives.
class TempFolder {
 public:
  static Result<TempFolder> create(std::string_view forbidden = "");
  ~TempFolder();
  TempFolder(TempFolder&& other) noexcept;
  TempFolder& operator=(TempFolder&&) = delete;
  const std::string& path() const { return path_; }

 private:
  TempFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_ = -1;
};

}  // namespace perfcast
