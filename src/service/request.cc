#include "service/request.h"

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::service {
namespace {

constexpr size_t kMostTextBytes = size_t{16} << 20;  // a trace, a price list

bool is_array(FieldKind kind) {
  return kind == FieldKind::kTexts || kind == FieldKind::kNumbers || kind == FieldKind::kIntegers ||
         kind == FieldKind::kDocuments;
}
bool is_map(FieldKind kind) { return kind == FieldKind::kAmounts || kind == FieldKind::kNames; }

// Of the field, or of each of its elements.
FieldKind element_kind(FieldKind kind) {
  switch (kind) {
    case FieldKind::kTexts:
    case FieldKind::kNames:
      return FieldKind::kText;
    case FieldKind::kNumbers:
    case FieldKind::kAmounts:
      return FieldKind::kNumber;
    case FieldKind::kIntegers:
      return FieldKind::kInteger;
    case FieldKind::kDocuments:
      return FieldKind::kDocument;
    default:
      return kind;
  }
}

std::string kind_words(FieldKind kind) {
  switch (kind) {
    case FieldKind::kText:
      return "a text";
    case FieldKind::kYes:
      return "true or false";
    case FieldKind::kNumber:
      return "a number";
    case FieldKind::kInteger:
      return "a whole number";
    default:
      return "an object";
  }
}

std::string range_words(const Field& field) {
  if (field.least && field.most) return " from " + csv_number(*field.least) + " to " + csv_number(*field.most);
  if (field.least) return " of at least " + csv_number(*field.least);
  return field.most ? " of at most " + csv_number(*field.most) : "";
}

// Empty: `value` is as the field wants it.
std::string mistake_of(const Json& value, const Field& field) {
  const FieldKind kind = element_kind(field.kind);
  std::string wanted = kind_words(kind) + range_words(field);
  switch (kind) {
    case FieldKind::kText: {
      if (!value.is_string()) return wanted;
      const auto& text = value.get_ref<const std::string&>();
      if (text.size() > kMostTextBytes) return "a text of at most " + human_bytes(kMostTextBytes);
      const auto& choices = field.choices;
      const bool known = choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end();
      return known ? "" : "one of " + join(choices, ", ");
    }
    case FieldKind::kYes:
      return value.is_boolean() ? "" : wanted;
    case FieldKind::kNumber:
    case FieldKind::kInteger: {
      // What no 53 bits hold is no count of anything.
      const bool is_right = kind == FieldKind::kNumber ? value.is_number() : value.is_number_integer();
      const double number = is_right ? value.get<double>() : NAN;
      const bool fits = std::isfinite(number) && number >= field.least.value_or(-9e15) &&
                        number <= field.most.value_or(kind == FieldKind::kNumber ? 1e300 : 9e15);
      return fits ? "" : wanted;
    }
    default:
      return value.is_object() ? "" : wanted;
  }
}

std::string found_words(const Json& value) {
  if (value.is_number()) return value.dump();
  if (value.is_string()) return "'" + printable(value.get_ref<const std::string&>().substr(0, 60)) + "'";
  return value.is_array()     ? "an array"
         : value.is_object()  ? "an object"
         : value.is_boolean() ? "true or false"
                              : "null";
}

void check_element(JsonReader& in, const std::string& key, const Json& value, const Field& field) {
  const std::string mistake = mistake_of(value, field);
  if (!mistake.empty()) in.complain(key, found_words(value), mistake);
}

void check_field(JsonReader& in, const Field& field) {
  const Json* value = in.member(field.name);
  if (value == nullptr) {
    if (field.is_required) in.complain(field.name, "nothing", "this field: " + field.meaning);
    return;
  }
  if (!is_array(field.kind) && !is_map(field.kind)) return check_element(in, field.name, *value, field);
  if (is_array(field.kind) ? !value->is_array() : !value->is_object()) {
    return in.complain(field.name, found_words(*value), is_array(field.kind) ? "an array" : "an object");
  }
  if (value->size() > field.most_items) {
    return in.complain(field.name, std::to_string(value->size()) + " entries",
                       "at most " + std::to_string(field.most_items));
  }
  size_t index = 0;
  for (const auto& [key, element] : value->items()) {
    const std::string name = is_array(field.kind) ? field.name + "[" + std::to_string(index++) + "]"
                                                  : field.name + "." + printable(key.substr(0, 60));
    check_element(in, name, element, field);
  }
}

Json schema_of_element(const Field& field) {
  Json schema;
  switch (element_kind(field.kind)) {
    case FieldKind::kText:
      schema["type"] = "string";
      if (!field.choices.empty()) schema["enum"] = field.choices;
      break;
    case FieldKind::kYes:
      schema["type"] = "boolean";
      break;
    case FieldKind::kNumber:
      schema["type"] = "number";
      break;
    case FieldKind::kInteger:
      schema["type"] = "integer";
      break;
    default:
      schema["type"] = "object";
      break;
  }
  if (field.least) schema["minimum"] = *field.least;
  if (field.most) schema["maximum"] = *field.most;
  return schema;
}

Json schema_of(const Field& field) {
  Json schema;
  if (is_array(field.kind)) {
    schema = {{"type", "array"}, {"items", schema_of_element(field)}, {"maxItems", field.most_items}};
  } else if (is_map(field.kind)) {
    schema = {
        {"type", "object"}, {"additionalProperties", schema_of_element(field)}, {"maxProperties", field.most_items}};
  } else {
    schema = schema_of_element(field);
  }
  schema["description"] = field.meaning + (field.unit.empty() ? "" : " Unit: " + field.unit + ".") +
                          (field.schema.empty() ? "" : " Schema: " + field.schema + ".");
  return schema;
}

}  // namespace

Request::Request(Json object) : object_(std::make_unique<const Json>(std::move(object))) {}
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;
Request::~Request() = default;

Result<Request> Request::read(Json object, const std::vector<Field>& fields) {
  if (!object.is_object()) return usage_error("bad-json-field", "the request is no object", "request", "a JSON object");
  JsonReader in(object, "request");
  for (const Field& field : fields) check_field(in, field);
  in.refuse_others();
  if (Status fine = in.finish(); !fine) {
    Error error = fine.error();
    error.kind = ErrorKind::kUsage;
    return error;
  }
  return Request(std::move(object));
}

const Json* Request::find(const std::string& name) const {
  const auto found = object_->find(name);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

std::string Request::text(const std::string& name, const std::string& fallback) const {
  const Json* value = find(name);
  return value == nullptr ? fallback : value->get<std::string>();
}

bool Request::yes(const std::string& name, bool fallback) const {
  const Json* value = find(name);
  return value == nullptr ? fallback : value->get<bool>();
}

std::optional<double> Request::number(const std::string& name) const {
  const Json* value = find(name);
  return value == nullptr ? std::nullopt : std::optional(value->get<double>());
}

std::optional<int64_t> Request::integer(const std::string& name) const {
  const Json* value = find(name);
  return value == nullptr ? std::nullopt : std::optional(value->get<int64_t>());
}

std::vector<std::string> Request::texts(const std::string& name) const {
  const Json* value = find(name);
  return value == nullptr ? std::vector<std::string>() : value->get<std::vector<std::string>>();
}

std::vector<double> Request::numbers(const std::string& name) const {
  const Json* value = find(name);
  return value == nullptr ? std::vector<double>() : value->get<std::vector<double>>();
}

std::vector<int64_t> Request::integers(const std::string& name) const {
  const Json* value = find(name);
  return value == nullptr ? std::vector<int64_t>() : value->get<std::vector<int64_t>>();
}

std::vector<std::pair<std::string, double>> Request::amounts(const std::string& name) const {
  std::vector<std::pair<std::string, double>> amounts;
  const Json* value = find(name);
  if (value == nullptr) return amounts;
  for (const auto& [key, amount] : value->items()) amounts.emplace_back(key, amount.get<double>());
  return amounts;
}

std::vector<std::pair<std::string, std::string>> Request::names(const std::string& name) const {
  std::vector<std::pair<std::string, std::string>> names;
  const Json* value = find(name);
  if (value == nullptr) return names;
  for (const auto& [key, text] : value->items()) names.emplace_back(key, text.get<std::string>());
  return names;
}

Json json_schema(const std::vector<Field>& fields) {
  Json properties = Json::object(), required = Json::array();
  for (const Field& field : fields) {
    properties[field.name] = schema_of(field);
    if (field.is_required) required.push_back(field.name);
  }
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

}  // namespace perfcast::service
