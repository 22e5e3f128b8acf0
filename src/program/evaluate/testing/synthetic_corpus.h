#pragma once
// A small world whose times follow from counters, for tests: no tool, no outside data, the same on every machine.

#include <cstdint>

#include "program/corpus/corpus.h"

namespace perfcast::program {

struct SyntheticOptions {
  int64_t families = 8, programs_per_family = 3, platforms = 6, servers_per_platform = 4;
  double server_noise_log = 0.01;  // standard deviation between servers of a platform
  uint64_t seed = 7;
};

// Groups "compressor" and "user", in turns. Platforms "Example 100", "Example 200", ... of two vendors and two
// architectures. Every program has a profile with all counters of the catalogue that a run under an instrumenter gives,
// and its time on a platform is the sum of some of its events times that platform's costs.
Corpus synthetic_corpus(const SyntheticOptions& options);

// A program of no family above: the same world, other counters.
Profile synthetic_profile(const SyntheticOptions& options, uint64_t seed);

}  // namespace perfcast::program
