#include "ai/llm/operator.h"

#include <cstddef>
#include <iterator>

namespace perfcast::ai {
namespace {

// In the order of the enumerations.
constexpr std::string_view kNames[] = {
    "token embedding",
    "patch embedding",
    "position embedding",
    "type embedding",
    "embedding all-reduce",
    "embedding norm",
    "attention norm",
    "qkv projection",
    "query projection",
    "key projection",
    "value projection",
    "mla query down",
    "mla query norm",
    "mla query up",
    "mla kv down",
    "mla kv norm",
    "mla kv up",
    "mla query absorb",
    "mla value absorb",
    "mamba in",
    "mamba convolution",
    "mamba step",
    "mamba scan",
    "mamba norm",
    "mamba out",
    "query-key norm",
    "rope",
    "cache write",
    "scores QK^T",
    "scores QK^T (window)",
    "scale and mask",
    "scale and mask (window)",
    "softmax",
    "softmax (window)",
    "values PV",
    "values PV (window)",
    "attention output",
    "attention all-reduce",
    "attention post-norm",
    "attention residual",
    "ffn norm",
    "ffn gate and up",
    "ffn gate",
    "ffn up",
    "ffn activation",
    "ffn down",
    "router",
    "routing",
    "experts gate and up",
    "experts gate",
    "experts up",
    "experts activation",
    "experts down",
    "experts combine",
    "shared gate and up",
    "shared gate",
    "shared up",
    "shared activation",
    "shared down",
    "shared expert gate",
    "ffn all-reduce",
    "ffn post-norm",
    "ffn residual",
    "final norm",
    "pooler",
    "pooler activation",
    "classifier",
    "language head",
    "logits all-gather",
    "loss",
    "optimizer",
};
static_assert(std::size(kNames) == static_cast<size_t>(OperatorName::kOptimizer) + 1);

constexpr std::string_view kKinds[] = {"gemm",      "attention-scores", "attention-values", "norm",
                                       "softmax",   "activation",       "elementwise",      "rope",
                                       "embedding", "routing",          "collective"};
static_assert(std::size(kKinds) == static_cast<size_t>(OperatorKind::kCollective) + 1);

constexpr std::string_view kPasses[] = {"forward", "input-gradient", "weight-gradient", "backward", "update"};
static_assert(std::size(kPasses) == static_cast<size_t>(OperatorPass::kUpdate) + 1);

}  // namespace

std::string_view name_of(OperatorName name) { return kNames[static_cast<size_t>(name)]; }
std::string_view name_of(OperatorKind kind) { return kKinds[static_cast<size_t>(kind)]; }
std::string_view name_of(OperatorPass pass) { return kPasses[static_cast<size_t>(pass)]; }

}  // namespace perfcast::ai
