#include "studies/serving/end_to_end_fit.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "ai/latency/fit/bounded_least_squares.h"
#include "base/csv.h"
#include "base/parallel.h"
#include "base/text.h"

namespace perfcast::ai::serving_study {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kHuber = 0.2, kScale = 0.1;
constexpr size_t kMostOfGroup = 24;  // points that are simulated again and again, evenly over its settings

// Its square is twice Huber's loss.
double huber_root(double error) {
  const double size = std::abs(error);
  return size <= kHuber ? error : std::copysign(std::sqrt(2 * kHuber * (size - kHuber / 2)), error);
}

}  // namespace

Result<std::vector<SimulatedTimes>> simulate_all(const EngineProfile& profile,
                                                 const std::vector<EndToEndService>& services,
                                                 const std::vector<bool>& use, int threads, double half_widths) {
  std::vector<SimulatedTimes> times(services.size());
  const Status done = parallel_for(services.size(), threads, [&](size_t i) -> Status {
    if (!use.empty() && !use[i]) return {};
    const auto one = services[i].simulate(profile, half_widths);
    if (!one) return one.error();
    times[i] = *one;
    return {};
  });
  if (!done) return done.error();
  return times;
}

Result<EngineProfile> fit_end_to_end(const EngineProfile& start, const std::vector<FreeConstant>& free,
                                     const std::vector<EndToEndService>& services, const std::vector<bool>& use,
                                     int threads) {
  EngineProfile centre = start;
  for (const FreeConstant& one : free) {
    if (start.constants.*one.member == 0) centre.constants.*one.member = one.usual;
  }
  std::map<std::string, std::vector<size_t>> groups;
  for (size_t i = 0; i < services.size(); ++i) {
    if (use.empty() || use[i]) groups[services[i].point().group()].push_back(i);
  }
  std::map<std::string, double> counts;
  std::vector<size_t> used;
  std::vector<bool> is_used(services.size(), false);
  for (const auto& [group, in] : groups) {
    const size_t step = (in.size() + kMostOfGroup - 1) / kMostOfGroup;
    for (size_t i = 0; i < in.size(); i += step) {
      used.push_back(in[i]);
      is_used[in[i]] = true;
      counts[group] += 1;
    }
  }
  const double mean_count = static_cast<double>(used.size()) / static_cast<double>(counts.size());
  const auto count = static_cast<Index>(free.size()), points = static_cast<Index>(used.size());
  const auto set = [&](const VectorXd& logs, EngineProfile& into) {
    for (Index i = 0; i < count; ++i) {
      const auto member = free[static_cast<size_t>(i)].member;
      into.constants.*member = centre.constants.*member * std::exp(logs[i]);
    }
  };
  Status failed;
  const auto residuals = [&](const VectorXd& logs, Eigen::Ref<VectorXd> out) {
    EngineProfile trial = start;
    set(logs, trial);
    const auto times = simulate_all(trial, services, is_used, threads);
    if (!times) {
      failed = times.error();
      out.setConstant(std::numeric_limits<double>::quiet_NaN());
      return;
    }
    for (Index i = 0; i < points; ++i) {
      const size_t at = used[static_cast<size_t>(i)];
      const EndToEndPoint& point = services[at].point();
      const double weight = std::sqrt(mean_count / counts[point.group()]) / kScale;
      out[2 * i] = weight * huber_root(std::log((*times)[at].further_s / point.further_s));
      out[2 * i + 1] = weight * huber_root(std::log((*times)[at].first_s / point.first_s));
    }
    for (Index i = 0; i < count; ++i) out[2 * points + i] = logs[i] / free[static_cast<size_t>(i)].log_sd;
  };
  const VectorXd zero = VectorXd::Zero(count), most = VectorXd::Constant(count, 3.0);
  BoundedFitOptions options;
  options.max_iterations = 4;
  options.tolerance = 1e-3;
  const auto fit = fit_bounded(residuals, 2 * points + count, zero, -most, most, options);
  if (!failed) return failed.error();
  if (!fit) return fit.error();
  EngineProfile profile = start;
  set(fit->parameters, profile);
  for (const FreeConstant& one : free) {  // what is written is what was scored
    double& constant = profile.constants.*one.member;
    constant = parse_number(fmt::format("{:.6g}", constant)).value_or(constant);
  }
  return profile;
}

}  // namespace perfcast::ai::serving_study
