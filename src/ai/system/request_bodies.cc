#include "ai/system/request_bodies.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "base/random.h"

namespace perfcast::ai {
namespace {

constexpr std::array<const char*, 16> kWords = {"stone",  "river",  "seven",  "paper", "light", "under",
                                                "garden", "window", "letter", "north", "music", "table",
                                                "water",  "green",  "early",  "story"};
constexpr uint64_t kOwnWords = 0x5851F42D4C957F2Du;  // apart from those of blocks

std::string json_text(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string message_json(const char* role, const std::string& content) {
  return std::string(R"({"role":")") + role + R"(","content":)" + json_text(content) + "}";
}

void append_words(std::string& text, uint64_t seed, int64_t count) {
  Random random(seed);
  for (int64_t word = 0; word < count; ++word) {
    if (!text.empty()) text += ' ';
    text += kWords[random.below(kWords.size())];
  }
}

// What every request of a trace has.
std::string members_of(const HttpSystemOptions& options, bool embedding) {
  Json json = Json::object();
  if (!options.model.empty()) json["model"] = options.model;
  if (!embedding) {
    json["stream"] = true;
    json["stream_options"] = Json{{"include_usage", true}};
    if (options.ignores_end) json["ignore_eos"] = true;
  }
  std::string text = json.dump();
  text.pop_back();
  return text.size() > 1 ? text + "," : text;
}

}  // namespace

bool is_chat(const std::string& url) { return url.find("/chat/") != std::string::npos; }
bool is_embedding(const std::string& url) { return url.find("/embeddings") != std::string::npos; }

std::string words_of(uint64_t seed, int64_t count) {
  std::string text;
  append_words(text, seed, count);
  return text;
}

std::string request_body(const HttpSystemOptions& options, const std::string& prompt) {
  const auto parsed = parse_json(prompt, "prompt");
  Json body = parsed && parsed->is_object() ? *parsed : Json{{"prompt", prompt}};
  if (!options.model.empty()) body["model"] = options.model;
  if (is_embedding(options.url)) {
    if (!body.contains("input") && body.contains("prompt")) body["input"] = body["prompt"];
    body.erase("prompt");
    return body.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  if (is_chat(options.url) && !body.contains("messages") && body.contains("prompt")) {
    body["messages"] = Json::array({Json{{"role", "user"}, {"content", body["prompt"]}}});
    body.erase("prompt");
  }
  const bool has_own_limit = body.contains("max_tokens") || body.contains("max_completion_tokens");
  if (options.max_tokens > 0 && (options.max_tokens_wins || !has_own_limit)) {
    body["max_tokens"] = options.max_tokens;
    body.erase("max_completion_tokens");
  }
  body["stream"] = true;
  body["stream_options"] = Json{{"include_usage", true}};
  if (options.ignores_end) body["ignore_eos"] = true;
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RequestBodies::RequestBodies(const HttpSystemOptions& options)
    : trace_(options.trace), seed_(options.seed), chat_(is_chat(options.url)), embedding_(is_embedding(options.url)) {
  if (!trace_) {
    bodies_.reserve(options.prompts.size());
    for (const std::string& prompt : options.prompts) bodies_.push_back(request_body(options, prompt));
    return;
  }
  members_ = members_of(options, embedding_);
  followers_.resize(trace_->requests.size());
  for (const ServingRequest& request : trace_->requests) {
    if (request.after >= 0) ++followers_[static_cast<size_t>(request.after)];
  }
}

std::string RequestBodies::prompt_words(const ServingRequest& request, uint32_t index) const {
  std::string text;
  int64_t left = request.prompt_tokens;
  for (const uint64_t hash : trace_->prefix_of(request)) {
    if (left < trace_->hash_block_tokens) break;
    append_words(text, hash ^ seed_, trace_->hash_block_tokens);
    left -= trace_->hash_block_tokens;
  }
  append_words(text, (kOwnWords + index) ^ seed_, left);
  return text;
}

// Of a turn, what is new in it.
std::string RequestBodies::turn_words(const ServingRequest& request, uint32_t index) const {
  const ServingRequest& before = trace_->requests[static_cast<size_t>(request.after)];
  const int64_t fresh = request.prompt_tokens - before.prompt_tokens - before.output_tokens;
  // A trace whose prompts don't hold what was said before: all of it is new.
  return words_of((kOwnWords + index) ^ seed_, fresh > 0 ? fresh : request.prompt_tokens);
}

// What was said before a turn: the oldest answer that this follower hasn't taken.
std::string RequestBodies::take_said(uint32_t follower, uint32_t before) {
  const auto found = said_.find(before);
  if (found == said_.end()) return "";
  std::deque<Said>& answers = found->second;
  const auto said = std::find_if(answers.begin(), answers.end(), [&](const Said& each) {
    return std::find(each.taken_by.begin(), each.taken_by.end(), follower) == each.taken_by.end();
  });
  if (said == answers.end()) return "";
  said->taken_by.push_back(follower);
  if (said->taken_by.size() < followers_[before]) return said->text;
  std::string text = std::move(said->text);
  answers.erase(said);
  if (answers.empty()) said_.erase(found);
  return text;
}

RequestBodies::Body RequestBodies::body_of(uint32_t index) {
  Body body;
  if (!trace_) {
    body.shared = &bodies_[index % bodies_.size()];
    return body;
  }
  const size_t at = index % trace_->requests.size();
  const ServingRequest& request = trace_->requests[at];
  const bool is_turn = request.after >= 0;
  const auto number = static_cast<uint32_t>(at);
  const std::string before = is_turn ? take_said(number, static_cast<uint32_t>(request.after)) : "";
  const std::string own = is_turn ? turn_words(request, number) : prompt_words(request, number);
  std::string content;
  if (embedding_) {
    body.text = members_ + R"("input":)" + json_text(own) + "}";
    return body;
  }
  if (chat_) {
    content = (before.empty() ? "" : before + ",") + message_json("user", own);
    body.text = R"("messages":[)" + content + "]";
  } else {
    content = (before.empty() ? "" : before + "\n") + own;
    body.text = R"("prompt":)" + json_text(content);
  }
  body.text = members_ + R"("max_tokens":)" + std::to_string(request.output_tokens) + "," + body.text + "}";
  if (followers_[at] > 0) body.said = std::move(content);
  return body;
}

void RequestBodies::answered(uint32_t index, const Body& body, const std::string& answer) {
  if (!trace_ || embedding_) return;
  const auto at = static_cast<uint32_t>(index % trace_->requests.size());
  if (followers_[at] == 0) return;
  said_[at].push_back({chat_ ? body.said + "," + message_json("assistant", answer) : body.said + "\n" + answer, {}});
}

}  // namespace perfcast::ai
