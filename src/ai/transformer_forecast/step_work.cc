#include "ai/transformer_forecast/step_work.h"

#include <algorithm>
#include <cmath>

#include "ai/transformer/attention.h"
#include "ai/transformer/matrix_products.h"
#include "ai/transformer/packed_matrix.h"
#include "ai/transformer/transformer.h"
#include "ai/transformer/transformer_model.h"

namespace perfcast::ai {
namespace {

double real(int64_t value) { return static_cast<double>(value); }

// The rows of each pass, and the blocks of queries that attend in it.
struct Pass {
  std::vector<TokenPlace> places;
  int64_t ends = 0;  // prompts that end in it
};

std::vector<Pass> passes_of(const StepPoint& point) {
  std::vector<Pass> passes(1);
  const bool decode = point.phase == LlmPhase::kDecode;
  for (int64_t slot = 0; slot < point.batch; ++slot) {
    for (int64_t position = decode ? point.tokens - 1 : 0; position < point.tokens; ++position) {
      if (static_cast<int64_t>(passes.back().places.size()) == kPassRows) passes.emplace_back();
      passes.back().places.push_back({slot, position});
      if (position + 1 == point.tokens) ++passes.back().ends;
    }
  }
  return passes;
}

class StepWorkBuilder {
 public:
  StepWorkBuilder(const LlmConfig& config, Precision precision) : config_(config), precision_(precision) {}

  void add(const LlmOperator& op, const Pass& pass, bool head, StepWork& step) const {
    OperatorWork work;
    work.name = op.name;
    work.count = real(op.count);
    work.flops = op.flops;
    work.bytes = op.bytes();
    const int64_t rows = head ? pass.ends : static_cast<int64_t>(pass.places.size());
    if (rows == 0) return;
    switch (op.kind) {
      case OperatorKind::kGemm:
        set_product(op, rows, work);
        break;
      case OperatorKind::kAttentionScores:
        set_attention(pass, work);
        break;
      case OperatorKind::kAttentionValues:
      case OperatorKind::kSoftmax: {
        // One loop with the scores, which it was listed behind.
        OperatorWork& scores = *std::find_if(step.operators.rbegin(), step.operators.rend(),
                                             [](const auto& each) { return each.form == WorkForm::kAttention; });
        scores.flops += op.flops;
        scores.bytes += op.bytes();
        return;
      }
      default:
        work.form = WorkForm::kRows;
        work.values = real(rows) * real(op.n);
    }
    step.operators.push_back(work);
  }

 private:
  void set_product(const LlmOperator& op, int64_t rows, OperatorWork& work) const {
    const bool bytes = precision_ == Precision::kInt8;
    const int64_t inputs = padded_depth(op.k, bytes);
    const int64_t panels = panels_of(op.n);
    work.form = rows < kManyRows ? WorkForm::kFewRows : WorkForm::kManyRows;
    work.rows = real(padded_rows(rows));
    work.inputs = real(op.k);
    work.panels = real(panels);
    work.calls = real((panels + panels_of_call(panels) - 1) / panels_of_call(panels));
    work.weight_bytes = real(inputs) * real(panels * kPanelColumns) * (bytes ? 1 : 4);
    work.values = work.rows * real(panels * kPanelColumns);
  }

  void set_attention(const Pass& pass, OperatorWork& work) const {
    const AttentionShape shape = {config_.layers, config_.heads, config_.kv_heads, config_.head_dim};
    const AttentionWork attention = attention_work(query_blocks(pass.places, shape.group()), shape);
    work.form = WorkForm::kAttention;
    work.tasks = attention.tasks;
    work.rows = attention.rows;
    work.tile_values = attention.tile_values;
    work.softmax_values = attention.softmax_values;
    work.kv_bytes = attention.kv_bytes;
  }

  const LlmConfig& config_;
  Precision precision_;
};

}  // namespace

std::string operator_title(OperatorName name) {
  if (name == kStepRest) return "choosing, rest";
  if (name == OperatorName::kScores) return "attention";
  return std::string(name_of(name));
}

Result<StepWork> step_work(const LlmConfig& config, Precision precision, const StepPoint& point) {
  if (auto status = check_transformer(config); !status) return status.error();
  const LlmWorkload workload = transformer_workload(precision, point.phase, point.batch, point.tokens);
  OperatorGraph graph;
  if (auto status = build_operators(config, workload, graph); !status) return status.error();
  StepWork step;
  const StepWorkBuilder builder(config, precision);
  const auto passes = passes_of(point);
  const double share = 1 / real(static_cast<int64_t>(passes.size()));
  for (const Pass& pass : passes) {
    for (const LlmOperator& op : graph) {
      const bool head = op.name == OperatorName::kFinalNorm || op.name == OperatorName::kLanguageHead;
      LlmOperator of_pass = op;
      of_pass.flops *= share;
      of_pass.input_bytes *= share;
      of_pass.output_bytes *= share;
      of_pass.kv_bytes *= share;
      builder.add(of_pass, pass, head, step);
    }
  }
  for (const OperatorWork& work : step.operators) {
    step.footprint_bytes += work.count * (work.weight_bytes + work.kv_bytes) * share;
    step.weights += work.count * work.weight_bytes * share / bytes_per_value(precision);
  }
  OperatorWork rest;
  rest.name = kStepRest;
  rest.form = WorkForm::kRest;
  rest.values = real(point.batch) * real(config.vocab);
  step.operators.push_back(rest);
  return step;
}

}  // namespace perfcast::ai
