#pragma once
// A Gaussian process over settings of knobs, exact, that grows by an observation at a time and keeps its forecast for a
// pool of settings. Its correlation is a product over the knobs of
//
//     1 - a (1 - m(d / l))
//
// with m the Matern 5/2 correlation of how far two levels are apart (0 where a knob's levels have no order) and a,
// between 0 and 1, how much hangs on the knob. Small a make it a sum of main effects with weaker interactions, a near 1
// the usual product kernel with one length for each knob (Rasmussen and Williams 2006, ch. 4 and 5). The variance
// follows from the data in closed form; a, l and the noise have priors and are drawn by Metropolis' rule from their
// posterior, so that a few models stand for what a few dozen trials leave open.
//
// The factorisation is its own: learn/algebra's takes n^3 steps anew for each observation, a further row n^2, and n for
// each setting of the pool.

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "measure/tune/search/candidates.h"

namespace perfcast::measure {

struct ModelShape {
  std::vector<double> log_odds;    // of a, one per knob
  std::vector<double> log_length;  // of l, in units of a knob's whole range
  double log_noise = -7;           // variance of the noise over the signal's
};

class KnobCorrelation {
 public:
  KnobCorrelation() = default;
  KnobCorrelation(const Candidates& candidates, const ModelShape& shape);
  void set_knob(const Candidates& candidates, size_t knob, const ModelShape& shape);
  double operator()(std::span<const int16_t> a, std::span<const int16_t> b) const {
    double product = 1;
    const float* table = tables_.data();
    for (size_t knob = 0; knob < a.size(); ++knob, table += kTable)
      product *= table[a[knob] < b[knob] ? b[knob] - a[knob] : a[knob] - b[knob]];
    return product;
  }

 private:
  static constexpr size_t kTable = KnobScale::kFar + KnobScale::kScale + 1;
  std::vector<float> tables_;  // kTable for each knob
};

// One model with its own shape.
class ProcessModel {
 public:
  explicit ProcessModel(const Candidates& candidates) : candidates_(&candidates) {}

  // Draws from the prior.
  void begin(Random& random);
  // Metropolis steps on these observations: candidates and standardised targets, of one size.
  void improve(std::span<const size_t> observed, std::span<const double> targets, int steps, Random& random);
  // Exact forecasts for `pool` from here on; -> false where the matrix is no longer positive definite.
  bool fit(std::span<const size_t> observed, std::span<const double> targets, std::span<const size_t> pool);
  bool add(size_t observed, double target);

  // Of the pool, in its order, in units of the targets.
  const Eigen::ArrayXf& means() const { return mean_; }
  float deviation(size_t place) const;
  double noise_deviation() const;
  // Mean for any candidate's positions.
  double mean_at(std::span<const int16_t> positions) const;

 private:
  double log_posterior(std::span<const size_t> observed, std::span<const double> targets, const ModelShape& shape,
                       const KnobCorrelation& correlation);
  double log_prior(const ModelShape& shape) const;
  bool append_row(size_t observed, double target);
  void update_scale();

  const Candidates* candidates_;
  ModelShape shape_;
  KnobCorrelation correlation_;
  std::vector<size_t> observed_;
  std::vector<size_t> pool_;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMajor root_;          // lower triangular: of correlation + noise; room for more rows than observed_
  Eigen::VectorXd white_;  // root^-1 targets
  using PoolRows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  PoolRows white_pool_;  // root^-1 correlations of observed with pool
  Eigen::ArrayXf mean_, explained_;
  double scale_ = 1;                 // variance of the signal
  mutable Eigen::VectorXd weights_;  // (correlation + noise)^-1 targets, when asked for
  RowMajor work_;
};

}  // namespace perfcast::measure
