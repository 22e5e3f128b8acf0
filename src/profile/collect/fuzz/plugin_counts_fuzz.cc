// Any bytes in the place of the plugin's counts: no crash; what is accepted adds up with itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/collect/qemu/plugin_counts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const auto counts = parse_plugin_counts({reinterpret_cast<const char*>(data), size}, "input");
  if (!counts) return 0;
  const auto sum = join_plugin_counts({*counts, *counts}, {1, 2.5}, "input");
  if (counts->group > 1) return sum ? (std::abort(), 0) : 0;
  if (!sum || sum->counts.at("instructions") < static_cast<double>(counts->counts.at("instructions"))) std::abort();
  return 0;
}
