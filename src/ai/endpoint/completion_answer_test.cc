#include "ai/endpoint/completion_answer.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace perfcast::ai {
namespace {

CompletionRequest asked(bool is_chat, bool stream) {
  CompletionRequest request;
  request.is_chat = is_chat;
  request.stream = stream;
  request.prompt = {1, 2, 3};
  return request;
}

TEST(CompletionAnswer, WholeOnesHaveTheirTextAndUsage) {
  CompletionAnswer answer(asked(false, false), "m", 7, 99);
  EXPECT_EQ(answer.add(5), "");
  EXPECT_EQ(answer.add(6), "");
  EXPECT_EQ(answer.finish(), R"({"id":"cmpl-7","object":"text_completion","created":99,"model":"m",)"
                             R"("choices":[{"index":0,"logprobs":null,"finish_reason":"length","text":"t5 t6"}],)"
                             R"("usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}})");
  CompletionAnswer chat(asked(true, false), "m", 7, 99);
  (void)chat.add(5);
  const auto json = parse_json(chat.finish(), "answer");
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["choices"][0]["message"], (Json{{"role", "assistant"}, {"content", "t5"}}));
  EXPECT_EQ((*json)["object"], "chat.completion");
}

TEST(CompletionAnswer, StreamsHaveAPieceForEachTokenAndAnEnd) {
  CompletionRequest request = asked(false, true);
  CompletionAnswer plain(request, "m", 7, 99);
  EXPECT_EQ(plain.add(5),
            "data: {\"id\":\"cmpl-7\",\"object\":\"text_completion\",\"created\":99,\"model\":\"m\","
            "\"choices\":[{\"index\":0,\"text\":\"t5\",\"logprobs\":null,\"finish_reason\":null}]}\n\n");
  EXPECT_NE(plain.add(6).find("\"text\":\" t6\""), std::string::npos);
  const std::string end = plain.finish();
  EXPECT_NE(end.find("\"finish_reason\":\"length\""), std::string::npos);
  EXPECT_EQ(end.find("completion_tokens"), std::string::npos);
  EXPECT_TRUE(end.ends_with("\n\ndata: [DONE]\n\n"));

  request.include_usage = true;
  request.is_chat = true;
  CompletionAnswer chat(request, "m", 7, 99);
  EXPECT_NE(chat.add(5).find("\"delta\":{\"role\":\"assistant\",\"content\":\"t5\"}"), std::string::npos);
  EXPECT_NE(chat.add(6).find("\"delta\":{\"content\":\" t6\"}"), std::string::npos);
  EXPECT_NE(chat.finish().find("\"choices\":[],"), std::string::npos);
}

TEST(CompletionAnswer, ErrorsHaveTheInterfacesForm) {
  const Error unknown = usage_error("unknown-model", "no such model", "model", "m");
  EXPECT_EQ(status_of(unknown), 404);
  EXPECT_EQ(error_body(unknown),
            R"({"error":{"message":"no such model; expected: m","type":"invalid_request_error","param":"model",)"
            R"("code":"model_not_found"}})");
  EXPECT_EQ(status_of(usage_error("bad-usage", "m", "n", "")), 400);
  EXPECT_EQ(status_of({"bad-json", "m", "request:1:2", ""}), 400);
  EXPECT_EQ(status_of({"onednn-failed", "m", "", ""}), 500);
  EXPECT_EQ(status_of(environment_error("unavailable", "m", "", "")), 503);
}

}  // namespace
}  // namespace perfcast::ai
