#include "ai/engine/cpu_engine_batch.h"

#include <gtest/gtest.h>

#include "ai/engine/testing/test_engine.h"

namespace perfcast::ai {
namespace {

class CpuEngineBatchTime : public testing::Test {
 protected:
  double seconds(const CpuEngineBatch& batch, bool sorts = false) const {
    return cpu_engine_batch_s(constants_, of_batches_, machine_, work_, sorts, batch);
  }

  const CpuEngineConstants constants_ = engine_test::cpu_profile().constants;
  const CpuEngineMachine machine_ = cpu_engine_machine_of(engine_test::cpu(), Precision::kFp16, 1);  // 4 threads
  const LlmWork work_ = engine_test::cpu_work();
  const CpuBatchConstants of_batches_ = {.sequence_ms = 2, .key_product_ns = 3, .prompt_ratio = 0.5};
};

TEST_F(CpuEngineBatchTime, OneSequenceIsASingleStream) {
  for (const bool sorts : {false, true}) {
    const CpuEngineTimes alone = cpu_engine_times(constants_, machine_, work_, sorts, 512);
    EXPECT_DOUBLE_EQ(seconds({.decodes = 1, .decode_context_tokens = 512, .samples = 1}, sorts), alone.token.seconds);
    EXPECT_DOUBLE_EQ(seconds({.prompt_tokens = 512, .prompt_pairs = 512 * 256, .samples = 1}, sorts),
                     alone.first.seconds);
  }
}

TEST_F(CpuEngineBatchTime, OtherSequencesCostTheHostTheirKeysAndAPartOfTheSort) {
  const CpuEngineBatch three{.decodes = 3, .decode_context_tokens = 300, .samples = 3};
  const CpuEngineStep step = cpu_engine_step(constants_, machine_, work_, true, 3, 3, 100);
  const double host_s = 2 * 2e-3 * cpu_engine_slowness(constants_, machine_);
  const double keys_s = 3e-9 * 200 * 20e3 / 4;
  EXPECT_DOUBLE_EQ(seconds(three), step.seconds - step.sort_s + host_s + keys_s);
  EXPECT_NEAR(seconds(three, true) - seconds(three), step.sort_s / 3 * 1.5, 1e-12);
}

TEST_F(CpuEngineBatchTime, APromptAmongOthersIsQuicker) {
  CpuBatchConstants plain = of_batches_;
  plain.prompt_ratio = 1;
  const CpuEngineBatch mixed{
      .decodes = 2, .decode_context_tokens = 20, .prompt_tokens = 100, .prompt_pairs = 5000, .samples = 3};
  EXPECT_DOUBLE_EQ(seconds(mixed), 0.5 * cpu_engine_batch_s(constants_, plain, machine_, work_, false, mixed));
}

}  // namespace
}  // namespace perfcast::ai
