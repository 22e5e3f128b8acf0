#include "ai/engine/engine_bundle.h"

#include <gtest/gtest.h>

#include "ai/engine/testing/test_engine.h"

namespace perfcast::ai {
namespace {

EngineBundle bundle() {
  EngineBundle made;
  made.card = {"times", "a set", "a licence", "somebody", "few", {"one score"}, 0.05, kUnknown};
  made.engines = {engine_test::profile(), engine_test::profile()};
  made.cpu_engines = {engine_test::cpu_profile()};
  made.engines[0].constants.host_sequence_us = made.engines[1].constants.host_sequence_us = 20;
  made.engines[0].spread.service_token_ratio = made.engines[1].spread.service_token_ratio = 0.5;
  made.engines[1].name = "llama.cpp";
  made.engines[1].basis = EngineBasis::kPhysics;
  made.engines[1].overlaps_host = false;
  return made;
}

std::string with(std::string text, const std::string& old_part, const std::string& new_part) {
  const size_t at = text.find(old_part);
  EXPECT_NE(at, std::string::npos) << old_part;
  return text.replace(at, old_part.size(), new_part);
}

TEST(EngineBundle, WrittenAndRead) {
  const std::string text = engine_bundle_text(bundle());
  const auto back = parse_engine_bundle(text, "b.json");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(engine_bundle_text(*back), text);
  EXPECT_EQ(back->names(), (std::vector<std::string>{"vllm", "llama.cpp"}));
  const EngineProfile& first = back->engines[0];
  EXPECT_EQ(first.constants.kernel_cycles, 5e3);
  EXPECT_EQ(first.spread.new_model_token_log_sd, 0.06);
  EXPECT_EQ(first.models, (std::vector<std::string>{"ten"}));
  EXPECT_FALSE(back->engines[1].overlaps_host);
  EXPECT_EQ(back->card.token_error_ratio, 0.05);
  ASSERT_EQ(back->cpu_engines.size(), 1U);
  EXPECT_EQ(back->cpu_engines[0].of_kin.first_token, 1);
  EXPECT_TRUE(std::isnan(back->card.first_error_ratio));
}

TEST(EngineBundle, OlderFilesLackConstants) {
  const std::string text = engine_bundle_text(bundle());
  EXPECT_NE(text.find("\"host_sequence_us\":20.0"), std::string::npos);
  std::string old_text = text;
  for (const std::string part : {"\"host_sequence_us\":20.0,", "\"prompt_step_ms\":0.0,",
                                 "\"service_token_ratio\":0.5,", "\"service_first_ratio\":1.0,"}) {
    for (size_t at = 0; (at = old_text.find(part)) != std::string::npos;) old_text.erase(at, part.size());
  }
  const auto back = parse_engine_bundle(old_text, "b.json");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(back->engines[0].constants.host_sequence_us, 0);
  EXPECT_EQ(back->engines[0].spread.service_token_ratio, 1);
}

TEST(EngineBundle, FoundByName) {
  const EngineBundle made = bundle();
  const auto found = made.find("Llama.CPP");
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)->basis, EngineBasis::kPhysics);
  const auto unknown = made.find("tgi");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "unknown-engine");
  EXPECT_EQ(unknown.error().expected, "one of vllm, llama.cpp");
  EXPECT_EQ((*made.find_on_cpus("vLLM"))->version, "1");
  EXPECT_EQ(made.find_on_cpus("sglang").error().message, "nobody measured 'sglang' on CPUs here");
}

TEST(EngineBundle, StrictErrors) {
  const std::string text = engine_bundle_text(bundle());
  const auto error = [&](const std::string& old_part, const std::string& new_part) {
    const auto read = parse_engine_bundle(with(text, old_part, new_part), "b.json");
    return read ? std::string("none") : read.error().code + ": " + read.error().message;
  };
  EXPECT_EQ(error("engines/1", "engines/2"), "future-version: the bundle is of another version: perfcast.engines/2");
  EXPECT_EQ(
      error("\"kernel_cycles\":5000.0", "\"kernel_cycles\":-1"),
      "bad-json-field: b.json.engines[0].constants.kernel_cycles: found -1, which no engine has, expected a number "
      "in [0, 1e+07]");
  EXPECT_NE(error("\"kernel_cycles\"", "\"kernel_cycle\"").find("kernel_cycle"), std::string::npos);
  EXPECT_NE(error("by physics", "guessed").find("'guessed'"), std::string::npos);
  EXPECT_EQ(error("llama.cpp", "VLLM"), "bad-bundle: two engines are named 'VLLM'");
  EXPECT_EQ(error("\"overlaps_host\":true,", "").substr(0, 14), "bad-json-field");
}

TEST(EngineBundle, TheShippedOneIsReadAndHolds) {
  const auto shipped = read_engine_bundle(PERFCAST_SOURCE_DIR "/data/bundles/engines.json");
  ASSERT_TRUE(shipped) << to_text(shipped.error());
  EXPECT_EQ(shipped->names(), (std::vector<std::string>{"vllm", "sglang", "tensorrt-llm", "llama.cpp", "none"}));
  EXPECT_EQ(shipped->engines[0].basis, EngineBasis::kMeasured);
  EXPECT_LT(shipped->card.token_error_ratio, 0.08);
  EXPECT_LT(shipped->card.first_error_ratio, 0.15);
  EXPECT_LT(shipped->card.cpu_token_error_ratio, 0.155);
  EXPECT_LT(shipped->card.cpu_first_error_ratio, 0.2);
  ASSERT_TRUE(shipped->find_on_cpus("vllm"));
  const auto host = shipped->hosts.find("Intel(R) Xeon(R) CPU @ 2.20GHz");
  ASSERT_TRUE(host);
  EXPECT_NEAR(host->level, 1, 0.03);  // what levels are ratios to
}

}  // namespace
}  // namespace perfcast::ai
