#include "program/model/attribution/group_shapley.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/random.h"
#include "learn/tree/tree_shapley.h"

namespace perfcast::program {
namespace {

constexpr size_t kMostShapleyGroups = 8;  // each doubles the forecasts
// Of few groups there are few subsets to draw an order in, each.
constexpr size_t kFewestOrders = 32;

std::string kind_of_input(const std::string& feature) { return feature.substr(0, feature.find('_')); }

// Inputs that differ, by group.
std::vector<std::vector<Eigen::Index>> groups_that_differ(const AttributedRows& rows,
                                                          const std::vector<std::string>& features,
                                                          const AttributionRequest& request) {
  std::map<std::string, std::vector<Eigen::Index>> named;
  for (Eigen::Index f = 0; f < rows.own.size(); ++f) {
    if (rows.own(f) == rows.reference(f)) continue;
    const std::string& feature = features[static_cast<size_t>(f)];
    named[request.group_of ? request.group_of(feature) : kind_of_input(feature)].push_back(f);
  }
  std::vector<std::vector<Eigen::Index>> groups;
  groups.reserve(named.size());
  for (auto& [name, members] : named) groups.push_back(std::move(members));
  while (groups.size() > kMostShapleyGroups) {
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    auto last = std::move(groups.back());
    groups.pop_back();
    groups.back().insert(groups.back().end(), last.begin(), last.end());
  }
  return groups;
}

}  // namespace

Eigen::MatrixXd group_shapley(const RowForecast& forecast, const AttributedRows& rows,
                              const std::vector<std::string>& features, const AttributionRequest& request) {
  const auto groups = groups_that_differ(rows, features, request);
  const size_t subsets = size_t{1} << groups.size();
  Eigen::MatrixXd starts = rows.reference.replicate(static_cast<Eigen::Index>(subsets), 1);
  for (size_t subset = 0; subset < subsets; ++subset) {
    for (size_t g = 0; g < groups.size(); ++g) {
      if ((subset >> g & 1) == 0) continue;
      for (const Eigen::Index f : groups[g]) starts(static_cast<Eigen::Index>(subset), f) = rows.own(f);
    }
  }
  const Eigen::MatrixXd known = forecast(starts);
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(rows.own.size(), known.cols());
  if (groups.empty()) return result;
  Random random(request.seed);
  const size_t pairs = std::max<size_t>(1, kFewestOrders / subsets);  // for each of the subsets without the group
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<Eigen::Index> order = groups[g];
    const auto members = static_cast<Eigen::Index>(order.size());
    const size_t bit = size_t{1} << g;
    for (size_t subset = 0; subset < subsets; ++subset) {
      if ((subset & bit) != 0) continue;
      const auto there = static_cast<int64_t>(__builtin_popcountll(subset));
      const double weight = order_chance(there + 1, static_cast<int64_t>(groups.size()) - there - 1);
      if (members == 1) {
        result.row(order.front()) += weight * (known.row(static_cast<Eigen::Index>(subset | bit)) -
                                               known.row(static_cast<Eigen::Index>(subset)));
        continue;
      }
      for (size_t drawn = 0; drawn < 2 * pairs; ++drawn) {
        if (drawn % 2 == 0) {
          random.shuffle(order);
        } else {
          std::reverse(order.begin(), order.end());
        }
        Eigen::MatrixXd between = starts.row(static_cast<Eigen::Index>(subset)).replicate(members - 1, 1);
        for (Eigen::Index i = 0; i + 1 < members; ++i) {
          const Eigen::Index f = order[static_cast<size_t>(i)];
          between.col(f).tail(members - 1 - i).setConstant(rows.own(f));
        }
        const Eigen::MatrixXd said = forecast(between);
        const double share = weight / static_cast<double>(2 * pairs);
        for (Eigen::Index i = 0; i < members; ++i) {
          const Eigen::RowVectorXd after =
              i + 1 < members ? said.row(i) : known.row(static_cast<Eigen::Index>(subset | bit));
          const Eigen::RowVectorXd before = i == 0 ? known.row(static_cast<Eigen::Index>(subset)) : said.row(i - 1);
          result.row(order[static_cast<size_t>(i)]) += share * (after - before);
        }
      }
    }
  }
  return result;
}

}  // namespace perfcast::program
