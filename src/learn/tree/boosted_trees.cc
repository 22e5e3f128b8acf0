#include "learn/tree/boosted_trees.h"

#include <xgboost/c_api.h>

#include <cmath>

#include "base/json.h"
#include "learn/tree/tree_index.h"
#include "learn/tree/tree_shapley.h"

namespace perfcast {
namespace {

Error library_error(const std::string& doing) {
  return Error{"xgboost-failed", "XGBoost could not " + doing + ": " + XGBGetLastError(), "", "XGBoost 1.7"};
}

// Both are freed however fit() ends.
struct Handles {
  DMatrixHandle data = nullptr;
  BoosterHandle booster = nullptr;
  ~Handles() {
    if (booster != nullptr) XGBoosterFree(booster);
    if (data != nullptr) XGDMatrixFree(data);
  }
};

std::vector<float> row_major(const Eigen::MatrixXd& rows) {
  std::vector<float> values;
  values.reserve(static_cast<size_t>(rows.size()));
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    for (Eigen::Index c = 0; c < rows.cols(); ++c) values.push_back(static_cast<float>(rows(r, c)));
  }
  return values;
}

std::vector<float> floats(const Eigen::VectorXd& values) {
  std::vector<float> result;
  for (const double value : values) result.push_back(static_cast<float>(value));
  return result;
}

}  // namespace

Result<BoostedTrees> BoostedTrees::from_json(const std::string& model, int64_t features) {
  BoostedTrees result;
  try {
    const Json json = Json::parse(model);
    for (const Json& tree : json.at("learner").at("gradient_booster").at("model").at("trees")) {
      const auto left = tree.at("left_children").get<std::vector<int32_t>>();
      const auto right = tree.at("right_children").get<std::vector<int32_t>>();
      const auto feature = tree.at("split_indices").get<std::vector<int32_t>>();
      const auto value = tree.at("split_conditions").get<std::vector<float>>();
      const auto start = static_cast<int32_t>(result.nodes_.size());
      result.roots_.push_back(start);
      for (size_t i = 0; i < left.size(); ++i) {
        const bool leaf = left[i] < 0;
        result.nodes_.push_back(
            {leaf ? -1 : feature.at(i), value.at(i), leaf ? 0 : start + left[i], leaf ? 0 : start + right.at(i)});
      }
    }
  } catch (const std::exception& problem) {
    return Error{"xgboost-failed", std::string("XGBoost's model has an unknown form: ") + problem.what(), "",
                 "XGBoost 1.7"};
  }
  // The same checks as for a file.
  return from_tensor(result.to_tensor(), features);
}

Result<BoostedTrees> BoostedTrees::fit(const Eigen::MatrixXd& rows, const Eigen::VectorXd& target,
                                       const Eigen::VectorXd& weights, const BoostOptions& options) {
  Handles handles;
  const std::vector<float> values = row_major(rows);
  const std::vector<float> labels = floats(target);
  const std::vector<float> row_weights = floats(weights);
  const auto count = static_cast<bst_ulong>(rows.rows());
  const auto columns = static_cast<bst_ulong>(rows.cols());
  if (XGDMatrixCreateFromMat(values.data(), count, columns, NAN, &handles.data) != 0 ||
      XGDMatrixSetFloatInfo(handles.data, "label", labels.data(), count) != 0 ||
      XGDMatrixSetFloatInfo(handles.data, "weight", row_weights.data(), count) != 0 ||
      XGBoosterCreate(&handles.data, 1, &handles.booster) != 0) {
    return library_error("take the training rows");
  }
  const std::pair<const char*, std::string> parameters[] = {
      {"booster", "gbtree"},
      {"objective", "reg:squarederror"},
      {"base_score", "0"},
      {"tree_method", "exact"},
      {"max_depth", std::to_string(options.depth)},
      {"eta", std::to_string(options.learning_rate)},
      {"subsample", std::to_string(options.row_share)},
      {"colsample_bytree", std::to_string(options.column_share)},
      {"lambda", std::to_string(options.ridge)},
      {"seed", std::to_string(options.seed % 2147483647)},
      {"nthread", std::to_string(options.threads)},
      {"verbosity", "0"},
  };
  for (const auto& [name, value] : parameters) {
    if (XGBoosterSetParam(handles.booster, name, value.c_str()) != 0) return library_error("set a parameter");
  }
  for (int64_t round = 0; round < options.rounds; ++round) {
    if (XGBoosterUpdateOneIter(handles.booster, static_cast<int>(round), handles.data) != 0) {
      return library_error("grow a tree");
    }
  }
  bst_ulong size = 0;
  const char* model = nullptr;
  if (XGBoosterSaveModelToBuffer(handles.booster, R"({"format": "json"})", &size, &model) != 0) {
    return library_error("write its model");
  }
  auto result = from_json(std::string(model, size), rows.cols());
  if (!result) return result;

  bst_ulong predictions = 0;
  const float* predicted = nullptr;
  if (XGBoosterPredict(handles.booster, handles.data, 0, 0, 0, &predictions, &predicted) != 0 || predictions != count) {
    return library_error("predict");
  }
  for (size_t r = 0; r < count; ++r) {
    const double ours = result->predict(std::span(values).subspan(r * columns, columns));
    if (!(std::abs(ours - static_cast<double>(predicted[r])) <= 1e-4 * (1 + std::abs(ours)))) {
      return Error{"xgboost-failed", "the trees read from XGBoost's model don't predict what XGBoost predicts", "",
                   "XGBoost 1.7"};
    }
  }
  return result;
}

double BoostedTrees::predict(std::span<const float> row) const {
  double sum = 0;
  for (const int32_t root : roots_) {
    const Node* node = &nodes_[static_cast<size_t>(root)];
    while (node->feature >= 0) {
      const bool left = row[static_cast<size_t>(node->feature)] < node->value;
      node = &nodes_[static_cast<size_t>(left ? node->left : node->right)];
    }
    sum += static_cast<double>(node->value);
  }
  return sum;
}

bool BoostedTrees::shapley(std::span<const float> own, std::span<const float> reference,
                           Eigen::Ref<Eigen::VectorXd> result) const {
  result.setZero();
  const auto goes_to = [](const Node& node, std::span<const float> row) {
    return row[static_cast<size_t>(node.feature)] < node.value ? node.left : node.right;
  };
  const auto step = [&](int32_t at) {
    const Node& node = nodes_[static_cast<size_t>(at)];
    return node.feature < 0 ? TreeStep{} : TreeStep{node.feature, goes_to(node, own), goes_to(node, reference)};
  };
  const auto add = [&](int32_t feature, double share, int32_t leaf) {
    result(feature) += share * static_cast<double>(nodes_[static_cast<size_t>(leaf)].value);
  };
  for (const int32_t root : roots_) {
    if (!shapley_of_tree(root, result.size(), static_cast<int64_t>(nodes_.size()), step, add)) return false;
  }
  return true;
}

// One row per node: feature, value, left, right, 1 where a tree starts. Indices stay below 2^24: floats hold them.
Eigen::MatrixXf BoostedTrees::to_tensor() const {
  Eigen::MatrixXf tensor = Eigen::MatrixXf::Zero(static_cast<Eigen::Index>(nodes_.size()), 5);
  for (Eigen::Index i = 0; i < tensor.rows(); ++i) {
    const Node& node = nodes_[static_cast<size_t>(i)];
    tensor.row(i) << static_cast<float>(node.feature), node.value, static_cast<float>(node.left),
        static_cast<float>(node.right), 0;
  }
  for (const int32_t root : roots_) tensor(root, 4) = 1;
  return tensor;
}

Result<BoostedTrees> BoostedTrees::from_tensor(const Eigen::MatrixXf& tensor, int64_t features) {
  BoostedTrees result;
  for (Eigen::Index i = 0; i < tensor.rows(); ++i) {
    Node node;
    node.value = tensor(i, 1);
    if (tensor(i, 0) != -1) {
      node.feature = as_index(tensor(i, 0), features);
      node.left = as_index(tensor(i, 2), tensor.rows());
      node.right = as_index(tensor(i, 3), tensor.rows());
      // Children lie behind their parent, so that every walk ends.
      if (node.feature < 0 || node.left <= i || node.right <= i) {
        return Error{"bad-bundle", "a node of the boosted trees points outside them", "trees",
                     "a bundle written by perfcast train"};
      }
    }
    if (tensor(i, 4) == 1) result.roots_.push_back(static_cast<int32_t>(i));
    result.nodes_.push_back(node);
  }
  return result;
}

}  // namespace perfcast
