#include "ai/system/completion_chunk.h"

#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

TEST(CompletionChunk, ReadsBothForms) {
  const auto text = parse_completion_chunk(R"({"choices": [{"text": " a", "finish_reason": null}]})");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->text, " a");
  EXPECT_FALSE(text->finished);
  const auto chat = parse_completion_chunk(R"({"choices": [{"delta": {"content": "b"}, "finish_reason": "length"}]})");
  ASSERT_TRUE(chat);
  EXPECT_EQ(chat->text, "b");
  EXPECT_TRUE(chat->finished);
  EXPECT_EQ(parse_completion_chunk(R"({"choices": [{"delta": {"role": "assistant", "content": null}}]})")->text, "");
  EXPECT_EQ(parse_completion_chunk(R"({"choices": [{"delta": {"reasoning_content": "hm"}}]})")->text, "hm");
  const auto usage = parse_completion_chunk(R"({"choices": [], "usage": {"completion_tokens": 9}})");
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->completion_tokens, 9);
  EXPECT_EQ(parse_completion_chunk(R"({"choices": [{"text": "x"}], "usage": null})")->completion_tokens, std::nullopt);
}

TEST(CompletionChunk, SaysWhatTheServerSays) {
  const auto error = parse_completion_chunk(R"({"error": {"message": "overloaded", "code": 503}})");
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, "server-error");
  EXPECT_EQ(error.error().message, "the server says: overloaded");
  EXPECT_EQ(parse_completion_chunk(R"({"error": "no"})").error().message, "the server says: no");
  for (const char* const none : {"null", "\"\"", "{}", "[]", "false", "0"}) {
    EXPECT_TRUE(parse_completion_chunk(std::string(R"({"choices": [], "error": )") + none + "}")) << none;
  }
}

TEST(CompletionChunk, LeavesAloneWhatIsNoPartOfAnAnswer) {
  const auto ping = parse_completion_chunk(R"({"type": "ping"})");
  ASSERT_TRUE(ping);
  EXPECT_FALSE(ping->has_choices);
  EXPECT_EQ(ping->text, "");
}

TEST(CompletionChunk, VectorsAreLookedFor) {
  const auto both = scan_embedding_answer(
      R"({"data": [{"object": "embedding", "embedding": [0.1]}, {"object": "embedding", "embedding" : "AAAA"}],
          "usage": {"prompt_tokens": 7, "total_tokens": 7}})");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->embeddings, 2);
  EXPECT_EQ(both->prompt_tokens, 7);
  for (const char* const none : {"", "{}", R"({"data": []})", R"({"data": [{"object": "embedding", "embedding": []}]})",
                                 R"({"data": [{"embedding": ""}]})", R"({"embedding")"}) {
    const auto refused = scan_embedding_answer(none);
    ASSERT_FALSE(refused) << none;
    EXPECT_EQ(refused.error().code, "bad-chunk");
  }
  EXPECT_EQ(scan_embedding_answer(R"({"error": {"message": "no such model"}})").error().message,
            "the server says: no such model");
}

TEST(CompletionChunk, RefusesWhatIsNone) {
  for (const char* const data : {"", "{", "[]", R"({"choices": 3})", R"({"choices": [3]})",
                                 R"({"choices": [], "usage": {"completion_tokens": 99999999999}})",
                                 "{\"choices\": [{\"text\": \"\xff\xfe\"}]}"}) {
    const auto chunk = parse_completion_chunk(data);
    ASSERT_FALSE(chunk) << data;
    EXPECT_EQ(chunk.error().code, "bad-chunk");
  }
}

}  // namespace
}  // namespace perfcast::ai
