#include "ai/gemm/conv/conv_shape.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace perfcast::ai::gemm {
namespace {

constexpr int64_t kLargestProductSide = int64_t{1} << 24;

int64_t out_side(int64_t side, int64_t kernel, int64_t stride, int64_t padding) {
  const int64_t room = side + 2 * padding - kernel;
  return room < 0 ? 0 : room / stride + 1;
}

ConvLayer layer(std::string name, int64_t in_channels, int64_t side, int64_t out_channels, int64_t kernel,
                int64_t stride, int count) {
  return {std::move(name), {1, in_channels, side, side, out_channels, kernel, kernel, stride, kernel / 2}, count};
}

}  // namespace

int64_t ConvShape::out_height() const { return out_side(height, kernel_height, stride, padding); }
int64_t ConvShape::out_width() const { return out_side(width, kernel_width, stride, padding); }
int64_t ConvShape::input_size() const { return batch * in_channels * height * width; }
int64_t ConvShape::weight_size() const { return out_channels * in_channels * kernel_height * kernel_width; }
int64_t ConvShape::output_size() const { return batch * out_channels * out_height() * out_width(); }

std::vector<int64_t> sizes_of(const ConvShape& shape) {
  return {shape.batch,         shape.in_channels,  shape.height, shape.width,  shape.out_channels,
          shape.kernel_height, shape.kernel_width, shape.stride, shape.padding};
}

Result<ConvShape> conv_shape_from(const std::vector<int64_t>& sizes, const std::string& where) {
  const std::string expected = "B,C,H,W,O,R,S[,STRIDE[,PADDING]]: images, channels, height, width, output channels, " +
                               std::string("kernel height and width; whole numbers from 1 to ") +
                               std::to_string(kMaxSide) + ", padding from 0";
  if (sizes.size() < 7 || sizes.size() > 9) {
    return usage_error("bad-usage", "a convolution has 7 to 9 sizes, not " + std::to_string(sizes.size()), where,
                       expected);
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < (i == 8 ? 0 : 1) || sizes[i] > kMaxSide) {
      return usage_error("bad-usage", "size " + std::to_string(sizes[i]) + " of a convolution is out of range", where,
                         expected);
    }
  }
  ConvShape shape = {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6]};
  if (sizes.size() > 7) shape.stride = sizes[7];
  if (sizes.size() > 8) shape.padding = sizes[8];
  if (shape.out_height() < 1 || shape.out_width() < 1) {
    return usage_error("bad-usage", "the kernel is larger than the image with its padding", where, expected);
  }
  // In steps that cannot overflow: at most 2^24 times a side below 2^22.
  const auto fits = [](std::initializer_list<int64_t> factors) {
    int64_t product = 1;
    for (const int64_t factor : factors) {
      product *= factor;
      if (product > kLargestProductSide) return false;
    }
    return true;
  };
  if (!fits({shape.batch, shape.out_height(), shape.out_width()}) ||
      !fits({shape.in_channels, shape.kernel_height, shape.kernel_width}) ||
      !fits({shape.batch, shape.height, shape.width})) {
    return usage_error("bad-usage", "the convolution is too large", where,
                       "at most 2^24 positions of all images, and 2^24 weights for one output channel");
  }
  return shape;
}

Result<ConvShape> parse_conv_shape(std::string_view text, const std::string& option) {
  std::vector<int64_t> sizes;
  for (const std::string& part : split(text, ',')) {
    const std::string_view digits = trim(part);
    int64_t size = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (problem != std::errc() || end != digits.data() + digits.size() || sizes.size() == 9) {
      return usage_error("bad-usage", "'" + printable(text) + "' is no convolution", option,
                         "B,C,H,W,O,R,S[,STRIDE[,PADDING]], such as 1,64,56,56,64,3,3,1,1");
    }
    sizes.push_back(size);
  }
  return conv_shape_from(sizes, option);
}

Shape product_of(const ConvShape& shape) {
  return {shape.out_channels, shape.batch * shape.out_height() * shape.out_width(),
          shape.in_channels * shape.kernel_height * shape.kernel_width};
}

double compulsory_bytes(const ConvShape& shape, double input_bytes, double output_bytes) {
  return static_cast<double>(shape.input_size() + shape.weight_size()) * input_bytes +
         static_cast<double>(shape.output_size()) * output_bytes;
}

std::string to_text(const ConvLayer& layer) {
  const ConvShape& shape = layer.shape;
  return fmt::format("{}{}{} x {} x {} x {} to {}, {} x {}, stride {}, padding {}", layer.name,
                     layer.name.empty() ? "" : ": ", shape.batch, shape.in_channels, shape.height, shape.width,
                     shape.out_channels, shape.kernel_height, shape.kernel_width, shape.stride, shape.padding);
}

const std::vector<ConvLayer>& resnet50_layers() {
  static const std::vector<ConvLayer> kLayers = [] {
    std::vector<ConvLayer> layers = {layer("conv1", 3, 224, 64, 7, 2, 1)};
    // A stage of `blocks` bottlenecks: 1 x 1 to `width` channels, 3 x 3, 1 x 1 to four times as many, and beside the
    // first one a projection of its input. The first one halves the image, but for the stage after the pooling.
    struct Stage {
      const char* name;
      int64_t side, in_channels, width;
      int blocks;
    };
    for (const Stage& stage : {Stage{"conv2", 56, 64, 64, 3}, Stage{"conv3", 56, 256, 128, 4},
                               Stage{"conv4", 28, 512, 256, 6}, Stage{"conv5", 14, 1024, 512, 3}}) {
      const std::string name = stage.name;
      const int64_t width = stage.width, wide = 4 * width;
      const int64_t stride = stage.in_channels == width ? 1 : 2, side = stage.side / stride;
      layers.push_back(layer(name + "_first", stage.in_channels, stage.side, width, 1, 1, 1));
      if (stride == 2) layers.push_back(layer(name + "_down", width, stage.side, width, 3, stride, 1));
      layers.push_back(layer(name + "_reduce", wide, side, width, 1, 1, stage.blocks - 1));
      layers.push_back(layer(name + "_3x3", width, side, width, 3, 1, stride == 2 ? stage.blocks - 1 : stage.blocks));
      layers.push_back(layer(name + "_expand", width, side, wide, 1, 1, stage.blocks));
      if (stride == 2) {
        layers.push_back(layer(name + "_project", stage.in_channels, stage.side, wide, 1, stride, 1));
      } else {
        layers.back().count += 1;  // the projection has the same shape
      }
    }
    return layers;
  }();
  return kLayers;
}

Result<ConvLayer> find_conv_layer(const std::string& name) {
  std::vector<std::string> names;
  for (const ConvLayer& each : resnet50_layers()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  return usage_error("bad-usage", "there is no layer '" + printable(name) + "'", "--layer",
                     "one of: " + nearest_names(name, names) + "; perfcast gemm --op conv --list has all");
}

}  // namespace perfcast::ai::gemm
