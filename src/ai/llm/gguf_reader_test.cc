#include "ai/llm/gguf_reader.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "ai/llm/model_catalogue.h"
#include "ai/llm/testing/gguf_writer.h"
#include "base/file.h"

namespace perfcast::ai {
namespace {

using testing::GgufWriter;
using testing::tiny_llama;

Result<LlmConfig> config_of(const std::string& bytes) {
  const auto header = parse_gguf_header(bytes, "x.gguf");
  if (!header) return header.error();
  return gguf_config(*header, "x.gguf");
}

TEST(GgufReader, ReadsTheArchitectureAndTheBytesOfItsTensors) {
  for (const uint32_t version : {2u, 3u}) {
    const auto config = config_of(tiny_llama(version).bytes());
    ASSERT_TRUE(config) << to_text(config.error());
    EXPECT_EQ(config->name, "tiny");
    EXPECT_EQ(config->layers, 2);
    EXPECT_EQ(config->hidden, 64);
    EXPECT_EQ(config->heads, 4);
    EXPECT_EQ(config->kv_heads, 2);
    EXPECT_EQ(config->head_dim, 16);
    EXPECT_EQ(config->ffn, 128);
    EXPECT_EQ(config->vocab, 100);
    EXPECT_EQ(config->max_positions, 512);
    EXPECT_FALSE(config->tied_embeddings);
    EXPECT_TRUE(config->gated_ffn);
    EXPECT_FALSE(config->qkv_bias);
    const int64_t layer = 4096 + 2048 + 2048 + 4096 + 8192 + 8192 + 8192;
    const int64_t matrices = 6400 + layer + layer + 6400;
    const int64_t norms = 64 + 64 + 64 + 64 + 64;
    EXPECT_EQ(count_parameters(*config)->total, matrices + norms);
    EXPECT_EQ(config->stored_weight_bytes, matrices / 32 * 34 + norms * 4);
    EXPECT_TRUE(config->notes.empty());
  }
}

TEST(GgufReader, TensorsSayWhatTheHeadAndTheBiasesAre) {
  GgufWriter file;
  file.text("general.architecture", "qwen2");
  for (const char* key : {"block_count", "attention.head_count"}) file.u32(std::string("qwen2.") + key, 1);
  for (const char* key : {"embedding_length", "feed_forward_length"}) file.u64(std::string("qwen2.") + key, 32);
  file.tensor("token_embd.weight", {32, 7}, 1);
  file.tensor("blk.0.attn_q.bias", {32}, 0);
  const auto config = config_of(file.bytes());
  ASSERT_TRUE(config) << to_text(config.error());
  EXPECT_TRUE(config->tied_embeddings);
  EXPECT_TRUE(config->qkv_bias);
  EXPECT_FALSE(config->attention_out_bias);
  EXPECT_EQ(config->vocab, 7);          // of the table, where there are no tokens
  EXPECT_EQ(config->notes.size(), 1u);  // most tensors are missing
}

TEST(GgufReader, PerLayerArraysMustBeAlike) {
  const auto with = [](const std::vector<uint32_t>& kv_heads) {
    GgufWriter file;
    file.text("general.architecture", "llama");
    file.u32("llama.block_count", 2);
    file.u32("llama.embedding_length", 64);
    file.u32("llama.feed_forward_length", 64);
    file.u32("llama.attention.head_count", 4);
    file.u32_array("llama.attention.head_count_kv", kv_heads);
    file.u32("llama.vocab_size", 10);
    return config_of(file.bytes());
  };
  EXPECT_EQ(with({2, 2})->kv_heads, 2);
  const auto uneven = with({2, 4});
  ASSERT_FALSE(uneven);
  EXPECT_NE(uneven.error().message.find("head_count_kv differs"), std::string::npos);
}

TEST(GgufReader, MixtureAndLatentAttention) {
  GgufWriter file;
  file.text("general.architecture", "deepseek2");
  const std::pair<const char*, uint32_t> sizes[] = {{"block_count", 3},
                                                    {"embedding_length", 64},
                                                    {"feed_forward_length", 128},
                                                    {"attention.head_count", 4},
                                                    {"attention.head_count_kv", 1},
                                                    {"attention.q_lora_rank", 24},
                                                    {"attention.kv_lora_rank", 16},
                                                    {"attention.key_length", 24},
                                                    {"attention.value_length", 16},
                                                    {"attention.key_length_mla", 12},
                                                    {"attention.value_length_mla", 10},
                                                    {"rope.dimension_count", 8},
                                                    {"expert_count", 6},
                                                    {"expert_used_count", 2},
                                                    {"expert_feed_forward_length", 20},
                                                    {"expert_shared_count", 2},
                                                    {"leading_dense_block_count", 1},
                                                    {"vocab_size", 50}};
  for (const auto& [key, value] : sizes) file.u32(std::string("deepseek2.") + key, value);
  const auto config = config_of(file.bytes());
  ASSERT_TRUE(config) << to_text(config.error());
  EXPECT_EQ(config->mla.qk_nope_head_dim, 4);
  EXPECT_EQ(config->mla.qk_rope_head_dim, 8);
  EXPECT_EQ(config->mla.v_head_dim, 10);
  EXPECT_EQ(config->moe.shared_ffn, 40);
  EXPECT_EQ(config->moe.moe_layers, 2);
  EXPECT_EQ(config->cache_values_per_token(), 24);
}

TEST(GgufReader, GptOssByItsTensors) {
  GgufWriter file;
  file.text("general.architecture", "gpt-oss");
  const std::pair<const char*, uint32_t> sizes[] = {
      {"block_count", 1},          {"embedding_length", 32},        {"feed_forward_length", 32},
      {"attention.head_count", 4}, {"attention.head_count_kv", 2},  {"attention.key_length", 8},
      {"expert_count", 4},         {"expert_used_count", 2},        {"expert_feed_forward_length", 32},
      {"vocab_size", 10},          {"attention.sliding_window", 16}};
  for (const auto& [key, value] : sizes) file.u32(std::string("gpt-oss.") + key, value);
  const std::pair<const char*, std::vector<uint64_t>> tensors[] = {
      {"token_embd.weight", {32, 10}},        {"output.weight", {32, 10}},
      {"output_norm.weight", {32}},           {"blk.0.attn_norm.weight", {32}},
      {"blk.0.attn_q.weight", {32, 32}},      {"blk.0.attn_q.bias", {32}},
      {"blk.0.attn_k.weight", {32, 16}},      {"blk.0.attn_k.bias", {16}},
      {"blk.0.attn_v.weight", {32, 16}},      {"blk.0.attn_v.bias", {16}},
      {"blk.0.attn_output.weight", {32, 32}}, {"blk.0.attn_output.bias", {32}},
      {"blk.0.attn_sinks.weight", {4}},       {"blk.0.post_attention_norm.weight", {32}},
      {"blk.0.ffn_gate_inp.weight", {32, 4}}, {"blk.0.ffn_gate_inp.bias", {4}}};
  double values = 0;
  const auto add = [&](const std::string& name, const std::vector<uint64_t>& shape) {
    double product = 1;
    for (const uint64_t size : shape) product *= static_cast<double>(size);
    values += product;
    file.tensor(name, shape, 0);
  };
  for (const auto& [name, shape] : tensors) add(name, shape);
  for (const std::string part : {"gate", "up", "down"}) {
    add("blk.0.ffn_" + part + "_exps.weight", {32, 32, 4});
    add("blk.0.ffn_" + part + "_exps.bias", {32, 4});
  }
  const auto config = config_of(file.bytes());
  ASSERT_TRUE(config) << to_text(config.error());
  EXPECT_EQ(static_cast<double>(count_parameters(*config)->total), values);
  EXPECT_TRUE(config->attention_sinks);
  EXPECT_EQ(config->windowed_layers, 1);
}

TEST(GgufReader, EveryTruncationIsAnError) {
  const std::string whole = tiny_llama().bytes();
  ASSERT_TRUE(parse_gguf_header(whole, "x"));
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto header = parse_gguf_header(whole.substr(0, length), "x");
    ASSERT_FALSE(header) << length;
    EXPECT_EQ(header.error().code, length == 0 ? "bad-gguf" : "gguf-truncated") << length;
  }
  EXPECT_TRUE(parse_gguf_header(whole + "and the data", "x"));
}

// A vocabulary may take more than what is read at first.
TEST(GgufReader, ReadsOnWhereTheHeaderIsLong) {
  GgufWriter file = tiny_llama();
  std::string scores;
  GgufWriter::put(scores, uint32_t{0});
  GgufWriter::put(scores, uint64_t{20'000'000});
  scores.append(20'000'000, 'x');
  file.raw("tokenizer.ggml.scores", 9, scores);
  const std::string folder = ::testing::TempDir();
  const std::string path = folder + "/perfcast_long.gguf";
  ASSERT_TRUE(write_file_atomically(path, file.bytes()));
  const auto config = load_model(path);
  ASSERT_TRUE(config) << to_text(config.error());
  EXPECT_EQ(config->vocab, 100);
  ASSERT_TRUE(write_file_atomically(path, file.bytes().substr(0, 18'000'000)));
  EXPECT_EQ(read_gguf(path).error().code, "gguf-truncated");
  std::filesystem::remove(path);
  EXPECT_EQ(read_gguf(path).error().code, "file-not-found");
  EXPECT_EQ(read_gguf(folder).error().code, "bad-gguf");
}

TEST(GgufReader, LearnedPositionsMustBeCounted) {
  GgufWriter file;
  file.text("general.architecture", "gpt2");
  for (const char* key : {"block_count", "attention.head_count"}) file.u32(std::string("gpt2.") + key, 1);
  for (const char* key : {"embedding_length", "feed_forward_length", "vocab_size"}) {
    file.u32(std::string("gpt2.") + key, 32);
  }
  EXPECT_NE(to_text(config_of(file.bytes()).error()).find("position_rows"), std::string::npos);
  file.u32("gpt2.context_length", 16);
  EXPECT_EQ(config_of(file.bytes())->position_rows, 16);
}

std::string code_of(const std::string& bytes) {
  const auto config = config_of(bytes);
  return config ? "none" : config.error().code + ": " + config.error().message;
}

TEST(GgufReader, WrongBytesAreNamed) {
  EXPECT_EQ(code_of("GGML1234"), "bad-gguf: this is no GGUF file: it does not begin with GGUF");
  EXPECT_EQ(code_of(GgufWriter(1).bytes()), "bad-gguf: GGUF version 1 is not read");
  EXPECT_EQ(code_of(GgufWriter(9).bytes()), "bad-gguf: GGUF version 9");
  EXPECT_EQ(code_of(GgufWriter(0x03000000).bytes()), "bad-gguf: the file is big-endian");
  EXPECT_EQ(code_of(GgufWriter().bytes()), "bad-gguf: the metadata lacks general.architecture");
  GgufWriter other;
  other.text("general.architecture", "mamba");
  EXPECT_EQ(code_of(other.bytes()), "unknown-model-type: the architecture 'mamba' is not known");
  GgufWriter poor;
  poor.text("general.architecture", "llama");
  poor.u32("llama.vocab_size", 10);
  EXPECT_EQ(code_of(poor.bytes()),
            "bad-gguf: the metadata lacks llama.block_count, llama.embedding_length, llama.attention.head_count, "
            "llama.feed_forward_length");
  GgufWriter typed;
  typed.raw("key", 77, "");
  EXPECT_EQ(code_of(typed.bytes()), "bad-gguf: the value of key has the unknown type 77");
}

TEST(GgufReader, LengthsThatLieAllocateNothing) {
  std::string huge_text;
  GgufWriter::put(huge_text, uint64_t{1} << 60);
  GgufWriter text;
  text.raw("key", 8, huge_text);
  EXPECT_EQ(code_of(text.bytes()), "gguf-truncated: the header ends within the text of key");

  std::string huge_array;
  GgufWriter::put(huge_array, uint32_t{10});
  GgufWriter::put(huge_array, UINT64_MAX);
  GgufWriter array;
  array.raw("key", 9, huge_array);
  EXPECT_EQ(code_of(array.bytes()), "gguf-truncated: the header ends within the 18446744073709551615 values of key");

  std::string nested;
  for (int i = 0; i < 100; ++i) {
    GgufWriter::put(nested, uint32_t{9});
    GgufWriter::put(nested, uint64_t{1});
  }
  GgufWriter deep;
  deep.raw("key", 9, nested);
  EXPECT_EQ(code_of(deep.bytes()), "bad-gguf: arrays nest too deeply in key");

  GgufWriter tensor;
  tensor.tensor("w", {uint64_t{1} << 40, uint64_t{1} << 40}, 0);
  EXPECT_EQ(code_of(tensor.bytes()), "bad-gguf: tensor w has more than 2^62 values");
  GgufWriter odd;
  odd.tensor("w", {33}, 8);
  EXPECT_EQ(code_of(odd.bytes()), "bad-gguf: tensor w has 33 values, no multiple of its block");
  GgufWriter unknown;
  unknown.tensor("w", {32}, 4);
  EXPECT_EQ(code_of(unknown.bytes()), "bad-gguf: tensor w has the unknown type 4");

  std::string counts = "GGUF";
  GgufWriter::put(counts, uint32_t{3});
  GgufWriter::put(counts, UINT64_MAX);
  GgufWriter::put(counts, UINT64_MAX);
  EXPECT_EQ(code_of(counts).substr(0, 9), "bad-gguf:");
}

}  // namespace
}  // namespace perfcast::ai
