#include "ai/gemm/conv/conv_shape.h"

#include <gmock/gmock.h>

#include <set>

namespace perfcast::ai::gemm {
namespace {

using testing::HasSubstr;

TEST(ConvShape, HasTheSidesThatFrameworksGive) {
  const ConvShape first = {1, 3, 224, 224, 64, 7, 7, 2, 3};
  EXPECT_EQ(first.out_height(), 112);
  EXPECT_EQ(product_of(first), (Shape{64, 12544, 147}));
  const ConvShape uneven = {2, 5, 9, 14, 7, 3, 2, 2, 0};
  EXPECT_EQ(uneven.out_height(), 4);
  EXPECT_EQ(uneven.out_width(), 7);
  EXPECT_EQ(product_of(uneven), (Shape{7, 56, 30}));
  EXPECT_EQ(compulsory_bytes(uneven, 2, 4), 2.0 * (2 * 5 * 9 * 14 + 7 * 30) + 4.0 * 2 * 7 * 28);
}

// The convolutions of ResNet-50 v1.5 as torchvision builds it: 53 of them with 23,454,912 weights, and 4,089,184,256
// MACs of which the last layer, 2048 x 1000, is none of them.
TEST(ConvShape, ResNet50AddsUp) {
  int count = 0;
  double macs = 0;
  int64_t weights = 0;
  std::set<std::string> names;
  std::set<std::vector<int64_t>> shapes;
  for (const ConvLayer& layer : resnet50_layers()) {
    count += layer.count;
    macs += operations(product_of(layer.shape)) / 2 * layer.count;
    weights += layer.shape.weight_size() * layer.count;
    EXPECT_TRUE(names.insert(layer.name).second) << layer.name;
    EXPECT_TRUE(shapes.insert(sizes_of(layer.shape)).second) << layer.name;
    EXPECT_TRUE(conv_shape_from(sizes_of(layer.shape), "")) << layer.name;
  }
  EXPECT_EQ(count, 53);
  EXPECT_EQ(macs, 4089184256.0 - 2048000.0);
  EXPECT_EQ(weights, 23454912);
  EXPECT_EQ(find_conv_layer("conv5_down")->shape, (ConvShape{1, 512, 14, 14, 512, 3, 3, 2, 1}));
  EXPECT_EQ(find_conv_layer("conv2_expand")->count, 4);
  EXPECT_THAT(find_conv_layer("conv3_3x4").error().expected, HasSubstr("conv3_3x3"));
}

TEST(ConvShape, ReadsSizes) {
  EXPECT_EQ(*parse_conv_shape("1, 64,56,56,32,3,3", "--shape"), (ConvShape{1, 64, 56, 56, 32, 3, 3, 1, 0}));
  EXPECT_EQ(*parse_conv_shape("2,3,9,9,4,3,3,2,1", "--shape"), (ConvShape{2, 3, 9, 9, 4, 3, 3, 2, 1}));
  EXPECT_EQ(to_text(ConvLayer{"", *parse_conv_shape("2,3,9,9,4,3,3,2,1", "")}),
            "2 x 3 x 9 x 9 to 4, 3 x 3, stride 2, padding 1");
}

TEST(ConvShape, RefusesWhatIsNone) {
  for (const char* text : {"", "1,2,3", "1,1,1,1,1,1,1,1,1,1", "1,1,4,4,1,0,1", "1,1,4,4,1,1,1,0", "1,1,4,4,1,1,1,1,-1",
                           "1,1,4,4,1,5,1", "a,1,4,4,1,1,1", "1,1,4,4,1,1,1.5", "99999999999999999999,1,1,1,1,1,1",
                           "1048577,1,1,1,1,1,1", "1048576,1,1048576,1048576,1,1,1", "1,1048576,1048576,1,1,1048576,1",
                           "1,1,1048576,1048576,1,1048576,1048576"}) {
    const auto shape = parse_conv_shape(text, "--shape");
    ASSERT_FALSE(shape) << text;
    EXPECT_EQ(shape.error().code, "bad-usage") << text;
    EXPECT_EQ(shape.error().where, "--shape") << text;
  }
}

}  // namespace
}  // namespace perfcast::ai::gemm
