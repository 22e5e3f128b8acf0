// Pictures of three bytes a pixel, as PPM files hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;

  const std::uint8_t* at(int x, int y) const { return rgb.data() + (static_cast<std::size_t>(y) * width + x) * 3; }
  std::uint8_t* at(int x, int y) { return rgb.data() + (static_cast<std::size_t>(y) * width + x) * 3; }
};

// Empty if the file can't be read.
inline Picture read_ppm(const std::string& path) {
  Picture picture;
  std::ifstream in(path, std::ios::binary);
  std::string kind;
  int levels = 0;
  if (!(in >> kind >> picture.width >> picture.height >> levels) || kind != "P6" || levels != 255) return {};
  in.get();
  picture.rgb.resize(static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 3);
  in.read(reinterpret_cast<char*>(picture.rgb.data()), static_cast<std::streamsize>(picture.rgb.size()));
  return in ? picture : Picture{};
}

// One plane for each colour, in [-1, 1], of the part of the picture from (left, top), scaled to `side` x `side`
// with the nearest four pixels.
inline void to_planes(const Picture& from, int side, float* planes) {
  for (int y = 0; y < side; ++y) {
    const float row =
        (static_cast<float>(y) + 0.5F) * static_cast<float>(from.height) / static_cast<float>(side) - 0.5F;
    const int top = row < 0 ? 0 : static_cast<int>(row);
    const int below = top + 1 < from.height ? top + 1 : top;
    const float down = row < 0 ? 0 : row - static_cast<float>(top);
    for (int x = 0; x < side; ++x) {
      const float column =
          (static_cast<float>(x) + 0.5F) * static_cast<float>(from.width) / static_cast<float>(side) - 0.5F;
      const int left = column < 0 ? 0 : static_cast<int>(column);
      const int next = left + 1 < from.width ? left + 1 : left;
      const float right = column < 0 ? 0 : column - static_cast<float>(left);
      for (int colour = 0; colour < 3; ++colour) {
        const float upper = from.at(left, top)[colour] * (1 - right) + from.at(next, top)[colour] * right;
        const float lower = from.at(left, below)[colour] * (1 - right) + from.at(next, below)[colour] * right;
        planes[(colour * side + y) * side + x] = (upper * (1 - down) + lower * down) / 127.5F - 1;
      }
    }
  }
}
