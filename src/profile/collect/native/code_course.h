#pragma once
// Where a native run's CPU time went, sample by sample: which piece of which file ran, and how much was read and
// written by then. The series of an instrumented run (profile/collect/qemu/phase_series.h) tells code apart by the same
// places.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

class CpuSampler;

// Pieces of 256 bytes of files, by a hash; place 0: code of no file, or nothing that is known.
inline constexpr size_t kCodePlaces = 512;
uint16_t code_place(std::string_view path, uint64_t file_offset_bytes);

// Bytes that the run's processes had read and written by the time of a sample, by their system calls.
struct IoMark {
  size_t samples_before = 0;
  double bytes = 0;
};

// A byte of a file that was run.
struct CodePosition {
  std::string file;
  uint64_t offset_bytes = 0;
  auto operator<=>(const CodePosition&) const = default;
};
inline constexpr uint32_t kNoCodePosition = UINT32_MAX;

// Of the process with most CPU time in one run.
struct CodeCourse {
  std::string program;           // as the kernel names it, 15 characters at the most
  double period_s = 0;           // of CPU time that a sample stands for
  double process_ratio = 0;      // of the run's samples, those of this process
  std::vector<uint16_t> places;  // of each sample, in the order of time
  std::vector<IoMark> io;        // never falling
  // Each position that a sample was at, once; of each sample its index there, or kNoCodePosition: code of no file.
  std::vector<CodePosition> positions;
  std::vector<uint32_t> position_of;
};

class CodeCourseWatch {
 public:
  CodeCourseWatch();
  ~CodeCourseWatch();
  CodeCourseWatch(const CodeCourseWatch&) = delete;
  CodeCourseWatch& operator=(const CodeCourseWatch&) = delete;

  // As CpuSampler's; look() with ProcessRequest::on_look's arguments.
  Status attach(pid_t process);
  void look(const std::vector<pid_t>& processes);
  // Of a run that took `cpu_s`. Without samples: no places.
  CodeCourse finish(double cpu_s);

 private:
  struct Look {
    uint64_t time_ns = 0;
    pid_t process = 0;
    double bytes = 0;
  };
  std::unique_ptr<CpuSampler> sampler_;
  std::vector<Look> looks_;
};

}  // namespace perfcast
