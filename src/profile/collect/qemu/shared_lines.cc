#include "profile/collect/qemu/shared_lines.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace perfcast {
namespace {

constexpr size_t kMostLines = 64, kMostUsers = 4, kMostUserPathBytes = 4096;

// Takes words from the front of one line of the file.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}
  bool word(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    const std::string_view after = rest_.substr(expected.size());
    if (!after.empty() && after[0] != ' ') return false;
    rest_ = after.empty() ? after : after.substr(1);
    return true;
  }
  template <typename T>
  bool number(T& value, int base = 10) {
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    const auto digits = static_cast<size_t>(end - rest_.data());
    if (problem != std::errc() || (digits < rest_.size() && rest_[digits] != ' ')) return false;
    rest_.remove_prefix(std::min(digits + 1, rest_.size()));
    return true;
  }
  bool count(std::string_view name, double& value) {
    uint64_t whole = 0;
    if (!word(name) || !number(whole)) return false;
    value = static_cast<double>(whole);
    return true;
  }
  std::string_view rest() const { return rest_; }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

class SharingParser {
 public:
  SharingParser(std::string_view text, const std::string& source) : rest_(text), source_(source) {}
  Result<SharedLines> parse();

 private:
  bool next(std::string_view& line);
  Error wrong(std::string_view found, const std::string& expected) const {
    return {"bad-shared-lines", "'" + printable(found.substr(0, 60)) + "'", source_ + ":" + std::to_string(number_),
            expected};
  }
  static bool read_line(LineReader reader, SharedCacheLine& line);
  static bool read_user(LineReader reader, LineUser& user);

  std::string_view rest_;
  const std::string& source_;
  size_t number_ = 0;
};

// A last line without its end is a cut-off one and no line.
bool SharingParser::next(std::string_view& line) {
  const size_t end = rest_.find('\n');
  if (end == std::string_view::npos) return false;
  line = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  ++number_;
  return true;
}

bool SharingParser::read_line(LineReader reader, SharedCacheLine& line) {
  return reader.word("line") && reader.number(line.address, 16) && reader.count("transfers", line.transfers_count) &&
         reader.count("of_data", line.of_data_count) && line.of_data_count <= line.transfers_count &&
         reader.is_at_end();
}

bool SharingParser::read_user(LineReader reader, LineUser& user) {
  if (!reader.word("user") || !reader.number(user.thread) || user.thread < 1 || user.thread > kSeveralThreads ||
      !reader.count("writes", user.writes_count) || !reader.count("reads", user.reads_count) ||
      !reader.count("atomic", user.atomic_count) || !reader.word("written") || !reader.number(user.written, 16) ||
      !reader.word("read") || !reader.number(user.read, 16) || !reader.word("code") ||
      !reader.number(user.file_offset_bytes, 16) || reader.is_at_end() || reader.rest().size() > kMostUserPathBytes)
    return false;
  if (reader.rest() != "-") user.file = reader.rest();
  return user.file.empty() || user.file[0] == '/';
}

Result<SharedLines> SharingParser::parse() {
  SharedLines result;
  std::string_view line;
  int64_t version = 0;
  if (!next(line)) return wrong("", "a first line 'perfcast-sharing 1'");
  LineReader head(line);
  if (!head.word("perfcast-sharing") || !head.number(version) || version < 1)
    return wrong(line, "a first line 'perfcast-sharing 1'");
  if (version > 1) {
    return Error{"future-version", "the plugin writes version " + std::to_string(version), source_,
                 "version 1: the plugin that was built with this perfcast"};
  }
  for (auto* const count : {&result.accesses_count, &result.dropped_count}) {
    const char* const name = count == &result.accesses_count ? "accesses" : "dropped";
    if (!next(line)) return wrong("", "a line '" + std::string(name) + " N'");
    LineReader reader(line);
    if (!reader.count(name, *count) || !reader.is_at_end()) return wrong(line, std::string(name) + " N");
  }
  while (next(line)) {
    if (line == "end 1") {
      if (!rest_.empty()) return wrong(rest_, "nothing after 'end 1'");
      return result;
    }
    SharedCacheLine shared;
    LineUser user;
    if (read_line(LineReader(line), shared)) {
      if (result.lines.size() == kMostLines) return wrong(line, "at most 64 lines");
      result.lines.push_back(std::move(shared));
    } else if (!result.lines.empty() && read_user(LineReader(line), user)) {
      if (result.lines.back().users.size() == kMostUsers) return wrong(line, "at most 4 users of a line");
      result.lines.back().users.push_back(std::move(user));
    } else {
      return wrong(line, "line ADDRESS transfers N of_data N, or a user of one");
    }
  }
  return wrong("", "a last line 'end 1': the file is cut off");
}

}  // namespace

double SharedCacheLine::accesses_count() const {
  double sum = 0;
  for (const LineUser& user : users) sum += user.writes_count + user.reads_count;
  return sum;
}

double SharedCacheLine::contended_count() const {
  double most = 0;
  for (const LineUser& user : users) most = std::max(most, user.writes_count + user.reads_count);
  return accesses_count() - most;
}

double SharedCacheLine::writes_count() const {
  double sum = 0;
  for (const LineUser& user : users) sum += user.writes_count;
  return sum;
}

double SharedCacheLine::atomic_count() const {
  double sum = 0;
  for (const LineUser& user : users) sum += user.atomic_count;
  return sum;
}

void SharedLines::add(const SharedLines& other) {
  accesses_count += other.accesses_count;
  dropped_count += other.dropped_count;
  lines.insert(lines.end(), other.lines.begin(), other.lines.end());
  std::stable_sort(lines.begin(), lines.end(), [](const SharedCacheLine& a, const SharedCacheLine& b) {
    return a.contended_count() > b.contended_count();
  });
}

Result<SharedLines> parse_shared_lines(std::string_view text, const std::string& source) {
  return SharingParser(text, source).parse();
}

}  // namespace perfcast
