#pragma once
// JSON from outside is untrusted: parsed under limits, read field by field with the path of what was wrong.

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
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

// Reads the fields of one object and collects every mistake, so that a user sees all of them at once.
//   JsonReader in(json, "p.json");
//   profile.program = in.string("program");
//   if (auto status = in.finish(); !status) return status.error();
class JsonReader {
 public:
  JsonReader(const Json& object, std::string path);

  std::string string(const std::string& key);
  double number(const std::string& key);  // finite
  int64_t integer(const std::string& key);
  bool boolean(const std::string& key);
  std::string string_or(const std::string& key, const std::string& fallback);
  double number_or(const std::string& key, double fallback);
  int64_t integer_or(const std::string& key, int64_t fallback);
  bool boolean_or(const std::string& key, bool fallback);
  std::optional<double> optional_number(const std::string& key);
  std::vector<std::string> strings(const std::string& key);  // absent: empty
  // The member, or null where absent; `array`/`object` complain where it has another kind.
  const Json* array(const std::string& key);
  const Json* object(const std::string& key);
  const Json* require_array(const std::string& key);
  const Json* require_object(const std::string& key);

  void complain(const std::string& key, const std::string& found, const std::string& expected);
  const std::string& path() const { return path_; }
  const std::vector<std::string>& complaints() const { return complaints_; }  // so far, each with its path
  // All mistakes so far, in one error with code "bad-json-field".
  Status finish() const;

 private:
  const Json* find(const std::string& key, bool required, const char* expected);

  const Json& object_;
  std::string path_;
  bool is_object_;
  std::vector<std::string> complaints_;
  std::string expected_;
};

// The error object every verb prints under --json: schema perfcast.error/1.
Json to_json(const Error& error);

}  // namespace perfcast
