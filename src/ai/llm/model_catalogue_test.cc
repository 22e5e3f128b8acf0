#include "ai/llm/model_catalogue.h"

#include <gtest/gtest.h>

#include <map>

namespace perfcast::ai {
namespace {

// The number of parameters as published with each model's weights, or, where its page rounds, as the architecture's own
// code counts them.
const std::map<std::string, int64_t> kPublished = {
    {"llama4-scout", 107'769'861'120},     // without the vision part
    {"llama4-maverick", 400'711'848'960},  // likewise
    {"gpt-oss-20b", 20'914'757'184},
    {"gpt-oss-120b", 116'829'156'672},
    {"gpt3", 174'606'385'152},
    {"gpt2", 124'439'808},
    {"gpt2-medium", 354'823'168},
    {"gpt2-large", 774'030'080},
    {"gpt2-xl", 1'557'611'200},
    {"bert-base", 109'482'240},
    {"bert-large", 335'141'888},
    {"vit-base", 86'567'656},
    {"vit-large", 304'326'632},
    {"vit-huge", 632'045'800},
    {"opt-125m", 125'239'296},
    {"opt-1.3b", 1'315'758'080},
    {"opt-6.7b", 6'658'473'984},
    {"gpt-neox-20b", 20'554'567'680},
    {"falcon-7b", 6'921'720'704},
    {"llama2-7b", 6'738'415'616},
    {"llama2-13b", 13'015'864'320},
    {"llama2-70b", 68'976'648'192},
    {"codellama-34b", 33'743'970'304},
    {"llama3-8b", 8'030'261'248},
    {"llama3-70b", 70'553'706'496},
    {"llama3.1-8b", 8'030'261'248},
    {"llama3.1-70b", 70'553'706'496},
    {"llama3.1-405b", 405'853'388'800},
    {"llama3.2-1b", 1'235'814'400},
    {"llama3.2-3b", 3'212'749'824},
    {"llama3.3-70b", 70'553'706'496},
    {"mistral-7b", 7'241'732'096},
    {"mixtral-8x7b", 46'702'792'704},
    {"mixtral-8x22b", 140'620'634'112},
    {"qwen-72b", 72'287'920'128},
    {"qwen1.5-0.5b", 463'987'712},
    {"qwen1.5-moe-a2.7b", 14'315'784'192},
    {"qwen2.5-0.5b", 494'032'768},
    {"qwen2.5-1.5b", 1'543'714'304},
    {"qwen2.5-7b", 7'615'616'512},
    {"qwen2.5-14b", 14'770'033'664},
    {"qwen2.5-32b", 32'763'876'352},
    {"qwen2.5-72b", 72'706'203'648},
    {"qwen3-0.6b", 596'049'920},
    {"qwen3-8b", 8'190'735'360},
    {"qwen3-32b", 32'762'123'264},
    {"qwen3-30b-a3b", 30'532'122'624},
    {"qwen3-235b-a22b", 235'093'634'560},
    {"deepseek-v2-lite", 15'706'484'224},
    {"deepseek-v2", 235'741'434'880},
    {"deepseek-v3", 671'026'419'200},
    {"deepseek-r1", 671'026'419'200},
    {"kimi-k2", 1'026'408'232'448},
    {"kimi-k2.5", 1'026'408'232'448},
    {"gemma-2b", 2'506'172'416},
    {"gemma-7b", 8'537'680'896},
    {"gemma2-2b", 2'614'341'888},
    {"gemma2-9b", 9'241'705'984},
    {"gemma2-27b", 27'227'128'320},
    {"gemma3-1b", 999'885'952},
    {"phi-2", 2'779'683'840},
    {"phi-3-mini", 3'821'079'552},
    {"phi-4", 14'659'507'200},
    {"smollm-135m", 134'515'008},
    {"smollm2-135m", 134'515'008},
};

TEST(ModelCatalogue, ParametersAreThePublishedNumbers) {
  for (const auto& [name, published] : kPublished) {
    const auto config = built_in_model(name);
    ASSERT_TRUE(config) << name;
    const auto count = count_parameters(*config);
    ASSERT_TRUE(count) << name << ": " << to_text(count.error());
    EXPECT_EQ(count->total, published) << name;
  }
}

// Where no exact number is published: what the architecture comes to, term by term.
TEST(ModelCatalogue, ParametersFollowTheFormulaWhereNoneArePublished) {
  const auto gpt = [](int64_t layers, int64_t d, int64_t vocab, int64_t positions) {
    return (vocab + positions) * d + layers * (12 * d * d + 13 * d) + 2 * d;
  };
  const auto llama = [](int64_t layers, int64_t d, int64_t ffn, int64_t vocab) {
    return 2 * vocab * d + layers * (4 * d * d + 3 * d * ffn + 2 * d) + d;
  };
  const std::map<std::string, int64_t> expected = {
      {"gpt3-175b", gpt(96, 12288, 50257, 2048)},
      {"gpt3-2.7b", gpt(32, 2560, 50257, 2048)},
      {"gpt3-xl", gpt(24, 3072, 50257, 2048)},
      {"internlm-20b", llama(60, 5120, 13824, 103168)},
  };
  for (const auto& [name, parameters] : expected) {
    const auto count = count_parameters(*built_in_model(name));
    ASSERT_TRUE(count) << name;
    EXPECT_EQ(count->total, parameters) << name;
  }
  // Every row of the table is held to one of the two lists.
  for (const std::string& name : built_in_models())
    EXPECT_EQ(kPublished.count(name) + expected.count(name), 1u) << name;
}

TEST(ModelCatalogue, PartsSumToTheWhole) {
  for (const std::string& name : built_in_models()) {
    const auto count = count_parameters(*built_in_model(name));
    ASSERT_TRUE(count) << name;
    EXPECT_EQ(count->embedding + count->attention + count->ffn + count->norm + count->head, count->total) << name;
    EXPECT_LE(count->active, count->total) << name;
  }
}

TEST(ModelCatalogue, ActiveParametersOfMixtures) {
  EXPECT_EQ(count_parameters(*built_in_model("mixtral-8x7b"))->active, 12'879'925'248);
  // Each of 58 layers has 256 experts, of which a token visits 8.
  EXPECT_EQ(count_parameters(*built_in_model("deepseek-v3"))->active,
            671'026'419'200 - int64_t{58} * 248 * 3 * 7168 * 2048);
}

TEST(ModelCatalogue, KnowsPublishedSpellings) {
  EXPECT_EQ(built_in_model("meta-llama/Llama-2-7b-hf")->name, "llama2-7b");
  EXPECT_EQ(built_in_model("meta-llama/Meta-Llama-3-8B")->name, "llama3-8b");
  EXPECT_EQ(built_in_model("codellama/CodeLlama-34b-Instruct-hf")->name, "codellama-34b");
  EXPECT_EQ(built_in_model("qwen1_5-0_5b-chat-q4_k_m")->name, "qwen1.5-0.5b");
  EXPECT_EQ(built_in_model("google/gemma-2-2b-it")->name, "gemma2-2b");
  EXPECT_EQ(built_in_model("google/gemma-2b")->name, "gemma-2b");
  EXPECT_EQ(built_in_model("mistralai/Mixtral-8x7B-Instruct-v0.1")->name, "mixtral-8x7b");
  EXPECT_EQ(built_in_model("google/vit-base-patch16-224")->name, "vit-base");
  EXPECT_EQ(built_in_model("GPT2")->name, "gpt2");
}

TEST(ModelCatalogue, NamesAreUnique) {
  for (const std::string& name : built_in_models()) {
    const auto found = built_in_model(name);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->name, name);
  }
}

TEST(ModelCatalogue, UnknownModelGetsNearNames) {
  const auto config = built_in_model("lama2-7b");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, "unknown-model");
  EXPECT_NE(config.error().expected.find("llama2-7b"), std::string::npos);
  EXPECT_FALSE(built_in_model(""));
  EXPECT_FALSE(built_in_model("-hf"));
  EXPECT_FALSE(built_in_model(std::string(1 << 20, 'x')));
}

}  // namespace
}  // namespace perfcast::ai
