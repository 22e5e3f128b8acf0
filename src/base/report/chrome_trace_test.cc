#include "base/report/chrome_trace.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

TEST(ChromeTraceWriter, WritesEachKindOfEvent) {
  std::string text;
  ChromeTraceWriter trace([&text](std::string_view piece) { text += piece; }, "policy", "a \"b\"");
  trace.name_process(1, "node\xff", 2);
  trace.name_thread(1, 7, "lane", 3);
  trace.span({1, 7, "\"job\"", "job", 10, 5, "\"cores\":2"});
  trace.counter(1, "waiting", 4, 0.5);
  trace.end();
  EXPECT_EQ(text,
            "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"policy\":\"a \\\"b\\\"\"},\"traceEvents\":[\n"
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"node\xEF\xBF\xBD\"}},\n"
            "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":1,\"args\":{\"sort_index\":2}},\n"
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":7,\"args\":{\"name\":\"lane\"}},\n"
            "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":7,\"args\":{\"sort_index\":3}},\n"
            "{\"ph\":\"X\",\"name\":\"job\",\"cat\":\"job\",\"pid\":1,\"tid\":7,\"ts\":10,\"dur\":0,"
            "\"args\":{\"cores\":2}},\n"
            "{\"ph\":\"C\",\"name\":\"waiting\",\"pid\":1,\"tid\":0,\"ts\":4,\"args\":{\"waiting\":0.5}}\n]}\n");
}

}  // namespace
}  // namespace perfcast
