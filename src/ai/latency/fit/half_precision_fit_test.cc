#include "ai/latency/fit/half_precision_fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

DeviceFacts invented() {
  DeviceFacts facts;
  facts.name = "Invented";
  facts.units = 64;
  facts.clock_hz = 1.5e9;
  facts.memory_bytes_per_s = 1e12;
  facts.link_bytes_per_s = 2e11;
  facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 2e14;
  return facts;
}

// A device whose law is known: the fit forecasts shapes that it never saw, one time in fifty being far off.
TEST(FitHalfPrecision, RecoversAKnownLaw) {
  HalfPrecisionParameters truth;
  truth.start_s = 6e-6;
  truth.compute_efficiency = 0.75;
  truth.prologue_bytes = 300;
  truth.memory_efficiency = 0.9;
  truth.cache_bytes_per_cycle = 25;
  truth.whole_wave_share = 0.9;
  truth.vector.fill({3e-6, 6});
  truth.link_start_s = 2e-5;
  truth.link_step_s = 2e-6;
  truth.link_efficiency = 0.6;
  const auto known = HalfPrecisionModel::with_parameters(invented(), truth);
  std::vector<MeasuredProduct> products;
  for (const double m : {1., 8., 40., 72., 128., 200., 256., 400., 640., 1024., 1500., 2048., 4096.}) {
    for (const double k : {1024., 2816., 4096., 8192.}) {
      for (const double n : {1024., 2560., 5120., 14336.}) {
        const ProductShape shape = {1, m, k, n, true};
        const double odd = products.size() % 50 == 7 ? 3 : 1;
        products.push_back({shape, odd * known.product(shape, MathMode::kHalf, 2 * k * n).seconds});
      }
    }
  }
  std::vector<MeasuredVector> vectors;
  std::vector<MeasuredAllReduce> all_reduces;
  for (int power = 0; power < 14; ++power) {
    const double rows = std::exp2(power);
    for (const VectorKind kind : {VectorKind::kNorm, VectorKind::kBinary}) {
      vectors.push_back({{kind, rows, 4096}, known.vector({kind, rows, 4096}, 2).seconds});
    }
    for (const int workers : {2, 4, 8}) {
      all_reduces.push_back({workers, 8192 * rows, known.all_reduce_seconds(8192 * rows, workers)});
    }
  }
  auto fitted = fit_half_precision(invented(), products, vectors);
  ASSERT_TRUE(fitted) << to_text(fitted.error());
  ASSERT_TRUE(fit_all_reduce(invented(), all_reduces, *fitted));
  const auto model = HalfPrecisionModel::with_parameters(invented(), *fitted);
  for (const double m : {4., 100., 333., 900., 3000.}) {
    const ProductShape shape = {1, m, 6144, 3584, true};
    const double weights = 2 * shape.k * shape.n;
    EXPECT_NEAR(
        model.product(shape, MathMode::kHalf, weights).seconds / known.product(shape, MathMode::kHalf, weights).seconds,
        1, 0.02)
        << m;
  }
  EXPECT_NEAR(fitted->memory_efficiency, 0.9, 0.02);
  const VectorParameters norm = fitted->vector[static_cast<size_t>(VectorKind::kNorm)];
  EXPECT_NEAR(norm.start_s, 3e-6, 1e-8);
  EXPECT_NEAR(norm.bytes_per_cycle, 6, 0.01);
  // Kinds that weren't measured take the norm's.
  EXPECT_EQ(fitted->vector[static_cast<size_t>(VectorKind::kSoftmax)].start_s, norm.start_s);
  EXPECT_NEAR(fitted->link_start_s, 2e-5, 1e-7);
  EXPECT_NEAR(fitted->link_step_s, 2e-6, 1e-7);
  EXPECT_NEAR(fitted->link_efficiency, 0.6, 0.005);
}

TEST(FitHalfPrecision, SaysWhatIsMissing) {
  const std::vector<MeasuredProduct> few(3, {{1, 8, 64, 64, true}, 1e-5});
  EXPECT_EQ(fit_half_precision(invented(), few, {}).error().code, "bad-fit");
  const std::vector<MeasuredProduct> enough(30, few[0]);
  DeviceFacts slow = invented();
  slow.clock_hz = kUnknown;
  EXPECT_EQ(fit_half_precision(slow, enough, {}).error().code, "bad-fit");
  HalfPrecisionParameters parameters;
  EXPECT_EQ(fit_all_reduce(invented(), {}, parameters).error().code, "bad-fit");
}

}  // namespace
}  // namespace perfcast::ai
