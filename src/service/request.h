#pragma once
// What an operation may be asked: fields with their types, units and ranges. Requests are checked by this table, and
// the OpenAPI document is made of it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast::service {

enum class FieldKind : uint8_t {
  kText,
  kYes,  // true or false
  kNumber,
  kInteger,
  kTexts,  // an array of texts; likewise the next two
  kNumbers,
  kIntegers,
  kAmounts,   // an object from names to numbers
  kNames,     // an object from names to texts
  kDocument,  // an object that its own reader checks: `schema` names it
  kDocuments,
};

struct Field {
  std::string name;
  FieldKind kind = FieldKind::kText;
  std::string meaning;    // a sentence
  std::string unit = {};  // of its numbers: "s", "USD/h"
  bool is_required = false;
  std::optional<double> least = {}, most = {};  // of its numbers, both allowed
  std::vector<std::string> choices = {};        // of its texts; empty: any
  std::string schema = {};                      // of its documents: "perfcast.profile/1"
  size_t most_items = 1000;                     // of arrays and objects
};

// A request whose fields have passed the table. Names must be fields of the table, of the kind that is asked for.
class Request {
 public:
  // Every mistake at once, "bad-json-field": unknown fields with near names, missing ones, wrong types and ranges.
  static Result<Request> read(Json object, const std::vector<Field>& fields);
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;
  ~Request();

  bool has(const std::string& name) const { return find(name) != nullptr; }
  std::string text(const std::string& name, const std::string& fallback = "") const;
  bool yes(const std::string& name, bool fallback = false) const;
  std::optional<double> number(const std::string& name) const;
  std::optional<int64_t> integer(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;
  std::vector<double> numbers(const std::string& name) const;
  std::vector<int64_t> integers(const std::string& name) const;
  std::vector<std::pair<std::string, double>> amounts(const std::string& name) const;
  std::vector<std::pair<std::string, std::string>> names(const std::string& name) const;
  const Json* document(const std::string& name) const { return find(name); }  // null where absent

 private:
  explicit Request(Json object);
  const Json* find(const std::string& name) const;

  std::unique_ptr<const Json> object_;
};

// JSON Schema (2020-12) of an object with these fields and no others.
Json json_schema(const std::vector<Field>& fields);

}  // namespace perfcast::service
