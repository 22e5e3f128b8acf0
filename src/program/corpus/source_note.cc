#include "program/corpus/source_note.h"

#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr size_t kMaximumNoteBytes = size_t{1} << 20;
constexpr size_t kCommitDigits = 40, kShortCommitDigits = 7;
constexpr size_t kDateLength = 10;

// The characters of `allowed` right behind the first place of `mark` that has `length` of them.
std::string token_after(std::string_view text, std::string_view mark, std::string_view allowed, size_t length) {
  for (size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    const std::string_view rest = text.substr(at + mark.size());
    if (rest.substr(0, rest.find_first_not_of(allowed)).size() == length) return std::string(rest.substr(0, length));
  }
  return {};
}

}  // namespace

SourceNote parse_source_note(const std::string& text) {
  SourceNote note;
  note.commit = token_after(text, "commit ", "0123456789abcdef", kCommitDigits);
  for (const std::string_view mark : {"read: ", "read "}) {
    if (note.retrieved_utc.empty()) note.retrieved_utc = token_after(text, mark, "0123456789-", kDateLength);
  }
  for (const std::string& line : split(text, '\n')) {
    const std::string lower = lower_case(line);
    for (const std::string_view mark : {"license:", "licence:"}) {
      const size_t at = lower.find(mark);
      if (at != std::string::npos && note.licence.empty()) {
        note.licence = trim(std::string_view(line).substr(at + mark.size()));
      }
    }
  }
  return note;
}

SourceNote read_source_note(const std::string& folder) {
  const auto text = read_file(folder + "/SOURCE.md", kMaximumNoteBytes);
  return text ? parse_source_note(*text) : SourceNote();
}

std::string versioned_source(const std::string& name, const SourceNote& note) {
  return note.commit.empty() ? name : name + "@" + note.commit.substr(0, kShortCommitDigits);
}

std::string source_kind(const std::string& source) { return source.substr(0, source.find('@')); }

}  // namespace perfcast::program
