#include "ai/system/answer_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/json.h"
#include "base/random.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;

// Events one after the other, the i-th at i + 1 milliseconds.
struct Played {
  AnswerStream answer;
  std::vector<int64_t> token_ms;
};

constexpr int64_t kMs = 1'000'000;

Played play(const std::vector<std::string>& parts) {
  Played played;
  int64_t ms = 0;
  for (const std::string& part : parts) {
    ++ms;
    played.answer.take(part, ms * kMs, [&] { played.token_ms.push_back(ms); });
  }
  played.answer.finish([&] { played.token_ms.push_back(ms); });
  return played;
}

Played play_events(const std::vector<std::string>& data) {
  std::vector<std::string> parts;
  parts.reserve(data.size());
  for (const std::string& each : data) parts.push_back("data: " + each + "\n\n");
  return play(parts);
}

std::string delta(const std::string& members, const std::string& reason = "null") {
  return R"({"choices": [{"index": 0, "delta": {)" + members + R"(}, "finish_reason": )" + reason + "}]}";
}

TEST(AnswerStream, EndsWithItsLastToken) {
  // The reason, the count and the end of the stream come later; they are no part of the answer.
  const Played played = play_events({delta(R"("role": "assistant", "content": "")"), delta(R"("content": "a")"),
                                     delta(R"("content": "b")"), delta("", R"("stop")"),
                                     R"({"choices": [], "usage": {"completion_tokens": 2}})", "[DONE]"});
  EXPECT_EQ(played.answer.problem(), "");
  EXPECT_THAT(played.token_ms, testing::ElementsAre(2, 3));
  EXPECT_EQ(played.answer.end_ns(), 3 * kMs);
  EXPECT_EQ(played.answer.counted_tokens(), 2);
}

TEST(AnswerStream, ThinkingAndToolCallsAreTokens) {
  const Played played =
      play_events({delta(R"("reasoning": "hm")"), delta(R"("reasoning_content": "so", "content": null)"),
                   delta(R"("tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ""}}])"),
                   delta(R"("tool_calls": [{"index": 0, "function": {"arguments": "{\"a\""}}])"),
                   delta(R"("content": "x")"), delta("", R"("tool_calls")")});
  EXPECT_EQ(played.answer.problem(), "");
  EXPECT_THAT(played.token_ms, testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(played.answer.text(), "hmsof{\"a\"x");
}

TEST(AnswerStream, OnlyNamedReasonsEndIt) {
  for (const char* const reason : {R"("")", R"("null")", R"("none")", "0", "false", "{}"}) {
    const Played played = play_events({delta(R"("content": "a")", reason), delta(R"("content": "b")"), "[DONE]"});
    EXPECT_EQ(played.answer.problem(), "") << reason;
    EXPECT_EQ(played.answer.pieces(), 2) << reason;
    EXPECT_THAT(play_events({delta(R"("content": "a")", reason)}).answer.problem(), HasSubstr("without its end"));
  }
  for (const char* const reason : {"stop", "length", "tool_calls", "function_call", "content_filter"}) {
    const std::string end = delta(R"("content": "a")", "\"" + std::string(reason) + "\"");
    EXPECT_EQ(play_events({end}).answer.problem(), "") << reason;
    EXPECT_EQ(play_events({end, delta(R"("content": "b")")}).answer.problem(), "text behind the end of the stream");
  }
}

TEST(AnswerStream, SignsOfLifeAreNoPartOfIt) {
  const std::string word = delta(R"("content": "a")");
  EXPECT_EQ(
      play_events({R"({"type": "ping", "cost": "0"})", word, "", "{}", delta("", R"("stop")"), "{}"}).answer.problem(),
      "");
  EXPECT_EQ(play_events({R"({"type": "content_block_delta"})", "[DONE]"}).answer.problem(),
            R"(no piece of the answer has "choices": {"type": "content_block_delta"})");
  EXPECT_EQ(play_events({word, R"({"object": "error", "message": "out of memory"})"}).answer.problem(),
            "the server says: out of memory");
}

TEST(AnswerStream, TakesWhatIsNotStreamed) {
  const Played whole = play(
      {R"({"choices": [{"message": {"reasoning": "hm", )", R"("content": "a"}}], "usage": {"completion_tokens": 3}})"});
  EXPECT_EQ(whole.answer.problem(), "");
  EXPECT_EQ(whole.answer.text(), "hma");
  EXPECT_EQ(whole.answer.pieces(), 0);
  EXPECT_EQ(whole.answer.counted_tokens(), 3);
  EXPECT_EQ(whole.answer.end_ns(), 2 * kMs);
  EXPECT_EQ(play({R"({"answer": "a"})"}).answer.problem(), R"(no piece of the answer has "choices": {"answer": "a"})");
  EXPECT_THAT(play({"<html>"}).answer.problem(), HasSubstr("without its end"));
  EXPECT_EQ(play({"data: " + delta(R"("content": "a")") + "\n\ndata: [DONE]"}).answer.problem(), "");
}

// Streams of every make: what carries the text, how it ends, what stands between, line ends, cuts.
struct MadeStream {
  std::vector<std::string> events;
  std::vector<size_t> pieces;  // numbers of events with text
  std::string text;
};

MadeStream make_stream(Random& random) {
  MadeStream made;
  const char* const kEnds[] = {"\n", "\r\n", "\r"};
  const std::string end = kEnds[random.below(3)];
  const auto add = [&](const std::string& data) {
    std::string event = random.below(4) == 0 ? "event: message" + end : "";
    if (random.below(4) == 0) event += ": keep-alive" + end + end;
    made.events.push_back(event + (random.below(2) == 0 ? "data: " : "data:") + data + end + end);
  };
  const bool chat = random.below(3) > 0, counts = random.below(2) == 0, counts_each = random.below(4) == 0;
  const char* const kGoesOn[] = {"null", "\"\"", "\"null\""};
  const std::string goes_on = kGoesOn[random.below(3)];
  const char* const kNoError[] = {"null", "\"\"", "{}", "[]", "false", "0"};
  const auto piece = [&](const std::string& choice, const std::string& reason, int64_t count) {
    std::string data = R"({"id": "c", "choices": [{"index": 0, )" + choice + R"(, "finish_reason": )" + reason + "}]";
    if (random.below(3) == 0) data += std::string(R"(, "error": )") + kNoError[random.below(6)];
    if (counts_each) data += R"(, "usage": {"completion_tokens": )" + std::to_string(count) + "}";
    add(data + "}");
  };
  if (random.below(5) == 0) made.events.emplace_back("\xEF\xBB\xBF");
  if (chat)
    piece(R"("delta": {"role": "assistant", "content": )" + std::string(random.below(2) ? "null}" : "\"\"}"), goes_on,
          0);
  const int64_t words = 1 + static_cast<int64_t>(random.below(6));
  for (int64_t i = 0; i < words; ++i) {
    const std::string word = std::string(random.below(3) == 0 ? " w\u00f6rt" : " w") + std::to_string(i);
    const std::string quoted = "\"" + word + "\"";
    const std::string kForms[] = {
        R"("delta": {"content": )" + quoted + "}",
        R"("delta": {"reasoning": )" + quoted + "}",
        R"("delta": {"content": null, "reasoning_content": )" + quoted + "}",
        R"("delta": {"reasoning": )" + quoted + R"(, "reasoning_content": )" + quoted + "}",
        R"("delta": {"refusal": )" + quoted + "}",
        R"("delta": {"content": [{"type": "text", "text": )" + quoted + "}]}",
        R"("delta": {"tool_calls": [{"index": 0, "function": {"arguments": )" + quoted + "}}]}",
        R"("delta": {"function_call": {"arguments": )" + quoted + "}}"};
    if (random.below(4) == 0) add(R"({"type": "ping"})");
    made.pieces.push_back(made.events.size());
    made.text += word;
    piece(chat ? kForms[random.below(8)] : R"("text": )" + quoted, goes_on, i + 1);
  }
  const bool reason = random.below(2) == 0;
  if (reason) piece(chat ? R"("delta": {})" : R"("text": "")", random.below(2) ? "\"stop\"" : "\"length\"", words);
  if (counts) add(R"({"choices": [], "usage": {"completion_tokens": )" + std::to_string(words) + "}}");
  if (!reason || random.below(2) == 0) {
    add("[DONE]");
    if (random.below(3) == 0) made.events.back().resize(made.events.back().size() - 2 * end.size());
  }
  return made;
}

TEST(AnswerStream, ReadsStreamsOfEveryMake) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    const MadeStream made = make_stream(random);
    const Played played = play(made.events);
    std::string whole;
    for (const std::string& event : made.events) whole += event;
    ASSERT_EQ(played.answer.problem(), "") << whole;
    ASSERT_EQ(played.answer.text(), made.text) << whole;
    std::vector<int64_t> expected;
    for (const size_t piece : made.pieces) expected.push_back(static_cast<int64_t>(piece) + 1);
    ASSERT_EQ(played.token_ms, expected) << whole;
    ASSERT_EQ(played.answer.end_ns(), expected.back() * kMs) << whole;
    std::vector<std::string> cut;
    for (size_t at = 0; at < whole.size();) {
      const size_t length = 1 + random.below(40);
      cut.push_back(whole.substr(at, length));
      at += length;
    }
    const Played again = play(cut);
    ASSERT_EQ(again.answer.problem(), "") << whole;
    ASSERT_EQ(again.answer.text(), made.text) << whole;
    ASSERT_EQ(again.answer.pieces(), played.answer.pieces()) << whole;
    ASSERT_EQ(again.answer.counted_tokens(), played.answer.counted_tokens()) << whole;
  }
}

}  // namespace
}  // namespace perfcast::ai
