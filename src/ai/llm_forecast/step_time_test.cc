#include "ai/llm_forecast/step_time.h"

#include <gtest/gtest.h>

#include "ai/llm/model_catalogue.h"
#include "ai/llm_forecast/testing/test_devices.h"

namespace perfcast::ai {
namespace {

using testing::datacenter_gpu;
using testing::device_of;
using testing::roofline;
using testing::tiny_llama;

StepTime time_of(const LlmConfig& config, const LlmWorkload& workload, const DeviceFacts& facts,
                 StepSettings settings = {}) {
  OperatorGraph graph;
  EXPECT_TRUE(build_operators(config, workload, graph));
  StepTimer timer(roofline(facts), settings);
  StepTime step;
  const Status status = timer.time(config, workload, graph, step);
  EXPECT_TRUE(status) << to_text(status.error());
  return step;
}

LlmWorkload decode(int64_t context, int64_t batch = 1) {
  LlmWorkload workload;
  workload.phase = LlmPhase::kDecode;
  workload.batch = batch;
  workload.context = context;
  return workload;
}

LlmWorkload prefill(int64_t sequence) {
  LlmWorkload workload;
  workload.sequence = sequence;
  workload.skip_masked = true;
  workload.head_all_positions = false;
  return workload;
}

// Bytes of one token of tiny_llama at a context of 32, by hand. A megabyte each second: everything waits for memory.
TEST(StepTime, DecodeBoundByMemoryIsItsBytes) {
  const StepTime step = time_of(tiny_llama(), decode(32), device_of("slow memory", DeviceKind::kCpu, 1e12, 1e6));
  const double norm = 2 * 64 * 2, qkv = (64 + 128) * 2 + 64 * 128 * 2, rope = 2 * 96 * 2, write = 2 * 64 * 2;
  const double out = (64 + 64) * 2 + 64 * 64 * 2, residual = 3 * 64 * 2;
  const double gate_up = (64 + 256) * 2 + 64 * 256 * 2, activation = 3 * 128 * 2, down = (128 + 64) * 2 + 128 * 64 * 2;
  const double embedding = 2 * 64 * 2, head = (64 + 100) * 2 + 64 * 100 * 2;
  const double attention = 4 * 16 * 2 + 2 * (2 * 32 * 16) * 2 + 4 * 16 * 2;  // queries, keys and values, result
  EXPECT_NEAR(step.seconds_of(OperatorClass::kProjections), 2 * (qkv + out) / 1e6, 1e-12);
  EXPECT_NEAR(step.seconds_of(OperatorClass::kFeedForward), 2 * (gate_up + activation + down) / 1e6, 1e-12);
  EXPECT_NEAR(step.seconds_of(OperatorClass::kElementwise), (5 * norm + 2 * rope + 2 * write + 4 * residual) / 1e6,
              1e-12);
  EXPECT_NEAR(step.seconds_of(OperatorClass::kEmbedding), embedding / 1e6, 1e-12);
  EXPECT_NEAR(step.seconds_of(OperatorClass::kHead), head / 1e6, 1e-12);
  EXPECT_NEAR(step.seconds_of(OperatorClass::kAttention), 2 * attention / (1e6 / kRooflineMemory * kAttentionMemory),
              1e-12);
  EXPECT_NEAR(step.seconds, 169800 / 1e6 + 8704 / (1e6 / 0.75 * 0.7), 1e-12);
  EXPECT_EQ(step.bound(), Bound::kMemory);
  // What must be read: all weights but the embedding's, norms' and the cache, at the full bandwidth.
  const double held = 2 * 2 * (64 * 128 + 64 * 64 + 64 * 256 + 128 * 64) + 2 * 64 * 100 + 2 * 4096;
  EXPECT_NEAR(step.roofline_s, held / (1e6 / kRooflineMemory), 1e-12);
}

// A million operations each second; what is no product takes the shortest kernel, a microsecond on a CPU.
TEST(StepTime, PrefillBoundByArithmeticIsItsOperations) {
  const StepTime step = time_of(tiny_llama(), prefill(32), device_of("slow units", DeviceKind::kCpu, 1e6, 1e15));
  const double products = 2.0 * 32 * (64 * 128 + 64 * 64 + 64 * 256 + 128 * 64);
  const double head = 2.0 * 64 * 100;  // of the last position alone
  const double attention = 2 * 2.0 * 4 * (32 * 33 / 2.0) * 16;
  EXPECT_NEAR(step.seconds,
              (2 * products + head) / 1e6 + 2 * attention / (1e6 / kRooflineCompute * kAttentionCompute) + 16e-6, 1e-9);
  EXPECT_EQ(step.bound(), Bound::kCompute);
  EXPECT_EQ(step.bound_of(OperatorClass::kElementwise), Bound::kStart);
  EXPECT_NEAR(step.roofline_s, (2 * (products + attention) + head) * kRooflineCompute / 1e6, 1e-9);
}

// 27 kernels of the shortest time: launches take longer, unless they are recorded.
TEST(StepTime, LaunchesHideBehindKernelsOrTheOtherWayRound) {
  const DeviceFacts fast = device_of("fast", DeviceKind::kGpu, 1e18, 1e18);
  const StepTime stream = time_of(tiny_llama(), decode(32), fast);
  EXPECT_NEAR(stream.device_seconds, 27 * 2e-6, 1e-15);
  EXPECT_NEAR(stream.launch_seconds, 27 * 5e-6, 1e-15);
  EXPECT_NEAR(stream.seconds, 27 * 5e-6, 1e-15);
  EXPECT_EQ(stream.bound(), Bound::kLaunch);
  EXPECT_EQ(stream.log_sd, kLaunchLogError);
  const StepTime graph = time_of(tiny_llama(), decode(32), fast, {LaunchMode::kGraph});
  EXPECT_NEAR(graph.seconds, 27 * 2e-6 + 5e-6, 1e-15);
  // Kernels long enough hide every launch.
  const StepTime busy = time_of(tiny_llama(), decode(32), device_of("slow", DeviceKind::kGpu, 1e12, 1e6));
  EXPECT_EQ(busy.seconds, busy.device_seconds);
}

TEST(StepTime, EagerAttentionReadsScoresAndGroupsQueriesByHead) {
  LlmWorkload workload = decode(32);
  workload.fused_attention = false;
  const StepTime step = time_of(tiny_llama(), workload, device_of("slow memory", DeviceKind::kCpu, 1e12, 1e6));
  // Two products of 2 x 16 x 32 for each of 2 heads of keys, and 4 x 32 scores through scale and softmax.
  const double scores = 2 * (2 * 16 + 2 * 32) * 2 + 2048, values = 2 * (2 * 32 + 2 * 16) * 2 + 2048;
  const double softmax = 2 * 4 * 32 * 2, scale = 2 * 4 * 32 * 2;
  EXPECT_NEAR(step.seconds_of(OperatorClass::kAttention), 2 * (scores + values + softmax + scale) / 1e6, 1e-12);
}

TEST(StepTime, CollectivesTakeTheLink) {
  LlmWorkload workload = decode(32);
  workload.tensor_parallel = 2;
  DeviceFacts facts = device_of("pair", DeviceKind::kGpu, 1e12, 1e9);
  facts.link_bytes_per_s = 1e6 / kCollectiveLink;
  const StepTime step = time_of(tiny_llama(), workload, facts);
  // All-reduce of 64 values sends them once (2 * 1/2); five of them; gathering logits sends the device's half.
  EXPECT_NEAR(step.seconds_of(OperatorClass::kCollectives), 6 * 25e-6 + (5 * 128 + 100) / 1e6, 1e-12);
  EXPECT_EQ(step.bound_of(OperatorClass::kCollectives), Bound::kLink);

  StepTimer unknown(roofline(device_of("alone", DeviceKind::kGpu, 1e12, 1e9)));
  OperatorGraph graph;
  ASSERT_TRUE(build_operators(tiny_llama(), workload, graph));
  StepTime none;
  const Status status = unknown.time(tiny_llama(), workload, graph, none);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "unknown-link");
}

TEST(StepTime, ProductsAreComputedInTheWiderFormatThatTheDeviceHas) {
  const auto gpu = roofline(datacenter_gpu());
  const auto mode = [&](Precision weights, Precision activations) {
    LlmWorkload workload;
    workload.weights = weights;
    workload.activations = activations;
    const auto modes = math_modes(*gpu, workload);
    EXPECT_TRUE(modes);
    return modes->product;
  };
  EXPECT_EQ(mode(Precision::kFp16, Precision::kBf16), MathMode::kHalf);
  EXPECT_EQ(mode(Precision::kFp32, Precision::kFp16), MathMode::kFp32);
  EXPECT_EQ(mode(Precision::kInt8, Precision::kInt8), MathMode::kInt8);
  EXPECT_EQ(mode(Precision::kInt8, Precision::kFp16), MathMode::kHalf);
  EXPECT_EQ(mode(Precision::kQ4_K_M, Precision::kFp16), MathMode::kHalf);
  EXPECT_EQ(mode(Precision::kFp8, Precision::kFp8), MathMode::kHalf);    // has no units for it
  EXPECT_EQ(mode(Precision::kTf32, Precision::kTf32), MathMode::kFp32);  // likewise
  LlmWorkload eight;
  eight.weights = eight.activations = Precision::kInt8;
  EXPECT_EQ(math_modes(*gpu, eight)->attention, MathMode::kHalf);
  LlmWorkload full;
  full.weights = full.activations = Precision::kFp32;
  const auto refused = math_modes(*roofline(device_of("half only", DeviceKind::kGpu, 1e12, 1e9)), full);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "unsupported-precision");
}

TEST(StepTime, PartsAddUpAndTheRooflineIsBelowInEveryModelAndPhase) {
  for (const char* name : {"gpt2", "gpt3", "llama3-70b", "mixtral-8x7b", "deepseek-v3", "bert-large", "vit-base"}) {
    const auto config = built_in_model(name);
    ASSERT_TRUE(config) << name;
    for (const LlmPhase phase : {LlmPhase::kPrefill, LlmPhase::kDecode, LlmPhase::kTrain}) {
      if (phase == LlmPhase::kDecode && !config->has_cache()) continue;
      for (const bool fused : {true, false}) {
        LlmWorkload workload;
        workload.phase = phase;
        workload.sequence = std::min<int64_t>(512, usual_sequence(*config));
        workload.fused_attention = fused;
        const StepTime step = time_of(*config, workload, datacenter_gpu());
        double sum = 0;
        for (size_t i = 0; i < kOperatorClasses; ++i) sum += step.seconds_of(static_cast<OperatorClass>(i));
        EXPECT_NEAR(sum, step.device_seconds, 1e-9 * sum) << name;
        EXPECT_LE(step.roofline_s, step.seconds) << name;
        EXPECT_GT(step.seconds_of(OperatorClass::kAttention), 0) << name;
        // All errors are alike, so theirs together lie between those fully shared and those half shared.
        if (step.bound() != Bound::kLaunch) {
          EXPECT_LE(step.log_sd, 0.3 + 1e-12) << name;
          EXPECT_GE(step.log_sd, 0.3 * std::sqrt(kSharedError) - 1e-12) << name;
        }
      }
    }
  }
}

TEST(StepTime, FusedAttentionIsNeverSlowerThanScoresThroughMemory) {
  const auto config = built_in_model("llama3-8b");
  for (const int64_t length : {128, 2048, 8192}) {
    LlmWorkload workload = prefill(length);
    const double fused = time_of(*config, workload, datacenter_gpu()).seconds_of(OperatorClass::kAttention);
    workload.fused_attention = workload.skip_masked = false;
    EXPECT_LE(fused, time_of(*config, workload, datacenter_gpu()).seconds_of(OperatorClass::kAttention));
  }
}

TEST(OperatorMemo, RemembersGrowsAndStaysWithinItsBounds) {
  OperatorMemo memo(1024);
  int asked = 0;
  const auto ask = [&](double number) {
    return memo.find_or({1, {number, 2, 3, 4, 5}}, [&] { return ++asked, OperatorTime{number, 0, Bound::kCompute}; });
  };
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(ask(i).seconds, i);
  EXPECT_EQ(asked, 1000);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(ask(i).seconds, i);
  EXPECT_EQ(asked, 1000);
  for (int i = 0; i < 20000; ++i) {
    EXPECT_EQ(ask(i).seconds, i);
    ASSERT_LE(memo.size(), 2048u);
  }
}

// A device that knows every kernel of attention and experts: one second each.
class KnownKernels : public LatencyModel {
 public:
  const DeviceFacts& device() const override { return base_->device(); }
  bool calibrated(MathMode, double) const override { return false; }
  bool supports(MathMode mode) const override { return base_->supports(mode); }
  OperatorTime product(const ProductShape& shape, MathMode mode, double weight_bytes) const override {
    return base_->product(shape, mode, weight_bytes);
  }
  OperatorTime kernel(const KernelShape& shape) const override {
    asked.push_back(shape);
    return {1, 0, Bound::kMemory, 0.05, true};
  }
  OperatorTime vector(const VectorShape& shape, double bytes_per_value) const override {
    return base_->vector(shape, bytes_per_value);
  }
  double log_error(MathMode) const override { return 0.1; }
  mutable std::vector<KernelShape> asked;

 private:
  std::shared_ptr<const LatencyModel> base_ = roofline(datacenter_gpu());
};

TEST(StepTime, KernelsThatAreKnownStandForTheirOperators) {
  const auto model = std::make_shared<KnownKernels>();
  const auto step_of = [&](const LlmConfig& config, const LlmWorkload& workload) {
    OperatorGraph graph;
    EXPECT_TRUE(build_operators(config, workload, graph));
    StepTimer timer(model);
    StepTime step;
    EXPECT_TRUE(timer.time(config, workload, graph, step));
    return step;
  };
  const StepTime token = step_of(tiny_llama(), decode(32, 3));
  EXPECT_EQ(token.seconds_of(OperatorClass::kAttention), 2);  // two layers
  EXPECT_EQ(token.measured_seconds, 2);
  ASSERT_EQ(model->asked.size(), 1u);
  EXPECT_EQ(model->asked[0], (KernelShape{KernelKind::kDecode, KernelFormat::kHalf, {3, 32, 4, 2, 16, 0}}));
  step_of(tiny_llama(), prefill(64));
  EXPECT_EQ(model->asked[1], (KernelShape{KernelKind::kPrefill, KernelFormat::kHalf, {1, 64, 4, 2, 16, 0}}));

  const auto mixtral = load_model("mixtral-8x7b");
  ASSERT_TRUE(mixtral);
  model->asked.clear();
  const StepTime experts = step_of(*mixtral, decode(128, 4));
  ASSERT_EQ(model->asked.size(), 2u);
  EXPECT_EQ(model->asked[1],
            (KernelShape{KernelKind::kExperts, KernelFormat::kHalf, {4, 4096, 14336, 2, 8, 1, 1, 1.01}}));
  EXPECT_GT(experts.seconds_of(OperatorClass::kExperts), 32);  // a second in each layer, and the router
  EXPECT_LT(experts.seconds_of(OperatorClass::kExperts), 32.1);
}

}  // namespace
}  // namespace perfcast::ai
