#include "program/evaluate/fold_forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "base/random.h"
#include "program/evaluate/testing/synthetic_corpus.h"

namespace perfcast::program {
namespace {

// A program that is not measured everywhere: its row is relative to the mean over the platforms that it was measured
// on, as measured times are, so that a forecast and a measurement differ by the forecast's error alone.
TEST(ForecastPlatforms, ARowsZeroIsTheMeanOverWhereItWasMeasured) {
  auto made = make_training_table(synthetic_corpus({}), {});
  ASSERT_TRUE(made);
  TrainingTable table = std::move(*made);
  const size_t platforms = table.platforms.size();
  table.times[0 * platforms + 1].reset();
  const std::vector<size_t> known = {0, 1, 2, 3, 4}, unknown = {5};
  const auto forecast = forecast_platforms(table, known, unknown, "mean", {});
  ASSERT_TRUE(forecast);
  for (int64_t row = 0; row < 2; ++row) {
    double sum = 0;
    for (const size_t j : known) {
      if (table.at(static_cast<size_t>(row), j)) sum += forecast->predicted(row, static_cast<int64_t>(j));
    }
    EXPECT_NEAR(sum, 0, 1e-12) << row;
  }
  // The same model for both rows: what differs is their zero, on every platform alike.
  const double shift = forecast->predicted(0, 0) - forecast->predicted(1, 0);
  EXPECT_GT(std::abs(shift), 1e-6);
  for (int64_t j = 0; j < 6; ++j) {
    EXPECT_NEAR(forecast->predicted(0, j) - forecast->predicted(1, j), shift, 1e-9) << j;
  }
}

// Times that are what models of cores say: on a design without times they still hold, where facts alone would give the
// mean of other designs.
TEST(ForecastPlatforms, CoreModelsHoldOnADesignWithoutTimes) {
  auto made = make_training_table(synthetic_corpus({}), {});
  ASSERT_TRUE(made);
  TrainingTable table = std::move(*made);
  const size_t platforms = table.platforms.size();
  ASSERT_GE(platforms, 5U);
  const std::vector<std::pair<int64_t, int64_t>> zen = {{23, 1}, {23, 0x31}, {25, 1}, {25, 0x11}};  // zen1 to zen4
  const char* metrics[] = {"core_zen1_cycles_count", "core_zen2_cycles_count", "core_zen3_cycles_count",
                           "core_zen4_cycles_count"};
  Random random(3);
  for (size_t j = 0; j < platforms; ++j) {
    Platform& platform = table.platforms[j];
    platform.arch = "x86_64";
    platform.vendor = "AuthenticAMD";
    std::tie(platform.cpu_family, platform.model) = zen[j % 4];
  }
  for (size_t p = 0; p < table.programs.size(); ++p) {
    table.profiles[p].instruction_set = "x86_64";
    for (const char* metric : metrics) table.profiles[p].metrics[metric] = 1e9 * std::exp(0.3 * random.normal());
    for (size_t j = 0; j < platforms; ++j) {
      auto& time = table.times[p * platforms + j];
      if (time) time->log_time = std::log(table.profiles[p].metrics[metrics[j % 4]]);
    }
  }
  std::vector<size_t> known, unknown;
  for (size_t j = 0; j < platforms; ++j) (j % 4 == 2 ? unknown : known).push_back(j);
  const auto error_of = [&](const std::string& model) {
    const auto forecast = forecast_platforms(table, known, unknown, model, {});
    EXPECT_TRUE(forecast) << model;
    double sum = 0;
    for (size_t p = 0; p < table.programs.size(); ++p) {
      const auto row = static_cast<int64_t>(p);
      const auto from = static_cast<int64_t>(unknown[0]), to = static_cast<int64_t>(known[0]);
      const double truth = std::log(table.profiles[p].metrics[metrics[2]] / table.profiles[p].metrics[metrics[0]]);
      sum += std::abs(forecast->predicted(row, from) - forecast->predicted(row, to) - truth);
    }
    return sum / static_cast<double>(table.programs.size());
  };
  EXPECT_LT(error_of("cores:mean"), 0.05);
  EXPECT_GT(error_of("mean"), 0.2);
}

}  // namespace
}  // namespace perfcast::program
