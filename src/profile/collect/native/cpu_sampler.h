#pragma once
// Where a program's threads are while they run: the kernel interrupts each running thread some thousand times a second
// of CPU time (perf_event_open(2), the software event cpu-clock, which needs no hardware counter) and notes the
// address, the registers and the top of the stack.

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast {

inline constexpr size_t kMostReturns = 6;

// General registers, by the numbers of code_map.h.
#if defined(__x86_64__)
inline constexpr size_t kSampledRegisters = 16;
#else
inline constexpr size_t kSampledRegisters = 32;
#endif

struct CpuSample {
  pid_t process = 0, thread = 0;
  uint64_t time_ns = 0;  // of CLOCK_MONOTONIC
  uint64_t address =
      0;  // of the instruction that was interrupted; in the kernel: of the user code that called it, or 0
  bool in_kernel = false;
  std::array<uint64_t, kSampledRegisters> registers{};  // of user code, right before the instruction at the address
  std::vector<uint64_t> stack;                          // words from the stack pointer on
};

// A piece of a file that a process may execute.
struct CodeMapping {
  uint64_t start = 0, end = 0, file_offset_bytes = 0;
  std::string path;
};

// Mappings of one process, as time goes by; the newest that holds an address counts.
using CodeMappings = std::vector<CodeMapping>;

struct CpuSamples {
  std::vector<CpuSample> samples;         // in the order of time
  std::vector<uint32_t> mappings_of;      // of each sample: index of `mappings`
  std::vector<CodeMappings> mappings;     // of a process between two changes
  std::map<pid_t, std::string> programs;  // process: what it ran last, as the kernel names it
  double period_s = 0;                    // of CPU time that a sample stands for
  bool user_only = false;                 // the kernel may not be looked at: samples are of user code alone
  double lost_ratio = 0;                  // of the samples, where the reader was too slow
  uint64_t processes_started_count = 0, programs_started_count = 0, threads_started_count = 0;
};

class CpuSampler {
 public:
  explicit CpuSampler(double samples_per_s);
  ~CpuSampler();
  CpuSampler(const CpuSampler&) = delete;
  CpuSampler& operator=(const CpuSampler&) = delete;

  // To a child that stands still before its exec; samples it and all that it starts from then on. Error
  // "no-cpu-samples" with the reason, where the kernel allows none.
  Status attach(pid_t process);
  // To be called at least ten times a second while the program runs.
  void drain();
  // After its end.
  CpuSamples finish();

 private:
  struct Ring;
  struct Records;
  std::vector<std::unique_ptr<Ring>> rings_;
  std::unique_ptr<Records> records_;
  double samples_per_s_;
  bool user_only_ = false;
};

}  // namespace perfcast
