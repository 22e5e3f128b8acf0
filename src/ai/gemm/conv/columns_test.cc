#include "ai/gemm/conv/columns.h"

#include <gmock/gmock.h>

#include "ai/gemm/conv/conv_task.h"
#include "base/random.h"

namespace perfcast::ai::gemm {
namespace {

std::vector<float> numbered(int64_t size) {
  std::vector<float> x(static_cast<size_t>(size));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  return x;
}

TEST(Columns, AreWhatAKernelMeets) {
  // One image of 2 x 3, kernel 2 x 2, padding 1: output 3 x 4.
  const ConvShape shape = {1, 1, 2, 3, 1, 2, 2, 1, 1};
  std::vector<float> columns(size_t{4} * 12, -1);
  image_columns(shape, numbered(6).data(), 0, 4, columns.data());
  EXPECT_EQ(columns, (std::vector<float>{0, 0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6,  // up and left
                                         0, 0, 0, 0, 1, 2, 3, 0, 4, 5, 6, 0,  // up
                                         0, 1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0,  // left
                                         1, 2, 3, 0, 4, 5, 6, 0, 0, 0, 0, 0}));
}

TEST(Columns, OfAOneByOneKernelAreTheImage) {
  const ConvShape shape = {1, 3, 5, 4, 2, 1, 1, 1, 0};
  EXPECT_TRUE(image_is_columns(shape));
  const std::vector<float> x = numbered(60);
  std::vector<float> columns(60);
  image_columns(shape, x.data(), 0, 3, columns.data());
  EXPECT_EQ(columns, x);
  EXPECT_FALSE(image_is_columns({1, 3, 5, 4, 2, 1, 1, 2, 0}));
  EXPECT_FALSE(image_is_columns({1, 3, 5, 4, 2, 1, 1, 1, 1}));
}

// Any shape, any number of threads: what the definition says, element by element.
TEST(Columns, AgreeWithTheDefinition) {
  Random random(11);
  const auto draw = [&random](int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random.below(static_cast<uint64_t>(to - from + 1)));
  };
  int compared = 0;
  while (compared < 400) {
    const auto shape =
        conv_shape_from({1, draw(1, 4), draw(1, 9), draw(1, 9), 1, draw(1, 5), draw(1, 5), draw(1, 4), draw(0, 6)}, "");
    if (!shape) continue;
    ++compared;
    const std::vector<float> x = numbered(shape->input_size());
    const std::vector<float> expected = reference_columns(*shape, x);
    std::vector<float> columns(expected.size(), -1);
    image_columns_threads(*shape, x.data(), columns.data(), static_cast<int>(draw(1, 5)));
    ASSERT_EQ(columns, expected) << to_text(ConvLayer{"", *shape});
  }
}

}  // namespace
}  // namespace perfcast::ai::gemm
