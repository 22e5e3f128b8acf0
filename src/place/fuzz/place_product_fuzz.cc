// Any bytes: no crash; a product that is accepted has sides within the limits, and none other than it looked like.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "place/workload/place_product.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::place;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool looks = looks_like_product(text);
  const auto product = parse_product(text);
  if (!product) return 0;
  if (!looks) std::abort();
  for (const int64_t side : {product->m, product->n, product->k}) {
    if (side < 1 || side > kLongestSide) std::abort();
  }
  if (ai::info(product->precision).weights_only || !(product->bytes() > 0) || !(product->operations() > 0))
    std::abort();
  return 0;
}
