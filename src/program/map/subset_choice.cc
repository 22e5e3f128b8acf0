#include "program/map/subset_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "learn/algebra/dense.h"
#include "program/model/kernel/kernel_predictor.h"

namespace perfcast::program {
namespace {

double noise() { return KernelOptions().noise; }

// What is not known of all programs after some were chosen.
class Posterior {
 public:
  Posterior(Eigen::MatrixXd prior, const Eigen::VectorXd& weights)
      : covariance_(std::move(prior)),
        weights_(weights / weights.sum()),
        prior_(covariance_.diagonal().dot(weights_)) {}

  // [P] by how much the mean variance falls where the program is run.
  Eigen::VectorXd gains() const {
    const Eigen::VectorXd sums = covariance_.cwiseProduct(covariance_).transpose() * weights_;
    return sums.array() / (covariance_.diagonal().array() + noise());
  }
  void choose(int64_t program) {
    const Eigen::VectorXd column = covariance_.col(program) / std::sqrt(covariance_(program, program) + noise());
    covariance_.noalias() -= column * column.transpose();
  }
  double coverage() const { return 1 - covariance_.diagonal().dot(weights_) / prior_; }

 private:
  Eigen::MatrixXd covariance_;
  Eigen::VectorXd weights_;
  double prior_;
};

// The largest of those that aren't taken; the first where several are.
int64_t best_of(const Eigen::VectorXd& gains, const std::vector<bool>& taken) {
  int64_t best = -1;
  double most = -std::numeric_limits<double>::infinity();
  for (Eigen::Index p = 0; p < gains.size(); ++p) {
    // What rounding alone puts before another must not decide.
    if (taken[static_cast<size_t>(p)] || (best >= 0 && !(gains(p) > most + 1e-12))) continue;
    best = p;
    most = gains(p);
  }
  return best;
}

// Platforms that the same programs were timed on know the same.
struct TimedAlike {
  Eigen::VectorXd timed;  // [P]
  double platforms = 0;
  Posterior posterior;
};

std::vector<TimedAlike> platforms_alike(const ProgramSpace& space, const Eigen::MatrixXd& timed) {
  Eigen::MatrixXd prior = profile_similarity(space.rows, space.rows);
  // What all programs have in common on a platform isn't known either.
  prior.array() += 1;
  std::vector<TimedAlike> alike;
  if (timed.cols() == 0) {
    alike.push_back({Eigen::VectorXd::Ones(space.rows.rows()), 1, Posterior(prior, space.weights)});
    return alike;
  }
  for (Eigen::Index j = 0; j < timed.cols(); ++j) {
    const auto same =
        std::find_if(alike.begin(), alike.end(), [&](const TimedAlike& one) { return one.timed == timed.col(j); });
    if (same != alike.end()) {
      ++same->platforms;
    } else {
      alike.push_back({timed.col(j), 1, Posterior(prior, space.weights)});
    }
  }
  return alike;
}

std::vector<int64_t> by_variance(const ProgramSpace& space, const Eigen::MatrixXd& timed) {
  std::vector<TimedAlike> alike = platforms_alike(space, timed);
  std::vector<bool> taken(static_cast<size_t>(space.rows.rows()));
  std::vector<int64_t> order;
  while (order.size() < taken.size()) {
    Eigen::VectorXd gains = Eigen::VectorXd::Zero(space.rows.rows());
    for (const TimedAlike& one : alike) gains += one.platforms * one.posterior.gains().cwiseProduct(one.timed);
    const int64_t best = best_of(gains, taken);
    for (TimedAlike& one : alike) {
      if (one.timed(best) > 0) one.posterior.choose(best);
    }
    taken[static_cast<size_t>(best)] = true;
    order.push_back(best);
  }
  return order;
}

std::vector<int64_t> by_representatives(const ProgramSpace& space) {
  const Eigen::MatrixXd similarity = profile_similarity(space.rows, space.rows);
  Eigen::VectorXd nearest = Eigen::VectorXd::Zero(similarity.rows());
  std::vector<bool> taken(static_cast<size_t>(similarity.rows()));
  std::vector<int64_t> order;
  while (order.size() < taken.size()) {
    const Eigen::MatrixXd gained = (similarity.colwise() - nearest).cwiseMax(0);
    const int64_t best = best_of(gained.transpose() * space.weights, taken);
    nearest = nearest.cwiseMax(similarity.col(best));
    taken[static_cast<size_t>(best)] = true;
    order.push_back(best);
  }
  return order;
}

std::vector<int64_t> shuffled(const ProgramSpace& space, uint64_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(space.rows.rows()));
  std::iota(order.begin(), order.end(), 0);
  Random(seed).shuffle(order);
  return order;
}

std::vector<int64_t> by_families(const ProgramSpace& space, uint64_t seed) {
  std::vector<int64_t> order = shuffled(space, seed);
  std::vector<int64_t> seen(order.size(), 0), round(order.size(), 0);
  for (const int64_t program : order) {
    round[static_cast<size_t>(program)] = seen[static_cast<size_t>(space.family[static_cast<size_t>(program)])]++;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return round[static_cast<size_t>(a)] < round[static_cast<size_t>(b)]; });
  return order;
}

}  // namespace

std::string to_string(SubsetRule rule) {
  switch (rule) {
    case SubsetRule::kVariance:
      return "variance";
    case SubsetRule::kRepresentative:
      return "representative";
    case SubsetRule::kFamilies:
      return "families";
    case SubsetRule::kRandom:
      return "random";
  }
  return "";
}

SubsetRanking rank_programs(const ProgramSpace& space, SubsetRule rule, uint64_t seed, const Eigen::MatrixXd& timed) {
  SubsetRanking ranking;
  ranking.order = rule == SubsetRule::kVariance         ? by_variance(space, timed)
                  : rule == SubsetRule::kRepresentative ? by_representatives(space)
                  : rule == SubsetRule::kFamilies       ? by_families(space, seed)
                                                        : shuffled(space, seed);
  Posterior posterior(profile_similarity(space.rows, space.rows), space.weights);
  for (const int64_t program : ranking.order) {
    posterior.choose(program);
    ranking.coverage.push_back(posterior.coverage());
  }
  return ranking;
}

Eigen::VectorXd known_shares(const ProgramSpace& space, const std::vector<int64_t>& kept,
                             const Eigen::MatrixXd& points) {
  if (kept.empty()) return Eigen::VectorXd::Zero(points.rows());
  const Eigen::MatrixXd rows = space.rows(kept, Eigen::all);
  Eigen::MatrixXd kernel = profile_similarity(rows, rows);
  kernel.diagonal().array() += noise();
  const Eigen::MatrixXd across = profile_similarity(rows, points);
  return across.cwiseProduct(solve_positive_definite(kernel, across)).colwise().sum().transpose();
}

double coverage_of(const ProgramSpace& space, const std::vector<int64_t>& kept) {
  return known_shares(space, kept, space.rows).dot(space.weights) / space.weights.sum();
}

Eigen::VectorXd coverage_gains(const ProgramSpace& space, const std::vector<int64_t>& kept,
                               const Eigen::MatrixXd& candidates) {
  const Eigen::Index programs = space.rows.rows();
  Eigen::MatrixXd all(programs + candidates.rows(), space.rows.cols());
  all << space.rows, candidates;
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(all.rows());
  weights.head(programs) = space.weights;
  Posterior posterior(profile_similarity(all, all), weights);
  for (const int64_t program : kept) posterior.choose(program);
  return posterior.gains().tail(candidates.rows());
}

}  // namespace perfcast::program
