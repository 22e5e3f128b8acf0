#include "program/model/scaling/slowdown_columns.h"

#include <algorithm>
#include <cmath>

namespace perfcast::program {
namespace {

constexpr double kClockHz = 3e9;  // of any: what it costs is fitted
constexpr double kLineBytes = 64, kPageBytes = 4096;
constexpr double kL3MissS = 80e-9, kL1MissCycles = 12, kL2MissCycles = 40;
constexpr double kMostIpc = 8, kUsualWidth = 4;
constexpr double kSizeScale = 7;                   // log2 of 128 vCPUs
constexpr double kLargeFrom = 5, kLargeScale = 2;  // beyond 32 copies, in log2
constexpr double kFaultsPerS = 1e6, kCopiesScale = 64;

enum SlowdownColumn {
  kOne,
  kSizeIntel,
  kSizeAmd,
  kSizeArm,
  kLargeIntel,
  kLargeAmd,
  kLargeArm,
  kSiblingIntel,
  kSiblingAmd,
  kSiblingIpcIntel,
  kSiblingIpcAmd,
  kSiblingIntegerIntel,
  kSiblingIntegerAmd,
  kSiblingL1,
  kSiblingL2,
  kRandomL3,
  kBandwidth,
  kKernel,
  kFaultBandwidth,
  kFaults,
  kFaultsArm,
  kFloating,
  kFloatingIpc,
  kColumns
};

// All that the columns are made of.
struct Quantities {
  const ProgramLoad& load;
  const MachineFacts& machine;
  double rate_per_s, log2_copies, large;
  double cache_of_copy, cache_alone;  // bytes
  double ipc, bandwidth, faults;

  explicit Quantities(const CopiesOnMachine& copies)
      : load(*copies.load),
        machine(*copies.machine),
        rate_per_s(1 / copies.time_s),
        log2_copies(std::log2(copies.copies)),
        large(std::max(0.0, log2_copies - kLargeFrom) / kLargeScale),
        cache_of_copy(std::max(machine.l2_bytes, machine.l3_bytes * machine.l3_instances_count / copies.copies)),
        cache_alone(std::max(machine.l2_bytes, machine.l3_bytes)),
        ipc(std::min(rate_per_s * load.instructions / kClockHz / std::max(1 - load.kernel_ratio, 0.05), kMostIpc) *
            (1 - load.kernel_ratio)),
        bandwidth(copies.copies * rate_per_s * kLineBytes * (load.reads(cache_of_copy) + load.writes(cache_of_copy)) /
                  machine.memory_read_bytes_per_s),
        faults(load.page_faults * rate_per_s / kFaultsPerS) {}
};

}  // namespace

double CopiesOnMachine::sharing() const {
  if (!machine->siblings || copies <= machine->cores) return 0;
  return std::clamp(2 * (copies - machine->cores) / copies, 0.0, 1.0);
}

const std::vector<std::string>& slowdown_column_names() {
  static const std::vector<std::string> names = {"one",
                                                 "size_intel",
                                                 "size_amd",
                                                 "size_arm",
                                                 "large_intel",
                                                 "large_amd",
                                                 "large_arm",
                                                 "sibling_intel",
                                                 "sibling_amd",
                                                 "sibling_ipc_intel",
                                                 "sibling_ipc_amd",
                                                 "sibling_integer_intel",
                                                 "sibling_integer_amd",
                                                 "sibling_l1",
                                                 "sibling_l2",
                                                 "random_l3",
                                                 "sqrt_bandwidth",
                                                 "kernel",
                                                 "fault_bandwidth",
                                                 "faults",
                                                 "faults_arm",
                                                 "floating",
                                                 "floating_ipc"};
  return names;
}

Eigen::VectorXd slowdown_columns(const CopiesOnMachine& copies) {
  const Quantities q(copies);
  const MachineFacts& machine = q.machine;
  const ProgramLoad& load = q.load;
  const double sharing = copies.sharing(), user = 1 - load.kernel_ratio;
  const bool is_intel = machine.make == MachineFacts::Make::kIntel, is_amd = machine.make == MachineFacts::Make::kAmd,
             is_arm = machine.make == MachineFacts::Make::kArm;
  // What a copy misses more with half of its core's cache.
  const auto halved = [&](double bytes) { return std::max(load.reads(bytes / 2) - load.reads(bytes), 0.0); };
  Eigen::VectorXd x = Eigen::VectorXd::Zero(kColumns);
  x(kOne) = 1;
  const double size = q.log2_copies / kSizeScale;
  if (is_intel || is_amd || is_arm) {
    x(is_intel ? kSizeIntel : is_amd ? kSizeAmd : kSizeArm) = size;
    x(is_intel ? kLargeIntel : is_amd ? kLargeAmd : kLargeArm) = q.large;
  }
  if (is_intel || is_amd) {
    x(is_intel ? kSiblingIntel : kSiblingAmd) = sharing;
    x(is_intel ? kSiblingIpcIntel : kSiblingIpcAmd) = sharing * q.ipc / kUsualWidth;
    x(is_intel ? kSiblingIntegerIntel : kSiblingIntegerAmd) =
        sharing * (1 - std::min(1.0, 2 * load.float_ratio)) * user;
  }
  x(kSiblingL1) = sharing * halved(machine.l1d_bytes) * kL1MissCycles / kClockHz * q.rate_per_s;
  x(kSiblingL2) = sharing * halved(machine.l2_bytes) * kL2MissCycles / kClockHz * q.rate_per_s;
  x(kRandomL3) =
      std::max(load.random_reads(q.cache_of_copy) - load.random_reads(q.cache_alone), 0.0) * kL3MissS * q.rate_per_s;
  x(kBandwidth) = std::sqrt(std::max(q.bandwidth, 0.0));
  x(kKernel) = load.kernel_ratio * size;
  x(kFaultBandwidth) = copies.copies * q.rate_per_s * load.page_faults * kPageBytes / machine.memory_read_bytes_per_s;
  x(kFaults) = q.faults * copies.copies / kCopiesScale;
  x(kFaultsArm) = is_arm ? x(kFaults) : 0;
  if (machine.floats) {
    x(kFloating) = q.large;
    x(kFloatingIpc) = q.large * q.ipc / kUsualWidth;
  }
  return x;
}

Eigen::VectorXd signature(const CopiesOnMachine& copies) {
  const Quantities q(copies);
  Eigen::VectorXd z(kSignatureSize);
  const auto log10_above = [](double value, double floor) { return std::log10(std::max(value, floor)); };
  z << std::log(std::max(q.ipc, 0.05)), 2 * q.load.float_ratio, 2 * q.load.kernel_ratio, log10_above(q.bandwidth, 1e-4),
      log10_above(q.load.page_faults * q.rate_per_s, 10), 100 * q.load.mispredicted_ratio,
      log10_above(q.load.random_reads(q.cache_of_copy) * q.rate_per_s * kL3MissS, 1e-4),
      log10_above(q.load.reads(q.cache_alone) * q.rate_per_s * kL3MissS, 1e-4);
  return z;
}

double bandwidth_demand(const CopiesOnMachine& copies) { return Quantities(copies).bandwidth; }

}  // namespace perfcast::program
