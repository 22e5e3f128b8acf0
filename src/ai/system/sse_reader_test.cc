#include "ai/system/sse_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace perfcast::ai {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> events_of(std::string_view text, size_t step) {
  SseReader reader;
  std::vector<std::string> events;
  for (size_t at = 0; at < text.size(); at += step) {
    EXPECT_TRUE(reader.feed(text.substr(at, step), [&](std::string_view data) { events.emplace_back(data); }));
  }
  return events;
}

TEST(SseReader, FindsEventsHoweverTheyAreCut) {
  const std::string text =
      "\xEF\xBB\xBF"
      "data: one\n\n: a comment\ndata:two\r\ndata: lines\r\n\r\nevent: x\rdata: three\r\rid: 5\n\ndata\n\ndata:  "
      "four\n\ndata: un";
  for (size_t step = 1; step <= text.size(); ++step) {
    EXPECT_THAT(events_of(text, step), ElementsAre("one", "two\nlines", "three", "", " four")) << step;
  }
}

TEST(SseReader, AnEventWithoutItsEndIsNone) {
  EXPECT_THAT(events_of("data: one\n", 3), IsEmpty());
  EXPECT_THAT(events_of("data: o", 3), IsEmpty());
}

TEST(SseReader, AnEventWithoutEndIsAnError) {
  SseReader reader;
  const std::string part(1 << 20, 'x');
  Status status;
  for (int i = 0; i < 6 && status; ++i) status = reader.feed(part, [](std::string_view) {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "event-too-long");
  EXPECT_FALSE(reader.feed("\n\n", [](std::string_view) { FAIL(); }));
}

}  // namespace
}  // namespace perfcast::ai
