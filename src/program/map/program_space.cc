#include "program/map/program_space.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/unknown.h"
#include "program/model/forecast/calibration.h"
#include "program/model/forecast/forecaster.h"
#include "program/model/kernel/kernel_predictor.h"

namespace perfcast::program {
namespace {

constexpr double kUsualShare = 0.95;  // as bundles have it

double usual_distance_of(const ProgramSpace& space) {
  const Eigen::MatrixXd distances = profile_distances(space.rows, space.rows);
  std::vector<double> nearest, weights;
  for (Eigen::Index p = 0; p < distances.rows(); ++p) {
    double least = std::numeric_limits<double>::infinity();
    for (Eigen::Index q = 0; q < distances.cols(); ++q) {
      const bool is_other = space.family[static_cast<size_t>(p)] != space.family[static_cast<size_t>(q)];
      if (is_other && distances(p, q) < least) least = distances(p, q);
    }
    if (!std::isfinite(least)) continue;
    nearest.push_back(least);
    weights.push_back(space.weights(p));
  }
  return nearest.empty() ? 0 : weighted_quantile(nearest, weights, kUsualShare);
}

}  // namespace

Eigen::MatrixXd ProgramSpace::place(const std::vector<const Profile*>& profiles) const {
  return standardiser.apply_with_gaps(inputs.extract(profiles));
}

ProgramSpace make_program_space(const std::vector<Program>& programs, const std::vector<const Profile*>& profiles,
                                const InputChoice& inputs) {
  ProgramSpace space;
  std::map<std::string, int64_t> index;
  std::vector<int64_t> members;
  for (const Program& program : programs) {
    const auto [entry, is_new] = index.try_emplace(program.family, static_cast<int64_t>(index.size()));
    if (is_new) members.push_back(0);
    ++members[static_cast<size_t>(entry->second)];
    space.family.push_back(entry->second);
  }
  space.weights.resize(static_cast<Eigen::Index>(programs.size()));
  for (Eigen::Index p = 0; p < space.weights.size(); ++p) {
    space.weights(p) = 1.0 / static_cast<double>(members[static_cast<size_t>(space.family[static_cast<size_t>(p)])]);
  }
  space.inputs = ModelInputs::choose(profiles, inputs);
  const Eigen::MatrixXd rows = space.inputs.extract(profiles);
  // As models scale their inputs: weights between those of programs and those of families.
  space.standardiser = Standardiser::fit(rows, space.weights.cwiseSqrt());
  space.rows = space.standardiser.apply_with_gaps(rows);
  space.usual_distance = usual_distance_of(space);
  return space;
}

Eigen::MatrixXd profile_distances(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return feature_distances(a, b);
}

Eigen::MatrixXd profile_similarity(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  const auto filled = [](const Eigen::MatrixXd& rows) {
    return Eigen::MatrixXd(rows.array().isNaN().select(0, rows.array()));
  };
  return similarity_of(filled(a), filled(b), KernelOptions().decay);
}

Eigen::MatrixXd time_distances(const Eigen::MatrixXd& log_times) {
  const Eigen::Index programs = log_times.rows();
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(programs, programs);
  for (Eigen::Index p = 0; p < programs; ++p) {
    for (Eigen::Index q = 0; q < p; ++q) {
      double sum = 0, squares = 0, shared = 0;
      for (Eigen::Index j = 0; j < log_times.cols(); ++j) {
        const double difference = log_times(p, j) - log_times(q, j);
        if (std::isnan(difference)) continue;
        sum += difference;
        squares += difference * difference;
        ++shared;
      }
      const double variance = shared < 2 ? kUnknown : squares / shared - (sum / shared) * (sum / shared);
      result(p, q) = result(q, p) = std::isnan(variance) ? kUnknown : std::sqrt(std::max(variance, 0.0));
    }
  }
  return result;
}

}  // namespace perfcast::program
