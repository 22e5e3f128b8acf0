#pragma once
// The header of a safetensors file: eight bytes of length, JSON, then the tensors' bytes
// (https://github.com/huggingface/safetensors, "Format"). Untrusted input.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::ai {

enum class SafeTensorType : uint8_t { kF64, kF32, kF16, kBf16, kOther };

struct SafeTensor {
  SafeTensorType type = SafeTensorType::kOther;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // bytes of the file
};

struct SafeTensors {
  std::map<std::string, SafeTensor, std::less<>> tensors;
};

// What such a header may take, as the format has it.
inline constexpr uint64_t kLargestTensorHeader = 100'000'000;

// `bytes`: the beginning of the file, at least all of the header; `file_bytes`: the whole file's length.
// "safetensors-truncated" where the header goes on behind `bytes`, "bad-safetensors" names the tensor that has no
// place, a size that isn't its shape's, or one that overlaps another.
Result<SafeTensors> parse_safetensors(std::string_view bytes, uint64_t file_bytes, const std::string& source);

// One value as it stands in a file.
float half_to_float(uint16_t bits);
inline float bf16_to_float(uint16_t bits) { return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16); }

}  // namespace perfcast::ai
