#include "program/forecast/elsewhere.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "program/evaluate/platform_name.h"
#include "program/explain/host_match.h"

namespace perfcast::program {
namespace {

constexpr double kLessTime = 0.9;
constexpr double kLeastEffect = 0.01;

}  // namespace

Result<Elsewhere> look_elsewhere(const Bundle& bundle, const Profile& profile, const std::string& platform) {
  const auto there = find_platform(bundle.platforms, platform, "--on");
  if (!there) return there.error();
  const auto attribution = attribute_forecast(bundle, profile);
  if (!attribution) return attribution.error();
  Elsewhere elsewhere;
  const auto name_of = [&](size_t of) {
    const Platform& known = bundle.platforms[of];
    return known.name.empty() ? known.id : known.name;
  };
  elsewhere.platform = name_of(*there);
  // A host that is only near to a known platform is not that platform.
  int64_t against = -1;
  const auto here = match_host(profile.host, bundle.platforms);
  if (here && here->certainty != HostMatch::Certainty::kNearest && here->platform != *there)
    against = static_cast<int64_t>(here->platform);
  elsewhere.against = against < 0 ? "the mean of all platforms" : name_of(here->platform);
  elsewhere.method = method_in_words(*attribution);
  const Spread spread = spread_of(*attribution, static_cast<int64_t>(*there), against);
  elsewhere.log_ratio = spread.log;
  for (const MetricCause& cause : causes_in(profile)) {
    if (cause.metrics.size() < 2) continue;
    SpreadEffect effect = effect_of(spread, cause.text, cause.metrics);
    if (std::abs(effect.log) >= kLeastEffect) elsewhere.effects.push_back(std::move(effect));
  }
  std::stable_sort(elsewhere.effects.begin(), elsewhere.effects.end(),
                   [](const SpreadEffect& a, const SpreadEffect& b) { return std::abs(a.log) > std::abs(b.log); });
  CounterfactualRequest request;
  request.platform = static_cast<int64_t>(*there);
  request.against = against;
  request.time_ratio = kLessTime;
  elsewhere.counterfactuals = counterfactuals(*bundle.predictor, profile, request);
  return elsewhere;
}

Json to_json(const Elsewhere& elsewhere) {
  Json effects = Json::array(), changes = Json::array();
  for (const SpreadEffect& effect : elsewhere.effects)
    effects.push_back({{"text", effect.text}, {"log_time_ratio", effect.log}});
  for (const Counterfactual& change : elsewhere.counterfactuals) {
    changes.push_back({{"cause", change.cause.name},
                       {"text", change.cause.text},
                       {"metrics", change.cause.metrics},
                       {"factor", change.factor},
                       {"time_ratio", change.time_ratio},
                       {"reaches", change.reaches}});
  }
  return {{"platform", elsewhere.platform}, {"against", elsewhere.against}, {"log_time_ratio", elsewhere.log_ratio},
          {"method", elsewhere.method},     {"effects", effects},           {"counterfactuals", changes}};
}

}  // namespace perfcast::program
