// Any bytes: no crash; a price that is given is above 0.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "program/explain/prices.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::program;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const PriceOptions& options : {PriceOptions(), PriceOptions{.spot = true, .region = "eu-west-1"}}) {
    const auto prices = PriceList::parse(text, "input", options);
    if (!prices) continue;
    const auto price = prices->per_hour("aws", "m7i.large");
    if (price && !(*price > 0)) std::abort();
    prices->source_in_words();
  }
  return 0;
}
