#include "studies/power/transfer_curves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/parallel.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "studies/power/left_out_workloads.h"
#include "studies/power/small_network.h"

namespace perfcast::measure::power_study {
namespace {

constexpr double kLeastGpuWatts = 1;
const char* const kUtilisationLine = "line in utilisation";
const char* const kMetaNetwork = "network, meta-learnt";

// Least squares of watts on utilisation; the mean where the samples don't tell a slope.
PowerForecast utilisation_line_of(const PowerSamples& samples, const Eigen::VectorXd& utilisation,
                                  const std::vector<size_t>& given, const std::vector<size_t>& rows) {
  double u = 0, w = 0, uu = 0, uw = 0;
  for (const size_t r : given) {
    const double x = utilisation(static_cast<Eigen::Index>(r)), y = samples.design.watts(static_cast<Eigen::Index>(r));
    u += x;
    w += y;
    uu += x * x;
    uw += x * y;
  }
  const auto n = static_cast<double>(given.size());
  const double spread = uu - u * u / n;
  const double slope = spread > 1e-9 ? (uw - u * w / n) / spread : 0;
  PowerForecast forecast;
  forecast.watts.resize(static_cast<Eigen::Index>(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    const double x = utilisation(static_cast<Eigen::Index>(rows[i]));
    forecast.watts(static_cast<Eigen::Index>(i)) = std::max(kLeastGpuWatts, w / n + slope * (x - u / n));
  }
  return forecast;
}

struct Trial {
  int group = 0;
  size_t samples = 0, seed = 0;
  std::map<std::string, std::pair<double, double>> scores;  // error, coverage
};

std::pair<double, double> score(const PowerSamples& samples, const std::vector<size_t>& rows,
                                const PowerForecast& forecast) {
  MethodScores scores;
  add_scores(samples.design, rows, forecast, scores.cells);
  return {scores.error(), scores.covered()};
}

}  // namespace

std::vector<TransferCurve> transfer_curves(const PowerSamples& samples, const CurveRequest& request) {
  std::map<int, std::vector<size_t>> of_group;
  for (size_t r = 0; r < samples.design.size(); ++r) {
    if (!std::isnan(samples.target(static_cast<Eigen::Index>(r)))) of_group[samples.design.group[r]].push_back(r);
  }
  std::vector<int> groups;
  groups.reserve(of_group.size());
  for (const auto& [group, rows] : of_group) groups.push_back(group);
  std::vector<MetaNetwork> networks(groups.size());
  (void)parallel_for(groups.size(), request.threads, [&](size_t g) -> Status {
    std::vector<size_t> known;
    for (const auto& [other, rows] : of_group) {
      if (other != groups[g]) known.insert(known.end(), rows.begin(), rows.end());
    }
    networks[g] = MetaNetwork::learn(samples, known, 1);
    return {};
  }).ok();
  // One task for each new group and number of samples: what is learnt hangs on both, not on the draw.
  std::vector<std::vector<Trial>> trials(groups.size() * request.counts.size());
  const auto work = [&](size_t task) -> Status {
    const int group = groups[task / request.counts.size()];
    const size_t count = request.counts[task % request.counts.size()];
    std::vector<size_t> known;
    for (const auto& [other, rows] : of_group) {
      if (other != group) known.insert(known.end(), rows.begin(), rows.end());
    }
    std::vector<size_t> candidates;
    for (const size_t r : of_group.at(group)) {
      if (request.scored.empty() || request.scored[r]) candidates.push_back(r);
    }
    std::map<TransferMethod, PowerTransfer> learnt;
    for (const TransferMethod method : {TransferMethod::kUpdated, TransferMethod::kShifted, TransferMethod::kAlone}) {
      if (method == TransferMethod::kAlone && count == 0) continue;
      PowerTransfer::Request learn;
      learn.known = known;
      learn.samples = count;
      learn.method = method;
      learnt.emplace(method, PowerTransfer::learn(samples, learn));
    }
    const MetaNetwork& network = networks[task / request.counts.size()];
    for (size_t seed = 0; seed < static_cast<size_t>(count == 0 ? 1 : request.seeds); ++seed) {
      Trial trial{group, count, seed, {}};
      const std::vector<size_t> given = drawn_samples(samples.design, candidates, count, 1000 + seed);
      std::set<int> seen;
      for (const size_t r : given) seen.insert(samples.design.workload[r]);
      const std::set<size_t> taken(given.begin(), given.end());
      std::vector<size_t> rows;
      for (const size_t r : candidates) {
        if (request.apart ? seen.count(samples.design.workload[r]) == 0 : taken.count(r) == 0) rows.push_back(r);
      }
      if (rows.empty()) continue;  // every workload gave a sample
      for (const auto& [method, transfer] : learnt) {
        const PowerTransfer::Forecast made = transfer.forecast(given, rows);
        trial.scores[to_text(method)] = score(samples, rows, {made.watts, made.lower, made.upper, {}});
      }
      if (count > 0) {
        trial.scores[kUtilisationLine] =
            score(samples, rows, utilisation_line_of(samples, request.utilisation, given, rows));
      }
      trial.scores[kMetaNetwork] = score(samples, rows, {network.forecast(samples, given, rows), {}, {}, {}});
      trials[task].push_back(std::move(trial));
    }
    return {};
  };
  (void)parallel_for(trials.size(), request.threads, work).ok();  // nothing in it fails
  std::vector<TransferCurve> curves;
  for (const char* method : {kUtilisationLine, to_text(TransferMethod::kAlone), to_text(TransferMethod::kShifted),
                             kMetaNetwork, to_text(TransferMethod::kUpdated)}) {
    TransferCurve curve;
    curve.method = method;
    for (const size_t count : request.counts) {
      CurvePoint point;
      point.samples = count;
      std::map<size_t, std::vector<double>> by_seed;
      std::map<int, std::vector<double>> by_group;
      std::vector<double> covered;
      for (const std::vector<Trial>& part : trials) {
        for (const Trial& trial : part) {
          const auto found = trial.scores.find(method);
          if (trial.samples != count || found == trial.scores.end()) continue;
          by_seed[trial.seed].push_back(found->second.first);
          by_group[trial.group].push_back(found->second.first);
          if (!std::isnan(found->second.second)) covered.push_back(found->second.second);
        }
      }
      size_t scored = 0;
      for (const auto& [seed, errors] : by_seed) scored += errors.size();
      const size_t draws = groups.size() * static_cast<size_t>(count == 0 ? 1 : request.seeds);
      // What is left of a few lucky draws is no score of the method.
      if (scored == 0 || 2 * scored < draws) continue;
      std::vector<double> means;
      means.reserve(by_seed.size());
      for (const auto& [seed, errors] : by_seed) means.push_back(mean(errors));
      point.error = mean(means);
      point.lowest = *std::min_element(means.begin(), means.end());
      point.highest = *std::max_element(means.begin(), means.end());
      point.covered = covered.empty() ? kUnknown : mean(covered);
      for (const int group : groups) {
        const auto found = by_group.find(group);
        point.of_group.push_back(found == by_group.end() ? kUnknown : mean(found->second));
      }
      curve.points.push_back(std::move(point));
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace perfcast::measure::power_study
