#include "measure/compare/turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/process/interrupt.h"
#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "measure/compare/counts.h"
#include "measure/compare/paired_sequence.h"

namespace perfcast::measure {
namespace {

constexpr int64_t kMostPairs = 2000;  // their means in pairs are two million numbers
constexpr double kWorthSayingOrder = 0.01;
constexpr double kOrderError = 0.01;
constexpr double kMostForWarmUps = 0.25;   // of the time limit
constexpr double kMostForCounts = 0.5;     // of what is left of it, while times are not clear
constexpr double kSlowerWhileCounted = 8;  // most programs take 5 to 50 times as long; counting notices that it is more
constexpr double kStartWhileCounted_s = 0.2;
constexpr double kShortestRun_s = 1;      // what a run may take, however short the time limit
constexpr double kShortestCounts = 0.05;  // of the time limit: may be used beyond it
constexpr const char* kNames[] = {"A", "B"};

class Turns {
 public:
  explicit Turns(const CompareRequest& request)
      : request_(request), random_(request.seed), fewest_(fewest_pairs(request.error_ratio)) {}
  Result<Comparison> run();

 private:
  using Clock = std::chrono::steady_clock;
  Status find_programs();
  Result<ComparedRun> run_once(int command, int64_t pair, bool first);
  Status warm_up();
  // Whether one looks now. No pair is added where an interrupt or the time limit ended it and there are enough.
  Result<bool> run_pair(PairedSequence& sequence);
  void take(const ShiftInterval& log_ratio);
  void take_counts(bool is_last, bool uses_all);
  void decide_by_counts(bool is_last);
  bool is_clear() const { return result_.verdict != CompareVerdict::kUnclear; }
  double left_s() const { return request_.budget_s - spent_s(); }
  double pair_s() const { return wall_s_[0].empty() ? 0 : median(wall_s_[0]) + median(wall_s_[1]); }
  // Of all counted runs, as far as anybody can know before the first.
  double counts_s() const;
  void finish(const PairedSequence& sequence);
  double spent_s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  double time_of(const ComparedRun& run) const { return request_.time == ComparedTime::kWall ? run.wall_s : run.cpu_s; }
  void report(const PairedSequence& sequence) const;

  const CompareRequest& request_;
  Random random_;
  int64_t fewest_;
  Clock::time_point began_ = Clock::now();
  std::array<ProgramFacts, 2> programs_;
  std::array<std::vector<double>, 2> wall_s_, cpu_s_;
  std::vector<double> order_;  // log of a pair's first time over its second
  std::string why_not_counted_;
  double counts_allowed_s_ = 0;  // when they last didn't fit
  Comparison result_;
};

Status Turns::find_programs() {
  for (size_t i = 0; i < 2; ++i) {
    auto program = inspect_program(request_.commands[i]);
    if (!program) return program.error();
    programs_[i] = std::move(*program);
  }
  return {};
}

Result<ComparedRun> Turns::run_once(int command, int64_t pair, bool first) {
  const auto i = static_cast<size_t>(command);
  ProcessRequest process;
  process.executable = programs_[i].path;
  process.arguments = request_.commands[i];
  // One that takes much longer than those before does not keep the time limit waiting.
  const double rest_s = std::max(kShortestRun_s, left_s() + pair_s());
  const bool is_last = !(request_.limit_s > 0) || rest_s < request_.limit_s;
  process.limit_s = is_last ? rest_s : request_.limit_s;
  process.around = request_.around;
  auto outcome = run_process(process);
  if (!outcome) return outcome.error();
  const std::string name = fmt::format("{}, {}", kNames[i], printable(join(request_.commands[i], " ")));
  if (outcome->limit_reached && is_last) {
    return Error{"limit-reached",
                 fmt::format("{}: still running when the time limit of {:g} s ended", name, request_.budget_s),
                 "--time-limit", fmt::format("a longer time limit: a verdict needs {} runs of each", fewest_)};
  }
  if (outcome->limit_reached) {
    return Error{"limit-reached", fmt::format("{}: a run took more than {:g} s", name, request_.limit_s), "",
                 "a longer limit"};
  }
  if (!outcome->ok() && !request_.accept_failure) {
    std::string message =
        name + (outcome->signal ? " was killed by signal " + signal_text(*outcome->signal)
                                : fmt::format(" exited with status {}", outcome->exit_code.value_or(0)));
    const std::string words = printable(trim(outcome->error_tail));
    if (!words.empty()) message += ": " + words.substr(words.size() > 200 ? words.size() - 200 : 0);
    return Error{"program-failed", message, "", "commands that succeed"};
  }
  ComparedRun run{command, pair, first, outcome->wall_s, outcome->cpu_s(), outcome->peak_resident_bytes};
  if (request_.record) {
    if (Status written = request_.record(run); !written) return written.error();
  }
  return run;
}

Status Turns::warm_up() {
  if (request_.progress) request_.progress("warming up");
  for (int round = 0; round < request_.warmups; ++round) {
    for (const int command : {0, 1}) {
      if (const auto run = run_once(command, 0, command == 0); !run) return run.error();
      if (spent_s() <= kMostForWarmUps * request_.budget_s) continue;
      const bool are_all = command == 1 && round + 1 == request_.warmups;
      if (!are_all) result_.notes.emplace_back("there were fewer warm-ups: they would take too much of the time limit");
      return {};
    }
  }
  return {};
}

Result<bool> Turns::run_pair(PairedSequence& sequence) {
  const int first = static_cast<int>(random_.below(2));
  std::array<double, 2> log_time{};
  std::array<ComparedRun, 2> runs;
  for (const int command : {first, 1 - first}) {
    const auto run = run_once(command, sequence.pairs() + 1, command == first);
    if (!run) {
      if (run.error().kind == ErrorKind::kInterrupted && sequence.pairs() >= fewest_) {
        result_.interrupted = true;
        return false;
      }
      if (run.error().where == "--time-limit" && sequence.pairs() > 0) return false;
      return run.error();
    }
    const auto i = static_cast<size_t>(command);
    if (!(time_of(*run) > 0)) {
      return Error{"too-short", fmt::format("{} takes no time that the system counts", kNames[i]), "",
                   "wall time, or commands that do more"};
    }
    log_time[i] = std::log(time_of(*run));
    runs[i] = *run;
  }
  for (size_t i = 0; i < 2; ++i) {
    wall_s_[i].push_back(runs[i].wall_s);
    cpu_s_[i].push_back(runs[i].cpu_s);
  }
  const auto f = static_cast<size_t>(first);
  order_.push_back(log_time[f] - log_time[1 - f]);
  return sequence.add(log_time[1] - log_time[0]);
}

void Turns::take(const ShiftInterval& log_ratio) {
  result_.ratio = std::exp(log_ratio.estimate);
  result_.lower = std::exp(log_ratio.lower);
  result_.upper = std::exp(log_ratio.upper);
  result_.significant = log_ratio.lower > 0 || log_ratio.upper < 0;
  result_.verdict = verdict_of(log_ratio.lower, log_ratio.upper, request_.threshold_ratio);
}

double Turns::counts_s() const {
  if (request_.counted_runs < 1 || !result_.counts.empty() || !why_not_counted_.empty()) return 0;
  const double all_s = request_.counted_runs * (kSlowerWhileCounted * pair_s() + 2 * kStartWhileCounted_s);
  return all_s <= kMostForCounts * request_.budget_s ? all_s : 0;
}

void Turns::decide_by_counts(bool is_last) {
  if (is_clear()) return;
  result_.verdict = verdict_by_counts(result_, is_last);
  result_.by_counts = is_clear();
}

// Once, at the first look; `uses_all`: may take all that is left of the time. Where times are not clear by then, counts
// may say that nothing differs.
void Turns::take_counts(bool is_last, bool uses_all) {
  const double may_take_s = std::max(kShortestCounts * request_.budget_s, left_s() * (uses_all ? 1 : kMostForCounts));
  const bool is_tried = !why_not_counted_.empty() && may_take_s < 1.5 * counts_allowed_s_;
  if (request_.counted_runs >= 1 && result_.counts.empty() && !is_tried) {
    if (request_.progress) request_.progress("counting instructions");
    auto counts = count_both(request_, may_take_s);
    why_not_counted_ = counts ? "" : counts.error().message;
    counts_allowed_s_ = !counts && counts.error().code == "limit-reached" ? may_take_s : request_.budget_s;
    if (counts) {
      result_.counts = std::move(counts->rows);
      result_.all_counts = std::move(counts->counts);
      result_.counts_differ = result_.counts.front().differs;
      result_.counts_repeat = request_.counted_runs > 1 && counts->partly.empty();
      if (!counts->partly.empty()) result_.notes.push_back("counts are of a part of the work: " + counts->partly);
    } else if (counts.error().kind == ErrorKind::kInterrupted) {
      result_.interrupted = true;
    }
  }
  if (!result_.interrupted) decide_by_counts(is_last);
}

void Turns::report(const PairedSequence& sequence) const {
  if (!request_.progress) return;
  std::string text = fmt::format("pair {}, {:.0f} of at most {:.0f} s", sequence.pairs(), spent_s(), request_.budget_s);
  if (result_.upper > 0 && std::isfinite(result_.upper))
    text += fmt::format(", B / A {:.3f} ({:.3f} .. {:.3f})", result_.ratio, result_.lower, result_.upper);
  request_.progress(text);
}

void Turns::finish(const PairedSequence& sequence) {
  result_.pairs = sequence.pairs();
  result_.runs = 2 * sequence.pairs();
  for (size_t i = 0; i < 2; ++i) {
    result_.median_wall_s[i] = median(wall_s_[i]);
    result_.median_cpu_s[i] = median(cpu_s_[i]);
  }
  const ShiftInterval order = shift_interval(order_, kOrderError);
  result_.first_over_second_ratio = std::exp(order.estimate);
  if (std::abs(order.estimate) > kWorthSayingOrder && (order.lower > 0 || order.upper < 0)) {
    result_.notes.push_back(fmt::format(
        "the first run of a pair takes {:.3f} times as long as the second: the order, which was drawn, matters here",
        std::exp(order.estimate)));
  }
  if (result_.interrupted) result_.notes.emplace_back("interrupted: by the pairs until then");
  if (request_.counted_runs >= 1 && result_.counts.empty() && !why_not_counted_.empty())
    result_.notes.push_back("no counts: " + why_not_counted_);
  if (sequence.pairs() >= kMostPairs && !is_clear())
    result_.notes.push_back(fmt::format("{} pairs are the most that are made, whatever the time limit", kMostPairs));
  if (!is_clear() && !result_.interrupted && sequence.pairs() < fewest_) {
    result_.notes.push_back(
        fmt::format("a verdict by times with errors of {:g}% needs at least {} pairs; with "
                    "--time-limit {:.0f}s they fit",
                    100 * request_.error_ratio, fewest_,
                    std::ceil(1.2 * (static_cast<double>(fewest_ + request_.warmups) * pair_s()) + 1)));
  }
}

Result<Comparison> Turns::run() {
  if (Status found = find_programs(); !found) return found.error();
  result_.time = request_.time;
  result_.error_ratio = request_.error_ratio;
  result_.threshold_ratio = request_.threshold_ratio;
  result_.budget_s = request_.budget_s;
  result_.notes = request_.notes;
  if (Status warm = warm_up(); !warm) return warm.error();
  PairedSequence sequence(request_.error_ratio);
  bool ended = false;
  while (!ended && !is_clear()) {
    const int64_t before = sequence.pairs();
    const auto looks = run_pair(sequence);
    if (!looks) return looks.error();
    const bool is_cut = sequence.pairs() == before;
    // What is used of the budget doesn't depend on the coins; when somebody interrupts may.
    const double used = std::min(1.0, spent_s() / request_.budget_s);
    ended = is_cut || sequence.pairs() >= kMostPairs || pair_s() > left_s();
    // Counts are not left to when there is no time for them.
    const bool must_count = counts_s() > 0 && pair_s() + counts_s() > left_s();
    if (*looks || ended || must_count) {
      take(sequence.look(ended && !result_.interrupted ? 1 : used));
      if (!result_.interrupted) take_counts(ended || is_clear(), ended || is_clear() || must_count);
    }
    report(sequence);
  }
  finish(sequence);
  result_.spent_s = spent_s();
  return std::move(result_);
}

}  // namespace

Result<Comparison> compare_in_turns(const CompareRequest& request) { return Turns(request).run(); }

}  // namespace perfcast::measure
