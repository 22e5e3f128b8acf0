#include "program/corpus/croissant/croissant_rules.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr size_t kMostListed = 200;
constexpr std::array<std::string_view, 10> kPrefixes = {"http://mlcommons.org/croissant/",
                                                        "http://mlcommons.org/schema/",
                                                        "https://schema.org/",
                                                        "http://schema.org/",
                                                        "http://purl.org/dc/terms/",
                                                        "cr:",
                                                        "sc:",
                                                        "ml:",
                                                        "dct:",
                                                        "schema:"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The digits at [from, from + count) as a number; -1 where they aren't all digits.
int number_at(std::string_view text, size_t from, size_t count) {
  if (text.size() < from + count) return -1;
  int value = 0;
  for (size_t i = from; i < from + count; ++i) {
    if (!is_digit(text[i])) return -1;
    value = 10 * value + (text[i] - '0');
  }
  return value;
}

}  // namespace

bool is_url(std::string_view text) {
  const size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0 || scheme + 3 == text.size()) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) != 0x7F;
  });
}

bool is_iso_date(std::string_view text) {
  const int year = number_at(text, 0, 4), month = number_at(text, 5, 2), day = number_at(text, 8, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || text[4] != '-' || text[7] != '-') return false;
  constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (day > kDays[static_cast<size_t>(month) - 1] + (month == 2 && leap ? 1 : 0)) return false;
  if (text.size() == 10) return true;
  // A time is checked for its hours and minutes alone.
  const int hours = number_at(text, 11, 2), minutes = number_at(text, 14, 2);
  return text[10] == 'T' && hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60 && text[13] == ':';
}

bool is_version(std::string_view text) {
  const std::vector<std::string> parts = split(text, '.');
  return parts.size() == 3 && std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           return !part.empty() && part.size() < 10 && std::all_of(part.begin(), part.end(), is_digit);
         });
}

void CroissantFindings::add(CroissantFinding finding) {
  ++(finding.is_mistake ? mistakes_ : advice_);
  if (list_.size() >= kMostListed) return;
  finding.where = printable(finding.where);
  finding.message = printable(finding.message);
  list_.push_back(std::move(finding));
}

std::string_view local_name(std::string_view name) {
  for (const std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

const Json* property(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_null() && local_name(key) == name) return &value;
  }
  return nullptr;
}

std::vector<const Json*> values_of(const Json* property) {
  std::vector<const Json*> values;
  if (property == nullptr) return values;
  if (!property->is_array()) return {property};
  for (const Json& value : *property) values.push_back(&value);
  return values;
}

std::string text_of_property(const Json& object, std::string_view name) {
  const Json* value = property(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

bool is_of_type(const Json& object, std::string_view type) {
  const auto types = values_of(property(object, "@type"));
  return std::any_of(types.begin(), types.end(), [&](const Json* one) {
    return one->is_string() && local_name(one->get_ref<const std::string&>()) == type;
  });
}

std::string id_in(const Json& reference) {
  if (reference.is_string()) return reference.get<std::string>();
  return text_of_property(reference, "@id");
}

}  // namespace perfcast::program
