#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

namespace perfcast {
namespace {

Error system_error(const std::string& path, const std::string& doing) {
  const int number = errno;
  Error error{number == ENOENT ? "file-not-found" : "file-error", "cannot " + doing + ": " + std::strerror(number),
              path, ""};
  if (number == ENOENT) error.expected = "the path of an existing file";
  if (number == ENOENT && doing == "create the file") error.expected = "a path in an existing folder";
  if (number == EACCES) error.expected = "a file that you may read and a folder that you may write";
  return error;
}

Error too_large(const std::string& path, size_t limit_bytes) {
  return {"file-too-large", "the file holds more than " + std::to_string(limit_bytes) + " bytes", path,
          "a file of at most that size"};
}

Result<std::string> gunzip(const std::string& compressed, const std::string& path, size_t limit_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return Error{"out-of-memory", "zlib could not start", path, ""};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string text;
  std::string chunk(size_t{1} << 18, '\0');
  const auto bad_gzip = [&](const char* message) {
    inflateEnd(&stream);
    return Error{"bad-gzip", message, path, "a complete .gz file"};
  };
  while (true) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END) return bad_gzip("the gzip stream is truncated or corrupt");
    text.append(chunk.data(), chunk.size() - stream.avail_out);
    if (text.size() > limit_bytes) {
      inflateEnd(&stream);
      return too_large(path, limit_bytes);
    }
    if (state != Z_STREAM_END) continue;
    const std::string_view rest(reinterpret_cast<const char*>(stream.next_in), stream.avail_in);
    if (rest.find_first_not_of('\0') == std::string_view::npos) break;
    if (!rest.starts_with("\x1f\x8b")) return bad_gzip("something else follows the gzip stream");
    inflateReset(&stream);
  }
  inflateEnd(&stream);
  return text;
}

void append_utf8(std::string& text, uint32_t code) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// Without its first unit, the mark of the byte order. Halves of pairs become U+FFFD.
std::string utf8_of_utf16(std::string_view bytes, bool big_endian) {
  const auto unit = [&](size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]), second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<uint32_t>(big_endian ? first << 8 | second : second << 8 | first);
  };
  std::string text;
  for (size_t at = 2; at + 1 < bytes.size(); at += 2) {
    uint32_t code = unit(at);
    if (code >= 0xD800 && code < 0xE000) {
      const uint32_t next = code < 0xDC00 && at + 3 < bytes.size() ? unit(at + 2) : 0;
      const bool is_pair = next >= 0xDC00 && next < 0xE000;
      code = is_pair ? 0x10000 + ((code - 0xD800) << 10) + (next - 0xDC00) : 0xFFFD;
      if (is_pair) at += 2;
    }
    append_utf8(text, code);
  }
  return text;
}

// Text that says by its first bytes that it is UTF-16 (as PowerShell writes it) or UTF-8, as UTF-8 without them.
std::string without_byte_order_mark(std::string text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return utf8_of_utf16(text, text[0] == '\xFE');
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  return text;
}

}  // namespace

Result<std::string> read_bytes(const std::string& path, size_t limit_bytes) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return system_error(path, "open the file");
  std::string text;
  struct stat facts {};
  if (fstat(descriptor, &facts) == 0 && S_ISDIR(facts.st_mode)) {
    close(descriptor);
    return Error{"file-error", "this is a folder, not a file", path, "the path of a file"};
  }
  if (S_ISREG(facts.st_mode) && facts.st_size > 0) {
    if (static_cast<uint64_t>(facts.st_size) > limit_bytes) {
      close(descriptor);
      return too_large(path, limit_bytes);
    }
    text.reserve(static_cast<size_t>(facts.st_size));
  }
  std::string chunk(size_t{1} << 18, '\0');
  while (true) {
    const ssize_t count = read(descriptor, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      Error error = system_error(path, "read the file");
      close(descriptor);
      return error;
    }
    if (count == 0) break;
    text.append(chunk.data(), static_cast<size_t>(count));
    if (text.size() > limit_bytes) {
      close(descriptor);
      return too_large(path, limit_bytes);
    }
  }
  close(descriptor);
  return text;
}

Result<std::string> read_file(const std::string& path, size_t limit_bytes) {
  auto text = read_bytes(path, limit_bytes);
  if (text && text->starts_with("\x1f\x8b")) text = gunzip(*text, path, limit_bytes);
  return text ? without_byte_order_mark(std::move(*text)) : text;
}

namespace {

constexpr int kMostLinks = 40;  // one after the other, as the kernel has it
constexpr int kNameTrials = 100;

// Where writing to the path ends: symbolic links are followed, also one to a file that is not there yet. Empty: they go
// round in a circle.
std::string target_of(const std::string& path) {
  std::filesystem::path target = path;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code problem;
    const std::filesystem::path next = std::filesystem::read_symlink(target, problem);
    if (problem) return target.string();
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return {};
}

// What can't be replaced by a file of its name: devices, pipes and open files of processes.
bool is_written_in_place(const std::string& target, bool exists, const struct stat& facts) {
  return (exists && !S_ISREG(facts.st_mode)) || target.starts_with("/proc/") || target.starts_with("/dev/fd/");
}

Status write_all(int descriptor, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = write(descriptor, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(path, "write the file");
    content.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

// A name beside other files that nobody can foresee.
std::string name_beside(const std::string& folder) {
  std::random_device random;
  std::string name = folder + "/.perfcast-";
  for (int i = 0; i < 12; ++i) name += "abcdefghijklmnopqrstuvwxyz234567"[random() % 32];
  return name;
}

std::string open_path(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

// A new file without a name, so that a killed process leaves nothing; where the file system has no such thing, with one
// (`name`), never through a link. -1: `errno` says why.
int create_in(const std::string& folder, mode_t mode, std::string& name) {
  const int nameless = open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
  if (nameless >= 0 && access(open_path(nameless).c_str(), F_OK) == 0) return nameless;
  if (nameless >= 0) close(nameless);
  for (int trial = 0; trial < kNameTrials; ++trial) {
    name = name_beside(folder);
    const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

bool link_as(int descriptor, const std::string& name) {
  return linkat(AT_FDCWD, open_path(descriptor).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

// Gives the finished file the name of the target, whatever has that name now. `name`: its own so far, empty without
// one.
bool put_in_place(int descriptor, const std::string& folder, const std::string& target, std::string& name) {
  if (name.empty()) {
    if (link_as(descriptor, target)) return true;
    if (errno != EEXIST) return false;
    const std::string beside = name_beside(folder);
    if (!link_as(descriptor, beside)) return false;
    name = beside;
  }
  return rename(name.c_str(), target.c_str()) == 0;
}

// What is done to the file is only sure once it is on the disk; some file systems have no such thing.
bool is_synced(int descriptor) {
  return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

// The entry of the file in its folder; folders that can't be opened to read are left.
bool is_folder_synced(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return true;
  const bool synced = is_synced(descriptor);
  const int problem = errno;
  close(descriptor);
  errno = problem;
  return synced;
}

Status write_in_place(const std::string& path, std::string_view content) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return system_error(path, "open the file");
  Status written = write_all(descriptor, path, content);
  if (close(descriptor) != 0 && errno != EINTR && written) return system_error(path, "write the file");
  return written;
}

Status write_standard_output(std::string_view content) {
  if (std::fwrite(content.data(), 1, content.size(), stdout) == content.size() && std::fflush(stdout) == 0) return {};
  const bool closed = errno == EPIPE;
  Error error = system_error("standard output", "write");
  if (closed) error.code = "closed-pipe", error.kind = ErrorKind::kReaderGone;
  return error;
}

}  // namespace

Status create_private_folders(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return {};
  const std::filesystem::path above = std::filesystem::path(path).parent_path();
  if (!above.empty() && above != path) {
    if (Status made = create_private_folders(above.string()); !made) return made;
  }
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error(path, "create the folder");
  return {};
}

Status write_file_atomically(const std::string& path, std::string_view content, NewFile access_of_new) {
  if (path == "-" || path == "/dev/stdout") return write_standard_output(content);
  const std::string target = target_of(path);
  if (target.empty()) {
    errno = ELOOP;
    return system_error(path, "follow the symbolic links");
  }
  struct stat facts {};
  const bool exists = stat(target.c_str(), &facts) == 0;
  if (is_written_in_place(target, exists, facts)) return write_in_place(path, content);
  // Replacing a file needs no right to write it: who took that right away meant it.
  if (exists && access(target.c_str(), W_OK) != 0) return system_error(path, "write the file");
  const size_t slash = target.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : target.substr(0, slash);
  std::string name;
  const int descriptor = create_in(folder, exists || access_of_new == NewFile::kPrivate ? 0600 : 0666, name);
  if (descriptor < 0) return system_error(path, "create the file");
  Status written = write_all(descriptor, path, content);
  if (written && exists) {
    // Its owner and group are kept as far as we may; its mode always.
    if (fchown(descriptor, facts.st_uid, facts.st_gid) != 0) {
      const bool kept_group = fchown(descriptor, static_cast<uid_t>(-1), facts.st_gid) == 0;
      if (!kept_group) facts.st_mode &= ~static_cast<mode_t>(S_ISUID | S_ISGID);
    }
    if (fchmod(descriptor, facts.st_mode & 07777) != 0) written = system_error(path, "keep the mode of the file");
  }
  if (written && !is_synced(descriptor)) written = system_error(path, "write the file");
  if (written && !put_in_place(descriptor, folder, target, name)) written = system_error(path, "name the file");
  if (close(descriptor) != 0 && errno != EINTR && written) written = system_error(path, "write the file");
  if (!written) {
    if (!name.empty()) unlink(name.c_str());
    return written;
  }
  if (!is_folder_synced(folder)) return system_error(path, "write the folder of the file");
  return {};
}

namespace {
std::string user_folder(const char* variable, const char* below_home) {
  const char* given = std::getenv(variable);
  if (given != nullptr && *given != '\0') return std::string(given) + "/perfcast";
  const char* home = std::getenv("HOME");
  // One that isn't there is none: to make it, as root could, is nobody's wish.
  std::error_code unknown;
  const bool is_there = home != nullptr && *home != '\0' && std::filesystem::is_directory(home, unknown);
  return is_there ? std::string(home) + below_home + "/perfcast" : std::string();
}
}  // namespace

std::string user_data_folder() { return user_folder("XDG_DATA_HOME", "/.local/share"); }

std::string user_cache_folder() { return user_folder("XDG_CACHE_HOME", "/.cache"); }

}  // namespace perfcast
