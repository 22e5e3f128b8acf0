#include "studies/watch/isolation_forest.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/statistics.h"

namespace perfcast::measure::watch_study {

double mean_path_length(double n) {
  if (n <= 1) return 0;
  if (n <= 2) return 1;
  constexpr double kEuler = 0.57721566490153286;
  return 2 * (std::log(n - 1) + kEuler) - 2 * (n - 1) / n;
}

void IsolationForest::fit(std::span<const double> values, size_t columns, size_t trees, size_t sample, uint64_t seed) {
  columns_ = columns;
  const size_t rows = values.size() / columns;
  median_.resize(columns);
  std::vector<double> filled(values.begin(), values.end());
  for (size_t j = 0; j < columns; ++j) {
    std::vector<double> known;
    for (size_t r = 0; r < rows; ++r) known.push_back(values[r * columns + j]);
    median_[j] = median_of_known(std::move(known));
    if (std::isnan(median_[j])) median_[j] = 0;
    for (size_t r = 0; r < rows; ++r) {
      if (std::isnan(filled[r * columns + j])) filled[r * columns + j] = median_[j];
    }
  }
  sample = std::min(sample, rows);
  most_depth_ = static_cast<size_t>(std::ceil(std::log2(std::max<double>(static_cast<double>(sample), 2))));
  normal_ = mean_path_length(static_cast<double>(sample));
  Random random(seed);
  std::vector<uint32_t> order(rows);
  for (size_t r = 0; r < rows; ++r) order[r] = static_cast<uint32_t>(r);
  trees_.clear();
  for (size_t t = 0; t < trees; ++t) {
    for (size_t i = 0; i < sample; ++i) std::swap(order[i], order[i + random.below(rows - i)]);
    Tree tree(1);
    grow(tree, 0, {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(sample)}, filled, 0, random);
    trees_.push_back(std::move(tree));
  }
}

void IsolationForest::grow(Tree& tree, size_t node, std::vector<uint32_t> rows, std::span<const double> values,
                           size_t depth, Random& random) {
  const auto make_leaf = [&] {
    tree[node].length = static_cast<double>(depth) + mean_path_length(static_cast<double>(rows.size()));
  };
  if (depth >= most_depth_ || rows.size() <= 1) return make_leaf();
  // A metric that is not the same everywhere.
  std::vector<size_t> columns;
  std::vector<std::pair<double, double>> ranges(columns_);
  for (size_t j = 0; j < columns_; ++j) {
    auto& [low, high] = ranges[j];
    low = HUGE_VAL;
    high = -HUGE_VAL;
    for (const uint32_t r : rows) {
      low = std::min(low, values[r * columns_ + j]);
      high = std::max(high, values[r * columns_ + j]);
    }
    if (low < high) columns.push_back(j);
  }
  if (columns.empty()) return make_leaf();
  const size_t column = columns[random.below(columns.size())];
  const double split = random.uniform(ranges[column].first, ranges[column].second);
  std::vector<uint32_t> below;
  std::vector<uint32_t> others;
  for (const uint32_t r : rows) (values[r * columns_ + column] < split ? below : others).push_back(r);
  rows = {};
  const size_t child = tree.size();
  tree[node].column = static_cast<int32_t>(column);
  tree[node].split = split;
  tree[node].below = static_cast<uint32_t>(child);
  tree.resize(child + 2);
  grow(tree, child, std::move(below), values, depth + 1, random);
  grow(tree, child + 1, std::move(others), values, depth + 1, random);
}

double IsolationForest::score(const double* row) const {
  double sum = 0;
  for (const Tree& tree : trees_) {
    size_t node = 0;
    while (tree[node].column >= 0) {
      const auto column = static_cast<size_t>(tree[node].column);
      const double value = std::isnan(row[column]) ? median_[column] : row[column];
      node = tree[node].below + (value < tree[node].split ? 0 : 1);
    }
    sum += tree[node].length;
  }
  return std::exp2(-sum / static_cast<double>(trees_.size()) / normal_);
}

}  // namespace perfcast::measure::watch_study
