// What lies behind a person in a film is blurred, where a network of the shape of DeepLabV3+ on MobileNetV2 says so, in
// single precision on oneDNN with weights drawn at random: background_blur PICTURE.ppm FRAMES. Frames are parts of the
// picture of 1280 x 720.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "mobile_network.h"
#include "picture.h"

namespace {

constexpr int kSide = 257;
constexpr int kWidth = 1280;
constexpr int kHeight = 720;
constexpr int kClasses = 21;
constexpr int kBlur = 12;

struct Segmentation {
  MobileNetwork network{false};
  dnnl::memory scores;

  Segmentation() {
    dnnl::memory at = network.convolution(network.input({1, 3, kSide, kSide}), {32, 3, 2});
    struct Stage {
      int widen, channels, layers, stride, dilation;
    };
    const std::vector<Stage> stages = {{1, 16, 1, 1, 1}, {6, 24, 2, 2, 1},  {6, 32, 3, 2, 1}, {6, 64, 4, 2, 1},
                                       {6, 96, 3, 1, 1}, {6, 160, 3, 1, 2}, {6, 320, 1, 1, 2}};
    dnnl::memory fine;
    for (const Stage& stage : stages) {
      for (int layer = 0; layer < stage.layers; ++layer) {
        at = network.inverted(at, stage.widen, stage.channels, layer == 0 ? stage.stride : 1, stage.dilation);
      }
      if (stage.channels == 24) fine = at;
    }
    const std::int64_t small = at.get_desc().dims()[2];
    std::vector<dnnl::memory> views = {network.convolution(at, {256})};
    for (const int dilation : {6, 12, 18}) {
      views.push_back(network.convolution(network.convolution(at, {0, 3, 1, dilation, true, true}), {256}));
    }
    views.push_back(network.enlarged(network.convolution(network.pooled(at), {256}), small, small));
    at = network.convolution(network.joined(views), {256});
    const std::int64_t large = fine.get_desc().dims()[2];
    at = network.joined({network.enlarged(at, large, large), network.convolution(fine, {48})});
    at = network.separable(network.separable(at, 256, 1), 256, 1);
    MobileNetwork::Convolution last{kClasses};
    last.relu6 = false;
    scores = network.output(network.enlarged(network.convolution(at, last), kSide, kSide));
  }

  // How much each cell belongs to the background, from 0 to 1: two of the classes count as a person.
  std::vector<float> background() {
    network.run();
    const float* values = MobileNetwork::values(scores);
    std::vector<float> mask(kSide * kSide);
    for (int cell = 0; cell < kSide * kSide; ++cell) {
      int best = 0;
      for (int kind = 1; kind < kClasses; ++kind) {
        if (values[kind * kSide * kSide + cell] > values[best * kSide * kSide + cell]) best = kind;
      }
      mask[static_cast<std::size_t>(cell)] = best % 2 == 0 ? 1 : 0;
    }
    return mask;
  }
};

std::vector<float> weights() {
  std::vector<float> of(2 * kBlur + 1);
  float sum = 0;
  for (int i = -kBlur; i <= kBlur; ++i)
    sum += of[static_cast<std::size_t>(i + kBlur)] = std::exp(-0.02F * static_cast<float>(i * i));
  for (float& weight : of) weight /= sum;
  return of;
}

// A Gaussian blur of interleaved rows, once along each axis.
void blur(const std::vector<float>& from, std::vector<float>& half, std::vector<float>& to,
          const std::vector<float>& of) {
  constexpr int kRow = kWidth * 3;
  for (int y = 0; y < kHeight; ++y) {
    const float* row = from.data() + y * kRow;
    float* out = half.data() + y * kRow;
    for (int x = 0; x < kRow; ++x) out[x] = 0;
    for (int i = -kBlur; i <= kBlur; ++i) {
      const float weight = of[static_cast<std::size_t>(i + kBlur)];
      for (int x = 3 * kBlur; x < kRow - 3 * kBlur; ++x) out[x] += weight * row[x + 3 * i];
    }
    for (int x = 0; x < 3 * kBlur; ++x) {
      out[x] = row[x];
      out[kRow - 1 - x] = row[kRow - 1 - x];
    }
  }
  for (int y = 0; y < kHeight; ++y) {
    float* out = to.data() + y * kRow;
    for (int x = 0; x < kRow; ++x) out[x] = 0;
    for (int i = -kBlur; i <= kBlur; ++i) {
      const float* row = half.data() + std::clamp(y + i, 0, kHeight - 1) * kRow;
      const float weight = of[static_cast<std::size_t>(i + kBlur)];
      for (int x = 0; x < kRow; ++x) out[x] += weight * row[x];
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Picture picture = argc == 3 ? read_ppm(argv[1]) : Picture{};
  const int frames = argc == 3 ? std::atoi(argv[2]) : 0;
  if (picture.width <= kWidth || picture.height <= kHeight || frames <= 0) {
    std::fprintf(stderr, "background_blur: expected a picture larger than 1280 x 720 and a number of frames\n");
    return 2;
  }
  Segmentation segmentation;
  const std::vector<float> of = weights();
  std::vector<float> sharp(kWidth * kHeight * 3), half(sharp.size()), soft(sharp.size());
  Picture frame{kWidth, kHeight, std::vector<std::uint8_t>(sharp.size())};
  double background = 0;
  double level = 0;
  for (int number = 0; number < frames; ++number) {
    const int left = number * (picture.width - kWidth) / frames;
    const int top = number * (picture.height - kHeight) / frames;
    for (int y = 0; y < kHeight; ++y) {
      std::copy_n(picture.at(left, top + y), kWidth * 3, frame.at(0, y));
    }
    to_planes(frame, kSide, segmentation.network.input_data());
    const std::vector<float> mask = segmentation.background();
    for (std::size_t i = 0; i < sharp.size(); ++i) sharp[i] = frame.rgb[i];
    blur(sharp, half, soft, of);
    for (int y = 0; y < kHeight; ++y) {
      const float* row = mask.data() + y * kSide / kHeight * kSide;
      for (int x = 0; x < kWidth; ++x) {
        const float share = row[x * kSide / kWidth];
        background += share;
        for (int colour = 0; colour < 3; ++colour) {
          const int i = (y * kWidth + x) * 3 + colour;
          frame.rgb[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(
              sharp[static_cast<std::size_t>(i)] * (1 - share) + soft[static_cast<std::size_t>(i)] * share);
        }
      }
    }
    for (const std::uint8_t value : frame.rgb) level += value;
  }
  const double pixels = static_cast<double>(frames) * kWidth * kHeight;
  std::printf("%d frames, %.2f background, level %.2f, %.0f M multiplications each\n", frames, background / pixels,
              level / pixels / 3, static_cast<double>(segmentation.network.multiplications()) / 1e6);
  return background > 0 && background < pixels && std::isfinite(level) ? 0 : 1;
}
