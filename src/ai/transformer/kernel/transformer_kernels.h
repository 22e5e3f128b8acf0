#pragma once
// The loops that a transformer's time goes to, compiled once for each set of vector instructions. Sums are formed in an
// order that depends on the lengths alone, so that a row's result is the same whatever rows stand beside it and
// whichever thread computes it; between sets of instructions it differs by rounding.

#include <cstdint>
#include <string_view>
#include <vector>

namespace perfcast::ai {

// Weights and keys are laid out in panels: for each depth the values of 64 columns, side by side. A row of inputs times
// a panel walks straight through memory, whose bandwidth is all that it then waits for.
inline constexpr int64_t kPanelColumns = 64;
// Rows that share one pass over a panel.
inline constexpr int64_t kTileRows = 4;
// Bytes of four depths stand together, as the instructions take them: [depth / 4][64][4].
inline constexpr int64_t kByteDepths = 4;
// What a byte of an input is moved up by, so that it is unsigned.
inline constexpr int32_t kByteZero = 128;
// Lengths of rows are multiples of it where a kernel says so.
inline constexpr int64_t kVectorStep = 16;

// How the sums of products of bytes become numbers: (sum - corrections[column]) * scales[column] * the row's scale,
// where corrections take off what kByteZero added.
struct ByteScales {
  const int32_t* corrections = nullptr;
  const float* scales = nullptr;
};

struct TransformerKernels {
  std::string_view isa;  // "scalar", "avx2", "avx512-vnni"

  // out[r][c] = sum over d < depth of x[r][d] * panel[d][c], r < rows <= kTileRows, c < columns, a multiple of
  // kVectorStep; rows of the panel, x and out are so many floats apart.
  void (*product)(const float* panel, int64_t panel_stride, int64_t depth, int64_t columns, const float* x,
                  int64_t x_stride, int64_t rows, float* out, int64_t out_stride);
  // The same of bytes for the 64 columns of one panel, `depth` a multiple of kByteDepths; row_scales[r].
  void (*byte_product)(const int8_t* panel, int64_t depth, const ByteScales& scales, const uint8_t* x, int64_t x_stride,
                       const float* row_scales, int64_t rows, float* out, int64_t out_stride);
  // Sums that somebody else formed, `count` columns of one row; out may be the same memory.
  void (*scale_sums)(const int32_t* sums, int64_t count, const ByteScales& scales, float row_scale, float* out);
  // Rounds count values to bytes of equal steps about kByteZero, and returns the step: the largest magnitude / 127. A
  // row of zeros has step 0. `count` a multiple of kVectorStep.
  float (*quantise)(const float* x, int64_t count, uint8_t* out);

  // x / sqrt(mean of squares + epsilon) * weight. `count` a multiple of kVectorStep.
  void (*rms_norm)(const float* x, const float* weight, int64_t count, float epsilon, float* out);
  // gate / (1 + exp(-gate)) * up. `count` a multiple of kVectorStep.
  void (*gate)(const float* gate, const float* up, int64_t count, float* out);
  // into += from.
  void (*add)(float* into, const float* from, int64_t count);
  // Turns the pairs (i, i + half) by their angles.
  void (*rotate)(float* head, const float* cosines, const float* sines, int64_t half);
  // scores[i] = exp(scale * (scores[i] - the largest)) for i < count, 0 from there to `padded`, a multiple of
  // kVectorStep; returns 1 / their sum. count >= 1.
  float (*soften)(float* scores, int64_t count, int64_t padded, float scale);
  void (*multiply)(float* values, int64_t count, float factor);
  // Index of the largest value, of equal ones the first; what is no number counts for nothing. 0 where all are none.
  int64_t (*first_largest)(const float* values, int64_t count);
};

// Those that this CPU can run, the widest first; never empty.
const std::vector<const TransformerKernels*>& transformer_kernels();

}  // namespace perfcast::ai
