#include "ai/system/answer_line.h"

#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

using Kind = AnswerLine::Kind;

TEST(AnswerLine, ReadsEachForm) {
  EXPECT_EQ(parse_answer_line(R"({"ready": true})")->kind, Kind::kReady);
  const auto token = parse_answer_line(R"({"id": 7, "token": 2})");
  ASSERT_TRUE(token);
  EXPECT_EQ(token->kind, Kind::kToken);
  EXPECT_EQ(token->id, 7u);
  EXPECT_EQ(token->tokens, 2);
  const auto answer = parse_answer_line(R"({"id": 18446744073709551615, "tokens": 12, "data": "text", "more": []})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, Kind::kAnswer);
  EXPECT_EQ(answer->id, UINT64_MAX);
  EXPECT_EQ(answer->tokens, 12);
  EXPECT_EQ(answer->data, "text");
  EXPECT_EQ(parse_answer_line(R"({"id": 0, "data_hex": "0aFF"})")->data, "\x0A\xFF");
  const auto error = parse_answer_line(R"({"id": 1, "error": "why"})");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::kError);
  EXPECT_EQ(error->error, "why");
}

TEST(AnswerLine, SaysWhatIsWrong) {
  for (const char* const line :
       {"", "progress", "[1]", "{}", R"({"id": -1})", R"({"id": 1.5})", R"({"id": "7"})", R"({"ready": false})",
        R"({"id": 1, "token": 0})", R"({"id": 1, "token": -3})", R"({"id": 1, "tokens": 1e30})",
        R"({"id": 1, "tokens": 18446744073709551615})", R"({"id": 1, "data": 5})", R"({"id": 1, "data_hex": "0"})",
        R"({"id": 1, "data_hex": "zz"})", "{\"id\": 1, \"data\": \"\xff\"}"}) {
    const auto answer = parse_answer_line(line);
    ASSERT_FALSE(answer) << line;
    EXPECT_EQ(answer.error().code, "bad-answer");
  }
  EXPECT_FALSE(parse_answer_line(std::string(kLongestAnswerLine + 1, ' ')));
}

}  // namespace
}  // namespace perfcast::ai
