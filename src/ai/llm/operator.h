#pragma once
// One operator of a transformer, with the figures that a latency model needs. No allocation: a sweep builds millions.

#include <cstdint>
#include <string_view>

namespace perfcast::ai {

enum class OperatorKind : uint8_t {
  kGemm,             // m x k times k x n, weights on the right (the experts of a layer: `batch` such products)
  kAttentionScores,  // queries times keys, batch = sequences x heads
  kAttentionValues,  // attention weights times values
  kNorm,             // m rows of n values
  kSoftmax,          // m rows of n values
  kActivation,
  kElementwise,
  kRope,
  kEmbedding,  // a look-up of m rows of n values: no product is executed
  kRouting,
  kCollective,  // m rows of n values over all devices
};

enum class OperatorPass : uint8_t {
  kForward,
  kInputGradient,   // of a product: gradient of its input (of attention: of its left operand)
  kWeightGradient,  // of a product: gradient of its weights (of attention: of its right operand)
  kBackward,        // of what is no product
  kUpdate,          // the optimizer
};

// In the order of execution within a step.
enum class OperatorName : uint8_t {
  kTokenEmbedding,
  kPatchEmbedding,
  kPositionEmbedding,
  kTypeEmbedding,
  kEmbeddingAllReduce,
  kEmbeddingNorm,
  kAttentionNorm,
  kQkvProjection,
  kQueryProjection,
  kKeyProjection,
  kValueProjection,
  kMlaQueryDown,
  kMlaQueryNorm,
  kMlaQueryUp,
  kMlaKvDown,
  kMlaKvNorm,
  kMlaKvUp,
  kMlaQueryAbsorb,
  kMlaValueAbsorb,
  kMambaIn,
  kMambaConvolution,
  kMambaStep,
  kMambaScan,
  kMambaNorm,
  kMambaOut,
  kQkNorm,
  kRope,
  kCacheWrite,
  kScores,
  kWindowScores,
  kScaleMask,
  kWindowScaleMask,
  kSoftmax,
  kWindowSoftmax,
  kValues,
  kWindowValues,
  kAttentionOutput,
  kAttentionAllReduce,
  kAttentionPostNorm,
  kAttentionResidual,
  kFfnNorm,
  kFfnGateUp,
  kFfnGate,
  kFfnUp,
  kFfnActivation,
  kFfnDown,
  kRouter,
  kRouting,
  kExpertGateUp,
  kExpertGate,
  kExpertUp,
  kExpertActivation,
  kExpertDown,
  kExpertCombine,
  kSharedGateUp,
  kSharedGate,
  kSharedUp,
  kSharedActivation,
  kSharedDown,
  kSharedRoute,
  kFfnAllReduce,
  kFfnPostNorm,
  kFfnResidual,
  kFinalNorm,
  kPooler,
  kPoolerActivation,
  kClassifier,
  kLanguageHead,
  kLogitsAllGather,
  kLoss,
  kOptimizer,
};

std::string_view name_of(OperatorName name);
std::string_view name_of(OperatorKind kind);
std::string_view name_of(OperatorPass pass);

// Products have m, k, n; the rest m rows of n values with k = 0. All figures are of ONE launch on ONE device (of the
// tensor_parallel that share the model); the whole model does `count` such launches. Counts are doubles, exact up to
// 2^53. `macs` counts what is executed, so it may differ from m * k * n * batch: masked halves that are skipped, and
// experts whose share of the tokens is no whole number (there m is rounded up).
struct LlmOperator {
  OperatorName name = OperatorName::kTokenEmbedding;
  OperatorKind kind = OperatorKind::kGemm;
  OperatorPass pass = OperatorPass::kForward;
  int64_t m = 0, k = 0, n = 0;
  int64_t batch = 1;  // independent products in one launch
  int64_t count = 1;  // launches, over the layers
  double macs = 0;
  double flops = 0;         // 2 * macs for products; 1 for each addition, product, exponential, ... elsewhere
  double weight_bytes = 0;  // parameters read
  double input_bytes = 0, output_bytes = 0;  // activations read and written
  double kv_bytes = 0;                       // read from the cache, or written to it
  double link_bytes = 0;                     // sent by one device, for collectives (ring algorithm)

  double bytes() const { return weight_bytes + input_bytes + output_bytes + kv_bytes; }  // memory traffic
  double intensity() const { return bytes() > 0 ? flops / bytes() : 0; }                 // FLOP per byte
  double total_macs() const { return macs * static_cast<double>(count); }
  double total_flops() const { return flops * static_cast<double>(count); }
  double total_bytes() const { return bytes() * static_cast<double>(count); }
  bool is_product() const { return kind <= OperatorKind::kAttentionValues; }
};

}  // namespace perfcast::ai
