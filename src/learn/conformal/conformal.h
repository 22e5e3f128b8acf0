#pragma once
// Interval half widths with coverage over families that the model has not seen.

#include <Eigen/Core>
#include <vector>

namespace perfcast {

struct ConformalScores {
  Eigen::MatrixXd scores;       // P x J: |residual| / expected size, NaN where absent
  std::vector<int64_t> family;  // P
};

// The smallest q for which an entry of a new family, exchangeable with these, has a score of at most q with
// probability of at least `coverage`, averaged over the family's entries: each family weighs the same, and one
// family that is not covered at all is added (conformal risk control, Angelopoulos et al. 2022). Where there are too
// few families for that (fewer than coverage / (1 - coverage)), the largest score. NaN without scores.
double conformal_quantile(const ConformalScores& scores, double coverage);

}  // namespace perfcast
