#include "ai/results/result_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ai/results/made_up_results.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;

TEST(ResultQuery, IsADescription) {
  const auto asked = parse_result_query("accelerator=h100, count=16, nodes=2, model=bert-99, scenario=Offline");
  ASSERT_TRUE(asked) << to_text(asked.error());
  EXPECT_EQ(asked->accelerator, "h100");
  EXPECT_EQ(asked->accelerators(), 16);
  EXPECT_EQ(asked->accelerators_per_node, 8);
  EXPECT_EQ(asked->model, "bert-99");
  for (const char* wrong :
       {"", "h100", "accelerator=h100,model=m", "accelerator=h100,model=m,scenario=Offline,count=0",
        "accelerator=h100,model=m,scenario=Offline,count=3,nodes=2",
        "accelerator=h100,model=m,scenario=Offline,nodes=2",
        "accelerator=h100,accelerator=a100,model=m,scenario=Offline", "accelerator=,model=m,scenario=Offline",
        "accelerator=h100,model=m,scenario=Offline,colour=red"}) {
    const auto bad = parse_result_query(wrong);
    ASSERT_FALSE(bad) << wrong;
    EXPECT_EQ(bad.error().code, "bad-usage");
  }
}

TEST(ResultQuery, IsForecast) {
  auto devices = made_up_devices();
  const auto rows = result_rows(made_up_results(devices, 1), devices);
  DeviceFacts fresh = devices[4];
  fresh.name = "Square";
  fresh.generation = "square";
  devices.push_back(fresh);
  ResultFitOptions options;
  options.most_likelihood_rows = 100;
  options.iterations = 4;
  const auto known = parse_result_query("accelerator=Round 4,count=4,model=small,scenario=Offline");
  const auto unknown = parse_result_query("accelerator=square,count=4,model=small,scenario=Offline");
  ASSERT_TRUE(known && unknown);
  const auto first = asked_row(rows, *known, devices), second = asked_row(rows, *unknown, devices);
  ASSERT_TRUE(first && second);
  const auto forecasts = forecast_rows(rows, {*first, *second}, options);
  ASSERT_TRUE(forecasts) << to_text(forecasts.error());
  const double peak = devices[4].peak_flops[static_cast<size_t>(MathMode::kInt8)];
  const double truth = 1e-9 * std::sqrt(peak * devices[4].memory_bytes_per_s) * 4;
  EXPECT_NEAR((*forecasts)[0].rate_per_s / truth, 1, 0.08);
  EXPECT_NEAR((*forecasts)[1].rate_per_s / truth, 1, 0.3);
  EXPECT_EQ((*forecasts)[0].novelty, ResultSplit::kSystem);
  EXPECT_EQ((*forecasts)[1].novelty, ResultSplit::kGeneration);
  EXPECT_LT((*forecasts)[0].lower, truth);
  EXPECT_GT((*forecasts)[0].upper, truth);
  EXPECT_GT((*forecasts)[1].upper / (*forecasts)[1].lower, (*forecasts)[0].upper / (*forecasts)[0].lower);
  EXPECT_EQ((*forecasts)[0].row.version, "v1");
}

TEST(ResultQuery, ChecksWhatWasKeptApart) {
  const auto devices = made_up_devices();
  const auto rows = result_rows(made_up_results(devices, 1), devices);
  std::vector<ResultRow> known, apart;
  for (const ResultRow& row : rows) (row.accelerator == "Round 5" ? apart : known).push_back(row);
  apart.push_back(apart.front());
  apart.back().model = "another";
  ResultFitOptions options;
  options.most_likelihood_rows = 100;
  options.iterations = 4;
  const auto checked = check_kept_apart(known, apart, options);
  ASSERT_TRUE(checked) << to_text(checked.error());
  EXPECT_EQ(checked->without, 1u);
  EXPECT_EQ(checked->forecasts.size(), apart.size() - 1);
  ASSERT_EQ(checked->scores.size(), 2u);
  EXPECT_EQ(checked->scores[1].scenario, "new accelerator");
  EXPECT_LT(checked->scores[0].median_error, checked->scores[0].baseline_median_error);
  EXPECT_GE(checked->scores[0].coverage_90, 0.8);
}

TEST(ResultQuery, SaysWhatIsNotKnown) {
  const auto devices = made_up_devices();
  const auto rows = result_rows(made_up_results(devices, 1), devices);
  const auto code = [&](const char* text) { return asked_row(rows, *parse_result_query(text), devices).error().code; };
  EXPECT_EQ(code("accelerator=Round 4,model=smal,scenario=Offline"), "unknown-model");
  EXPECT_EQ(code("accelerator=Round 4,model=small,scenario=SingleStream"), "unknown-scenario");
  EXPECT_EQ(code("accelerator=Round 9,model=small,scenario=Offline"), "unknown-accelerator");
}

}  // namespace
}  // namespace perfcast::ai
