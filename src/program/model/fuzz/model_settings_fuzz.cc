// Any bytes as the settings of a training: no crash; what a family takes it gives back, and takes again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "program/model/predictor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::program;
  const auto json = parse_json({reinterpret_cast<const char*>(data), size}, "input");
  if (!json || !json->is_object()) return 0;
  for (const char* family : {"dwn", "vae-dnn", "mean"}) {
    const auto predictor = make_predictor(family);
    if (!predictor || !(*predictor)->configure(*json, "input")) continue;
    const Json settings = (*predictor)->settings();
    const auto again = make_predictor(family);
    if (!again || !(*again)->configure(settings, "again") || (*again)->settings() != settings) std::abort();
  }
  return 0;
}
