#include "studies/power/small_network.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.h"

namespace perfcast::measure::power_study {
namespace {

constexpr Eigen::Index kHidden = 16;
constexpr int kOuterSteps = 1500, kInnerSteps = 8, kAdaptSteps = 30;
constexpr size_t kBatch = 20;
constexpr double kInnerRate = 0.03, kOuterRate = 0.3;

Eigen::MatrixXd inputs_of(const PowerSamples& samples, const std::vector<size_t>& rows) {
  Eigen::MatrixXd inputs(static_cast<Eigen::Index>(rows.size()), samples.inputs.cols());
  for (size_t i = 0; i < rows.size(); ++i) {
    inputs.row(static_cast<Eigen::Index>(i)) = samples.inputs.row(static_cast<Eigen::Index>(rows[i]));
  }
  return inputs;
}

}  // namespace

void MetaNetwork::step(const PowerSamples& samples, const std::vector<size_t>& rows, double rate, Weights& weights) {
  const Eigen::MatrixXd inputs = inputs_of(samples, rows);
  const Eigen::MatrixXd active = (inputs * weights.hidden.transpose()).array().tanh();  // [n x H]
  Eigen::VectorXd error = (active * weights.out).array() + weights.offset;
  for (size_t i = 0; i < rows.size(); ++i) {
    error(static_cast<Eigen::Index>(i)) -= samples.target(static_cast<Eigen::Index>(rows[i]));
  }
  const double scale = rate / static_cast<double>(rows.size());
  const Eigen::MatrixXd back = (error * weights.out.transpose()).array() * (1 - active.array().square());  // [n x H]
  weights.out -= scale * active.transpose() * error;
  weights.offset -= scale * error.sum();
  weights.hidden -= scale * back.transpose() * inputs;
}

Eigen::VectorXd MetaNetwork::outputs(const PowerSamples& samples, const std::vector<size_t>& rows,
                                     const Weights& weights) {
  const Eigen::MatrixXd active = (inputs_of(samples, rows) * weights.hidden.transpose()).array().tanh();
  return (active * weights.out).array() + weights.offset;
}

MetaNetwork MetaNetwork::learn(const PowerSamples& samples, const std::vector<size_t>& known, uint64_t seed) {
  std::map<int, std::map<int, std::vector<size_t>>> of;
  for (const size_t r : known) {
    if (!std::isnan(samples.target(static_cast<Eigen::Index>(r))))
      of[samples.design.group[r]][samples.design.workload[r]].push_back(r);
  }
  Random random(seed);
  MetaNetwork result;
  Weights& start = result.start_;
  start.hidden.resize(kHidden, samples.inputs.cols());
  start.out.resize(kHidden);
  const double size = 1 / std::sqrt(static_cast<double>(samples.inputs.cols()));
  for (double& value : start.hidden.reshaped()) value = size * random.normal();
  for (double& value : start.out) value = 0.1 * random.normal();
  std::vector<const std::map<int, std::vector<size_t>>*> groups;
  groups.reserve(of.size());
  for (const auto& [group, workloads] : of) groups.push_back(&workloads);
  if (groups.empty()) return result;
  for (int outer = 0; outer < kOuterSteps; ++outer) {
    const auto& workloads = *groups[random.below(groups.size())];
    Weights own = start;
    for (int inner = 0; inner < kInnerSteps; ++inner) {
      std::vector<size_t> batch;
      for (size_t i = 0; i < kBatch; ++i) {
        const auto& rows =
            std::next(workloads.begin(), static_cast<std::ptrdiff_t>(random.below(workloads.size())))->second;
        batch.push_back(rows[random.below(rows.size())]);
      }
      step(samples, batch, kInnerRate, own);
    }
    const double rate = kOuterRate * (1 - static_cast<double>(outer) / kOuterSteps);
    start.hidden += rate * (own.hidden - start.hidden);
    start.out += rate * (own.out - start.out);
    start.offset += rate * (own.offset - start.offset);
  }
  return result;
}

Eigen::VectorXd MetaNetwork::forecast(const PowerSamples& samples, const std::vector<size_t>& given,
                                      const std::vector<size_t>& rows) const {
  Weights own = start_;
  if (!given.empty()) {
    for (int i = 0; i < kAdaptSteps; ++i) step(samples, given, kInnerRate, own);
  }
  Eigen::VectorXd watts = outputs(samples, rows, own);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    watts(at) = std::exp(std::min(20.0, watts(at) + samples.design.log_scale(static_cast<Eigen::Index>(rows[i]))));
  }
  return watts;
}

}  // namespace perfcast::measure::power_study
