#pragma once
// Loops that touch every fourth 32-bit word of an array, and wait for nothing: how published bandwidths of caches and
// memory are measured, as scalar programs see them. Of wider reads see read_loops.h.

#include <cstddef>
#include <cstdint>

namespace perfcast {

inline constexpr size_t kTouchApart = 4;  // words: of so many one is touched
inline constexpr size_t kTouchStep = 64;  // words; arrays are multiples of it

// `passes` times over the whole array. Returns the sum of all words that were read.
uint32_t read_fourths(const uint32_t* array, size_t words, int64_t passes);
// Stores `value`.
void write_fourths(uint32_t* array, size_t words, int64_t passes, uint32_t value);
// Both: returns the sum, and stores `value`.
uint32_t read_write_fourths(uint32_t* array, size_t words, int64_t passes, uint32_t value);

// A chain through an array of lines in a random cycle: array[i] is the index of the word to read next. `steps` of it
// from word `from`; returns the word where it ends.
uint32_t follow_chain(const uint32_t* array, uint32_t from, int64_t steps);

}  // namespace perfcast
