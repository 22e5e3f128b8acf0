#pragma once
// Bandwidths and latencies of this machine's caches and memory under the names of platform facts, measured as those of
// the published servers were: every fourth word read or written by all CPUs at once, each in an array of its own, and
// a random chain of cache lines followed by one of them.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace perfcast {

struct MemoryFacts {
  // "bwmem_rd_16kib_per_vcpu_bytes_per_s" (rd, wr, rdwr; 16kib, 256kib, 64mb, 256mb), "membench_latency_32kib_ns"
  // (32kib, 512kib). Of caches those alone that lie well inside of the second level: others may be shared.
  std::map<std::string, double> facts;
  std::vector<std::string> left_out;  // names of those that should be known and did not repeat, or were not measured
  std::vector<std::string> notes;     // what could not be measured, and why
  int cpus_count = 0;
  double took_s = 0;
};

// One reading of a fact: the best of several short runs.
struct FactReading {
  double value = 0;
  double cpu_ratio = 1;  // of its time, that its threads had their CPUs
};
// The best reading that another one confirms to 15%, of those whose threads had their CPUs for four fifths of the time;
// none: nothing repeats. more_is_better: of bandwidths, not of latencies.
std::optional<double> repeated_fact(std::vector<FactReading> readings, bool more_is_better);

// Two readings of each, a third and a fourth of what doesn't repeat, in some two seconds on a machine at rest; what
// isn't begun after eight is left out, with a note, and so are facts that don't repeat and arrays that would take more
// than two fifths of the memory that is free.
MemoryFacts measure_memory_facts();

}  // namespace perfcast
