#pragma once
// What is publicly known of a device before anything is measured on it.

#include <string>
#include <vector>

#include "base/unknown.h"

namespace perfcast {

enum class DeviceKind { kGpu, kTpu, kCpu };

// How a product is computed. A device without units for one lacks its peak.
enum class MathMode { kFp32, kTf32, kHalf, kFp8, kInt8 };  // kHalf: fp16 and bf16 inputs, fp32 sums
inline constexpr size_t kMathModes = 5;

struct DeviceFacts {
  std::string name;                  // as its vendor or driver writes it
  std::vector<std::string> aliases;  // short names: "a100-40gb"
  std::string vendor;
  DeviceKind kind = DeviceKind::kGpu;
  std::string generation;        // "pascal", "volta", ..., "cdna2"; of a TPU or CPU its family
  double process_nm = kUnknown;  // the foundry's name of the process: 16, 12, 7, 5, 4, ...
  double memory_bytes = kUnknown;
  double memory_bytes_per_s = kUnknown;
  double l2_bytes = kUnknown;          // the last cache that all units share
  double units = kUnknown;             // streaming multiprocessors, compute units, cores
  double clock_hz = kUnknown;          // boost
  double power_w = kUnknown;           // of the board, as sold
  double link_bytes_per_s = kUnknown;  // to its peers in one node, one direction
  double linked_devices = kUnknown;    // that this link joins, each to all: 2 is a bridge; not known: all of a node
  double host_link_bytes_per_s = kUnknown;  // to the memory of its host, one direction
  // Dense peak, FLOP/s (a multiply-add is two), without sparsity; by MathMode.
  double peak_flops[kMathModes] = {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  std::vector<std::string> sources;  // where the facts come from

  double peak(MathMode mode) const { return peak_flops[static_cast<size_t>(mode)]; }
};

}  // namespace perfcast
