// An object is removed from a picture, and what is behind it made up from patches of the rest, from coarse to fine:
// object_remover PICTURE.ppm ROUNDS. The nearest patches are found by guesses of neighbours and at random.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "picture.h"

namespace {

constexpr int kReach = 3;  // a patch has 7 x 7 pixels
constexpr int kPasses = 4;

struct Level {
  Picture picture;
  std::vector<std::uint8_t> hole;  // 1: to be filled
  bool in_hole(int x, int y) const { return hole[static_cast<std::size_t>(y) * picture.width + x] != 0; }
};

Level half(const Level& from) {
  Level to;
  to.picture.width = from.picture.width / 2;
  to.picture.height = from.picture.height / 2;
  to.picture.rgb.resize(static_cast<std::size_t>(to.picture.width) * to.picture.height * 3);
  to.hole.resize(static_cast<std::size_t>(to.picture.width) * to.picture.height);
  for (int y = 0; y < to.picture.height; ++y) {
    for (int x = 0; x < to.picture.width; ++x) {
      for (int colour = 0; colour < 3; ++colour) {
        const int sum = from.picture.at(2 * x, 2 * y)[colour] + from.picture.at(2 * x + 1, 2 * y)[colour] +
                        from.picture.at(2 * x, 2 * y + 1)[colour] + from.picture.at(2 * x + 1, 2 * y + 1)[colour];
        to.picture.at(x, y)[colour] = static_cast<std::uint8_t>(sum / 4);
      }
      to.hole[static_cast<std::size_t>(y) * to.picture.width + x] =
          from.in_hole(2 * x, 2 * y) || from.in_hole(2 * x + 1, 2 * y) || from.in_hole(2 * x, 2 * y + 1) ||
          from.in_hole(2 * x + 1, 2 * y + 1);
    }
  }
  return to;
}

struct Match {
  int x = 0;
  int y = 0;
  std::uint32_t distance = ~0U;
};

class Filler {
 public:
  Filler(Level& level, std::mt19937& random)
      : level_(level), random_(random), width_(level.picture.width), height_(level.picture.height) {
    // Patches around these pixels touch the hole; those around the others are the stock.
    near_.resize(level.hole.size());
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x) {
        if (!level.in_hole(x, y)) continue;
        for (int v = std::max(0, y - kReach); v <= std::min(height_ - 1, y + kReach); ++v) {
          for (int u = std::max(0, x - kReach); u <= std::min(width_ - 1, x + kReach); ++u) near_[index(u, v)] = 1;
        }
      }
    }
    for (int y = kReach; y < height_ - kReach; ++y) {
      for (int x = kReach; x < width_ - kReach; ++x) {
        if (near_[index(x, y)]) targets_.push_back({x, y});
      }
    }
    matches_.resize(level.hole.size());
    for (const auto& [x, y] : targets_) try_random(x, y, width_);
  }

  // Takes over what a level of half the size has found.
  void adopt(const Filler& coarse) {
    for (const auto& [x, y] : targets_) {
      const int u = std::min(x / 2, coarse.width_ - 1), v = std::min(y / 2, coarse.height_ - 1);
      const Match& found = coarse.matches_[coarse.index(u, v)];
      if (found.distance != ~0U) try_match(x, y, 2 * found.x + x % 2, 2 * found.y + y % 2);
    }
    vote();
  }

  void improve() {
    for (int pass = 0; pass < kPasses; ++pass) {
      for (const auto& [x, y] : targets_) matches_[index(x, y)].distance = ~0U - 1;
      for (const auto& [x, y] : targets_) {
        Match& match = matches_[index(x, y)];
        match.distance = distance(x, y, match.x, match.y, ~0U);
      }
      const int step = pass % 2 == 0 ? 1 : -1;
      for (std::size_t i = 0; i < targets_.size(); ++i) {
        const auto [x, y] = targets_[step > 0 ? i : targets_.size() - 1 - i];
        const Match& beside = matches_[index(x - step, y)];
        if (beside.distance != ~0U) try_match(x, y, beside.x + step, beside.y);
        const Match& above = matches_[index(x, y - step)];
        if (above.distance != ~0U) try_match(x, y, above.x, above.y + step);
        for (int reach = width_; reach > 1; reach /= 2) try_random(x, y, reach);
      }
      vote();
    }
  }

  std::size_t targets() const { return targets_.size(); }

 private:
  struct Place {
    int x, y;
  };
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }

  std::uint32_t distance(int x, int y, int u, int v, std::uint32_t limit) const {
    std::uint32_t sum = 0;
    for (int row = -kReach; row <= kReach && sum < limit; ++row) {
      const std::uint8_t* a = level_.picture.at(x - kReach, y + row);
      const std::uint8_t* b = level_.picture.at(u - kReach, v + row);
      for (int i = 0; i < 3 * (2 * kReach + 1); ++i) {
        const int difference = a[i] - b[i];
        sum += static_cast<std::uint32_t>(difference * difference);
      }
    }
    return sum;
  }

  void try_match(int x, int y, int u, int v) {
    if (u < kReach || v < kReach || u >= width_ - kReach || v >= height_ - kReach || near_[index(u, v)]) return;
    Match& match = matches_[index(x, y)];
    const std::uint32_t found = distance(x, y, u, v, match.distance);
    if (found < match.distance) match = {u, v, found};
  }

  void try_random(int x, int y, int reach) {
    const Match& match = matches_[index(x, y)];
    const Place middle = match.distance == ~0U ? Place{x, y} : Place{match.x, match.y};
    const auto draw = [&](int around, int size) {
      const int from = std::max(kReach, around - reach), to = std::min(size - kReach - 1, around + reach);
      return from + static_cast<int>(random_() % static_cast<unsigned>(to - from + 1));
    };
    for (int i = 0; i < 50; ++i) {
      const int u = draw(middle.x, width_), v = draw(middle.y, height_);
      if (near_[index(u, v)]) continue;
      try_match(x, y, u, v);
      return;
    }
  }

  // Each pixel of the hole becomes the weighted mean of what the patches over it say.
  void vote() {
    Picture filled = level_.picture;
    for (const auto& [x, y] : targets_) {
      if (!level_.in_hole(x, y)) continue;
      float sums[3] = {0, 0, 0};
      float weights = 0;
      for (int row = -kReach; row <= kReach; ++row) {
        for (int column = -kReach; column <= kReach; ++column) {
          const Match& match = matches_[index(x + column, y + row)];
          if (match.distance == ~0U) continue;
          const float weight = 1 / (1 + static_cast<float>(match.distance));
          const std::uint8_t* from = level_.picture.at(match.x - column, match.y - row);
          for (int colour = 0; colour < 3; ++colour) sums[colour] += weight * from[colour];
          weights += weight;
        }
      }
      if (weights > 0) {
        for (int colour = 0; colour < 3; ++colour)
          filled.at(x, y)[colour] = static_cast<std::uint8_t>(sums[colour] / weights + 0.5F);
      }
    }
    level_.picture.rgb.swap(filled.rgb);
  }

  Level& level_;
  std::mt19937& random_;
  int width_, height_;
  std::vector<std::uint8_t> near_;
  std::vector<Place> targets_;
  std::vector<Match> matches_;
};

}  // namespace

int main(int argc, char** argv) {
  const Picture picture = argc == 3 ? read_ppm(argv[1]) : Picture{};
  const int rounds = argc == 3 ? std::atoi(argv[2]) : 0;
  if (picture.width < 512 || picture.height < 512 || rounds <= 0) {
    std::fprintf(stderr, "object_remover: expected a picture of 512 x 512 pixels or more and a number of rounds\n");
    return 2;
  }
  std::mt19937 random(1);
  double error = 0;
  std::size_t filled = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Level> levels(1);
    levels[0].picture = picture;
    levels[0].hole.resize(static_cast<std::size_t>(picture.width) * picture.height);
    const int middle_x = picture.width * (round + 1) / (rounds + 1), middle_y = picture.height / 2;
    const int wide = picture.width / 12, high = picture.height / 8;
    for (int y = middle_y - high; y <= middle_y + high; ++y) {
      for (int x = middle_x - wide; x <= middle_x + wide; ++x) {
        const double across = static_cast<double>(x - middle_x) / wide, down = static_cast<double>(y - middle_y) / high;
        if (across * across + down * down > 1) continue;
        levels[0].hole[static_cast<std::size_t>(y) * picture.width + x] = 1;
        std::fill_n(levels[0].picture.at(x, y), 3, std::uint8_t{128});
      }
    }
    while (levels.back().picture.width > 96) levels.push_back(half(levels.back()));
    std::vector<Filler> fillers;
    for (std::size_t i = levels.size(); i-- > 0;) {
      Filler filler(levels[i], random);
      if (!fillers.empty()) filler.adopt(fillers.back());
      filler.improve();
      fillers.push_back(std::move(filler));
    }
    for (std::size_t i = 0; i < levels[0].hole.size(); ++i) {
      if (!levels[0].hole[i]) continue;
      ++filled;
      error += std::abs(levels[0].picture.rgb[3 * i + 1] - picture.rgb[3 * i + 1]);
    }
  }
  error /= static_cast<double>(filled);
  std::printf("%d rounds, %zu pixels, %.1f levels off\n", rounds, filled, error);
  return filled > 0 && error < 100 ? 0 : 1;
}
