#include "ai/audit/auditor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ai/audit/claims_reader.h"
#include "ai/latency/model/device_catalogue.h"
#include "base/file.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<DeviceFacts>& shipped_devices() {
  static const std::vector<DeviceFacts> devices = [] {
    auto catalogue = read_device_catalogue(PERFCAST_SOURCE_DIR "/data/devices/devices.json");
    EXPECT_TRUE(catalogue.ok());
    return catalogue ? catalogue->devices : std::vector<DeviceFacts>();
  }();
  return devices;
}

const KnownModels& shipped_models() {
  static const KnownModels models = [] {
    auto known = read_known_models(PERFCAST_SOURCE_DIR "/data/audit/models.json");
    EXPECT_TRUE(known) << to_text(known.error());
    return known ? *known : KnownModels();
  }();
  return models;
}

std::vector<ClaimAudit> audit_text_of(const std::string& claims) {
  const auto file = parse_claims(R"({"schema": "perfcast.claims/1", "claims": [)" + claims + "]}", "c.json");
  EXPECT_TRUE(file) << to_text(file.error());
  return file ? audit_claims(*file, shipped_devices(), shipped_models()) : std::vector<ClaimAudit>(1);
}

ClaimAudit audit_of(const std::string& fields) { return audit_text_of(R"({"id": "x", )" + fields + "}").front(); }

std::vector<std::string> codes(const ClaimAudit& audit) {
  std::vector<std::string> codes;
  codes.reserve(audit.reasons.size());
  for (const AuditReason& reason : audit.reasons) codes.push_back(reason.code);
  return codes;
}

std::string all_text(const ClaimAudit& audit) {
  std::string text = audit.id + ": " + name_of(audit.verdict);
  for (const AuditReason& reason : audit.reasons)
    text.append("\n  ").append(reason.code).append(": ").append(reason.text);
  return text;
}

TEST(PlantedClaims, AreCaughtForTheirReasonAndTheirTwinsAreNot) {
  const auto text = read_file(PERFCAST_SOURCE_DIR "/src/ai/audit/testdata/planted.json");
  ASSERT_TRUE(text.ok());
  const auto json = parse_json(*text, "planted.json");
  ASSERT_TRUE(json.ok());
  const Json& planted = (*json)["planted"];
  EXPECT_GE(planted.size(), 30u);
  for (size_t i = 0; i < planted.size(); ++i) {
    Json twin = planted[i]["base"], claim = planted[i]["base"];
    twin["id"] = claim["id"] = fmt::format("planted {}", i);
    for (const auto& [key, value] : planted[i]["false"].items()) claim[key] = value;
    const ClaimAudit caught = audit_text_of(claim.dump()).front(), honest = audit_text_of(twin.dump()).front();
    EXPECT_THAT(codes(caught), Contains(planted[i]["code"].get<std::string>())) << all_text(caught);
    const bool as_bad = planted[i]["verdict"] == "impossible" ? caught.verdict == AuditVerdict::kImpossible
                        : planted[i]["verdict"] == "doubtful" ? caught.verdict >= AuditVerdict::kDoubtful
                                                              : caught.verdict == AuditVerdict::kIncomplete;
    EXPECT_TRUE(as_bad) << all_text(caught);
    EXPECT_LT(honest.verdict, AuditVerdict::kDoubtful) << all_text(honest);
    EXPECT_NE(honest.verdict, caught.verdict) << all_text(honest);
  }
}

// Of every device in every precision that it has: nine tenths of a limit pass, a third above it does not.
TEST(PlantedClaims, OfEveryDeviceAroundItsLimits) {
  size_t claims = 0;
  for (const DeviceFacts& device : shipped_devices()) {
    const auto verdict = [&](const std::string& fields) {
      ++claims;
      return audit_of(fmt::format(R"("device": "{}", "sparsity": "dense", {})", device.name, fields)).verdict;
    };
    const std::pair<MathMode, const char*> modes[] = {{MathMode::kFp32, "fp32"},
                                                      {MathMode::kTf32, "tf32"},
                                                      {MathMode::kHalf, "bf16"},
                                                      {MathMode::kFp8, "fp8"},
                                                      {MathMode::kInt8, "int8"}};
    for (const auto& mode : modes) {
      const double peak = device.peak(mode.first);
      if (std::isnan(peak)) continue;
      const auto at = [&](double share) {
        return verdict(fmt::format(R"("precision": "{}", "metric": "flops", "value": {:.6g}, "unit": "FLOP/s")",
                                   mode.second, share * peak));
      };
      EXPECT_LT(at(0.9), AuditVerdict::kDoubtful) << device.name << " " << mode.second;
      EXPECT_EQ(at(1.33), AuditVerdict::kImpossible) << device.name << " " << mode.second;
    }
    const auto bytes = [&](double share) {
      return verdict(
          fmt::format(R"("metric": "bytes_per_s", "value": {:.6g}, "unit": "B/s")", share * device.memory_bytes_per_s));
    };
    EXPECT_LT(bytes(0.9), AuditVerdict::kDoubtful) << device.name;
    EXPECT_EQ(bytes(1.33), AuditVerdict::kImpossible) << device.name;
  }
  EXPECT_GT(claims, 300u);
}

// What looks impossible and is not.
TEST(HonestClaims, MayExceedWhatASingleStreamCouldHave) {
  const char* honest[] = {
      // 64 sequences share each reading of the weights.
      R"("device": "h100", "model": "llama3-8b", "precision": "fp16", "batch": 64, "metric": "tokens_per_s", "value": 6000, "unit": "tokens/s")",
      // Eight devices read at once.
      R"("device": "h100", "devices": 8, "model": "llama3-70b", "precision": "fp16", "batch": 1, "metric": "tokens_per_s", "value": 120, "unit": "tokens/s")",
      // A pass yields three tokens.
      R"("device": "h100", "devices": 4, "model": "llama3-70b", "precision": "fp8", "batch": 1, "tokens_per_step": 3, "metric": "tokens_per_s", "value": 400, "unit": "tokens/s")",
      // Of 46.7e9 parameters a token visits 12.9e9.
      R"("device": "h200", "model": "mixtral-8x7b", "precision": "fp16", "batch": 1, "metric": "tokens_per_s", "value": 150, "unit": "tokens/s")",
      // Half of the weights are skipped.
      R"("device": "h100", "precision": "fp16", "sparsity": "2:4", "metric": "flops", "value": 1500, "unit": "TFLOP/s")",
      // Weights of four bits, products of halves.
      R"("device": "rtx-4090", "model": "llama3-8b", "precision": "w4a16", "batch": 1, "metric": "tokens_per_s", "value": 190, "unit": "tokens/s")",
      // Weights that stay in the second-level cache.
      R"("device": "h100", "model": "smollm-135m", "precision": "w4a16", "weights": "q2_k", "devices": 2, "batch": 1, "metric": "tokens_per_s", "value": 90000, "unit": "tokens/s")",
      // A prompt that was computed before.
      R"("device": "h100", "model": "llama3-70b", "devices": 4, "precision": "fp8", "batch": 1, "input_tokens": 8000, "prefix_cached": true, "metric": "first_token", "value": 25, "unit": "ms")",
      // Four-bit operands at twice the eight-bit rate.
      R"("device": "b200", "precision": "fp4", "metric": "flops", "value": 8000, "unit": "TFLOP/s")",
      // A request waits before it is served, and the worst of a hundred waits longest.
      R"("device": "l4", "devices": 1, "model": "resnet50", "precision": "int8", "batch": 1, "statistic": "p99", "metric": "samples_per_s", "value": 900, "unit": "images/s", "and": [{"metric": "latency", "value": 5, "unit": "ms"}])",
      // A batch that is not always full.
      R"("device": "h100", "model": "llama3-8b", "precision": "fp16", "batch": 64, "metric": "tokens_per_s", "value": 4800, "unit": "tokens/s", "and": [{"metric": "token_time", "value": 11, "unit": "ms"}])",
      // Integers on cores that have no units of their own for them.
      R"("device": "v100", "model": "resnet50", "precision": "int8", "batch": 32, "metric": "samples_per_s", "value": 3000, "unit": "images/s")",
      // Tokens of training and of prompts, not new ones.
      R"("device": "h100", "devices": 8, "model": "llama2-7b", "precision": "bf16", "batch": 32, "phase": "training", "metric": "tokens_per_s", "value": 95000, "unit": "tokens/s")",
      R"("device": "h100", "model": "llama3-8b", "precision": "fp8", "batch": 1, "phase": "prefill", "metric": "tokens_per_s", "value": 40000, "unit": "tokens/s")",
      // Padding was left out.
      R"("device": "l4", "model": "bert-large", "sequence": 384, "padding": "removed", "precision": "int8", "batch": 32, "metric": "samples_per_s", "value": 900, "unit": "sequences/s")",
  };
  for (const char* fields : honest) {
    const ClaimAudit audit = audit_of(fields);
    EXPECT_LT(audit.verdict, AuditVerdict::kDoubtful) << fields << "\n" << all_text(audit);
  }
}

// Each was once called impossible.
TEST(HonestClaims, AreForbiddenByNoBoundThatLeavesSomethingOut) {
  const auto of_8b = [](const std::string& fields) {
    return audit_of(R"("device": "h100", "model": "llama3-8b", "precision": "fp16", )" + fields).verdict;
  };
  // Half of the weights are not there.
  EXPECT_LT(audit_of(R"("device": "h100", "model": "llama3-70b", "precision": "fp16", "sparsity": "2:4", "batch": 1,
                        "metric": "tokens_per_s", "value": 20, "unit": "tokens/s")")
                .verdict,
            AuditVerdict::kDoubtful);
  // What waits is not served.
  EXPECT_LT(of_8b(R"("batch": 8, "concurrency": 4000, "metric": "token_time", "value": 10, "unit": "ms")"),
            AuditVerdict::kDoubtful);
  // Tokens of a prompt don't come one after the other.
  EXPECT_LT(of_8b(R"("phase": "prefill", "batch": 1, "metric": "tokens_per_s", "value": 5000, "unit": "tokens/s",
                     "and": [{"metric": "token_time", "value": 10, "unit": "ms"}])"),
            AuditVerdict::kDoubtful);
  // A time whose statistic isn't stated may be a percentile.
  EXPECT_EQ(of_8b(R"("batch": 1, "metric": "tokens_per_s", "value": 130, "unit": "tokens/s",
                     "and": [{"metric": "token_time", "value": 10, "unit": "ms"}])"),
            AuditVerdict::kDoubtful);
  // 0.2 stands for 0.15 to 0.25 PFLOP/s, which are 15 to 25% of the peak.
  EXPECT_LT(audit_of(R"("device": "h100", "precision": "fp16", "metric": "flops", "value": 0.2, "unit": "PFLOP/s",
                        "and": [{"metric": "utilisation", "value": 16, "unit": "%"}])")
                .verdict,
            AuditVerdict::kDoubtful);
  // 0.538 ms, printed as 0.5.
  EXPECT_EQ(audit_of(R"("metric": "latency", "value": 0.5, "unit": "ms", "rung": "library",
                        "speedups": [{"value": 18.6, "baseline": {"metric": "latency", "value": 10, "unit": "ms"}}])")
                .verdict,
            AuditVerdict::kDoubtful);
}

TEST(StatedNumbers, AreHeldAgainstEachOtherOrListed) {
  const auto with_share = [](const char* fields, double percent) {
    return audit_of(fmt::format(
        R"("device": "h100", "model": "llama3-8b", "metric": "tokens_per_s", "value": 150, "unit": "tokens/s",
           "and": [{{"metric": "utilisation", "value": {}, "unit": "%"}}], {})",
        percent, fields));
  };
  // 150 x 1.5e10 operations are 0.22% of the peak of halves; one sequence takes 65% of the bandwidth.
  EXPECT_EQ(with_share(R"("precision": "fp16")", 90).verdict, AuditVerdict::kImpossible);
  EXPECT_EQ(with_share(R"("sparsity": "dense")", 90).verdict, AuditVerdict::kImpossible);
  EXPECT_LT(with_share(R"("precision": "fp16", "batch": 1)", 65).verdict, AuditVerdict::kDoubtful);
  EXPECT_LT(with_share(R"("precision": "fp16")", 0.22).verdict, AuditVerdict::kDoubtful);
  EXPECT_EQ(with_share(R"("precision": "fp16")", 1).verdict, AuditVerdict::kDoubtful);
  EXPECT_EQ(with_share(R"("precision": "fp16")", 0.1).verdict, AuditVerdict::kImpossible);
  const char* first =
      R"("device": "h100", "model": "llama3-8b", "precision": "fp16", "metric": "first_token", "value": 20, "unit": "ms")";
  EXPECT_THAT(audit_of(first).unused, ElementsAre(HasSubstr("20 ms (first_token): no check could use it; it takes")));
  EXPECT_THAT(audit_of(std::string(first) + R"(, "input_tokens": 1024)").unused, IsEmpty());
  EXPECT_THAT(audit_of(R"("device": "h100", "precision": "fp16", "sparsity": "dense", "metric": "flops", "value": 20,
                          "unit": "PFLOP/s")")
                  .reasons.front()
                  .text,
              HasSubstr("at least 19 PFLOP/s (20 PFLOP/s, less rounding): "));
}

// What is stated besides never keeps a number from being checked.
TEST(Claims, AreCheckedWhereMoreIsStated) {
  // 4096 x 1.5e10 operations are 6.1e13: at 121 TFLOP/s half a second, with sparse weights a quarter.
  const std::string prompt =
      R"("device": "l4", "model": "llama3-8b", "precision": "fp16", "batch": 1, "input_tokens": 4096, "metric": "first_token", "value": 100, "unit": "ms")";
  for (const char* more : {"", R"(, "phase": "prefill")", R"(, "output_tokens": 16)"}) {
    EXPECT_EQ(audit_of(prompt + more).verdict, AuditVerdict::kImpossible) << more;
  }
  // Requests of 1024 + 256 tokens take 1.76e14 operations: 500 of them a second are more than eight devices have.
  const char* requests =
      R"("device": "h100", "devices": 8, "model": "llama3-70b", "precision": "fp8", "input_tokens": 1024, "output_tokens": 256, "metric": "samples_per_s", "value": 500, "unit": "queries/s")";
  EXPECT_EQ(audit_of(requests).verdict, AuditVerdict::kImpossible);
  // 6400 tokens/s in answers of 256 are 25 a second, of 9.5 s each 237 at once.
  const auto served = [](const std::string& more, int at_once) {
    return audit_of(
        fmt::format(R"("device": "h100", "devices": 8, "model": "llama3-70b", "precision": "fp8", "concurrency": {},
                    "output_tokens": 256, "metric": "tokens_per_s", "value": 6400, "unit": "tokens/s",
                    "and": [{{"metric": "latency", "value": 9.5, "unit": "s"}}]{})",
                    at_once, more));
  };
  const ClaimAudit too_many = served("", 128);
  EXPECT_EQ(too_many.verdict, AuditVerdict::kDoubtful);
  EXPECT_EQ(too_many.reasons.front().code, "in-flight-mismatch");
  EXPECT_THAT(too_many.reasons.front().text, HasSubstr("237.5 requests in flight; 128 stated"));
  EXPECT_LT(served("", 256).verdict, AuditVerdict::kDoubtful);
  EXPECT_EQ(served(R"(, "statistic": "mean")", 128).verdict, AuditVerdict::kDoubtful);
  EXPECT_THAT(served(R"(, "statistic": "mean")", 128).reasons.front().text,
              AllOf(HasSubstr("unless the rate counts the tokens of prompts"), Not(HasSubstr("no mean"))));
  EXPECT_THAT(served(R"(, "phase": "decode")", 128).reasons.front().text,
              AllOf(HasSubstr("unless the latency is no mean"), Not(HasSubstr("prompts"))));
  // A phase that is stated says what the rate counts.
  EXPECT_EQ(served(R"(, "statistic": "mean", "phase": "decode")", 128).verdict, AuditVerdict::kImpossible);
  EXPECT_EQ(served(R"(, "statistic": "mean", "phase": "decode", "assumed": ["phase"])", 128).verdict,
            AuditVerdict::kDoubtful);
  // Even if the rate counts 16 prompt tokens of each request in.
  EXPECT_EQ(served(R"(, "statistic": "mean", "input_tokens": 16)", 128).verdict, AuditVerdict::kImpossible);
}

TEST(TrainingClaims, NeedThreeTimesTheForwardPass) {
  const char* claim =
      R"("device": "h100", "devices": 8, "model": "llama2-7b", "precision": "bf16", "sparsity": "dense", "phase": "{}", "metric": "tokens_per_s", "value": 300000, "unit": "tokens/s")";
  EXPECT_EQ(audit_of(fmt::format(fmt::runtime(claim), "training")).verdict, AuditVerdict::kImpossible);
  EXPECT_LT(audit_of(fmt::format(fmt::runtime(claim), "prefill")).verdict, AuditVerdict::kDoubtful);
}

TEST(HonestClaims, BoostClocksAreDoubtedAtTheMost) {
  const ClaimAudit audit =
      audit_of(R"("device": "a100", "precision": "fp32", "metric": "flops", "value": 20.2, "unit": "TFLOP/s")");
  EXPECT_EQ(audit.verdict, AuditVerdict::kDoubtful);
  EXPECT_THAT(codes(audit), Contains("near-peak-flops"));
}

TEST(UnstatedBatch, IsSaidWithTheLeastThatItTakes) {
  const ClaimAudit audit = audit_of(
      R"("device": "h100", "model": "llama3-8b", "precision": "fp16", "metric": "tokens_per_s", "value": 2000, "unit": "tokens/s")");
  EXPECT_EQ(audit.verdict, AuditVerdict::kIncomplete);
  ASSERT_FALSE(audit.reasons.empty());
  EXPECT_EQ(audit.reasons.front().code, "batch-unstated");
  // 7.5e9 weights of two bytes at 3.352e12 bytes/s: 223 tokens/s alone, nine at once.
  EXPECT_THAT(audit.reasons.front().text, HasSubstr("2000 tokens/s take 9 at once"));
}

TEST(UnstatedPrecision, IsSaidWithWhatTheRateTakes) {
  const ClaimAudit audit =
      audit_of(R"("device": "h100", "model": "llama3-8b", "metric": "tokens_per_s", "value": 401, "unit": "tokens/s")");
  EXPECT_EQ(audit.verdict, AuditVerdict::kIncomplete);
  ASSERT_FALSE(audit.reasons.empty());
  EXPECT_EQ(audit.reasons.front().code, "precision-unstated");
  // 7.5e9 weights at 3.352e12 bytes/s: 223 tokens/s of two bytes each, so 400.5 (401, less rounding) take 16 x 223 /
  // 400.5 = 8.9 bits.
  EXPECT_THAT(audit.reasons.front().text,
              HasSubstr("with weights of 16 bits one sequence can have at most 223 tokens/s"));
  EXPECT_THAT(audit.reasons.front().text, HasSubstr("401 tokens/s take weights of 8.9 bits or fewer, or several"));
  // A rate that any format allows is no reason; one that none allows has another.
  const char* claim =
      R"("device": "h100", "model": "llama3-8b", "metric": "tokens_per_s", "value": {}, "unit": "tokens/s")";
  EXPECT_THAT(codes(audit_of(fmt::format(fmt::runtime(claim), 200))), Not(Contains("precision-unstated")));
  const auto many = codes(audit_of(fmt::format(fmt::runtime(claim), 2000)));
  EXPECT_THAT(many, Contains("batch-unstated"));
  EXPECT_THAT(many, Not(Contains("precision-unstated")));
}

TEST(UnknownNames, AreSaidWithNearOnesAndTheRestIsChecked) {
  const ClaimAudit audit = audit_of(
      R"("device": "h1000", "model": "resnet51", "precision": "fp17", "batch": 8, "concurrency": 8, "statistic": "mean", "metric": "samples_per_s", "value": 1000, "unit": "images/s", "and": [{"metric": "latency", "value": 80, "unit": "ms"}])");
  EXPECT_THAT(codes(audit), Contains("unknown-device"));
  EXPECT_THAT(codes(audit), Contains("unknown-model"));
  EXPECT_THAT(codes(audit), Contains("unknown-precision"));
  EXPECT_THAT(all_text(audit), HasSubstr("h100"));
  EXPECT_THAT(all_text(audit), HasSubstr("resnet50"));
  EXPECT_EQ(audit.reasons.front().code, "in-flight-mismatch");
  EXPECT_FALSE(audit.bound_checked);
}

TEST(SlidesClaims, AreAudited) {
  const auto file = read_claims(PERFCAST_SOURCE_DIR "/data/audit/keynote-claims.json");
  ASSERT_TRUE(file) << to_text(file.error());
  std::map<std::string, ClaimAudit> audits;
  for (ClaimAudit& audit : audit_claims(*file, shipped_devices(), shipped_models())) audits[audit.id] = audit;
  // 2 x 4096^3 operations in 5.28 ms are 26.0 TFLOP/s where 19.5 are the peak.
  EXPECT_EQ(audits["cutlass"].verdict, AuditVerdict::kImpossible) << all_text(audits["cutlass"]);
  EXPECT_EQ(audits["cutlass"].reasons.front().code, "above-peak-flops");
  EXPECT_THAT(audits["cutlass"].reasons.front().text, HasSubstr("tf32"));
  for (const auto& [id, audit] : audits) {
    EXPECT_EQ(audit.verdict == AuditVerdict::kImpossible, id == "cutlass") << all_text(audit);
    size_t wrong = 0;
    for (const AuditReason& reason : audit.reasons) {
      if (reason.code.starts_with("speedup-")) ++wrong;
    }
    // 478.89 s / 5.28 ms is 90,699, not 90,669; 478.89 s / 0.64 ms is 748,266, not 740,857, nor is 23.82 / 0.64 36.85.
    EXPECT_EQ(wrong, id == "cutlass" ? 1u : id == "torch-fp16" ? 2u : 0u) << all_text(audit);
  }
  EXPECT_THAT(codes(audits["cutlass"]), Contains("speedup-rounding"));
  EXPECT_THAT(codes(audits["torch-fp16"]), Contains("speedup-arithmetic"));
  EXPECT_THAT(codes(audits["torch-fp16"]), Contains("baseline-precision"));
  EXPECT_THAT(codes(audits["torch-cpu"]), Contains("weak-baseline"));
  EXPECT_EQ(audits["cublas"].verdict, AuditVerdict::kDoubtful) << all_text(audits["cublas"]);
  EXPECT_EQ(audits["llama3-8b-server"].verdict, AuditVerdict::kIncomplete);
  EXPECT_THAT(audits["llama3-8b-server"].not_made, Contains(HasSubstr("60 sequences at once")));
}

TEST(SpeedUps, ClosingZerosExcuseLittle) {
  const auto verdict = [](double ratio, double own_ms, double other_ms) {
    return audit_of(
               fmt::format(
                   R"("metric": "latency", "value": {}, "unit": "ms", "speedups": [{{"value": {}, "baseline": {{"metric": "latency", "value": {}, "unit": "ms", "rung": "library"}}}}])",
                   own_ms, ratio, other_ms))
        .verdict;
  };
  EXPECT_LT(verdict(2, 10, 25), AuditVerdict::kDoubtful);  // 2.5, cut off
  EXPECT_LT(verdict(2, 10, 15), AuditVerdict::kDoubtful);  // 1.5, rounded
  EXPECT_EQ(verdict(3, 10, 25.1), AuditVerdict::kIncomplete);
  EXPECT_EQ(verdict(3, 10, 24), AuditVerdict::kDoubtful);  // 24.4 / 9.6
  EXPECT_EQ(verdict(3, 10, 20), AuditVerdict::kImpossible);
  EXPECT_LT(verdict(100, 10, 1020), AuditVerdict::kDoubtful);
  EXPECT_EQ(verdict(100, 10, 500), AuditVerdict::kImpossible);
  EXPECT_EQ(verdict(1000, 7, 3500), AuditVerdict::kImpossible);
}

// A product of one row is bounded by memory: a hundredth of the peak is what there is.
TEST(SpeedUps, OpponentsThatMemoryBoundsAreNotWeak) {
  const auto audits = audit_text_of(
      R"({"id": "row", "device": "a100", "model": "gemm", "shape": [1, 16384, 16384], "precision": "fp16", "rung": "library", "metric": "latency", "value": 0.4, "unit": "ms"},
         {"id": "better", "device": "h100", "model": "gemm", "shape": [1, 16384, 16384], "precision": "fp16", "rung": "library", "metric": "latency", "value": 0.2, "unit": "ms", "speedups": [{"value": 2, "over": "row"}]})");
  EXPECT_LT(audits[1].verdict, AuditVerdict::kDoubtful) << all_text(audits[1]);
}

TEST(SpeedUps, FollowFromRatesAsFromTimes) {
  const char* with =
      R"("device": "h100", "model": "resnet50", "precision": "int8", "batch": 64, "rung": "library", "metric": "samples_per_s", "value": 60000, "unit": "images/s",
    "speedups": [{{"value": {}, "baseline": {{"metric": "samples_per_s", "value": 24000, "unit": "images/s", "rung": "library", "precision": "int8"}}}}])";
  EXPECT_LT(audit_of(fmt::format(fmt::runtime(with), 2.5)).verdict, AuditVerdict::kDoubtful);
  EXPECT_EQ(audit_of(fmt::format(fmt::runtime(with), 0.4)).verdict, AuditVerdict::kImpossible);
}

}  // namespace
}  // namespace perfcast::ai
