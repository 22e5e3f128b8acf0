// Filters as applications for sharing photographs have them: photo_effects PICTURE.ppm ROUNDS. A round is six looks,
// each of some filters for colours, blurs, a cut and a change of size.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "picture.h"

namespace {

// Three planes in [0, 1].
struct Image {
  int width = 0;
  int height = 0;
  std::array<std::vector<float>, 3> planes;

  Image(int wide, int high) : width(wide), height(high) {
    for (auto& plane : planes) plane.resize(static_cast<std::size_t>(wide) * static_cast<std::size_t>(high));
  }
  std::size_t size() const { return planes[0].size(); }
};

Image image_of(const Picture& picture) {
  Image image(picture.width, picture.height);
  for (std::size_t i = 0; i < image.size(); ++i) {
    for (std::size_t colour = 0; colour < 3; ++colour)
      image.planes[colour][i] = picture.rgb[3 * i + colour] * (1 / 255.0F);
  }
  return image;
}

Picture picture_of(const Image& image) {
  Picture picture{image.width, image.height, std::vector<std::uint8_t>(image.size() * 3)};
  for (std::size_t i = 0; i < image.size(); ++i) {
    for (std::size_t colour = 0; colour < 3; ++colour) {
      const float value = image.planes[colour][i];
      picture.rgb[3 * i + colour] = static_cast<std::uint8_t>(std::min(1.0F, std::max(0.0F, value)) * 255 + 0.5F);
    }
  }
  return picture;
}

void mix_colours(Image& image, const std::array<float, 9>& mix) {
  float* red = image.planes[0].data();
  float* green = image.planes[1].data();
  float* blue = image.planes[2].data();
  for (std::size_t i = 0; i < image.size(); ++i) {
    const float r = red[i], g = green[i], b = blue[i];
    red[i] = mix[0] * r + mix[1] * g + mix[2] * b;
    green[i] = mix[3] * r + mix[4] * g + mix[5] * b;
    blue[i] = mix[6] * r + mix[7] * g + mix[8] * b;
  }
}

void saturate(Image& image, float factor) {
  const float r = 0.299F * (1 - factor), g = 0.587F * (1 - factor), b = 0.114F * (1 - factor);
  mix_colours(image, {r + factor, g, b, r, g + factor, b, r, g, b + factor});
}

void set_levels(Image& image, float black, float white, float brightness) {
  for (auto& plane : image.planes) {
    for (float& value : plane) {
      const float level = (value - black) / (white - black) + brightness;
      value = std::min(1.0F, std::max(0.0F, level));
    }
  }
}

// A curve that keeps 0, 1/2 and 1: steeper in the middle by `strength`.
void add_contrast(Image& image, float strength) {
  for (auto& plane : image.planes) {
    for (float& value : plane) {
      const float smooth = value * value * (3 - 2 * value);
      value += strength * (smooth - value);
    }
  }
}

void screen(Image& image, const Image& over, float strength) {
  for (std::size_t colour = 0; colour < 3; ++colour) {
    float* to = image.planes[colour].data();
    const float* from = over.planes[colour].data();
    for (std::size_t i = 0; i < image.size(); ++i) {
      const float both = 1 - (1 - to[i]) * (1 - from[i]);
      to[i] += strength * (both - to[i]);
    }
  }
}

void darken_edges(Image& image, float strength) {
  const float middle_x = static_cast<float>(image.width) / 2, middle_y = static_cast<float>(image.height) / 2;
  const float scale = 1 / (middle_x * middle_x + middle_y * middle_y);
  for (int y = 0; y < image.height; ++y) {
    const float down = static_cast<float>(y) - middle_y;
    const std::size_t row = static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width);
    for (auto& plane : image.planes) {
      float* to = plane.data() + row;
      for (int x = 0; x < image.width; ++x) {
        const float across = static_cast<float>(x) - middle_x;
        const float part = (across * across + down * down) * scale;
        to[x] *= 1 - strength * part * part;
      }
    }
  }
}

std::vector<float> bell(int reach) {
  std::vector<float> weights(static_cast<std::size_t>(2 * reach + 1));
  float sum = 0;
  for (int i = -reach; i <= reach; ++i) {
    const float part = 2.5F * static_cast<float>(i) / static_cast<float>(reach);
    sum += weights[static_cast<std::size_t>(i + reach)] = std::exp(-part * part / 2);
  }
  for (float& weight : weights) weight /= sum;
  return weights;
}

Image blurred(const Image& image, int reach) {
  const std::vector<float> weights = bell(reach);
  Image to(image.width, image.height);
  std::vector<float> wide(static_cast<std::size_t>(image.width + 2 * reach));
  const auto width = static_cast<std::size_t>(image.width);
  for (std::size_t colour = 0; colour < 3; ++colour) {
    const float* from = image.planes[colour].data();
    for (int y = 0; y < image.height; ++y) {
      float* out = to.planes[colour].data() + static_cast<std::size_t>(y) * width;
      std::fill(wide.begin(), wide.end(), 0.0F);
      for (int i = -reach; i <= reach; ++i) {
        const float* row = from + static_cast<std::size_t>(std::clamp(y + i, 0, image.height - 1)) * width;
        const float weight = weights[static_cast<std::size_t>(i + reach)];
        float* sum = wide.data() + reach;
        for (std::size_t x = 0; x < width; ++x) sum[x] += weight * row[x];
      }
      for (int i = 0; i < reach; ++i) {
        wide[static_cast<std::size_t>(i)] = wide[static_cast<std::size_t>(reach)];
        wide[wide.size() - 1 - static_cast<std::size_t>(i)] = wide[wide.size() - 1 - static_cast<std::size_t>(reach)];
      }
      for (int i = 0; i <= 2 * reach; ++i) {
        const float weight = weights[static_cast<std::size_t>(i)];
        const float* sum = wide.data() + i;
        for (std::size_t x = 0; x < width; ++x) out[x] += weight * sum[x];
      }
    }
  }
  return to;
}

void sharpen(Image& image, float strength) {
  const Image soft = blurred(image, 2);
  for (std::size_t colour = 0; colour < 3; ++colour) {
    float* to = image.planes[colour].data();
    const float* from = soft.planes[colour].data();
    for (std::size_t i = 0; i < image.size(); ++i) to[i] += strength * (to[i] - from[i]);
  }
}

// The part from (left, top), scaled to width x height with the nearest four pixels.
Image cut(const Image& from, int left, int top, int wide, int high, int width, int height) {
  Image to(width, height);
  std::vector<int> columns(static_cast<std::size_t>(width));
  std::vector<float> rights(static_cast<std::size_t>(width));
  for (int x = 0; x < width; ++x) {
    const float at = static_cast<float>(x) * static_cast<float>(wide - 1) / static_cast<float>(width);
    columns[static_cast<std::size_t>(x)] = left + static_cast<int>(at);
    rights[static_cast<std::size_t>(x)] = at - std::floor(at);
  }
  for (std::size_t colour = 0; colour < 3; ++colour) {
    for (int y = 0; y < height; ++y) {
      const float at = static_cast<float>(y) * static_cast<float>(high - 1) / static_cast<float>(height);
      const float down = at - std::floor(at);
      const float* above = from.planes[colour].data() +
                           static_cast<std::size_t>(top + static_cast<int>(at)) * static_cast<std::size_t>(from.width);
      const float* below = above + from.width;
      float* out = to.planes[colour].data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
      for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x) {
        const int i = columns[x];
        const float upper = above[i] + rights[x] * (above[i + 1] - above[i]);
        const float lower = below[i] + rights[x] * (below[i + 1] - below[i]);
        out[x] = upper + down * (lower - upper);
      }
    }
  }
  return to;
}

Picture look(const Picture& picture, int number) {
  Image image = image_of(picture);
  switch (number) {
    case 0:  // warm
      mix_colours(image, {1.08F, 0.04F, 0, 0.02F, 1.0F, 0, 0, 0.03F, 0.86F});
      add_contrast(image, 0.4F);
      darken_edges(image, 0.6F);
      break;
    case 1:  // old
      mix_colours(image, {0.39F, 0.77F, 0.19F, 0.35F, 0.69F, 0.17F, 0.27F, 0.53F, 0.13F});
      set_levels(image, 0.05F, 0.95F, 0.03F);
      darken_edges(image, 0.8F);
      break;
    case 2:  // dreaming
      screen(image, blurred(image, 9), 0.6F);
      saturate(image, 0.8F);
      break;
    case 3:  // clear
      sharpen(image, 0.7F);
      saturate(image, 1.3F);
      set_levels(image, 0.02F, 0.9F, 0);
      break;
    case 4:  // cold and dark
      mix_colours(image, {0.85F, 0, 0.03F, 0, 0.95F, 0.04F, 0.02F, 0.03F, 1.1F});
      set_levels(image, -0.02F, 1.2F, -0.02F);
      add_contrast(image, 0.7F);
      break;
    default:  // small and soft
      image = cut(image, image.width / 8, image.height / 8, image.width * 3 / 4, image.height * 3 / 4, image.width / 2,
                  image.height / 2);
      image = blurred(image, 4);
      break;
  }
  return picture_of(image);
}

}  // namespace

int main(int argc, char** argv) {
  const Picture picture = argc == 3 ? read_ppm(argv[1]) : Picture{};
  const int rounds = argc == 3 ? std::atoi(argv[2]) : 0;
  if (picture.width < 256 || picture.height < 256 || rounds <= 0) {
    std::fprintf(stderr, "photo_effects: expected a picture of 256 x 256 pixels or more and a number of rounds\n");
    return 2;
  }
  double level = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int number = 0; number < 6; ++number) {
      const Picture result = look(picture, number);
      double sum = 0;
      for (const std::uint8_t value : result.rgb) sum += value;
      level += sum / static_cast<double>(result.rgb.size());
    }
  }
  level /= 6 * rounds;
  std::printf("%d rounds, mean level %.2f\n", rounds, level);
  return level > 40 && level < 215 ? 0 : 1;
}
