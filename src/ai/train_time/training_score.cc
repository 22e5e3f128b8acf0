#include "ai/train_time/training_score.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/statistics.h"

namespace perfcast::ai {

TrainingScore training_score(const std::vector<std::optional<double>>& times_s) {
  TrainingScore score;
  score.runs = static_cast<int64_t>(times_s.size());
  std::vector<double> reached;
  reached.reserve(times_s.size());
  for (const auto& time_s : times_s) {
    if (time_s) reached.push_back(*time_s);
  }
  score.unfinished = score.runs - static_cast<int64_t>(reached.size());
  std::sort(reached.begin(), reached.end());
  if (!reached.empty()) {
    score.fastest_s = reached.front();
    score.slowest_s = reached.back();
    score.median_s = median(reached);
    if (reached.size() > 1) score.deviation_ratio = standard_deviation(reached) / mean(reached);
  }
  if (reached.empty()) {
    score.rule = score.runs == 0   ? "no run"
                 : score.runs == 1 ? "the run never reached the target"
                                   : fmt::format("none of {} runs reached the target", score.runs);
    return score;
  }
  if (score.runs < 3) {
    if (score.unfinished > 0) {
      score.rule = fmt::format("{} of {} runs never reached the target, and of so few none can be dropped",
                               score.unfinished, score.runs);
      return score;
    }
    score.mean_s = mean(reached);
    score.rule = score.runs == 1 ? "one run: its time" : "two runs: their mean, none dropped";
    return score;
  }
  if (score.unfinished > 1) {
    score.rule = fmt::format(
        "{} of {} runs never reached the target; one of them could be dropped as the slowest, "
        "not all",
        score.unfinished, score.runs);
    return score;
  }
  // One that never got there is the slowest, and isn't in `reached`.
  const auto first = reached.begin() + 1;
  const auto last = score.unfinished == 1 ? reached.end() : reached.end() - 1;
  const std::vector<double> kept(first, last);
  score.is_trimmed = true;
  score.mean_s = mean(kept);
  score.rule = score.unfinished == 1
                   ? fmt::format("mean of {} of {} runs, without the fastest and the one that never reached the target",
                                 kept.size(), score.runs)
                   : fmt::format("mean of {} of {} runs, without the fastest and the slowest", kept.size(), score.runs);
  return score;
}

}  // namespace perfcast::ai
