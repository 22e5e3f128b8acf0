#include "ai/latency/fit/bounded_least_squares.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "learn/algebra/dense.h"

namespace perfcast::ai {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

double soft_cost(const VectorXd& residuals, double scale) {
  if (!residuals.allFinite()) return std::numeric_limits<double>::infinity();
  if (!(scale > 0)) return 0.5 * residuals.squaredNorm();
  double sum = 0;
  for (const double residual : residuals) {
    const double z = residual / scale * (residual / scale);
    sum += z / (std::sqrt(1 + z) + 1);  // rho / 2, without cancellation at small z
  }
  return scale * scale * sum;
}

Status check_arguments(Index residuals, const VectorXd& start, const VectorXd& lower, const VectorXd& upper) {
  const auto bad = [](std::string message, std::string expected) {
    return Error{"bad-fit", std::move(message), "", std::move(expected)};
  };
  if (residuals < 1) return bad("there is nothing to fit to", "one residual or more");
  if (start.size() < 1 || lower.size() != start.size() || upper.size() != start.size()) {
    return bad(fmt::format("{} starts, {} lower and {} upper bounds", start.size(), lower.size(), upper.size()),
               "one of each for every parameter");
  }
  for (Index i = 0; i < start.size(); ++i) {
    if (!std::isfinite(start[i]) || !(lower[i] <= upper[i])) {
      return bad(fmt::format("parameter {} starts at {} in [{}, {}]", i, start[i], lower[i], upper[i]),
                 "a finite start, a lower bound that isn't above the upper one");
    }
  }
  return {};
}

// One problem and the place where it stands.
class Search {
 public:
  Search(const ResidualFunction& function, Index residuals, const VectorXd& lower, const VectorXd& upper,
         const BoundedFitOptions& options)
      : function_(function),
        lower_(lower),
        upper_(upper),
        options_(options),
        residuals_(residuals),
        trial_residuals_(residuals),
        jacobian_(residuals, lower.size()) {}

  // False where the residuals aren't finite.
  bool begin(const VectorXd& start) {
    at_ = start.cwiseMax(lower_).cwiseMin(upper_);
    function_(at_, residuals_);
    cost_ = soft_cost(residuals_, options_.soft_scale);
    return std::isfinite(cost_);
  }

  BoundedFit run() {
    BoundedFit fit;
    while (!fit.converged && fit.iterations < options_.max_iterations) {
      ++fit.iterations;
      linearise();
      fit.converged = !step();
    }
    fit.parameters = at_;
    fit.cost = cost_;
    return fit;
  }

 private:
  // Forward differences, backward where the box or the model ends; then the weighted normal equations.
  void linearise() {
    for (Index j = 0; j < at_.size(); ++j) {
      jacobian_.col(j).setZero();
      if (lower_[j] == upper_[j]) continue;
      const double size = 1e-7 * std::max(std::abs(at_[j]), 1e-3);
      for (const double sign : {1.0, -1.0}) {
        VectorXd beside = at_;
        beside[j] += sign * size;
        if (beside[j] > upper_[j] || beside[j] < lower_[j]) continue;
        function_(beside, trial_residuals_);
        if (!trial_residuals_.allFinite()) continue;
        jacobian_.col(j) = (trial_residuals_ - residuals_) / (beside[j] - at_[j]);
        break;
      }
    }
    VectorXd weights = VectorXd::Ones(residuals_.size());
    if (options_.soft_scale > 0) {
      weights = (1 + (residuals_ / options_.soft_scale).array().square()).rsqrt().matrix();
    }
    gradient_ = jacobian_.transpose() * weights.cwiseProduct(residuals_);
    jacobian_.array().colwise() *= weights.array().sqrt();
    normal_ = MatrixXd::Zero(at_.size(), at_.size());
    normal_.selfadjointView<Eigen::Lower>().rankUpdate(jacobian_.transpose());
    normal_ = normal_.selfadjointView<Eigen::Lower>();
  }

  std::vector<Index> free_parameters() const {
    std::vector<Index> free;
    for (Index j = 0; j < at_.size(); ++j) {
      if (normal_(j, j) == 0) continue;  // nothing depends on it here
      if (at_[j] <= lower_[j] && gradient_[j] > 0) continue;
      if (at_[j] >= upper_[j] && gradient_[j] < 0) continue;
      free.push_back(j);
    }
    return free;
  }

  // Where the damped step of the free parameters leads, inside the box.
  VectorXd step_target(const std::vector<Index>& free) const {
    MatrixXd damped = normal_(free, free);
    damped.diagonal() *= 1 + damping_;
    const VectorXd downhill = -gradient_(free);
    const VectorXd move = solve_semidefinite(damped, downhill);
    VectorXd target = at_;
    for (size_t i = 0; i < free.size(); ++i) {
      const Index j = free[i];
      target[j] = std::clamp(at_[j] + move[static_cast<Index>(i)], lower_[j], upper_[j]);
    }
    return target;
  }

  // False where nothing is to be gained any more.
  bool step() {
    const std::vector<Index> free = free_parameters();
    if (free.empty()) return false;
    constexpr double kMostDamping = 1e16;
    for (; damping_ < kMostDamping; damping_ = std::max(damping_ * 4, 1e-10)) {
      const VectorXd target = step_target(free);
      if (!target.allFinite()) continue;
      const double moved = (target - at_).norm();
      if (moved <= 1e-15 * (at_.norm() + 1e-15)) return false;
      function_(target, trial_residuals_);
      const double cost = soft_cost(trial_residuals_, options_.soft_scale);
      if (!(cost < cost_)) continue;
      const double gain = cost_ - cost;
      // A short step of a heavily damped search gains little without being near an end.
      const bool done = gain <= options_.tolerance * cost_ && damping_ <= 1;
      at_ = target;
      residuals_ = trial_residuals_;
      cost_ = cost;
      damping_ = std::max(damping_ / 9, 1e-12);
      return !done;
    }
    return false;
  }

  const ResidualFunction& function_;
  const VectorXd& lower_;
  const VectorXd& upper_;
  const BoundedFitOptions& options_;
  VectorXd at_, residuals_, trial_residuals_, gradient_;
  MatrixXd jacobian_, normal_;
  double cost_ = 0;
  double damping_ = 1e-3;
};

}  // namespace

Result<BoundedFit> fit_bounded(const ResidualFunction& function, Index residuals, const VectorXd& start,
                               const VectorXd& lower, const VectorXd& upper, const BoundedFitOptions& options) {
  if (Status checked = check_arguments(residuals, start, lower, upper); !checked) return checked.error();
  Search search(function, residuals, lower, upper, options);
  if (!search.begin(start)) {
    return Error{"bad-fit", "the residuals at the start aren't finite", "", "a start where the model has a value"};
  }
  return search.run();
}

}  // namespace perfcast::ai
