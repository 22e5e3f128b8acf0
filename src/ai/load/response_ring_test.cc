#include "ai/load/response_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace perfcast::ai {
namespace {

std::vector<SampleRecord> all_of(ResponseRing& ring) {
  std::vector<SampleRecord> records;
  ring.take(records, 1 << 20);
  return records;
}

std::vector<std::string> codes_of(const ResponseRing& ring) {
  std::vector<std::string> codes;
  for (const LoadFault& fault : ring.faults()) codes.push_back(fault.code);
  return codes;
}

class Ring : public testing::Test {
 protected:
  Ring() : ring_(0, 1024, true) { ring_.begin(steady_ns()); }
  ResponseRing ring_;
};

TEST_F(Ring, KeepsWhatAnAnswerSays) {
  EXPECT_EQ(ring_.open(7, 100, 150), 0u);
  EXPECT_EQ(ring_.unanswered(), 1);
  ring_.complete(0, {12, "text", ring_.start_ns() + 5000});
  EXPECT_EQ(ring_.unanswered(), 0);
  const auto records = all_of(ring_);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].index, 7u);
  EXPECT_EQ(records[0].due_ns, 100);
  EXPECT_EQ(records[0].issued_ns, 150);
  EXPECT_EQ(records[0].answered_ns, 5000);
  EXPECT_EQ(records[0].tokens, 12);
  EXPECT_EQ(records[0].first_token_ns, -1);
  EXPECT_EQ(records[0].data, "text");
  EXPECT_FALSE(records[0].failed);
  EXPECT_TRUE(ring_.faults().empty());
}

TEST_F(Ring, CountsTokensFromTheFirstOn) {
  ring_.open(1, 0, 0);
  const int64_t start = ring_.start_ns();
  ring_.token(0, 1, start + 1000);
  ring_.token(0, 2, start + 1400);
  ring_.token(0, 1, start + 1900);
  ring_.complete(0, {0, "", start + 2000});
  const auto records = all_of(ring_);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].first_token_ns, 1000);
  EXPECT_EQ(records[0].tokens, 4);
  EXPECT_EQ(ring_.inter_token().count(), 2u);
  EXPECT_EQ(ring_.last_token_ns(), 1900);
}

TEST_F(Ring, AnAnswerTwiceIsNoticed) {
  ring_.open(1, 0, 0);
  ring_.complete(0, {});
  ring_.complete(0, {});
  EXPECT_EQ(codes_of(ring_), std::vector<std::string>{"answered-twice"});
  EXPECT_EQ(all_of(ring_).size(), 1u);
  ring_.fail(0, "late", 0);
  ASSERT_EQ(ring_.faults().size(), 1u);
  EXPECT_EQ(ring_.faults()[0].message, "an answer to id 0, which has one already; 2 such in all");
}

TEST_F(Ring, AnUnknownIdIsNoticedHoweverLarge) {
  ring_.open(1, 0, 0);
  ring_.complete(1, {});
  ring_.complete(uint64_t{1} << 61, {});  // whose state would be that of id 0
  ring_.token(UINT64_MAX, 1, 0);
  EXPECT_EQ(codes_of(ring_), std::vector<std::string>{"unknown-ids"});
  EXPECT_EQ(ring_.unanswered(), 1);
}

TEST_F(Ring, ATokenBehindTheEndIsNoticed) {
  ring_.open(1, 0, 0);
  ring_.complete(0, {});
  ring_.token(0, 1, 0);
  EXPECT_EQ(codes_of(ring_), std::vector<std::string>{"late-tokens"});
}

TEST_F(Ring, WhatWaitsBehindAnUnansweredSampleIsTakenOnce) {
  for (int i = 0; i < 5; ++i) ring_.open(0, 0, 0);
  ring_.complete(3, {});
  ring_.complete(4, {});
  EXPECT_EQ(all_of(ring_).size(), 2u);
  EXPECT_EQ(all_of(ring_).size(), 0u);
  ASSERT_TRUE(ring_.first_unanswered());
  EXPECT_EQ(ring_.first_unanswered()->id, 0u);
  ring_.fail(0, "no", 0);
  ring_.complete(1, {});
  ring_.complete(2, {});
  const auto records = all_of(ring_);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_TRUE(records[0].failed);
  EXPECT_FALSE(ring_.first_unanswered());
}

TEST_F(Ring, HasRoomForWhatIsTakenOut) {
  int64_t opened = 0;
  while (ring_.has_room(1)) {
    ring_.open(0, 0, 0);
    ++opened;
  }
  EXPECT_EQ(opened, 65536);
  ring_.complete(0, {});
  EXPECT_FALSE(ring_.has_room(1));
  all_of(ring_);
  EXPECT_TRUE(ring_.has_room(1));
  EXPECT_FALSE(ring_.has_room(2));
  EXPECT_EQ(ring_.open(0, 0, 0), 65536u);
  ring_.complete(0, {});  // its slot is another's by now
  EXPECT_EQ(codes_of(ring_), std::vector<std::string>{"answered-twice"});
}

TEST(RingThreads, ManyAnswerAndNothingIsLost) {
  ResponseRing ring(100, 1024, false);
  ring.begin(steady_ns());
  constexpr uint64_t kSamples = 200000;
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (uint64_t part = 0; part < 3; ++part) {
    threads.emplace_back([&ring, part] {
      for (uint64_t id = 100 + part; id < 100 + kSamples; id += 3) {
        while (ring.opened() <= id) std::this_thread::yield();
        ring.token(id, 1, 0);
        ring.complete(id, {});
      }
    });
  }
  uint64_t taken = 0;
  int64_t tokens = 0;
  std::jthread taker([&] {
    std::vector<SampleRecord> records;
    while (taken < kSamples) {
      records.clear();
      ring.take(records, 4096);
      taken += records.size();
      for (const SampleRecord& record : records) tokens += record.tokens;
    }
  });
  for (uint64_t i = 0; i < kSamples; ++i) {
    while (!ring.has_room(1)) std::this_thread::yield();
    EXPECT_EQ(ring.open(static_cast<uint32_t>(i), 0, 0), 100 + i);
  }
  ring.wait_for_answers(stop);
  EXPECT_EQ(ring.unanswered(), 0);
  taker.join();
  EXPECT_EQ(taken, kSamples);
  EXPECT_EQ(tokens, static_cast<int64_t>(kSamples));
  EXPECT_TRUE(ring.faults().empty());
}

}  // namespace
}  // namespace perfcast::ai
