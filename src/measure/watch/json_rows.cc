// JSON lines: one object a line, whose members are mostly numbers and come in the same order line by line.

#include <array>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "base/unknown.h"
#include "measure/watch/fast_number.h"
#include "measure/watch/row_parser.h"
#include "measure/watch/row_time.h"

namespace perfcast::measure {
namespace {

constexpr int kMostDepth = 64;
constexpr size_t kMostRemembered = 4096;  // keys in the order of a line

void append_utf8(uint32_t code, std::string& text) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    text += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// What stands between the quotes of valid JSON, without escapes. False where an escape is none.
bool unescape(std::string_view raw, std::string& text) {
  text.clear();
  const auto hex = [&](size_t at, uint32_t& code) {
    if (at + 4 > raw.size()) return false;
    code = 0;
    const auto [behind, problem] = std::from_chars(raw.data() + at, raw.data() + at + 4, code, 16);
    return problem == std::errc() && behind == raw.data() + at + 4;
  };
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      text += raw[i];
      continue;
    }
    if (++i >= raw.size()) return false;
    static constexpr std::string_view kEscapes = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (const size_t known = kEscapes.find(raw[i]); known != std::string_view::npos) {
      text += kMeanings[known];
      continue;
    }
    uint32_t code = 0;
    if (raw[i] != 'u' || !hex(i + 1, code)) return false;
    i += 4;
    if (code >= 0xDC00 && code < 0xE000) return false;
    if (code >= 0xD800 && code < 0xDC00) {
      uint32_t low = 0;
      if (i + 2 >= raw.size() || raw[i + 1] != '\\' || raw[i + 2] != 'u' || !hex(i + 3, low)) return false;
      if (low < 0xDC00 || low >= 0xE000) return false;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      i += 6;
    }
    append_utf8(code, text);
  }
  return true;
}

class JsonRowParser : public RowParser {
 public:
  // A column of times that was named is missed where it isn't there.
  explicit JsonRowParser(const ParserOptions& options) : RowParser(options) {
    has_time_ = !options.time_column.empty();
  }

  Status line(std::string_view line, RowBlock& block) override {
    at_ = line.data();
    end_ = at_ + line.size();
    skip_blanks();
    if (at_ == end_) return {};
    block_ = &block;
    next_ = 0;
    time_s_ = kUnknown;
    group_ = options_.group_column.empty() ? block.group("") : RowBlock::kIgnored;
    grouped_ = options_.group_column.empty();
    timed_ = false;
    time_rank_ = SIZE_MAX;
    counts_ = block.counts;
    block.begin_row();
    prefix_.clear();
    const bool whole = take_object(0) && (skip_blanks(), at_ == end_);
    if (!whole) {
      block.drop_row();
      block.counts = counts_;  // of cells before the fault
      ++block.counts.bad_lines;
      return {};
    }
    if (!grouped_) group_ = block.group("");
    // A stream has times from the first row that has one.
    has_time_ = has_time_ || timed_;
    // Of the column that was chosen alone: another's unit is not the stream's.
    if (time_rank_ != SIZE_MAX) time_s_ = time_text_.empty() ? time_of(time_number_) : time_of(time_text_, true);
    finish_row(block, time_s_, group_);
    return {};
  }

 private:
  enum class Use : uint8_t { kMetric, kNew, kTime, kGroup, kIgnored };
  struct Key {
    std::string raw;   // with its quotes and the colon, as it stood in the line
    std::string name;  // with the names around it
    Use use = Use::kNew;
    size_t metric = 0;
    bool text = false;  // has had some, and no number yet
  };

  void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  bool take_object(int depth) {
    if (depth > kMostDepth || !take('{')) return false;
    skip_blanks();
    if (take('}')) return true;
    for (;;) {
      Key* key = take_key();
      if (key == nullptr || !take_value(*key, depth)) return false;
      skip_blanks();
      if (take('}')) return true;
      if (!take(',')) return false;
      skip_blanks();
    }
  }

  // Mostly the one that stood here in the line before.
  Key* take_key() {
    if (next_ < keys_.size()) {
      const std::string& raw = keys_[next_].raw;
      const auto left = static_cast<size_t>(end_ - at_);
      if (raw.size() <= left && std::memcmp(raw.data(), at_, raw.size()) == 0 && prefix_.empty()) {
        at_ += raw.size();
        skip_blanks();
        return &keys_[next_++];
      }
    }
    const char* const begin = at_;
    std::string_view text;
    if (!take_string(text) || !unescape(text, unescaped_)) return nullptr;
    skip_blanks();
    if (!take(':')) return nullptr;
    const bool nested = !prefix_.empty();
    Key* const key = nested ? &other_ : &remembered(next_);
    key->raw.assign(begin, at_);
    key->text = false;
    key->name = prefix_ + unescaped_;
    key->use = use_of(key->name, key->metric);
    if (!nested) ++next_;
    skip_blanks();
    return key;
  }

  Key& remembered(size_t i) {
    if (i >= kMostRemembered) return other_;
    if (i >= keys_.size()) keys_.resize(i + 1);
    return keys_[i];
  }

  Use use_of(const std::string& name, size_t& metric) {
    if (is_time_name(name)) return Use::kTime;
    if (!options_.group_column.empty() && name == options_.group_column) return Use::kGroup;
    metric = RowBlock::kIgnored;
    return Use::kNew;
  }

  // Between the quotes, escapes as they stand.
  bool take_string(std::string_view& text) {
    if (!take('"')) return false;
    const char* const begin = at_;
    for (; at_ != end_ && *at_ != '"'; ++at_) {
      if (static_cast<unsigned char>(*at_) < 0x20) return false;
      if (*at_ == '\\' && ++at_ == end_) return false;
    }
    text = {begin, static_cast<size_t>(at_ - begin)};
    return take('"');
  }

  bool take_word(std::string_view word) {
    if (static_cast<size_t>(end_ - at_) < word.size() || std::memcmp(at_, word.data(), word.size()) != 0) return false;
    at_ += word.size();
    return true;
  }

  // What Python writes, though JSON has no such words: absent.
  bool take_no_number() { return take_word("NaN") || take_word("Infinity") || take_word("-Infinity"); }

  // By JSON's grammar, which is narrower than from_chars'.
  bool take_number(double& value) {
    const char* const begin = at_;
    const char* first = at_;
    if (*first == '-') ++first;
    if (first == end_ || static_cast<unsigned char>(*first - '0') > 9) return false;
    if (*first == '0' && first + 1 != end_ && static_cast<unsigned char>(first[1] - '0') < 10) return false;
    const char* behind = read_number(begin, end_, value);
    if (behind == nullptr) {  // too large or too small for a double
      behind = begin;
      while (behind != end_ && std::strchr("+-.0123456789eE", *behind) != nullptr && *behind != '\0') ++behind;
      value = kUnknown;
    }
    for (const char* c = first; c != behind; ++c) {
      if (*c == '.' && (c + 1 == behind || static_cast<unsigned char>(c[1] - '0') > 9)) return false;
    }
    at_ = behind;
    return at_ == end_ || std::strchr(",} \t\r\n]", *at_) != nullptr;
  }

  bool take_value(Key& key, int depth) {
    if (at_ == end_) return false;
    double value = kUnknown;
    switch (*at_) {
      case '"': {
        std::string_view text;
        if (!take_string(text) || !unescape(text, unescaped_)) return false;
        put_text(key, unescaped_);
        return true;
      }
      case '{': {
        const size_t size = prefix_.size();
        prefix_ = key.name + ".";
        if (!take_object(depth + 1)) return false;
        prefix_.resize(size);
        // prefix_ was replaced, not appended to: what is left of it is its beginning.
        return true;
      }
      case '[':
        return skip_array(depth + 1);
      case 't':
        return take_word("true") && put_number(key, 1);
      case 'f':
        return take_word("false") && put_number(key, 0);
      case 'n':
        return take_word("null") && put_number(key, kUnknown);
      default:
        if (take_no_number()) return put_number(key, kUnknown);
        return take_number(value) && put_number(key, value);
    }
  }

  bool skip_array(int depth) {
    if (depth > kMostDepth || !take('[')) return false;
    skip_blanks();
    if (take(']')) return true;
    for (;;) {
      if (!skip_value(depth)) return false;
      skip_blanks();
      if (take(']')) return true;
      if (!take(',')) return false;
      skip_blanks();
    }
  }

  bool skip_value(int depth) {
    if (at_ == end_) return false;
    std::string_view text;
    double value = 0;
    switch (*at_) {
      case '"':
        return take_string(text) && unescape(text, unescaped_);
      case '[':
        return skip_array(depth + 1);
      case '{':
        return skip_object(depth + 1);
      case 't':
        return take_word("true");
      case 'f':
        return take_word("false");
      case 'n':
        return take_word("null");
      default:
        return take_no_number() || take_number(value);
    }
  }

  bool skip_object(int depth) {
    if (depth > kMostDepth || !take('{')) return false;
    skip_blanks();
    if (take('}')) return true;
    for (;;) {
      std::string_view text;
      if (!take_string(text) || !unescape(text, unescaped_)) return false;
      skip_blanks();
      if (!take(':')) return false;
      skip_blanks();
      if (!skip_value(depth)) return false;
      skip_blanks();
      if (take('}')) return true;
      if (!take(',')) return false;
      skip_blanks();
    }
  }

  void put_text(Key& key, const std::string& text) {
    double value = 0;
    switch (key.use) {
      case Use::kTime:
        if (takes_time(key, iso_time_s(trim(text)) || is_number(text, value))) time_text_ = text;
        return;
      case Use::kGroup:
        take_group(text);
        return;
      case Use::kMetric:
        if (is_number(text, value)) {
          put_number(key, value);
        } else {
          ++(trim(text).empty() ? block_->counts.absent_cells : block_->counts.bad_cells);
        }
        return;
      case Use::kNew:
        if (is_number(text, value)) {
          put_number(key, value);
        } else if (!trim(text).empty() && !key.text) {
          key.text = true;
          block_->note_text(key.name);
        }
        return;
      case Use::kIgnored:
        return;
    }
  }

  // Of several that can be read the first that the documentation names, wherever it stands in the line.
  bool takes_time(const Key& key, bool readable) {
    timed_ = true;
    const size_t rank = time_rank(key.name);
    if (!readable || (time_rank_ != SIZE_MAX && rank > time_rank_)) return false;
    time_rank_ = rank;
    return true;
  }

  void take_group(const std::string& text) {
    group_ = block_->group(text);
    grouped_ = true;
  }

  bool put_number(Key& key, double value) {
    if (key.use == Use::kTime) {
      if (takes_time(key, std::isfinite(value))) {
        time_number_ = value;
        time_text_.clear();
      }
    } else if (key.use == Use::kGroup) {
      std::array<char, 32> text{};
      const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
      take_group(std::isfinite(value) ? std::string(text.data(), written.ptr) : "");
    } else if (!std::isfinite(value)) {
      if (key.use == Use::kMetric) ++block_->counts.absent_cells;
    } else {
      if (key.use == Use::kNew) {
        key.metric = block_->column(key.name);
        key.use = key.metric == RowBlock::kIgnored ? Use::kIgnored : Use::kMetric;
      }
      if (key.use == Use::kMetric) block_->set(key.metric, value);
    }
    return true;
  }

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  RowBlock* block_ = nullptr;
  StreamCounts counts_;
  std::vector<Key> keys_;  // in the order of the line before
  size_t next_ = 0;
  Key other_;
  std::string prefix_, unescaped_;
  double time_s_ = 0;
  size_t group_ = 0;
  bool grouped_ = false, timed_ = false;
  size_t time_rank_ = SIZE_MAX;  // of the column that gives the line's time; none yet
  double time_number_ = 0;
  std::string time_text_;  // empty: it is the number
};

}  // namespace

std::unique_ptr<RowParser> make_json_parser(const ParserOptions& options) {
  return std::make_unique<JsonRowParser>(options);
}

}  // namespace perfcast::measure
