// Any bytes: no crash; what is accepted derives finite values only.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/metrics/catalogue.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto catalogue = perfcast::Catalogue::parse({reinterpret_cast<const char*>(data), size}, "input");
  if (!catalogue) return 0;
  perfcast::MetricValues counters;
  for (const auto& metric : catalogue->metrics()) {
    if (metric.kind == "counter") counters[metric.name] = static_cast<double>(counters.size());
  }
  for (const auto& [name, value] : catalogue->derive(counters)) {
    if (!std::isfinite(value)) std::abort();
  }
  if (perfcast::catalogue_as_markdown(*catalogue).empty()) std::abort();
  return 0;
}
