#pragma once
// How build_operators() fills a graph; nobody else needs this.

#include "ai/llm/operator_graph.h"

namespace perfcast::ai {

// Operations per value of what is no product: additions, products, comparisons, divisions, roots and exponentials count
// as one each.
inline constexpr double kRmsNormFlops = 4;    // square, sum, scale, weight
inline constexpr double kLayerNormFlops = 7;  // sum, subtract, square, sum, scale, weight, bias
inline constexpr double kSoftmaxFlops = 5;    // maximum, subtract, exponential, sum, divide
inline constexpr double kRopeFlops = 3;       // per pair of values four products and two sums
inline constexpr double kAdamFlops = 12;
double activation_flops(ActivationKind activation);

// Appends the operators of a forward step. Config and workload are checked.
class ForwardBuilder {
 public:
  ForwardBuilder(const LlmConfig& config, const LlmWorkload& workload, OperatorGraph& graph);
  void build();

 private:
  LlmOperator& product(OperatorName name, int64_t m, int64_t k, int64_t n, int64_t count, bool bias);
  // m rows of n values, `inputs` and `outputs` times as many read and written.
  LlmOperator& rows(OperatorName name, OperatorKind kind, int64_t m, int64_t n, int64_t count, double flops_per_value,
                    double inputs, double outputs);
  LlmOperator& norm(OperatorName name, int64_t m, int64_t n, int64_t count);
  void residual(OperatorName name, int64_t count);
  void all_reduce(OperatorName name, int64_t count);

  void embeddings();
  void projections();
  void latent_projections();
  void cache_write(int64_t values);
  // The layers that attend to at most `window` tokens; 0: to all.
  void attention(int64_t count, int64_t window);
  void attention_layers();
  void mamba_layers();
  void feed_forward_layers();
  void dense_ffn(int64_t width, int64_t count, bool shared);
  void experts();
  void head();
  // Weights of parts that are stored in formats of their own, in the place of the average.
  void weigh_parts();

  const LlmConfig& config_;
  const LlmWorkload& workload_;
  OperatorGraph& graph_;
  const ModelShard shard_;
  const int64_t tokens_;                      // new ones, of the whole batch
  const int64_t queries_;                     // new ones, of one sequence
  const int64_t keys_;                        // attended to, of one sequence
  const double weight_, activation_, cache_;  // bytes per value
  const bool caches_;
  const bool absorbed_;  // MLA in its decoding form
};

// Appends the backward operators of the forward ones that the graph holds, last first.
void append_backward(const LlmWorkload& workload, OperatorGraph& graph);

// Adam over `parameters` of one device.
void append_optimizer(double parameters, const LlmWorkload& workload, OperatorGraph& graph);

}  // namespace perfcast::ai
