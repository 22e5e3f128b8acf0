#pragma once
// Vector code that a program holds and the emulator never runs: libraries choose by the CPU, and the emulated one has
// AVX2 at the most. How much of what ran may be other code on a CPU with AVX-512.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace perfcast {

// Instructions that are directly followed by another one of their kind: code has many such pairs, data and chance
// hardly any. In pages of 4 KiB with fewer than four pairs they don't count.
struct WiderInstructions {
  size_t avx512_count = 0;  // 512-bit, EVEX-encoded
  size_t vnni_count = 0;    // sums of products of bytes and words, of any width; those of AVX-512 are also above
  size_t amx_count = 0;     // on tiles
  bool operator==(const WiderInstructions&) const = default;
};

// Of x86-64 machine code; `code` may be any bytes. Intel, Software Developer's Manual, volume 2, sections 2.6 and 2.7
// (EVEX), 5 (the instructions).
WiderInstructions wider_instructions(std::string_view code);

// Of the executable segments of an ELF file's bytes; absent where they are no x86-64 ELF file.
std::optional<WiderInstructions> wider_instructions_of_file(std::string_view file);

// What ran of one file, in all processes. Only x86-64 programs have any `vector_count`.
struct ExecutedFile {
  std::string path;  // empty: code that the program made itself
  double instructions_count = 0;
  double vector_count = 0;  // of those, in blocks with vector arithmetic
};

// Keys of WiderCode::counts.
inline constexpr std::array kWiderCodeKeys = {"vector_block_instructions", "wider_code_instructions",
                                              "wider_code_vnni_instructions", "wider_code_amx_instructions",
                                              "made_code_vector_instructions"};

struct WiderCode {
  std::map<std::string, double, std::less<>> counts;  // by key of the catalogue's sources
  std::string missing;                                // why there are none; else empty
  std::optional<ProfileWarning> warning;              // "wider-vectors": which files, and how much ran in them
};

// Reads the files that enough of the vector code ran in. The C library and the dynamic loader are left out: what they
// do with vectors is copy and search strings.
WiderCode find_wider_code(const std::vector<ExecutedFile>& files, double instructions_count);

}  // namespace perfcast
