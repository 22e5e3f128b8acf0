#pragma once
// Bandwidths and latencies of this machine's caches and memory under the names of platform facts, measured as those of
// the published servers were: every fourth word read or written by all CPUs at once, each in an array of its own, and
// a random chain of cache lines followed by one of them.

#include <map>
#include <string>
#include <vector>

namespace perfcast {

struct MemoryFacts {
  // "bwmem_rd_16kib_per_vcpu_bytes_per_s" (rd, wr, rdwr; 16kib, 256kib, 64mb, 256mb), "membench_latency_32kib_ns"
  // (32kib, 512kib). Of caches those alone that lie well inside of the second level: others may be shared.
  std::map<std::string, double> facts;
  std::vector<std::string> notes;  // what could not be measured, and why
  int cpus_count = 0;
  double took_s = 0;
};

// The best of several short runs each, in some two seconds; what isn't begun after five is left out, with a note, and
// so are arrays that would take more than two fifths of the memory that is free.
MemoryFacts measure_memory_facts();

}  // namespace perfcast
