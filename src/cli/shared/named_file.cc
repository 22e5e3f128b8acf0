#include "cli/shared/named_file.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/text.h"

namespace perfcast::cli {

Status check_named_file(const std::string& option, const std::string& path) {
  std::error_code problem;
  if (path.empty() || path == "-" || std::filesystem::exists(path, problem)) return {};
  return usage_error("file-not-found", "there is no file '" + printable(path) + "'", option,
                     "the path of an existing file");
}

Status check_output_file(const std::string& option, const std::string& path) {
  if (path.empty() || path == "-") return {};
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return Error{"file-error", "'" + printable(path) + "' is a folder", option, option + " with the name of a file"};
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return Error{"file-error", "the folder of '" + printable(path) + "' does not exist or may not be written", option,
               option + " with a file in an existing folder that you may write"};
}

Status check_new_file(const std::string& option, const std::string& path) {
  std::error_code problem;
  if (path.empty() || path == "-" || !std::filesystem::is_regular_file(path, problem)) return {};
  if (std::filesystem::file_size(path, problem) == 0 || problem) return {};
  return usage_error("file-exists", "'" + printable(path) + "' is there already, and would be lost", option,
                     "another file; or remove it first");
}

Error as_named_file(Error error, bool named) {
  if (named && error.code == "file-not-found") error.kind = ErrorKind::kUsage;
  return error;
}

void note_form(const std::string& path, const std::string& form) {
  if (form.empty()) return;
  std::fprintf(stderr, "perfcast: note: %s was read as having %s\n", printable(path).c_str(), form.c_str());
}

}  // namespace perfcast::cli
