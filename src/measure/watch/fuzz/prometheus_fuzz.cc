// Any bytes as an endpoint's answer, twice: no crash, columns bounded.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "measure/watch/prometheus.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::measure;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  RowBlock block(16, 1);
  PrometheusReader reader;
  for (const double time_s : {1.0, 2.0}) static_cast<void>(reader.take(text, time_s, block));
  if (block.names().size() > 16) std::abort();
  return 0;
}
