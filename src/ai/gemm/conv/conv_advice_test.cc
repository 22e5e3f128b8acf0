#include "ai/gemm/conv/conv_advice.h"

#include <gmock/gmock.h>

namespace perfcast::ai::gemm {
namespace {

RungResult conv_row(const ConvLayer& layer, const char* name, double gflops, int threads = 1) {
  RungResult found;
  found.name = found.title = name;
  found.conv = layer;
  found.shape = product_of(layer.shape);
  found.threads = threads;
  found.gflops = gflops;
  found.median_s = operations(found.shape) / gflops / 1e9;
  found.spread = 0.02;
  found.samples = 7;
  found.correct = true;
  return found;
}

TEST(ConvAdvice, ComparesRungsOfTheLargestLayer) {
  const ConvLayer small = resnet50_layers()[1], large = resnet50_layers()[0];
  GemmResult result;
  result.op = "conv";
  result.rungs = {conv_row(small, "naive-o1", 1),           conv_row(small, "naive-o3", 9),
                  conv_row(large, "im2col-openblas", 40),   conv_row(large, "onednn-direct", 100),
                  conv_row(large, "onednn-auto", 101),      conv_row(large, "onednn-direct", 80, 2),
                  conv_row(large, "im2col-openblas", 79, 2)};
  const std::vector<Advice> advice = conv_advice(result);
  ASSERT_EQ(advice.size(), 2u);  // auto's one per cent and the small layer are none
  EXPECT_EQ(advice[0].kind, "library");
  EXPECT_DOUBLE_EQ(advice[0].gain, 2.5);
  EXPECT_EQ(advice[0].conv, large);
  EXPECT_EQ(advice[1].change, "onednn-direct: 1 thread instead of 2");
  EXPECT_TRUE(conv_advice(GemmResult()).empty());
}

TEST(ConvAdvice, NamesTheCostOfAPrecision) {
  GemmResult result;
  result.rungs = {conv_row(resnet50_layers()[0], "onednn-direct", 100),
                  conv_row(resnet50_layers()[0], "onednn-bf16", 180)};
  result.rungs[1].precision = Precision::kBf16;
  result.rungs[1].relative_error = 0.003;
  const std::vector<Advice> advice = conv_advice(result);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].cost, "relative error 0.3%");
  result.rungs[1].spread = 2;  // too noisy to tell
  EXPECT_TRUE(conv_advice(result).empty());
}

}  // namespace
}  // namespace perfcast::ai::gemm
