#include "measure/power/model/power_transfer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/random.h"
#include "base/statistics.h"
#include "learn/algebra/dense.h"
#include "learn/conformal/conformal.h"
#include "measure/power/model/power_model.h"

namespace perfcast::measure {
namespace {

constexpr double kLeastPrior = 1e-4, kLeastOffsetPrior = 0.02, kLeastNoise = 1e-4;
constexpr double kBeyond = 0.5;  // a new group may draw that much more or less, in log, than any known one
constexpr size_t kInnerDraws = 3, kInnerRows = 1500;
constexpr double kAloneRidge = 0.1;

const std::vector<TransferSetting>& settings_of(TransferMethod method) {
  static const std::vector<TransferSetting> updated = [] {
    std::vector<TransferSetting> result;
    for (const SharedLineOptions& line :
         {SharedLineOptions{1e-3, 1e-3, 1e-4}, SharedLineOptions{1e-3, 1e-2, 1e-4}, SharedLineOptions{1e-3, 0.1, 1e-4},
          SharedLineOptions{1e-2, 1e-2, 1e-4}, SharedLineOptions{1e-2, 0.1, 1e-4}}) {
      for (const double prior : {1.0, 4.0}) {
        for (const double noise : {1.0, 4.0}) result.push_back({line, prior, noise});
      }
    }
    return result;
  }();
  static const std::vector<TransferSetting> shifted = [] {
    std::vector<TransferSetting> result;
    for (const SharedLineOptions& line : {SharedLineOptions{1e-3, 1e-2, 1e-4}, SharedLineOptions{1e-3, 0.1, 1e-4},
                                          SharedLineOptions{1e-2, 0.1, 1e-4}}) {
      result.push_back({line, 1, 1});
    }
    return result;
  }();
  static const std::vector<TransferSetting> alone = {{{}, 1, 0.1}, {{}, 1, 1}, {{}, 1, 10}};
  switch (method) {
    case TransferMethod::kUpdated:
      return updated;
    case TransferMethod::kShifted:
      return shifted;
    case TransferMethod::kAlone:
      return alone;
  }
  return updated;
}

UpdatedLine fit_group(const PowerSamples& samples, TransferMethod method, const TransferSetting& setting,
                      const SharedLine& line, std::vector<size_t> given) {
  // One row without a target would make every coefficient unknown.
  std::erase_if(given, [&](size_t r) { return std::isnan(samples.target(static_cast<Eigen::Index>(r))); });
  const auto count = static_cast<Eigen::Index>(given.size());
  Eigen::MatrixXd inputs(count, samples.inputs.cols());
  Eigen::VectorXd target(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    inputs.row(i) = samples.inputs.row(static_cast<Eigen::Index>(given[static_cast<size_t>(i)]));
    target(i) = samples.target(static_cast<Eigen::Index>(given[static_cast<size_t>(i)]));
  }
  const Eigen::Index size = samples.inputs.cols();
  UpdatedLine fitted;
  fitted.noise = std::max(line.noise_variance(), kLeastNoise) * setting.noise_factor;
  Eigen::VectorXd prior = line.own_variance().array().max(kLeastPrior) * setting.prior_factor;
  prior(size - 1) = std::max(prior(size - 1), kLeastOffsetPrior);
  if (method == TransferMethod::kShifted) prior.head(size - 1).setZero();
  if (method != TransferMethod::kAlone) {
    SharedLine::Updated updated = line.update(inputs, target, fitted.noise, prior);
    fitted.coefficients = std::move(updated.coefficients);
    fitted.covariance = std::move(updated.covariance);
    return fitted;
  }
  // A ridge about the samples' own mean.
  fitted.coefficients = Eigen::VectorXd::Zero(size);
  fitted.covariance = Eigen::MatrixXd::Zero(size, size);
  if (count == 0) return fitted;
  const double mean = target.mean();
  const Eigen::RowVectorXd centre = inputs.leftCols(size - 1).colwise().mean();
  const Eigen::MatrixXd centred = inputs.leftCols(size - 1).rowwise() - centre;
  Eigen::MatrixXd kernel = centred * centred.transpose();
  kernel.diagonal().array() += kAloneRidge * setting.noise_factor * static_cast<double>(size);
  fitted.coefficients.head(size - 1) =
      centred.transpose() * solve_positive_definite(kernel, Eigen::VectorXd(target.array() - mean));
  fitted.coefficients(size - 1) = mean - centre.dot(fitted.coefficients.head(size - 1));
  return fitted;
}

struct LogForecast {
  Eigen::VectorXd value, deviation;
};

LogForecast forecast_rows(const PowerSamples& samples, const UpdatedLine& fitted, const std::vector<size_t>& rows,
                          double lowest, double highest) {
  LogForecast result;
  const auto count = static_cast<Eigen::Index>(rows.size());
  result.value.resize(count);
  result.deviation.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::VectorXd x = samples.inputs.row(static_cast<Eigen::Index>(rows[static_cast<size_t>(i)]));
    result.value(i) = std::clamp(x.dot(fitted.coefficients), lowest, highest);
    result.deviation(i) = std::sqrt(fitted.noise + std::max(0.0, x.dot(fitted.covariance * x)));
  }
  return result;
}

// Each group counts alike, however many rows it has: what is new is a group, not a row. Of few groups conformal
// intervals are as wide as the worst row of all, four times what is needed: there it is what the worst group needs.
double interval_factor(const std::vector<double>& ratios, const std::vector<int64_t>& groups, double coverage) {
  std::map<int64_t, std::vector<double>> of_group;
  for (size_t i = 0; i < ratios.size(); ++i) of_group[groups[i]].push_back(ratios[i]);
  if (static_cast<double>(of_group.size()) * (1 - coverage) >= coverage - 1e-9) {
    ConformalScores scores;
    scores.scores = Eigen::Map<const Eigen::VectorXd>(ratios.data(), static_cast<Eigen::Index>(ratios.size()));
    scores.family = groups;
    return conformal_quantile(scores, coverage);
  }
  double widest = 0;
  for (auto& [group, own] : of_group) widest = std::max(widest, quantile(std::move(own), coverage));
  return widest;
}

}  // namespace

const char* to_text(TransferMethod method) {
  switch (method) {
    case TransferMethod::kUpdated:
      return "shared, updated";
    case TransferMethod::kShifted:
      return "shared, one factor";
    case TransferMethod::kAlone:
      return "samples alone";
  }
  return "";
}

std::vector<size_t> drawn_samples(const PowerDesign& design, const std::vector<size_t>& rows, size_t count,
                                  uint64_t seed) {
  std::map<int, std::vector<size_t>> by_workload;
  for (const size_t r : rows) by_workload[design.workload[r]].push_back(r);
  std::vector<int> workloads;
  workloads.reserve(by_workload.size());
  for (const auto& [workload, of] : by_workload) workloads.push_back(workload);
  Random random(seed);
  std::vector<size_t> picked;
  std::set<size_t> taken;
  count = std::min(count, rows.size());
  while (picked.size() < count) {
    const std::vector<size_t>& of = by_workload[workloads[random.below(workloads.size())]];
    const size_t r = of[random.below(of.size())];
    if (taken.insert(r).second) picked.push_back(r);
  }
  return picked;
}

PowerTransfer PowerTransfer::learn(const PowerSamples& samples, const Request& request) {
  PowerTransfer result;
  result.samples_ = &samples;
  result.method_ = request.method;
  std::map<int, std::vector<size_t>> of_group;
  result.lowest_ = std::numeric_limits<double>::infinity();
  result.highest_ = -result.lowest_;
  for (const size_t r : request.known) {
    const double target = samples.target(static_cast<Eigen::Index>(r));
    if (std::isnan(target)) continue;
    of_group[samples.design.group[r]].push_back(r);
    result.lowest_ = std::min(result.lowest_, target - kBeyond);
    result.highest_ = std::max(result.highest_, target + kBeyond);
  }
  const LineMoments moments(samples.inputs, samples.target, samples.design.group, samples.design.workload,
                            request.known);
  // Each group in turn is new.
  struct Draw {
    int group = 0;
    std::vector<size_t> given, rows;
  };
  std::vector<Draw> draws;
  for (const auto& [group, rows] : of_group) {
    for (size_t d = 0; d < kInnerDraws; ++d) {
      Draw draw;
      draw.group = group;
      draw.given = drawn_samples(samples.design, rows, request.samples, request.seed * 131 + d);
      std::vector<size_t> others;
      for (const size_t r : rows) {
        if (std::find(draw.given.begin(), draw.given.end(), r) == draw.given.end()) others.push_back(r);
      }
      draw.rows =
          drawn_samples(samples.design, others, std::min(kInnerRows, others.size() / 2 + 1), request.seed * 137 + d);
      draws.push_back(std::move(draw));
    }
  }
  const std::vector<TransferSetting>& settings = settings_of(request.method);
  double best = std::numeric_limits<double>::infinity();
  for (const TransferSetting& setting : settings) {
    double total = 0;
    std::vector<double> ratios, deviations;
    std::vector<int64_t> families;  // of the ratios: groups
    std::map<int, double> of_groups;
    std::map<int, SharedLine> lines;
    for (const Draw& draw : draws) {
      const auto [at, fresh] = lines.try_emplace(draw.group);
      if (fresh) {
        at->second = SharedLine::fit(
            moments, [&draw](const LineMoments::Cell& cell) { return cell.group != draw.group; }, setting.line);
      }
      const UpdatedLine fitted = fit_group(samples, request.method, setting, at->second, draw.given);
      const LogForecast forecast = forecast_rows(samples, fitted, draw.rows, result.lowest_, result.highest_);
      const double error = log_cell_error(samples, draw.rows, forecast.value);
      total += error;
      of_groups[draw.group] += error / kInnerDraws;
      deviations.insert(deviations.end(), forecast.deviation.begin(), forecast.deviation.end());
      for (size_t i = 0; i < draw.rows.size(); ++i) {
        const auto at_row = static_cast<Eigen::Index>(i);
        ratios.push_back(std::abs(forecast.value(at_row) - samples.target(static_cast<Eigen::Index>(draw.rows[i]))) /
                         forecast.deviation(at_row));
        families.push_back(draw.group);
      }
    }
    total /= static_cast<double>(draws.size());
    if (total < best) {
      best = total;
      result.setting_ = setting;
      result.inner_error_ = total;
      result.interval_factor_ = interval_factor(ratios, families, request.coverage);
      result.half_width_ = deviations.empty() ? 0 : result.interval_factor_ * median(std::move(deviations));
      result.group_errors_ = std::move(of_groups);
    }
  }
  result.line_ = SharedLine::fit(
      moments, [](const LineMoments::Cell&) { return true; }, result.setting_.line);
  return result;
}

UpdatedLine PowerTransfer::update(const std::vector<size_t>& given) const {
  UpdatedLine line = fit_group(*samples_, method_, setting_, line_, given);
  line.interval_factor = interval_factor_;
  return line;
}

PowerTransfer::Forecast PowerTransfer::forecast(const std::vector<size_t>& given,
                                                const std::vector<size_t>& rows) const {
  const UpdatedLine fitted = fit_group(*samples_, method_, setting_, line_, given);
  const LogForecast log = forecast_rows(*samples_, fitted, rows, lowest_, highest_);
  Forecast result;
  Eigen::VectorXd scale(log.value.size());
  for (Eigen::Index i = 0; i < scale.size(); ++i) {
    scale(i) = samples_->design.log_scale(static_cast<Eigen::Index>(rows[static_cast<size_t>(i)]));
  }
  result.watts = (log.value + scale).array().exp();
  result.lower = result.watts.array() * (-interval_factor_ * log.deviation.array()).exp();
  result.upper = result.watts.array() * (interval_factor_ * log.deviation.array()).exp();
  return result;
}

}  // namespace perfcast::measure
