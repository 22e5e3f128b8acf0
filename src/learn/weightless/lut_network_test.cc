#include "learn/weightless/lut_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "base/bytes.h"
#include "learn/weightless/test_networks.h"

namespace perfcast {
namespace {

// Above 1 in exactly one of two numbers: one table of two bits.
LutNetwork either() {
  LutHead head{2, {0, 1, 1, 0}, {0, 0}, 1};
  return *LutNetwork::create(*Thermometer::from_thresholds({{1}, {1}}), {{2, 2, {0, 1, 0, 1}, {0b0110, 0b1001}}},
                             std::move(head));
}

TEST(LutNetwork, LooksUp) {
  const LutNetwork network = either();
  EXPECT_EQ(network.sums(std::vector<float>{0, 2}), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(network.sums(std::vector<float>{2, 2}), (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(network.best(std::vector<float>{2, 0}), 1);
  EXPECT_EQ(network.best(std::vector<float>{0, 0}), 0);
}

TEST(LutNetwork, AddsWeightsAndBias) {
  Random random(3);
  const LutNetwork network = random_network(4, {30}, 5, 3, TestHead::kBits, random);
  const auto row = random_rows(1, 4, random);
  const auto sums = network.sums(row);
  const auto values = network.values(row);
  for (size_t o = 0; o < 3; ++o) EXPECT_DOUBLE_EQ(values[o], 0.001 * sums[o]);
}

TEST(LutNetwork, PrunedAnswersAlike) {
  Random random(4);
  for (const TestHead counts : {TestHead::kVotes, TestHead::kBits, TestHead::kAddresses}) {
    const LutNetwork network = random_network(6, {200, 40}, 2, 4, counts, random);
    const LutNetwork pruned = network.pruned();
    EXPECT_LT(pruned.luts(), network.luts());
    EXPECT_LE(pruned.to_bytes().size(), network.to_bytes().size());
    const auto rows = random_rows(100, 6, random);
    for (size_t r = 0; r < 100; ++r) {
      const auto row = std::span(rows).subspan(6 * r, 6);
      EXPECT_EQ(pruned.sums(row), network.sums(row));
    }
  }
}

TEST(LutNetwork, SurvivesItsBytes) {
  Random random(5);
  for (const size_t arity : {1, 3, 6}) {
    for (const TestHead counts : {TestHead::kVotes, TestHead::kBits, TestHead::kAddresses}) {
      const LutNetwork network = random_network(5, {64, 32}, arity, 4, counts, random);
      const auto again = LutNetwork::from_bytes(network.to_bytes(), "here");
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(again->to_bytes(), network.to_bytes());
      const auto row = random_rows(1, 5, random);
      EXPECT_EQ(again->sums(row), network.sums(row));
      EXPECT_EQ(again->values(row), network.values(row));
    }
  }
}

TEST(LutNetwork, ReadsItsFirstVersion) {
  ByteWriter out("PCLUTS1");
  out.put(uint32_t{1});
  out.put(uint32_t{1});  // one input with two thresholds
  out.put(uint16_t{2});
  out.put(0.25f);
  out.put(0.75f);
  out.put(uint32_t{1});  // one layer of two tables of two bits
  out.put(uint8_t{2});
  out.put(uint32_t{2});
  for (const uint16_t bit : {0, 1, 1, 0}) out.put(bit);
  out.put(uint8_t{0b1000});
  out.put(uint8_t{0b0111});
  out.put(uint32_t{2});  // two classes, which a table each counts for
  out.put(1.0);
  out.put(int32_t{0});
  out.put(int32_t{0});
  out.put(uint8_t{0});
  out.put(uint8_t{1});
  out.put(uint16_t{0});
  out.put(uint16_t{1});
  const auto network = LutNetwork::from_bytes(std::move(out).finish(), "here");
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(network->best(std::vector<float>{1}), 0U);
  EXPECT_EQ(network->best(std::vector<float>{0.5f}), 1U);
  // As it is written now the thresholds take two bytes each, their number one, the votes four for each class.
  const std::string now = network->to_bytes();
  EXPECT_EQ(now.size(), 7 + 4 + 1 + 4 + 1 + 2 * 2 + 4 + 1 + 4 + 4 * 2 + 2 + 4 + 8 + 2 * 4 + 1 + 1 + 2 * 4 + 4);
  const auto again = LutNetwork::from_bytes(now, "here");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->to_bytes(), now);
  EXPECT_EQ(again->encoder().threshold_of(1), 0.75f);
}

TEST(LutNetwork, RefusesBytesThatAreNone) {
  Random random(6);
  const std::string bytes = random_network(3, {8}, 4, 2, TestHead::kVotes, random).to_bytes();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(LutNetwork::from_bytes(bytes.substr(0, size), "cut")) << size;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const auto read = LutNetwork::from_bytes(changed, "changed");
    ASSERT_FALSE(read) << at;
    EXPECT_EQ(read.error().code, "bad-network");
  }
}

TEST(LutNetwork, RefusesPartsThatDoNotFit) {
  const auto message = [](LutLayer layer, LutHead head) {
    const auto made = LutNetwork::create(*Thermometer::from_thresholds({{1, 2}}), {std::move(layer)}, std::move(head));
    return made ? std::string() : made.error().message;
  };
  const LutHead head{1, {1}, {0}, 1};
  EXPECT_EQ(message({2, 2, {0, 1}, {6}}, head), "");
  EXPECT_EQ(message({2, 7, {0, 1}, {6}}, head), "a table reads no bit, or more than 6");
  EXPECT_EQ(message({2, 2, {0, 2}, {6}}, head), "a table reads a bit that isn't there");
  EXPECT_EQ(message({2, 2, {0, 1}, {16}}, head), "a table has more entries than its bits address");
  EXPECT_EQ(message({2, 2, {0}, {6}}, head), "a layer's mapping is of another size");
  EXPECT_EQ(message({2, 2, {0, 1}, {6}}, {1, {1, 1}, {0}, 1}), "the sums don't fit the last layer");
  EXPECT_EQ(message({2, 2, {0, 1}, {6}}, {1, {1}, {INT32_MAX}, 1}), "a sum could overflow");
  EXPECT_EQ(message({2, 2, {0, 1}, {6}}, {1, {1}, {0}, 1, {INFINITY}}), "an offset is not finite");
  EXPECT_EQ(message({2, 2, {0, 1}, {0}}, {1, {1, 2, 3, 4}, {0}, 1, {}, true}), "");
  EXPECT_EQ(message({2, 2, {0, 1}, {0}}, {1, {1}, {0}, 1, {}, true}), "the sums don't fit the last layer");
  EXPECT_EQ(message({2, 2, {0, 1}, {6}}, {1, {1, 2, 3, 4}, {0}, 1, {}, true}),
            "a table counts by its address and has a bit, too");
}

// Whatever stands where, under a checksum that is right: an error or a network that answers, never more memory.
TEST(LutNetwork, ReadsHostileBytes) {
  Random random(9);
  for (const TestHead counts : {TestHead::kVotes, TestHead::kBits, TestHead::kAddresses}) {
    const std::string bytes = random_network(3, {8, 4}, 4, 2, counts, random).to_bytes();
    for (size_t at = 7; at + 4 < bytes.size(); ++at) {
      for (const int value : {0, 1, 127, 255}) {
        std::string changed = bytes.substr(0, bytes.size() - 4);
        changed[at] = static_cast<char>(value);
        const uint32_t sum = crc32_of(changed);
        changed.append(reinterpret_cast<const char*>(&sum), 4);
        const auto read = LutNetwork::from_bytes(changed, "changed");
        if (!read) {
          EXPECT_EQ(read.error().code, "bad-network");
          continue;
        }
        EXPECT_EQ(read->sums(std::vector<float>(read->inputs(), 0.5f)).size(), read->outputs());
      }
    }
  }
}

}  // namespace
}  // namespace perfcast
