#include "ai/endpoint/completion_request.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr int64_t kMostTop = int64_t{1} << 30;

Error bad(const std::string& member, const std::string& message, const std::string& expected) {
  return usage_error("bad-usage", message, member, expected);
}

bool is_asked(const Json& body, const char* key) { return body.contains(key) && !body[key].is_null(); }

// Members of a request that this can't serve, and the one value that asks for nothing.
Status check_others(const Json& body) {
  static const std::pair<const char*, Json> kOnly[] = {{"n", 1},
                                                       {"best_of", 1},
                                                       {"echo", false},
                                                       {"suffix", ""},
                                                       {"logprobs", 0},
                                                       {"logprobs", false},
                                                       {"top_logprobs", 0},
                                                       {"stop", Json::array()},
                                                       {"tools", Json::array()},
                                                       {"functions", Json::array()}};
  for (const auto& [key, nothing] : kOnly) {
    if (!is_asked(body, key)) continue;
    const bool is_nothing =
        std::any_of(std::begin(kOnly), std::end(kOnly), [&, key = std::string_view(key)](const auto& only) {
          return key == only.first && body[only.first] == only.second;
        });
    if (is_nothing) continue;
    return bad(key, std::string("'") + key + "' is more than this server can do", "leave it out, or " + nothing.dump());
  }
  if (is_asked(body, "response_format") && body["response_format"] != Json{{"type", "text"}}) {
    return bad("response_format", "answers have no form", "leave it out");
  }
  return {};
}

Result<int64_t> whole(const Json& body, const char* key, int64_t least, int64_t most) {
  const Json& value = body[key];
  if (value.is_number_integer() && value >= least && value <= most) return value.get<int64_t>();
  return bad(key, std::string("'") + key + "' is no number of the kind",
             "a whole number, " + std::to_string(least) + " to " + std::to_string(most));
}

Result<bool> yes_or_no(const Json& body, const char* key) {
  if (!is_asked(body, key)) return false;
  if (body[key].is_boolean()) return body[key].get<bool>();
  return bad(key, std::string("'") + key + "' is no boolean", "true or false");
}

// A text, a list with one, or tokens.
Result<std::vector<int32_t>> tokens_of_prompt(const Json& body, const ServedModel& model) {
  const auto refuse = [](const std::string& found) {
    return bad("prompt", found, "a text, or a list of tokens as numbers; one prompt a request");
  };
  if (!is_asked(body, "prompt")) return refuse("there is no prompt");
  const Json* prompt = &body["prompt"];
  if (prompt->is_array() && prompt->size() == 1 && (prompt->front().is_string() || prompt->front().is_array())) {
    prompt = &prompt->front();
  }
  if (prompt->is_string()) return tokens_of(prompt->get_ref<const std::string&>(), model.vocabulary);
  if (!prompt->is_array()) return refuse("the prompt is neither text nor tokens");
  std::vector<int32_t> tokens;
  tokens.reserve(prompt->size());
  for (const Json& token : *prompt) {
    if (!token.is_number_integer()) return refuse("the prompt is neither one text nor tokens");
    if (token < 0 || token >= model.vocabulary) {
      return bad("prompt", "a token is none of the vocabulary", "0 to " + std::to_string(model.vocabulary - 1));
    }
    tokens.push_back(token.get<int32_t>());
  }
  return tokens;
}

// Who speaks, and what, one message behind the other; then who is to speak.
Result<std::vector<int32_t>> tokens_of_messages(const Json& body, const ServedModel& model) {
  const std::string expected = R"([{"role": "user", "content": "text"}])";
  if (!is_asked(body, "messages") || !body["messages"].is_array() || body["messages"].empty()) {
    return bad("messages", "there are no messages", expected);
  }
  std::vector<int32_t> tokens;
  const auto add = [&](std::string_view text) {
    const auto more = tokens_of(text, model.vocabulary);
    tokens.insert(tokens.end(), more.begin(), more.end());
  };
  for (const Json& message : body["messages"]) {
    if (!message.is_object() || !message.contains("role") || !message["role"].is_string()) {
      return bad("messages", "a message without a role", expected);
    }
    add(message["role"].get_ref<const std::string&>());
    if (!is_asked(message, "content")) continue;
    const Json& content = message["content"];
    if (content.is_string()) {
      add(content.get_ref<const std::string&>());
      continue;
    }
    if (!content.is_array()) return bad("messages", "a message without text", expected);
    for (const Json& part : content) {
      if (!part.is_object() || !part.contains("text") || !part["text"].is_string()) {
        return bad("messages", "a part of a message that is no text", expected);
      }
      add(part["text"].get_ref<const std::string&>());
    }
  }
  add("assistant");
  return tokens;
}

Status take_sampling(const Json& body, SamplingSettings& sampling) {
  if (is_asked(body, "temperature")) {
    const Json& value = body["temperature"];
    const double temperature = value.is_number() ? value.get<double>() : -1;
    if (!(temperature >= 0 && temperature <= 2)) return bad("temperature", "'temperature' can't be", "0 to 2");
    sampling.temperature = temperature;
  }
  if (is_asked(body, "top_k")) {
    const auto top = whole(body, "top_k", -1, kMostTop);
    if (!top) return top.error();
    sampling.top = std::max<int64_t>(0, *top);
  }
  if (is_asked(body, "seed")) {
    if (!body["seed"].is_number_integer()) return bad("seed", "'seed' is no whole number", "such as 1");
    sampling.seed = body["seed"].get<uint64_t>();
  }
  return {};
}

}  // namespace

std::string word_of(int32_t token) { return "t" + std::to_string(token); }

std::vector<int32_t> tokens_of(std::string_view text, int64_t vocabulary) {
  std::vector<int32_t> tokens;
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  for (size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    int64_t number = -1;
    if (word.front() == 't') {
      const auto [rest, trouble] = std::from_chars(word.data() + 1, word.data() + word.size(), number);
      if (trouble != std::errc() || rest != word.data() + word.size()) number = -1;
    }
    if (number < 0 || number >= vocabulary) {
      uint64_t hash = 14695981039346656037U;  // FNV-1a
      for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
      number = static_cast<int64_t>(hash % static_cast<uint64_t>(vocabulary));
    }
    tokens.push_back(static_cast<int32_t>(number));
    at = text.find_first_not_of(kBlanks, end);
  }
  return tokens;
}

Result<CompletionRequest> parse_completion(std::string_view text, bool is_chat, const ServedModel& model) {
  const auto body = parse_json(text, "request");
  if (!body) return body.error();
  if (!body->is_object()) return bad("", "the request is no JSON object", "{\"prompt\": \"text\"}");
  if (is_asked(*body, "model") && (*body)["model"] != model.name) {
    return usage_error("unknown-model", "this model isn't served here", "model", model.name);
  }
  if (Status fine = check_others(*body); !fine) return fine.error();
  CompletionRequest request;
  request.is_chat = is_chat;
  const auto stream = yes_or_no(*body, "stream");
  if (!stream) return stream.error();
  request.stream = *stream;
  if (is_asked(*body, "stream_options")) {
    const Json& options = (*body)["stream_options"];
    if (!options.is_object())
      return bad("stream_options", "'stream_options' is no object", "{\"include_usage\": true}");
    const auto usage = yes_or_no(options, "include_usage");
    if (!usage) return usage.error();
    request.include_usage = *usage;
  }
  auto prompt = is_chat ? tokens_of_messages(*body, model) : tokens_of_prompt(*body, model);
  if (!prompt) return prompt.error();
  if (prompt->empty()) return bad("prompt", "the prompt is empty", "one word at least");
  request.prompt = std::move(*prompt);
  for (const char* const key : {"max_tokens", "max_completion_tokens"}) {
    if (!is_asked(*body, key)) continue;
    const auto most = whole(*body, key, 1, int64_t{1} << 40);
    if (!most) return most.error();
    request.max_tokens = *most;
  }
  const auto length = static_cast<int64_t>(request.prompt.size());
  if (length >= model.context_tokens || request.max_tokens > model.context_tokens - length) {
    return usage_error("context-full",
                       "the prompt has " + std::to_string(length) + " tokens and the answer " +
                           std::to_string(request.max_tokens) + ", which is more than the model's context",
                       is_chat ? "messages" : "prompt",
                       "at most " + std::to_string(model.context_tokens) + " of both together");
  }
  if (Status taken = take_sampling(*body, request.sampling); !taken) return taken.error();
  return request;
}

}  // namespace perfcast::ai
