#pragma once
// How many groups of threads (CUDA: blocks) a multiprocessor holds at a time: what hides the latency of each.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace perfcast {

// Of one multiprocessor. NVIDIA, CUDA C++ Programming Guide, "technical specifications per compute capability"; of the
// capabilities that share a name those of the larger chips. In the order in which the generations appeared.
struct GroupLimits {
  std::string_view generation;
  double groups, items, local_bytes, registers;
};
inline constexpr GroupLimits kGroupLimits[] = {
    {"fermi", 8, 1536, 49152, 32768},      {"kepler", 16, 2048, 49152, 65536}, {"maxwell", 32, 2048, 98304, 65536},
    {"pascal", 32, 2048, 65536, 65536},    {"volta", 32, 2048, 98304, 65536},  {"turing", 16, 1024, 65536, 65536},
    {"ampere", 32, 2048, 167936, 65536},   {"ada", 24, 1536, 102400, 65536},   {"hopper", 32, 2048, 233472, 65536},
    {"blackwell", 32, 2048, 233472, 65536}};

// Null: not known.
inline const GroupLimits* group_limits(std::string_view generation) {
  for (const GroupLimits& limits : kGroupLimits) {
    if (limits.generation == generation) return &limits;
  }
  return nullptr;
}

// What a group needs. 0 bytes or registers: none, or not known.
struct GroupShape {
  double items = 1, local_bytes = 0, registers_per_item = 0;
};

// At least 1: a group that is too large doesn't run at all.
inline double resident_groups(const GroupLimits& limits, const GroupShape& shape) {
  constexpr double kWarp = 32;  // items are placed in warps
  const double items = kWarp * std::ceil(std::max(shape.items, 1.0) / kWarp);
  double groups = std::min(limits.groups, std::floor(limits.items / items));
  if (shape.local_bytes > 0) groups = std::min(groups, std::floor(limits.local_bytes / shape.local_bytes));
  if (shape.registers_per_item > 0)
    groups = std::min(groups, std::floor(limits.registers / (items * shape.registers_per_item)));
  return std::max(groups, 1.0);
}

}  // namespace perfcast
