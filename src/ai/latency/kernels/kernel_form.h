#pragma once
// Physics of the kernels of language models on GPUs: how long each takes, from facts of the device and constants that
// are fitted once for all devices (fit/kernel_fit.h). Latencies are in cycles of the boost clock, since those are alike
// on all devices; a started wave of thread blocks costs as much as a full one (machine/gpu/kernel_limits.h).
//
// A product is cut into output tiles of 16x64 to 256x128, and k into as many parts as fill the device, at least four
// steps of 128 bytes each; the cut that comes out fastest is taken:
//   compute = waves x (prologue + steps x max(step, 2 x tile x values / (peak x share x the tile's efficiency)))
//             + sum of the parts
//             the tile's efficiency: 1 / max(1, half x (1/rows + 1/columns)); clocks fall under long loads
//   seconds = floor + fill + (compute^q + (bytes / (share x bandwidth))^q)^(1/q) + narrowing
//   narrowing: of 16-bit values to the format of the weights, which a kernel before the product does, row by row:
//              (rows x cycles of a row + bytes x cycles of a byte) / units
// Attention and experts add up their costs, each with one constant: the columns below.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ai/latency/model/kernel_shape.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

// What the forms need of a device.
struct KernelDevice {
  double units = 0, cycle_s = 0, byte_s = 0;    // byte_s: one byte of its memory
  double l2_bytes = 0;                          // 0: not known
  double exponentials_per_cycle = 16;           // of one unit
  std::array<double, kKernelFormats> flop_s{};  // by format; NaN: no units for it. fp4: twice the rate of fp8
  bool self_feeding = false;
  std::string generation;  // "blackwell" of "blackwell-ultra"

  // None where a fact is not known: units, clock, bandwidth, half-precision peak.
  static std::optional<KernelDevice> of(const DeviceFacts& facts);
};

// Where operands lie: in memory, as those of a model that is run; or in the last cache as far as they fit, as those of
// a kernel that is timed again and again. Databases rotate products through six copies, and attention through one.
enum class Operands : uint8_t { kInMemory, kRepeated };

inline constexpr size_t kMostKernelConstants = 16;
using KernelConstants = std::array<double, kMostKernelConstants>;
// Names of the constants of a kind, in their order; a product's are those of its form, the others' those of columns.
std::span<const char* const> kernel_constant_names(KernelKind kind);
// What they are without any fit.
KernelConstants usual_kernel_constants(KernelKind kind);

// Seconds that one unit of each constant adds: attention and experts. Unused ones are 0.
KernelConstants kernel_columns(const KernelDevice& device, const KernelShape& shape, Operands operands);
// Any kind. Not-a-number in a format without units on the device.
double kernel_seconds(const KernelConstants& constants, const KernelDevice& device, const KernelShape& shape,
                      Operands operands);

// Bytes that the kernel reads and writes at the least, and its FLOP.
double kernel_bytes(const KernelShape& shape);
double kernel_flops(const KernelShape& shape);

}  // namespace perfcast::ai
