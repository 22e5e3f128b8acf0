#include "base/json.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace perfcast {
namespace {

constexpr int kMaximumDepth = 64;
constexpr size_t kMaximumTextBytes = size_t{1} << 20;

// nlohmann's parser doesn't recurse, but destroying or walking a deep document does: count the nesting first.
int depth_of(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

std::string position(std::string_view text, size_t byte) {
  const size_t end = std::min(byte, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
  const size_t start = text.substr(0, end).rfind('\n');
  const size_t column = start == std::string_view::npos ? end : end - start - 1;
  return std::to_string(line) + ":" + std::to_string(column);
}

std::string kind_of(const Json& value) { return value.type_name(); }

}  // namespace

Result<Json> parse_json(std::string_view text, const std::string& source) {
  if (depth_of(text) > kMaximumDepth) {
    return Error{"bad-json", "the document nests deeper than " + std::to_string(kMaximumDepth) + " levels", source,
                 "a flatter document"};
  }
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& problem) {
    std::string what = problem.what();
    const size_t colon = what.find("syntax error");
    if (colon != std::string::npos) what = what.substr(colon);
    if (what.size() > 200) what = what.substr(0, 200) + "...";
    return Error{"bad-json", "not valid JSON: " + what, source + ":" + position(text, problem.byte), "a JSON document"};
  } catch (const nlohmann::json::exception& problem) {
    return Error{"bad-json", std::string("not valid JSON: ") + problem.what(), source, "a JSON document"};
  }
}

Status for_each_json_line(std::string_view text, const std::string& source,
                          const std::function<Status(const Json& json, const std::string& where)>& take) {
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    const std::string where = source + ":" + std::to_string(number);
    const auto json = parse_json(line, where);
    if (!json) return json.error();
    if (Status taken = take(*json, where); !taken) return taken;
  }
  return {};
}

std::string to_text(const Json& json) {
  // Bytes that are no UTF-8 (a command line may hold any) are replaced rather than refused.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

JsonReader::JsonReader(const Json& object, std::string path)
    : object_(object), path_(std::move(path)), is_object_(object.is_object()) {
  if (!is_object_) complaints_.push_back(path_ + ": found " + kind_of(object) + ", expected an object");
}

const Json* JsonReader::find(const std::string& key, bool required, const char* expected) {
  if (!is_object_) return nullptr;
  if (std::ranges::find(asked_, key) == asked_.end()) asked_.push_back(key);
  const auto found = object_.find(key);
  if (found == object_.end() || found->is_null()) {
    if (required) complain(key, "nothing", expected);
    return nullptr;
  }
  return &*found;
}

void JsonReader::complain(const std::string& key, const std::string& found, const std::string& expected) {
  complaints_.push_back(path(key) + ": found " + found + ", expected " + expected);
}

void JsonReader::refuse_others(const std::vector<std::string>& also) {
  if (!is_object_) return;
  std::vector<std::string> known = asked_;
  known.insert(known.end(), also.begin(), also.end());
  size_t named = known.size();
  for (const auto& [key, value] : object_.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    complain(printable(key.substr(0, 60)), "an unknown key", "one of " + nearest_names(key, known, named));
    named = 3;
  }
}

bool JsonReader::has_at_most(const std::string& key, const Json& array, size_t most) {
  if (array.size() <= most) return true;
  complain(key, std::to_string(array.size()) + " entries", "at most " + std::to_string(most));
  return false;
}

std::string JsonReader::not_too_long(const std::string& key, const Json& text) {
  const auto& value = text.get_ref<const std::string&>();
  if (value.size() <= kMaximumTextBytes) return value;
  complain(key, "a text of " + std::to_string(value.size()) + " bytes", "at most " + std::to_string(kMaximumTextBytes));
  return {};
}

std::string JsonReader::string(const std::string& key) {
  const Json* value = find(key, true, "a string");
  if (value == nullptr) return {};
  if (!value->is_string()) {
    complain(key, kind_of(*value), "a string");
    return {};
  }
  return not_too_long(key, *value);
}

double JsonReader::number(const std::string& key) {
  const Json* value = find(key, true, "a number");
  if (value == nullptr) return 0;
  if (!value->is_number() || !std::isfinite(value->get<double>())) {
    complain(key, kind_of(*value), "a finite number");
    return 0;
  }
  return value->get<double>();
}

int64_t JsonReader::integer(const std::string& key) {
  const Json* value = find(key, true, "an integer");
  if (value == nullptr) return 0;
  if (!value->is_number_integer()) {
    complain(key, kind_of(*value), "an integer");
    return 0;
  }
  if (value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    complain(key, "a huge number", "an integer of at most " + std::to_string(INT64_MAX));
    return 0;
  }
  return value->get<int64_t>();
}

bool JsonReader::boolean(const std::string& key) {
  const Json* value = find(key, true, "true or false");
  if (value == nullptr) return false;
  if (!value->is_boolean()) {
    complain(key, kind_of(*value), "true or false");
    return false;
  }
  return value->get<bool>();
}

std::string JsonReader::string_or(const std::string& key, const std::string& fallback) {
  return find(key, false, "") == nullptr ? fallback : string(key);
}
double JsonReader::number_or(const std::string& key, double fallback) {
  return find(key, false, "") == nullptr ? fallback : number(key);
}
int64_t JsonReader::integer_or(const std::string& key, int64_t fallback) {
  return find(key, false, "") == nullptr ? fallback : integer(key);
}
bool JsonReader::boolean_or(const std::string& key, bool fallback) {
  return find(key, false, "") == nullptr ? fallback : boolean(key);
}
std::optional<double> JsonReader::optional_number(const std::string& key) {
  if (find(key, false, "") == nullptr) return std::nullopt;
  return number(key);
}
std::optional<double> JsonReader::optional_amount(const std::string& key) {
  const std::optional<double> value = optional_number(key);
  if (!value || *value >= 0) return value;
  complain(key, std::to_string(*value), "a number of at least 0");
  return std::nullopt;
}
std::optional<int64_t> JsonReader::optional_integer(const std::string& key, int64_t low, int64_t high) {
  if (find(key, false, "") == nullptr) return std::nullopt;
  const size_t before = complaints_.size();
  const int64_t value = integer(key);
  if (complaints_.size() > before) return std::nullopt;
  if (value >= low && value <= high) return value;
  complain(key, std::to_string(value), "an integer from " + std::to_string(low) + " to " + std::to_string(high));
  return std::nullopt;
}
std::optional<bool> JsonReader::optional_boolean(const std::string& key) {
  if (find(key, false, "") == nullptr) return std::nullopt;
  return boolean(key);
}

std::vector<std::string> JsonReader::strings(const std::string& key, size_t most) {
  std::vector<std::string> result;
  const Json* values = array(key);
  if (values == nullptr || !has_at_most(key, *values, most)) return result;
  for (const Json& value : *values) {
    if (!value.is_string()) {
      complain(key, "an array holding " + kind_of(value), "an array of strings");
      return {};
    }
    result.push_back(not_too_long(key, value));
  }
  return result;
}

void JsonReader::each(const std::string& key, size_t most,
                      const std::function<void(const Json&, const std::string&)>& read) {
  const Json* elements = array(key);
  if (elements == nullptr || !has_at_most(key, *elements, most)) return;
  size_t index = 0;
  for (const Json& element : *elements) read(element, path(key) + "[" + std::to_string(index++) + "]");
}

const Json* JsonReader::array(const std::string& key) {
  const Json* value = find(key, false, "");
  if (value != nullptr && !value->is_array()) {
    complain(key, kind_of(*value), "an array");
    return nullptr;
  }
  return value;
}
const Json* JsonReader::object(const std::string& key) {
  const Json* value = find(key, false, "");
  if (value != nullptr && !value->is_object()) {
    complain(key, kind_of(*value), "an object");
    return nullptr;
  }
  return value;
}
const Json* JsonReader::require_array(const std::string& key) {
  return find(key, true, "an array") == nullptr ? nullptr : array(key);
}
const Json* JsonReader::require_object(const std::string& key) {
  return find(key, true, "an object") == nullptr ? nullptr : object(key);
}

Status JsonReader::finish() const {
  if (complaints_.empty()) return {};
  std::string all;
  for (const std::string& complaint : complaints_) all += (all.empty() ? "" : "; ") + complaint;
  return Error{"bad-json-field", all, path_, "the fields named above"};
}

Json to_json(const Error& error) {
  return Json{{"schema", "perfcast.error/1"},
              {"code", error.code},
              {"message", error.message},
              {"where", error.where},
              {"expected", error.expected}};
}

}  // namespace perfcast
