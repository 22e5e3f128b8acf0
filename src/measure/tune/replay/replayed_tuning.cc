#include "measure/tune/replay/replayed_tuning.h"

#include <fmt/format.h>

#include "base/text.h"
#include "measure/tune/search/importance.h"

namespace perfcast::measure {

Tuning replayed_tuning(const RecordedSpace& space, const Replay& replay, const ReplayedStrategy& strategy,
                       const ReplayedSearch& search, const std::string& source) {
  Tuning tuning;
  tuning.knobs = space.knobs;
  tuning.source = source;
  tuning.strategy = strategy.kind;
  tuning.seed = search.seed;
  tuning.points = static_cast<double>(space.points.size());
  tuning.points_listed = true;
  tuning.default_value = replay.median_s;
  tuning.spent_s = strategy.spent_s;
  Candidates candidates(space.knobs);
  for (const RecordedSpace::Point& point : space.points) candidates.add(point.setting);
  std::vector<TriedSetting> costs;
  for (const size_t point : search.tried) {
    const auto& [setting, time_s] = space.points[point];
    TriedPoint tried{setting, time_s, 1, time_s ? TrialState::kDone : TrialState::kFailed,
                     time_s ? "" : "recorded as not valid"};
    if (time_s) {
      costs.push_back({point, *time_s});
      if (!tuning.best_value || *time_s < *tuning.best_value) {
        tuning.best_value = time_s;
        tuning.best = tuning.tried.size();
      }
    }
    tuning.tried.push_back(std::move(tried));
  }
  if (tuning.best_value) {
    tuning.gain = replay.median_s / *tuning.best_value;  // of recorded times: nothing says how sure they are
  } else {
    tuning.notes.emplace_back("no setting that was tried is valid");
  }
  tuning.importance = knob_importance(candidates, costs, search.seed);
  if (!space.constant_columns.empty())
    tuning.notes.push_back("always the same, and so no knob: " + printable(join(space.constant_columns, ", ")));
  if (space.repeated_rows > 0)
    tuning.notes.push_back(
        fmt::format("{} rows are of a setting that had one: medians of their times", space.repeated_rows));
  return tuning;
}

}  // namespace perfcast::measure
