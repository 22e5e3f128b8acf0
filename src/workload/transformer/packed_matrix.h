#pragma once
// A layer's weights in the panels that the kernels walk through, in single precision or in bytes. The layout is also
// oneDNN's (BA16a64b, and BA16a64b4a of bytes), so that one copy serves prompts and tokens.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "ceiling/aligned_array.h"
#include "workload/llm/precision.h"
#include "workload/transformer/kernel/transformer_kernels.h"

namespace perfcast {

// Writes the weights of one output, one for each input. Called from several threads, each output once.
using WeightRow = std::function<Status(int64_t output, std::span<float> values)>;

// outputs x inputs; both are padded with zeros to whole panels. Bytes have one scale for each output, its largest
// magnitude / 127: a weight is off by at most half of it.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // `precision` is kFp32 or kInt8. Errors are those of `row`, and "out-of-memory".
  static Result<PackedMatrix> pack(int64_t outputs, int64_t inputs, Precision precision, int threads,
                                   const WeightRow& row);

  int64_t outputs() const { return outputs_; }
  int64_t inputs() const { return inputs_; }
  bool in_bytes() const { return in_bytes_; }
  int64_t panels() const { return (outputs_ + kPanelColumns - 1) / kPanelColumns; }
  int64_t padded_outputs() const { return panels() * kPanelColumns; }
  int64_t padded_inputs() const;
  double bytes() const;  // all that is read of it in a product, padding included

  const float* floats(int64_t panel) const { return floats_.data() + panel * padded_inputs() * kPanelColumns; }
  const int8_t* signed_bytes(int64_t panel) const { return bytes_.data() + panel * padded_inputs() * kPanelColumns; }
  ByteScales scales(int64_t panel) const {
    return {corrections_.data() + panel * kPanelColumns, scales_.data() + panel * kPanelColumns};
  }
  float weight(int64_t output, int64_t input) const;  // as it is used: of bytes, the rounded one
  // All weights of an output, as a look-up in an embedding needs them.
  void copy_row(int64_t output, std::span<float> values) const;

 private:
  Status pack_panel(int64_t panel, const WeightRow& row);

  int64_t outputs_ = 0, inputs_ = 0;
  bool in_bytes_ = false;
  AlignedArray<float> floats_;  // [panels][padded inputs][64]
  AlignedArray<int8_t> bytes_;  // [panels][padded inputs / 4][64][4]
  AlignedArray<float> scales_;  // [padded outputs]
  AlignedArray<int32_t> corrections_;
};

}  // namespace perfcast
