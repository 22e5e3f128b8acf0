#include "program/model/physics/physics_predictor.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "learn/fit/lbfgs.h"
#include "program/model/features/microarchitecture.h"
#include "program/model/features/work_features.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {
namespace {

// Standard deviations of the priors, in log cost.
constexpr double kCommon = 1;
constexpr double kLine = 0.5;
constexpr double kDesign = 0.35;
constexpr double kPlatform = 0.25;
constexpr double kPlatformMemory = 0.75;
constexpr double kSpeed = 0.5;
constexpr double kNoise = 0.2;
// Platforms' residuals move together: all J count as about this many independent ones.
constexpr double kIndependentPlatforms = 8;
constexpr double kPlatformPull = 4;  // of the platform's own terms towards 0, beyond their prior

// What is known of a line of designs before any measurement, as factors of textbook cost.
double known_factor(const std::string& line, const std::string& work_class) {
  if (line == "arm" && work_class == "x87") return 30;  // long double is software there
  if (line == "arm" && work_class == "x87_divide") return 4;
  if (line == "intel-core" && work_class == "int_divide_64") return 3;  // 64-bit division became fast with Ice Lake
  return 1;
}

// Index of each platform's group, in order of first appearance.
std::vector<Eigen::Index> group_of(const std::vector<std::string>& names, Eigen::Index& count) {
  std::map<std::string, Eigen::Index> index;
  std::vector<Eigen::Index> groups;
  groups.reserve(names.size());
  for (const std::string& name : names) {
    groups.push_back(index.try_emplace(name, static_cast<Eigen::Index>(index.size())).first->second);
  }
  count = static_cast<Eigen::Index>(index.size());
  return groups;
}

// The penalised likelihood and where its variables lie in one vector: common [K], lines [K x V], designs [K x A],
// platforms [K x J], speeds [J].
class CostHierarchy {
 public:
  CostHierarchy(const Eigen::MatrixXd& rates, const Targets& targets, const std::vector<Platform>& platforms)
      : rates_(rates), targets_(targets), classes_(rates.cols()), outputs_(targets.log_rpv.cols()) {
    std::vector<std::string> designs;
    std::vector<std::string> lines;
    for (const Platform& platform : platforms) {
      designs.push_back(microarchitecture(platform));
      lines.push_back(core_line(platform));
    }
    design_ = group_of(designs, designs_);
    line_ = group_of(lines, lines_);
    const std::vector<std::string> names = work_class_names();
    const Eigen::VectorXd textbook = textbook_costs();
    const Eigen::VectorXd memory = memory_classes();
    start_.resize(classes_, outputs_);
    deviation_.resize(classes_);
    for (Eigen::Index k = 0; k < classes_; ++k) {
      const std::string& name = names[static_cast<size_t>(k)];
      deviation_(k) = memory(k) == 1 ? kPlatformMemory : kPlatform;
      for (Eigen::Index j = 0; j < outputs_; ++j) {
        start_(k, j) = std::log(textbook(k) * known_factor(lines[static_cast<size_t>(j)], name));
      }
    }
  }

  Eigen::Index variables() const { return classes_ * (1 + lines_ + designs_ + outputs_) + outputs_; }

  Eigen::MatrixXd log_costs(const Eigen::VectorXd& x) const {
    const Parts parts = split(x);
    Eigen::MatrixXd result = start_;
    for (Eigen::Index j = 0; j < outputs_; ++j) {
      result.col(j) += parts.common + parts.lines.col(line_[static_cast<size_t>(j)]) +
                       parts.designs.col(design_[static_cast<size_t>(j)]) + parts.platforms.col(j);
      result.col(j).array() += parts.speeds(j);
    }
    return result;
  }

  double operator()(const Eigen::VectorXd& x, Eigen::VectorXd& gradient) const {
    const Parts parts = split(x);
    const double share = kIndependentPlatforms / static_cast<double>(outputs_);
    const Eigen::MatrixXd costs = log_costs(x).array().exp();
    const Eigen::MatrixXd times = rates_ * costs;  // P x J
    const Eigen::MatrixXd logs = times.array().log();
    Eigen::MatrixXd residual = (logs.colwise() - logs.rowwise().mean()) - targets_.log_rpv;
    residual = residual.cwiseProduct(targets_.present);
    const Eigen::MatrixXd weighted = targets_.weights.asDiagonal() * residual * (share / (kNoise * kNoise));

    const double own = share * kPlatformPull;
    double value = 0.5 * weighted.cwiseProduct(residual).sum();
    value += 0.5 * parts.common.squaredNorm() / (kCommon * kCommon);
    value += 0.5 * parts.lines.squaredNorm() / (kLine * kLine);
    value += 0.5 * parts.designs.squaredNorm() / (kDesign * kDesign);
    const Eigen::MatrixXd pulled = deviation_.array().square().inverse().matrix().asDiagonal() * parts.platforms;
    value += 0.5 * own * pulled.cwiseProduct(parts.platforms).sum();
    value += 0.5 * share * parts.speeds.squaredNorm() / (kSpeed * kSpeed);

    const Eigen::MatrixXd by_log = weighted.colwise() - weighted.rowwise().mean();
    const Eigen::MatrixXd by_cost = (rates_.transpose() * by_log.cwiseQuotient(times)).cwiseProduct(costs);
    gradient.setZero(x.size());
    MutableParts out = split(gradient);
    out.common = by_cost.rowwise().sum() + parts.common / (kCommon * kCommon);
    out.lines = parts.lines / (kLine * kLine);
    out.designs = parts.designs / (kDesign * kDesign);
    for (Eigen::Index j = 0; j < outputs_; ++j) {
      out.lines.col(line_[static_cast<size_t>(j)]) += by_cost.col(j);
      out.designs.col(design_[static_cast<size_t>(j)]) += by_cost.col(j);
    }
    out.platforms = by_cost + own * pulled;
    out.speeds = by_cost.colwise().sum().transpose() + share * parts.speeds / (kSpeed * kSpeed);
    return value;
  }

 private:
  template <typename Vector, typename Scalar>
  struct PartsOf {
    Eigen::Map<Vector> common;
    Eigen::Map<Scalar> lines, designs, platforms;
    Eigen::Map<Vector> speeds;
  };
  using Parts = PartsOf<const Eigen::VectorXd, const Eigen::MatrixXd>;
  using MutableParts = PartsOf<Eigen::VectorXd, Eigen::MatrixXd>;

  template <typename Made, typename Pointer>
  Made split_at(Pointer data) const {
    const auto lines = data + classes_;
    const auto designs = lines + classes_ * lines_;
    const auto platforms = designs + classes_ * designs_;
    const auto speeds = platforms + classes_ * outputs_;
    return Made{{data, classes_},
                {lines, classes_, lines_},
                {designs, classes_, designs_},
                {platforms, classes_, outputs_},
                {speeds, outputs_}};
  }
  Parts split(const Eigen::VectorXd& x) const { return split_at<Parts>(x.data()); }
  MutableParts split(Eigen::VectorXd& x) const { return split_at<MutableParts>(x.data()); }

  const Eigen::MatrixXd& rates_;
  const Targets& targets_;
  Eigen::Index classes_, outputs_, lines_ = 0, designs_ = 0;
  std::vector<Eigen::Index> line_, design_;
  Eigen::MatrixXd start_;      // K x J log cost before fitting
  Eigen::VectorXd deviation_;  // K
};

}  // namespace

Status PhysicsPredictor::fit(const TrainingTable& table, const FitOptions&) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  if (auto status = may_read_work(table); !status) return status;
  costs_ = WorkCosts::typical_of(table, *targets);
  const Eigen::MatrixXd rates = costs_.rates(profiles_of(table));
  if (!(rates.rowwise().sum().minCoeff() > 0)) {
    return Error{"bad-profile", "a training profile has no instruction count", "", "profiles with instructions_count"};
  }
  const CostHierarchy hierarchy(rates, *targets, table.platforms);
  const Eigen::VectorXd found =
      minimise([&hierarchy](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) { return hierarchy(x, gradient); },
               Eigen::VectorXd::Zero(hierarchy.variables()), MinimiseOptions{});
  costs_.set_costs(hierarchy.log_costs(found).array().exp());
  return {};
}

Result<FeatureAttribution> PhysicsPredictor::attribute_features(const AttributionRequest& request) const {
  return costs_.attribute_features(*this, request);
}

Eigen::MatrixXd PhysicsPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return costs_.log_rpv(profiles);
}

}  // namespace perfcast::program
