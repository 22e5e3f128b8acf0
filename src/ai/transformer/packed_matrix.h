#pragma once
// A layer's weights in the panels that the kernels walk through, in single precision or in bytes. The layout is also
// oneDNN's (BA16a64b, and BA16a64b4a of bytes), so that one copy serves prompts and tokens.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "ai/llm/precision.h"
#include "ai/transformer/kernel/transformer_kernels.h"
#include "base/result.h"
#include "machine/ceiling/aligned_array.h"

namespace perfcast::ai {

// Writes the weights of one output, one for each input. Called from several threads, each output once.
using WeightRow = std::function<Status(int64_t output, std::span<float> values)>;

// One piece of memory for all matrices of a model, in the order that they are read in: on huge pages where the system
// gives them, which small matrices of their own wouldn't be, and read twice as fast from.
class WeightArena {
 public:
  // Throws std::bad_alloc.
  explicit WeightArena(size_t bytes) : memory_(bytes) {}
  // Zeroed, from a cache line on. Throws std::bad_alloc where no so much is left.
  std::byte* take(size_t bytes);

 private:
  AlignedArray<std::byte> memory_;
  size_t used_ = 0;
};

inline int64_t panels_of(int64_t outputs) { return (outputs + kPanelColumns - 1) / kPanelColumns; }
// Inputs as they are stored: what oneDNN's layouts round depths up to.
inline int64_t padded_depth(int64_t inputs, bool in_bytes) {
  const int64_t step = in_bytes ? 64 : 16;
  return (inputs + step - 1) / step * step;
}

// outputs x inputs; both are padded with zeros to whole panels. Bytes have one scale for each output, its largest
// magnitude / 127: a weight is off by at most half of it.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // `precision` is kFp32 or kInt8. In `arena`, which must outlive it; null: in memory of its own. Errors are those of
  // `row`, and "out-of-memory".
  static Result<PackedMatrix> pack(int64_t outputs, int64_t inputs, Precision precision, int threads,
                                   const WeightRow& row, WeightArena* arena = nullptr);
  // What such a matrix takes of an arena.
  static double arena_bytes(int64_t outputs, int64_t inputs, Precision precision);

  int64_t outputs() const { return outputs_; }
  int64_t inputs() const { return inputs_; }
  bool in_bytes() const { return in_bytes_; }
  int64_t panels() const { return panels_of(outputs_); }
  int64_t padded_outputs() const { return panels() * kPanelColumns; }
  int64_t padded_inputs() const { return padded_depth(inputs_, in_bytes_); }
  double bytes() const;  // all that is read of it in a product, padding included

  const float* floats(int64_t panel) const { return floats_ + panel * padded_inputs() * kPanelColumns; }
  const int8_t* signed_bytes(int64_t panel) const { return bytes_ + panel * padded_inputs() * kPanelColumns; }
  ByteScales scales(int64_t panel) const {
    return {corrections_ + panel * kPanelColumns, scales_ + panel * kPanelColumns};
  }
  float weight(int64_t output, int64_t input) const;  // as it is used: of bytes, the rounded one
  // All weights of an output, as a look-up in an embedding needs them.
  void copy_row(int64_t output, std::span<float> values) const;

 private:
  Status pack_panel(int64_t panel, const WeightRow& row);

  int64_t outputs_ = 0, inputs_ = 0;
  bool in_bytes_ = false;
  std::unique_ptr<WeightArena> own_;
  float* floats_ = nullptr;  // [panels][padded inputs][64]
  int8_t* bytes_ = nullptr;  // [panels][padded inputs / 4][64][4]
  float* scales_ = nullptr;  // [padded outputs]
  int32_t* corrections_ = nullptr;
};

}  // namespace perfcast::ai
