#include "evaluate/fold_forecast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluate/testing/synthetic_corpus.h"

namespace perfcast {
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

}  // namespace
}  // namespace perfcast
