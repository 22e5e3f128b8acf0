#pragma once
// Which kernel (output tile, parts of k) a GPU library takes for a shape: one classification tree on sizes and on how
// many waves each usual tile would come to, as the libraries' own rules weigh them. A leaf gives probabilities, since
// those rules aren't public.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ai/latency/model/operator_time.h"

namespace perfcast::ai {

inline constexpr size_t kChoiceFeatures = 18;
using ChoiceFeatures = std::array<double, kChoiceFeatures>;
// Logs of the sizes (capped: beyond them libraries don't change their mind), alignment, and for six usual tiles the log
// of waves over `units` and the padding.
ChoiceFeatures choice_features(const ProductShape& shape, double units);

struct ClassShare {
  int32_t class_index = 0;
  double probability = 0;
};

class TileChoice {
 public:
  struct Node {
    int32_t feature = -1;  // -1: leaf
    double threshold = 0;  // left where the feature is at most this
    int32_t left = -1, right = -1;
    int32_t first_share = 0, shares = 0;  // of a leaf: into shares()
  };

  // Gini, exact splits, at least `least_leaf` rows a leaf. Deterministic. features: [rows]; classes: [rows], >= 0.
  static TileChoice fit(std::span<const ChoiceFeatures> features, std::span<const int32_t> classes,
                        size_t least_leaf = 8);
  // Of a bundle; the caller has checked them with valid().
  TileChoice(std::vector<Node> nodes, std::vector<ClassShare> shares)
      : nodes_(std::move(nodes)), shares_(std::move(shares)) {}
  TileChoice() = default;
  // True where every path ends in a leaf with shares of classes below `classes`.
  static bool valid(const std::vector<Node>& nodes, const std::vector<ClassShare>& shares, int32_t classes);

  std::span<const ClassShare> of(const ChoiceFeatures& features) const;
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<ClassShare>& shares() const { return shares_; }

 private:
  std::vector<Node> nodes_;
  std::vector<ClassShare> shares_;
};

}  // namespace perfcast::ai
