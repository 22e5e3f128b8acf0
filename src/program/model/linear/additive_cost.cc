#include "program/model/linear/additive_cost.h"

#include <cmath>
#include <map>
#include <utility>

#include "learn/linear/nnls.h"
#include "program/model/features/microarchitecture.h"
#include "program/model/features/work_features.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {
namespace {

constexpr int kRounds = 10;                // of program scale, costs, expected costs
constexpr double kShrinkage = 0.5;         // weight of the expected cost against one program
constexpr double kMemoryShrinkage = 0.01;  // of what differs within a core design: memory and system
constexpr double kStrangers = 1;           // platforms of a kind that weigh as much as what stands behind the kind
constexpr double kLeastMultiple = 0.05;
constexpr double kLargestMultiple = 20;

// Rows: classes; columns: platforms. Each platform's column is replaced by the mean over its kind, of which fewer
// members lean more on `behind`.
Eigen::MatrixXd means_of_kind(const Eigen::MatrixXd& multiples, const std::vector<std::string>& kind,
                              const Eigen::MatrixXd& behind) {
  std::map<std::string, std::pair<Eigen::VectorXd, double>> sums;
  for (Eigen::Index j = 0; j < multiples.cols(); ++j) {
    auto& [sum, count] =
        sums.try_emplace(kind[static_cast<size_t>(j)], Eigen::VectorXd::Zero(multiples.rows()), 0.0).first->second;
    sum += multiples.col(j);
    ++count;
  }
  Eigen::MatrixXd result(multiples.rows(), multiples.cols());
  for (Eigen::Index j = 0; j < multiples.cols(); ++j) {
    const auto& [sum, count] = sums.at(kind[static_cast<size_t>(j)]);
    result.col(j) = (sum + kStrangers * behind.col(j)) / (count + kStrangers);
  }
  return result;
}

// `shares` is P x K: textbook cycles per instruction by cause. Costs are found as multiples of the textbook's. How long
// a program runs on the average platform is unknown in a relative table, so each round takes it from the last costs.
// Few programs can't tell some 35 costs apart on each platform: each is drawn to what its kind of platform showed.
Eigen::MatrixXd multiples_of_textbook(const Eigen::MatrixXd& shares, const Targets& targets,
                                      const std::vector<Platform>& platforms) {
  const Eigen::Index classes = shares.cols();
  const Eigen::Index outputs = targets.log_rpv.cols();
  std::vector<std::string> designs;
  std::vector<std::string> lines;
  for (const Platform& platform : platforms) {
    designs.push_back(microarchitecture(platform));
    lines.push_back(core_line(platform));
  }
  const Eigen::RowVectorXd speed = weighted_mean(targets.log_rpv, targets.weights).array().exp();
  const Eigen::VectorXd shrinkage = kShrinkage + (kMemoryShrinkage - kShrinkage) * memory_classes().array();
  Eigen::MatrixXd expected = Eigen::VectorXd::Ones(classes) * speed;
  Eigen::MatrixXd costs = expected;
  for (int round = 0; round < kRounds; ++round) {
    const Eigen::VectorXd scale = (shares * costs).array().log().rowwise().mean();
    const Eigen::MatrixXd cycles = (targets.log_rpv.colwise() + scale).array().exp();
    for (Eigen::Index j = 0; j < outputs; ++j) {
      // Relative error: each row is divided by its time; absent entries weigh nothing.
      const Eigen::MatrixXd rows = cycles.col(j).cwiseInverse().asDiagonal() * shares * expected.col(j).asDiagonal();
      const Eigen::VectorXd weights = targets.weights.cwiseProduct(targets.present.col(j));
      Eigen::MatrixXd gram = rows.transpose() * weights.asDiagonal() * rows;
      gram.diagonal() += shrinkage;
      const Eigen::VectorXd moment = rows.transpose() * weights + shrinkage;
      costs.col(j) = expected.col(j).cwiseProduct(nonnegative_least_squares(gram, moment));
    }
    const Eigen::MatrixXd multiples = costs.array().rowwise() / speed.array();
    const Eigen::MatrixXd all = multiples.rowwise().mean().replicate(1, outputs);
    const Eigen::MatrixXd of_line = means_of_kind(multiples, lines, all);
    expected = means_of_kind(multiples, designs, of_line).cwiseMax(kLeastMultiple).cwiseMin(kLargestMultiple) *
               speed.asDiagonal();
  }
  return costs;
}

}  // namespace

Status AdditiveCostPredictor::fit(const TrainingTable& table, const FitOptions&) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  if (auto status = may_read_work(table); !status) return status;
  const auto profiles = profiles_of(table);
  if (work_rates(profiles).array().isNaN().rowwise().all().any()) {
    return Error{"bad-profile", "a training profile has no instruction count", "", "profiles with instructions_count"};
  }
  costs_ = WorkCosts::typical_of(table, *targets);
  const Eigen::VectorXd textbook = textbook_costs();
  const Eigen::MatrixXd shares = costs_.rates(profiles) * textbook.asDiagonal();
  costs_.set_costs(textbook.asDiagonal() * multiples_of_textbook(shares, *targets, table.platforms));
  return {};
}

Result<FeatureAttribution> AdditiveCostPredictor::attribute_features(const AttributionRequest& request) const {
  return costs_.attribute_features(*this, request);
}

Eigen::MatrixXd AdditiveCostPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return costs_.log_rpv(profiles);
}

}  // namespace perfcast::program
