#pragma once
// One convolution as a network has it, in NCHW order without dilation or groups:
//   y[b][o][p][q] = sum over c, r, s of w[o][c][r][s] x[b][c][p * stride + r - padding][q * stride + s - padding],
// where x is zero outside of the image. It is the product of w (m x k) with the columns of x (k x n), see product_of().

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ai/gemm/shape.h"
#include "base/result.h"

namespace perfcast::ai::gemm {

struct ConvShape {
  int64_t batch = 1;
  int64_t in_channels = 0, height = 0, width = 0;  // of x
  int64_t out_channels = 0, kernel_height = 0, kernel_width = 0;
  int64_t stride = 1, padding = 0;  // the same both ways

  bool operator==(const ConvShape&) const = default;
  int64_t out_height() const;
  int64_t out_width() const;
  int64_t input_size() const;  // elements of x, w, y
  int64_t weight_size() const;
  int64_t output_size() const;
};

// The sizes in the order of the members: as --shape takes them, and as a TaskSpec has them.
std::vector<int64_t> sizes_of(const ConvShape& shape);
// Checked: every size from 1 to kMaxSide (padding from 0), an output that is not empty, an equivalent product whose
// sides are at most 2^24. Errors: "bad-usage", naming `where`.
Result<ConvShape> conv_shape_from(const std::vector<int64_t>& sizes, const std::string& where);
// "B,C,H,W,O,R,S[,STRIDE[,PADDING]]"
Result<ConvShape> parse_conv_shape(std::string_view text, const std::string& option);

// m = out channels, n = batch x output positions, k = in channels x kernel positions: as many multiplications as the
// convolution has (those with the zeros around the image included).
Shape product_of(const ConvShape& shape);
// Bytes that it must move at the least: x and w in, y out. Columns are an invention of im2col, and don't count.
double compulsory_bytes(const ConvShape& shape, double input_bytes, double output_bytes);

// A convolution of a network, `count` times in it.
struct ConvLayer {
  std::string name;  // "conv3_3x3"; empty for a shape that was given
  ConvShape shape;
  int count = 1;
  bool operator==(const ConvLayer&) const = default;
};
// "conv3_3x3: 1 x 128 x 28 x 28 to 128, 3 x 3, stride 1, padding 1"
std::string to_text(const ConvLayer& layer);

// The distinct convolutions of ResNet-50 (He et al., CVPR 2016) for images of 224 x 224, in their order, with the
// stride in the 3 x 3 convolution as frameworks ship it ("v1.5").
const std::vector<ConvLayer>& resnet50_layers();
// By name. Errors: "bad-usage" with the nearest names.
Result<ConvLayer> find_conv_layer(const std::string& name);

}  // namespace perfcast::ai::gemm
