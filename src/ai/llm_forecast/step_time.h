#pragma once
// The time of one step of a model on one device (or on each of those that share it), from the times of its operators.

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "ai/latency/model/operator_time.h"
#include "ai/llm/operator_graph.h"
#include "ai/llm_forecast/operator_memo.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

// What a step's time is told apart by.
enum class OperatorClass : uint8_t {
  kEmbedding,
  kProjections,  // queries, keys, values and the output of attention
  kAttention,    // scores, softmax, values
  kFeedForward,  // dense, and shared experts
  kExperts,      // routed: router, dispatch, products
  kHead,
  kElementwise,  // norms, residuals, rope, cache writes
  kCollectives,
  kOptimizer,
};
inline constexpr size_t kOperatorClasses = 9;
inline constexpr size_t kBounds = 6;
std::string_view name_of(OperatorClass operator_class);
OperatorClass class_of(const LlmOperator& op);

// How kernels reach the device.
enum class LaunchMode : uint8_t {
  kStream,  // one by one, ahead of the device: a step takes the longer of all kernels and all launches
  kGraph,   // recorded once (CUDA graphs): a step takes all kernels and one launch
};

// A fused attention kernel of which the model knows nothing: max(operations / (peak * 0.5), bytes of queries, cache and
// result / (bandwidth * 0.7)).
inline constexpr double kAttentionCompute = 0.5;
inline constexpr double kAttentionMemory = 0.7;
inline constexpr double kAttentionLogError = 0.3;
// A collective of which nothing was measured on such devices: 25 us + bytes sent / (link * 0.6). NCCL's all-reduce over
// NVLink took 20 to 45 us for short messages and 0.5 to 0.75 of the link for long ones, on published profiles of A100
// and H100.
inline constexpr double kCollectiveStart_s = 25e-6;
inline constexpr double kCollectiveLink = 0.6;
inline constexpr double kCollectiveLogError = 0.3;
// Of the time that launches take, where they are what a step waits for.
inline constexpr double kLaunchLogError = 0.25;
// Share of an operator's error variance that all operators of a step have in common: a device that is faster than its
// model is so in most of them.
inline constexpr double kSharedError = 0.5;

struct StepSettings {
  LaunchMode launch = LaunchMode::kStream;
  double link_bytes_per_s = kUnknown;  // in the place of the device's own
};

struct StepTime {
  double seconds = 0;           // of the step
  double device_seconds = 0;    // all kernels, one after the other
  double measured_seconds = 0;  // of these the kernels that were measured on this device
  double launch_seconds = 0;    // all launches
  double log_sd = 0;            // standard deviation of the log of `seconds`
  double roofline_s = 0;  // no execution is faster: the longest of operations at the peak, weights and cache at the
                          // bandwidth (less what the last cache may hold), bytes sent at the link; NaN: not known
  // What its operations take at the peak, and weights and cache (less what the last cache may hold) at the bandwidth.
  double compute_s = kUnknown, memory_s = kUnknown;
  MathMode mode = MathMode::kFp32;  // of products with weights
  MathMode attention_mode = MathMode::kFp32;
  std::optional<Bound> engine_bound;  // what an engine waits for the most; else it follows from the kernels
  // Device seconds by class and by what bounds them.
  std::array<std::array<double, kBounds>, kOperatorClasses> parts = {};

  double seconds_of(OperatorClass operator_class) const;
  Bound bound_of(OperatorClass operator_class) const;  // what bounds the most of its time
  Bound bound() const;                                 // kLaunch where the device waits for launches
  double lower_s(double z) const { return seconds * std::exp(-z * log_sd); }
  double upper_s(double z) const { return seconds * std::exp(z * log_sd); }
};

// In which mode values of a format are multiplied; block formats are unpacked to half precision.
MathMode mode_of(Precision precision);

// How products are computed: in the wider of the formats of weights and activations (weights in a block format: in
// that of activations), and where the device has no units for it in the next wider one that it has. Attention in half
// precision where activations have 8 bits. "unsupported-precision" where the device has none.
struct MathModes {
  MathMode product = MathMode::kFp32, attention = MathMode::kFp32;
};
Result<MathModes> math_modes(const LatencyModel& model, const LlmWorkload& workload);

// Remembers the times of operators between steps. Not for several threads at once.
class StepTimer {
 public:
  explicit StepTimer(std::shared_ptr<const LatencyModel> model, StepSettings settings = {});

  // `graph` is that of build_operators(config, workload). "unsupported-precision"; "unknown-link" where devices share
  // the model and the device's link isn't known; "bad-latency" where the model answers with no time. Allocates only
  // while the memo grows.
  Status time(const LlmConfig& config, const LlmWorkload& workload, const OperatorGraph& graph, StepTime& step);

  const LatencyModel& model() const { return *model_; }
  const StepSettings& settings() const { return settings_; }
  size_t remembered() const { return memo_.size(); }

 private:
  struct Sums;
  OperatorTime product(const ProductShape& shape, MathMode mode, double operand_bytes);
  OperatorTime vector(const VectorShape& shape, double bytes_per_value);
  OperatorTime kernel(const KernelShape& shape);
  OperatorTime attention(const LlmConfig& config, const LlmWorkload& workload, const LlmOperator& scores,
                         MathMode mode);
  OperatorTime experts(const LlmConfig& config, const LlmWorkload& workload, MathMode mode);
  OperatorTime fused_attention(double flops, double bytes, MathMode mode) const;
  OperatorTime collective(const LlmOperator& op, int64_t devices) const;
  OperatorTime eager_attention(const LlmOperator& op, int64_t group, MathMode mode);
  OperatorTime rows(const LlmOperator& op, double bytes_per_value);

  std::shared_ptr<const LatencyModel> model_;
  StepSettings settings_;
  double link_bytes_per_s_;
  OperatorMemo memo_;
};

}  // namespace perfcast::ai
