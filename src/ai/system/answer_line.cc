#include "ai/system/answer_line.h"

#include <optional>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kShown = 80;
constexpr int64_t kMostTokens = 1 << 30;

Error bad_answer(const std::string& what, std::string_view line) {
  return {"bad-answer", what + ": " + printable(line.substr(0, kShown)), "", "a JSON object such as {\"id\": 7}"};
}

std::optional<int64_t> digit_of(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return std::nullopt;
}

std::optional<std::string> bytes_of(const std::string& text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const auto high = digit_of(text[i]), low = digit_of(text[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes += static_cast<char>(*high * 16 + *low);
  }
  return bytes;
}

// A count from 0 to the most tokens; absent: it is none.
std::optional<int64_t> count_of(const Json& value) {
  if (!value.is_number_integer() && !value.is_number_unsigned()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(kMostTokens)) return std::nullopt;
  const auto count = value.get<int64_t>();
  if (count < 0 || count > kMostTokens) return std::nullopt;
  return count;
}

}  // namespace

Result<AnswerLine> parse_answer_line(std::string_view line) {
  if (line.size() > kLongestAnswerLine) return bad_answer("a line longer than 16 MiB", line);
  const auto json = parse_json(line, "answer");
  if (!json) return bad_answer("not JSON", line);
  if (!json->is_object()) return bad_answer("no JSON object", line);
  AnswerLine answer;
  const auto member = [&](const char* key) {
    const auto found = json->find(key);
    return found == json->end() ? nullptr : &*found;
  };
  if (const Json* const ready = member("ready")) {
    if (!ready->is_boolean() || !ready->get<bool>()) return bad_answer("\"ready\" that is not true", line);
    answer.kind = AnswerLine::Kind::kReady;
    return answer;
  }
  const Json* const id = member("id");
  if (id == nullptr || !id->is_number_unsigned()) return bad_answer("no \"id\" that is a count", line);
  answer.id = id->get<uint64_t>();
  if (const Json* const error = member("error")) {
    answer.kind = AnswerLine::Kind::kError;
    answer.error = error->is_string() ? error->get<std::string>() : error->dump(-1, ' ', true);
    return answer;
  }
  if (const Json* const token = member("token")) {
    const auto count = count_of(*token);
    if (!count || *count == 0) return bad_answer("\"token\" that is no count above 0", line);
    answer.kind = AnswerLine::Kind::kToken;
    answer.tokens = *count;
    return answer;
  }
  if (const Json* const tokens = member("tokens")) {
    const auto count = count_of(*tokens);
    if (!count) return bad_answer("\"tokens\" that is no count", line);
    answer.tokens = *count;
  }
  if (const Json* const data = member("data")) {
    if (!data->is_string()) return bad_answer("\"data\" that is no text", line);
    answer.data = data->get<std::string>();
  } else if (const Json* const hex = member("data_hex")) {
    auto bytes = hex->is_string() ? bytes_of(hex->get<std::string>()) : std::nullopt;
    if (!bytes) return bad_answer("\"data_hex\" that is no pairs of hexadecimal digits", line);
    answer.data = std::move(*bytes);
  }
  return answer;
}

}  // namespace perfcast::ai
