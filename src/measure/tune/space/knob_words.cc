#include "measure/tune/space/knob_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr const char* kKnobForms = "NAME=VALUES, such as level=1..9, size=64,128,256@128 or opt=-O2,-O3";

Json value_json(const std::string& text) {
  const auto number = parse_number(text);
  if (!number) return text;
  const bool is_whole = *number == std::floor(*number) && std::abs(*number) < 1e15;
  if (is_whole && text == fmt::format("{:.0f}", *number)) return static_cast<int64_t>(*number);
  return text;  // 0.50 stays as it is written
}

// "1..9" or "1..9..2"; false: no range.
bool take_range(const std::string& text, Json& knob) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos || text.find(',') != std::string::npos) return false;
  const size_t more = text.find("..", dots + 2);
  const auto from = parse_number(text.substr(0, dots));
  const auto to = parse_number(text.substr(dots + 2, more == std::string::npos ? more : more - dots - 2));
  const auto step = more == std::string::npos ? std::optional<double>() : parse_number(text.substr(more + 2));
  if (!from || !to || (more != std::string::npos && !step)) return false;
  const auto as_json = [](double number) {
    return number == std::floor(number) && std::abs(number) < 1e15 ? Json(static_cast<int64_t>(number)) : Json(number);
  };
  knob["from"] = as_json(*from);
  knob["to"] = as_json(*to);
  if (step) knob["step"] = as_json(*step);
  return true;
}

const char* kind_of(const std::string& name, const Json& knob, const std::vector<std::string>& command) {
  bool are_threads = name == "threads", are_flags = false;
  for (const Json& value : knob.value("values", Json::array())) {
    are_threads = are_threads && value.is_number_integer() && value.get<int64_t>() > 0;
    are_flags =
        are_flags || (value.is_string() && (value.get<std::string>().empty() || value.get<std::string>()[0] == '-') &&
                      !parse_number(value.get<std::string>()));
  }
  if (are_threads) return "threads";
  if (are_flags) return "flag";
  const bool is_placed = join(command, " ").find("{" + name + "}") != std::string::npos;
  const bool is_variable = std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  return is_variable && !is_placed ? "environment" : "parameter";
}

// Empty: no such thing.
Json knob_of(const std::string& word, const std::vector<std::string>& command) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) return {};
  Json knob = {{"name", word.substr(0, equals)}};
  std::string values = word.substr(equals + 1);
  std::optional<std::string> standard;
  if (const size_t at = values.rfind('@'); at != std::string::npos) {
    standard = values.substr(at + 1);
    values.resize(at);
  }
  if (!take_range(values, knob)) {
    knob["values"] = Json::array();
    for (const std::string& value : split(values, ',')) knob["values"].push_back(value_json(value));
  }
  if (standard) knob["default"] = value_json(*standard);
  knob["kind"] = kind_of(word.substr(0, equals), knob, command);
  return knob;
}

}  // namespace

Result<TuneFile> knobs_as_space(const std::vector<std::string>& knobs, const std::vector<std::string>& command) {
  Json space = {{"schema", kTuneSchema}, {"knobs", Json::array()}};
  for (const std::string& word : knobs) {
    Json knob = knob_of(word, command);
    if (knob.is_null()) return usage_error("bad-usage", "'" + printable(word) + "' is no knob", "--knob", kKnobForms);
    space["knobs"].push_back(std::move(knob));
  }
  auto file = parse_tune_file(space.dump(), "--knob");
  if (file) return file;
  Error error = file.error();
  // A place in the JSON is the word of the command line.
  for (size_t i = 0; i < knobs.size(); ++i) {
    const std::string place = fmt::format("--knob.knobs[{}]", i);
    for (size_t at = error.message.find(place); at != std::string::npos; at = error.message.find(place, at))
      error.message.replace(at, place.size(), "--knob " + printable(knobs[i]));
  }
  if (error.code == "bad-tune-file") return usage_error("bad-usage", error.message, "--knob", kKnobForms);
  return error;
}

}  // namespace perfcast::measure
