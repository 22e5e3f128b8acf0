#include "ai/llm/precision.h"

#include <iterator>

#include "base/text.h"

namespace perfcast::ai {
namespace {

// Block formats: bytes of a block with its scales over the values of a block, as ggml lays them out. The mixtures
// (_M, _S) give some tensors a wider format; theirs are averages over Llama 2 7B as llama.cpp's `quantize` states them.
constexpr PrecisionInfo kPrecisions[] = {
    {Precision::kFp32, false, "fp32", 32},
    {Precision::kTf32, false, "tf32", 32},
    {Precision::kFp16, false, "fp16", 16},
    {Precision::kBf16, false, "bf16", 16},
    {Precision::kFp8, false, "fp8", 8},
    {Precision::kInt8, false, "int8", 8},
    {Precision::kInt4, true, "int4", 4.125},  // with one fp16 scale for 128 values
    {Precision::kNvfp4, true, "nvfp4", 4.5},
    {Precision::kMxfp4, true, "mxfp4", 4.25},  // a byte for 16 values, for 32
    {Precision::kQ8_0, true, "q8_0", 8.5},
    {Precision::kQ6_K, true, "q6_k", 6.5625},
    {Precision::kQ5_K_M, true, "q5_k_m", 5.68},
    {Precision::kQ5_K_S, true, "q5_k_s", 5.52},
    {Precision::kQ5_0, true, "q5_0", 5.5},
    {Precision::kQ4_K_M, true, "q4_k_m", 4.84},
    {Precision::kQ4_K_S, true, "q4_k_s", 4.58},
    {Precision::kQ4_0, true, "q4_0", 4.5},
    {Precision::kQ3_K_M, true, "q3_k_m", 3.91},
    {Precision::kQ2_K, true, "q2_k", 3.35},
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

}  // namespace perfcast::ai
