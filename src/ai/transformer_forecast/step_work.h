#pragma once
// A step of a transformer as what its operators ask of this machine: those that build_operators() lists, with what the
// implementation makes of each.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ai/llm/operator_graph.h"
#include "ai/transformer/kernel/transformer_kernels.h"
#include "base/result.h"

namespace perfcast::ai {

// One prefill or decode step: `tokens` is the prompt's length of each sequence, or in decode what each new token
// attends to, itself included.
struct StepPoint {
  LlmPhase phase = LlmPhase::kPrefill;
  int64_t batch = 1, tokens = 1;
};

// How an operator's time follows from its work.
enum class WorkForm : uint8_t { kFewRows, kManyRows, kAttention, kRows, kRest };

// Figures of one launch; those that a form doesn't use are 0.
struct OperatorWork {
  OperatorName name = OperatorName::kTokenEmbedding;  // of the step's rest: kLoss, which inference has none of
  WorkForm form = WorkForm::kRows;
  double count = 1;  // launches of the step
  // Products: padded rows, inputs, columns and calls of the library; weights that are read.
  double rows = 0, inputs = 0, panels = 0, calls = 0, weight_bytes = 0;
  // Attention; its rows are those of scores.
  double tasks = 0, softmax_values = 0, kv_bytes = 0;
  std::array<double, static_cast<size_t>(kTileRows)> tile_values = {};
  // Values that are gone through.
  double values = 0;
  // As the operator graph counts them, for bounds.
  double flops = 0, bytes = 0;
};

struct StepWork {
  std::vector<OperatorWork> operators;  // in the order of execution; long prompts have some for each pass
  double footprint_bytes = 0;           // weights and cache that a pass goes through, over and over
  double weights = 0;                   // of a pass, padding included
};

// What stands for the rest of a step: choosing tokens, and what lies between operators.
inline constexpr OperatorName kStepRest = OperatorName::kLoss;
std::string operator_title(OperatorName name);

// `precision`: of weights, kFp32 or kInt8. check_transformer()'s and build_operators()' errors.
Result<StepWork> step_work(const LlmConfig& config, Precision precision, const StepPoint& point);

}  // namespace perfcast::ai
