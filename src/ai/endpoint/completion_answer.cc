#include "ai/endpoint/completion_answer.h"

#include <utility>

#include "base/json.h"

namespace perfcast::ai {
namespace {

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

CompletionAnswer::CompletionAnswer(const CompletionRequest& request, std::string model, uint64_t number,
                                   int64_t created_s)
    : is_chat_(request.is_chat),
      stream_(request.stream),
      include_usage_(request.include_usage),
      id_((request.is_chat ? "chatcmpl-" : "cmpl-") + std::to_string(number)),
      model_(std::move(model)),
      created_s_(created_s),
      prompt_tokens_(static_cast<int64_t>(request.prompt.size())) {}

std::string CompletionAnswer::event(const std::string& text, bool is_last) const {
  Json choice{{"index", 0}};
  if (is_chat_) {
    Json& delta = choice["delta"] = Json::object();
    if (!is_last && tokens_ == 1) delta["role"] = "assistant";
    if (!is_last) delta["content"] = text;
  } else {
    choice["text"] = text;
  }
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = is_last ? Json("length") : Json(nullptr);
  Json json{{"id", id_},
            {"object", is_chat_ ? "chat.completion.chunk" : "text_completion"},
            {"created", created_s_},
            {"model", model_},
            {"choices", Json::array({choice})}};
  if (include_usage_) json["usage"] = nullptr;
  return "data: " + compact(json) + "\n\n";
}

std::string CompletionAnswer::add(int32_t token) {
  const std::string text = (tokens_++ == 0 ? "" : " ") + word_of(token);
  if (stream_) return event(text, false);
  text_ += text;
  return {};
}

std::string CompletionAnswer::finish() {
  const Json usage{
      {"prompt_tokens", prompt_tokens_}, {"completion_tokens", tokens_}, {"total_tokens", prompt_tokens_ + tokens_}};
  if (!stream_) {
    Json choice{{"index", 0}, {"logprobs", nullptr}, {"finish_reason", "length"}};
    if (is_chat_) {
      choice["message"] = {{"role", "assistant"}, {"content", text_}};
    } else {
      choice["text"] = text_;
    }
    return compact({{"id", id_},
                    {"object", is_chat_ ? "chat.completion" : "text_completion"},
                    {"created", created_s_},
                    {"model", model_},
                    {"choices", Json::array({choice})},
                    {"usage", usage}});
  }
  std::string events = event("", true);
  if (include_usage_) {
    events += "data: " +
              compact({{"id", id_},
                       {"object", is_chat_ ? "chat.completion.chunk" : "text_completion"},
                       {"created", created_s_},
                       {"model", model_},
                       {"choices", Json::array()},
                       {"usage", usage}}) +
              "\n\n";
  }
  return events + "data: [DONE]\n\n";
}

int status_of(const Error& error) {
  if (error.code == "unknown-model" || error.code == "not-found") return 404;
  if (error.code == "wrong-method") return 405;
  if (error.code == "unavailable") return 503;
  return error.kind == ErrorKind::kUsage || error.code == "bad-json" ? 400 : 500;
}

std::string error_body(const Error& error) {
  const int status = status_of(error);
  const bool is_place = error.code == "bad-json";  // of the body, no member
  std::string message = error.message;
  if (is_place) message += " (" + error.where + ")";
  if (!error.expected.empty()) message += "; expected: " + error.expected;
  const std::string code = error.code == "unknown-model"  ? "model_not_found"
                           : error.code == "context-full" ? "context_length_exceeded"
                                                          : error.code;
  return compact({{"error",
                   {{"message", message},
                    {"type", status >= 500 ? "server_error" : "invalid_request_error"},
                    {"param", error.where.empty() || is_place ? Json(nullptr) : Json(error.where)},
                    {"code", code}}}});
}

std::string models_body(const std::string& model, int64_t created_s, bool is_list) {
  const Json entry{{"id", model}, {"object", "model"}, {"created", created_s}, {"owned_by", "perfcast"}};
  return compact(is_list ? Json{{"object", "list"}, {"data", Json::array({entry})}} : entry);
}

}  // namespace perfcast::ai
