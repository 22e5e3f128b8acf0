#include "ai/system/transformer_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>

#include "ai/load/load_generator.h"
#include "ai/transformer/testing/safetensors_writer.h"
#include "ai/transformer/weight_source.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A model so small that an answer takes a few hundred microseconds.
class SmallModel : public testing::Test {
 protected:
  SmallModel() {
    std::string pattern = testing::TempDir() + "perfcast-model-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    std::ofstream(folder_ + "/config.json")
        << R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2,
               "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32, "intermediate_size": 128,
               "vocab_size": 256, "max_position_embeddings": 64, "hidden_act": "silu", "tie_word_embeddings": true})";
    options_.model = folder_;
    options_.slots = 4;
    options_.prompt_tokens = 12;
    options_.new_tokens = 6;
  }
  ~SmallModel() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  TransformerSystemOptions options_;
};

// Weights in a file, random but for the last norm, which all logits are multiplied by.
void write_weights(const std::string& folder, float last_norm) {
  const RandomWeights weights(2, 1);
  std::vector<WrittenTensor> tensors;
  const auto put = [&](const std::string& name, WeightPart part, int64_t layer, int64_t rows, int64_t inputs) {
    std::vector<float> all, row(static_cast<size_t>(inputs));
    for (int64_t i = 0; i < rows; ++i) {
      ASSERT_TRUE(weights.row(part, layer, i, row));
      all.insert(all.end(), row.begin(), row.end());
    }
    if (part == WeightPart::kFinalNorm) std::fill(all.begin(), all.end(), last_norm);
    std::vector<int64_t> shape = {rows, inputs};
    if (name.ends_with("norm.weight")) shape = {inputs};
    tensors.push_back({name, "F32", shape, float_bytes(all)});
  };
  for (int64_t layer = 0; layer < 2; ++layer) {
    const std::string inside = "model.layers." + std::to_string(layer) + ".";
    put(inside + "input_layernorm.weight", WeightPart::kAttentionNorm, layer, 1, 64);
    put(inside + "self_attn.q_proj.weight", WeightPart::kQuery, layer, 64, 64);
    put(inside + "self_attn.k_proj.weight", WeightPart::kKey, layer, 32, 64);
    put(inside + "self_attn.v_proj.weight", WeightPart::kValue, layer, 32, 64);
    put(inside + "self_attn.o_proj.weight", WeightPart::kAttentionOutput, layer, 64, 64);
    put(inside + "post_attention_layernorm.weight", WeightPart::kFfnNorm, layer, 1, 64);
    put(inside + "mlp.gate_proj.weight", WeightPart::kGate, layer, 128, 64);
    put(inside + "mlp.up_proj.weight", WeightPart::kUp, layer, 128, 64);
    put(inside + "mlp.down_proj.weight", WeightPart::kDown, layer, 64, 128);
  }
  put("model.embed_tokens.weight", WeightPart::kEmbedding, 0, 256, 64);
  put("model.norm.weight", WeightPart::kFinalNorm, 0, 1, 64);
  std::ofstream(folder + "/model.safetensors", std::ios::binary) << tensors_text(tensors);
}

// Keeps what is reported; answers come from another thread.
class KeepingSink final : public ResponseSink {
 public:
  void token(uint64_t id, int64_t count, int64_t) override {
    const std::lock_guard guard(lock_);
    EXPECT_FALSE(data.contains(id)) << "a token behind the end";
    tokens[id] += count;
  }
  void complete(uint64_t id, const SampleAnswer& answer) override {
    const std::lock_guard guard(lock_);
    EXPECT_TRUE(data.emplace(id, answer.data).second) << "answered twice";
    if (data.size() == awaited) changed_.notify_all();
  }
  void fail(uint64_t, const std::string& why, int64_t) override { ADD_FAILURE() << why; }
  void nonsense(const std::string& what) override { ADD_FAILURE() << what; }
  void broke(const Error& error) override { ADD_FAILURE() << to_text(error); }
  void wait_for(size_t count) {
    std::unique_lock lock(lock_);
    awaited = count;
    changed_.wait(lock, [&] { return data.size() >= count; });
  }

  std::map<uint64_t, int64_t> tokens;
  std::map<uint64_t, std::string> data;

 private:
  size_t awaited = 0;
  std::mutex lock_;
  std::condition_variable changed_;
};

TEST(TransformerSystem, ReadsItsForms) {
  TransformerSystemOptions defaults;
  defaults.threads = 3;
  const auto plain = parse_transformer_system("transformer", defaults, "--system");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->model, "perfcast-15m");
  EXPECT_EQ(plain->threads, 3);
  const auto full = parse_transformer_system("transformer:a/b.gguf,int8,threads=2,slots=16", defaults, "--system");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->model, "a/b.gguf");
  EXPECT_EQ(full->precision, Precision::kInt8);
  EXPECT_EQ(full->threads, 2);
  EXPECT_EQ(full->slots, 16);
  for (const char* const text :
       {"transformer:", "transformer:m,fp16", "transformer:m,", "transformer:m,slots", "transformer:m,slots=0",
        "transformer:m,slots=4097", "transformer:m,threads=x", "transformer:m,batch=2", "transformer:m,slots=2x"}) {
    const auto options = parse_transformer_system(text, defaults, "--system");
    ASSERT_FALSE(options) << text;
    EXPECT_EQ(options.error().where, "--system");
    EXPECT_THAT(options.error().expected, HasSubstr("transformer:MODEL"));
  }
}

TEST_F(SmallModel, WhatCannotBeIsSaid) {
  TransformerSystemOptions options = options_;
  options.new_tokens = 0;
  EXPECT_EQ(TransformerSystem::create(options).error().code, "bad-usage");
  options.new_tokens = 60;
  EXPECT_THAT(TransformerSystem::create(options).error().where, HasSubstr("--prompt-words"));
  options.model = folder_ + "/nowhere";
  EXPECT_EQ(TransformerSystem::create(options).error().code, "unknown-model");
}

TEST_F(SmallModel, AnswersRightInAllScenarios) {
  for (const Precision precision : {Precision::kFp32, Precision::kInt8}) {
    options_.precision = precision;
    const auto system = TransformerSystem::create(options_);
    ASSERT_TRUE(system) << to_text(system.error());
    EXPECT_THAT((*system)->name(), HasSubstr("random weights"));
    for (const LoadScenario scenario :
         {LoadScenario::kSingleStream, LoadScenario::kMultiStream, LoadScenario::kServer, LoadScenario::kOffline}) {
      LoadSettings settings;
      settings.scenario = scenario;
      settings.mode = LoadMode::kAccuracy;
      settings.loaded_samples = settings.total_samples = 16;
      settings.target_qps = 2000;
      settings.tokens = true;
      LoadHooks hooks;
      hooks.judge = [&](uint32_t index, std::string_view data) { return (*system)->is_right(index, data); };
      const auto result = run_load(settings, **system, hooks);
      ASSERT_TRUE(result);
      EXPECT_THAT(result->faults, IsEmpty());
      EXPECT_GE(result->judged, 16);
      EXPECT_EQ(result->right, result->judged);
      EXPECT_EQ(result->tokens, 6 * result->answered);
      EXPECT_EQ(result->too_few_tokens, 0);
    }
    EXPECT_EQ((*system)->is_right(0, "1 2 3"), false);
    EXPECT_EQ((*system)->is_right(0, "0 0 0 0 0 x"), false);
    EXPECT_EQ((*system)->is_right(0, "-1 0 0 0 0 0"), false);
  }
}

TEST_F(SmallModel, TokensComeBeforeTheEndAndTwoRunsAreAlike) {
  const auto system = TransformerSystem::create(options_);
  ASSERT_TRUE(system);
  std::vector<IssuedSample> query;
  query.reserve(10);
  for (uint32_t i = 0; i < 10; ++i) query.push_back({i, i});
  std::map<uint64_t, std::string> first;
  for (int run = 0; run < 2; ++run) {
    KeepingSink sink;
    ASSERT_TRUE((*system)->start({}, sink));
    (*system)->issue(query);
    (*system)->flush();
    sink.wait_for(query.size());
    (*system)->finish();
    for (const IssuedSample& sample : query) {
      EXPECT_EQ(sink.tokens[sample.id], 6);
      EXPECT_EQ(split(sink.data[sample.id], ' ').size(), 6u);
    }
    if (run > 0) {
      EXPECT_EQ(sink.data, first);
    }
    first = sink.data;
  }
}

LoadResult judged_run(SystemUnderTest& system) {
  LoadSettings settings;
  settings.scenario = LoadScenario::kOffline;
  settings.mode = LoadMode::kAccuracy;
  settings.loaded_samples = settings.total_samples = 16;
  LoadHooks hooks;
  hooks.judge = [&](uint32_t index, std::string_view data) { return system.is_right(index, data); };
  auto result = run_load(settings, system, hooks);
  EXPECT_TRUE(result);
  return result ? std::move(*result) : LoadResult();
}

TEST_F(SmallModel, WhatIsNearTheLargestIsSaidByTheLogitsSpread) {
  for (const float last_norm : {1e-5F, 1.0F, 1e5F}) {
    write_weights(folder_, last_norm);
    const auto system = TransformerSystem::create(options_);
    ASSERT_TRUE(system) << to_text(system.error());
    EXPECT_THAT((*system)->name(), Not(HasSubstr("random weights")));
    const LoadResult result = judged_run(**system);
    EXPECT_EQ(result.judged, 16) << last_norm;
    EXPECT_EQ(result.right, 16) << last_norm;
    // Of 256 tokens one is the likeliest.
    int right = 0;
    for (int token = 0; token < 256; ++token) {
      const std::string answer = join(std::vector<std::string>(6, std::to_string(token)), " ");
      right += (*system)->is_right(0, answer) == true ? 1 : 0;
    }
    EXPECT_LE(right, 1) << last_norm;
  }
}

TEST_F(SmallModel, WhatIsNoNumberIsNeverRight) {
  write_weights(folder_, std::numeric_limits<float>::quiet_NaN());
  const auto system = TransformerSystem::create(options_);
  ASSERT_TRUE(system) << to_text(system.error());
  const LoadResult result = judged_run(**system);
  EXPECT_EQ(result.judged, 16);
  EXPECT_EQ(result.right, 0);
}

TEST_F(SmallModel, AJudgeThatCannotBeOpenedIsAnErrorThatStays) {
  const auto system = TransformerSystem::create(options_);
  ASSERT_TRUE(system);
  EXPECT_FALSE((*system)->judging_error());
  std::filesystem::rename(folder_ + "/config.json", folder_ + "/away");
  EXPECT_EQ((*system)->is_right(0, "0 0 0 0 0 0"), std::nullopt);
  ASSERT_TRUE((*system)->judging_error());
  const std::string code = (*system)->judging_error()->code;
  std::filesystem::rename(folder_ + "/away", folder_ + "/config.json");
  EXPECT_EQ((*system)->is_right(0, "0 0 0 0 0 0"), std::nullopt);
  EXPECT_EQ((*system)->judging_error()->code, code);
}

TEST_F(SmallModel, StopsInTheMiddleAndAnswersAgain) {
  options_.new_tokens = 50;
  KeepingSink last;  // outlives the system, which ends with work in its hands
  const auto system = TransformerSystem::create(options_);
  ASSERT_TRUE(system);
  std::vector<IssuedSample> many;
  many.reserve(500);
  for (uint32_t i = 0; i < 500; ++i) many.push_back({i, i});
  size_t answered = 0;
  {
    KeepingSink sink;
    ASSERT_TRUE((*system)->start({}, sink));
    (*system)->issue(many);
    sink.wait_for(1);
    (*system)->finish();
    answered = sink.data.size();
  }
  EXPECT_LT(answered, many.size());
  // What was dropped doesn't come later.
  ASSERT_TRUE((*system)->start({}, last));
  (*system)->issue(std::span(many).first(3));
  last.wait_for(3);
  EXPECT_EQ(last.data.size(), 3u);
  (*system)->issue(many);
}

}  // namespace
}  // namespace perfcast::ai
