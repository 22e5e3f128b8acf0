#include "workload/llm/precision.h"

#include <iterator>

#include "base/text.h"

namespace perfcast {
namespace {

// Block formats: bytes of a block with its scales over the values of a block, as ggml lays them out. The mixtures
// (_M, _S) give some tensors a wider format; theirs are averages over Llama 2 7B as llama.cpp's `quantize` states them.
constexpr PrecisionInfo kPrecisions[] = {
    {Precision::kFp32, "fp32", 32, false},      {Precision::kTf32, "tf32", 32, false},
    {Precision::kFp16, "fp16", 16, false},      {Precision::kBf16, "bf16", 16, false},
    {Precision::kFp8, "fp8", 8, false},         {Precision::kInt8, "int8", 8, false},
    {Precision::kInt4, "int4", 4.125, true},  // with one fp16 scale for 128 values
    {Precision::kQ8_0, "q8_0", 8.5, true},      {Precision::kQ6_K, "q6_k", 6.5625, true},
    {Precision::kQ5_K_M, "q5_k_m", 5.68, true}, {Precision::kQ5_K_S, "q5_k_s", 5.52, true},
    {Precision::kQ5_0, "q5_0", 5.5, true},      {Precision::kQ4_K_M, "q4_k_m", 4.84, true},
    {Precision::kQ4_K_S, "q4_k_s", 4.58, true}, {Precision::kQ4_0, "q4_0", 4.5, true},
    {Precision::kQ3_K_M, "q3_k_m", 3.91, true}, {Precision::kQ2_K, "q2_k", 3.35, true},
};

}  // namespace

const PrecisionInfo& info(Precision precision) { return kPrecisions[static_cast<size_t>(precision)]; }

std::optional<Precision> precision_named(std::string_view name) {
  const std::string wanted = lower_case(name);
  for (const PrecisionInfo& each : kPrecisions) {
    if (wanted == each.name) return each.precision;
  }
  return std::nullopt;
}

std::vector<std::string> precision_names() {
  std::vector<std::string> names;
  names.reserve(std::size(kPrecisions));
  for (const PrecisionInfo& each : kPrecisions) names.emplace_back(each.name);
  return names;
}

}  // namespace perfcast
