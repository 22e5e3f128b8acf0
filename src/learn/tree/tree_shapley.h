#pragma once
// Shapley values of decision trees against one reference row, exact and in one walk: interventional TreeSHAP (Lundberg
// et al., Nature Machine Intelligence 2020, "independent TreeSHAP"). Where the program's row and the reference's go the
// same way, so does the walk; where they part, it goes both ways, and a leaf is reached by those subsets of inputs that
// hold all inputs that led it the program's way and none of those that led it the reference's.
//
// In double throughout, and of nothing but the tree's splits: neither a library nor how many training rows went where
// is needed, which a bundle does not keep of boosted trees.

#include <cmath>
#include <cstdint>
#include <vector>

namespace perfcast {

// At a node: the input that it tests, -1 at a leaf, and the children that the program's row and the reference's go to.
struct TreeStep {
  int32_t feature = -1;
  int32_t own = 0, reference = 0;
};

// Chance that, of `own` + `reference` inputs in drawn order, a given one of the `own` comes after all its like and
// before all of the others: (own - 1)! reference! / (own + reference)!.
inline double order_chance(int64_t own, int64_t reference) {
  double chance = 1.0 / static_cast<double>(own + reference);
  for (int64_t i = 1; i <= reference; ++i) chance *= static_cast<double>(i) / static_cast<double>(own + i - 1);
  return chance;
}

// Of the tree at `root`: step(node) -> TreeStep; add(feature, share, leaf): the input is given `share` times whatever
// the leaf says. Sums of shares over the inputs: 1 at the program's leaf, -1 at the reference's, 0 elsewhere. False
// where more nodes than `most_nodes` are met: it is no tree.
template <typename Step, typename Add>
bool shapley_of_tree(int32_t root, int64_t features, int64_t most_nodes, const Step& step, const Add& add) {
  enum Side : int8_t { kOpen, kOwn, kReference };
  struct Visit {
    int32_t node;
    int32_t depth;    // of `path` above it
    int32_t feature;  // that was decided on the way to it; -1: none
    Side side;
  };
  std::vector<int8_t> side(static_cast<size_t>(features), kOpen);
  std::vector<int32_t> path;  // inputs that the two rows part on
  std::vector<Visit> visits = {{root, 0, -1, kOpen}};
  while (!visits.empty()) {
    if (--most_nodes < 0) return false;
    Visit visit = visits.back();
    visits.pop_back();
    while (static_cast<int32_t>(path.size()) > visit.depth) {
      side[static_cast<size_t>(path.back())] = kOpen;
      path.pop_back();
    }
    if (visit.feature >= 0) {
      path.push_back(visit.feature);
      side[static_cast<size_t>(visit.feature)] = visit.side;
    }
    const TreeStep at = step(visit.node);
    const auto depth = static_cast<int32_t>(path.size());
    if (at.feature >= 0) {
      const auto decided = static_cast<Side>(side[static_cast<size_t>(at.feature)]);
      if (at.own == at.reference || decided == kOwn) {
        visits.push_back({at.own, depth, -1, kOpen});
      } else if (decided == kReference) {
        visits.push_back({at.reference, depth, -1, kOpen});
      } else {
        visits.push_back({at.own, depth, at.feature, kOwn});
        visits.push_back({at.reference, depth, at.feature, kReference});
      }
      continue;
    }
    int64_t own = 0;
    for (const int32_t feature : path) own += side[static_cast<size_t>(feature)] == kOwn ? 1 : 0;
    const int64_t others = depth - own;
    const double gain = own > 0 ? order_chance(own, others) : 0, loss = others > 0 ? order_chance(others, own) : 0;
    for (const int32_t feature : path) {
      add(feature, side[static_cast<size_t>(feature)] == kOwn ? gain : -loss, visit.node);
    }
  }
  return true;
}

}  // namespace perfcast
