#include "ai/latency/kernels/kernel_form.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "machine/gpu/kernel_limits.h"

namespace perfcast::ai {
namespace {

struct Tile {
  double m, n, per_m = 1 / m, per_n = 1 / n;
};
constexpr std::array kProductTiles = {Tile{16, 64},  Tile{16, 128},  Tile{64, 64},   Tile{64, 128},
                                      Tile{128, 64}, Tile{128, 128}, Tile{128, 256}, Tile{256, 128}};
constexpr double kStepBytes = 128;         // of k, in one step of the main loop
constexpr double kLeastSteps = 4;          // of a part of k
constexpr double kLongProduct_s = 300e-6;  // at the peak: after it the clocks have fallen half of the way
constexpr double kFillBytes = 2e6;         // that take all of the time of filling the memory's pipeline
constexpr double kDecodeFillBytes = 4e6;
constexpr double kCopies = 6;       // of a product's operands, in databases
constexpr double kQueryRows = 128;  // of one tile of attention in prefill
constexpr double kExpertRows = 128;
constexpr double kSkewedDraws = 0.8;  // that many of evenly drawn experts does a skewed router visit

// Constants of products, in the order of kProductNames.
enum ProductConstant : size_t {
  kFloor,
  kFill,
  kComputeShare,
  kMemoryShare,
  kHalfSize,
  kReduce,
  kDrop,
  kCacheGain,
  kPrologueFed,
  kStepFed,
  kOverlapFed,
  kPrologueSelf,
  kStepSelf,
  kOverlapSelf,
  kNarrowByte,
  kNarrowRow,
};
constexpr const char* kProductNames[] = {"floor_cycles",
                                         "fill_us",
                                         "compute_share",
                                         "memory_share",
                                         "half_size",
                                         "reduce_cycles",
                                         "clock_drop",
                                         "cache_gain",
                                         "prologue_cycles_fed",
                                         "step_cycles_fed",
                                         "overlap_fed",
                                         "prologue_cycles_self",
                                         "step_cycles_self",
                                         "overlap_self",
                                         "narrowing_cycles_of_byte",
                                         "narrowing_cycles_of_row"};
constexpr const char* kPrefillNames[] = {"floor_cycles", "products_fed",      "products_self",    "exponentials",
                                         "longest_row",  "tile_cycles_fed",   "tile_cycles_self", "operand_bytes",
                                         "cache_bytes",  "narrow_cache_bytes"};
constexpr const char* kDecodeNames[] = {
    "floor_cycles",  "memory_bytes", "cached_bytes_fed", "cached_bytes_self", "serial_bytes_fed", "serial_bytes_self",
    "wave_us_flash", "wave_us_own",  "split_cycles",     "products",          "operand_bytes",    "fill_us"};
constexpr const char* kExpertNames[] = {"floor_cycles",     "products_fed",     "products_self",
                                        "weight_bytes",     "activation_bytes", "tile_cycles_fed",
                                        "tile_cycles_self", "loop_cycles",      "expert_cycles"};

double value_bytes(KernelFormat format) {
  constexpr std::array<double, kKernelFormats> kBytes = {2, 1, 1, 0.5625};
  return kBytes[static_cast<size_t>(format)];
}

double flop_s(const KernelDevice& device, KernelFormat format) { return device.flop_s[static_cast<size_t>(format)]; }

struct ProductSizes {
  double m, n, k;
};
ProductSizes product_sizes(const KernelShape& shape) {
  return {shape.size[ProductAxis::kM], shape.size[ProductAxis::kN], shape.size[ProductAxis::kK]};
}

double product_seconds(const KernelConstants& c, const KernelDevice& device, const KernelShape& shape,
                       Operands operands) {
  const auto [m, n, k] = product_sizes(shape);
  const double per_flop = flop_s(device, shape.format);
  if (std::isnan(per_flop)) return kUnknown;
  const bool self = device.self_feeding;
  const double prologue = c[self ? kPrologueSelf : kPrologueFed] * device.cycle_s;
  const double step = c[self ? kStepSelf : kStepFed] * device.cycle_s;
  const double values = kStepBytes / (shape.format == KernelFormat::kFp4 ? 0.5 : value_bytes(shape.format));
  const double unit_flop_s = per_flop * device.units / c[kComputeShare];  // of one unit
  const double steps = rounded_up(k / values);
  const double most_parts = std::max(1.0, std::floor(steps / kLeastSteps));
  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kProductTiles) {
    const double tiles = rounded_up(m * tile.per_m) * rounded_up(n * tile.per_n);
    const double parts =
        tiles >= device.units ? 1 : std::min(std::max(std::floor(device.units / tiles), 1.0), most_parts);
    const double loss = std::max(1.0, c[kHalfSize] * (tile.per_m + tile.per_n));
    const double one = std::max(step, 2 * tile.m * tile.n * values * unit_flop_s * loss);
    double seconds = waves(tiles * parts, device.units) * (prologue + rounded_up(steps / parts) * one);
    if (parts > 1) seconds += c[kReduce] * device.cycle_s;
    best = std::min(best, seconds);
  }
  const double at_peak = 2 * m * n * k * per_flop;
  best *= 1 + c[kDrop] * at_peak / (at_peak + kLongProduct_s);
  const double bytes = kernel_bytes(shape);
  const double hit = operands == Operands::kRepeated ? cached_share(kCopies * bytes, device.l2_bytes, 8) : 0;
  const double memory = bytes * device.byte_s / c[kMemoryShare] * (1 - hit + hit / c[kCacheGain]);
  const double narrowing =
      shape.format == KernelFormat::kHalf
          ? 0
          : m * (k * (2 + value_bytes(shape.format)) * c[kNarrowByte] + c[kNarrowRow]) * device.cycle_s / device.units;
  return narrowing + c[kFloor] * device.cycle_s + c[kFill] * 1e-6 * (1 - hit) * std::min(1.0, bytes / kFillBytes) +
         overlapped(best, memory, c[self ? kOverlapSelf : kOverlapFed]);
}

struct AttentionSizes {
  double batch, length, heads, kv_heads, head_dim, seen;  // seen: keys of one query, at the most
};
AttentionSizes attention_sizes(const KernelShape& shape) {
  const auto& size = shape.size;
  const double length = size[AttentionAxis::kLength], window = size[AttentionAxis::kWindow];
  return {size[AttentionAxis::kBatch],   length,
          size[AttentionAxis::kHeads],   size[AttentionAxis::kKvHeads],
          size[AttentionAxis::kHeadDim], window > 0 ? std::min(window, length) : length};
}

KernelConstants prefill_columns(const KernelDevice& device, const KernelShape& shape) {
  const auto [batch, length, heads, kv_heads, head_dim, seen] = attention_sizes(shape);
  const double per_flop = flop_s(device, KernelFormat::kHalf), cache = value_bytes(shape.format);
  const double tiles = batch * heads * rounded_up(length / kQueryRows);
  // Half of the blocks on the diagonal is masked, and computed.
  const double pairs = batch * heads * (length * seen - seen * (seen - 1) / 2) + tiles * kQueryRows * kQueryRows / 2;
  const double row = kQueryRows * std::min(seen + kQueryRows, std::max(length, kQueryRows));
  const double exponential_s = device.cycle_s / device.exponentials_per_cycle;
  const double values = batch * length * head_dim;
  const double products = 4 * head_dim * pairs * per_flop, tile_s = tiles / device.units * device.cycle_s;
  const bool self = device.self_feeding;
  return {device.cycle_s,
          self ? 0 : products,
          self ? products : 0,
          pairs * exponential_s / device.units,
          row * (4 * head_dim * per_flop * device.units + exponential_s),
          self ? 0 : tile_s,
          self ? tile_s : 0,
          values * 4 * (heads + kv_heads) * device.byte_s,
          values * kv_heads * (4 + 2 * cache) * device.byte_s,
          cache < 2 ? values * heads * 3 * device.byte_s : 0};
}

KernelConstants decode_columns(const KernelDevice& device, const KernelShape& shape, Operands operands) {
  const auto [batch, length, heads, kv_heads, head_dim, seen] = attention_sizes(shape);
  const double row_bytes = head_dim * 2 * value_bytes(shape.format);  // of one token and head
  const double bytes = batch * kv_heads * seen * row_bytes;
  const double hit = operands == Operands::kRepeated ? cached_share(bytes, device.l2_bytes, 6) : 0;
  const double group = heads / kv_heads;
  const double blocks = batch * kv_heads * rounded_up(group / 64);
  const bool self = device.self_feeding, own = self && device.generation == "blackwell";
  // FlashAttention 2 splits the context only where queries share their keys.
  const bool splits = self || group > 1;
  const double parts = splits ? std::min(std::max(std::floor(device.units / blocks), 1.0), rounded_up(seen / 256)) : 1;
  const double rounds = waves(blocks * parts, device.units);
  const double cached_s = bytes * hit / (device.units * 32) * device.cycle_s;
  const double serial_s = rounds * seen / parts * row_bytes / 32 * device.cycle_s;
  return {device.cycle_s,
          bytes * (1 - hit) * device.byte_s,
          self ? 0 : cached_s,
          self ? cached_s : 0,
          self ? 0 : serial_s,
          self ? serial_s : 0,
          own ? 0 : 1e-6 * rounds,
          own ? 1e-6 * rounds : 0,
          parts > 1 ? device.cycle_s : 0,
          4 * batch * kv_heads * rounded_up(group / 16) * 16 * seen * head_dim * flop_s(device, KernelFormat::kHalf),
          batch * heads * head_dim * 4 * device.byte_s,
          1e-6 * (1 - hit) * std::min(1.0, bytes / kDecodeFillBytes)};
}

// Rows of the busiest device, over its experts that are visited at all.
struct ExpertLoad {
  double rows = 0, visited = 0;
};
ExpertLoad expert_load(const KernelShape& shape) {
  const auto& size = shape.size;
  const double tokens = size[ExpertsAxis::kTokens], chosen = size[ExpertsAxis::kChosen];
  const double parallel = size[ExpertsAxis::kExpertParallel], own = size[ExpertsAxis::kExperts] / parallel;
  const bool even = size[ExpertsAxis::kSkew] == 0;
  const double busiest = even ? 1 : 1 + 1.6 * (1 - 1 / parallel) / std::sqrt(own);
  const double rows = std::min(tokens * chosen / parallel * busiest, tokens * std::min(chosen, own));
  if (even) return {rows, std::max(1.0, std::min(rows, own))};
  // The experts of one token differ; those of the next ones may have been visited, the more so the more they are
  // skewed.
  const double first = std::min(chosen / parallel, own);
  const double drawn = first + (own - first) * (1 - std::exp(-kSkewedDraws * std::max(0.0, rows - first) / own));
  return {rows, std::max(1.0, std::min({drawn, rows, own}))};
}

KernelConstants expert_columns(const KernelDevice& device, const KernelShape& shape) {
  const auto& size = shape.size;
  const double hidden = size[ExpertsAxis::kHidden];
  const double inner = size[ExpertsAxis::kInner] / size[ExpertsAxis::kTensorParallel];
  const ExpertLoad load = expert_load(shape);
  const double rows = load.rows / load.visited;
  const double padded = rows <= 16 ? 16 : rows <= 64 ? rounded_up(rows / 16) * 16 : rows + 32;
  const double products = 6 * padded * load.visited * hidden * inner * flop_s(device, shape.format);
  const double tiles = load.visited * rounded_up(rows / kExpertRows) *
                       (rounded_up(2 * inner / kExpertRows) + rounded_up(hidden / kExpertRows));
  const double tile_s = tiles / device.units * device.cycle_s;
  const bool self = device.self_feeding;
  return {device.cycle_s,
          self ? 0 : products,
          self ? products : 0,
          load.visited * 3 * hidden * inner * value_bytes(shape.format) * device.byte_s,
          load.rows * 3 * (hidden + inner) * 2 * device.byte_s,
          self ? 0 : tile_s,
          self ? tile_s : 0,
          (hidden + inner) / 64 * device.cycle_s,
          size[ExpertsAxis::kExperts] / size[ExpertsAxis::kExpertParallel] * device.cycle_s};
}

}  // namespace

std::optional<KernelDevice> KernelDevice::of(const DeviceFacts& facts) {
  if (facts.kind != DeviceKind::kGpu) return std::nullopt;
  const double half = facts.peak(MathMode::kHalf), fp8 = facts.peak(MathMode::kFp8);
  for (const double needed : {facts.units, facts.clock_hz, facts.memory_bytes_per_s, half}) {
    if (!(needed > 0)) return std::nullopt;
  }
  KernelDevice device;
  device.units = facts.units;
  device.cycle_s = 1 / facts.clock_hz;
  device.byte_s = 1 / facts.memory_bytes_per_s;
  device.l2_bytes = facts.l2_bytes > 0 ? facts.l2_bytes : 0;
  if (facts.generation == "blackwell-ultra") device.exponentials_per_cycle = 32;
  device.flop_s = {1 / half, 1 / fp8, 1 / fp8, 1 / (2 * fp8)};
  device.self_feeding = has_self_feeding_matrix_units(facts);
  device.generation = facts.generation.substr(0, facts.generation.find('-'));
  return device;
}

std::span<const char* const> kernel_constant_names(KernelKind kind) {
  switch (kind) {
    case KernelKind::kProduct:
      return kProductNames;
    case KernelKind::kPrefill:
      return kPrefillNames;
    case KernelKind::kDecode:
      return kDecodeNames;
    case KernelKind::kExperts:
      break;
  }
  return kExpertNames;
}

KernelConstants usual_kernel_constants(KernelKind kind) {
  switch (kind) {
    case KernelKind::kProduct:
      return {4190, 0.7, 0.88, 0.88, 30, 4900, 0.07, 1.3, 1800, 120, 2.2, 350, 120, 1.9, 0.2, 1000};
    case KernelKind::kPrefill:
      return {18700, 1.37, 0.875, 1.06, 0.42, 50, 4560, 1, 1.64, 0};
    case KernelKind::kDecode:
      return {15000, 1.05, 4, 1, 1, 0.3, 4, 1.7, 3000, 1, 2, 0};
    case KernelKind::kExperts:
      break;
  }
  return {35100, 2.71, 1.69, 1.1, 1.12, 660, 340, 390, 0};
}

KernelConstants kernel_columns(const KernelDevice& device, const KernelShape& shape, Operands operands) {
  switch (shape.kind) {
    case KernelKind::kPrefill:
      return prefill_columns(device, shape);
    case KernelKind::kDecode:
      return decode_columns(device, shape, operands);
    case KernelKind::kExperts:
      return expert_columns(device, shape);
    case KernelKind::kProduct:
      break;
  }
  return {};
}

double kernel_seconds(const KernelConstants& constants, const KernelDevice& device, const KernelShape& shape,
                      Operands operands) {
  if (shape.kind == KernelKind::kProduct) return product_seconds(constants, device, shape, operands);
  const KernelConstants columns = kernel_columns(device, shape, operands);
  double seconds = 0;
  for (size_t i = 0; i < columns.size(); ++i) seconds += constants[i] * columns[i];
  return seconds;
}

double kernel_bytes(const KernelShape& shape) {
  const double bytes = value_bytes(shape.format);
  switch (shape.kind) {
    case KernelKind::kProduct: {
      const auto [m, n, k] = product_sizes(shape);
      return (m * k + n * k) * bytes + m * n * 2;
    }
    case KernelKind::kPrefill: {
      const auto [batch, length, heads, kv_heads, head_dim, seen] = attention_sizes(shape);
      return batch * length * head_dim * 4 * (heads + kv_heads);
    }
    case KernelKind::kDecode: {
      const auto [batch, length, heads, kv_heads, head_dim, seen] = attention_sizes(shape);
      return batch * head_dim * (2 * kv_heads * seen * bytes + 4 * heads);
    }
    case KernelKind::kExperts:
      break;
  }
  const ExpertLoad load = expert_load(shape);
  const double inner = shape.size[ExpertsAxis::kInner] / shape.size[ExpertsAxis::kTensorParallel];
  return load.visited * 3 * shape.size[ExpertsAxis::kHidden] * inner * bytes;
}

double kernel_flops(const KernelShape& shape) {
  switch (shape.kind) {
    case KernelKind::kProduct: {
      const auto [m, n, k] = product_sizes(shape);
      return 2 * m * n * k;
    }
    case KernelKind::kPrefill: {
      const auto [batch, length, heads, kv_heads, head_dim, seen] = attention_sizes(shape);
      return 4 * batch * heads * head_dim * (length * seen - seen * (seen - 1) / 2);
    }
    case KernelKind::kDecode: {
      const auto [batch, length, heads, kv_heads, head_dim, seen] = attention_sizes(shape);
      return 4 * batch * heads * head_dim * seen;
    }
    case KernelKind::kExperts:
      break;
  }
  const double inner = shape.size[ExpertsAxis::kInner] / shape.size[ExpertsAxis::kTensorParallel];
  return 6 * expert_load(shape).rows * shape.size[ExpertsAxis::kHidden] * inner;
}

}  // namespace perfcast::ai
