#include "ai/latency/model/tile_choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace perfcast::ai {
namespace {

struct Tile {
  double m, n;
};
constexpr std::array<Tile, 6> kUsual = {{{128, 128}, {128, 64}, {64, 64}, {32, 128}, {128, 32}, {32, 32}}};
constexpr double kMostLogM = 9, kMostLogK = 11, kMostLogN = 11, kMostLogBatch = 7;
constexpr double kLeastLogWaves = -3, kMostLogWaves = 6;
constexpr double kLeastShare = 0.02;  // rarer kernels of a leaf are left out

struct Split {
  int32_t feature = -1;
  double threshold = 0, impurity = 0;
};

class Builder {
 public:
  Builder(std::span<const ChoiceFeatures> features, std::span<const int32_t> classes, size_t least_leaf)
      : features_(features), classes_(classes), least_leaf_(least_leaf) {
    for (const int32_t c : classes) kinds_ = std::max(kinds_, static_cast<size_t>(c) + 1);
  }

  void build(std::vector<TileChoice::Node>& nodes, std::vector<ClassShare>& shares) {
    std::vector<uint32_t> rows(features_.size());
    std::iota(rows.begin(), rows.end(), 0);
    nodes.emplace_back();
    grow(0, rows, nodes, shares);
  }

 private:
  void grow(size_t index, std::vector<uint32_t>& rows, std::vector<TileChoice::Node>& nodes,
            std::vector<ClassShare>& shares) {
    std::vector<double> counts(kinds_);
    for (const uint32_t row : rows) counts[static_cast<size_t>(classes_[row])] += 1;
    const Split split = best_split(rows, counts);
    if (split.feature < 0) {
      leaf(nodes[index], rows.size(), counts, shares);
      return;
    }
    const auto feature = static_cast<size_t>(split.feature);
    const auto middle = std::stable_partition(rows.begin(), rows.end(),
                                              [&](uint32_t row) { return features_[row][feature] <= split.threshold; });
    std::vector<uint32_t> left(rows.begin(), middle), right(middle, rows.end());
    rows.clear();
    rows.shrink_to_fit();
    const size_t left_index = nodes.size(), right_index = left_index + 1;
    nodes.resize(nodes.size() + 2);
    nodes[index] = {
        split.feature, split.threshold, static_cast<int32_t>(left_index), static_cast<int32_t>(right_index), 0, 0};
    grow(left_index, left, nodes, shares);
    grow(right_index, right, nodes, shares);
  }

  static void leaf(TileChoice::Node& node, size_t rows, const std::vector<double>& counts,
                   std::vector<ClassShare>& shares) {
    node.first_share = static_cast<int32_t>(shares.size());
    double kept = 0;
    for (size_t c = 0; c < counts.size(); ++c) {
      const double share = counts[c] / static_cast<double>(rows);
      if (share < kLeastShare) continue;
      shares.push_back({static_cast<int32_t>(c), share});
      kept += share;
    }
    node.shares = static_cast<int32_t>(shares.size()) - node.first_share;
    for (size_t i = static_cast<size_t>(node.first_share); i < shares.size(); ++i) shares[i].probability /= kept;
  }

  // Least sum over both sides of rows x Gini impurity; none where nothing gets purer.
  Split best_split(const std::vector<uint32_t>& rows, const std::vector<double>& counts) const {
    Split best;
    double squares = 0;
    for (const double count : counts) squares += count * count;
    const auto n = static_cast<double>(rows.size());
    best.impurity = n - squares / n - 1e-9 * n;
    if (best.impurity <= 0 || rows.size() < 2 * least_leaf_) return best;
    std::vector<std::pair<double, int32_t>> sorted(rows.size());
    std::vector<double> left(kinds_);
    for (size_t f = 0; f < kChoiceFeatures; ++f) {
      for (size_t i = 0; i < rows.size(); ++i) sorted[i] = {features_[rows[i]][f], classes_[rows[i]]};
      std::sort(sorted.begin(), sorted.end());
      std::fill(left.begin(), left.end(), 0.0);
      double left_squares = 0, right_squares = squares;
      for (size_t i = 0; i + 1 < sorted.size(); ++i) {
        const auto c = static_cast<size_t>(sorted[i].second);
        const double right = counts[c] - left[c];
        left_squares += 2 * left[c] + 1;
        right_squares -= 2 * right - 1;
        left[c] += 1;
        const size_t here = i + 1;
        if (here < least_leaf_ || sorted.size() - here < least_leaf_ || sorted[i].first == sorted[i + 1].first)
          continue;
        const auto a = static_cast<double>(here), b = static_cast<double>(sorted.size() - here);
        const double impurity = n - left_squares / a - right_squares / b;
        if (impurity < best.impurity) {
          best = {static_cast<int32_t>(f), 0.5 * (sorted[i].first + sorted[i + 1].first), impurity};
        }
      }
    }
    return best;
  }

  std::span<const ChoiceFeatures> features_;
  std::span<const int32_t> classes_;
  size_t least_leaf_;
  size_t kinds_ = 0;
};

}  // namespace

ChoiceFeatures choice_features(const ProductShape& shape, double units) {
  ChoiceFeatures f{};
  f[0] = std::min(std::log(shape.m), kMostLogM);
  f[1] = std::min(std::log(shape.k), kMostLogK);
  f[2] = std::min(std::log(shape.n), kMostLogN);
  f[3] = std::min(std::log(shape.batch), kMostLogBatch);
  f[4] = std::fmod(shape.k, 8) == 0 ? 1 : 0;
  f[5] = std::fmod(shape.n, 4) == 0 ? 1 : 0;
  size_t at = 6;
  for (const Tile& tile : kUsual) {
    const double tiles = std::ceil(shape.n / tile.m) * std::ceil(shape.m / tile.n);
    f[at++] = std::clamp(std::log(tiles * shape.batch / units), kLeastLogWaves, kMostLogWaves);
    f[at++] = tiles * tile.m * tile.n / (shape.n * shape.m);
  }
  return f;
}

TileChoice TileChoice::fit(std::span<const ChoiceFeatures> features, std::span<const int32_t> classes,
                           size_t least_leaf) {
  TileChoice choice;
  if (features.empty()) return choice;
  Builder(features, classes, std::max<size_t>(least_leaf, 1)).build(choice.nodes_, choice.shares_);
  return choice;
}

bool TileChoice::valid(const std::vector<Node>& nodes, const std::vector<ClassShare>& shares, int32_t classes) {
  if (nodes.empty()) return false;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    if (node.feature >= static_cast<int32_t>(kChoiceFeatures)) return false;
    if (node.feature < 0) {
      if (node.shares < 1 || node.first_share < 0) return false;
      if (static_cast<size_t>(node.first_share) + static_cast<size_t>(node.shares) > shares.size()) return false;
      continue;
    }
    // Children stand behind their parent, so no path is a circle.
    const auto self = static_cast<int32_t>(i), size = static_cast<int32_t>(nodes.size());
    if (node.left <= self || node.right <= self || node.left >= size || node.right >= size) return false;
    if (!std::isfinite(node.threshold)) return false;
  }
  return std::all_of(shares.begin(), shares.end(), [&](const ClassShare& share) {
    return share.class_index >= 0 && share.class_index < classes && share.probability > 0 && share.probability <= 1;
  });
}

std::span<const ClassShare> TileChoice::of(const ChoiceFeatures& features) const {
  size_t at = 0;
  while (nodes_[at].feature >= 0) {
    const Node& node = nodes_[at];
    at = static_cast<size_t>(features[static_cast<size_t>(node.feature)] <= node.threshold ? node.left : node.right);
  }
  return {shares_.data() + nodes_[at].first_share, static_cast<size_t>(nodes_[at].shares)};
}

}  // namespace perfcast::ai
