#pragma once
// Isolation forest (Liu, Ting & Zhou, ICDM 2008): trees that split a random metric at a random value; what is isolated
// after few splits is unusual. For comparison only: no part of perfcast.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace perfcast::measure::watch_study {

class IsolationForest {
 public:
  // values: rows x columns, NaN (absent) as the column's median. Trees of up to `sample` rows each, no deeper than log2
  // of that.
  void fit(std::span<const double> values, size_t columns, size_t trees, size_t sample, uint64_t seed);
  // 2^(-E[path length] / c(sample)): near 1 unusual, 0.5 and less usual. Equation 2 there.
  double score(const double* row) const;

 private:
  struct Node {
    int32_t column = -1;  // -1: a leaf
    uint32_t below = 0;   // the node for values below `split`; the next one is for the others
    double split = 0;
    double length = 0;  // of a leaf: its depth, and c() of the rows it holds
  };
  using Tree = std::vector<Node>;

  void grow(Tree& tree, size_t node, std::vector<uint32_t> rows, std::span<const double> values, size_t depth,
            Random& random);

  size_t columns_ = 0;
  double normal_ = 1;
  size_t most_depth_ = 8;
  std::vector<double> median_;
  std::vector<Tree> trees_;
};

// Mean path length of an unsuccessful search in a binary search tree of n: equation 1 there.
double mean_path_length(double n);

}  // namespace perfcast::measure::watch_study
