#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace perfcast {

// A private folder under $TMPDIR (or /tmp), gone with its content at the end of its life. Its path holds none of
// `forbidden`: tools take some characters for separators.
class TempFolder {
 public:
  static Result<TempFolder> create(std::string_view forbidden = "");
  ~TempFolder();
  TempFolder(TempFolder&& other) noexcept;
  TempFolder& operator=(TempFolder&&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit TempFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace perfcast
