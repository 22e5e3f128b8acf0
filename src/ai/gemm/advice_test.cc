#include "ai/gemm/advice.h"

#include <gmock/gmock.h>

namespace perfcast::ai::gemm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Measurement measured(std::vector<double> samples_s) {
  Measurement measurement;
  measurement.verdict.correct = true;
  measurement.samples_s = std::move(samples_s);
  measurement.work = 1;
  return measurement;
}

RungResult row(const std::string& name, int threads, double gflops, double spread = 0.01) {
  RungResult row;
  row.name = row.title = row.kernel = name;
  row.shape = {100, 100, 100};
  row.threads = threads;
  row.correct = true;
  row.samples = 7;
  row.gflops = gflops;
  row.median_s = operations(row.shape) / gflops / 1e9;
  row.spread = spread;
  row.relative_error = 0.002;
  return row;
}

std::vector<std::string> kinds(const std::vector<Advice>& all) {
  std::vector<std::string> kinds;
  kinds.reserve(all.size());
  for (const Advice& advice : all) kinds.push_back(advice.kind);
  return kinds;
}

TEST(Advice, NeedsMoreThanNoise) {
  EXPECT_TRUE(clearly_faster(measured({2, 2.1, 2.2}), measured({1, 1.1, 1.2})));
  EXPECT_FALSE(clearly_faster(measured({1, 1.1, 1.2}), measured({2, 2.1, 2.2})));
  EXPECT_FALSE(clearly_faster(measured({1.04, 1.04, 1.04}), measured({1, 1, 1})));  // too little
  EXPECT_FALSE(clearly_faster(measured({1, 2, 3, 4}), measured({1, 1.6, 2, 4})));   // quartiles overlap
  EXPECT_FALSE(clearly_faster(measured({}), measured({1})));
  EXPECT_FALSE(clearly_faster(measured({2.7}), measured({1})));  // single runs
  EXPECT_TRUE(clearly_faster(measured({5}), measured({1})));
}

TEST(Advice, OffersOnlyKernelsThatTheCpuCanRun) {
  const auto values = [](const std::string& rung, const std::vector<std::string>& isas) {
    std::vector<std::string> all;
    for (const EnvironmentChoice& choice : kernel_choices(rung, isas)) all.push_back(choice.value);
    return all;
  };
  EXPECT_THAT(values("openblas", {"sse2", "avx2"}), ElementsAre("Haswell", "Zen"));
  EXPECT_THAT(values("openblas", {"sse2", "avx2", "avx512"}), ElementsAre("SkylakeX", "Haswell", "Zen"));
  EXPECT_THAT(values("blis", {"sse2", "avx2"}), ElementsAre("haswell", "3", "zen3", "6"));
  EXPECT_THAT(values("blis", {"sse2"}), IsEmpty());
  EXPECT_THAT(values("eigen", {"avx512"}), IsEmpty());
}

TEST(Advice, FollowsFromTheLadder) {
  GemmResult result;
  result.rungs = {row("naive-o1", 1, 0.5), row("naive-o3", 1, 1), row("interchange", 1, 20), row("numpy", 1, 100),
                  row("onednn", 1, 200),   row("onednn", 2, 150), row("onednn-bf16", 1, 400)};
  result.rungs.back().precision = Precision::kBf16;
  const std::vector<Advice> advice = advice_from_ladder(result);
  EXPECT_THAT(kinds(advice), ElementsAre("library", "precision", "threads", "flags", "flags"));
  EXPECT_EQ(advice[0].change, "onednn instead of numpy, 1 thread");
  EXPECT_EQ(advice[0].subject, "numpy");
  EXPECT_EQ(advice[0].gain, 2);
  EXPECT_THAT(advice[1].cost, HasSubstr("0.2%"));
  EXPECT_EQ(advice[2].change, "onednn: 1 thread instead of 2");
  EXPECT_EQ(advice[3].before_gflops, 0.5);
  EXPECT_EQ(advice[4].after_gflops, 20);
}

TEST(Advice, PrecisionsAreComparedWithBPackedAlike) {
  GemmResult result;
  result.rungs = {row("onednn", 1, 100), row("onednn-packed", 1, 150), row("onednn-bf16", 1, 300)};
  result.rungs.back().precision = Precision::kBf16;
  std::vector<Advice> advice = advice_from_ladder(result);
  ASSERT_THAT(kinds(advice), ElementsAre("precision"));
  EXPECT_EQ(advice[0].change,
            "oneDNN: bf16 inputs instead of fp32, 1 thread, B packed beforehand for both, where its error will do");
  EXPECT_EQ(advice[0].before_gflops, 150);
  EXPECT_EQ(advice[0].gain, 2);
  result.rungs[2].gflops = 151;  // faster than the plain one only: nothing that bf16 gains
  result.rungs[2].median_s = operations(result.rungs[2].shape) / 151e9;
  EXPECT_THAT(advice_from_ladder(result), IsEmpty());
  result.rungs.erase(result.rungs.begin() + 1);
  advice = advice_from_ladder(result);
  ASSERT_THAT(kinds(advice), ElementsAre("precision"));
  EXPECT_THAT(advice[0].change, HasSubstr("B packed beforehand for it only"));
  EXPECT_EQ(advice[0].before_gflops, 100);
}

TEST(Advice, LibrariesAreComparedWithTheBest) {
  GemmResult result;
  result.rungs = {row("openblas", 1, 150), row("blis", 1, 100),    row("eigen", 1, 120),    row("numpy", 1, 145),
                  row("onednn", 1, 90),    row("eigen", 2, 100),   row("openblas", 2, 300), row("torch", 2, 310),
                  row("blis", 3, 1),       row("openblas", 3, 300)};
  result.cores = 2;  // what three threads do there counts for little
  const std::vector<Advice> advice = advice_from_ladder(result);
  std::vector<std::string> changes;
  for (const Advice& each : advice) {
    if (each.kind == "library") changes.push_back(each.change);
  }
  // Slow oneDNN is nobody's call, NumPy's and OpenBLAS's gaps are noise; Eigen's at two threads is its widest.
  EXPECT_THAT(changes, ElementsAre("torch instead of eigen, 2 threads", "openblas instead of blis, 1 thread"));
  EXPECT_EQ(advice[0].subject, "eigen");
  EXPECT_DOUBLE_EQ(advice[0].gain, 3.1);
  EXPECT_DOUBLE_EQ(advice[1].gain, 1.5);
  result.rungs = {row("openblas", 1, 400), row("blis", 1, 100), row("eigen", 1, 200), row("numpy", 1, 300)};
  EXPECT_THAT(kinds(advice_from_ladder(result)), ElementsAre("library", "library"));  // of three gaps
}

TEST(Advice, NumPyOnTheReferenceBlasGetsAPackage) {
  GemmResult result;
  result.cores = 2;
  result.rungs = {row("numpy", 1, 3), row("numpy", 2, 3), row("register-block", 1, 80)};
  result.rungs[0].kernel = result.rungs[1].kernel = "1.24.2, libblas.so.3.11.0";
  std::vector<Advice> advice = advice_from_ladder(result);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].change,
            "NumPy calls the reference BLAS: apt install libopenblas0 (expected: about what register-block reaches), 1 "
            "thread");
  EXPECT_FALSE(advice[0].is_measured);
  EXPECT_NEAR(advice[0].gain, 80.0 / 3, 1e-9);
  result.rungs.push_back(row("openblas", 2, 150));
  advice = advice_from_ladder(result);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_THAT(advice[0].change, HasSubstr("(OpenBLAS as measured here), 2 threads"));
  // OpenBLAS behind the alternatives' name.
  result.rungs[0].kernel = result.rungs[1].kernel = "1.24.2, libblas.so.3 Zen";
  EXPECT_THAT(advice_from_ladder(result)[0].change, Not(HasSubstr("apt install")));
}

TEST(Advice, KeepsSilentWhereNothingIsGained) {
  GemmResult result;
  result.rungs = {row("naive-o1", 1, 1), row("naive-o3", 1, 1.02),   row("numpy", 1, 200),
                  row("onednn", 1, 205), row("onednn", 2, 190, 0.5), row("onednn-bf16", 1, 100)};
  EXPECT_THAT(advice_from_ladder(result), IsEmpty());
  EXPECT_THAT(advice_from_ladder(GemmResult{}), IsEmpty());
}

}  // namespace
}  // namespace perfcast::ai::gemm
