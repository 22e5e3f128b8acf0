#include "ai/train_time/metric_lines.h"

#include <cmath>
#include <limits>
#include <regex>

#include "base/csv.h"
#include "base/json.h"
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

// "metric=0.9", "metric: 0.9": the name a word of its own, the last such in the line.
std::optional<double> read_pair(std::string_view line, std::string_view metric) {
  std::optional<double> found;
  for (size_t at = line.find(metric); at != std::string_view::npos; at = line.find(metric, at + 1)) {
    if (at > 0 && is_name_part(line[at - 1])) continue;
    size_t next = at + metric.size();
    while (next < line.size() && (line[next] == ' ' || line[next] == '\t' || line[next] == '"')) ++next;
    if (next >= line.size() || (line[next] != '=' && line[next] != ':')) continue;
    ++next;
    while (next < line.size() && (line[next] == ' ' || line[next] == '\t')) ++next;
    size_t end = next;
    while (end < line.size() && is_number_part(line[end])) ++end;
    // "0.93." at the end of a sentence.
    std::string_view number = line.substr(next, end - next);
    if (number.ends_with('.')) number.remove_suffix(1);
    if (const auto value = parse_reading(number)) found = value;
  }
  return found;
}

// Of "name=0.9" and "name: 0.9" the names.
void add_names_of_pairs(std::string_view line, std::vector<std::string>& names) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '"'; };
  for (size_t sign = line.find_first_of("=:"); sign != std::string_view::npos;
       sign = line.find_first_of("=:", sign + 1)) {
    size_t end = sign;
    while (end > 0 && is_blank(line[end - 1])) --end;
    size_t begin = end;
    while (begin > 0 && is_name_part(line[begin - 1])) --begin;
    size_t number = sign + 1;
    while (number < line.size() && is_blank(line[number])) ++number;
    size_t behind = number;
    while (behind < line.size() && is_number_part(line[behind])) ++behind;
    std::string_view value = line.substr(number, behind - number);
    if (value.ends_with('.')) value.remove_suffix(1);
    const bool is_name = begin < end && !parse_number(line.substr(begin, end - begin)) && parse_reading(value);
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

// The object that begins at the first "{" of the line.
std::optional<Json> object_in(std::string_view line) {
  const size_t brace = line.find('{');
  const size_t last = line.rfind('}');
  if (brace == std::string_view::npos || last == std::string_view::npos || last < brace) return std::nullopt;
  auto json = parse_json(line.substr(brace, last + 1 - brace), "line");
  if (!json || !json->is_object()) return std::nullopt;
  return std::move(*json);
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
