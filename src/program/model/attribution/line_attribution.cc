#include "program/model/attribution/line_attribution.h"

#include <array>
#include <utility>

namespace perfcast::program {
namespace {

constexpr int kMostPieces = 256;

// Of five points on [-1, 1]: exact for polynomials up to degree 9. Abramowitz & Stegun, table 25.4.
constexpr std::array<std::pair<double, double>, 5> kNodes = {{{-0.906179845938663993, 0.236926885056189088},
                                                              {-0.538469310105683091, 0.478628670499366468},
                                                              {0, 0.568888888888888889},
                                                              {0.538469310105683091, 0.478628670499366468},
                                                              {0.906179845938663993, 0.236926885056189088}}};

}  // namespace

Eigen::MatrixXd integrated_gradients(const SmoothModel& model, const Eigen::RowVectorXd& own,
                                     const Eigen::RowVectorXd& reference, double tolerance) {
  const Eigen::RowVectorXd change = own - reference;
  const Eigen::RowVectorXd wanted = model.value(own) - model.value(reference);
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(own.size(), wanted.size());
  if (wanted.size() == 0 || change.isZero(0)) return result;
  for (int pieces = 2; pieces <= kMostPieces; pieces *= 2) {
    const double half = 0.5 / pieces;
    result.setZero();
    for (int piece = 0; piece < pieces; ++piece) {
      for (const auto& [node, weight] : kNodes) {
        const double along = half * (2 * piece + 1 + node);
        result += half * weight * model.slopes(reference + along * change);
      }
    }
    result = (change.transpose().asDiagonal() * result).eval();
    if ((result.colwise().sum() - wanted).cwiseAbs().maxCoeff() <= tolerance) break;
  }
  return result;
}

}  // namespace perfcast::program
