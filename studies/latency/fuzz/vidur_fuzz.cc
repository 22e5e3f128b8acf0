// Any bytes as Vidur's two tables: no crash; what is accepted has sizes and times above zero.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "studies/latency/vidur_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai::latency_study;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto profile = parse_vidur_layers(text, "input")) {
    for (const VidurProduct& row : profile->products) {
      if (!(row.shape.m > 0 && row.shape.k > 0 && row.shape.n > 0 && row.seconds > 0)) std::abort();
      if (row.device >= profile->devices.size() || row.model >= profile->models.size()) std::abort();
    }
    for (const VidurVector& row : profile->vectors) {
      if (!(row.shape.rows > 0 && row.shape.columns > 0 && row.seconds > 0)) std::abort();
    }
  }
  if (const auto rows = parse_vidur_all_reduces(text, "input")) {
    for (const VidurAllReduce& row : *rows) {
      if (!(row.bytes > 0 && row.seconds > 0) || row.workers < 1) std::abort();
    }
  }
  return 0;
}
