#pragma once
// Small non-linear least squares inside a box: Levenberg and Marquardt's method on the free parameters, steps projected
// onto the box, robust by soft-L1 weights. For models of about a dozen parameters and up to some 100,000 residuals.
//
// Minimised: 1/2 sum of s^2 rho((r_i / s)^2), rho(z) = 2 (sqrt(1 + z) - 1), s the soft scale: squares for residuals
// well below s, absolute values far above. Each step solves the normal equations with weights rho'((r_i / s)^2); rho is
// concave, so they minimise a bound on the cost that touches it (Hunter and Lange, "A Tutorial on MM Algorithms",
// 2004). Bounds: a parameter on its bound whose gradient points outwards is held; the step of the rest is clipped to
// the box and taken only where it lowers the cost (after Bertsekas, "Projected Newton methods", 1982). Deterministic:
// no random numbers, sums in the order of the residuals.

#include <Eigen/Core>
#include <functional>

#include "base/result.h"

namespace perfcast::ai {

// Fills `residuals` (its size is set and must not be changed) at `parameters`. May write a number that isn't finite
// where the model has no value: such a step is refused.
using ResidualFunction = std::function<void(const Eigen::VectorXd& parameters, Eigen::Ref<Eigen::VectorXd> residuals)>;

struct BoundedFitOptions {
  double soft_scale = 0;  // s; 0: plain squares
  int max_iterations = 200;
  double tolerance = 1e-10;  // stop where a step lowers the cost by less than this share of it, or moves no more
};

struct BoundedFit {
  Eigen::VectorXd parameters;
  double cost = 0;
  int iterations = 0;      // Jacobians computed
  bool converged = false;  // false: max_iterations were used up
};

// `lower`, `upper`: same size as `start`; infinities stand for no bound; equal ones hold a parameter fixed. The start
// is moved into the box. "bad-fit": sizes that differ, a box turned round, no residuals, residuals at the start that
// aren't finite.
Result<BoundedFit> fit_bounded(const ResidualFunction& function, Eigen::Index residuals, const Eigen::VectorXd& start,
                               const Eigen::VectorXd& lower, const Eigen::VectorXd& upper,
                               const BoundedFitOptions& options = {});

}  // namespace perfcast::ai
