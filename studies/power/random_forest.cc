#include "studies/power/random_forest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace perfcast::measure::power_study {

RandomForest RandomForest::fit(const Eigen::MatrixXd& rows, const Eigen::VectorXd& target,
                               const Eigen::VectorXd& weights, const RandomForestOptions& options) {
  RandomForest forest;
  Random random(options.seed);
  const auto count = static_cast<size_t>(rows.rows());
  std::vector<Eigen::Index> columns(static_cast<size_t>(rows.cols()));
  std::iota(columns.begin(), columns.end(), 0);
  const size_t tried = std::max<size_t>(1, static_cast<size_t>(options.tried_share * static_cast<double>(rows.cols())));
  struct Task {
    size_t node, begin, end;
  };
  for (int tree = 0; tree < options.trees; ++tree) {
    std::vector<Eigen::Index> members(count);
    for (Eigen::Index& member : members) member = static_cast<Eigen::Index>(random.below(count));
    forest.roots_.push_back(forest.nodes_.size());
    forest.nodes_.emplace_back();
    std::vector<Task> tasks = {{forest.roots_.back(), 0, count}};
    while (!tasks.empty()) {
      const Task task = tasks.back();
      tasks.pop_back();
      double weight = 0, sum = 0;
      for (size_t i = task.begin; i < task.end; ++i) {
        weight += weights(members[i]);
        sum += weights(members[i]) * target(members[i]);
      }
      forest.nodes_[task.node].value = sum / weight;
      if (task.end - task.begin <= options.smallest) continue;
      // The cut that explains most, one for each column drawn; columns that don't vary here are no tries.
      Eigen::Index column = -1;
      double cut = 0, best = sum * sum / weight;
      size_t seen = 0;
      for (size_t drawn = 0; drawn < columns.size() && seen < tried; ++drawn) {
        std::swap(columns[drawn], columns[drawn + random.below(columns.size() - drawn)]);
        const Eigen::Index c = columns[drawn];
        double low = rows(members[task.begin], c), high = low;
        for (size_t i = task.begin; i < task.end; ++i) {
          low = std::min(low, rows(members[i], c));
          high = std::max(high, rows(members[i], c));
        }
        if (!(high > low)) continue;
        ++seen;
        double at = random.uniform(low, high);
        if (at >= high) at = low;
        double left_weight = 0, left_sum = 0;
        for (size_t i = task.begin; i < task.end; ++i) {
          if (rows(members[i], c) > at) continue;
          left_weight += weights(members[i]);
          left_sum += weights(members[i]) * target(members[i]);
        }
        const double right_weight = weight - left_weight;
        if (!(left_weight > 0 && right_weight > 0)) continue;
        const double explained = left_sum * left_sum / left_weight + (sum - left_sum) * (sum - left_sum) / right_weight;
        if (explained > best) {
          best = explained;
          column = c;
          cut = at;
        }
      }
      if (column < 0) continue;
      const auto from = members.begin() + static_cast<std::ptrdiff_t>(task.begin);
      const auto middle = std::partition(from, members.begin() + static_cast<std::ptrdiff_t>(task.end),
                                         [&](Eigen::Index member) { return rows(member, column) <= cut; });
      const size_t between = task.begin + static_cast<size_t>(middle - from), next = forest.nodes_.size();
      forest.nodes_[task.node] = {column, cut, next};
      forest.nodes_.resize(next + 2);
      tasks.push_back({next, task.begin, between});
      tasks.push_back({next + 1, between, task.end});
    }
  }
  return forest;
}

double RandomForest::predict(const Eigen::RowVectorXd& row) const {
  double sum = 0;
  for (const size_t root : roots_) {
    const Node* node = &nodes_[root];
    while (node->column >= 0) node = &nodes_[node->next + (row(node->column) > node->value ? 1U : 0U)];
    sum += node->value;
  }
  return sum / static_cast<double>(roots_.size());
}

}  // namespace perfcast::measure::power_study
