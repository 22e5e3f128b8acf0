#include "measure/tune/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

#include "base/parallel.h"
#include "base/statistics.h"

namespace perfcast::measure {
namespace {

ReplayedSearch search(const RecordedSpace& space, StrategyKind kind, size_t trials, uint64_t seed) {
  Candidates candidates(space.knobs);
  for (const RecordedSpace::Point& point : space.points) candidates.add(point.setting);
  const auto strategy = make_strategy(kind, candidates, trials, seed);
  ReplayedSearch result;
  result.seed = seed;
  double best_s = std::numeric_limits<double>::infinity();
  while (result.tried.size() < trials) {
    const auto next = strategy->next();
    if (!next) break;
    const std::optional<double> time_s = space.points[*next].time_s;
    strategy->tell(*next, time_s);
    best_s = std::min(best_s, time_s.value_or(best_s));
    result.tried.push_back(*next);
    result.best_after_s.push_back(best_s);
  }
  return result;
}

}  // namespace

Result<Replay> replay_tuning(const RecordedSpace& space, const ReplayRequest& request) {
  Replay replay;
  replay.trials = std::clamp<size_t>(request.trials, 1, space.points.size());
  std::vector<double> times;
  for (const RecordedSpace::Point& point : space.points) {
    if (point.time_s) times.push_back(*point.time_s);
  }
  replay.best_s = *std::min_element(times.begin(), times.end());
  replay.worst_s = *std::max_element(times.begin(), times.end());
  replay.median_s = median(times);
  for (const StrategyKind kind : request.strategies) {
    ReplayedStrategy strategy;
    strategy.kind = kind;
    strategy.searches.resize(request.seeds);
    const auto began = std::chrono::steady_clock::now();
    std::atomic<size_t> done = 0;
    const Status status = parallel_for(request.seeds, request.threads, [&](size_t i) -> Status {
      strategy.searches[i] = search(space, kind, replay.trials, request.seed + i);
      if (request.progress) request.progress(fmt::format("{}: {} of {} seeds", name_of(kind), ++done, request.seeds));
      return {};
    });
    if (!status) return status.error();
    strategy.spent_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    replay.strategies.push_back(std::move(strategy));
  }
  return replay;
}

ReplayScore score_after(const Replay& replay, const ReplayedStrategy& strategy, size_t trials) {
  ReplayScore score;
  score.trials = trials;
  std::vector<double> ratios;
  for (const ReplayedSearch& search : strategy.searches) {
    const size_t last = std::min(trials, search.best_after_s.size());
    const double best_s = last == 0 ? replay.worst_s : std::min(search.best_after_s[last - 1], replay.worst_s);
    ratios.push_back(best_s / replay.best_s);
    if (ratios.back() <= 1 + kWithin) score.within_share += 1 / static_cast<double>(strategy.searches.size());
  }
  score.mean_ratio = mean(ratios);
  score.median_ratio = median(ratios);
  score.worst_ratio = *std::max_element(ratios.begin(), ratios.end());
  return score;
}

}  // namespace perfcast::measure
