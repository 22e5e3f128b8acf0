#pragma once
// What one process did with OpenCL, and the file that says so.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profile/collect/oclgrind/plugin/launch.h"

namespace perfcast::kernels {

struct KernelRecord {
  std::string name;
  uint64_t launches = 0, items = 0;  // of all launches
  std::vector<LaunchResult> counted;
};

struct Transfers {
  uint64_t count = 0, bytes = 0;
};

struct Record {
  bool cut = false;        // by the time limit
  std::string cut_kernel;  // that ran then; empty: none
  uint64_t launches = 0;
  Transfers to_device, from_device;
  uint64_t device_memory_bytes = 0;  // most that was allocated at a time
  double start_cpu_s = 0, kernel_cpu_s = 0, build_cpu_s = 0;
  uint64_t errors = 0, races = 0;  // that Oclgrind reports
  std::string first_error;
  std::vector<KernelRecord> kernels;  // in the order of their first launches

  KernelRecord& of(const std::string& name);
  bool empty() const;
};

// Whether launch `number` of a kernel is counted: of the first ones all, later ever fewer.
bool is_counted(uint64_t number);

double process_cpu_s();
// Whole or not at all; false where that failed.
bool write_record(const Record& record, const std::string& path);

}  // namespace perfcast::kernels
