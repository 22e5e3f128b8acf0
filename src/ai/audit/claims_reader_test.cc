#include "ai/audit/claims_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string file_with(const std::string& claim) {
  return R"({"schema": "perfcast.claims/1", "claims": [)" + claim + "]}";
}

std::string error_of(const std::string& text) {
  const auto file = parse_claims(text, "c.json");
  return file ? "ok" : to_text(file.error());
}

TEST(ClaimsReader, TakesUnitsToBaseUnits) {
  const auto file = parse_claims(
      file_with(
          R"({"id": "a", "metric": "latency", "value": 5.28, "unit": "ms", "and": [{"metric": "flops", "value": 26, "unit": "TFLOP/s"}],
        "accuracy": {"value": 76.46, "unit": "%"}, "shape": [1, 2, 3], "sparsity": "2:4", "offload": false,
        "speedups": [{"value": 3, "baseline": {"metric": "latency", "value": 16, "unit": "ms", "rung": "naive", "threads": 1}}]})"),
      "c.json");
  ASSERT_TRUE(file) << to_text(file.error());
  const Claim& claim = file->claims.front();
  ASSERT_EQ(claim.numbers.size(), 2u);
  EXPECT_DOUBLE_EQ(claim.numbers[0].value, 5.28e-3);
  EXPECT_DOUBLE_EQ(claim.numbers[0].half_unit, 5e-6);
  EXPECT_EQ(claim.numbers[0].text, "5.28 ms");
  EXPECT_DOUBLE_EQ(claim.find(ClaimMetric::kFlops)->value, 2.6e13);
  EXPECT_DOUBLE_EQ(claim.accuracy->ratio, 0.7646);
  EXPECT_EQ(claim.sparse, std::optional(true));
  EXPECT_EQ(claim.offload, std::optional(false));
  EXPECT_EQ(claim.batch, std::nullopt);
  ASSERT_EQ(claim.speedups.size(), 1u);
  EXPECT_EQ(claim.speedups[0].over.rung, ClaimRung::kNaive);
  EXPECT_EQ(claim.speedups[0].over.threads, 1);
}

TEST(ClaimsReader, SaysAllThatIsWrongWithAClaim) {
  const std::string text = error_of(file_with(
      R"({"id": "a", "metric": "latency", "value": -5, "unit": "ms", "batch": 1.5, "devices": "two", "rung": "fast", "precison": "fp16"})"));
  EXPECT_THAT(text, AllOf(HasSubstr("claims[0].value"), HasSubstr("claims[0].batch"), HasSubstr("claims[0].devices"),
                          HasSubstr("naive, compiler, hand, framework, library"), HasSubstr("precison"),
                          HasSubstr("precision")));
}

TEST(ClaimsReader, NamesTheUnitsOfAMetric) {
  EXPECT_THAT(error_of(file_with(R"({"id": "a", "metric": "tokens_per_s", "value": 5, "unit": "tok/s"})")),
              AllOf(HasSubstr("'tok/s'"), HasSubstr("tokens/s, ktokens/s")));
  EXPECT_THAT(error_of(file_with(R"({"id": "a", "metric": "speed", "value": 5, "unit": "ms"})")),
              HasSubstr("first_token"));
  EXPECT_THAT(error_of(file_with(R"({"id": "a", "metric": "latency", "value": 5})")),
              HasSubstr("found nothing, expected a unit of latency"));
  EXPECT_THAT(
      error_of(file_with(
          R"({"id": "a", "metric": "latency", "value": 5, "unit": "ms", "and": [{"metric": "flops", "value": 1, "unit": "ms"}]})")),
      HasSubstr("and[0].unit"));
}

TEST(ClaimsReader, RefusesWhatIsNoFileOfClaims) {
  EXPECT_THAT(error_of("{"), HasSubstr("c.json"));
  EXPECT_THAT(error_of("[]"), HasSubstr("object"));
  EXPECT_THAT(error_of(R"({"schema": "perfcast.claims/1", "claims": []})"), HasSubstr("0 claims"));
  EXPECT_THAT(error_of(R"({"schema": "perfcast.claims/2", "claims": [1]})"), HasSubstr("perfcast.claims/1"));
  EXPECT_THAT(error_of(file_with("7")), HasSubstr("expected an object"));
  EXPECT_THAT(error_of(file_with(R"({"id": "a", "metric": "latency", "value": NaN, "unit": "ms"})")),
              HasSubstr("c.json"));
  EXPECT_THAT(error_of(file_with(R"({"id": "a", "metric": "latency", "value": 1e999, "unit": "ms"})")),
              HasSubstr("c.json"));
  EXPECT_THAT(error_of(std::string((size_t{1} << 24) + 1, ' ')), HasSubstr("16777216 at most"));
  const std::string one = R"({"id": "a", "metric": "latency", "value": 1, "unit": "ms"})";
  EXPECT_THAT(error_of(file_with(one + "," + one)), HasSubstr("two claims have the id 'a'"));
  EXPECT_THAT(
      error_of(file_with(
          R"({"id": "a", "metric": "latency", "value": 1, "unit": "ms", "speedups": [{"value": 2, "over": "b"}]})")),
      HasSubstr("no other claim"));
  std::string many;
  for (int i = 0; i < 100000; ++i) many.append(i == 0 ? "\"x" : ",\"x").append(std::to_string(i)).append("\"");
  EXPECT_THAT(error_of(file_with(one.substr(0, one.size() - 1) + ", \"assumed\": [" + many + "]}")),
              HasSubstr("100000 fields"));
}

}  // namespace
}  // namespace perfcast::ai
