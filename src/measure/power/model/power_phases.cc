#include "measure/power/model/power_phases.h"

#include <algorithm>
#include <cmath>

namespace perfcast::measure {
namespace {

// Of one run: what is wrong in one must not reach the next, nor its size cost digits.
class Segmentation {
 public:
  Segmentation(const Eigen::VectorXd& run_watts, const PhaseOptions& options)
      : options_(options), sums_(run_watts.size() + 1), squares_(run_watts.size() + 1) {
    sums_(0) = squares_(0) = 0;
    for (Eigen::Index i = 0; i < run_watts.size(); ++i) {
      const double value = std::log(run_watts(i));
      sums_(i + 1) = sums_(i) + value;
      squares_(i + 1) = squares_(i) + value * value;
    }
  }

  // `first`: the run's first row in the table.
  void cut(size_t first, std::vector<PowerPhase>& into) const {
    std::vector<PowerPhase> open = {{0, static_cast<size_t>(sums_.size()) - 1}};
    while (!open.empty()) {
      const PowerPhase phase = open.back();
      open.pop_back();
      const size_t at = best_cut(phase);
      if (at == 0) {
        into.push_back({first + phase.from, first + phase.to});
        continue;
      }
      open.push_back({at, phase.to});
      open.push_back({phase.from, at});
    }
  }

 private:
  double sum(size_t from, size_t to) const {
    return sums_(static_cast<Eigen::Index>(to)) - sums_(static_cast<Eigen::Index>(from));
  }
  double scatter(size_t from, size_t to) const {
    const double total = sum(from, to);
    return std::max(0.0, squares_(static_cast<Eigen::Index>(to)) - squares_(static_cast<Eigen::Index>(from)) -
                             total * total / static_cast<double>(to - from));
  }
  // 0: none.
  size_t best_cut(const PowerPhase& phase) const {
    const size_t size = phase.to - phase.from;
    if (size < 2 * options_.shortest) return 0;
    size_t best = 0;
    double least = scatter(phase.from, phase.to);
    const double whole = least;
    for (size_t at = phase.from + options_.shortest; at + options_.shortest <= phase.to; ++at) {
      const double parts = scatter(phase.from, at) + scatter(at, phase.to);
      if (parts < least) {
        least = parts;
        best = at;
      }
    }
    if (best == 0) return 0;
    const auto left = static_cast<double>(best - phase.from), right = static_cast<double>(phase.to - best);
    const double step = std::abs(sum(phase.from, best) / left - sum(best, phase.to) / right);
    // A cut that chance alone would find gains some 2 log n variances.
    const double variance = least / static_cast<double>(size);
    const bool is_clear = whole - least > 3 * std::log(static_cast<double>(size)) * variance;
    return is_clear && step >= std::log1p(options_.least_change) ? best : 0;
  }

  const PhaseOptions& options_;
  Eigen::VectorXd sums_, squares_;
};

}  // namespace

std::vector<PowerPhase> power_phases(const PowerTable& table, const Eigen::VectorXd& watts,
                                     const PhaseOptions& options) {
  std::vector<PowerPhase> phases;
  size_t from = 0;
  for (size_t r = 1; r <= table.rows(); ++r) {
    if (r < table.rows() && table.run[r] == table.run[from]) continue;
    const Eigen::VectorXd run_watts =
        watts.segment(static_cast<Eigen::Index>(from), static_cast<Eigen::Index>(r - from));
    Segmentation(run_watts, options).cut(from, phases);
    from = r;
  }
  return phases;
}

}  // namespace perfcast::measure
