#pragma once
// A weightless network made ready for speed: one row in registers, or many at once with a bit of each row in a word
// (bit-sliced: a table is a tree of selections, votes are counted by adders of words). All paths answer as
// LutNetwork does, bit for bit.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "learn/weightless/lut_network.h"
#include "learn/weightless/packed_kernels.h"

namespace perfcast {

enum class PackedPath : uint8_t { kScalar, kAvx2, kAvx512, kAvx512Vbmi };
std::string_view to_text(PackedPath path);
// Those that this processor has, the fastest last.
std::vector<PackedPath> packed_paths();

class PackedLutNetwork {
 public:
  explicit PackedLutNetwork(const LutNetwork& network, PackedPath path = packed_paths().back());
  PackedLutNetwork(PackedLutNetwork&&) = default;
  PackedLutNetwork& operator=(PackedLutNetwork&&) = default;

  PackedPath path() const { return path_; }
  size_t inputs() const { return inputs_; }
  size_t outputs() const { return outputs_; }

  // One row of inputs() numbers to outputs() sums.
  void sums(const float* row, int32_t* sums) const;
  size_t best(const float* row) const;

  // Rows row-major, best[count]. False, and nothing written, of more than 256 outputs, which a byte can't name. Fast
  // where votes are counted and each class's tables stand beside each other, as after training; elsewhere row by row.
  bool best(const float* rows, size_t count, uint8_t* best) const;

 private:
  // Words that hold any layer's bits.
  size_t words() const;
  void lay_out_first_layer();
  void lay_out_picked_bits();
  // Bits that the first `layers` layers give.
  void bits_of(size_t layers, const float* row, uint64_t* words) const;
  // Of a network whose tables count by address.
  void sums_by_address(const float* row, int32_t* sums) const;

  PackedPath path_;
  size_t inputs_ = 0, outputs_ = 0;
  std::vector<uint32_t> bit_input_;
  std::vector<float> bit_threshold_;
  // The first layer reads numbers, not bits: [arity x padded], what tables beside each other read first lies together.
  std::vector<int32_t> read_input_;
  std::vector<float> read_threshold_;
  std::vector<uint64_t> padded_tables_;
  // The same of what each bit is, once, and where tables pick it: as PackedView has it.
  std::vector<int32_t> group_base_, group_input_;
  std::vector<float> group_threshold_;
  std::vector<uint8_t> pick_byte_, pick_bit_;
  std::vector<LutLayer> layers_;
  std::vector<PackedLayerView> layer_views_;
  PackedView view_{};  // of all these: moves keep it true

  bool one_hot_ = false, votes_counted_ = false, by_address_ = false;
  size_t words_ = 0;              // of the last layer's bits
  std::vector<uint64_t> masks_;   // one_hot_: [outputs x words]
  std::vector<uint32_t> vote_;    // one_hot_: the class of each table of the last layer
  std::vector<int16_t> weights_;  // else: as LutHead has them
  std::vector<int32_t> bias_;
};

}  // namespace perfcast
