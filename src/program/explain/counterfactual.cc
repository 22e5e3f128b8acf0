#include "program/explain/counterfactual.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "program/explain/attribution.h"
#include "program/explain/why.h"
#include "program/model/features/work_features.h"

namespace perfcast::program {
namespace {

constexpr const char* kInstructionMetric = "instructions_count";
constexpr double kNoMove = 1e-6;  // log
constexpr int kStepsPerOctave = 2;
constexpr int kHalvings = 20;  // of the step where the forecast has moved far enough
constexpr size_t kProfilesAtOnce = 512;

// What counts one thing in several ways: metrics that begin and end so.
struct JointCause {
  const char* name;
  std::vector<std::pair<const char*, const char*>> ends;
};

const std::vector<JointCause>& joint_causes() {
  static const std::vector<JointCause> causes = {
      {"branch mispredictions",
       {{"tage_", "misses_count"},
        {"gshare_", "misses_count"},
        {"bimodal_", "misses_count"},
        {"indirect_", "misses_count"}}},
      {"random cache misses of loads", {{"miss_", "_random_count"}}},
      {"sequential cache misses of loads", {{"miss_", "_sequential_count"}}},
      {"cache misses of stores", {{"miss_", "_store_random_count"}, {"miss_", "_store_sequential_count"}}},
      {"TLB misses and page walks", {{"tlb_miss", "_count"}, {"stlb_", "_count"}}},
      {"loads and stores", {{"loads", "_count"}, {"stores", "_count"}}},
      {"branches", {{"branches_", "count"}, {"op_cond_branch", "_count"}, {"op_jump", "_count"}}},
      {"float arithmetic", {{"op_fp_", "_count"}, {"op_x87_", "_count"}, {"vec_fp_", "_count"}}},
      {"vector integer operations", {{"op_vec_", "_count"}, {"vec_int_", "_count"}}},
      {"integer divisions", {{"op_int_div", "_count"}, {"int_div_64", "_count"}}},
      {"system calls and page faults", {{"syscalls", "_count"}, {"page_faults_minor", "_count"}}},
  };
  return causes;
}

bool belongs_to(const JointCause& cause, const std::string& metric) {
  // Stores' misses have names that loads' begin and end alike.
  const bool stores = std::string(cause.name).find("stores") != std::string::npos;
  if (metric.starts_with("miss_") && (metric.find("_store_") != std::string::npos) != stores) return false;
  return std::any_of(cause.ends.begin(), cause.ends.end(), [&metric](const auto& ends) {
    return metric.starts_with(ends.first) && metric.ends_with(ends.second);
  });
}

// A cause's counters times a factor.
struct Change {
  size_t cause;
  double factor;
};

class ChangedForecasts {
 public:
  ChangedForecasts(const Predictor& predictor, const Profile& profile, const CounterfactualRequest& request,
                   const std::vector<MetricCause>& causes)
      : predictor_(predictor), request_(request), causes_(causes) {
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
        for (const std::string& name : causes_[change.cause].metrics) {
          const auto metric = changed[i].metrics.find(name);
          if (metric != changed[i].metrics.end()) metric->second *= change.factor;
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
  const std::vector<MetricCause>& causes_;
  Profile base_;
  double before_ = 0;
};

// Of one cause: between `near` and `far` the forecast has moved far enough, or `far` is the farthest that it moves.
struct Bracket {
  size_t cause;
  bool reaches = false;
  double near = 1, far = 1;  // factors
  double far_log = 0;
};

double distance_of(double factor) { return factor > 0 ? std::abs(std::log(factor)) : INFINITY; }

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

// By how much all counters of a cause can grow.
double limit_of(const MetricCause& cause, const Profile& profile, double instructions) {
  double limit = INFINITY;
  for (const std::string& name : cause.metrics) {
    const auto found = profile.metrics.find(name);
    if (found != profile.metrics.end() && found->second > 0) limit = std::min(limit, instructions / found->second);
  }
  return limit;
}

// Whether `a` is the better of two ways of one cause.
bool is_better(const Bracket& a, const Bracket& b) {
  if (a.reaches != b.reaches) return a.reaches;
  return a.reaches ? distance_of(a.far) < distance_of(b.far) : std::abs(a.far_log) > std::abs(b.far_log);
}

// The better way of each cause, up or down.
std::vector<Bracket> brackets_of(const ChangedForecasts& forecasts, const std::vector<MetricCause>& causes,
                                 const Profile& profile, double instructions, const CounterfactualRequest& request) {
  const double wanted_log = std::log(request.time_ratio);
  std::vector<Bracket> brackets;
  brackets.reserve(causes.size());
  for (size_t c = 0; c < causes.size(); ++c) brackets.push_back({c});
  for (const bool up : {false, true}) {
    std::vector<Change> changes;
    for (size_t c = 0; c < causes.size(); ++c) {
      for (const double factor : factors_of(request.most_factor, limit_of(causes[c], profile, instructions), up)) {
        changes.push_back({c, factor});
      }
    }
    const std::vector<double> logs = forecasts.moved(changes);
    for (size_t i = 0; i < changes.size();) {
      Bracket way{changes[i].cause};
      double last = 1;
      for (; i < changes.size() && changes[i].cause == way.cause; ++i) {
        if (!way.reaches && logs[i] / wanted_log > way.far_log / wanted_log) {
          way.reaches = logs[i] / wanted_log >= 1;
          way.near = last;
          way.far = changes[i].factor;
          way.far_log = logs[i];
        }
        last = changes[i].factor;
      }
      if (is_better(way, brackets[way.cause])) brackets[way.cause] = way;
    }
  }
  return brackets;
}

}  // namespace

std::vector<MetricCause> causes_in(const Profile& profile) {
  std::vector<MetricCause> singles;
  for (const std::string& name : work_feature_metrics()) {
    const auto found = profile.metrics.find(name);
    // A counter of 0 has no multiples, and what all others are relative to can't change alone.
    if (found == profile.metrics.end() || name == kInstructionMetric || !(found->second > 0)) continue;
    singles.push_back({name, describe_feature(name), {name}});
  }
  std::vector<MetricCause> causes;
  causes.reserve(joint_causes().size() + singles.size());
  for (const JointCause& joint : joint_causes()) {
    MetricCause cause{joint.name, joint.name, {}};
    for (const MetricCause& single : singles) {
      if (belongs_to(joint, single.name)) cause.metrics.push_back(single.name);
    }
    if (cause.metrics.size() > 1) causes.push_back(std::move(cause));
  }
  causes.insert(causes.end(), singles.begin(), singles.end());
  return causes;
}

std::vector<Counterfactual> counterfactuals(const Predictor& predictor, const Profile& profile,
                                            const CounterfactualRequest& request) {
  const auto instructions = profile.metrics.find(kInstructionMetric);
  const double wanted_log = std::log(request.time_ratio);
  if (instructions == profile.metrics.end() || !(instructions->second > 0) || !std::isfinite(wanted_log) ||
      wanted_log == 0) {
    return {};
  }
  const std::vector<MetricCause> causes = request.causes.empty() ? causes_in(profile) : request.causes;
  if (causes.empty()) return {};
  const ChangedForecasts forecasts(predictor, profile, request, causes);
  std::vector<Bracket> brackets = brackets_of(forecasts, causes, profile, instructions->second, request);
  std::erase_if(brackets, [](const Bracket& bracket) { return std::abs(bracket.far_log) < kNoMove; });
  std::stable_sort(brackets.begin(), brackets.end(), is_better);
  const auto reaching = std::count_if(brackets.begin(), brackets.end(), [](const Bracket& b) { return b.reaches; });
  for (int halving = 0; halving < kHalvings && reaching > 0; ++halving) {
    std::vector<Change> changes;
    changes.reserve(static_cast<size_t>(reaching));
    for (std::ptrdiff_t i = 0; i < reaching; ++i) {
      const Bracket& bracket = brackets[static_cast<size_t>(i)];
      changes.push_back({bracket.cause, (bracket.near + bracket.far) / 2});
    }
    const std::vector<double> logs = forecasts.moved(changes);
    for (size_t i = 0; i < changes.size(); ++i) {
      if (logs[i] / wanted_log < 1) {
        brackets[i].near = changes[i].factor;
      } else {
        brackets[i].far = changes[i].factor;
        brackets[i].far_log = logs[i];
      }
    }
  }
  std::stable_sort(brackets.begin(), brackets.end(), is_better);
  std::vector<Counterfactual> found;
  found.reserve(brackets.size());
  for (const Bracket& bracket : brackets) {
    Counterfactual each{causes[bracket.cause], bracket.reaches, bracket.far};
    each.time_ratio = std::exp(bracket.far_log);
    const auto metric = profile.metrics.find(each.cause.metrics.empty() ? "" : each.cause.metrics.front());
    if (each.cause.metrics.size() == 1 && metric != profile.metrics.end()) {
      each.before = metric->second / instructions->second;
      each.after = bracket.far * each.before;
    }
    found.push_back(std::move(each));
  }
  return found;
}

std::string counterfactual_in_words(const Counterfactual& found) {
  const std::string change = found.cause.metrics.size() == 1
                                 ? fmt::format("{} {} to {} (x{:.2f})", found.cause.text, rate_in_words(found.before),
                                               rate_in_words(found.after), found.factor)
                                 : fmt::format("{} x{:.2f}", found.cause.text, found.factor);
  return fmt::format("{}: relative time x{:.2f}{}", change, found.time_ratio, found.reaches ? "" : ", no farther");
}

}  // namespace perfcast::program
