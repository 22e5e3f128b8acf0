#include "ai/system/request_bodies.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ai/serving/drawn_trace.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

Json parsed(const RequestBodies::Body& body) {
  const auto json = parse_json(body.bytes(), "body");
  EXPECT_TRUE(json) << body.bytes();
  return json ? *json : Json();
}

int64_t words_in(const std::string& text) {
  return text.empty() ? 0 : 1 + static_cast<int64_t>(std::count(text.begin(), text.end(), ' '));
}

HttpSystemOptions with_trace(const std::string& url, ServingTrace trace) {
  HttpSystemOptions options;
  options.url = url;
  options.model = "m";
  options.trace = std::make_shared<const ServingTrace>(std::move(trace));
  return options;
}

ServingTrace conversation() {
  ServingTrace trace;
  trace.requests = {{.prompt_tokens = 4, .output_tokens = 3},
                    {.arrival_s = 1, .prompt_tokens = 12, .output_tokens = 6, .after = 0},
                    {.prompt_tokens = 5, .output_tokens = 2}};
  return trace;
}

TEST(RequestBodies, TurnsHoldWhatTheServerSaid) {
  RequestBodies bodies(with_trace("http://h/v1/chat/completions", conversation()));
  const auto first = bodies.body_of(0);
  const Json asked = parsed(first);
  EXPECT_EQ(asked["model"], "m");
  EXPECT_EQ(asked["stream"], true);
  EXPECT_EQ(asked["max_tokens"], 3);
  ASSERT_EQ(asked["messages"].size(), 1u);
  EXPECT_EQ(words_in(asked["messages"][0]["content"]), 4);
  bodies.answered(0, first, "yes \"so\"");
  const Json next = parsed(bodies.body_of(1));
  ASSERT_EQ(next["messages"].size(), 3u);
  EXPECT_EQ(next["messages"][0], asked["messages"][0]);
  EXPECT_EQ(next["messages"][1]["role"], "assistant");
  EXPECT_EQ(next["messages"][1]["content"], "yes \"so\"");
  EXPECT_EQ(words_in(next["messages"][2]["content"]), 12 - 4 - 3);
  EXPECT_EQ(next["max_tokens"], 6);
  const Json other = parsed(bodies.body_of(2));
  EXPECT_EQ(other["messages"].size(), 1u);
  EXPECT_EQ(parsed(bodies.body_of(5)), other);  // modulo the requests
}

std::string said_in(const Json& request) { return request["messages"][1]["content"]; }

TEST(RequestBodies, ClientsInOneConversationKeepTheirAnswers) {
  RequestBodies bodies(with_trace("http://h/v1/chat/completions", conversation()));
  const auto first = bodies.body_of(0), second = bodies.body_of(3);
  bodies.answered(0, first, "one");
  bodies.answered(3, second, "two");
  EXPECT_EQ(said_in(parsed(bodies.body_of(1))), "one");
  EXPECT_EQ(said_in(parsed(bodies.body_of(4))), "two");
  EXPECT_EQ(parsed(bodies.body_of(1))["messages"].size(), 1u);  // each is taken once
  bodies.answered(0, first, "three");
  bodies.forget();
  EXPECT_EQ(parsed(bodies.body_of(1))["messages"].size(), 1u);
}

TEST(RequestBodies, EachOfTwoFollowersHasTheAnswer) {
  ServingTrace fork = conversation();
  fork.requests[2].after = 0;
  RequestBodies bodies(with_trace("http://h/v1/chat/completions", fork));
  const auto first = bodies.body_of(0);
  bodies.answered(0, first, "one");
  bodies.answered(0, first, "two");
  EXPECT_EQ(said_in(parsed(bodies.body_of(1))), "one");
  EXPECT_EQ(said_in(parsed(bodies.body_of(1))), "two");
  EXPECT_EQ(said_in(parsed(bodies.body_of(2))), "one");
  EXPECT_EQ(said_in(parsed(bodies.body_of(2))), "two");
  EXPECT_EQ(parsed(bodies.body_of(2))["messages"].size(), 1u);
}

TEST(RequestBodies, CompletionsHoldItAsText) {
  RequestBodies bodies(with_trace("http://h/v1/completions", conversation()));
  const auto first = bodies.body_of(0);
  bodies.answered(0, first, "yes");
  const std::string before = parsed(first)["prompt"], next = parsed(bodies.body_of(1))["prompt"];
  EXPECT_TRUE(next.starts_with(before + "\nyes\n"));
}

TEST(RequestBodies, BlocksOfOneNameAreTheSameWords) {
  ServingTrace trace;
  trace.hash_block_tokens = 4;
  trace.hashes = {7, 8, 9, 7, 8};
  trace.requests = {{.prompt_tokens = 13, .prefix = {0, 3}}, {.prompt_tokens = 10, .prefix = {3, 2}}};
  HttpSystemOptions options = with_trace("http://h/v1/completions", trace);
  options.ignores_end = true;
  RequestBodies bodies(options);
  const Json json = parsed(bodies.body_of(0));
  const std::string a = json["prompt"], b = parsed(bodies.body_of(1))["prompt"];
  EXPECT_EQ(json["ignore_eos"], true);
  EXPECT_EQ(words_in(a), 13);
  EXPECT_EQ(words_in(b), 10);
  const size_t shared = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  EXPECT_GE(words_in(a.substr(0, shared)), 8);
  EXPECT_LT(words_in(a.substr(0, shared)), 12);
}

TEST(RequestBodies, EmbeddingsHaveAnInput) {
  RequestBodies bodies(with_trace("http://h/v1/embeddings", conversation()));
  const Json json = parsed(bodies.body_of(2));
  EXPECT_EQ(words_in(json["input"]), 5);
  EXPECT_FALSE(json.contains("stream"));
  EXPECT_FALSE(json.contains("max_tokens"));
  HttpSystemOptions options;
  options.url = "http://h/v1/embeddings";
  options.max_tokens = 64;
  const auto own = parse_json(request_body(options, R"({"prompt": "hello", "dimensions": 8})"), "body");
  ASSERT_TRUE(own);
  EXPECT_EQ(*own, (Json{{"dimensions", 8}, {"input", "hello"}}));
}

}  // namespace
}  // namespace perfcast::ai
