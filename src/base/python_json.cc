#include "base/python_json.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr int kMostDepth = 64;

bool is_word_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// Words that stand for a value; "-nan" is of C++ streams.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kWords = {{{"None", "null"},
                                                                                   {"True", "true"},
                                                                                   {"False", "false"},
                                                                                   {"null", "null"},
                                                                                   {"true", "true"},
                                                                                   {"false", "false"},
                                                                                   {"NaN", "\"NaN\""},
                                                                                   {"nan", "\"NaN\""},
                                                                                   {"-nan", "\"NaN\""},
                                                                                   {"Infinity", "\"Infinity\""},
                                                                                   {"inf", "\"Infinity\""},
                                                                                   {"-Infinity", "\"-Infinity\""},
                                                                                   {"-inf", "\"-Infinity\""}}};

// Calls whose first argument is the value.
constexpr std::array<std::string_view, 5> kNumberClasses = {"tensor", "Tensor", "Array", "array", "Decimal"};

bool holds_a_number(std::string_view call) {
  if (call.starts_with("np.") || call.starts_with("numpy.") || call.starts_with("jnp.")) return true;
  return std::find(kNumberClasses.begin(), kNumberClasses.end(), call) != kNumberClasses.end();
}

// Writes what it walks over as JSON; false where it is no value.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  bool value(int depth) {
    skip_blanks();
    if (depth > kMostDepth || at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (c == '{') return sequence('}', true, depth);
    if (c == '[') return sequence(']', false, depth);
    if (c == '(') return sequence(')', false, depth);
    if (c == '"' || c == '\'') return string();
    return word(depth);
  }

  size_t at() const { return at_; }
  std::string take_json() { return std::move(json_); }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // The opening bracket stands here. A comma before the closing one is fine, as Python has it.
  bool sequence(char close, bool keyed, int depth) {
    ++at_;
    json_ += keyed ? '{' : '[';
    for (bool first = true; !take(close); first = false) {
      if (!first && !take(',')) return false;
      if (!first && take(close)) break;
      if (!first) json_ += ',';
      if (keyed && (!key(depth) || !take(':'))) return false;
      if (keyed) json_ += ':';
      if (!value(depth + 1)) return false;
    }
    json_ += keyed ? '}' : ']';
    return true;
  }

  // JSON has names alone; Python may have a number there.
  bool key(int depth) {
    const size_t begin = json_.size();
    if (!value(depth + 1)) return false;
    if (json_[begin] == '"') return true;
    if (json_[begin] == '{' || json_[begin] == '[') return false;
    json_.insert(begin, 1, '"');
    json_ += '"';
    return true;
  }

  bool string() {
    const char quote = text_[at_++];
    json_ += '"';
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        json_ += "\\\"";
      } else if (c == '\t') {
        json_ += "\\t";
      } else if (c != '\\') {
        json_ += c;
      } else if (++at_ >= text_.size()) {
        return false;
      } else if (text_[at_] == '\'') {
        json_ += '\'';
      } else if (text_[at_] == 'x') {  // two digits, where JSON has four
        json_ += "\\u00";
      } else {
        json_ += c;
        json_ += text_[at_];
      }
    }
    json_ += '"';
    return at_++ < text_.size();
  }

  bool word(int depth) {
    const size_t begin = at_;
    if (text_[at_] == '-' || text_[at_] == '+') ++at_;
    while (at_ < text_.size() && (is_word_part(text_[at_]) || exponent_sign(begin))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (at_ < text_.size() && text_[at_] == '(') return call(name, depth);
    for (const auto& [python, json] : kWords) {
      if (name != python) continue;
      json_ += json;
      return true;
    }
    if (!parse_number(name)) return false;
    json_ += name.starts_with('+') ? name.substr(1) : name;
    if (name.ends_with('.')) json_ += '0';
    return true;
  }
  bool exponent_sign(size_t begin) const {
    return (text_[at_] == '-' || text_[at_] == '+') && at_ > begin && (text_[at_ - 1] | 0x20) == 'e';
  }

  // name(...): its first argument where that is a number, else null.
  bool call(std::string_view name, int depth) {
    const size_t open = at_++;
    const size_t begin = json_.size();
    const bool is_number = holds_a_number(name) && value(depth + 1) && json_[begin] != '{';
    if (!is_number) {
      json_.resize(begin);
      json_ += "null";
    }
    at_ = open;
    return skip_brackets();
  }
  // To behind the bracket that closes the one that stands here.
  bool skip_brackets() {
    int open = 0;
    for (char quote = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quote != 0) {
        if (c == '\\') ++at_;
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '(' || c == '[' || c == '{') {
        ++open;
      } else if ((c == ')' || c == ']' || c == '}') && --open == 0) {
        ++at_;
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string json_;
};

}  // namespace

std::optional<PythonLiteral> python_literal(std::string_view text) {
  Walker walker(text);
  if (!walker.value(0)) return std::nullopt;
  return PythonLiteral{walker.take_json(), walker.at()};
}

Result<Json> parse_python_json(std::string_view text, const std::string& source) {
  auto json = parse_json(text, source);
  if (json) return json;
  const auto literal = python_literal(text);
  if (!literal || !trim(text.substr(literal->length)).empty()) return json;
  auto again = parse_json(literal->json, source);
  return again ? std::move(again) : std::move(json);
}

}  // namespace perfcast
