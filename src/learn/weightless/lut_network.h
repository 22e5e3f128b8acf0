#pragma once
// A weightless network that has learnt: bits of a thermometer, layers of look-up tables, sums of the last layer's bits.
// Nothing in it is multiplied. (Bacellar and others, "Differentiable weightless neural networks", ICML 2024.)

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learn/weightless/thermometer.h"

namespace perfcast {

struct LutLayer {
  size_t inputs = 0;              // bits that it reads from
  size_t arity = 0;               // bits that each of its tables reads, 1 to 6
  std::vector<uint32_t> mapping;  // [luts x arity] which; the first is the lowest bit of the address
  std::vector<uint64_t> tables;   // [luts] entry a is bit a
  size_t luts() const { return tables.size(); }
};

// Output o is the sum over tables j whose bit is 1 of weights[j * outputs + o], and bias[o]; times `scale`, and
// offset[o] more, it is in the unit of what was learnt. Of a classifier each table counts 1 for one class alone, bias
// and offset are 0, and the largest sum wins, of equal ones the first.
// By address: every table j of the last layer adds weights[(j * entries + address) * outputs + o] instead, of its
// 2^arity entries; that layer's bits say nothing, and its tables are 0.
struct LutHead {
  size_t outputs = 0;
  std::vector<int16_t> weights;
  std::vector<int32_t> bias;
  double scale = 1;
  std::vector<double> offset = {};  // empty: 0
  bool by_address = false;
};

// Tables times entries times outputs of a head: what a small file may unfold to.
constexpr size_t kMostLutWeights = size_t{1} << 24;

class LutNetwork {
 public:
  // "bad-network": parts that don't fit each other, a layer of more than 2^20 tables, more than 65535 outputs, a
  // bit of a table beyond its entries, sums that could overflow; with what.
  static Result<LutNetwork> create(Thermometer encoder, std::vector<LutLayer> layers, LutHead head);

  const Thermometer& encoder() const { return encoder_; }
  const std::vector<LutLayer>& layers() const { return layers_; }
  const LutHead& head() const { return head_; }
  size_t inputs() const { return encoder_.inputs(); }
  size_t outputs() const { return head_.outputs; }
  size_t luts() const;

  // Sums before `scale`. The reference that every faster way must equal, bit for bit.
  std::vector<int32_t> sums(std::span<const float> row) const;
  size_t best(std::span<const float> row) const;
  std::vector<double> values(std::span<const float> row) const;
  double value_of(int32_t sum, size_t output) const {
    return head_.scale * sum + (head_.offset.empty() ? 0 : head_.offset[output]);
  }

  // The same answers without bits and tables that nothing reads.
  LutNetwork pruned() const;

  // "PCLUTS1", version 2, what it saves of, thresholds by input, layers, head, CRC-32; version 1 is read, too.
  // from_bytes: "bad-network" where they are none.
  std::string to_bytes() const;
  static Result<LutNetwork> from_bytes(std::string_view bytes, const std::string& source);

 private:
  std::vector<uint16_t> votes() const;

  Thermometer encoder_;
  std::vector<LutLayer> layers_;
  LutHead head_;
};

}  // namespace perfcast
