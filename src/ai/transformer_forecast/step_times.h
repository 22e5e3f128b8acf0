#pragma once
// Steps of a transformer, timed: as a whole, and operator by operator.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ai/transformer/transformer.h"
#include "ai/transformer_forecast/step_work.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

// Seconds of a step, greedy choice of the next tokens included, and of its operators (kStepRest: choosing them, and
// copying logits): medians of all that was run. A transformer of one thread is timed by the CPU time that it took, so
// that what else runs on a busy machine doesn't count; several threads by the clock on the wall. What is timed by it:
// kThread of one thread.
StepClock clock_for(int threads);

struct StepTimes {
  double seconds = 0;
  double wall_ratio = 1;  // the clock on the wall over what timed the steps, of all together: above 1 where others ran
  std::map<OperatorName, double> operators;
  int64_t runs = 0;
  // Of medians of every other call of run() and of those between, by how much they differ: what measuring again would
  // show. NaN of one call.
  double halves_difference_ratio = kUnknown;
};

// Values in rounds that end at `ends`: the larger median of every other round and of those between over the smaller,
// - 1. NaN of one round.
double difference_of_halves(std::span<const double> values, std::span<const size_t> ends);

// The same step again and again, at several moments.
class StepMeasurement {
 public:
  explicit StepMeasurement(const StepPoint& point) : point_(point) {}
  const StepPoint& point() const { return point_; }

  // Runs it for about `budget_s`, at least `least` times, in turns as it is and with its operators timed, which slows
  // it a little; the first time round once more, for what is compiled then. The transformer needs `batch` slots of
  // `tokens`. Errors of Transformer::prefill().
  Status run(Transformer& transformer, double budget_s, int64_t least);
  StepTimes times() const;

  // One step's, by operator: of those that ran, also where the clock saw nothing of it.
  void add_operators(const OperatorSeconds& sums);

 private:
  Status run_once(Transformer& transformer, bool by_operator, bool keep);
  std::vector<SlotTokens> next_tokens(Transformer& transformer);

  StepPoint point_;
  std::vector<double> seconds_;
  std::vector<size_t> ends_;  // of each call of run() in them
  std::map<OperatorName, std::vector<double>> operators_;
  double timed_s_ = 0;  // of the last run
  double all_timed_s_ = 0, all_wall_s_ = 0;
  std::vector<int32_t> tokens_;
  std::vector<float> logits_;
};

}  // namespace perfcast::ai
