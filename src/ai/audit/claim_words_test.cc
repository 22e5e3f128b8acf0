#include "ai/audit/claim_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ai/audit/claims_reader.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::vector<DeviceFacts> some_devices() {
  std::vector<DeviceFacts> devices(3);
  devices[0].name = "NVIDIA H100 80GB HBM3";
  devices[0].aliases = {"h100", "h100-sxm"};
  devices[1].name = "NVIDIA A100-SXM4-80GB";
  devices[1].aliases = {"a100", "a100-80gb"};
  devices[2].name = "NVIDIA GeForce RTX 4090";
  devices[2].aliases = {"rtx-4090", "4090"};
  return devices;
}

// The stated fields by name, without the id and the text; or the error.
std::string fields_of(const std::string& text) {
  auto claim = claim_from_words(text, some_devices(), {});
  if (!claim) return to_text(claim.error());
  claim->erase("id");
  claim->erase("says");
  return nlohmann::json::parse(claim->dump()).dump();
}

std::string fields(const std::string& json) { return nlohmann::json::parse(json).dump(); }

TEST(ClaimWords, TakesTheirPartsInAnyOrder) {
  const std::string expected = fields(
      R"({"model": "llama3-70b", "precision": "fp16", "device": "h100", "batch": 1.0,
          "metric": "tokens_per_s", "value": 120.0, "unit": "tokens/s"})");
  for (const char* text : {"llama3-70b fp16 h100 batch 1: 120 tok/s", "120 tokens/s: h100, batch 1, llama3-70b in FP16",
                           "llama3-70b (FP16) on a H100 with batch=1 reaches 120 tokens per second",
                           "120tok/s with llama3-70b at batch size of 1, float16, h100",
                           "H100 120 TPS llama3-70b bs1 fp16", "llama3-70b @ fp16, bs 1, h100: 120 tokens/second."}) {
    EXPECT_EQ(fields_of(text), expected) << text;
  }
}

TEST(ClaimWords, TakesNamesOfSeveralWordsAndManyDevices) {
  for (const char* text :
       {"8x A100 80GB, Llama 2 7B, int8: 30,000 tok/s", "8xA100-80GB Llama-2-7B int8 30k tokens/s",
        "Llama 2 7B on 8 A100 80GB int8 30000 tok/s", "int8 llama2-7b 8 \xc3\x97 a100-80gb: 30'000 tok/s"}) {
    const std::string found = fields_of(text);
    EXPECT_THAT(found, AllOf(HasSubstr(R"("device":"a100-80gb")"), HasSubstr(R"("devices":8.0)"),
                             HasSubstr(R"("precision":"int8")"), HasSubstr(R"("value":30000.0)")))
        << text;
  }
  EXPECT_THAT(fields_of("llama2-7b on 4 H100s: 500 tok/s"),
              AllOf(HasSubstr(R"("device":"h100")"), HasSubstr(R"("devices":4.0)")));
  EXPECT_THAT(fields_of("llama2-7b on RTX 4090: 50 tok/s"), HasSubstr(R"("device":"rtx-4090")"));
}

TEST(ClaimWords, TakesACountWithXBesideADeviceAsDevices) {
  const std::string expected = fields(
      R"({"device": "h100", "devices": 8.0, "precision": "fp8", "metric": "tokens_per_s", "value": 250.0,
          "unit": "tokens/s", "scope": "per-user"})");
  for (const char* text :
       {"H100 8x, fp8, 250 tok/s/user", "8x H100, fp8, 250 tok/s/user", "H100 x8, fp8, 250 tok/s/user",
        "H100x8 fp8 250 tok/s/user", "8xH100 fp8 250 tok/s/user", "H100 x 8, fp8 250 tok/s/user",
        "250 tok/s/user, fp8, H100 8x", "fp8 250 tok/s/user on H100 \xc3\x97 8"}) {
    EXPECT_EQ(fields_of(text), expected) << text;
  }
  EXPECT_EQ(fields_of("RTX 4090x2: 50 tok/s"), fields(R"({"device": "rtx-4090", "devices": 2.0,
            "metric": "tokens_per_s", "value": 50.0, "unit": "tokens/s"})"));
  EXPECT_EQ(fields_of("8x GPUs: 50 tok/s"), fields(R"({"devices": 8.0, "metric": "tokens_per_s", "value": 50.0,
            "unit": "tokens/s"})"));
  // Speed-ups.
  for (const char* text : {"h100: 3x faster", "h100 3x", "h100 3x speedup"}) {
    EXPECT_EQ(fields_of(text), fields(R"({"device": "h100", "metric": "speedup", "value": 3.0, "unit": "x"})")) << text;
  }
}

TEST(ClaimWords, TakesRequestsAndOutputTokens) {
  for (const char* text : {"4 requests/s", "4 requests per second", "4 req/s", "4 rps", "4 queries/s"}) {
    EXPECT_EQ(fields_of(text), fields(R"({"metric": "samples_per_s", "value": 4.0, "unit": "queries/s"})")) << text;
  }
  for (const char* text :
       {"h100: 2500 output tokens/s", "h100 2500 output tokens per second", "2.5k output tok/s h100"}) {
    EXPECT_EQ(fields_of(text),
              fields(R"({"device": "h100", "metric": "tokens_per_s", "value": 2500.0, "unit": "tokens/s"})"))
        << text;
  }
  EXPECT_EQ(fields_of("128 output tokens, 2500 output tokens/s"),
            fields(R"({"output_tokens": 128.0, "metric": "tokens_per_s", "value": 2500.0, "unit": "tokens/s"})"));
}

TEST(ClaimWords, TakesSeveralNumbersByTheirNames) {
  EXPECT_EQ(fields_of("llama2-7b h100 64 users, 1k input tokens, output 128: 2500 tok/s, TTFT 20 ms, 5.2 ms per token"),
            fields(R"({"model": "llama2-7b", "device": "h100", "concurrency": 64.0, "input_tokens": 1000.0,
                       "output_tokens": 128.0, "metric": "tokens_per_s", "value": 2500.0, "unit": "tokens/s",
                       "and": [{"metric": "first_token", "value": 20.0, "unit": "ms"},
                               {"metric": "token_time", "value": 5.2, "unit": "ms"}]})"));
  EXPECT_EQ(fields_of("gemm 4096x4096x4096 fp32 a100: 26 TFLOPS, latency 5.28 ms, 45% MFU"),
            fields(R"({"model": "gemm", "shape": [4096, 4096, 4096], "precision": "fp32", "device": "a100",
                       "metric": "flops", "value": 26.0, "unit": "TFLOP/s",
                       "and": [{"metric": "latency", "value": 5.28, "unit": "ms"},
                               {"metric": "utilisation", "value": 45.0, "unit": "%"}]})"));
  EXPECT_EQ(fields_of("one h100 GPU 64 concurrent users 6000 tok/s"),
            fields(R"({"device": "h100", "concurrency": 64.0, "metric": "tokens_per_s", "value": 6000.0,
                       "unit": "tokens/s"})"));
  for (const char* text : {"llama2-7b q4_k_m h100 5 ms/token", "llama2-7b-q4_k_m h100 5 ms per token"}) {
    EXPECT_EQ(fields_of(text), fields(R"({"model": "llama2-7b", "precision": "q4_k_m", "device": "h100",
                                          "metric": "token_time", "value": 5.0, "unit": "ms"})"))
        << text;
  }
  EXPECT_EQ(fields_of("gemm 8192^3 a100 TP4: 500 TFLOPS"),
            fields(R"({"model": "gemm", "shape": [8192, 8192, 8192], "device": "a100", "devices": 4.0,
                       "metric": "flops", "value": 500.0, "unit": "TFLOP/s"})"));
  EXPECT_EQ(fields_of("3x faster"), fields(R"({"metric": "speedup", "value": 3.0, "unit": "x"})"));
  EXPECT_EQ(fields_of("150 tok/s/user"),
            fields(R"({"metric": "tokens_per_s", "value": 150.0, "unit": "tokens/s", "scope": "per-user"})"));
  EXPECT_EQ(fields_of("8x h100: 1,250.5 tok/s per GPU"),
            fields(R"({"device": "h100", "devices": 8.0, "metric": "tokens_per_s", "value": 10004.0,
                       "unit": "tokens/s"})"));
}

TEST(ClaimWords, NamesAllThatIsUnknownWithNearNames) {
  const std::string text = fields_of("llama3-71b fp15 h101 batch 1: 120 tok/s");
  EXPECT_THAT(text, AllOf(HasSubstr("no meaning is known for 'llama3-71b', 'fp15', 'h101'"),
                          HasSubstr("for 'llama3-71b' one of llama3-70b"), HasSubstr("for 'fp15' one of fp16"),
                          HasSubstr("for 'h101' one of h100")));
}

TEST(ClaimWords, ProposesNoNamesForProse) {
  const std::string text = fields_of("our llama2-7b h100 than 120 tok/s");
  EXPECT_THAT(text, HasSubstr("no meaning is known for 'our', 'than'"));
  EXPECT_THAT(text, HasSubstr("the claim without 'our'; the claim without 'than'; or the claim in a file"));
  EXPECT_THAT(text, testing::Not(HasSubstr("one of")));
}

TEST(ClaimWords, SaysWhatIsMissing) {
  EXPECT_THAT(fields_of("llama2-7b h100"), HasSubstr("nothing is claimed: no number has a unit"));
  EXPECT_THAT(fields_of(""), HasSubstr("nothing is claimed"));
  EXPECT_THAT(fields_of("llama2-7b h100 120"), HasSubstr("the number '120' has no unit"));
  EXPECT_THAT(fields_of("llama2-7b h100 120 tokn/s"),
              AllOf(HasSubstr("'120' has no unit, and 'tokn/s' is none"), HasSubstr("tok/s")));
  EXPECT_THAT(fields_of("llama2-7b h100 TTFT: 30 tok/s"), HasSubstr("no time stands beside 'ttft'"));
  EXPECT_THAT(fields_of("llama2-7b h100 a100 30 tok/s"), HasSubstr("device is stated twice"));
  EXPECT_THAT(fields_of("30 tok/s 40 tok/s"), HasSubstr("tokens_per_s is stated twice"));
  EXPECT_THAT(fields_of("30% h100"), HasSubstr("it is not said of what 30% are"));
}

TEST(ClaimWords, AreClaimsOfAFile) {
  const auto found = claims_in_words({"llama2-7b h100: 120 tok/s", "h100: 3 TB", "h100: 3 TB/s"}, some_devices(), {});
  const std::vector<Claim>& claims = found.file.claims;
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(claims[0].id, "claim-1");
  EXPECT_EQ(claims[0].numbers[0].value, 120);
  EXPECT_EQ(claims[0].batch, std::nullopt);
  EXPECT_EQ(claims[1].id, "claim-3");
  EXPECT_EQ(claims[1].find(ClaimMetric::kBytesPerS)->value, 3e12);
  ASSERT_EQ(found.unreadable.size(), 1u);
  EXPECT_EQ(found.unreadable[0].where, "claim 'h100: 3 TB'");
}

TEST(ClaimWords, RefusesNumbersThatNoCountCanHave) {
  for (const auto& [text, said] : {std::pair("llama2-7b h100 batch 1.5: 120 tok/s", "batch: found 1.5"),
                                   std::pair("llama2-7b h100x0: 120 tok/s", "devices: found 0"),
                                   std::pair("llama2-7b h100: 0 tok/s", "value: found 0, expected a number above 0"),
                                   std::pair("llama2-7b h100: -5 tok/s", "the number '-5' is below 0"),
                                   std::pair("-5 tok/s", "the number '-5' is below 0")}) {
    const auto found = claims_in_words({text}, some_devices(), {});
    ASSERT_EQ(found.unreadable.size(), 1u) << text;
    EXPECT_THAT(found.unreadable[0].message, HasSubstr(said)) << text;
    EXPECT_EQ(found.unreadable[0].kind, ErrorKind::kUsage) << text;
  }
}

TEST(ClaimWords, TakesTheVersionBehindAName) {
  const auto expected = [](const std::string& libraries) {
    return fields(R"({"model": "llama2-7b", "precision": "fp16", "device": "h100", "libraries": ")" + libraries +
                  R"(", "metric": "tokens_per_s", "value": 45.0, "unit": "tokens/s"})");
  };
  EXPECT_EQ(fields_of("llama2-7b fp16 h100, vLLM 0.6, 45 tok/s"), expected("vLLM 0.6"));
  EXPECT_EQ(fields_of("llama2-7b fp16 h100 vLLM v0.6.3: 45 tok/s"), expected("vLLM v0.6.3"));
  EXPECT_EQ(fields_of("llama2-7b fp16 h100 vllm==0.6.3.post1 45 tok/s"), expected("vLLM 0.6.3.post1"));
  EXPECT_EQ(fields_of("llama2-7b fp16 TensorRT-LLM 0.12 45 tok/s h100"), expected("TensorRT-LLM 0.12"));
  EXPECT_EQ(fields_of("llama2-7b fp16 h100 llama.cpp b4000 45 tok/s"), expected("llama.cpp b4000"));
  EXPECT_EQ(fields_of("llama2-7b fp16 h100 45 tok/s PyTorch 2"), expected("PyTorch 2"));
  // A number that something else explains is no version.
  EXPECT_EQ(fields_of("llama2-7b fp16 h100 vLLM 45 tok/s"), expected("vLLM"));
  EXPECT_EQ(fields_of("llama2-7b fp16 h100 vLLM 45.0 tok/s"), expected("vLLM"));
  EXPECT_THAT(fields_of("llama2-7b vLLM 8 users, 45 tok/s"),
              AllOf(HasSubstr(R"("concurrency":8.0)"), HasSubstr(R"("libraries":"vLLM")")));
  EXPECT_THAT(fields_of("llama2-7b vLLM 8 H100: 45 tok/s"),
              AllOf(HasSubstr(R"("devices":8.0)"), HasSubstr(R"("libraries":"vLLM")")));
}

TEST(ClaimWords, BlamesTheNumberThatNothingExplains) {
  EXPECT_THAT(fields_of("llama2-7b h100 0.6, 45 tok/s"),
              AllOf(HasSubstr("the number '0.6' has no unit"), testing::Not(HasSubstr("'tok/s'"))));
}

}  // namespace
}  // namespace perfcast::ai
