#include "ai/gemm/conv/conv_task.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "ai/gemm/conv/conv_rung.h"
#include "ai/gemm/run/gemm_task.h"

namespace perfcast::ai::gemm {
namespace {

using testing::HasSubstr;

// The definition in conv_shape.h, in float64, written from the side of the image: each x goes to where it is used.
std::vector<double> direct(const ConvShape& z, const std::vector<float>& w, const std::vector<float>& x,
                           Precision precision) {
  const int64_t height = z.out_height(), width = z.out_width();
  const auto at = [](const std::vector<float>& values, int64_t i) { return values[static_cast<size_t>(i)]; };
  std::vector<double> c(static_cast<size_t>(z.output_size()));
  for (int64_t b = 0; b < z.batch; ++b) {
    for (int64_t i = 0; i < z.in_channels; ++i) {
      for (int64_t row = 0; row < z.height; ++row) {
        for (int64_t column = 0; column < z.width; ++column) {
          const double value = rounded(at(x, ((b * z.in_channels + i) * z.height + row) * z.width + column), precision);
          for (int64_t r = 0; r < z.kernel_height; ++r) {
            for (int64_t s = 0; s < z.kernel_width; ++s) {
              const int64_t down = row + z.padding - r, across = column + z.padding - s;
              if (down % z.stride != 0 || across % z.stride != 0) continue;
              const int64_t p = down / z.stride, q = across / z.stride;
              if (p < 0 || p >= height || q < 0 || q >= width) continue;
              for (int64_t o = 0; o < z.out_channels; ++o) {
                c[static_cast<size_t>(((o * z.batch + b) * height + p) * width + q)] +=
                    value *
                    rounded(at(w, ((o * z.in_channels + i) * z.kernel_height + r) * z.kernel_width + s), precision);
              }
            }
          }
        }
      }
    }
  }
  return c;
}

const std::vector<ConvShape> kOddShapes = {
    {1, 3, 17, 13, 5, 3, 3, 1, 1},   // a common one, at odd sides
    {2, 5, 11, 9, 37, 3, 2, 2, 1},   // stride 2, two images, a kernel that is no square
    {1, 3, 23, 23, 16, 7, 7, 2, 3},  // the first layer of a ResNet, small
    {3, 17, 6, 7, 19, 1, 1, 1, 0},   // nothing to copy
    {1, 4, 8, 8, 6, 1, 1, 2, 0},     // the last row and column are never read
    {2, 2, 3, 2, 3, 2, 2, 3, 2},     // mostly padding
    {1, 1, 1, 1, 1, 1, 1, 1, 0},
};

class EveryConvRung : public testing::TestWithParam<size_t> {};

TEST_P(EveryConvRung, EqualsTheDefinitionOnOddShapes) {
  const ConvRung& rung = all_conv_rungs()[GetParam()];
  if (const std::string reason = rung.unavailable ? rung.unavailable() : ""; !reason.empty()) {
    GTEST_SKIP() << rung.name << ": " << reason;
  }
  for (const ConvShape& shape : kOddShapes) {
    const std::string where = rung.name + ", " + to_text(ConvLayer{"", shape});
    std::vector<float> w(static_cast<size_t>(shape.weight_size())), x(static_cast<size_t>(shape.input_size()));
    fill_operands(9, w, x);
    const auto kernel = rung.make_conv(shape);
    const Status ready = kernel->prepare({product_of(shape), w, x}, rung.threaded ? 2 : 1);
    if (!ready && ready.error().code == "unavailable") GTEST_SKIP() << where << ": " << ready.error().message;
    ASSERT_TRUE(ready) << where << ": " << ready.error().message;
    const auto seconds = kernel->run(2);  // twice: y is overwritten, not added to
    ASSERT_TRUE(seconds) << where << ": " << seconds.error().message;
    const std::vector<double> expected = direct(shape, w, x, rung.precision);
    std::vector<double> c(expected.size());
    ASSERT_TRUE(kernel->read_result(c)) << where;
    const auto terms = static_cast<double>(product_of(shape).k);
    for (size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(c[i], expected[i], 1e-6 * terms) << where << " at " << i;
    EXPECT_FALSE(kernel->kernel().empty()) << where;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryConvRung, testing::Range(size_t{0}, all_conv_rungs().size()), [](const auto& at) {
  std::string name = all_conv_rungs()[at.param].name;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

TEST(ConvRungs, AreNamedOnceAndSelected) {
  std::set<std::string> seen;
  for (const ConvRung& rung : all_conv_rungs()) EXPECT_TRUE(seen.insert(rung.name).second) << rung.name;
  EXPECT_EQ(select_conv_rungs("*")->size(), all_conv_rungs().size());
  EXPECT_EQ(select_conv_rungs("im2col-openblas")->front()->name, "im2col-openblas");
  EXPECT_THAT(select_conv_rungs("onednn-dirct").error().expected, HasSubstr("onednn-direct"));
}

TEST(ConvTask, PassesARightResultAndRefusesBadSizes) {
  TaskSpec spec = {"conv", "reordered", sizes_of(kOddShapes[1]), 1, 5, {}};
  auto task = make_task(spec);
  ASSERT_TRUE(task) << task.error().message;
  ASSERT_TRUE((*task)->prepare());
  EXPECT_GT(*(*task)->estimate_s(), 0);
  const auto before = (*task)->check();  // nothing ran: zeros
  ASSERT_TRUE(before);
  EXPECT_FALSE(before->correct);
  ASSERT_TRUE((*task)->run(1));
  const auto verdict = (*task)->check();
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->correct) << verdict->detail;
  EXPECT_LT(verdict->worst, 1);
  EXPECT_EQ((*task)->work(), 2.0 * 37 * (2 * 6 * 5) * (5 * 3 * 2));
  spec.sizes.pop_back();
  spec.sizes.back() = 0;
  EXPECT_EQ(make_task(spec).error().code, "bad-usage");
  spec.rung = "nothing";
  EXPECT_EQ(make_task(spec).error().code, "unknown-task");
}

// What the verdicts rest on: the product of weights and reference columns is the convolution.
TEST(ConvTask, ReferenceColumnsMakeItAProduct) {
  for (const ConvShape& shape : kOddShapes) {
    std::vector<float> w(static_cast<size_t>(shape.weight_size())), x(static_cast<size_t>(shape.input_size()));
    fill_operands(3, w, x);
    const Shape product = product_of(shape);
    const std::vector<float> columns = reference_columns(shape, x);
    ASSERT_EQ(static_cast<int64_t>(columns.size()), product.k * product.n);
    const std::vector<double> expected = direct(shape, w, x, Precision::kFp32);
    for (int64_t i = 0; i < product.m; ++i) {
      for (int64_t j = 0; j < product.n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < product.k; ++l) {
          sum += static_cast<double>(w[static_cast<size_t>(i * product.k + l)]) *
                 static_cast<double>(columns[static_cast<size_t>(l * product.n + j)]);
        }
        ASSERT_NEAR(sum, expected[static_cast<size_t>(i * product.n + j)], 1e-12) << to_text(ConvLayer{"", shape});
      }
    }
  }
}

}  // namespace
}  // namespace perfcast::ai::gemm
