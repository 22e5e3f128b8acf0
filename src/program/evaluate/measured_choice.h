#pragma once
// Which few platforms tell most about all the others, once a program was measured there.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace perfcast::program {

// values: [P x J] log relative times, NaN where absent -> J x J covariance about the weighted mean of each column, its
// off-diagonal entries made smaller by `shrinkage` in [0, 1].
Eigen::MatrixXd weighted_covariance(const Eigen::MatrixXd& values, const Eigen::VectorXd& weights, double shrinkage);

// covariance: J x J of what is unknown about log relative times. The platforms that, measured together, leave the least
// variance over all platforms; how long the program runs at all counts as unknown, so that one alone only fixes that.
// Greedy from the best pair, then exchanged one by one. `noise_log`: standard deviation of one measured log time. Only
// platforms with allowed[j]; all of them where there are no more than `count`.
std::vector<int64_t> most_telling_platforms(const Eigen::MatrixXd& covariance, int64_t count,
                                            const std::vector<bool>& allowed, double noise_log);

}  // namespace perfcast::program
