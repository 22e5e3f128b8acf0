#include "ai/system/completion_chunk.h"

#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kShownChunk = 120;
constexpr int64_t kMostCompletionTokens = 1 << 30;

Error bad_chunk(const std::string& what, std::string_view data) {
  return {"bad-chunk", what + ": " + printable(data.substr(0, kShownChunk)), "",
          "JSON with \"choices\", as OpenAI's interface streams it"};
}

void append_text(const Json& holder, const char* key, std::string& text) {
  const auto found = holder.find(key);
  if (found != holder.end() && found->is_string()) text += found->get<std::string>();
}

std::string message_of(const Json& error) {
  if (error.is_string()) return error.get<std::string>();
  if (error.is_object() && error.contains("message") && error["message"].is_string()) {
    return error["message"].get<std::string>();
  }
  return error.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace

Result<CompletionChunk> parse_completion_chunk(std::string_view data) {
  const auto json = parse_json(data, "chunk");
  if (!json) return bad_chunk("a piece of the stream is no JSON", data);
  if (!json->is_object()) return bad_chunk("a piece of the stream is no JSON object", data);
  if (const auto error = json->find("error"); error != json->end() && !error->is_null()) {
    return Error{"server-error", "the server says: " + printable(message_of(*error)), "", ""};
  }
  CompletionChunk chunk;
  const auto choices = json->find("choices");
  const auto usage = json->find("usage");
  const bool has_usage = usage != json->end() && usage->is_object();
  if (choices == json->end() && !has_usage) return bad_chunk("a piece of the stream has no \"choices\"", data);
  if (choices != json->end()) {
    if (!choices->is_array()) return bad_chunk("\"choices\" is no list", data);
    for (const Json& choice : *choices) {
      if (!choice.is_object()) return bad_chunk("\"choices\" holds something else than objects", data);
      append_text(choice, "text", chunk.text);
      for (const char* const holder : {"delta", "message"}) {
        const auto found = choice.find(holder);
        if (found == choice.end() || !found->is_object()) continue;
        append_text(*found, "reasoning_content", chunk.text);
        append_text(*found, "content", chunk.text);
      }
      const auto reason = choice.find("finish_reason");
      chunk.finished = chunk.finished || (reason != choice.end() && reason->is_string());
    }
  }
  if (!has_usage) return chunk;
  const auto tokens = usage->find("completion_tokens");
  if (tokens == usage->end() || !tokens->is_number_unsigned()) return chunk;
  if (tokens->get<uint64_t>() > static_cast<uint64_t>(kMostCompletionTokens)) {
    return bad_chunk("\"completion_tokens\" is beyond any answer", data);
  }
  chunk.completion_tokens = tokens->get<int64_t>();
  return chunk;
}

}  // namespace perfcast::ai
