#include "ai/system/completion_chunk.h"

#include <algorithm>
#include <charconv>
#include <iterator>

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

// The reasons for an end that OpenAI's interface names. Servers write "" or others of their own while they go on.
constexpr std::string_view kEndReasons[] = {"stop", "length", "tool_calls", "function_call", "content_filter"};

bool is_end_reason(const Json& reason) {
  return reason.is_string() && std::find(std::begin(kEndReasons), std::end(kEndReasons),
                                         reason.get_ref<const std::string&>()) != std::end(kEndReasons);
}

// The text of a member: a string, or parts with texts of their own ({"type": "text", "text": ...}).
std::string text_of(const Json& holder, const char* key) {
  const auto found = holder.find(key);
  if (found == holder.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  std::string text;
  if (!found->is_array()) return text;
  for (const Json& part : *found) {
    if (!part.is_object()) continue;
    for (const char* const name : {"thinking", "text"}) text += text_of(part, name);
  }
  return text;
}

void append_message(const Json& message, std::string& text) {
  // Some servers send the same reasoning under both names.
  const std::string reasoning = text_of(message, "reasoning");
  text += reasoning.empty() ? text_of(message, "reasoning_content") : reasoning;
  text += text_of(message, "content") + text_of(message, "refusal");
  if (const auto call = message.find("function_call"); call != message.end() && call->is_object()) {
    text += text_of(*call, "name") + text_of(*call, "arguments");
  }
  const auto calls = message.find("tool_calls");
  if (calls == message.end() || !calls->is_array()) return;
  for (const Json& call : *calls) {
    const auto function = call.is_object() ? call.find("function") : call.end();
    if (!call.is_object() || function == call.end() || !function->is_object()) continue;
    text += text_of(*function, "name") + text_of(*function, "arguments");
  }
}

bool says_something(const Json& error) {
  if (error.is_number()) return error.get<double>() != 0;
  return !error.is_null() && !error.empty() && error != "" && error != false;
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
  if (const auto error = json->find("error"); error != json->end() && says_something(*error)) {
    return Error{"server-error", "the server says: " + printable(message_of(*error)), "", ""};
  }
  if (json->value("object", Json()) == "error" || json->value("type", Json()) == "error") {
    return Error{"server-error", "the server says: " + printable(message_of(*json)), "", ""};
  }
  CompletionChunk chunk;
  const auto choices = json->find("choices");
  if (choices != json->end() && !choices->is_null()) {
    if (!choices->is_array()) return bad_chunk("\"choices\" is no list", data);
    chunk.has_choices = true;
    for (const Json& choice : *choices) {
      if (!choice.is_object()) return bad_chunk("\"choices\" holds something else than objects", data);
      chunk.text += text_of(choice, "text");
      for (const char* const holder : {"delta", "message"}) {
        const auto found = choice.find(holder);
        if (found != choice.end() && found->is_object()) append_message(*found, chunk.text);
      }
      const auto reason = choice.find("finish_reason");
      chunk.finished = chunk.finished || (reason != choice.end() && is_end_reason(*reason));
    }
  }
  const auto usage = json->find("usage");
  if (usage == json->end() || !usage->is_object()) return chunk;
  if (const auto read = usage->find("prompt_tokens"); read != usage->end() && read->is_number_unsigned()) {
    chunk.prompt_tokens = static_cast<int64_t>(std::min<uint64_t>(read->get<uint64_t>(), kMostCompletionTokens));
  }
  const auto tokens = usage->find("completion_tokens");
  if (tokens == usage->end() || !tokens->is_number_unsigned()) return chunk;
  if (tokens->get<uint64_t>() > static_cast<uint64_t>(kMostCompletionTokens)) {
    return bad_chunk("\"completion_tokens\" is beyond any answer", data);
  }
  chunk.completion_tokens = tokens->get<int64_t>();
  return chunk;
}

Result<EmbeddingAnswer> scan_embedding_answer(std::string_view body) {
  static constexpr std::string_view kVector = "\"embedding\"", kRead = "\"prompt_tokens\"";
  const auto value_behind = [&](size_t at) { return trim(body.substr(std::min(at, body.size()), 64)); };
  EmbeddingAnswer answer;
  for (size_t at = body.find(kVector); at != std::string_view::npos; at = body.find(kVector, at + 1)) {
    std::string_view value = value_behind(at + kVector.size());
    if (!value.starts_with(":")) continue;  // the kind of an object
    value = trim(value.substr(1));
    const bool is_list = value.starts_with("[") && !trim(value.substr(1)).starts_with("]");
    const bool is_text = value.starts_with("\"") && !value.starts_with("\"\"");
    if (is_list || is_text) ++answer.embeddings;
  }
  if (answer.embeddings == 0) {
    // What it is instead, if it is the server's own error.
    if (const auto chunk = parse_completion_chunk(body); !chunk && chunk.error().code == "server-error") {
      return chunk.error();
    }
    return bad_chunk("no embedding in the answer", body);
  }
  const size_t at = body.rfind(kRead);
  if (at == std::string_view::npos) return answer;
  std::string_view digits = value_behind(at + kRead.size());
  if (digits.starts_with(":")) digits = trim(digits.substr(1));
  uint64_t tokens = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), tokens).ec == std::errc{}) {
    answer.prompt_tokens = static_cast<int64_t>(std::min<uint64_t>(tokens, kMostCompletionTokens));
  }
  return answer;
}

}  // namespace perfcast::ai
