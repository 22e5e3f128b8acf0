// The reader, and cachegrind itself where it is installed.

#include "profile/collect/cachegrind/cachegrind_collector.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::Pair;

CollectRequest quiet(std::vector<std::string> command) {
  CollectRequest request;
  request.command = std::move(command);
  request.pass_output = false;
  request.limit_s = 60;
  return request;
}

TEST(CachegrindTotals, AreRead) {
  const auto totals = parse_cachegrind(
      "desc: I1 cache: 32768 B\ncmd: ./a --summary:\nevents: Ir I1mr Bc\nfl=a.c\nfn=main\n3 10 2 1\nsummary: 10 2 1\n",
      "out.5");
  ASSERT_TRUE(totals) << totals.error().message;
  EXPECT_THAT(*totals, ElementsAre(Pair("Bc", 1u), Pair("I1mr", 2u), Pair("Ir", 10u)));
}

TEST(CachegrindTotals, RefuseWhatIsWrong) {
  const auto error = [](const std::string& text) {
    const auto totals = parse_cachegrind(text, "out.5");
    return totals ? "accepted" : totals.error().where + ": " + totals.error().message;
  };
  EXPECT_EQ(error(""), "out.5:1: no 'events:' line");
  EXPECT_EQ(error("events: Ir\n3 10\n"), "out.5:2: no 'summary:' line: the file is cut off");
  EXPECT_EQ(error("events: Ir\nsummary: 1"), "out.5:2: the file is cut off within its summary");
  EXPECT_EQ(error("events: Ir\nsummary: 1 2\n"), "out.5:2: 1 events and 2 sums");
  EXPECT_EQ(error("events: Ir\nsummary: 1,000\n"), "out.5:2: '1,000' is no count");
  EXPECT_EQ(error("events: Ir Ir\nsummary: 1 2\n"), "out.5:2: the event 'Ir' stands twice");
  EXPECT_EQ(error("events: Ir\nevents: Dr\nsummary: 1\n"), "out.5:2: a second 'events:' line");
  EXPECT_EQ(error("events: Ir\nsummary: 1\nmore\n"), "out.5:3: text after the summary");
}

class Cachegrind : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status status = collector_.available(); !status) GTEST_SKIP() << status.error().message;
  }
  CachegrindCollector collector_;
};

TEST_F(Cachegrind, CountsExecutedChildren) {
  const auto none = collector_.collect(quiet({PERFCAST_GUINEA, "exec", "0"}));
  const auto some = collector_.collect(quiet({PERFCAST_GUINEA, "exec", "100000"}));
  ASSERT_TRUE(none) << none.error().message;
  ASSERT_TRUE(some) << some.error().message;
  EXPECT_GT(some->counters.at("cachegrind_instructions_count") - none->counters.at("cachegrind_instructions_count"),
            600000);
  EXPECT_EQ(some->exit_code, 0);
  EXPECT_FALSE(some->record.version.empty());
}

TEST_F(Cachegrind, NamesWhatItCannotDo) {
#ifdef PERFCAST_AVX512
  const auto found = collector_.collect(quiet({PERFCAST_AVX512}));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "unsupported-instructions");
#else
  GTEST_SKIP() << "not an x86-64 compiler";
#endif
}

}  // namespace
}  // namespace perfcast
