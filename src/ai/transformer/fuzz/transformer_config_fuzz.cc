// Any bytes: no crash; what is accepted can be run, and says what memory it takes.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/transformer/transformer_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto model = parse_transformer_config({reinterpret_cast<const char*>(data), size}, "input");
  if (!model) return 0;
  if (!check_transformer(model->config)) std::abort();
  if (!(model->norm_epsilon >= 0) || !(model->rope_theta >= 1) || !std::isfinite(model->rope_theta)) std::abort();
  for (const Precision precision : {Precision::kFp32, Precision::kInt8}) {
    TransformerOptions options;
    options.precision = precision;
    options.context = 1;
    const double bytes = memory_for(*model, options).total_bytes();
    if (!std::isfinite(bytes) || !(bytes > 0)) std::abort();
  }
  return 0;
}
