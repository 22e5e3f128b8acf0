#include "explain/counterfactual.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "explain/attribution.h"
#include "explain/why.h"
#include "metrics/catalogue.h"
#include "model/features/work_features.h"

namespace perfcast {
namespace {

constexpr const char* kInstructionMetric = "instructions_count";
constexpr int kStepsPerOctave = 2;
constexpr int kHalvings = 20;  // of the step where the forecast has moved far enough
constexpr size_t kProfilesAtOnce = 512;

// A change of one metric of the profile.
struct Change {
  size_t metric;
  double factor;
};

class ChangedForecasts {
 public:
  ChangedForecasts(const Predictor& predictor, const Profile& profile, const CounterfactualRequest& request,
                   std::vector<std::pair<std::string, double>> metrics)
      : predictor_(predictor), request_(request), metrics_(std::move(metrics)) {
    base_.instruction_set = profile.instruction_set;
    base_.host = profile.host;
    base_.metrics = profile.metrics;
    before_ = logs({{0, 1}}).front();
  }

  // Of each change the log ratio of the relative time to that of the program as it is.
  std::vector<double> moved(const std::vector<Change>& changes) const {
    std::vector<double> result = logs(changes);
    for (double& log : result) log -= before_;
    return result;
  }

 private:
  std::vector<double> logs(const std::vector<Change>& changes) const {
    std::vector<double> result;
    result.reserve(changes.size());
    for (size_t first = 0; first < changes.size(); first += kProfilesAtOnce) {
      const size_t count = std::min(kProfilesAtOnce, changes.size() - first);
      std::vector<Profile> changed(count, base_);
      std::vector<const Profile*> pointers;
      pointers.reserve(count);
      for (size_t i = 0; i < count; ++i) {
        const Change& change = changes[first + i];
        if (!metrics_.empty()) {
          const auto& [name, value] = metrics_[change.metric];
          changed[i].metrics[name] = change.factor * value;
        }
        pointers.push_back(&changed[i]);
      }
      const Eigen::MatrixXd forecasts = predictor_.predict(pointers);
      for (Eigen::Index i = 0; i < forecasts.rows(); ++i) {
        const double other = request_.against < 0 ? 0 : forecasts(i, request_.against);
        result.push_back(forecasts(i, request_.platform) - other);
      }
    }
    return result;
  }

  const Predictor& predictor_;
  const CounterfactualRequest& request_;
  std::vector<std::pair<std::string, double>> metrics_;
  Profile base_;
  double before_ = 0;
};

// From the program as it is to where its forecast has moved far enough: the change lies between.
struct Bracket {
  size_t metric;
  double near = 1, far = 1;  // factors
  double far_log = 0;
};

bool is_core_metric(const std::string& name) {
  const Metric* metric = Catalogue::built_in().find(name);
  return metric != nullptr && metric->group == "core";
}

std::vector<std::pair<std::string, double>> metrics_to_change(const Profile& profile,
                                                              const CounterfactualRequest& request) {
  std::vector<std::pair<std::string, double>> metrics;
  for (const std::string& name : request.metrics.empty() ? all_feature_metrics() : request.metrics) {
    const auto found = profile.metrics.find(name);
    const bool wanted = !request.metrics.empty() || !is_core_metric(name);
    // A counter of 0 has no multiples, and what all others are relative to can't change alone.
    if (found == profile.metrics.end() || name == kInstructionMetric || !wanted || !(found->second > 0)) continue;
    metrics.emplace_back(name, found->second);
  }
  return metrics;
}

// Factors away from 1, nearest first, the last of those down 0.
std::vector<double> factors_of(double most_factor, double limit, bool up) {
  std::vector<double> factors;
  const int steps = static_cast<int>(std::floor(kStepsPerOctave * std::log2(most_factor)));
  factors.reserve(static_cast<size_t>(std::max(steps, 0)) + 1);
  for (int step = 1; step <= steps; ++step) {
    const double factor = std::exp2(static_cast<double>(up ? step : -step) / kStepsPerOctave);
    if (factor > limit) break;
    factors.push_back(factor);
  }
  if (!up) factors.push_back(0);
  return factors;
}

double distance_of(double factor) { return factor > 0 ? std::abs(std::log(factor)) : INFINITY; }

// Of each metric the first step of each direction that is far enough.
std::vector<Bracket> brackets_of(const ChangedForecasts& forecasts, double wanted_log, double most_factor,
                                 const std::vector<std::pair<std::string, double>>& metrics, double instructions) {
  std::vector<Bracket> brackets;
  for (const bool up : {false, true}) {
    std::vector<Change> changes;
    for (size_t m = 0; m < metrics.size(); ++m) {
      for (const double factor : factors_of(most_factor, instructions / metrics[m].second, up)) {
        changes.push_back({m, factor});
      }
    }
    const std::vector<double> logs = forecasts.moved(changes);
    for (size_t i = 0, last = metrics.size(); i < changes.size(); ++i) {
      const bool is_first = changes[i].metric != last;
      if (logs[i] / wanted_log < 1 || !is_first) continue;
      last = changes[i].metric;
      const bool is_nearest = i == 0 || changes[i - 1].metric != last;
      brackets.push_back({last, is_nearest ? 1 : changes[i - 1].factor, changes[i].factor, logs[i]});
    }
  }
  return brackets;
}

}  // namespace

std::vector<Counterfactual> counterfactuals(const Predictor& predictor, const Profile& profile,
                                            const CounterfactualRequest& request) {
  const auto instructions = profile.metrics.find(kInstructionMetric);
  const double wanted_log = std::log(request.time_ratio);
  if (instructions == profile.metrics.end() || !(instructions->second > 0) || !std::isfinite(wanted_log) ||
      wanted_log == 0) {
    return {};
  }
  const auto metrics = metrics_to_change(profile, request);
  if (metrics.empty()) return {};
  const ChangedForecasts forecasts(predictor, profile, request, metrics);
  std::vector<Bracket> brackets =
      brackets_of(forecasts, wanted_log, request.most_factor, metrics, instructions->second);
  // What needs the longer of two ways is not asked for.
  std::stable_sort(brackets.begin(), brackets.end(), [](const Bracket& a, const Bracket& b) {
    return std::pair(a.metric, distance_of(a.far)) < std::pair(b.metric, distance_of(b.far));
  });
  const auto same = [](const Bracket& a, const Bracket& b) { return a.metric == b.metric; };
  brackets.erase(std::unique(brackets.begin(), brackets.end(), same), brackets.end());
  for (int halving = 0; halving < kHalvings; ++halving) {
    std::vector<Change> changes;
    changes.reserve(brackets.size());
    for (const Bracket& bracket : brackets) changes.push_back({bracket.metric, (bracket.near + bracket.far) / 2});
    const std::vector<double> logs = forecasts.moved(changes);
    for (size_t i = 0; i < brackets.size(); ++i) {
      if (logs[i] / wanted_log < 1) {
        brackets[i].near = changes[i].factor;
      } else {
        brackets[i].far = changes[i].factor;
        brackets[i].far_log = logs[i];
      }
    }
  }
  std::stable_sort(brackets.begin(), brackets.end(),
                   [](const Bracket& a, const Bracket& b) { return distance_of(a.far) < distance_of(b.far); });
  std::vector<Counterfactual> found;
  found.reserve(brackets.size());
  for (const Bracket& bracket : brackets) {
    const auto& [name, value] = metrics[bracket.metric];
    const double rate = value / instructions->second;
    found.push_back({name, describe_feature(name), bracket.far, rate, bracket.far * rate, std::exp(bracket.far_log)});
  }
  return found;
}

std::string counterfactual_in_words(const Counterfactual& found) {
  return fmt::format("{} {} to {} (x{:.2f})", found.text, rate_in_words(found.before), rate_in_words(found.after),
                     found.factor);
}

}  // namespace perfcast
