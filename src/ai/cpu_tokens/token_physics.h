#pragma once
// Time of a token on a CPU from three resources, each with a rate that follows from the CPU's facts by a few
// coefficients, fitted in log space:
//   generation  t = ((bytes / compute)^p + (bytes / memory)^p)^(1/p) + layers x barrier
//   prefill     t = products / compute + elements / (compute x cores^(g - 1)) + (bytes / memory + layers x barrier) /
//   batch
// where products are those of weights and, at a fitted cost, of attention; elements are layers x hidden: normalising,
// rotating and quantising activations, which uses the cores only in part.
// compute = cores x exp(a.x), memory = bandwidth measured at weights / vCPUs x exp(b.z), barrier = exp(c.w) seconds per
// layer. More bandwidth at a size of cache or memory never makes generation slower: the coefficients that could are
// bounded.

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "ai/cpu_tokens/cpu_facts.h"
#include "ai/cpu_tokens/llm_work.h"
#include "ai/cpu_tokens/token_rates.h"
#include "base/result.h"

namespace perfcast::ai {

// One question: how fast is this model on this CPU? All of it must be valid and the bandwidth known (imputed, if need
// be).
struct TokenQuestion {
  const CpuFacts* cpu = nullptr;
  const LlmWork* llm = nullptr;
  int64_t tokens = 0;
};

struct TokenTimes {  // natural logarithms of seconds per token
  double compute = 0, memory = 0, barrier = 0;
  double total = 0;
};

// Tokens/s at which the CPU's measured bandwidth can feed the weights to generation.
double bandwidth_bound(const CpuFacts& cpu, const LlmWork& llm);

class TokenPhysics {
 public:
  explicit TokenPhysics(TokenPhase phase);

  // Least squares of log rates with soft-L1 loss and a weak pull to the starting coefficients. Questions, log rates
  // (tokens/s) and weights are of one length, 1 at least.
  void fit(const std::vector<TokenQuestion>& questions, const Eigen::VectorXd& log_rates,
           const Eigen::VectorXd& weights);
  TokenTimes times(const TokenQuestion& question) const;

  TokenPhase phase() const { return phase_; }
  const std::vector<std::string>& names() const { return names_; }  // of the coefficients: "compute.amd", ...
  const Eigen::VectorXd& coefficients() const { return coefficients_; }
  // "bad-bundle" where their number differs, or one is not finite or out of its bounds.
  Status set_coefficients(const Eigen::VectorXd& coefficients);

 private:
  struct Inputs;
  Inputs inputs(const TokenQuestion& question) const;
  double log_time(const Inputs& inputs, const Eigen::VectorXd& coefficients, TokenTimes* times,
                  Eigen::VectorXd* gradient) const;
  void bound(Eigen::VectorXd& coefficients) const;

  TokenPhase phase_;
  Eigen::Index compute_size_ = 0, memory_size_ = 0, barrier_size_ = 0;
  std::vector<std::string> names_;
  Eigen::VectorXd start_, coefficients_;
};

}  // namespace perfcast::ai
