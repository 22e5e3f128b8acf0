#pragma once
// How values are stored, and what of it counts for bytes.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfcast::ai {

enum class Precision {
  kFp32,
  kTf32,
  kFp16,
  kBf16,
  kFp8,
  kInt8,
  kInt4,
  kNvfp4,
  kMxfp4,
  // Block formats of GGUF files, with their scales; the _M and _S mixtures are averages over Llama 2 7B.
  kQ8_0,
  kQ6_K,
  kQ5_K_M,
  kQ5_K_S,
  kQ5_0,
  kQ4_K_M,
  kQ4_K_S,
  kQ4_0,
  kQ3_K_M,
  kQ2_K,
};

struct PrecisionInfo {
  Precision precision;
  bool weights_only;  // a format of weights, not of activations
  std::string_view name;
  double bits_per_value;  // tf32 is stored as fp32
};

const PrecisionInfo& info(Precision precision);
// By name, case-insensitive; none where there is no such precision.
std::optional<Precision> precision_named(std::string_view name);
std::vector<std::string> precision_names();

inline double bytes_per_value(Precision precision) { return info(precision).bits_per_value / 8; }

}  // namespace perfcast::ai
