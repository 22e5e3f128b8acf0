#pragma once
// Operators that are no product: bounded by memory, with a cost per row where rows are reduced.

#include <array>
#include <cstddef>
#include <string_view>

#include "ai/latency/model/gemm_tile.h"

namespace perfcast::ai {

enum class VectorTerm : size_t {
  kLaunch,      // s
  kStreamRate,  // share of the memory bandwidth
  kCacheGain,   // how many times faster what fits into the cache is
  kCacheShare,  // of the cache's size: up to where it fits
  kCacheSharpness,
  kRowCycles,      // unit cycles of a row: reductions, barriers
  kElementCycles,  // unit cycles of 32 values of a row
  kMisaligned,     // slowdown where rows are no multiple of 4 values
};
inline constexpr size_t kVectorTerms = 8;

struct VectorTermInfo {
  std::string_view name;
  double start, least, most;
};
const std::array<VectorTermInfo, kVectorTerms>& vector_terms();

// How rows are worked on.
enum class RowShape : uint8_t {
  kFlat,   // values by themselves: no cost per row
  kWarp,   // one warp holds a row, rounded up to a power of two (softmax of up to 1,024 values)
  kBlock,  // one block works through a row, in steps of 128
};

struct VectorModel {
  RowShape rows = RowShape::kFlat;
  double passes = 2;  // how often a value is read or written
  std::array<double, kVectorTerms> terms{};
  double log_error = 0;

  double operator[](VectorTerm term) const { return terms[static_cast<size_t>(term)]; }
};

// Without launch; bytes_per_value of the tensors.
double vector_seconds(const VectorModel& model, const DeviceRates& rates, double clock_hz, double rows, double columns,
                      double bytes_per_value);

// Softmax of longer rows is another kernel.
inline constexpr double kLongestWarpRow = 1024;

// All vector operators of a device.
struct VectorModels {
  VectorModel unary, binary, short_softmax, long_softmax, norm;
  const VectorModel& of(VectorKind kind, double columns) const;
};

}  // namespace perfcast::ai
