#include "measure/tune/run/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "measure/compare/paired_sequence.h"
#include "measure/tune/run/trial_records.h"
#include "measure/tune/search/importance.h"

namespace perfcast::measure {
namespace {

constexpr size_t kDrawnPoints = 20'000;  // of a space that isn't listed
constexpr double kFinalShare = 0.25;     // of the budget
constexpr double kFinalError = 0.05;
constexpr double kFineEnough = 0.01;  // width of the gain's interval, as a log
constexpr int64_t kMostPairs = 300;
constexpr size_t kFinalists = 3;
constexpr size_t kMostRunsOfBest = 12;
constexpr size_t kHints = 5;     // best settings of earlier logs, tried first
constexpr size_t kBracket = 16;  // settings that halving begins with

class Tuner {
 public:
  Tuner(const TuneRequest& request, TrialRunner runner)
      : request_(request),
        file_(*request.file),
        runner_(std::move(runner)),
        random_(request.seed ^ 0x7e57u),
        candidates_(file_.space.knobs()),
        records_(file_.objective) {}

  Result<Tuning> run();

 private:
  using Clock = std::chrono::steady_clock;
  double spent_s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  void list_candidates();
  Result<TrialRun> run_once(size_t candidate, RunPurpose purpose);
  Status measure(size_t candidate);
  Status measure_default();
  void take_resumed();
  Status try_hints();
  bool may_go_on() const;
  Status search();
  Status search_by_halving();
  Status challenge(size_t candidate);
  Status settle_finalists();
  Status compare_with_default();
  Result<std::optional<size_t>> compare_in_turns();
  void take_gain(const ShiftInterval& gain);
  void keep_default(size_t rival);
  Status search_and_compare();
  Status compare_output(size_t rival);
  // Everything is used that the last comparison needs not.
  void set_search_end();
  bool is_over() const { return spent_s() >= request_.budget_s; }
  void report(const std::string& doing) const;
  void finish();
  std::string value_text(double value) const;

  const TuneRequest& request_;
  const TuneFile& file_;
  TrialRunner runner_;
  Random random_;
  Candidates candidates_;
  TrialRecords records_;
  std::unique_ptr<Strategy> strategy_;
  size_t standard_ = 0, best_ = 0;
  double search_budget_s_ = 0, longest_wall_s_ = 0, default_wall_s_ = 0;
  bool is_exhausted_ = false;  // no setting is left to try
  std::optional<OutputFacts> default_output_;
  std::optional<size_t> output_of_;  // the setting whose output was last held beside the default's
  Clock::time_point began_ = Clock::now();
  Tuning result_;
};

std::string Tuner::value_text(double value) const {
  return file_.objective.measure == ObjectiveMeasure::kPrinted ? human_number(value) : human_seconds(value);
}

void Tuner::report(const std::string& doing) const {
  if (!request_.progress) return;
  std::string text =
      fmt::format("{}; {} settings, {:.0f} of {:.0f} s", doing, records_.size(), spent_s(), request_.budget_s);
  const TrialRecord* best = records_.find(best_);
  if (best != nullptr && best->value())
    text += fmt::format(", best {}: {}", value_text(*best->value()), file_.space.text_of(candidates_.setting(best_)));
  request_.progress(text);
}

void Tuner::list_candidates() {
  auto points = file_.space.list(kMostListedPoints, kMostListSteps);
  standard_ = best_ = candidates_.add(file_.space.default_setting());
  result_.points_listed = points.complete;
  if (points.complete) {
    for (const Setting& setting : points.settings) candidates_.add(setting);
    result_.points = static_cast<double>(candidates_.size());
    return;
  }
  result_.points = file_.space.grid_points();
  for (size_t i = 0; i < kDrawnPoints; ++i) {
    const auto setting = file_.space.draw(random_);
    if (!setting) break;
    candidates_.add(*setting);
  }
  candidates_.more_beside = [this](const Setting& setting) { return file_.space.neighbours(setting); };
}

Result<TrialRun> Tuner::run_once(size_t candidate, RunPurpose purpose) {
  const Setting setting = candidates_.setting(candidate);
  auto run = runner_.run(setting);
  if (!run) return run.error();
  ++result_.runs;
  if (run->state == TrialState::kDone) longest_wall_s_ = std::max(longest_wall_s_, run->wall_s);
  if (request_.record) {
    if (Status written = request_.record({purpose, setting, *run}); !written) return written.error();
  }
  return run;
}

// One run more, and what follows for the strategy.
Status Tuner::measure(size_t candidate) {
  const bool first = records_.find(candidate) == nullptr;
  const auto run = run_once(candidate, first ? RunPurpose::kSearch : RunPurpose::kAgain);
  if (!run) return run.error();
  records_.add(candidate, *run);
  if (strategy_) strategy_->tell(candidate, records_.cost(candidate));
  return {};
}

Status Tuner::measure_default() {
  // What isn't done in all of the time leaves none to try anything.
  runner_.set_limit(request_.limit_s > 0 ? request_.limit_s : request_.budget_s);
  for (int i = 0; i < request_.repeats && (i == 0 || !is_over()); ++i) {
    report("measuring the default");
    const auto run =
        run_once(standard_, records_.find(standard_) == nullptr ? RunPurpose::kSearch : RunPurpose::kAgain);
    if (!run) return run.error();
    if (run->state != TrialState::kDone) {
      return Error{"default-failed",
                   fmt::format("with the default setting, {}: {}",
                               printable(file_.space.text_of(candidates_.setting(standard_))), run->why),
                   printable(join(runner_.command().arguments(candidates_.setting(standard_)), " ")),
                   "a command that runs with the default of each knob" +
                       std::string(run->state == TrialState::kLimit ? ", or a longer --run-limit" : "")};
    }
    records_.add(standard_, *run);
    default_wall_s_ = std::max(default_wall_s_, run->wall_s);
    if (request_.limit_s <= 0) runner_.set_limit(usual_limit_s(default_wall_s_));
  }
  if (file_.objective.measure == ObjectiveMeasure::kPrinted || is_over()) return {};
  auto output = runner_.output_of(candidates_.setting(standard_));
  if (!output) return output.error();
  default_output_ = *output;
  return {};
}

void Tuner::set_search_end() {
  const double from_s = spent_s(), left_s = std::max(request_.budget_s - from_s, 0.0);
  const double final_s =
      std::max(kFinalShare * left_s, 2.2 * static_cast<double>(fewest_pairs(kFinalError)) * default_wall_s_);
  search_budget_s_ = from_s + std::max(left_s - final_s, left_s / 4);
}

void Tuner::take_resumed() {
  for (const LoggedRun& logged : request_.resumed) {
    // Of the last comparison what failed counts, and no times: they were taken beside the default's.
    const size_t candidate = candidates_.add(logged.setting);
    const bool failed = logged.run.state != TrialState::kDone && candidate != standard_;
    if (logged.purpose == RunPurpose::kFinal && !failed) continue;
    records_.add(candidate, logged.run);
  }
}

// The best of earlier logs are measured; the rest, by how much all differ, is what the surrogate may assume.
Status Tuner::try_hints() {
  std::map<Setting, std::vector<double>> earlier;
  std::map<Setting, bool> failed;
  for (const LoggedRun& logged : request_.earlier) {
    if (logged.run.state == TrialState::kDone) {
      earlier[logged.setting].push_back(cost_of(logged.run.value, file_.objective));
    } else {
      failed[logged.setting] = true;
    }
  }
  std::vector<std::pair<double, size_t>> order;
  for (const auto& [setting, costs] : earlier) {
    if (!failed.contains(setting)) order.emplace_back(median(costs), candidates_.add(setting));
  }
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < std::min(order.size(), kHints) && may_go_on(); ++i) {
    if (records_.find(order[i].second) != nullptr) continue;
    report("trying what was best before");
    if (Status measured = measure(order[i].second); !measured) return measured;
    if (Status challenged = challenge(order[i].second); !challenged) return challenged;
  }
  if (request_.strategy != StrategyKind::kSurrogate) return {};
  std::vector<double> shifts;
  for (const auto& [cost, candidate] : order) {
    if (const auto now = records_.cost(candidate)) shifts.push_back(std::log(*now / cost));
  }
  const double shift = shifts.empty() ? 0 : median(shifts);
  for (const auto& [cost, candidate] : order) {
    if (records_.find(candidate) == nullptr) strategy_->tell(candidate, cost * std::exp(shift));
  }
  for (const auto& [setting, unused] : failed) {
    const size_t candidate = candidates_.add(setting);
    if (records_.find(candidate) == nullptr) strategy_->tell(candidate, std::nullopt);
  }
  return {};
}

bool Tuner::may_go_on() const {
  if (request_.trials > 0 && records_.size() >= request_.trials) return false;
  return spent_s() < search_budget_s_;
}

// What looks better than the best runs again, in turns with the best, until it has as many runs or looks worse: one
// lucky run makes no best.
Status Tuner::challenge(size_t candidate) {
  if (candidate == best_) return {};
  while (true) {
    const auto cost = records_.cost(candidate), best = records_.cost(best_);
    if (!cost || (best && *cost >= *best)) return {};
    if (!best || records_.find(candidate)->runs >= static_cast<size_t>(request_.repeats)) {
      best_ = candidate;
      return {};
    }
    if (is_over()) return {};
    report("checking a better one");
    if (Status again = measure(candidate); !again) return again;
    if (records_.find(best_)->runs < kMostRunsOfBest && !is_over()) {
      if (Status again = measure(best_); !again) return again;
    }
  }
}

Status Tuner::search() {
  if (request_.strategy == StrategyKind::kHalving) return search_by_halving();
  while (may_go_on()) {
    const auto next = strategy_->next();
    is_exhausted_ = !next;
    if (!next) return {};
    report("trying");
    if (Status measured = measure(*next); !measured) return measured;
    if (Status challenged = challenge(*next); !challenged) return challenged;
  }
  return {};
}

// Successive halving (Jamieson and Talwalkar, AISTATS 2016) over runs: all of a bracket once, the better half again, in
// rounds, each in an order of its own, until one is left.
Status Tuner::search_by_halving() {
  while (may_go_on()) {
    std::vector<size_t> field;
    while (field.size() < kBracket && may_go_on()) {
      const auto next = strategy_->next();
      if (!next) break;
      report("trying");
      if (Status measured = measure(*next); !measured) return measured;
      field.push_back(*next);
    }
    is_exhausted_ = field.empty();
    if (field.empty()) return {};
    const auto sort = [&] {
      std::erase_if(field, [this](size_t candidate) { return !records_.cost(candidate); });
      std::sort(field.begin(), field.end(),
                [this](size_t a, size_t b) { return *records_.cost(a) < *records_.cost(b); });
    };
    for (sort(); field.size() > 1; sort()) {
      field.resize((field.size() + 1) / 2);
      std::vector<size_t> round = field;
      random_.shuffle(round);
      for (const size_t candidate : round) {
        if (spent_s() >= search_budget_s_) return {};
        report("halving");
        if (Status measured = measure(candidate); !measured) return measured;
      }
      if (field.size() == 1) break;
    }
    if (!field.empty()) {
      if (Status challenged = challenge(field.front()); !challenged) return challenged;
    }
  }
  return {};
}

// The few best once more in rounds: which is best is not to hang on luck.
Status Tuner::settle_finalists() {
  std::vector<size_t> finalists = records_.best_first();
  if (finalists.size() > kFinalists) finalists.resize(kFinalists);
  if (std::find(finalists.begin(), finalists.end(), best_) == finalists.end()) finalists.push_back(best_);
  if (finalists.size() > 1) {
    for (int round = 0; round < request_.repeats; ++round) {
      random_.shuffle(finalists);
      for (const size_t candidate : finalists) {
        if (is_over()) break;
        report("the best ones again");
        if (Status measured = measure(candidate); !measured) return measured;
      }
    }
  }
  best_ = standard_;
  for (const size_t candidate : finalists) {
    const auto cost = records_.cost(candidate), best = records_.cost(best_);
    if (cost && (!best || *cost < *best)) best_ = candidate;
  }
  return {};
}

Status Tuner::compare_with_default() {
  for (;;) {
    const auto failed = compare_in_turns();
    if (!failed) return failed.error();
    if (!*failed || best_ == standard_) return {};
    // What fails once is never the best: the next one, down to the default.
    const std::vector<size_t> order = records_.best_first();
    best_ = order.empty() ? standard_ : order.front();
  }
}

void Tuner::take_gain(const ShiftInterval& gain) {
  result_.gain = std::exp(gain.estimate);
  if (!std::isfinite(gain.lower) || !std::isfinite(gain.upper)) return;
  result_.lower = std::exp(gain.lower);
  result_.upper = std::exp(gain.upper);
  result_.significant = gain.lower > 0 || gain.upper < 0;
}

// What the kept time showed of the next best.
void Tuner::keep_default(size_t rival) {
  std::string text = fmt::format("the next best, {}, is {:.3f} times as good as the default",
                                 file_.space.text_of(candidates_.setting(rival)), result_.gain);
  if (result_.lower) text += fmt::format(" (95% interval {:.3f} .. {:.3f})", *result_.lower, *result_.upper);
  result_.rival = text;
  result_.default_value = result_.best_value = std::nullopt;
  result_.significant = false;
}

// The setting that failed, if one did.
Result<std::optional<size_t>> Tuner::compare_in_turns() {
  result_.gain = 1;
  result_.lower = result_.upper = result_.default_value = result_.best_value = std::nullopt;
  result_.significant = false;
  result_.pairs = 0;
  result_.rival.clear();
  // Where nothing is better the next best is measured: perhaps it is.
  size_t rival = best_;
  for (const size_t candidate : records_.best_first()) {
    if (rival == standard_) rival = candidate;
  }
  if (Status compared = compare_output(rival); !compared) return compared.error();
  PairedSequence sequence(kFinalError);
  const double from_s = spent_s();
  std::vector<double> values[2];
  bool ended = rival == standard_ || is_over();
  while (!ended) {
    const size_t first = random_.below(2);
    double log_cost[2] = {};
    double value[2] = {};
    for (const size_t side : {first, 1 - first}) {  // 0: the default, 1: the best
      if (is_over()) break;
      report("the best against the default");
      const auto run = run_once(side == 0 ? standard_ : rival, RunPurpose::kFinal);
      if (!run) return run.error();
      if (run->state != TrialState::kDone) {
        result_.notes.push_back(fmt::format("in the last comparison {} did not work once: {}",
                                            side == 0 ? "the default" : file_.space.text_of(candidates_.setting(rival)),
                                            run->why));
        result_.lower = result_.upper = std::nullopt;
        result_.significant = false;
        if (side == 0) return std::optional<size_t>();  // nothing to compare with
        records_.add(rival, *run);
        return std::optional(rival);
      }
      value[side] = run->value;
      log_cost[side] = std::log(cost_of(run->value, file_.objective));
    }
    const bool is_whole = value[0] > 0 && value[1] > 0;
    bool looks = false;
    if (is_whole) {
      values[0].push_back(value[0]);
      values[1].push_back(value[1]);
      looks = sequence.add(log_cost[0] - log_cost[1]);
    }
    const double used = std::min(1.0, (spent_s() - from_s) / std::max(request_.budget_s - from_s, 1e-9));
    ended = sequence.pairs() >= kMostPairs || used >= 1;
    if ((!looks && !ended) || sequence.pairs() == 0) continue;
    const ShiftInterval gain = sequence.look(ended ? 1 : used);
    result_.pairs = static_cast<size_t>(sequence.pairs());
    result_.default_value = median(values[0]);
    result_.best_value = median(values[1]);
    take_gain(gain);
    // The default is shown to be better than the next best: what is left is for the search.
    ended = ended || gain.upper - gain.lower < kFineEnough || (best_ == standard_ && gain.upper < 0);
  }
  if (rival != best_ && result_.significant && result_.gain > 1) best_ = rival;
  if (rival != best_) keep_default(rival);
  return std::optional<size_t>();
}

// Searches, compares, and does so again with what is left of the time, while there are settings to try.
Status Tuner::search_and_compare() {
  if (Status status = try_hints(); !status) return status;
  while (true) {
    if (Status status = search(); !status) return status;
    if (Status status = settle_finalists(); !status) return status;
    if (Status status = compare_with_default(); !status) return status;
    const bool is_at_end = is_exhausted_ || (request_.trials > 0 && records_.size() >= request_.trials);
    const double pair_s = 2.2 * default_wall_s_;
    if (is_at_end || request_.budget_s - spent_s() < 2 * pair_s * static_cast<double>(fewest_pairs(kFinalError)))
      return {};
    set_search_end();
  }
}

// Not timed: what a program prints is kept for this alone.
Status Tuner::compare_output(size_t rival) {
  if (rival == standard_ || output_of_ == rival || !default_output_ || is_over()) return {};
  output_of_ = rival;
  result_.output.reset();
  const auto best = runner_.output_of(candidates_.setting(rival));
  if (!best) return best.error();
  if (!*best) return {};
  OutputComparison output{default_output_->bytes, (*best)->bytes, **best == *default_output_};
  if (!output.is_same) {
    const auto again = runner_.output_of(candidates_.setting(standard_));
    if (!again) return again.error();
    output.default_repeats = *again == default_output_;
  }
  result_.output = output;
  return {};
}

void Tuner::finish() {
  result_.spent_s = spent_s();
  std::vector<TriedSetting> costs;
  for (const TrialRecord& record : records_.all()) {
    TriedPoint point{candidates_.setting(record.candidate), record.value(), record.runs, record.state, record.why};
    if (record.candidate == standard_) result_.standard = result_.tried.size();
    if (record.candidate == best_) result_.best = result_.tried.size();
    if (const auto cost = records_.cost(record.candidate)) costs.push_back({record.candidate, *cost});
    result_.tried.push_back(std::move(point));
  }
  if (!result_.default_value) {
    const auto default_cost = records_.cost(standard_), best_cost = records_.cost(best_);
    if (const TrialRecord* record = records_.find(standard_)) result_.default_value = record->value();
    if (const TrialRecord* record = records_.find(best_)) result_.best_value = record->value();
    if (default_cost && best_cost) result_.gain = *default_cost / *best_cost;
  }
  if (output_of_ != best_) result_.output.reset();
  if (best_ == standard_) {  // it is itself
    result_.gain = 1;
    result_.lower = result_.upper = 1;
  }
  result_.importance = knob_importance(candidates_, costs, request_.seed);
}

Result<Tuning> Tuner::run() {
  result_.knobs = file_.space.knobs();
  result_.command = request_.command;
  result_.source = request_.source;
  result_.strategy = request_.strategy;
  result_.seed = request_.seed;
  result_.objective = file_.objective;
  list_candidates();
  if (candidates_.size() < 2 && !candidates_.more_beside)
    return infeasible_error("empty-space", "one setting alone is allowed: there is nothing to choose", request_.source,
                            "knobs or constraints that leave two settings");
  take_resumed();
  if (Status measured = measure_default(); !measured) return measured.error();
  strategy_ = make_strategy(request_.strategy, candidates_, request_.trials, request_.seed);
  for (const TrialRecord& record : records_.all()) strategy_->tell(record.candidate, records_.cost(record.candidate));
  if (const auto order = records_.best_first(); !order.empty()) best_ = order.front();
  set_search_end();
  if (const Status status = search_and_compare(); !status) {
    if (status.error().kind != ErrorKind::kInterrupted || records_.size() < 2) return status.error();
    result_.interrupted = true;
    result_.notes.emplace_back("interrupted: by what was tried until then");
  }
  finish();
  return std::move(result_);
}

}  // namespace

Result<Tuning> tune(const TuneRequest& request) {
  auto runner = TrialRunner::create(*request.file, request.command);
  if (!runner) return runner.error();
  runner->set_around(request.around);
  return Tuner(request, std::move(*runner)).run();
}

}  // namespace perfcast::measure
