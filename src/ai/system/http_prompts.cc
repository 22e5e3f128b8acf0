#include "ai/system/http_system.h"
#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kLargestPromptsBytes = size_t{256} << 20;
constexpr size_t kMostPrompts = 1'000'000;

Error bad_prompt(const std::string& what, const std::string& where) {
  return {"bad-prompt", what, where, "a line of JSON: \"text\", {\"prompt\": \"text\"} or {\"messages\": [...]}"};
}

}  // namespace

Result<std::vector<std::string>> parse_prompts(std::string_view text, const std::string& source, bool chat) {
  std::vector<std::string> prompts;
  const Status read = for_each_json_line(text, source, [&](const Json& json, const std::string& where) -> Status {
    if (prompts.size() == kMostPrompts) return bad_prompt("more than 1,000,000 prompts", where);
    const bool is_text = json.is_string();
    const bool has_prompt = json.is_object() && json.contains("prompt") && json["prompt"].is_string();
    const bool has_messages = json.is_object() && json.contains("messages") && json["messages"].is_array();
    if (!is_text && !has_prompt && !has_messages) return bad_prompt("no prompt", where);
    if (!is_text && !has_prompt && !chat) {
      return Error{"bad-prompt", "\"messages\" are no prompt of completions", where,
                   "{\"prompt\": \"text\"}, or an address of chat completions: http://HOST:PORT/v1/chat/completions"};
    }
    prompts.push_back(is_text ? Json{{"prompt", json}}.dump() : json.dump());
    return {};
  });
  if (!read) return read.error();
  if (prompts.empty()) return bad_prompt("no prompt in the file", source);
  return prompts;
}

Result<std::vector<std::string>> read_prompts(const std::string& path, bool chat) {
  const auto text = read_file(path, kLargestPromptsBytes);
  if (!text) return text.error();
  return parse_prompts(*text, path, chat);
}

std::vector<std::string> made_up_prompts(int64_t count, int64_t words, bool chat, uint64_t seed) {
  Random random(seed);
  std::vector<std::string> prompts;
  prompts.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    std::string text = std::to_string(i);
    if (words > 1) text += " " + words_of(random.next(), words - 1);
    const Json prompt =
        chat ? Json{{"messages", Json::array({Json{{"role", "user"}, {"content", text}}})}} : Json{{"prompt", text}};
    prompts.push_back(prompt.dump());
  }
  return prompts;
}

}  // namespace perfcast::ai
