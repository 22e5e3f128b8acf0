#include "ai/results/result_rows.h"

#include <gtest/gtest.h>

#include "ai/results/made_up_results.h"

namespace perfcast::ai {
namespace {

TEST(ResultRows, JoinWhatASystemRepeats) {
  const auto devices = made_up_devices();
  PublishedResult result = made_up_results(devices, 1).front();
  result.samples_per_s = 10;
  PublishedResult again = result;
  again.platform = "the same with another server program";
  again.samples_per_s = 40;
  PublishedResult other = result;
  other.model = "large-99";
  PublishedResult invalid = result;
  invalid.valid = false;
  const auto rows = result_rows({result, again, other, invalid}, devices);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].results, 2u);
  EXPECT_DOUBLE_EQ(rows[0].log_rate, std::log(20.0));
  EXPECT_EQ(rows[0].system, "A, Round 0, 1, 1");
  EXPECT_EQ(rows[1].family, "large");
}

TEST(ResultRows, HaveTheFactsOfASlicesShare) {
  const auto devices = made_up_devices();
  ResultAccelerator accelerator;
  accelerator.facts = &devices[0];
  const ResultFacts whole = result_facts(accelerator);
  EXPECT_DOUBLE_EQ(whole[static_cast<size_t>(ResultFact::kPeak)], std::log(2e14));
  EXPECT_DOUBLE_EQ(whole[static_cast<size_t>(ResultFact::kHalfShare)], std::log(0.5));
  accelerator.compute_share = 0.25;
  EXPECT_NEAR(result_facts(accelerator)[0], std::log(5e13), 1e-12);
  accelerator.facts = nullptr;
  EXPECT_TRUE(std::isnan(result_facts(accelerator)[0]));
}

TEST(ResultRows, KnowAModelWithoutItsQuality) {
  EXPECT_EQ(model_family("bert-99.9"), "bert");
  EXPECT_EQ(model_family("bert-99"), "bert");
  EXPECT_EQ(model_family("resnet50"), "resnet50");
}

}  // namespace
}  // namespace perfcast::ai
