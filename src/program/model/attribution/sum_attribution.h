#pragma once
// Of forecasts that are sums.

#include <Eigen/Core>

namespace perfcast::program {

// log(max(floor, intercept + terms x costs)) on each platform: what each of the K terms adds to it against the
// reference's terms, [K x J]. The Aumann-Shapley value, which the logarithm of a sum has in closed form: a term gets
// the share of the logarithm's change that it has of the sum's change (the logarithmic mean Divisia index of Ang,
// Energy Policy 2004). costs: [K x J]; intercept: [J].
Eigen::MatrixXd log_sum_attribution(const Eigen::RowVectorXd& own, const Eigen::RowVectorXd& reference,
                                    const Eigen::MatrixXd& costs, const Eigen::VectorXd& intercept, double floor);

}  // namespace perfcast::program
