#include "machine/facts/desktop_memory.h"

#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kBytesPerTransfer = 2 * 8;  // two channels

struct Generation {
  const char* vendor;
  int64_t family, model;
  double transfers_per_s;
};

// AMD's pages of processors ("System Memory Specification") and Intel's ARK ("Memory Types").
constexpr Generation kGenerations[] = {
    {"amd", 21, 1, 1866e6},    {"amd", 21, 2, 1866e6},    {"amd", 21, 48, 2133e6},   {"amd", 21, 56, 2133e6},
    {"amd", 23, 1, 2666e6},    {"amd", 23, 8, 2933e6},    {"amd", 23, 17, 2933e6},   {"amd", 23, 24, 2933e6},
    {"amd", 23, 96, 4266e6},   {"amd", 23, 104, 4266e6},  {"amd", 23, 113, 3200e6},  {"amd", 25, 33, 3200e6},
    {"amd", 25, 80, 4266e6},   {"amd", 25, 97, 5200e6},   {"amd", 26, 68, 5600e6},   {"intel", 6, 42, 1333e6},
    {"intel", 6, 58, 1600e6},  {"intel", 6, 60, 1600e6},  {"intel", 6, 69, 1600e6},  {"intel", 6, 70, 1600e6},
    {"intel", 6, 61, 1866e6},  {"intel", 6, 71, 1866e6},  {"intel", 6, 78, 2133e6},  {"intel", 6, 94, 2133e6},
    {"intel", 6, 142, 2400e6}, {"intel", 6, 158, 2666e6}, {"intel", 6, 165, 2933e6}, {"intel", 6, 126, 3733e6},
    {"intel", 6, 167, 3200e6}};

}  // namespace

std::optional<double> desktop_memory_bytes_per_s(const ProcessorIdentity& processor) {
  const std::string name = lower_case(processor.name), vendor = vendor_key(processor.vendor);
  // Threadripper and the first servers share their CPUID with desktop parts.
  if (name.find("threadripper") != std::string::npos || name.find("epyc") != std::string::npos) return std::nullopt;
  for (const Generation& generation : kGenerations) {
    if (vendor == generation.vendor && processor.cpu_family == generation.family &&
        processor.model == generation.model) {
      return kBytesPerTransfer * generation.transfers_per_s;
    }
  }
  return std::nullopt;
}

}  // namespace perfcast
