// Objects are detected in a picture by a network of the shape of MobileNet and SSD, with 8-bit integers on oneDNN and
// weights drawn at random: object_boxes PICTURE.ppm PARTS. Each part of the picture is one input.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "mobile_network.h"
#include "picture.h"

namespace {

constexpr int kSide = 300;
constexpr int kClasses = 91;
constexpr int kKept = 10;

struct Box {
  float left, top, right, bottom, score;
  int kind;
};

float overlap(const Box& a, const Box& b) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  const float shared = width * height;
  return shared / ((a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top) - shared);
}

struct Head {
  dnnl::memory places, kinds;
  int cells = 0;
  int shapes = 0;
};

// Boxes of a map of features, moved from where they start as the network says.
void add_boxes(const Head& head, std::vector<Box>& boxes) {
  const float* places = MobileNetwork::values(head.places);
  const float* kinds = MobileNetwork::values(head.kinds);
  const int area = head.cells * head.cells;
  for (int shape = 0; shape < head.shapes; ++shape) {
    const float tall = 0.9F / static_cast<float>(head.cells) * (1 + 0.5F * static_cast<float>(shape));
    for (int cell = 0; cell < area; ++cell) {
      int best = 1;
      float sum = 0;
      for (int kind = 0; kind < kClasses; ++kind) {
        const float value = kinds[(shape * kClasses + kind) * area + cell];
        sum += std::exp(value / 32);
        if (kind > 0 && value > kinds[(shape * kClasses + best) * area + cell]) best = kind;
      }
      const float score = std::exp(kinds[(shape * kClasses + best) * area + cell] / 32) / sum;
      const float* place = places + shape * 4 * area + cell;
      const float x = (static_cast<float>(cell % head.cells) + 0.5F) / static_cast<float>(head.cells) + place[0] / 2560;
      const float y =
          (static_cast<float>(cell / head.cells) + 0.5F) / static_cast<float>(head.cells) + place[area] / 2560;
      const float width = tall * std::exp(place[2 * area] / 640);
      const float height = tall * std::exp(place[3 * area] / 640);
      boxes.push_back({x - width / 2, y - height / 2, x + width / 2, y + height / 2, score, best});
    }
  }
}

std::vector<Box> apart(std::vector<Box> boxes) {
  std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.score > b.score; });
  std::vector<Box> kept;
  for (const Box& box : boxes) {
    const bool taken =
        std::any_of(kept.begin(), kept.end(), [&](const Box& other) { return overlap(box, other) > 0.6F; });
    if (!taken) kept.push_back(box);
    if (kept.size() == kKept) break;
  }
  return kept;
}

}  // namespace

int main(int argc, char** argv) {
  const Picture picture = argc == 3 ? read_ppm(argv[1]) : Picture{};
  const int parts = argc == 3 ? std::atoi(argv[2]) : 0;
  if (picture.width < 512 || picture.height < 512 || parts <= 0) {
    std::fprintf(stderr, "object_boxes: expected a picture of 512 x 512 pixels or more and a number of parts\n");
    return 2;
  }
  MobileNetwork network(true);
  dnnl::memory at = network.convolution(network.input({1, 3, kSide, kSide}), {32, 3, 2});
  std::vector<dnnl::memory> maps;
  const std::vector<std::pair<int, int>> trunk = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                                                  {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
  for (std::size_t i = 0; i < trunk.size(); ++i) {
    at = network.separable(at, trunk[i].first, trunk[i].second);
    if (i == 10 || i == 12) maps.push_back(at);
  }
  for (const int channels : {512, 256, 256, 128}) {
    at = network.convolution(network.convolution(at, {channels / 2}), {channels, 3, 2});
    maps.push_back(at);
  }
  std::vector<Head> heads;
  for (const dnnl::memory& map : maps) {
    const int shapes = heads.empty() ? 3 : 6;
    MobileNetwork::Convolution places{shapes * 4};
    MobileNetwork::Convolution kinds{shapes * kClasses};
    places.relu6 = kinds.relu6 = false;
    heads.push_back({network.output(network.convolution(map, places)), network.output(network.convolution(map, kinds)),
                     static_cast<int>(map.get_desc().dims()[2]), shapes});
  }

  std::mt19937 random(1);
  std::size_t found = 0;
  double scores = 0;
  for (int part = 0; part < parts; ++part) {
    const int side = 400 + static_cast<int>(random() % 112);
    const int left = static_cast<int>(random() % static_cast<unsigned>(picture.width - side + 1));
    const int top = static_cast<int>(random() % static_cast<unsigned>(picture.height - side + 1));
    Picture piece{side, side, {}};
    for (int y = 0; y < side; ++y) {
      piece.rgb.insert(piece.rgb.end(), picture.at(left, top + y), picture.at(left, top + y) + 3 * side);
    }
    to_planes(piece, kSide, network.input_data());
    network.run();
    std::vector<Box> boxes;
    for (const Head& head : heads) add_boxes(head, boxes);
    for (const Box& box : apart(boxes)) {
      ++found;
      scores += box.score;
    }
  }
  std::printf("%d parts, %zu objects, mean score %.3f, %.0f M multiplications each\n", parts, found,
              scores / static_cast<double>(found), static_cast<double>(network.multiplications()) / 1e6);
  return found == static_cast<std::size_t>(parts) * kKept && scores > 0 ? 0 : 1;
}
