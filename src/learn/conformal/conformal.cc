#include "learn/conformal/conformal.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/unknown.h"

namespace perfcast {

double conformal_quantile(const ConformalScores& scores, double coverage) {
  std::map<int64_t, double> entries;
  for (Eigen::Index p = 0; p < scores.scores.rows(); ++p) {
    for (Eigen::Index j = 0; j < scores.scores.cols(); ++j) {
      if (!std::isnan(scores.scores(p, j))) ++entries[scores.family[static_cast<size_t>(p)]];
    }
  }
  if (entries.empty()) return kUnknown;
  std::vector<std::pair<double, double>> weighted;  // score, weight: 1 per family
  for (Eigen::Index p = 0; p < scores.scores.rows(); ++p) {
    for (Eigen::Index j = 0; j < scores.scores.cols(); ++j) {
      const double score = scores.scores(p, j);
      if (!std::isnan(score)) weighted.emplace_back(score, 1 / entries[scores.family[static_cast<size_t>(p)]]);
    }
  }
  std::sort(weighted.begin(), weighted.end());
  const double needed = coverage * (static_cast<double>(entries.size()) + 1) - 1e-9;
  double covered = 0;
  for (const auto& [score, weight] : weighted) {
    covered += weight;
    if (covered >= needed) return score;
  }
  return weighted.back().first;
}

}  // namespace perfcast
