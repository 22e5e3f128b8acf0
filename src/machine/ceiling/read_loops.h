#pragma once
// Loops that read an array from end to end and do nothing else with it: how fast one core is fed.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace perfcast {

struct ReadLoop {
  std::string isa;  // name of cpu_isa.h
  // All `words` of an array, `passes` times; `words` is a multiple of kReadStep, the array begins on a cache line.
  // Returns the exclusive or of all words that were read: 0 for an even number of passes.
  uint64_t (*run)(const uint64_t* array, size_t words, int64_t passes);
};
inline constexpr size_t kReadStep = 128;  // words, 1 KiB

// Those that this CPU can run, the widest first; never empty.
const std::vector<ReadLoop>& read_loops();

// Takes an array out of all caches, so that the next one to read it waits for memory. False where this build can't.
bool drop_from_caches(const uint64_t* array, size_t words);

}  // namespace perfcast
