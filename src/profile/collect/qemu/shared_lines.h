#pragma once
// Lines that several threads write, as the QEMU plugin saw them; plugin/README.md describes the file.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

// A thread that touches a line, and what it does there.
struct LineUser {
  int64_t thread = 0;  // from 1; kSeveralThreads: all beyond the first three
  double writes_count = 0, reads_count = 0;
  double atomic_count = 0;         // of the writes
  uint64_t written = 0, read = 0;  // a bit for each byte of the line
  std::string file;                // of the code that writes it most, or reads it where it only reads; empty: unknown
  uint64_t file_offset_bytes = 0;
};
inline constexpr int64_t kSeveralThreads = INT32_MAX;

struct SharedCacheLine {
  uint64_t address = 0;
  double transfers_count = 0;  // accesses that found it in another core's cache, had each thread a core
  double of_data_count = 0;    // of them, those of bytes that another thread wrote last
  std::vector<LineUser> users;

  // Hardly ever is a byte wanted that another thread wrote: it is shared for lying together alone.
  bool is_false_sharing() const { return of_data_count < 0.1 * transfers_count; }
  double accesses_count() const;
  // Of all users but the one that has most: what there is to contend with.
  double contended_count() const;
  double writes_count() const;
  double atomic_count() const;
};

struct SharedLines {
  double accesses_count = 0;           // loads and stores that were looked at: from the second thread on, in windows
  double dropped_count = 0;            // of them, those that the table had no room for
  std::vector<SharedCacheLine> lines;  // written by at least two threads; most contended first
  // What another process of the run saw.
  void add(const SharedLines& other);
};

// Strict: an unknown version, a line that is no such line, a missing end are errors ("bad-shared-lines").
Result<SharedLines> parse_shared_lines(std::string_view text, const std::string& source);

}  // namespace perfcast
