#pragma once
// JSON from outside is untrusted: parsed under limits, read field by field with the path of what was wrong.

#include <cmath>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast {

// Parses one document. Errors name `source`, line and column. Nesting deeper than 64 is refused.
Result<Json> parse_json(std::string_view text, const std::string& source);

// One document in each line of `text` that isn't blank: `take(json, "source:line")` until one fails.
Status for_each_json_line(std::string_view text, const std::string& source,
                          const std::function<Status(const Json& json, const std::string& where)>& take);

// Pretty-printed with two spaces, ending in a newline. Not-a-number becomes null: callers leave such fields out.
std::string to_text(const Json& json);

// Values as JSON: what isn't known is absent, never null or 0. Not known: an empty optional, an empty text, what isn't
// finite.
template <typename Value>
void put_known(Json& json, const std::string& name, const Value& value) {
  if constexpr (std::is_floating_point_v<Value>) {
    if (!std::isfinite(value)) return;
  } else if constexpr (std::is_same_v<Value, std::string>) {
    if (value.empty()) return;
  }
  json[name] = value;
}
template <typename Value>
void put_known(Json& json, const std::string& name, const std::optional<Value>& value) {
  if (value) put_known(json, name, *value);
}

// Reads the fields of one object and collects every mistake, so that a user sees all of them at once.
//   JsonReader in(json, "p.json");
//   profile.program = in.string("program");
//   if (auto status = in.finish(); !status) return status.error();
class JsonReader {
 public:
  JsonReader(const Json& object, std::string path);

  std::string string(const std::string& key);  // of 1 MiB at most
  double number(const std::string& key);       // finite
  int64_t integer(const std::string& key);
  bool boolean(const std::string& key);
  std::string string_or(const std::string& key, const std::string& fallback);
  double number_or(const std::string& key, double fallback);
  int64_t integer_or(const std::string& key, int64_t fallback);
  bool boolean_or(const std::string& key, bool fallback);
  std::optional<double> optional_number(const std::string& key);
  std::optional<double> optional_amount(const std::string& key);  // 0 or more
  std::optional<int64_t> optional_integer(const std::string& key, int64_t low, int64_t high);
  std::optional<bool> optional_boolean(const std::string& key);
  std::vector<std::string> strings(const std::string& key, size_t most = SIZE_MAX);  // absent: empty
  // The member, or null where absent; all but `member` complain where it has another kind.
  const Json* member(const std::string& key) { return find(key, false, ""); }
  const Json* array(const std::string& key);
  const Json* object(const std::string& key);
  const Json* require_array(const std::string& key);
  const Json* require_object(const std::string& key);
  // An array of at most `most` elements; each is handed to read(element, its path).
  void each(const std::string& key, size_t most, const std::function<void(const Json&, const std::string&)>& read);

  // At the end: complains of each key that was not asked for until then and is none of `also`, for it is a mistyped
  // one. The complaint of the first names all that there are, the nearest first.
  void refuse_others(const std::vector<std::string>& also = {});
  void complain(const std::string& key, const std::string& found, const std::string& expected);
  const std::string& path() const { return path_; }
  std::string path(const std::string& key) const { return path_ + "." + key; }
  const std::vector<std::string>& asked() const { return asked_; }            // keys so far, each once
  const std::vector<std::string>& complaints() const { return complaints_; }  // so far, each with its path
  // All mistakes so far, in one error with code "bad-json-field".
  Status finish() const;

 private:
  const Json* find(const std::string& key, bool required, const char* expected);
  bool has_at_most(const std::string& key, const Json& array, size_t most);
  std::string not_too_long(const std::string& key, const Json& text);

  const Json& object_;
  std::string path_;
  bool is_object_;
  std::vector<std::string> complaints_, asked_;
};

// The error object every verb prints under --json: schema perfcast.error/1.
Json to_json(const Error& error);

}  // namespace perfcast
