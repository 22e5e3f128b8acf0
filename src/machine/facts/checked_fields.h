#pragma once
// The fields of one JSON object from outside, with limits on their size and range that JsonReader leaves to its caller.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "machine/facts/processor.h"

namespace perfcast {

class JsonReader;

class CheckedFields {
 public:
  static constexpr size_t kMaximumNames = 10'000;  // metrics, flags, collectors, ... of one object
  static constexpr size_t kMaximumTextLength = size_t{1} << 20;

  CheckedFields(const Json& json, std::string path);
  ~CheckedFields();
  CheckedFields(const CheckedFields&) = delete;
  CheckedFields& operator=(const CheckedFields&) = delete;

  JsonReader& reader() { return *reader_; }
  std::string path(const std::string& key) const;
  // All mistakes so far.
  Status finish() const;

  std::string text(const std::string& key);
  std::string text_or_empty(const std::string& key);
  std::vector<std::string> texts(const std::string& key, size_t limit);
  std::optional<int64_t> integer(const std::string& key, int64_t low, int64_t high);
  std::optional<double> amount(const std::string& key);  // 0 or more

  // "cpu_family", "model" and "stepping".
  void read_numbers(ProcessorIdentity& processor);

  // An array of at most `limit` objects; each is handed to read(element, its path).
  void each(const std::string& key, size_t limit, const std::function<void(const Json&, const std::string&)>& read);

 private:
  bool has(const std::string& key) const;
  std::string checked(const std::string& key, std::string value);

  const Json& json_;
  std::unique_ptr<JsonReader> reader_;
};

// Absent, empty and not-a-number are left out.
void put(Json& json, const char* key, const std::optional<int>& value);
void put(Json& json, const char* key, const std::optional<int64_t>& value);
void put(Json& json, const char* key, const std::optional<double>& value);
void put(Json& json, const char* key, const std::string& value);
// "cpu_family", "model" and "stepping".
void put_numbers(Json& json, const ProcessorIdentity& processor);

}  // namespace perfcast
