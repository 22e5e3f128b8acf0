#include "ai/train_time/metric_lines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>

#include "base/csv.h"
#include "base/json.h"
#include "base/python_json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '/' || c == '-' || c == '@';
}

bool is_number_part(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == '.';
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_quote(char c) { return c == '"' || c == '\''; }

// Of "1,234" and "1.234,5" what stands before the comma: which of the marks is the decimal one, no line says. Of
// "76.5,93.2" the first is a number of its own.
bool is_before_comma(std::string_view number) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const size_t point = number.find('.');
  const std::string_view behind = point == std::string_view::npos ? "" : number.substr(point + 1);
  return std::all_of(number.begin(), number.begin() + static_cast<std::ptrdiff_t>(std::min(point, number.size())),
                     is_digit) &&
         (point == std::string_view::npos ||
          (behind.size() == 3 && std::all_of(behind.begin(), behind.end(), is_digit)));
}

// The number that stands here, perhaps in quotes or as np.float64(0.9).
std::optional<double> number_at(std::string_view text) {
  size_t begin = 0;
  while (begin < text.size() && (is_blank(text[begin]) || is_quote(text[begin]))) ++begin;
  text.remove_prefix(begin);
  size_t end = 0;
  while (end < text.size() && is_number_part(text[end])) ++end;
  if (end < text.size() && text[end] == '(' && end > 0) {
    const auto literal = python_literal(text);
    std::string_view value = literal ? std::string_view(literal->json) : "";
    if (value.starts_with('"') && value.size() > 1) value = value.substr(1, value.size() - 2);  // "NaN"
    return parse_reading(value);
  }
  std::string_view number = text.substr(0, end);
  if (number.ends_with('.')) number.remove_suffix(1);  // at the end of a sentence
  const bool goes_on = end + 1 < text.size() && text[end] == ',' && text[end + 1] >= '0' && text[end + 1] <= '9';
  return goes_on && is_before_comma(number) ? std::nullopt : parse_reading(number);
}

// Whether a name ends before `at`: "accuracy=", "accuracy :", "'accuracy': ", or a tab before the number.
std::optional<size_t> behind_sign(std::string_view line, size_t at) {
  bool has_tab = false;
  for (; at < line.size() && (is_blank(line[at]) || is_quote(line[at])); ++at) has_tab = has_tab || line[at] == '\t';
  if (at < line.size() && (line[at] == '=' || line[at] == ':')) return at + 1;
  return has_tab ? std::optional<size_t>(at) : std::nullopt;
}

// "metric=0.9", "metric: 0.9": the name a word of its own, the last such in the line.
std::optional<double> read_pair(std::string_view line, std::string_view metric) {
  std::optional<double> found;
  for (size_t at = line.find(metric); at != std::string_view::npos; at = line.find(metric, at + 1)) {
    if (at > 0 && is_name_part(line[at - 1])) continue;
    const auto number = behind_sign(line, at + metric.size());
    const auto value = number ? number_at(line.substr(*number)) : std::nullopt;
    if (value) found = value;
  }
  return found;
}

// Of "name=0.9" and "name: 0.9" the names.
void add_names_of_pairs(std::string_view line, std::vector<std::string>& names) {
  for (size_t sign = line.find_first_of("=:\t"); sign != std::string_view::npos;
       sign = line.find_first_of("=:\t", sign + 1)) {
    size_t end = sign;
    while (end > 0 && (is_blank(line[end - 1]) || is_quote(line[end - 1]))) --end;
    size_t begin = end;
    while (begin > 0 && is_name_part(line[begin - 1])) --begin;
    const bool is_name =
        begin < end && !parse_number(line.substr(begin, end - begin)) && number_at(line.substr(sign + 1));
    if (is_name) names.emplace_back(line.substr(begin, end - begin));
  }
}

std::optional<double> json_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return parse_reading(value.get<std::string>());  // "NaN" is no number of JSON
  return std::nullopt;
}

std::optional<double> read_member(const Json& object, const std::string& metric) {
  if (const auto member = object.find(metric); member != object.end()) return json_number(*member);
  const auto key = object.find("key"), value = object.find("value");
  if (key != object.end() && value != object.end() && key->is_string() && key->get<std::string>() == metric)
    return json_number(*value);
  return std::nullopt;
}

// The object in the line: JSON, or a dictionary as Python prints it, perhaps with text on either side.
std::optional<Json> object_in(std::string_view line) {
  constexpr int kMostTries = 8;
  const size_t last = line.rfind('}');
  size_t brace = line.find('{');
  if (brace == std::string_view::npos || last == std::string_view::npos || last < brace) return std::nullopt;
  auto json = parse_json(line.substr(brace, last + 1 - brace), "line");
  if (json && json->is_object()) return std::move(*json);
  for (int tries = 0; tries < kMostTries && brace != std::string_view::npos;
       ++tries, brace = line.find('{', brace + 1)) {
    const auto literal = python_literal(line.substr(brace));
    if (!literal) continue;
    auto object = parse_json(literal->json, "line");
    if (object && object->is_object() && !object->empty()) return std::move(*object);
  }
  return std::nullopt;
}

std::optional<double> read_json(std::string_view line, const std::string& metric) {
  const auto json = object_in(line);
  if (!json) return std::nullopt;
  if (const auto value = read_member(*json, metric)) return value;
  for (const auto& [name, member] : json->items()) {
    if (!member.is_object()) continue;
    if (const auto value = read_member(member, metric)) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> parse_reading(std::string_view text) {
  if (const auto number = parse_number(text)) return number;
  const std::string word = lower_case(text);
  if (word == "nan" || word == "-nan" || word == "+nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf" || word == "+inf" || word == "infinity") return std::numeric_limits<double>::infinity();
  if (word == "-inf" || word == "-infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::vector<std::string> metric_names_in(std::string_view line) {
  line = line.substr(0, kLongestPatternLine);
  std::vector<std::string> names;
  const auto json = object_in(line);
  if (!json) {
    add_names_of_pairs(line, names);
    return names;
  }
  const auto add_members = [&names](const Json& object) {
    const auto key = object.find("key"), value = object.find("value");
    if (key != object.end() && value != object.end() && key->is_string()) {
      if (json_number(*value)) names.push_back(key->get<std::string>());
      return;
    }
    for (const auto& [name, member] : object.items()) {
      if (json_number(member)) names.push_back(name);
    }
  };
  add_members(*json);
  for (const auto& [name, member] : json->items()) {
    if (member.is_object() && name != "metadata") add_members(member);
  }
  return names;
}

struct MetricReader::Pattern {
  std::regex regex;
};

Result<MetricReader> MetricReader::create(std::string metric, const std::string& pattern) {
  constexpr size_t kLongestPattern = 1000;
  if (metric.empty())
    return usage_error("bad-usage", "the metric has no name", "--metric", "its name as the command prints it");
  MetricReader reader;
  reader.metric_ = std::move(metric);
  if (pattern.empty()) return reader;
  try {
    auto compiled = std::make_shared<Pattern>();
    if (pattern.size() > kLongestPattern) throw std::regex_error(std::regex_constants::error_complexity);
    compiled->regex = std::regex(pattern);
    if (compiled->regex.mark_count() == 0) {
      return usage_error("bad-usage", "the pattern has no group: which part is the number?", "--pattern",
                         "such as 'top1 ([0-9.]+)'");
    }
    reader.pattern_ = std::move(compiled);
  } catch (const std::regex_error& problem) {
    return usage_error("bad-usage", std::string("the pattern is no regular expression: ") + problem.what(), "--pattern",
                       "such as 'top1 ([0-9.]+)'");
  }
  return reader;
}

std::optional<double> MetricReader::read(std::string_view line) const {
  line = line.substr(0, kLongestMetricLine);
  if (pattern_ == nullptr) {
    if (line.find(metric_) == std::string_view::npos) return std::nullopt;
    if (const auto value = read_json(line, metric_)) return value;
    return read_pair(line, metric_);
  }
  const std::string text(line.substr(0, kLongestPatternLine));
  std::optional<double> found;
  try {
    for (auto match = std::sregex_iterator(text.begin(), text.end(), pattern_->regex); match != std::sregex_iterator();
         ++match) {
      for (size_t group = 1; group < match->size(); ++group) {
        if (!(*match)[group].matched) continue;
        if (const auto value = parse_reading((*match)[group].str())) found = value;
        break;
      }
    }
  } catch (const std::regex_error&) {  // too complex for this line
    return std::nullopt;
  }
  return found;
}

struct StartPattern::Regex {
  std::regex regex;
};

Result<StartPattern> StartPattern::create(const std::string& pattern) {
  StartPattern start;
  if (pattern.empty()) return start;
  try {
    start.regex_ = std::make_shared<Regex>(Regex{std::regex(pattern)});
  } catch (const std::regex_error& problem) {
    return usage_error("bad-usage", std::string("the pattern is no regular expression: ") + problem.what(), "--from",
                       "such as 'run_start'");
  }
  return start;
}

bool StartPattern::finds(std::string_view line) const {
  if (regex_ == nullptr) return true;
  line = line.substr(0, kLongestPatternLine);
  try {
    return std::regex_search(line.begin(), line.end(), regex_->regex);
  } catch (const std::regex_error&) {  // too complex for this line
    return false;
  }
}

std::string without_escapes(std::string_view line) {
  constexpr char kEscape = '\x1b', kBell = '\a';
  std::string plain;
  plain.reserve(line.size());
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != kEscape) {
      plain += line[i];
    } else if (i + 1 < line.size() && line[i + 1] == '[') {  // up to a letter
      for (i += 2; i < line.size() && (line[i] < '@' || line[i] > '~');) ++i;
    } else if (i + 1 < line.size() && line[i + 1] == ']') {  // up to a bell or ESC backslash
      for (i += 2; i < line.size() && line[i] != kBell && line[i] != kEscape;) ++i;
      if (i < line.size() && line[i] == kEscape) ++i;
    } else {  // such as ESC ( B
      for (++i; i < line.size() && line[i] >= ' ' && line[i] <= '/';) ++i;
    }
  }
  return plain;
}

std::string event_of(std::string_view line) {
  const auto json = object_in(line.substr(0, kLongestMetricLine));
  if (!json) return "";
  for (const char* const name : {"key", "event"}) {
    const auto key = json->find(name);
    if (key != json->end() && key->is_string()) return key->get<std::string>();
  }
  return "";
}

std::optional<double> stated_time_s(std::string_view line) {
  constexpr double kMillisecond_s = 1e-3;
  const auto json = object_in(line.substr(0, kLongestMetricLine));
  if (!json) return std::nullopt;
  std::optional<double> time_s;
  for (const char* name : {"time_s", "elapsed_s"}) {
    const auto member = json->find(name);
    if (!time_s && member != json->end() && member->is_number()) time_s = member->get<double>();
  }
  const auto milliseconds = json->find("time_ms");
  if (!time_s && milliseconds != json->end() && milliseconds->is_number())
    time_s = kMillisecond_s * milliseconds->get<double>();
  return time_s && std::isfinite(*time_s) ? time_s : std::nullopt;
}

}  // namespace perfcast::ai
