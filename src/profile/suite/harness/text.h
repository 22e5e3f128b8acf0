#pragma once
// Text that compressors see as English prose: the same bytes for the same seed on every machine, free of any licence.

#include <cstddef>
#include <cstdint>
#include <string>

namespace perfcast::harness {

inline constexpr uint64_t kTextSeed = 20240229;

// Words follow Zipf's law, neighbours depend on each other, sentences and paragraphs have the lengths of a novel's.
// Compressors reach about the ratios that they reach on a 10 MB English novel (gzip -9 2.6, bzip2 -9 3.5, lz4 -1 1.6).
std::string generate_text(size_t bytes, uint64_t seed = kTextSeed);

}  // namespace perfcast::harness
