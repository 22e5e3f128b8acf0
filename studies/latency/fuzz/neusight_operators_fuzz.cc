// Any bytes as a table of operator latencies: no crash; what is accepted has sizes and times above zero.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "studies/latency/neusight_data.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai::latency_study;
  const auto table = parse_neusight_operators({reinterpret_cast<const char*>(data), size}, "input");
  if (!table) return 0;
  for (const NeusightProduct& row : table->products) {
    if (!(row.seconds > 0) || !(row.shape.m >= 1) || !(row.shape.k >= 1) || !(row.shape.n >= 1)) std::abort();
  }
  for (const NeusightVector& row : table->vectors) {
    if (!(row.seconds > 0) || !(row.rows >= 1) || !(row.columns >= 1)) std::abort();
  }
  return 0;
}
