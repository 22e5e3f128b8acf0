#include "ai/llm/operator_graph.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/llm/hf_config_reader.h"
#include "ai/llm/model_catalogue.h"

namespace perfcast::ai {
namespace {

LlmConfig model(const char* name) { return *built_in_model(name); }

LlmWorkload prefill(int64_t sequence, int64_t batch = 1) {
  LlmWorkload workload;
  workload.sequence = sequence;
  workload.batch = batch;
  return workload;
}

LlmWorkload decode(int64_t context, int64_t batch = 1) {
  LlmWorkload workload = prefill(1, batch);
  workload.phase = LlmPhase::kDecode;
  workload.context = context;
  return workload;
}

OperatorGraph built(const LlmConfig& config, const LlmWorkload& workload) {
  OperatorGraph graph;
  const Status status = build_operators(config, workload, graph);
  EXPECT_TRUE(status) << config.name << ": " << (status ? "" : to_text(status.error()));
  return graph;
}

LlmTotals totals_of(const LlmConfig& config, const LlmWorkload& workload) {
  const auto totals = total_operators(config, workload, built(config, workload));
  EXPECT_TRUE(totals);
  return *totals;
}

double macs_of(const LlmConfig& config, const LlmWorkload& workload) { return totals_of(config, workload).macs; }

LlmWorkload usual(const LlmConfig& config) { return prefill(std::min<int64_t>(usual_sequence(config), 512), 2); }
LlmWorkload fitting(const LlmConfig& config) {
  LlmWorkload workload = usual(config);
  if (config.kind == LlmKind::kVision) workload.sequence = usual_sequence(config);
  return workload;
}

TEST(OperatorGraph, Gpt3AsOnTheSlidesButRight) {
  const LlmConfig gpt3 = model("gpt3");
  const OperatorGraph graph = built(gpt3, prefill(2048));

  const LlmOperator* query = graph.find(OperatorName::kQueryProjection);
  ASSERT_NE(query, nullptr);
  EXPECT_EQ(query->macs, 96.0 * 3'221'225'472);  // the slides' row is one head of 96

  const LlmOperator* scores = graph.find(OperatorName::kScores);
  ASSERT_NE(scores, nullptr);
  EXPECT_EQ(scores->k, 128);
  EXPECT_EQ(scores->batch, 96);
  EXPECT_EQ(scores->count, 96);
  EXPECT_EQ(scores->macs / 96, 536'870'912.0);
  const LlmOperator* values = graph.find(OperatorName::kValues);
  ASSERT_NE(values, nullptr);
  EXPECT_EQ(values->macs, scores->macs);

  EXPECT_EQ(graph.find(OperatorName::kAttentionOutput)->macs, 309'237'645'312.0);
  EXPECT_EQ(graph.find(OperatorName::kFfnUp)->macs, 1'236'950'581'248.0);
  EXPECT_EQ(graph.find(OperatorName::kFfnDown)->macs, 1'236'950'581'248.0);
  EXPECT_EQ(graph.find(OperatorName::kLanguageHead)->macs, 1'288'490'188'800.0);
  EXPECT_EQ(graph.find(OperatorName::kTokenEmbedding)->macs, 0.0);

  const double d = 12288;
  const double expected = 96 * 12 * d * d * 2048 + 2 * 96 * 96 * 536'870'912.0 + 51200 * d * 2048;
  EXPECT_EQ(totals_of(gpt3, prefill(2048)).macs, expected);
  EXPECT_NEAR(expected, 3.674e14, 0.0005e14);
}

// Every parameter but look-up tables is read once in a step that visits all experts.
TEST(OperatorGraph, ReadsEachWeightOnce) {
  for (const std::string& name : built_in_models()) {
    LlmConfig config = model(name.c_str());
    if (name == "gpt3") config.norm_parameters = true;
    LlmWorkload workload = fitting(config);
    workload.batch = 2000;
    double read = 0;
    for (const LlmOperator& op : built(config, workload)) {
      if (op.name == OperatorName::kTokenEmbedding || op.name == OperatorName::kPositionEmbedding) continue;
      read += op.weight_bytes * static_cast<double>(op.count) / 2;
    }
    const auto count = count_parameters(config);
    ASSERT_TRUE(count);
    double expected = static_cast<double>(count->total - config.position_rows * config.hidden);
    if (config.kind == LlmKind::kVision) {
      expected -= static_cast<double>(config.hidden);  // the class token
    } else if (!config.tied_embeddings || !config.language_head) {
      expected -= static_cast<double>(config.vocab * config.hidden);
    }
    EXPECT_NEAR(read / expected, 1, 1e-12) << name;
  }
}

constexpr const char* kHybrids[] = {
    R"({"model_type": "bamba", "hidden_size": 256, "num_hidden_layers": 6, "intermediate_size": 512,
        "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 1000, "mamba_n_heads": 16,
        "attn_layer_indices": [2, 5]})",
    R"({"model_type": "jamba", "hidden_size": 256, "num_hidden_layers": 8, "intermediate_size": 512,
        "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 1000, "num_experts": 4})",
    R"({"model_type": "nemotron_h", "hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 8,
        "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 1000, "mamba_num_heads": 16, "mamba_head_dim": 32,
        "n_routed_experts": 8, "moe_intermediate_size": 64, "moe_shared_expert_intermediate_size": 128,
        "hybrid_override_pattern": "M-M*-ME"})"};

TEST(OperatorGraph, ReadsEachWeightOfAHybridOnce) {
  for (const char* const json : kHybrids) {
    const auto config = parse_hf_config(json, "h");
    ASSERT_TRUE(config) << to_text(config.error());
    LlmWorkload workload = prefill(64);
    workload.batch = 2000;
    double read = 0;
    for (const LlmOperator& op : built(*config, workload)) {
      if (op.name == OperatorName::kTokenEmbedding) continue;
      read += op.weight_bytes * static_cast<double>(op.count) / 2;
    }
    double expected = static_cast<double>(count_parameters(*config)->total - config->vocab * config->hidden);
    // A load correction for each expert is no part of the product.
    EXPECT_NEAR(read / expected, 1, 1e-6) << json;
  }
}

// What Mamba layers keep of a sequence does not grow with it.
TEST(OperatorGraph, StatesOfAHybridAreOfOneSize) {
  const auto config = parse_hf_config(kHybrids[0], "h");
  ASSERT_TRUE(config) << to_text(config.error());
  LlmWorkload workload = decode(100);
  const LlmTotals at_100 = totals_of(*config, workload);
  workload.context = 200;
  const LlmTotals at_200 = totals_of(*config, workload);
  EXPECT_EQ(at_100.kv_bytes_per_token, 2 * 2 * 2 * 32 * 2);  // layers, heads, keys and values, width, fp16
  EXPECT_EQ(at_200.kv_bytes - at_100.kv_bytes, 100 * at_100.kv_bytes_per_token);
  const double states = 4 * (512 * 256 + (512 + 2 * 256) * 3) * 2;
  EXPECT_EQ(at_100.kv_bytes, states + 100 * at_100.kv_bytes_per_token);
}

TEST(OperatorGraph, PartsAreReadAsTheyAreStored) {
  const LlmConfig oss = model("gpt-oss-20b");
  LlmWorkload workload = decode(100);
  const double count = static_cast<double>(count_parameters(oss)->total);
  workload.weight_bits_per_value = *oss.stored_weight_bytes * 8 / count;
  const OperatorGraph graph = built(oss, workload);
  EXPECT_NEAR(graph.find(OperatorName::kLanguageHead)->weight_bytes, 201088.0 * 2880 * 2, 1);
  EXPECT_NEAR(graph.find(OperatorName::kExpertDown)->weight_bytes, 4 * (2880.0 + 1) * 2880 * 4.25 / 8, 1);
}

TEST(OperatorGraph, AllFiguresAreFiniteAndNotNegative) {
  for (const std::string& name : built_in_models()) {
    const LlmConfig config = model(name.c_str());
    for (const LlmPhase phase : {LlmPhase::kPrefill, LlmPhase::kDecode, LlmPhase::kTrain}) {
      if (phase == LlmPhase::kDecode && !config.has_cache()) continue;
      for (const bool fused : {false, true}) {
        LlmWorkload workload = fitting(config);
        workload.phase = phase;
        workload.fused_attention = fused;
        const OperatorGraph graph = built(config, workload);
        for (const LlmOperator& op : graph) {
          EXPECT_GE(op.m, 1) << name << " " << name_of(op.name);
          EXPECT_GE(op.n, 1) << name << " " << name_of(op.name);
          EXPECT_GE(op.count, 1) << name << " " << name_of(op.name);
          EXPECT_EQ(op.is_product(), op.k > 0) << name << " " << name_of(op.name);
          for (const double value :
               {op.macs, op.flops, op.weight_bytes, op.input_bytes, op.output_bytes, op.kv_bytes, op.link_bytes}) {
            EXPECT_TRUE(std::isfinite(value) && value >= 0) << name << " " << name_of(op.name);
          }
        }
      }
    }
  }
}

TEST(OperatorGraph, FusedOrNotThereAreAsManyProducts) {
  for (const char* name : {"gpt2", "llama3-8b", "gemma2-2b", "mixtral-8x7b"}) {
    LlmConfig config = model(name);
    const double fused = macs_of(config, prefill(256));
    config.fused_qkv = config.fused_gate_up = false;
    LlmWorkload eager = prefill(256);
    eager.fused_attention = false;
    EXPECT_EQ(macs_of(config, eager), fused) << name;
    EXPECT_GT(totals_of(config, eager).traffic_bytes, totals_of(config, prefill(256)).traffic_bytes) << name;
  }
}

TEST(OperatorGraph, OperationsGrowLinearlyWithTheBatch) {
  for (const std::string& name : built_in_models()) {
    const LlmConfig config = model(name.c_str());
    LlmWorkload one = fitting(config);
    one.batch = 1;
    LlmWorkload seven = one;
    seven.batch = 7;
    EXPECT_EQ(totals_of(config, seven).macs, 7 * totals_of(config, one).macs) << name;
    EXPECT_EQ(totals_of(config, seven).kv_bytes, 7 * totals_of(config, one).kv_bytes) << name;
    EXPECT_LT(totals_of(config, seven).traffic_bytes, 7 * totals_of(config, one).traffic_bytes) << name;
  }
}

// The c-th token costs what a prompt of c tokens costs more than one of c - 1, where nothing masked is computed.
TEST(OperatorGraph, DecodingIsTheDifferenceOfPrompts) {
  for (const char* name : {"gpt2", "llama3-8b", "gemma-2b", "mixtral-8x7b", "mistral-7b", "gemma2-2b", "phi-2"}) {
    LlmConfig config = model(name);
    if (config.sliding_window > 0) config.sliding_window = 300;
    for (const int64_t context : {2, 299, 300, 301, 777}) {
      LlmWorkload longer = prefill(context, 3);
      longer.skip_masked = true;
      LlmWorkload shorter = longer;
      shorter.sequence = context - 1;
      EXPECT_EQ(macs_of(config, longer) - macs_of(config, shorter), macs_of(config, decode(context, 3)))
          << name << " " << context;
    }
  }
}

TEST(OperatorGraph, MaskedHalfIsSkippedOnlyWhereAsked) {
  const LlmConfig config = model("llama2-7b");
  LlmWorkload workload = prefill(1000);
  EXPECT_EQ(built(config, workload).find(OperatorName::kScores)->macs, 32.0 * 128 * 1000 * 1000);
  workload.skip_masked = true;
  EXPECT_EQ(built(config, workload).find(OperatorName::kScores)->macs, 32.0 * 128 * 1000 * 1001 / 2);
  // Encoders see both ways.
  LlmWorkload both = prefill(512);
  both.skip_masked = true;
  EXPECT_EQ(macs_of(model("bert-base"), both), macs_of(model("bert-base"), prefill(512)));
}

TEST(OperatorGraph, ShardsSumToTheWhole) {
  for (const char* name : {"llama3-8b", "llama2-70b", "qwen2.5-72b", "mixtral-8x7b", "gpt3"}) {
    const LlmConfig config = model(name);
    for (const int64_t devices : {2, 4, 8}) {
      for (const bool decodes : {false, true}) {
        LlmWorkload workload = decodes ? decode(1024, 4) : prefill(1024, 4);
        const OperatorGraph whole = built(config, workload);
        workload.tensor_parallel = devices;
        const OperatorGraph part = built(config, workload);
        for (const LlmOperator& op : whole) {
          if (!op.is_product() || op.name == OperatorName::kRouter) continue;
          const LlmOperator* mine = part.find(op.name);
          ASSERT_NE(mine, nullptr);
          EXPECT_EQ(mine->macs * static_cast<double>(devices), op.macs) << name << " " << name_of(op.name);
          EXPECT_EQ(mine->kv_bytes * static_cast<double>(devices), op.kv_bytes) << name << " " << name_of(op.name);
        }
        // Two all-reduces a layer and one behind the embedding.
        EXPECT_EQ(part.find(OperatorName::kAttentionAllReduce)->count, config.layers);
        EXPECT_EQ(part.find(OperatorName::kFfnAllReduce)->count, config.layers);
        EXPECT_EQ(whole.find(OperatorName::kAttentionAllReduce), nullptr);
      }
    }
  }
}

TEST(OperatorGraph, AllReduceSendsTwiceAllButItsShare) {
  LlmWorkload workload = prefill(100, 2);
  workload.tensor_parallel = 4;
  const OperatorGraph graph = built(model("llama3-8b"), workload);
  EXPECT_EQ(graph.find(OperatorName::kAttentionAllReduce)->link_bytes, 2 * 0.75 * 200 * 4096 * 2);
}

TEST(OperatorGraph, KeyValueHeadsAreRepeatedOverMoreDevices) {
  const LlmConfig config = model("llama3-70b");  // 64 heads, 8 of keys and values
  LlmWorkload workload = decode(1000);
  workload.tensor_parallel = 16;
  const OperatorGraph graph = built(config, workload);
  EXPECT_EQ(graph.find(OperatorName::kQkvProjection)->n, (4 + 2) * 128);
  EXPECT_EQ(totals_of(config, workload).kv_bytes_per_token, 80 * 2 * 128 * 2.0);
  workload.tensor_parallel = 1;
  EXPECT_EQ(totals_of(config, workload).kv_bytes_per_token, 80 * 8 * 2 * 128 * 2.0);
}

TEST(OperatorGraph, ShardParametersAddUpToWhatIsSplitAndWhatIsHeldByAll) {
  const LlmConfig config = model("llama3-8b");
  const auto whole = count_parameters(config);
  const auto part = count_shard_parameters(config, 8);
  ASSERT_TRUE(whole && part);
  EXPECT_EQ(8 * (part->total - part->norm) + part->norm, whole->total);
}

// Published: DeepSeek-V3 70.272 kB, Qwen2.5-72B 327.680 kB, Llama 3.1 405B 516.096 kB a token at 16 bits.
TEST(OperatorGraph, CacheBytesPerToken) {
  EXPECT_EQ(totals_of(model("deepseek-v3"), decode(100)).kv_bytes_per_token, 70'272.0);
  EXPECT_EQ(totals_of(model("qwen2.5-72b"), decode(100)).kv_bytes_per_token, 327'680.0);
  EXPECT_EQ(totals_of(model("llama3.1-405b"), decode(100)).kv_bytes_per_token, 516'096.0);
  EXPECT_EQ(totals_of(model("llama3-8b"), decode(100, 5)).kv_bytes, 5 * 100 * 131'072.0);
  EXPECT_EQ(totals_of(model("bert-base"), prefill(100)).kv_bytes, 0.0);
}

// What attention reads is what the cache holds.
TEST(OperatorGraph, DecodingReadsTheWholeCacheOnce) {
  for (const char* name : {"gpt2", "llama3-8b", "gemma-2b", "gemma2-9b", "mistral-7b", "deepseek-v3"}) {
    const LlmConfig config = model(name);
    const LlmWorkload workload = decode(name == std::string("gpt2") ? 1000 : 6000, 3);
    double read = 0;
    for (const LlmOperator& op : built(config, workload)) {
      if (op.name != OperatorName::kCacheWrite) read += op.kv_bytes * static_cast<double>(op.count);
    }
    EXPECT_EQ(read, totals_of(config, workload).kv_bytes) << name;
  }
}

TEST(OperatorGraph, WindowsCapWhatIsAttendedTo) {
  const OperatorGraph mistral = built(model("mistral-7b"), decode(10000));
  EXPECT_EQ(mistral.find(OperatorName::kScores), nullptr);
  EXPECT_EQ(mistral.find(OperatorName::kWindowScores)->n, 4096);
  const OperatorGraph gemma = built(model("gemma2-9b"), decode(10000));
  EXPECT_EQ(gemma.find(OperatorName::kScores)->n, 10000);
  EXPECT_EQ(gemma.find(OperatorName::kScores)->count, 21);
  EXPECT_EQ(gemma.find(OperatorName::kWindowScores)->count, 21);
  EXPECT_EQ(built(model("mistral-7b"), decode(100)).find(OperatorName::kWindowScores)->n, 100);
}

TEST(OperatorGraph, ExpertsThatAreTouched) {
  EXPECT_DOUBLE_EQ(expected_distinct_experts(8, 2, 1), 2);
  EXPECT_DOUBLE_EQ(expected_distinct_experts(8, 2, 2), 3.5);  // 2 and 6/8 of two more
  EXPECT_DOUBLE_EQ(expected_distinct_experts(8, 2, 1e6), 8);
  EXPECT_EQ(expected_distinct_experts(4, 4, 1), 4);
  const LlmConfig mixtral = model("mixtral-8x7b");
  const double expert_bytes = 3.0 * 4096 * 14336 * 2;
  const auto expert_weights = [&](int64_t batch) {
    const OperatorGraph graph = built(mixtral, decode(100, batch));
    return graph.find(OperatorName::kExpertGateUp)->weight_bytes + graph.find(OperatorName::kExpertDown)->weight_bytes;
  };
  EXPECT_NEAR(expert_weights(1), 2 * expert_bytes, 1);
  EXPECT_NEAR(expert_weights(2), 3.5 * expert_bytes, 1);
  // The products are those of two experts a token, however many are touched.
  EXPECT_EQ(built(mixtral, decode(100, 3)).find(OperatorName::kExpertDown)->macs, 3 * 2 * 14336.0 * 4096);
}

// Expanded and absorbed are the same attention: scores over 192 values a head, or over the latent of 576.
TEST(OperatorGraph, LatentAttentionBothWays) {
  const LlmConfig deepseek = model("deepseek-v3");
  const OperatorGraph expanded = built(deepseek, prefill(100));
  EXPECT_EQ(expanded.find(OperatorName::kScores)->k, 192);
  EXPECT_EQ(expanded.find(OperatorName::kValues)->n, 128);
  EXPECT_EQ(expanded.find(OperatorName::kMlaKvUp)->macs, 100.0 * 512 * 128 * 256);
  EXPECT_EQ(expanded.find(OperatorName::kMlaQueryAbsorb), nullptr);
  const OperatorGraph absorbed = built(deepseek, decode(100));
  EXPECT_EQ(absorbed.find(OperatorName::kScores)->k, 576);
  EXPECT_EQ(absorbed.find(OperatorName::kScores)->kv_bytes, 100.0 * 576 * 2);
  EXPECT_EQ(absorbed.find(OperatorName::kValues)->n, 512);
  EXPECT_EQ(absorbed.find(OperatorName::kMlaKvUp), nullptr);
  // The same weights, read per head.
  EXPECT_EQ(absorbed.find(OperatorName::kMlaQueryAbsorb)->weight_bytes +
                absorbed.find(OperatorName::kMlaValueAbsorb)->weight_bytes,
            expanded.find(OperatorName::kMlaKvUp)->weight_bytes);
}

TEST(OperatorGraph, TrainingDoesEachProductThreeTimes) {
  for (const char* name : {"gpt2", "bert-large", "llama3-8b", "mixtral-8x7b", "deepseek-v3"}) {
    const LlmConfig config = model(name);
    LlmWorkload workload = prefill(256, 2);
    const double forward = macs_of(config, workload);
    workload.phase = LlmPhase::kTrain;
    EXPECT_EQ(macs_of(config, workload), 3 * forward) << name;
    const auto parameters = static_cast<double>(count_parameters(config)->total);
    EXPECT_EQ(totals_of(config, workload).optimizer_bytes, 12 * parameters);
    EXPECT_EQ(totals_of(config, workload).gradient_bytes, 2 * parameters);
    for (const LlmOperator& op : built(config, workload)) {
      if (op.kind == OperatorKind::kAttentionScores || (op.kind == OperatorKind::kGemm && op.batch == 1)) {
        EXPECT_EQ(op.macs, static_cast<double>(op.m) * static_cast<double>(op.k) * static_cast<double>(op.n) *
                               static_cast<double>(op.batch))
            << name << " " << name_of(op.name) << " " << name_of(op.pass);
      }
    }
  }
}

TEST(OperatorGraph, PrecisionScalesBytes) {
  const LlmConfig config = model("llama3-8b");
  LlmWorkload workload = decode(1000);
  const LlmTotals half = totals_of(config, workload);
  EXPECT_EQ(half.weight_bytes, 2 * 8'030'261'248.0);
  workload.weights = Precision::kInt8;
  EXPECT_EQ(totals_of(config, workload).weight_bytes, 8'030'261'248.0);
  workload.kv = Precision::kFp8;
  EXPECT_EQ(totals_of(config, workload).kv_bytes, half.kv_bytes / 2);
  workload.weight_bits_per_value = 4.5;
  EXPECT_EQ(totals_of(config, workload).weight_bytes, 8'030'261'248.0 * 4.5 / 8);
}

TEST(OperatorGraph, HeadOfTheLastPositionAlone) {
  LlmWorkload workload = prefill(512, 3);
  workload.head_all_positions = false;
  EXPECT_EQ(built(model("llama3-8b"), workload).find(OperatorName::kLanguageHead)->m, 3);
}

TEST(OperatorGraph, RefusesWhatDoesNotFit) {
  OperatorGraph graph;
  const auto code = [&](const char* name, const LlmWorkload& workload) {
    const Status status = build_operators(model(name), workload, graph);
    EXPECT_EQ(graph.size(), 0u);
    return status ? "none" : status.error().code + " " + status.error().where;
  };
  EXPECT_EQ(code("gpt2", prefill(1025)), "bad-usage sequence");
  EXPECT_EQ(code("gpt2", decode(1025)), "bad-usage context");
  EXPECT_EQ(code("gpt2", prefill(0)), "bad-usage sequence");
  EXPECT_EQ(code("gpt2", prefill(1, 0)), "bad-usage batch");
  EXPECT_EQ(code("gpt2", prefill(1, -5)), "bad-usage batch");
  EXPECT_EQ(code("llama3-8b", prefill(INT64_MAX)), "bad-usage sequence");
  EXPECT_EQ(code("llama3-8b", prefill(int64_t{1} << 40, int64_t{1} << 40)), "size-overflow batch");
  EXPECT_EQ(code("bert-base", decode(10)), "bad-usage phase");
  EXPECT_EQ(code("vit-base", prefill(100)), "bad-usage sequence");
  LlmWorkload workload = prefill(8);
  workload.tensor_parallel = 3;
  EXPECT_EQ(code("llama3-8b", workload), "bad-usage tensor-parallel");
  workload.tensor_parallel = 0;
  EXPECT_EQ(code("llama3-8b", workload), "bad-usage tensor-parallel");
  workload = prefill(8);
  workload.activations = Precision::kInt4;
  EXPECT_EQ(code("llama3-8b", workload), "bad-usage precision");
  workload = prefill(8);
  workload.phase = LlmPhase::kTrain;
  workload.weights = Precision::kQ4_K_M;
  EXPECT_EQ(code("llama3-8b", workload), "bad-usage weights");
}

TEST(ModelConfig, RefusesAbsurdSizes) {
  LlmConfig config = model("llama3-8b");
  config.hidden = int64_t{1} << 40;
  EXPECT_EQ(check_config(config).error().code, "bad-model-config");
  config = model("mixtral-8x7b");
  config.layers = config.moe.moe_layers = 100'000;
  config.hidden = config.moe.expert_ffn = int64_t{1} << 26;
  EXPECT_EQ(count_parameters(config).error().code, "size-overflow");
  config = model("llama3-8b");
  config.kv_heads = 5;
  EXPECT_NE(check_config(config).error().message.find("kv_heads"), std::string::npos);
  config = model("mixtral-8x7b");
  config.moe.active_experts = 9;
  EXPECT_NE(check_config(config).error().message.find("active_experts"), std::string::npos);
}

}  // namespace
}  // namespace perfcast::ai
