#include "ai/llm_forecast/step_time.h"

#include <algorithm>
#include <string>

#include "ai/latency/model/device_catalogue.h"
#include "ai/llm_forecast/roofline_model.h"

namespace perfcast::ai {
namespace {

double as_real(int64_t value) { return static_cast<double>(value); }

// The mode itself, or the next wider one that the device has.
Result<MathMode> mode_on(const LatencyModel& model, MathMode wanted) {
  if (model.supports(wanted)) return wanted;
  const bool narrow = wanted == MathMode::kFp8 || wanted == MathMode::kInt8;
  if (narrow && model.supports(MathMode::kHalf)) return MathMode::kHalf;
  if (model.supports(MathMode::kFp32)) return MathMode::kFp32;
  return Error{"unsupported-precision",
               model.device().name + " computes neither in " + std::string(name_of(wanted)) + " nor wider",
               model.device().name, "another precision"};
}

// Queries that share one head of keys and values.
int64_t group_of(const LlmConfig& config, const LlmWorkload& workload) {
  const ModelShard shard = shard_of(config, workload.tensor_parallel);
  if (!config.has_mla()) return std::max<int64_t>(1, shard.heads / shard.kv_heads);
  return workload.phase == LlmPhase::kDecode ? shard.heads : 1;
}

VectorKind vector_kind(const LlmOperator& op) {
  switch (op.kind) {
    case OperatorKind::kNorm:
      return VectorKind::kNorm;
    case OperatorKind::kSoftmax:
      return VectorKind::kSoftmax;
    case OperatorKind::kEmbedding:
      return VectorKind::kCopy;
    case OperatorKind::kActivation:
    case OperatorKind::kElementwise:
      if (op.name == OperatorName::kCacheWrite) return VectorKind::kCopy;
      return op.input_bytes > op.output_bytes ? VectorKind::kBinary : VectorKind::kUnary;
    default:
      return VectorKind::kUnary;
  }
}

// The power law by which databases draw the experts of tokens: routers of models aren't even.
constexpr double kUsualSkew = 1.01;

uint64_t product_tag(MathMode mode, bool weights) { return 1 + 2 * static_cast<uint64_t>(mode) + (weights ? 1 : 0); }
uint64_t vector_tag(VectorKind kind) { return 64 + static_cast<uint64_t>(kind); }

// A kernel's key has room for five sizes beside its tag: the others are small whole numbers.
OperatorKey kernel_key(const KernelShape& shape) {
  const auto& size = shape.size;
  const uint64_t tag = 128 + 4 * static_cast<uint64_t>(shape.kind) + static_cast<uint64_t>(shape.format);
  if (shape.kind == KernelKind::kExperts) {
    return {tag + (static_cast<uint64_t>(size[ExpertsAxis::kExperts]) << 8) +
                (static_cast<uint64_t>(size[ExpertsAxis::kChosen]) << 36),
            {size[ExpertsAxis::kTokens], size[ExpertsAxis::kHidden], size[ExpertsAxis::kInner],
             size[ExpertsAxis::kTensorParallel], size[ExpertsAxis::kExpertParallel]}};
  }
  return {tag + (static_cast<uint64_t>(size[AttentionAxis::kHeadDim]) << 8) +
              (static_cast<uint64_t>(size[AttentionAxis::kWindow]) << 32),
          {size[AttentionAxis::kBatch], size[AttentionAxis::kLength], size[AttentionAxis::kHeads],
           size[AttentionAxis::kKvHeads], 0}};
}

std::optional<KernelFormat> kernel_format(Precision precision) {
  if (precision == Precision::kFp16 || precision == Precision::kBf16) return KernelFormat::kHalf;
  if (precision == Precision::kFp8) return KernelFormat::kFp8;
  return std::nullopt;
}

bool is_expert_kernel(const LlmOperator& op) {
  return op.name >= OperatorName::kExpertGateUp && op.name <= OperatorName::kExpertCombine;
}

}  // namespace

std::string_view name_of(OperatorClass operator_class) {
  static constexpr std::string_view kNames[kOperatorClasses] = {"embedding",    "projections", "attention",
                                                                "feed-forward", "experts",     "head",
                                                                "elementwise",  "collectives", "optimizer"};
  return kNames[static_cast<size_t>(operator_class)];
}

OperatorClass class_of(const LlmOperator& op) {
  if (op.kind == OperatorKind::kCollective) return OperatorClass::kCollectives;
  if (op.kind == OperatorKind::kNorm) return OperatorClass::kElementwise;
  const OperatorName name = op.name;
  const auto between = [name](OperatorName first, OperatorName last) { return name >= first && name <= last; };
  if (name <= OperatorName::kTypeEmbedding) return OperatorClass::kEmbedding;
  if (between(OperatorName::kScores, OperatorName::kWindowValues)) return OperatorClass::kAttention;
  if (between(OperatorName::kRouter, OperatorName::kExpertCombine)) return OperatorClass::kExperts;
  if (between(OperatorName::kFfnGateUp, OperatorName::kFfnDown) ||
      between(OperatorName::kSharedGateUp, OperatorName::kSharedRoute)) {
    return OperatorClass::kFeedForward;
  }
  if (between(OperatorName::kPooler, OperatorName::kLoss)) return OperatorClass::kHead;
  if (name == OperatorName::kOptimizer) return OperatorClass::kOptimizer;
  return op.kind == OperatorKind::kGemm ? OperatorClass::kProjections : OperatorClass::kElementwise;
}

double StepTime::seconds_of(OperatorClass operator_class) const {
  double sum = 0;
  for (const double part : parts[static_cast<size_t>(operator_class)]) sum += part;
  return sum;
}

Bound StepTime::bound_of(OperatorClass operator_class) const {
  const auto& by_bound = parts[static_cast<size_t>(operator_class)];
  return static_cast<Bound>(std::max_element(by_bound.begin(), by_bound.end()) - by_bound.begin());
}

Bound StepTime::bound() const {
  if (engine_bound) return *engine_bound;
  if (seconds > device_seconds && launch_seconds > device_seconds) return Bound::kLaunch;
  std::array<double, kBounds> sums = {};
  for (const auto& by_bound : parts) {
    for (size_t i = 0; i < kBounds; ++i) sums[i] += by_bound[i];
  }
  return static_cast<Bound>(std::max_element(sums.begin(), sums.end()) - sums.begin());
}

MathMode mode_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return MathMode::kFp32;
    case Precision::kTf32:
      return MathMode::kTf32;
    case Precision::kFp8:
      return MathMode::kFp8;
    case Precision::kInt8:
      return MathMode::kInt8;
    default:
      return MathMode::kHalf;  // block formats are unpacked to it; they never decide
  }
}

Result<MathModes> math_modes(const LatencyModel& model, const LlmWorkload& workload) {
  const PrecisionInfo& weights = info(workload.weights);
  const PrecisionInfo& activations = info(workload.activations);
  const bool by_weights =
      !workload.weight_bits_per_value && !weights.weights_only && weights.bits_per_value > activations.bits_per_value;
  const auto product = mode_on(model, mode_of(by_weights ? workload.weights : workload.activations));
  if (!product) return product.error();
  const bool narrow = bytes_per_value(workload.activations) < 2;
  const auto attention = mode_on(model, narrow ? MathMode::kHalf : mode_of(workload.activations));
  if (!attention) return attention.error();
  return MathModes{*product, *attention};
}

// What is added up over the operators of a step.
struct StepTimer::Sums {
  double error = 0, squared_error = 0;            // of times weighted by their log errors
  double product_flops = 0, attention_flops = 0;  // for the roofline
  double held_bytes = 0, link_bytes = 0;

  void add(StepTime& step, OperatorClass operator_class, const OperatorTime& time, double count, double log_error) {
    const double seconds = time.seconds * count;
    step.device_seconds += seconds;
    if (time.measured) step.measured_seconds += seconds;
    step.launch_seconds += time.launch_seconds * count;
    step.parts[static_cast<size_t>(operator_class)][static_cast<size_t>(time.bound)] += seconds;
    error += seconds * log_error;
    squared_error += seconds * log_error * seconds * log_error;
  }
};

StepTimer::StepTimer(std::shared_ptr<const LatencyModel> model, StepSettings settings)
    : model_(std::move(model)),
      settings_(settings),
      link_bytes_per_s_(std::isnan(settings.link_bytes_per_s) ? model_->device().link_bytes_per_s
                                                              : settings.link_bytes_per_s) {}

OperatorTime StepTimer::product(const ProductShape& shape, MathMode mode, double operand_bytes) {
  const OperatorKey key{product_tag(mode, shape.weights), {shape.batch, shape.m, shape.k, shape.n, operand_bytes}};
  return memo_.find_or(key, [&] { return model_->product(shape, mode, operand_bytes); });
}

OperatorTime StepTimer::vector(const VectorShape& shape, double bytes_per_value) {
  const OperatorKey key{vector_tag(shape.kind), {shape.rows, shape.columns, bytes_per_value, 0, 0}};
  return memo_.find_or(key, [&] { return model_->vector(shape, bytes_per_value); });
}

OperatorTime StepTimer::kernel(const KernelShape& shape) {
  return memo_.find_or(kernel_key(shape), [&] { return model_->kernel(shape); });
}

// Of whole prompts, or of one token after a cache.
OperatorTime StepTimer::attention(const LlmConfig& config, const LlmWorkload& workload, const LlmOperator& scores,
                                  MathMode mode) {
  const auto format = kernel_format(workload.kv);
  const bool prompt = scores.m > 1;
  if (!format || mode != MathMode::kHalf || config.has_mla() || !config.has_cache() ||
      (prompt && !workload.skip_masked)) {
    return {kUnknown};
  }
  const ModelShard shard = shard_of(config, workload.tensor_parallel);
  const int64_t window = scores.name == OperatorName::kWindowScores ? config.sliding_window : 0;
  const int64_t length = prompt || workload.context == 0 ? workload.sequence : workload.context;
  return kernel({prompt ? KernelKind::kPrefill : KernelKind::kDecode,
                 *format,
                 {as_real(workload.batch), as_real(length), as_real(shard.heads), as_real(shard.kv_heads),
                  as_real(config.head_dim), as_real(window < length ? window : 0)}});
}

OperatorTime StepTimer::experts(const LlmConfig& config, const LlmWorkload& workload, MathMode mode) {
  const auto format = kernel_format(workload.weights);
  const bool computes = mode == (format == KernelFormat::kFp8 ? MathMode::kFp8 : MathMode::kHalf);
  if (!format || !computes || workload.weight_bits_per_value || !config.gated_ffn) return {kUnknown};
  const int64_t tokens = workload.batch * (workload.phase == LlmPhase::kDecode ? 1 : workload.sequence);
  return kernel(
      {KernelKind::kExperts,
       *format,
       {as_real(tokens), as_real(config.hidden), as_real(config.moe.expert_ffn), as_real(config.moe.active_experts),
        as_real(config.moe.experts), as_real(workload.tensor_parallel), 1, kUsualSkew}});
}

OperatorTime StepTimer::fused_attention(double flops, double bytes, MathMode mode) const {
  const DeviceFacts& device = model_->device();
  const double compute_s = flops / (device.peak(mode) * kAttentionCompute);
  const double memory_s = bytes / (device.memory_bytes_per_s * kAttentionMemory);
  OperatorTime time;
  time.launch_seconds = host_launch_s(device.kind);
  time.seconds = std::max({compute_s, memory_s, shortest_kernel_s(device.kind)});
  time.bound = time.seconds == compute_s ? Bound::kCompute : time.seconds == memory_s ? Bound::kMemory : Bound::kStart;
  return time;
}

OperatorTime StepTimer::collective(const LlmOperator& op, int64_t devices) const {
  OperatorTime time;
  time.launch_seconds = host_launch_s(model_->device().kind);
  time.bound = Bound::kLink;
  time.log_error = kCollectiveLogError;
  time.seconds = kCollectiveStart_s + op.link_bytes / (link_bytes_per_s_ * kCollectiveLink);
  const bool own_link = std::isnan(settings_.link_bytes_per_s);
  if (op.name == OperatorName::kLogitsAllGather || !own_link || devices < 2) return time;
  // A ring sends 2 (p - 1) / p of what is summed.
  const double bytes = op.link_bytes * as_real(devices) / (2 * as_real(devices - 1));
  const double measured_s = model_->all_reduce_seconds(bytes, devices);
  if (std::isfinite(measured_s)) time.seconds = measured_s;
  return time;
}

// Scores that go through memory: one product for each head of keys and values, its group's queries below each other.
OperatorTime StepTimer::eager_attention(const LlmOperator& op, int64_t group, MathMode mode) {
  ProductShape shape{as_real(op.batch), as_real(op.m), as_real(op.k), as_real(op.n), false};
  double operand_bytes = op.kv_bytes;
  if (op.pass == OperatorPass::kForward) {
    shape.batch /= as_real(group);
    shape.m *= as_real(group);
  }
  if (operand_bytes == 0) operand_bytes = shape.batch * shape.k * shape.n * activation_bytes(mode);
  return product(shape, mode, operand_bytes);
}

// As many rows as give the operator's bytes.
OperatorTime StepTimer::rows(const LlmOperator& op, double bytes_per_value) {
  VectorShape shape{vector_kind(op), as_real(op.m) * as_real(op.batch), as_real(op.n)};
  const bool whole_rows = op.kind == OperatorKind::kNorm || op.kind == OperatorKind::kSoftmax;
  if (!whole_rows) shape.rows = op.bytes() / (passes_of(shape.kind) * bytes_per_value * shape.columns);
  return vector(shape, bytes_per_value);
}

Status StepTimer::time(const LlmConfig& config, const LlmWorkload& workload, const OperatorGraph& graph,
                       StepTime& step) {
  step = StepTime();
  const auto modes = math_modes(*model_, workload);
  if (!modes) return modes.error();
  step.mode = modes->product;
  step.attention_mode = modes->attention;
  const double value_bytes = bytes_per_value(workload.activations);
  const double product_error = model_->log_error(modes->product);
  const int64_t group = group_of(config, workload);
  Sums sums;
  double fused_flops = 0, fused_bytes = 0;  // of scores and softmax that wait for their values
  OperatorTime known{kUnknown};             // of the kernel that the operators at hand are one part of
  bool known_experts = false;
  for (const LlmOperator& op : graph) {
    const double count = as_real(op.count);
    OperatorTime time;
    double log_error = product_error;
    if (is_expert_kernel(op) && op.pass == OperatorPass::kForward) {
      const bool first = op.name == OperatorName::kExpertGateUp || op.name == OperatorName::kExpertGate;
      if (first) {
        known = experts(config, workload, modes->product);
        known_experts = std::isfinite(known.seconds);
      }
      if (known_experts) {
        if (op.kind == OperatorKind::kGemm) {
          sums.product_flops += 2 * op.total_macs();
          sums.held_bytes += op.weight_bytes * count;
        }
        if (first) sums.add(step, class_of(op), known, count, known.log_error);
        continue;
      }
    }
    switch (op.kind) {
      case OperatorKind::kGemm:
        time = product(
            {as_real(op.batch), as_real(op.m), as_real(op.k), as_real(op.n), op.weight_bytes > 0}, modes->product,
            op.weight_bytes > 0 ? op.weight_bytes : as_real(op.batch) * as_real(op.k) * as_real(op.n) * value_bytes);
        sums.product_flops += 2 * op.total_macs();
        sums.held_bytes += op.weight_bytes * count;
        break;
      case OperatorKind::kAttentionScores:
      case OperatorKind::kAttentionValues:
        sums.attention_flops += 2 * op.total_macs();
        sums.held_bytes += op.kv_bytes * count;
        if (!workload.fused_attention) {
          time = eager_attention(op, group, modes->attention);
          break;
        }
        fused_flops += op.flops;
        fused_bytes += op.bytes();
        if (op.kind == OperatorKind::kAttentionScores && op.pass == OperatorPass::kForward) {
          known = attention(config, workload, op, modes->attention);
          continue;
        }
        time = std::isfinite(known.seconds) && op.pass == OperatorPass::kForward
                   ? known
                   : fused_attention(fused_flops, fused_bytes, modes->attention);
        log_error = std::max(product_error, kAttentionLogError);
        fused_flops = fused_bytes = 0;
        break;
      case OperatorKind::kCollective:
        if (!(link_bytes_per_s_ > 0)) {
          return Error{"unknown-link", "the link between devices of " + model_->device().name + " is not known",
                       model_->device().name, "its bytes per second: --link-bytes-per-s, or the device file"};
        }
        time = collective(op, workload.tensor_parallel);
        sums.link_bytes += op.link_bytes * count;
        break;
      default:
        if (!(op.bytes() > 0)) continue;  // on chip, within fused attention
        time = rows(op, value_bytes);
    }
    if (!std::isfinite(time.seconds) || time.seconds < 0 || !std::isfinite(time.launch_seconds)) {
      return Error{"bad-latency", "the model of " + model_->device().name + " gives no time",
                   std::string(name_of(op.name)), "a finite time"};
    }
    sums.add(step, class_of(op), time, count, std::isfinite(time.log_error) ? time.log_error : log_error);
  }

  const bool waits = settings_.launch == LaunchMode::kStream && step.launch_seconds > step.device_seconds;
  if (settings_.launch == LaunchMode::kGraph) step.launch_seconds = host_launch_s(model_->device().kind);
  step.seconds = settings_.launch == LaunchMode::kGraph ? step.device_seconds + step.launch_seconds
                                                        : std::max(step.device_seconds, step.launch_seconds);
  const double variance = kSharedError * sums.error * sums.error + (1 - kSharedError) * sums.squared_error;
  step.log_sd = waits ? kLaunchLogError : std::sqrt(variance) / step.seconds;
  // fmax: the other where one is not-a-number.
  if (!waits) step.log_sd = std::fmax(step.log_sd, model_->step_log_error(modes->product));

  const DeviceFacts& device = model_->device();
  const double cache = std::isfinite(device.l2_bytes) ? device.l2_bytes : 0;
  step.compute_s = (sums.product_flops > 0 ? sums.product_flops / device.peak(modes->product) : 0) +
                   (sums.attention_flops > 0 ? sums.attention_flops / device.peak(modes->attention) : 0);
  step.memory_s = std::max(0.0, sums.held_bytes - cache) / device.memory_bytes_per_s;
  const double link_s = sums.link_bytes > 0 ? sums.link_bytes / link_bytes_per_s_ : 0;
  step.roofline_s = std::isnan(step.compute_s) || std::isnan(step.memory_s)
                        ? kUnknown
                        : std::max({step.compute_s, step.memory_s, link_s});
  return {};
}

}  // namespace perfcast::ai
