#pragma once
// What a tuning found: measured or replayed.

#include <optional>
#include <string>
#include <vector>

#include "measure/tune/run/trial_runner.h"
#include "measure/tune/search/strategy.h"
#include "measure/tune/space/space_file.h"

namespace perfcast::measure {

struct TriedPoint {
  Setting setting;
  std::optional<double> value;  // of the objective, the median of its runs; nullopt: not usable
  size_t runs = 1;
  TrialState state = TrialState::kDone;
  std::string why;
};

// What the best setting prints, beside the default's.
struct OutputComparison {
  double default_bytes = 0, best_bytes = 0;
  bool is_same = false;
  bool default_repeats = true;  // the default prints the same twice; looked at where it prints other than the best
};

struct Tuning {
  std::vector<Knob> knobs;
  std::vector<std::string> command;  // empty: replayed
  std::string source;                // the file of the space or the recording
  StrategyKind strategy = StrategyKind::kSurrogate;
  uint64_t seed = 1;
  Objective objective;
  double points = 0;  // allowed settings; where they aren't all listed, of the grid
  bool points_listed = false;

  std::vector<TriedPoint> tried;   // in their order, the default first where it was run
  std::optional<size_t> best;      // of tried
  std::optional<size_t> standard;  // of tried: the default setting; nullopt: a recording doesn't say
  std::optional<double> default_value,
      best_value;  // of the last comparison, else of the search; of a recording: the median of its points
  // How many times as good the best is as the default: of times default / best, of what is maximised best / default.
  double gain = 1;
  std::optional<double> lower, upper;  // of the gain, with 95%
  bool significant = false;
  size_t pairs = 0;                        // of the last comparison
  std::optional<OutputComparison> output;  // nullopt: the default is best, or nobody looked
  std::vector<double> importance;          // share of each knob; empty: too few were tried
  size_t runs = 0;                         // of the command
  double spent_s = 0;
  std::string rival;  // where the default is best: what was measured of the next best, for people
  std::vector<std::string> notes;
  bool interrupted = false;

  size_t failed_trials() const;
};

// Lower is better: what strategies are told.
double cost_of(double value, const Objective& objective);

}  // namespace perfcast::measure
