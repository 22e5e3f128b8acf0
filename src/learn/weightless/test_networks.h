#pragma once
// Networks and rows that tests draw.

#include "base/random.h"
#include "learn/weightless/lut_network.h"

namespace perfcast {

inline std::vector<float> random_rows(size_t count, size_t inputs, Random& random) {
  std::vector<float> rows(count * inputs);
  for (float& value : rows) value = static_cast<float>(random.uniform(-2, 2));
  return rows;
}

enum class TestHead { kVotes, kBits, kAddresses };

// Of drawn tables and mappings. kVotes: a classifier, whose last layer is a multiple of the outputs.
inline LutNetwork random_network(size_t inputs, const std::vector<size_t>& luts, size_t arity, size_t outputs,
                                 TestHead counts, Random& random) {
  const bool votes = counts == TestHead::kVotes, by_address = counts == TestHead::kAddresses;
  const auto rows = random_rows(50, inputs, random);
  Thermometer encoder = *Thermometer::fit(rows, inputs, 5, ThermometerKind::kDistributive);
  std::vector<LutLayer> layers;
  size_t bits = encoder.bits();
  for (const size_t count : luts) {
    LutLayer layer{bits, arity, {}, {}};
    for (size_t i = 0; i < count * arity; ++i) layer.mapping.push_back(static_cast<uint32_t>(random.below(bits)));
    const uint64_t mask = arity == 6 ? ~uint64_t{0} : (uint64_t{1} << (size_t{1} << arity)) - 1;
    for (size_t j = 0; j < count; ++j) layer.tables.push_back(random.next() & mask);
    layers.push_back(std::move(layer));
    bits = count;
  }
  LutHead head;
  head.outputs = outputs;
  head.by_address = by_address;
  if (by_address) layers.back().tables.assign(bits, 0);
  for (size_t j = 0; j < (by_address ? bits << arity : bits); ++j) {
    for (size_t o = 0; o < outputs; ++o) {
      const auto weight = static_cast<int16_t>(static_cast<int>(random.below(2001)) - 1000);
      head.weights.push_back(votes ? static_cast<int16_t>(j / (bits / outputs) == o ? 1 : 0) : weight);
    }
  }
  for (size_t o = 0; o < outputs; ++o) head.bias.push_back(votes ? 0 : static_cast<int32_t>(random.below(5000)) - 2500);
  head.scale = votes ? 1 : 0.001;
  return *LutNetwork::create(std::move(encoder), std::move(layers), std::move(head));
}

}  // namespace perfcast
