#include "learn/weightless/packed_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learn/weightless/test_networks.h"

namespace perfcast {
namespace {

class Paths : public testing::TestWithParam<PackedPath> {};

// Rows with values on thresholds and beyond all of them, and numbers that are none.
std::vector<float> hard_rows(const LutNetwork& network, size_t count, Random& random) {
  auto rows = random_rows(count, network.inputs(), random);
  const Thermometer& encoder = network.encoder();
  const size_t inputs = std::max<size_t>(1, network.inputs());
  for (size_t i = 0; i < rows.size(); i += 7) {
    const auto of = encoder.thresholds(i % inputs);
    if (!of.empty()) rows[i] = of[random.below(of.size())];
  }
  rows[0] = NAN;
  rows[rows.size() - 1] = INFINITY;
  rows[1] = -INFINITY;
  return rows;
}

TEST_P(Paths, AnswerAsTheNetwork) {
  Random random(7);
  using enum TestHead;
  struct Case {
    size_t inputs;
    std::vector<size_t> luts;
    size_t arity, outputs;
    TestHead counts;
  };
  const std::vector<Case> cases = {
      {5, {24}, 6, 8, kVotes},          {151, {260}, 6, 8, kVotes}, {256, {90}, 5, 3, kVotes},
      {257, {90}, 4, 3, kVotes},        {300, {400}, 6, 8, kVotes}, {33, {130}, 6, 2, kVotes},
      {70, {90}, 5, 3, kVotes},         {3, {63}, 1, 7, kVotes},    {8, {100, 40}, 4, 5, kVotes},
      {64, {64, 64, 32}, 6, 4, kVotes}, {12, {77}, 6, 10, kBits},   {4, {30, 10}, 3, 1, kBits},
      {1, {600}, 2, 300, kVotes},       {16, {2048}, 6, 8, kVotes}, {9, {700}, 4, 6, kAddresses},
      {7, {80, 33}, 3, 2, kAddresses}};
  for (const Case& of : cases) {
    const LutNetwork network = random_network(of.inputs, of.luts, of.arity, of.outputs, of.counts, random);
    const PackedLutNetwork packed(network, GetParam());
    const size_t count = 1100;
    const auto rows = hard_rows(network, count, random);
    std::vector<uint8_t> best(count);
    EXPECT_EQ(packed.best(rows.data(), count, best.data()), of.outputs <= 256);
    std::vector<int32_t> sums(of.outputs);
    for (size_t r = 0; r < count; ++r) {
      const auto row = std::span(rows).subspan(r * of.inputs, of.inputs);
      packed.sums(row.data(), sums.data());
      ASSERT_EQ(sums, network.sums(row)) << of.inputs << " inputs, row " << r;
      ASSERT_EQ(packed.best(row.data()), network.best(row));
      if (of.outputs > 256) continue;
      ASSERT_EQ(best[r], network.best(row)) << of.inputs << " inputs, row " << r;
    }
  }
}

TEST_P(Paths, MayBeMoved) {
  Random random(8);
  const LutNetwork network = random_network(9, {64}, 6, 8, TestHead::kVotes, random);
  PackedLutNetwork first(network, GetParam());
  const PackedLutNetwork second = std::move(first);
  const auto row = random_rows(1, 9, random);
  EXPECT_EQ(second.best(row.data()), network.best(row));
}

INSTANTIATE_TEST_SUITE_P(Packed, Paths, testing::ValuesIn(packed_paths()), [](const auto& of) {
  std::string name(to_text(of.param));
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
});

}  // namespace
}  // namespace perfcast
