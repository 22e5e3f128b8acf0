#pragma once
// The lasso by cyclic coordinate descent (Friedman, Hastie & Tibshirani, J. Stat. Software 2010) on the normal
// equations, so that a sweep costs nothing in the number of rows.

#include <Eigen/Core>

namespace perfcast {

struct LassoProblem {
  Eigen::MatrixXd gram;     // K x K: X'WX / sum(W), X standardised and centred
  Eigen::MatrixXd moments;  // K x J: X'WY / sum(W)
};

// argmin over B of |Y - XB|^2 / 2 + penalty |B|_1, each output on its own; with `nonnegative` over B >= 0. `start` (K x
// J) may be a nearby solution. Stops when no coefficient moves by more than 1e-6 of the largest, or after 1000 sweeps.
Eigen::MatrixXd solve_lasso(const LassoProblem& problem, double penalty, bool nonnegative, Eigen::MatrixXd start);

// Smallest penalty at which all coefficients are 0.
double largest_penalty(const LassoProblem& problem, bool nonnegative);

}  // namespace perfcast
