#pragma once
// Integrated gradients of rectified networks, in double and with sums that are exact however few steps are taken: over
// each piece of the straight line a rectifier counts with its mean slope, the change of what it lets through over the
// change of what reaches it. With one hidden layer that is the integral itself; with more, it tends to it as the pieces
// get shorter. (Over a single piece it is DeepLIFT's rescale rule: Shrikumar, Greenside & Kundaje, ICML 2017.)
//
// Slopes at points would miss 1e-6 by far: thousands of rectifiers each have a kink somewhere along the line.

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "learn/neural/dense_network.h"

namespace perfcast {

struct PlainLayer {
  Eigen::MatrixXd weights;  // inputs x outputs
  Eigen::RowVectorXd bias;
};
// A packed network in double: the same weights, without the rounding of sums in float.
using PlainNetwork = std::vector<PlainLayer>;
PlainNetwork plain_network(const PackedNetwork& network);

// Of the network's output, linear in its last layer.
Eigen::RowVectorXd value_of(const PlainNetwork& network, const Eigen::RowVectorXd& row);
// [inputs x outputs]: mean slopes between two rows; (to - from) x slopes = value_of(to) - value_of(from).
Eigen::MatrixXd mean_slopes(const PlainNetwork& network, const Eigen::RowVectorXd& from, const Eigen::RowVectorXd& to);

// [inputs x outputs]: what each input adds, by slopes(from, to) of pieces of the line: 1, 2, 4, ... of them, until none
// of it moves by more than `settled`, or there are 16.
using MeanSlopes = std::function<Eigen::MatrixXd(const Eigen::RowVectorXd& from, const Eigen::RowVectorXd& to)>;
Eigen::MatrixXd integrated_slopes(const MeanSlopes& slopes, const Eigen::RowVectorXd& own,
                                  const Eigen::RowVectorXd& reference, double settled);

// For outputs in log relative time.
inline constexpr double kSettledLog = 5e-4;  // x1.0005

}  // namespace perfcast
