#include "program/model/adapt/program_choice.h"

#include <algorithm>
#include <cmath>

namespace perfcast::program {

std::vector<ChosenProgram> choose_programs(const Eigen::MatrixXd& covariance, const Eigen::VectorXd& weight,
                                           const Eigen::VectorXd& seconds, double noise_log, size_t count) {
  Eigen::MatrixXd left = covariance;
  const double noise = noise_log * noise_log;
  const double total = std::max(weight.sum(), 1e-12);
  const auto deviation = [&] { return std::sqrt(std::max(left.diagonal().dot(weight), 0.0) / total); };
  std::vector<bool> is_chosen(static_cast<size_t>(covariance.rows()), false);
  std::vector<ChosenProgram> chosen;
  while (chosen.size() < count) {
    Eigen::Index best = -1;
    double most = 0;
    for (Eigen::Index p = 0; p < left.rows(); ++p) {
      if (is_chosen[static_cast<size_t>(p)] || !(seconds(p) > 0)) continue;
      const double seen = std::max(left(p, p), 0.0) + noise;
      // What it tells of each other program that isn't chosen, in nats: -1/2 log(1 - squared correlation).
      double told = 0;
      for (Eigen::Index q = 0; q < left.rows(); ++q) {
        if (q == p || is_chosen[static_cast<size_t>(q)]) continue;
        const double share = left(q, p) * left(q, p) / (seen * (std::max(left(q, q), 0.0) + noise));
        told -= 0.5 * weight(q) * std::log1p(-std::min(share, 1.0 - 1e-9));
      }
      const double gain = told / seconds(p);
      if (!(gain > most)) continue;
      most = gain;
      best = p;
    }
    if (best < 0) break;
    ChosenProgram choice{best, seconds(best), deviation(), 0};
    const Eigen::VectorXd column = left.col(best);
    left -= column * column.transpose() / (column(best) + noise);
    choice.deviation_after = deviation();
    is_chosen[static_cast<size_t>(best)] = true;
    chosen.push_back(choice);
  }
  return chosen;
}

}  // namespace perfcast::program
