#include "program/model/tree/forest_predictor.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>

#include "base/bytes.h"
#include "base/parallel.h"
#include "base/random.h"
#include "learn/algebra/dense.h"
#include "learn/tensors/tensor_map.h"
#include "learn/tree/tree_index.h"
#include "learn/tree/tree_shapley.h"
#include "program/model/features/model_inputs.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {

// Grows one tree at a time on rows in memory.
class TreeGrower {
 public:
  // targets: D x P (a program's outputs are contiguous).
  TreeGrower(ForestPredictor& forest, const Eigen::MatrixXd& rows, const Eigen::MatrixXd& targets,
             const Eigen::VectorXd& weights, double feature_share, uint64_t seed, int threads)
      : forest_(forest), rows_(rows), targets_(targets), weights_(weights), random_(seed), threads_(threads) {
    columns_.resize(static_cast<size_t>(rows.cols()));
    std::iota(columns_.begin(), columns_.end(), 0);
    tried_ = std::max<int64_t>(1, static_cast<int64_t>(feature_share * static_cast<double>(rows.cols())));
  }

  void grow() {
    std::vector<int32_t> programs(static_cast<size_t>(rows_.rows()));
    std::iota(programs.begin(), programs.end(), 0);
    forest_.roots_.push_back(static_cast<int32_t>(forest_.nodes_.size()));
    forest_.nodes_.emplace_back();
    struct Task {
      size_t node, begin, end;
    };
    std::vector<Task> tasks = {{forest_.nodes_.size() - 1, 0, programs.size()}};
    while (!tasks.empty()) {
      const Task task = tasks.back();
      tasks.pop_back();
      const std::span<int32_t> members(programs.data() + task.begin, task.end - task.begin);
      Split split;
      if (members.size() < 2 || !find_split(members, split)) {
        make_leaf(task.node, members);
        continue;
      }
      const auto middle = std::partition(members.begin(), members.end(), [&](int32_t p) {
        return static_cast<float>(rows_(p, split.feature)) <= split.threshold;
      });
      const size_t at = task.begin + static_cast<size_t>(middle - members.begin());
      const size_t children = forest_.nodes_.size();
      forest_.nodes_[task.node] = {static_cast<int32_t>(split.feature), split.threshold, static_cast<int32_t>(children),
                                   0};
      forest_.nodes_.resize(children + 2);
      tasks.push_back({children, task.begin, at});
      tasks.push_back({children + 1, at, task.end});
    }
  }

 private:
  static constexpr size_t kWorthThreads = 2'000'000;  // additions: to start a thread takes as long as some 100,000
  struct Split {
    Eigen::Index feature = 0;
    float threshold = 0;
  };

  void make_leaf(size_t node, std::span<const int32_t> members) {
    forest_.nodes_[node] = {-1, 0, static_cast<int32_t>(forest_.leaf_programs_.size()),
                            static_cast<int32_t>(members.size())};
    forest_.add_leaf(members);
  }

  // The best of several random cuts, one per feature drawn; features that don't vary here aren't counted as tries.
  bool find_split(std::span<const int32_t> members, Split& best) {
    Eigen::VectorXd total = Eigen::VectorXd::Zero(targets_.rows());
    double total_weight = 0;
    for (const int32_t p : members) {
      total += weights_(p) * targets_.col(p);
      total_weight += weights_(p);
    }
    std::vector<Split> splits;
    for (size_t drawn = 0; drawn < columns_.size() && static_cast<int64_t>(splits.size()) < tried_; ++drawn) {
      std::swap(columns_[drawn], columns_[drawn + random_.below(columns_.size() - drawn)]);
      const Eigen::Index feature = columns_[drawn];
      float low = static_cast<float>(rows_(members[0], feature));
      float high = low;
      for (const int32_t p : members) {
        const auto value = static_cast<float>(rows_(p, feature));
        low = std::min(low, value);
        high = std::max(high, value);
      }
      if (!(high - low > 1e-6f)) continue;
      float threshold = static_cast<float>(random_.uniform(low, high));
      if (threshold >= high) threshold = low;
      splits.push_back({feature, threshold});
    }
    // All is drawn: what each split gains doesn't depend on who reckons it. Only memory can run out.
    std::vector<double> gains(splits.size());
    const size_t work = members.size() * splits.size() * static_cast<size_t>(targets_.rows());
    const Status done = parallel_for(splits.size(), work < kWorthThreads ? 1 : threads_, [&](size_t i) -> Status {
      gains[i] = gain_of(members, splits[i].feature, splits[i].threshold, total, total_weight);
      return {};
    });
    if (!done) throw std::bad_alloc();
    double best_gain = -1;
    for (size_t i = 0; i < splits.size(); ++i) {
      if (!(gains[i] > best_gain)) continue;
      best_gain = gains[i];
      best = splits[i];
    }
    return best_gain >= 0;
  }

  // Sum of squares explained by the two means, up to what is the same for all splits of these members.
  double gain_of(std::span<const int32_t> members, Eigen::Index feature, float threshold, const Eigen::VectorXd& total,
                 double total_weight) const {
    thread_local Eigen::VectorXd left_sum;
    left_sum.setZero(targets_.rows());
    double left_weight = 0;
    for (const int32_t p : members) {
      if (static_cast<float>(rows_(p, feature)) > threshold) continue;
      left_sum += weights_(p) * targets_.col(p);
      left_weight += weights_(p);
    }
    return left_sum.squaredNorm() / left_weight + (total - left_sum).squaredNorm() / (total_weight - left_weight);
  }

  ForestPredictor& forest_;
  const Eigen::MatrixXd& rows_;
  const Eigen::MatrixXd& targets_;
  const Eigen::VectorXd& weights_;
  Random random_;
  std::vector<Eigen::Index> columns_;
  int64_t tried_ = 1;
  int threads_ = 1;
};

namespace {

constexpr Eigen::Index kFewOutputs = 16;  // nothing to save

// Variance over all outputs is the same in any rotation of them: the leading components carry all but `lost` of it at a
// fraction of the cost.
Eigen::MatrixXd leading_components(const Eigen::MatrixXd& log_rpv, const Eigen::VectorXd& weights, double lost) {
  const Eigen::MatrixXd centred = log_rpv.rowwise() - weighted_mean(log_rpv, weights).transpose();
  if (centred.cols() <= kFewOutputs) return centred.transpose();
  const auto [values, vectors] = symmetric_eigen(centred * centred.transpose());
  const double total = std::max(values.sum(), 1e-300);
  double dropped = 0;
  Eigen::Index first = 0;
  while (first + 1 < values.size() && dropped + std::max(values(first), 0.0) <= lost * total) {
    dropped += std::max(values(first++), 0.0);
  }
  const Eigen::Index kept = values.size() - first;
  return values.tail(kept).cwiseMax(0).cwiseSqrt().asDiagonal() * vectors.rightCols(kept).transpose();
}

}  // namespace

Status ForestPredictor::fit(const TrainingTable& table, const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  inputs_ = StandardisedInputs::fit(table, targets->weights);
  const Eigen::MatrixXd rows = inputs_.rows(profiles_of(table));
  log_rpv_ = targets->log_rpv;
  training_weights_ = targets->weights;
  const Eigen::MatrixXd components = leading_components(log_rpv_, targets->weights, 0.005);
  nodes_.clear();
  roots_.clear();
  leaf_programs_.clear();
  leaf_weights_.clear();
  const bool counters = inputs_.chosen().kind() == ModelInputs::Kind::kCounters;
  TreeGrower grower(*this, rows, components, targets->weights,
                    counters ? options_.counter_share : options_.feature_share, options.seed, options.threads);
  const int64_t trees = rows.rows() < options_.many_rows ? options_.trees : options_.trees_of_many;
  for (int64_t tree = 0; tree < trees; ++tree) grower.grow();
  return {};
}

void ForestPredictor::add_leaf(std::span<const int32_t> members) {
  double total = 0;
  for (const int32_t p : members) total += training_weights_(p);
  for (const int32_t p : members) {
    leaf_programs_.push_back(p);
    leaf_weights_.push_back(static_cast<float>(training_weights_(p) / total));
  }
}

Eigen::MatrixXd ForestPredictor::program_weights(const std::vector<const Profile*>& profiles) const {
  const Eigen::MatrixXd queries = inputs_.rows(profiles);
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(queries.rows(), log_rpv_.rows());
  const double share = 1 / static_cast<double>(roots_.size());
  std::vector<float> query(static_cast<size_t>(queries.cols()));
  std::vector<double> sums(static_cast<size_t>(log_rpv_.rows()));
  for (Eigen::Index q = 0; q < queries.rows(); ++q) {
    for (Eigen::Index c = 0; c < queries.cols(); ++c) query[static_cast<size_t>(c)] = static_cast<float>(queries(q, c));
    std::fill(sums.begin(), sums.end(), 0);
    for (const int32_t root : roots_) {
      const Node* node = &nodes_[static_cast<size_t>(root)];
      while (node->feature >= 0) {
        const bool right = query[static_cast<size_t>(node->feature)] > node->threshold;
        node = &nodes_[static_cast<size_t>(node->next) + (right ? 1U : 0U)];
      }
      for (int32_t i = node->next; i < node->next + node->count; ++i) {
        const auto entry = static_cast<size_t>(i);
        sums[static_cast<size_t>(leaf_programs_[entry])] += share * static_cast<double>(leaf_weights_[entry]);
      }
    }
    for (Eigen::Index p = 0; p < log_rpv_.rows(); ++p) weights(q, p) = sums[static_cast<size_t>(p)];
  }
  return weights;
}

Eigen::MatrixXd ForestPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return program_weights(profiles) * log_rpv_;
}

// A forecast is linear in the training programs' weights, and so is what an input adds to it.
Result<FeatureAttribution> ForestPredictor::attribute_features(const AttributionRequest& request) const {
  const AttributedRows rows = attributed_rows(inputs_, request);
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(rows.own.size(), log_rpv_.rows());
  const double share = 1 / static_cast<double>(roots_.size());
  const auto goes_to = [](const Node& node, const Eigen::RowVectorXd& row) {
    return node.next + (static_cast<float>(row(node.feature)) > node.threshold ? 1 : 0);
  };
  const auto step = [&](int32_t at) {
    const Node& node = nodes_[static_cast<size_t>(at)];
    return node.feature < 0 ? TreeStep{}
                            : TreeStep{node.feature, goes_to(node, rows.own), goes_to(node, rows.reference)};
  };
  const auto add = [&](int32_t feature, double of_leaf, int32_t leaf) {
    const Node& node = nodes_[static_cast<size_t>(leaf)];
    for (int32_t i = node.next; i < node.next + node.count; ++i) {
      const auto entry = static_cast<size_t>(i);
      weights(feature, leaf_programs_[entry]) += share * of_leaf * static_cast<double>(leaf_weights_[entry]);
    }
  };
  for (const int32_t root : roots_) {
    if (!shapley_of_tree(root, rows.own.size(), static_cast<int64_t>(nodes_.size()), step, add)) {
      return Error{"bad-bundle", "the forest's nodes make no trees", "nodes", "a bundle written by perfcast train"};
    }
  }
  return attribution_of(*this, request, AttributionMethod::kTreeShap, inputs_.chosen().names(), weights * log_rpv_);
}

void ForestPredictor::save(TensorMap& tensors) const {
  inputs_.save(tensors);
  tensors.put("log_rpv", log_rpv_);
  tensors.put("training_weights", training_weights_);
  // Of each node its feature + 1, 0 for a leaf; then of a leaf how many programs are in it and which, of others the
  // threshold and how far behind its children lie. Two bytes for each of these numbers, four where one is larger.
  int64_t largest = std::max<int64_t>(inputs_.columns() + 1, log_rpv_.rows());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].feature >= 0) largest = std::max(largest, nodes_[i].next - static_cast<int64_t>(i));
  }
  const bool wide = largest > UINT16_MAX;
  ByteWriter packed;
  const auto put = [&](int64_t number) {
    wide ? packed.put(static_cast<uint32_t>(number)) : packed.put(static_cast<uint16_t>(number));
  };
  packed.put(static_cast<uint8_t>(wide ? 4 : 2));
  packed.put(static_cast<uint32_t>(nodes_.size()));
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    put(node.feature + 1);
    if (node.feature < 0) {
      put(node.count);
      for (int32_t k = 0; k < node.count; ++k)
        put(leaf_programs_[static_cast<size_t>(node.next) + static_cast<size_t>(k)]);
    } else {
      packed.put(node.threshold);
      put(node.next - static_cast<int64_t>(i));
    }
  }
  tensors.put_bytes("packed_nodes", packed.bytes());
  Eigen::MatrixXf roots(static_cast<Eigen::Index>(roots_.size()), 1);
  for (Eigen::Index i = 0; i < roots.rows(); ++i) roots(i, 0) = static_cast<float>(roots_[static_cast<size_t>(i)]);
  tensors.put_float("roots", roots);
}

namespace {

constexpr uint32_t kMostNodes = 1U << 28;

Error bad_forest(const std::string& what) {
  return Error{"bad-bundle", what, "nodes", "a bundle written by perfcast train"};
}

}  // namespace

// Children lie behind their parent, so that every walk ends.
Status ForestPredictor::add_inner(int64_t feature, float threshold, int64_t children, int64_t nodes) {
  const auto at = static_cast<int64_t>(nodes_.size());
  if (feature < 0 || feature >= inputs_.columns() || children <= at || children >= nodes - 1) {
    return bad_forest("a node of the forest points outside it");
  }
  nodes_.push_back({static_cast<int32_t>(feature), threshold, static_cast<int32_t>(children), 0});
  return {};
}

Status ForestPredictor::unpack(std::string_view bytes) {
  ByteReader in(bytes);
  uint8_t width = 0;
  uint32_t count = 0;
  if (!in.get(width) || (width != 2 && width != 4) || !in.get(count) || count > kMostNodes) {
    return bad_forest("the forest has no readable beginning");
  }
  const auto number = [&]() -> int64_t {
    uint16_t narrow = 0;
    uint32_t wide = 0;
    return width == 2 ? (in.get(narrow) ? narrow : -1) : (in.get(wide) ? int64_t{wide} : -1);
  };
  std::vector<int32_t> members;
  while (nodes_.size() < count) {
    const int64_t feature = number();
    if (feature > 0) {
      float threshold = 0;
      if (in.get(threshold) && !std::isfinite(threshold)) return bad_forest("a threshold of the forest is no number");
      const int64_t children = static_cast<int64_t>(nodes_.size()) + number();
      if (auto status = add_inner(feature - 1, threshold, children, count); !status) return status;
    } else {
      const int64_t programs = number();
      if (programs < 1 || programs > training_weights_.size()) return bad_forest("a leaf of the forest is empty");
      members.clear();
      for (int64_t k = 0; k < programs; ++k) {
        const int64_t program = number();
        if (program < 0 || program >= training_weights_.size()) {
          return bad_forest("a leaf of the forest names no program");
        }
        members.push_back(static_cast<int32_t>(program));
      }
      nodes_.push_back({-1, 0, static_cast<int32_t>(leaf_programs_.size()), static_cast<int32_t>(programs)});
      add_leaf(members);
    }
    if (!in.ok()) return bad_forest("the forest is cut short");
  }
  return in.at_end() ? Status() : bad_forest("there are bytes behind the forest");
}

// As they were written until 2026: four floats a node, two for each program of a leaf.
Status ForestPredictor::load_floats(const TensorMap& tensors) {
  const auto nodes = tensors.get_float("nodes", -1, 4);
  if (!nodes) return nodes.error();
  const auto leaves = tensors.get_float("leaves", -1, 2);
  if (!leaves) return leaves.error();
  for (Eigen::Index i = 0; i < leaves->rows(); ++i) {
    const int32_t program = as_index((*leaves)(i, 0), log_rpv_.rows());
    if (program < 0) return bad_forest("a leaf of the forest names no program");
    leaf_programs_.push_back(program);
    leaf_weights_.push_back((*leaves)(i, 1));
  }
  const int64_t entries = leaves->rows();
  for (Eigen::Index i = 0; i < nodes->rows(); ++i) {
    if ((*nodes)(i, 0) != -1) {
      Status status = add_inner(as_index((*nodes)(i, 0), inputs_.columns()), (*nodes)(i, 1),
                                as_index((*nodes)(i, 2), nodes->rows()), nodes->rows());
      if (!status) return status;
      continue;
    }
    const int32_t first = as_index((*nodes)(i, 2), entries), count = as_index((*nodes)(i, 3), entries + 1);
    if (first < 0 || count < 1 || first + int64_t{count} > entries) {
      return bad_forest("a leaf of the forest lies outside it");
    }
    nodes_.push_back({-1, 0, first, count});
  }
  return {};
}

Status ForestPredictor::load(const TensorMap& tensors) {
  if (auto status = inputs_.load(tensors); !status) return status;
  auto log_rpv = tensors.get("log_rpv");
  if (!log_rpv) return log_rpv.error();
  const auto roots = tensors.get_float("roots", -1, 1);
  if (!roots) return roots.error();
  log_rpv_ = std::move(*log_rpv);
  nodes_.clear();
  roots_.clear();
  leaf_programs_.clear();
  leaf_weights_.clear();
  training_weights_.resize(0);
  if (const auto packed = tensors.get_bytes("packed_nodes")) {
    auto weights = tensors.get("training_weights", log_rpv_.rows(), 1);
    if (!weights) return weights.error();
    if (!((*weights).array() > 0).all()) return bad_forest("a program of the forest weighs nothing");
    training_weights_ = weights->col(0);
    if (auto status = unpack(*packed); !status) return status;
  } else if (auto status = load_floats(tensors); !status) {
    return status;
  }
  for (Eigen::Index i = 0; i < roots->rows(); ++i) {
    const int32_t root = as_index((*roots)(i, 0), static_cast<int64_t>(nodes_.size()));
    if (root < 0) return bad_forest("a root of the forest lies outside it");
    roots_.push_back(root);
  }
  if (roots_.empty()) return bad_forest("the forest has no tree");
  return {};
}

}  // namespace perfcast::program
