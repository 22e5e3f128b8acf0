#include "ai/cpu_tokens/token_physics.h"

#include <algorithm>
#include <cmath>

#include "base/unknown.h"
#include "learn/algebra/dense.h"
#include "machine/facts/core_design.h"

namespace perfcast::ai {
namespace {

constexpr double kMicroBatch = 512;      // tokens that llama.cpp takes through the layers at once
constexpr double kLossScale = 0.1;       // log rate: larger residuals count by their size, not its square
constexpr double kPull = 4e-6;           // of a coefficient to its start, for each unit of weight
constexpr double kBandwidthUnit = 1e11;  // bytes/s
constexpr int kIterations = 80;
constexpr double kLargestCoefficient = 60;  // of any; e^60 is no rate

struct Facts {
  double ln_cores, ln_l1, arm, amd, ln_products, amx, sve, shares_core, avx512, sha, ln_sockets, ln_numa, ln_split,
      old_intel;
};

Facts facts_of(const CpuFacts& cpu) {
  const auto has = [&](const char* flag) { return cpu.flags.contains(flag) ? 1.0 : 0.0; };
  const std::string design = core_design(cpu);
  Facts facts;
  facts.ln_cores = std::log(cpu.cores);
  facts.ln_l1 = std::log(read_bandwidth(cpu, kBandwidthBytes.front()) / cpu.cores / kBandwidthUnit);
  facts.arm = cpu.arch == "aarch64" || cpu.arch == "arm64" ? 1 : 0;
  facts.amd = cpu.vendor == "AMD" ? 1 : 0;
  facts.ln_products = std::log2(int8_products_per_cycle(cpu) / 64);
  facts.amx = has("amx");
  facts.sve = has("sve");
  facts.shares_core = cpu.vcpus > cpu.cores ? 1 : 0;
  facts.avx512 = has("avx512f");
  facts.sha = has("sha");  // Zen, Ice Lake and later: cheaper barriers than their elders
  facts.ln_sockets = std::log(cpu.sockets);
  facts.ln_numa = std::log(cpu.numa_nodes);
  facts.ln_split = std::log(std::max(1.0, cpu.numa_nodes / cpu.sockets));  // nodes within a socket
  facts.old_intel = design == "sandy-bridge" || design == "haswell" || design == "broadwell" ? 1 : 0;
  return facts;
}

// Index of the coefficients that are bounded.
constexpr Eigen::Index kComputeL1 = 1;        // >= 0
constexpr Eigen::Index kPrefillExtras = 3;    // attention, elementwise, its scaling with cores: 0 to 1
constexpr Eigen::Index kMemoryBandwidth = 1;  // of the memory's part, >= -0.9

}  // namespace

struct TokenPhysics::Inputs {
  Eigen::VectorXd compute, memory, barrier;
  double ln_bytes = 0, ln_work = 0, ln_attention = 0, ln_elements = 0, ln_cores = 0, ln_bandwidth = 0, ln_layers = 0,
         ln_batch = 0;
};

double bandwidth_bound(const CpuFacts& cpu, const LlmWork& llm) {
  return read_bandwidth(cpu, llm.weight_bytes / cpu.vcpus) / llm.weight_bytes;
}

TokenPhysics::TokenPhysics(TokenPhase phase) : phase_(phase) {
  const bool prefill = phase == TokenPhase::kPrefill;
  const auto add = [&](const std::string& part, const std::vector<std::string>& names) {
    for (const std::string& name : names) names_.push_back(part + name);
    return static_cast<Eigen::Index>(names.size());
  };
  compute_size_ = add("compute.", {"one", "l1_bandwidth", "arm", "amd", "int8_products", "amx", "sve", "shares_core",
                                   "cores", "avx512", "sha", "short_blocks"});
  memory_size_ = add("memory.", {"one", "bandwidth", "sockets", "numa_nodes", "amd_sockets", "amd_split", "arm", "amd",
                                 "shares_core"});
  barrier_size_ = add("barrier.", {"one", "cores", "sockets", "numa_nodes", "amd_sockets", "amd_split", "arm", "amd",
                                   "shares_core", "sha", "sha_cores", "old_intel"});
  add("", prefill ? std::vector<std::string>{"attention.cost", "elementwise.cost", "elementwise.cores"}
                  : std::vector<std::string>{"overlap.power"});
  start_ = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(names_.size()));
  start_[0] = std::log(prefill ? 1.5e10 : 1e10);  // products/s or bytes/s of a core
  start_[compute_size_ + memory_size_] = std::log(50e-6);
  start_[compute_size_ + memory_size_ + 1] = 0.3;
  if (prefill) {
    start_.tail(kPrefillExtras) << 0, std::log(4000.0), 0.5;
  } else {
    start_[start_.size() - 1] = std::log(2.0);
  }
  coefficients_ = start_;
}

TokenPhysics::Inputs TokenPhysics::inputs(const TokenQuestion& question) const {
  const Facts f = facts_of(*question.cpu);
  const LlmWork& llm = *question.llm;
  const auto tokens = static_cast<double>(question.tokens);
  Inputs in;
  in.ln_bandwidth = std::log(read_bandwidth(*question.cpu, llm.weight_bytes / question.cpu->vcpus));
  in.compute.resize(compute_size_);
  in.memory.resize(memory_size_);
  in.barrier.resize(barrier_size_);
  in.compute << 1, f.ln_l1, f.arm, f.amd, f.ln_products, f.amx, f.sve, f.shares_core, f.ln_cores, f.avx512, f.sha,
      llm.short_block_share;
  in.memory << 1, in.ln_bandwidth - std::log(kBandwidthUnit), f.ln_sockets, f.ln_numa, f.amd * f.ln_sockets,
      f.amd * f.ln_split, f.arm, f.amd, f.shares_core;
  in.barrier << 1, f.ln_cores, f.ln_sockets, f.ln_numa, f.amd * f.ln_sockets, f.amd * f.ln_split, f.arm, f.amd,
      f.shares_core, f.sha, f.sha * f.ln_cores, f.old_intel;
  // While n tokens come, the context is n / 2 long on average.
  in.ln_bytes =
      std::log(llm.weight_bytes + (phase_ == TokenPhase::kGeneration ? llm.kv_bytes_per_token * tokens / 2 : 0));
  in.ln_work = std::log(llm.prefill_macs_per_token);
  in.ln_attention = std::log(std::max(1e-300, llm.attention_macs_per_token_token * tokens / 2));
  in.ln_elements = std::log(static_cast<double>(llm.layers) * static_cast<double>(llm.hidden));
  in.ln_cores = f.ln_cores;
  in.ln_layers = std::log(static_cast<double>(llm.layers));
  in.ln_batch = std::log(std::min(tokens, kMicroBatch));
  return in;
}

double TokenPhysics::log_time(const Inputs& in, const Eigen::VectorXd& p, TokenTimes* times,
                              Eigen::VectorXd* gradient) const {
  const double ln_core_rate = in.compute.dot(p.head(compute_size_));
  const double ln_rate = in.ln_cores + ln_core_rate;
  const double ln_memory = in.ln_bandwidth + in.memory.dot(p.segment(compute_size_, memory_size_));
  const double ln_barrier = in.ln_layers + in.barrier.dot(p.segment(compute_size_ + memory_size_, barrier_size_));
  double compute, memory, barrier, total, by_compute, by_memory;
  Eigen::Vector3d by_extra = Eigen::Vector3d::Zero();
  if (phase_ == TokenPhase::kGeneration) {
    const double extra = p[p.size() - 1];
    const double power = 1 + std::exp(std::min(extra, 4.0));
    compute = in.ln_bytes - ln_rate;
    memory = in.ln_bytes - ln_memory;
    barrier = ln_barrier;
    const double top = std::max(compute, memory);
    const double u = std::exp(power * (compute - top)), v = std::exp(power * (memory - top));
    const double mixed = top + std::log(u + v) / power;
    total = mixed + std::log1p(std::exp(barrier - mixed));
    const double share = std::exp(mixed - total);
    by_compute = share * u / (u + v);
    by_memory = share * v / (u + v);
    if (extra <= 4) {
      by_extra[2] =
          share * (power - 1) *
          ((u * (compute - top) + v * (memory - top)) / ((u + v) * power) - std::log(u + v) / (power * power));
    }
  } else {
    const auto extra = p.tail(kPrefillExtras);
    const double products = in.ln_work - ln_rate, attention = in.ln_attention + extra[0] - ln_rate;
    const double elementwise = in.ln_elements + extra[1] - ln_core_rate - extra[2] * in.ln_cores;
    const double most = std::max({products, attention, elementwise});
    compute = most + std::log(std::exp(products - most) + std::exp(attention - most) + std::exp(elementwise - most));
    memory = in.ln_bytes - ln_memory - in.ln_batch;
    barrier = ln_barrier - in.ln_batch;
    const double top = std::max({compute, memory, barrier});
    total = top + std::log(std::exp(compute - top) + std::exp(memory - top) + std::exp(barrier - top));
    by_compute = std::exp(compute - total);
    by_memory = std::exp(memory - total);
    by_extra << std::exp(attention - total), std::exp(elementwise - total),
        -std::exp(elementwise - total) * in.ln_cores;
  }
  if (times != nullptr) *times = {compute, memory, barrier, total};
  if (gradient != nullptr) {
    gradient->head(compute_size_) = -by_compute * in.compute;
    gradient->segment(compute_size_, memory_size_) = -by_memory * in.memory;
    gradient->segment(compute_size_ + memory_size_, barrier_size_) = std::exp(barrier - total) * in.barrier;
    const Eigen::Index extras = p.size() - compute_size_ - memory_size_ - barrier_size_;
    gradient->tail(extras) = by_extra.tail(extras);
  }
  return total;
}

void TokenPhysics::bound(Eigen::VectorXd& p) const {
  p = p.cwiseMax(-kLargestCoefficient).cwiseMin(kLargestCoefficient);
  p[kComputeL1] = std::max(p[kComputeL1], 0.0);
  p[compute_size_ + kMemoryBandwidth] = std::max(p[compute_size_ + kMemoryBandwidth], -0.9);
  if (phase_ == TokenPhase::kPrefill) p[p.size() - 1] = std::clamp(p[p.size() - 1], 0.0, 1.0);
}

void TokenPhysics::fit(const std::vector<TokenQuestion>& questions, const Eigen::VectorXd& log_rates,
                       const Eigen::VectorXd& weights) {
  const auto rows = static_cast<Eigen::Index>(questions.size());
  std::vector<Inputs> all;
  all.reserve(questions.size());
  for (const TokenQuestion& question : questions) all.push_back(inputs(question));
  const double pull = kPull * weights.sum();
  const auto residual = [&](Eigen::Index r, double total) { return total + log_rates[r]; };
  const auto loss = [&](const Eigen::VectorXd& p) {
    double sum = pull * (p - start_).squaredNorm();
    for (Eigen::Index r = 0; r < rows; ++r) {
      const double scaled = residual(r, log_time(all[static_cast<size_t>(r)], p, nullptr, nullptr)) / kLossScale;
      sum += weights[r] * 2 * kLossScale * kLossScale * (std::sqrt(1 + scaled * scaled) - 1);
    }
    return sum;
  };
  // Levenberg and Marquardt on reweighted residuals.
  Eigen::VectorXd p = start_, gradient(start_.size());
  double now = loss(p), damping = 1e-3;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    Eigen::MatrixXd normal = Eigen::MatrixXd::Identity(p.size(), p.size()) * pull;
    Eigen::VectorXd slope = pull * (p - start_);
    for (Eigen::Index r = 0; r < rows; ++r) {
      const double e = residual(r, log_time(all[static_cast<size_t>(r)], p, nullptr, &gradient));
      const double weight = weights[r] / std::sqrt(1 + (e / kLossScale) * (e / kLossScale));
      for (Eigen::Index c = 0; c < p.size(); ++c) {  // the lower triangle
        normal.col(c).tail(p.size() - c) += weight * gradient[c] * gradient.tail(p.size() - c);
      }
      slope += weight * e * gradient;
    }
    normal.triangularView<Eigen::StrictlyUpper>() = normal.transpose();
    bool better = false;
    for (int attempt = 0; attempt < 12 && !better; ++attempt) {
      Eigen::MatrixXd damped = normal;
      damped.diagonal() *= 1 + damping;
      Eigen::VectorXd next = p - solve_semidefinite(damped, slope);
      bound(next);
      const double then = next.allFinite() ? loss(next) : kUnknown;
      better = then < now;
      if (better) {
        const bool settled = now - then < 1e-7 * now;
        p = next;
        now = then;
        damping = std::max(damping / 4, 1e-9);
        if (settled) iteration = kIterations;
      } else {
        damping *= 5;
      }
    }
    if (!better) break;
  }
  coefficients_ = p;
}

TokenTimes TokenPhysics::times(const TokenQuestion& question) const {
  TokenTimes times;
  log_time(inputs(question), coefficients_, &times, nullptr);
  return times;
}

Status TokenPhysics::set_coefficients(const Eigen::VectorXd& coefficients) {
  Eigen::VectorXd bounded = coefficients;
  if (coefficients.size() == start_.size() && coefficients.allFinite()) bound(bounded);
  if (coefficients.size() != start_.size() || !coefficients.allFinite() || bounded != coefficients) {
    return Error{"bad-bundle", "the coefficients of token times are not what the model has", "coefficients",
                 std::to_string(start_.size()) + " finite numbers within their bounds"};
  }
  coefficients_ = coefficients;
  return {};
}

}  // namespace perfcast::ai
