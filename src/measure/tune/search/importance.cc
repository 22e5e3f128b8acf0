#include "measure/tune/search/importance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics.h"
#include "measure/tune/search/process_model.h"

namespace perfcast::measure {
namespace {

constexpr size_t kFewestTried = 5;
constexpr size_t kMostTried = 250;
constexpr size_t kModels = 4;
constexpr int kSteps = 150;
constexpr size_t kDraws = 200;

}  // namespace

std::vector<double> knob_importance(const Candidates& candidates, const std::vector<TriedSetting>& tried,
                                    uint64_t seed) {
  Random random(seed);
  std::vector<TriedSetting> chosen = tried;
  random.shuffle(chosen);
  if (chosen.size() > kMostTried) chosen.resize(kMostTried);
  std::vector<size_t> observed;
  std::vector<double> targets;
  for (const TriedSetting& one : chosen) {
    observed.push_back(one.candidate);
    targets.push_back(std::log(one.cost));
  }
  const double spread = targets.size() < kFewestTried ? 0 : standard_deviation(targets);
  if (!(spread > 0)) return {};
  const double centre = mean(targets);
  for (double& target : targets) target = (target - centre) / spread;

  std::vector<double> effects(candidates.knobs(), 0);
  for (size_t i = 0; i < kModels; ++i) {
    ProcessModel model(candidates);
    model.begin(random);
    model.improve(observed, targets, kSteps, random);
    if (!model.fit(observed, targets, {})) continue;
    for (size_t draw = 0; draw < kDraws; ++draw) {
      const auto here = candidates.positions(random.below(candidates.size()));
      const auto there = candidates.positions(random.below(candidates.size()));
      const double before = model.mean_at(here);
      std::vector<int16_t> changed(here.begin(), here.end());
      for (size_t knob = 0; knob < candidates.knobs(); ++knob) {
        if (changed[knob] == there[knob]) continue;
        changed[knob] = there[knob];
        const double change = model.mean_at(changed) - before;
        effects[knob] += change * change;
        changed[knob] = here[knob];
      }
    }
  }
  const double sum = std::accumulate(effects.begin(), effects.end(), 0.0);
  if (!(sum > 0)) return {};
  for (double& effect : effects) effect /= sum;
  return effects;
}

}  // namespace perfcast::measure
