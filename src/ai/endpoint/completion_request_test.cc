#include "ai/endpoint/completion_request.h"

#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

const ServedModel kModel{"m", 1000, 64};

CompletionRequest parsed(const std::string& body, bool is_chat = false) {
  const auto request = parse_completion(body, is_chat, kModel);
  EXPECT_TRUE(request) << (request ? "" : to_text(request.error()));
  return request ? *request : CompletionRequest();
}

std::string refused(const std::string& body, bool is_chat = false) {
  const auto request = parse_completion(body, is_chat, kModel);
  return request ? "accepted" : request.error().code + " " + request.error().where;
}

TEST(CompletionRequest, AWordIsAToken) {
  EXPECT_EQ(tokens_of(" t7\tt999  t1000\n", 1000).size(), 3u);
  const auto tokens = tokens_of("t7 stone t7x stone", 1000);
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[0], 7);
  EXPECT_EQ(tokens[1], tokens[3]);
  EXPECT_NE(tokens[2], 7);
  EXPECT_EQ(tokens_of(word_of(123), 1000), std::vector<int32_t>{123});
  EXPECT_TRUE(tokens_of(" \n", 1000).empty());
}

TEST(CompletionRequest, PromptsAreTextOrTokens) {
  const std::vector<int32_t> expected = {1, 2, 3};
  for (const char* const prompt : {R"("t1 t2 t3")", R"(["t1 t2 t3"])", "[1, 2, 3]", "[[1, 2, 3]]"}) {
    EXPECT_EQ(parsed("{\"prompt\": " + std::string(prompt) + "}").prompt, expected) << prompt;
  }
  EXPECT_EQ(refused(R"({"prompt": ["a", "b"]})"), "bad-usage prompt");
  EXPECT_EQ(refused(R"({"prompt": [1, 1000]})"), "bad-usage prompt");
  EXPECT_EQ(refused(R"({"prompt": " "})"), "bad-usage prompt");
  EXPECT_EQ(refused("{}"), "bad-usage prompt");
  EXPECT_EQ(refused("[]"), "bad-usage ");
  EXPECT_EQ(refused("{\"prompt\""), "bad-json request:1:9");
}

TEST(CompletionRequest, MessagesStandBehindEachOther) {
  const auto request = parsed(
      R"({"messages": [{"role": "t1", "content": "t2 t3"}, {"role": "t4", "content": [{"type": "text", "text": "t5"}]},
          {"role": "t6", "content": null}], "max_completion_tokens": 5})",
      true);
  auto expected = tokens_of("t1 t2 t3 t4 t5 t6 assistant", 1000);
  EXPECT_EQ(request.prompt, expected);
  EXPECT_EQ(request.max_tokens, 5);
  EXPECT_EQ(refused(R"({"prompt": "a"})", true), "bad-usage messages");
  EXPECT_EQ(refused(R"({"messages": [{"content": "a"}]})", true), "bad-usage messages");
  EXPECT_EQ(refused(R"({"messages": [{"role": "user", "content": [{"image_url": "a"}]}]})", true),
            "bad-usage messages");
}

TEST(CompletionRequest, SettingsAreTakenOrRefused) {
  const auto request = parsed(
      R"({"model": "m", "prompt": "a", "stream": true, "stream_options": {"include_usage": true}, "temperature": 0.5,
          "top_k": -1, "seed": 9, "n": 1, "logprobs": null, "stop": [], "user": "who", "ignore_eos": true})");
  EXPECT_TRUE(request.stream && request.include_usage);
  EXPECT_EQ(request.max_tokens, 16);
  EXPECT_EQ(request.sampling.temperature, 0.5);
  EXPECT_EQ(request.sampling.top, 0);
  EXPECT_EQ(request.sampling.seed, 9u);
  EXPECT_EQ(parsed(R"({"prompt": "a"})").sampling.temperature, 0);

  EXPECT_EQ(refused(R"({"model": "other", "prompt": "a"})"), "unknown-model model");
  EXPECT_EQ(refused(R"({"prompt": "a", "n": 2})"), "bad-usage n");
  EXPECT_EQ(refused(R"({"prompt": "a", "stop": ["x"]})"), "bad-usage stop");
  EXPECT_EQ(refused(R"({"prompt": "a", "logprobs": 3})"), "bad-usage logprobs");
  EXPECT_EQ(refused(R"({"prompt": "a", "response_format": {"type": "json_object"}})"), "bad-usage response_format");
  EXPECT_EQ(refused(R"({"prompt": "a", "max_tokens": 0})"), "bad-usage max_tokens");
  EXPECT_EQ(refused(R"({"prompt": "a", "max_tokens": "4"})"), "bad-usage max_tokens");
  EXPECT_EQ(refused(R"({"prompt": "a", "stream": 1})"), "bad-usage stream");
  EXPECT_EQ(refused(R"({"prompt": "a", "temperature": 3})"), "bad-usage temperature");
  EXPECT_EQ(refused(R"({"prompt": "a", "seed": 1.5})"), "bad-usage seed");
  EXPECT_EQ(parsed(R"({"prompt": "a", "max_tokens": 63})").max_tokens, 63);
  EXPECT_EQ(refused(R"({"prompt": "a", "max_tokens": 64})"), "context-full prompt");
}

}  // namespace
}  // namespace perfcast::ai
