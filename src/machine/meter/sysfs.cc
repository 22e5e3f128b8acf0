#include "machine/meter/sysfs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr size_t kLongestFileBytes = 4096;
constexpr size_t kMostNames = 4096;

// "energy10" behind "energy9".
bool natural_order(const std::string& a, const std::string& b) {
  size_t i = 0, j = 0;
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    size_t end_a = i, end_b = j;
    while (end_a < a.size() && digit(a[end_a])) ++end_a;
    while (end_b < b.size() && digit(b[end_b])) ++end_b;
    if (end_a - i != end_b - j) return end_a - i < end_b - j;
    if (const int order = a.compare(i, end_a - i, b, j, end_b - j); order != 0) return order < 0;
    i = end_a;
    j = end_b;
  }
  return a.size() - i < b.size() - j;
}

}  // namespace

Result<std::string> read_sysfs(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int number = errno;
    if (number == ENOENT) return Error{"file-not-found", "there is no such file", path, "", ErrorKind::kEnvironment};
    return environment_error(number == EACCES || number == EPERM ? "no-permission" : "file-error",
                             std::string("cannot open the file: ") + std::strerror(number), path, "");
  }
  std::array<char, kLongestFileBytes + 1> bytes = {};
  size_t size = 0;
  int problem = 0;
  while (size < bytes.size()) {
    const ssize_t count = ::read(descriptor, bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) problem = errno;
    if (count <= 0) break;
    size += static_cast<size_t>(count);
  }
  close(descriptor);
  if (problem != 0) {
    return environment_error(problem == EACCES || problem == EPERM ? "no-permission" : "file-error",
                             std::string("cannot read the file: ") + std::strerror(problem), path, "");
  }
  if (size > kLongestFileBytes) {
    return Error{"file-too-large", "the file holds more than a value", path, "a file of the kernel's"};
  }
  const std::string_view text(bytes.data(), size);
  return std::string(trim(text.substr(0, text.find('\n'))));
}

Result<double> read_sysfs_number(const std::string& path) {
  const auto text = read_sysfs(path);
  if (!text) return text.error();
  const std::string_view digits = text->starts_with("-") ? std::string_view(*text).substr(1) : std::string_view(*text);
  const bool whole = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  const auto value = whole ? parse_number(*text) : std::nullopt;
  if (!value) return Error{"bad-number", "'" + printable(text->substr(0, 60)) + "' is no whole number", path, "digits"};
  return *value;
}

std::optional<double> sysfs_number(const std::string& path) {
  const auto value = read_sysfs_number(path);
  return value ? std::optional(*value) : std::nullopt;
}

std::string sysfs_text(const std::string& path) {
  const auto text = read_sysfs(path);
  return text ? *text : "";
}

std::vector<std::string> sysfs_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (auto entry = std::filesystem::directory_iterator(folder, problem);
       !problem && entry != std::filesystem::directory_iterator() && names.size() < kMostNames;
       entry.increment(problem)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end(), natural_order);
  return names;
}

}  // namespace perfcast
