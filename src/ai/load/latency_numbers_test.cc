#include "ai/load/latency_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace perfcast::ai {
namespace {

TEST(LatencyNumbers, APercentileIsTheSampleAtTheFloor) {
  std::vector<int64_t> values(100);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_EQ(field_percentile(values, 0.50), 51);
  EXPECT_EQ(field_percentile(values, 0.90), 91);
  EXPECT_EQ(field_percentile(values, 0.99), 100);
  EXPECT_EQ(field_percentile(values, 0.999), 100);
  EXPECT_EQ(field_percentile(std::vector<int64_t>{7}, 0.999), 7);
}

TEST(LatencyNumbers, ASummaryOfNothingIsEmpty) { EXPECT_EQ(summarise({}).count, 0); }

TEST(LatencyNumbers, ASummaryHasItsEnds) {
  const LatencySummary summary = summarise({30, 10, 20, 41});
  EXPECT_EQ(summary.count, 4);
  EXPECT_EQ(summary.min, 10);
  EXPECT_EQ(summary.max, 41);
  EXPECT_EQ(summary.mean, 25);
  EXPECT_EQ(summary.p50, 30);
}

TEST(LatencyNumbers, AHistogramIsWithinItsBuckets) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.percentile(0.5), 0);
  Random random(3);
  std::vector<int64_t> values;
  values.reserve(20000);
  for (int i = 0; i < 20000; ++i) values.push_back(static_cast<int64_t>(std::exp(random.uniform(0, 30))));
  for (const int64_t value : values) histogram.add(value);
  std::sort(values.begin(), values.end());
  EXPECT_EQ(histogram.count(), values.size());
  for (const double p : {0.0, 0.1, 0.5, 0.9, 0.99, 0.999}) {
    const auto exact = static_cast<double>(field_percentile(values, p));
    EXPECT_NEAR(static_cast<double>(histogram.percentile(p)), exact, exact / 250 + 0.5) << p;
  }
}

TEST(LatencyNumbers, AHistogramTakesEverything) {
  LatencyHistogram histogram;
  histogram.add(-5);
  histogram.add(INT64_MAX, 3);
  EXPECT_EQ(histogram.count(), 4u);
  EXPECT_EQ(histogram.percentile(0), 0);
  EXPECT_GT(histogram.percentile(0.9), INT64_MAX / 4);
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0u);
}

}  // namespace
}  // namespace perfcast::ai
