#include "cli/named_file.h"

#include <filesystem>

#include "base/text.h"

namespace perfcast {

Status check_named_file(const std::string& option, const std::string& path) {
  std::error_code problem;
  if (path.empty() || path == "-" || std::filesystem::exists(path, problem)) return {};
  return usage_error("file-not-found", "there is no file '" + printable(path) + "'", option,
                     "the path of an existing file");
}

Error as_named_file(Error error, bool named) {
  if (named && error.code == "file-not-found") error.kind = ErrorKind::kUsage;
  return error;
}

}  // namespace perfcast
