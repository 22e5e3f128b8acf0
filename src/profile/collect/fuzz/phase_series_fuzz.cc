// Any bytes in the place of the plugin's series: no crash; what is accepted has whole intervals and metrics of all of
// it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "profile/collect/qemu/phase_series.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const auto series = parse_phase_series({reinterpret_cast<const char*>(data), size}, "input");
  if (!series) return 0;
  std::vector<size_t> all;
  for (size_t i = 0; i < series->intervals.size(); ++i) {
    if (series->intervals[i].counts.size() != series->keys.size() || !(series->instructions(i) > 0)) std::abort();
    all.push_back(i);
  }
  for (const auto& [name, value] : interval_metrics(*series, all)) {
    if (!(value >= 0)) std::abort();
  }
  return 0;
}
