// Libraries bring functions in several variants and choose by the processor: of a name's parts the first that is one of
// a processor or of its instructions ends the common name.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "measure/diagnose/bloat/elf_code.h"

namespace perfcast::measure {
namespace {

// By glibc, OpenBLAS, zlib-ng, libjpeg-turbo, dav1d, x264 and their like; in lower case. Those that end in '*' may go
// on.
constexpr std::array<std::string_view, 58> kProcessorWords = {
    "sse",        "sse2",       "sse3",        "ssse3",     "sse4",       "sse41",       "sse42",
    "sse4a",      "avx",        "avx1",        "avx2",      "avx512*",    "evex*",       "erms",
    "rtm",        "fma",        "fma3",        "fma4",      "bmi",        "bmi1",        "bmi2",
    "lzcnt",      "popcnt",     "aesni",       "pclmul*",   "vnni",       "amx",         "mmx",
    "mmxext",     "x86",        "haswell",     "skylake*",  "zen",        "sandybridge", "nehalem",
    "barcelona",  "prescott",   "penryn",      "core2",     "dunnington", "atom",        "bobcat",
    "bulldozer",  "piledriver", "steamroller", "excavator", "opteron",    "cooperlake",  "sapphirerapids",
    "neon",       "sve",        "sve2",        "mops",      "falkor",     "thunderx*",   "neoversen1",
    "neoversev1", "armv8*"};

bool is_processor(std::string_view word) {
  return std::any_of(kProcessorWords.begin(), kProcessorWords.end(), [&](std::string_view known) {
    return known.ends_with('*') ? word.starts_with(known.substr(0, known.size() - 1)) : word == known;
  });
}

}  // namespace

std::string variant_of(const std::string& function) {
  const std::string lower = lower_case(function);
  for (size_t at = lower.find('_', 1); at != std::string::npos; at = lower.find('_', at + 1)) {
    const size_t end = std::min(lower.find_first_of("_.@(", at + 1), lower.size());
    // What is in front of it must be more than underscores.
    if (is_processor(std::string_view(lower).substr(at + 1, end - at - 1)) && lower.find_first_not_of('_') < at)
      return function.substr(0, at);
  }
  return "";
}

}  // namespace perfcast::measure
