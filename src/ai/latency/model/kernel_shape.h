#pragma once
// What a kernel of a language model is timed by: its kind, the format of what it reads most, and its sizes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace perfcast::ai {

enum class KernelKind : uint8_t {
  kProduct,  // out[m,n] = x[m,k] w[n,k]
  kPrefill,  // attention of whole prompts, causal
  kDecode,   // attention of one new token in each sequence
  kExperts,  // the products of a layer's routed experts, with what sorts tokens to them
};
inline constexpr size_t kKernelKinds = 4;

// Of weights and the values multiplied with them; of attention, of the cache (it computes in half precision).
enum class KernelFormat : uint8_t { kHalf, kFp8, kFp8Block, kFp4 };
inline constexpr size_t kKernelFormats = 4;

inline constexpr size_t kKernelSizes = 8;
struct ProductAxis {
  enum : size_t { kM, kN, kK };
};
struct AttentionAxis {
  enum : size_t {
    kBatch,
    kLength,
    kHeads,
    kKvHeads,
    kHeadDim,
    kWindow
  };  // length: tokens in the cache; window 0: none
};
struct ExpertsAxis {
  // tokens of all devices that share the experts; inner size of one expert as a whole; the exponent of the power law by
  // which tokens fall to experts, 0: evenly.
  enum : size_t { kTokens, kHidden, kInner, kChosen, kExperts, kTensorParallel, kExpertParallel, kSkew };
};

struct KernelShape {
  KernelKind kind = KernelKind::kProduct;
  KernelFormat format = KernelFormat::kHalf;
  std::array<double, kKernelSizes> size = {};  // by the axes of the kind; the others are 0

  bool operator==(const KernelShape&) const = default;
};

inline KernelShape product_kernel(double m, double n, double k, KernelFormat format = KernelFormat::kHalf) {
  return {KernelKind::kProduct, format, {m, n, k}};
}

std::string_view name_of(KernelKind kind);      // "products", "attention of prompts", "attention of tokens", "experts"
std::string_view name_of(KernelFormat format);  // "half", "fp8", "fp8 in blocks", "fp4"

}  // namespace perfcast::ai
