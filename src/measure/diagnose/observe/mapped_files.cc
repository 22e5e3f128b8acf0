#include "measure/diagnose/observe/mapped_files.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>

#include "base/file.h"

namespace perfcast::measure {
namespace {

constexpr double kMostOfTheTime = 0.02, kAtFirst_s = 0.01;
constexpr size_t kMostMapsBytes = size_t{64} << 20;

bool read_hexadecimal(std::string_view text, uint64_t& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return problem == std::errc() && !text.empty() && end == text.data() + text.size();
}

// Words of a line are separated by spaces, several before the path.
std::string_view take_word(std::string_view& rest) {
  const size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
  const size_t end = std::min(rest.find(' ', begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

}  // namespace

CodeMappings executable_mappings(std::string_view maps) {
  CodeMappings result;
  while (!maps.empty()) {
    const size_t end = std::min(maps.find('\n'), maps.size());
    std::string_view line = maps.substr(0, end);
    maps.remove_prefix(std::min(end + 1, maps.size()));
    // START-END rwxp OFFSET DEVICE INODE PATH
    const std::string_view range = take_word(line), rights = take_word(line), offset = take_word(line);
    take_word(line);
    take_word(line);
    const size_t path = line.find_first_not_of(' ');
    const size_t dash = range.find('-');
    CodeMapping mapping;
    if (path == std::string_view::npos || line[path] != '/' || dash == std::string_view::npos || rights.size() < 3 ||
        rights[2] != 'x' || !read_hexadecimal(range.substr(0, dash), mapping.start) ||
        !read_hexadecimal(range.substr(dash + 1), mapping.end) ||
        !read_hexadecimal(offset, mapping.file_offset_bytes) || mapping.start >= mapping.end)
      continue;
    mapping.path = line.substr(path);
    result.push_back(std::move(mapping));
  }
  return result;
}

void add_mapping(MappedFiles& files, const CodeMapping& mapping) {
  // Memory that was named is no file.
  for (const char* memory : {"//", "/memfd:", "/dev/zero", "/SYSV"}) {
    if (mapping.path.starts_with(memory)) return;
  }
  if (!mapping.path.starts_with('/')) return;
  const uint64_t bytes = mapping.end - mapping.start;
  if (mapping.file_offset_bytes > UINT64_MAX - bytes) return;
  std::vector<FilePiece>& pieces = files[mapping.path];
  FilePiece piece{mapping.file_offset_bytes, bytes};
  // With all that it touches it is one.
  const auto touches = [&](const FilePiece& of) {
    return of.offset <= piece.offset + piece.bytes && piece.offset <= of.offset + of.bytes;
  };
  for (auto at = std::find_if(pieces.begin(), pieces.end(), touches); at != pieces.end();
       at = std::find_if(pieces.begin(), pieces.end(), touches)) {
    const uint64_t end = std::max(at->offset + at->bytes, piece.offset + piece.bytes);
    piece.offset = std::min(at->offset, piece.offset);
    piece.bytes = end - piece.offset;
    pieces.erase(at);
  }
  pieces.insert(std::upper_bound(pieces.begin(), pieces.end(), piece,
                                 [](const FilePiece& a, const FilePiece& b) { return a.offset < b.offset; }),
                piece);
}

uint64_t mapped_bytes(const std::vector<FilePiece>& pieces) {
  uint64_t sum = 0;
  for (const FilePiece& piece : pieces) sum += piece.bytes;
  return sum;
}

void MappingWatch::look(double now_s, const std::vector<pid_t>& processes) {
  using Clock = std::chrono::steady_clock;
  if (spent_s_ > kAtFirst_s + kMostOfTheTime * now_s) return;
  const auto began = Clock::now();
  std::error_code problem;
  static const std::string own = std::filesystem::read_symlink("/proc/self/exe", problem).string();
  for (const pid_t process : processes) {
    const auto maps = read_bytes("/proc/" + std::to_string(process) + "/maps", kMostMapsBytes);
    if (!maps) continue;  // it has ended
    const CodeMappings found = executable_mappings(*maps);
    // Until it has become the program it is a copy of us.
    const bool is_copy = process != getpid() &&
                         std::any_of(found.begin(), found.end(), [](const CodeMapping& of) { return of.path == own; });
    if (is_copy) continue;
    for (const CodeMapping& mapping : found) add_mapping(files_, mapping);
  }
  spent_s_ += std::chrono::duration<double>(Clock::now() - began).count();
}

}  // namespace perfcast::measure
