// Coefficients by name; each tree as two arrays in preorder: the feature that a node tests (-1: a leaf) and its
// threshold or its value. The left branch follows its node.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "ai/cpu_tokens/token_model.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

constexpr int kThresholdDigits = 5, kLeafDigits = 3, kCoefficientDigits = 8;
constexpr size_t kDeepest = 64;

double rounded(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}

Error bad_model(const std::string& path, const std::string& found) {
  return Error{"bad-bundle", "the model of token rates can't be used: " + found, path,
               "a bundle written by perfcast_cpu_tokens_reproduction --write-bundle"};
}

// Columns of BoostedTrees::to_tensor().
enum Column : Eigen::Index { kFeature, kValue, kLeft, kRight, kRoot, kColumns };

void put_tree(const Eigen::MatrixXf& nodes, Eigen::Index root, Json& features, Json& values) {
  std::vector<Eigen::Index> open = {root};
  while (!open.empty()) {
    const Eigen::Index node = open.back();
    open.pop_back();
    const bool leaf = nodes(node, kFeature) < 0;
    features.push_back(static_cast<int64_t>(nodes(node, kFeature)));
    values.push_back(rounded(static_cast<double>(nodes(node, kValue)), leaf ? kLeafDigits : kThresholdDigits));
    if (leaf) continue;
    open.push_back(static_cast<Eigen::Index>(nodes(node, kRight)));
    open.push_back(static_cast<Eigen::Index>(nodes(node, kLeft)));
  }
}

// Adds one tree's rows; false where the arrays are no whole tree.
bool get_tree(const Json& features, const Json& values, std::vector<std::array<float, kColumns>>& nodes) {
  if (!features.is_array() || !values.is_array() || features.size() != values.size() || features.empty()) return false;
  const size_t start = nodes.size();
  std::vector<size_t> waiting;  // nodes whose right branch has not come yet
  bool complete = false;
  for (size_t i = 0; i < features.size(); ++i) {
    if (complete || !features[i].is_number_integer() || !values[i].is_number()) return false;
    const auto feature = features[i].get<int64_t>();
    const auto value = static_cast<float>(values[i].get<double>());
    const auto names = static_cast<int64_t>(token_feature_names().size());
    if (feature < -1 || feature >= names || !std::isfinite(value)) return false;
    const auto next = static_cast<float>(nodes.size() + 1);
    nodes.push_back({static_cast<float>(feature), value, feature < 0 ? 0 : next, 0, i == 0 ? 1.0F : 0.0F});
    if (feature >= 0) {
      waiting.push_back(nodes.size() - 1);
      if (waiting.size() > kDeepest) return false;
      continue;
    }
    complete = waiting.empty();
    if (!complete) {
      nodes[waiting.back()][kRight] = next;
      waiting.pop_back();
    }
  }
  return complete && nodes.size() > start;
}

Json widths_json(const IntervalWidths& widths) {
  Json json = Json::array();
  for (const double width : widths) json.push_back(std::isnan(width) ? Json(nullptr) : Json(rounded(width, 5)));
  return json;
}

bool read_widths(const Json* json, IntervalWidths& widths) {
  if (json == nullptr || json->size() != widths.size()) return false;
  for (size_t i = 0; i < widths.size(); ++i) {
    if ((*json)[i].is_null()) continue;
    if (!(*json)[i].is_number()) return false;
    widths[i] = (*json)[i].get<double>();
    if (!(widths[i] >= 0 && widths[i] < 50)) return false;
  }
  return true;
}

}  // namespace

Json TokenModel::to_json() const {
  Json json;
  json["coefficients"] = Json::object();
  for (size_t i = 0; i < physics_.names().size(); ++i) {
    json["coefficients"][physics_.names()[i]] =
        rounded(physics_.coefficients()[static_cast<Eigen::Index>(i)], kCoefficientDigits);
  }
  json["measured_log_half_width"] = widths_json(measured_widths);
  json["imputed_log_half_width"] = widths_json(imputed_widths);
  if (!trees_) return json;
  json["features"] = token_feature_names();
  json["trees"] = Json::array();
  const Eigen::MatrixXf nodes = trees_->to_tensor();
  for (Eigen::Index i = 0; i < nodes.rows(); ++i) {
    if (nodes(i, kRoot) != 1) continue;
    Json features = Json::array(), values = Json::array();
    put_tree(nodes, i, features, values);
    json["trees"].push_back({{"feature", std::move(features)}, {"value", std::move(values)}});
  }
  return json;
}

Result<TokenModel> TokenModel::from_json(const Json& json, TokenPhase phase, const std::string& path) {
  JsonReader in(json, path);
  const Json* coefficients = in.require_object("coefficients");
  const Json* measured = in.require_array("measured_log_half_width");
  const Json* imputed = in.require_array("imputed_log_half_width");
  const Json* trees = in.array("trees");
  const std::vector<std::string> features = in.strings("features");
  if (const Status status = in.finish(); !status) return bad_model(path, status.error().message);

  TokenModel model(phase);
  const std::vector<std::string>& names = model.physics_.names();
  Eigen::VectorXd values(static_cast<Eigen::Index>(names.size()));
  if (coefficients->size() != names.size()) return bad_model(path, "other coefficients");
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = coefficients->find(names[i]);
    if (found == coefficients->end() || !found->is_number()) return bad_model(path, "no coefficient " + names[i]);
    values[static_cast<Eigen::Index>(i)] = found->get<double>();
  }
  if (const Status status = model.physics_.set_coefficients(values); !status) return status.error();
  if (!read_widths(measured, model.measured_widths) || !read_widths(imputed, model.imputed_widths)) {
    return bad_model(path, "the intervals' widths");
  }
  if (trees == nullptr) return model;
  if (features != token_feature_names()) return bad_model(path, "trees on other features");
  std::vector<std::array<float, kColumns>> nodes;
  for (const Json& tree : *trees) {
    if (!tree.is_object() || !tree.contains("feature") || !tree.contains("value") ||
        !get_tree(tree["feature"], tree["value"], nodes)) {
      return bad_model(path, "a tree");
    }
  }
  if (nodes.size() >= size_t{1} << 24) return bad_model(path, "too many nodes");
  Eigen::MatrixXf tensor(static_cast<Eigen::Index>(nodes.size()), static_cast<Eigen::Index>(kColumns));
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t c = 0; c < kColumns; ++c)
      tensor(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c)) = nodes[i][c];
  }
  auto boosted = BoostedTrees::from_tensor(tensor, static_cast<int64_t>(token_feature_names().size()));
  if (!boosted) return boosted.error();
  model.trees_ = std::move(*boosted);
  return model;
}

}  // namespace perfcast::ai
