#pragma once
// What this machine reads and computes at the most, as a transformer's forecast needs it.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/unknown.h"

namespace perfcast::ai {

struct HostRates {
  std::string cpu;
  int threads = 1;
  // Bytes that are read over and over from end to end, each thread its share of them, to bytes/s of all together:
  // caches where they are few, memory where they are many. Ascending in bytes.
  std::vector<std::pair<double, double>> read;
  // Operations/s of all threads at the widest registers, a multiply-add counting as two. NaN: this CPU has none.
  double fp32_flops_per_s = kUnknown, int8_ops_per_s = kUnknown;
  double l2_bytes = 1 << 20;  // of one core; the usual where the system doesn't tell

  // Between what was measured: straight lines in the logarithms; outside: the nearest. NaN where nothing was measured.
  double read_bytes_per_s(double footprint_bytes) const;
  // Of the most bytes that were gone through: memory's where they are more than caches hold, which those of a quick
  // calibration are not.
  double most_read_bytes() const { return read.empty() ? kUnknown : read.back().first; }
  double memory_bytes_per_s() const { return read.empty() ? kUnknown : read.back().second; }
};

// Sizes up to `most_bytes`, as far as there is memory.
class HostRateMeasurement {
 public:
  HostRateMeasurement(int threads, double most_bytes);
  // One more value of each size, taken at another moment; some seconds. Their medians are kept.
  void run_round();
  HostRates facts() const;

 private:
  int threads_;
  std::vector<double> sizes_;
  std::vector<std::vector<double>> rates_;  // of each size
  std::vector<double> fp32_, int8_;
};

}  // namespace perfcast::ai
