#include "machine/facts/checked_fields.h"

#include <cmath>
#include <utility>

#include "base/json.h"

namespace perfcast {

CheckedFields::CheckedFields(const Json& json, std::string path)
    : json_(json), reader_(std::make_unique<JsonReader>(json, std::move(path))) {}
CheckedFields::~CheckedFields() = default;

std::string CheckedFields::path(const std::string& key) const { return reader_->path() + "." + key; }
Status CheckedFields::finish() const { return reader_->finish(); }

std::string CheckedFields::text(const std::string& key) { return checked(key, reader_->string(key)); }
std::string CheckedFields::text_or_empty(const std::string& key) { return checked(key, reader_->string_or(key, "")); }

std::vector<std::string> CheckedFields::texts(const std::string& key, size_t limit) {
  std::vector<std::string> values = reader_->strings(key);
  if (values.size() > limit) {
    reader_->complain(key, std::to_string(values.size()) + " entries", "at most " + std::to_string(limit));
    return {};
  }
  for (std::string& value : values) value = checked(key, std::move(value));
  return values;
}

std::optional<int64_t> CheckedFields::integer(const std::string& key, int64_t low, int64_t high) {
  if (!has(key)) return std::nullopt;
  if (json_.at(key).is_number_unsigned() && json_.at(key).get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    reader_->complain(key, "a huge number", "an integer of at most " + std::to_string(high));
    return std::nullopt;
  }
  const int64_t value = reader_->integer(key);
  if (value < low || value > high) {
    reader_->complain(key, std::to_string(value),
                      "an integer from " + std::to_string(low) + " to " + std::to_string(high));
    return std::nullopt;
  }
  return value;
}

std::optional<double> CheckedFields::amount(const std::string& key) {
  const std::optional<double> value = reader_->optional_number(key);
  if (value && *value < 0) {
    reader_->complain(key, std::to_string(*value), "a number of at least 0");
    return std::nullopt;
  }
  return value;
}

void CheckedFields::read_numbers(ProcessorIdentity& processor) {
  processor.cpu_family = integer("cpu_family", 0, INT64_MAX);
  processor.model = integer("model", 0, INT64_MAX);
  processor.stepping = integer("stepping", 0, INT64_MAX);
}

void CheckedFields::each(const std::string& key, size_t limit,
                         const std::function<void(const Json&, const std::string&)>& read) {
  const Json* elements = reader_->array(key);
  if (elements == nullptr) return;
  if (elements->size() > limit) {
    reader_->complain(key, std::to_string(elements->size()) + " entries", "at most " + std::to_string(limit));
    return;
  }
  size_t index = 0;
  for (const Json& element : *elements) read(element, path(key) + "[" + std::to_string(index++) + "]");
}

bool CheckedFields::has(const std::string& key) const {
  if (!json_.is_object()) return false;
  const auto found = json_.find(key);
  return found != json_.end() && !found->is_null();
}

std::string CheckedFields::checked(const std::string& key, std::string value) {
  if (value.size() <= kMaximumTextLength) return value;
  reader_->complain(key, "a text of " + std::to_string(value.size()) + " bytes",
                    "at most " + std::to_string(kMaximumTextLength));
  return {};
}

void put(Json& json, const char* key, const std::optional<int>& value) {
  if (value) json[key] = *value;
}

void put(Json& json, const char* key, const std::optional<int64_t>& value) {
  if (value) json[key] = *value;
}

void put(Json& json, const char* key, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) json[key] = *value;
}

void put(Json& json, const char* key, const std::string& value) {
  if (!value.empty()) json[key] = value;
}

void put_numbers(Json& json, const ProcessorIdentity& processor) {
  put(json, "cpu_family", processor.cpu_family);
  put(json, "model", processor.model);
  put(json, "stepping", processor.stepping);
}

}  // namespace perfcast
