// What the programs with a planted bottleneck share. Each is compiled twice: PLANTED_MENDED is 0 in the slow one, 1 in
// the other, and both print the same checksum.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#ifndef PLANTED_MENDED
#define PLANTED_MENDED 0
#endif

namespace planted {

constexpr bool kMended = PLANTED_MENDED != 0;

// splitmix64's finaliser: a few cycles of arithmetic that no compiler shortens.
inline uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// The same numbers in every run.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15); }
  uint64_t below(uint64_t bound) { return (next() >> 32) * bound >> 32; }  // bound < 2^32

 private:
  uint64_t state_;
};

// What main returns.
inline int print_checksum(uint64_t checksum) {
  std::printf("checksum %016llx\n", static_cast<unsigned long long>(checksum));
  return EXIT_SUCCESS;
}

// CPUs that this process may use.
inline unsigned cpus() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

// TMPDIR or /tmp, or this folder where that is held in memory.
inline const char* temporary_folder() {
  constexpr long kTmpfs = 0x01021994;
  const char* variable = std::getenv("TMPDIR");
  const char* folder = variable != nullptr && *variable == '/' ? variable : "/tmp";
  struct statfs facts;
  return statfs(folder, &facts) == 0 && facts.f_type != kTmpfs ? folder : ".";
}

// A file without a name, which goes with its descriptor.
inline int temporary_file() {
  std::string path = std::string(temporary_folder()) + "/planted-XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) {
    std::perror(path.c_str());
    std::exit(EXIT_FAILURE);
  }
  unlink(path.c_str());
  return file;
}

// Both end the program where the system refuses.
inline void write_all(int file, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = write(file, at, size);
    if (done <= 0) {
      std::perror("write");
      std::exit(EXIT_FAILURE);
    }
    at += done;
    size -= static_cast<size_t>(done);
  }
}

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::perror(what);
  std::exit(EXIT_FAILURE);
}

}  // namespace planted
