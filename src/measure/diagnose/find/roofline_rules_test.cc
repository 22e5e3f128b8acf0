#include <gtest/gtest.h>

#include "measure/diagnose/find/rules.h"

namespace perfcast::measure {
namespace {

// One function that is busy for a second.
Observation busy_loop() {
  Observation seen;
  seen.run.exit_code = 0;
  seen.run.wall_s = seen.run.user_s = 1;
  seen.samples_count = 1000;
  seen.role_share[static_cast<size_t>(CodeRole::kOwn)] = 1;
  HotFunction function;
  function.function = "work";
  function.cpu_share = 0.9;
  function.loop.emplace();
  function.loop->cpu_share = 0.8;
  function.loop->instructions.resize(7);
  seen.functions = {function};
  return seen;
}

NarrowLoop narrow_loop() {
  NarrowLoop loop;
  loop.shape.element_bits = 32;
  loop.shape.flops_count = 2;
  loop.time_s = 0.8;
  loop.is_counted = true;
  loop.operations_count = 2e9;
  loop.bytes = 12e9;
  loop.trips_count = 1000;
  loop.isa = "avx512";
  loop.possible_bits = 512;
  loop.limit_s = 0.1;
  loop.limited_by = "L2";
  return loop;
}

std::vector<Finding> found(const Observation& seen, const Roofline& roofline) {
  Evidence evidence(seen);
  evidence.roofline = &roofline;
  std::vector<Finding> findings;
  find_in_roofline(evidence, findings);
  return findings;
}

TEST(VectorWidth, GainsWhatTheCeilingLeaves) {
  const Observation seen = busy_loop();
  Roofline roofline;
  roofline.narrow_loops = {narrow_loop()};
  const auto findings = found(seen, roofline);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, "vector-width");
  EXPECT_EQ(findings[0].basis, FindingBasis::kModelled);
  // A quarter as fast as the ceiling, 80% of that.
  EXPECT_NEAR(findings[0].gain_ratio, 0.9 * 0.8 * (1 - 2 * 0.1 / 0.8), 1e-9);
  EXPECT_EQ(findings[0].title,
            "a loop of 80% of the CPU time computes one floating-point number of 32 bits at a time; this machine's "
            "registers have 512 bits");
  for (const std::string* const text : {&findings[0].advice, &findings[0].if_wrong, &findings[0].proof})
    EXPECT_FALSE(text->empty());
}

TEST(VectorWidth, IsNoFindingWhereMemoryIsTheLimit) {
  const Observation seen = busy_loop();
  Roofline roofline;
  roofline.narrow_loops = {narrow_loop()};
  roofline.narrow_loops[0].limit_s = 0.39;
  EXPECT_TRUE(found(seen, roofline).empty());
  // Nor where each run of the loop is over before a register is full.
  roofline.narrow_loops = {narrow_loop()};
  roofline.narrow_loops[0].trips_count = 40;
  EXPECT_TRUE(found(seen, roofline).empty());
}

TEST(VectorWidth, IsARuleWithoutCounts) {
  const Observation seen = busy_loop();
  Roofline roofline;
  roofline.narrow_loops = {narrow_loop()};
  roofline.narrow_loops[0].is_counted = false;
  const auto findings = found(seen, roofline);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].basis, FindingBasis::kRule);
  EXPECT_NEAR(findings[0].gain_ratio, 0.3 * 0.8, 1e-9);
}

TEST(VectorWidth, OfSumsAsksForTheirOrder) {
  const Observation seen = busy_loop();
  Roofline roofline;
  roofline.narrow_loops = {narrow_loop()};
  roofline.narrow_loops[0].shape.has_float_sum = true;
  const auto findings = found(seen, roofline);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings[0].advice.find("-ffast-math"), std::string::npos);
  EXPECT_NE(findings[0].if_wrong.find("round otherwise"), std::string::npos);
}

RecognisedProduct product_of(double flops_per_s) {
  RecognisedProduct product;
  product.nest.m = product.nest.n = product.nest.k = 500;
  product.nest.times_count = 2;
  product.nest.loops_count = 3;
  product.nest.flops_count = flops_per_s;
  product.time_s = 0.9;
  product.flops_per_s = flops_per_s;
  product.machine_flops_per_s = 50e9;
  return product;
}

TEST(HandWrittenProduct, IsSetBesideTheMachinesOwn) {
  const Observation seen = busy_loop();
  Roofline roofline;
  roofline.products = {product_of(1.5e9)};
  roofline.narrow_loops = {narrow_loop()};
  const auto findings = found(seen, roofline);
  // The same time isn't found twice.
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, "hand-written-product");
  EXPECT_EQ(findings[0].basis, FindingBasis::kModelled);
  EXPECT_NEAR(findings[0].gain_ratio, 0.9 * (1 - 1.5 / 30), 1e-9);
  EXPECT_EQ(findings[0].proof, "perfcast gemm --shape 500,500,500");
  EXPECT_EQ(findings[0].title,
            "90% of the CPU time is a product of matrices, M x N x K = 500 x 500 x 500, written as loops");
}

TEST(HandWrittenProduct, IsNoneThatIsFastOrCannotBeJudged) {
  const Observation seen = busy_loop();
  Roofline roofline;
  roofline.products = {product_of(29.5e9)};
  EXPECT_TRUE(found(seen, roofline).empty());
  roofline.products = {product_of(1e9)};
  roofline.products[0].machine_flops_per_s = 0;
  EXPECT_TRUE(found(seen, roofline).empty());
}

TEST(RooflineRules, SayNothingWithoutARoofline) {
  const Observation seen = busy_loop();
  const Evidence evidence(seen);
  std::vector<Finding> findings;
  find_in_roofline(evidence, findings);
  EXPECT_TRUE(findings.empty());
}

}  // namespace
}  // namespace perfcast::measure
