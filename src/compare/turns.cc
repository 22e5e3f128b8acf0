#include "compare/turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/process/interrupt.h"
#include "collect/process/process.h"
#include "collect/process/program_inspector.h"

namespace perfcast {
namespace {

constexpr int64_t kMostPairs = 1000;
constexpr double kSameWithin = 0.01;     // what counts as no difference where no threshold says
constexpr double kSameCount = 1e-4;      // counters closer than this are the same
constexpr double kBeyondRepeats = 3;     // times as far apart as runs of one command
constexpr double kFewestCounted = 1e-4;  // of the instructions: what a counter must be to be shown
constexpr size_t kCountsShown = 12;
constexpr double kWorthSayingOrder = 0.01;
constexpr const char* kNames[] = {"A", "B"};

class Turns {
 public:
  explicit Turns(const CompareRequest& request) : request_(request), random_(request.seed) {}
  Result<Comparison> run();

 private:
  using Clock = std::chrono::steady_clock;
  Status find_programs();
  Result<ComparedRun> run_once(int command, int64_t pair, bool first);
  Status warm_up(double& pair_s);
  // False: interrupted.
  Result<bool> run_pair(PairedSequence& sequence);
  void take(const PairedSequence::Look& look);
  bool is_clear() const { return result_.verdict != CompareVerdict::kUnclear; }
  void finish(const PairedSequence& sequence);
  double spent_s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  double time_of(const ComparedRun& run) const { return request_.time == ComparedTime::kWall ? run.wall_s : run.cpu_s; }
  void report(const PairedSequence& sequence) const;

  const CompareRequest& request_;
  Random random_;
  Clock::time_point began_ = Clock::now();
  std::array<ProgramFacts, 2> programs_;
  std::array<std::vector<double>, 2> wall_s_, cpu_s_;
  std::vector<double> order_;  // log of a pair's first time over its second
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
  process.limit_s = request_.limit_s;
  auto outcome = run_process(process);
  if (!outcome) return outcome.error();
  const std::string name = fmt::format("{}, {}", kNames[i], printable(join(request_.commands[i], " ")));
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

Status Turns::warm_up(double& pair_s) {
  pair_s = 0;
  for (int round = 0; round < std::max(1, request_.warmups); ++round) {
    if (request_.progress) request_.progress("warming up");
    double sum = 0;
    for (const int command : {0, 1}) {
      const auto run = run_once(command, 0, command == 0);
      if (!run) return run.error();
      sum += run->wall_s;
    }
    pair_s = sum;
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
      if (run.error().kind == ErrorKind::kInterrupted && sequence.pairs() >= PairedSequence::kFewestPairs) return false;
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
  sequence.add(log_time[1] - log_time[0]);
  return true;
}

void Turns::take(const PairedSequence::Look& look) {
  const ShiftInterval& log_ratio = look.interval;
  result_.ratio = std::exp(log_ratio.estimate);
  result_.lower = std::exp(log_ratio.lower);
  result_.upper = std::exp(log_ratio.upper);
  result_.significant = log_ratio.lower > 0 || log_ratio.upper < 0;
  const double log_threshold = std::log1p(request_.threshold_ratio);
  const double log_same = std::max(log_threshold, std::log1p(kSameWithin));
  if (log_ratio.lower > log_threshold) {
    result_.verdict = CompareVerdict::kSlower;
  } else if (log_ratio.upper < 0) {
    result_.verdict = CompareVerdict::kFaster;
  } else if (log_ratio.lower > 0 && log_ratio.upper <= log_threshold) {
    result_.verdict = CompareVerdict::kBelowThreshold;
  } else if (-log_same <= log_ratio.lower && log_ratio.upper <= log_same) {
    result_.verdict = CompareVerdict::kNoDifference;
  }
}

void Turns::report(const PairedSequence& sequence) const {
  if (!request_.progress) return;
  std::string text = fmt::format("pair {} of at most {}", sequence.pairs(), result_.most_pairs);
  if (result_.upper > 0 && std::isfinite(result_.upper))
    text += fmt::format(", B / A {:.3f} ({:.3f} .. {:.3f})", result_.ratio, result_.lower, result_.upper);
  request_.progress(text);
}

void Turns::finish(const PairedSequence& sequence) {
  result_.pairs = sequence.pairs();
  result_.spent_s = spent_s();
  for (size_t i = 0; i < 2; ++i) {
    result_.median_wall_s[i] = median(wall_s_[i]);
    result_.median_cpu_s[i] = median(cpu_s_[i]);
  }
  const double first_over_second = median(order_);
  result_.first_over_second_ratio = std::exp(first_over_second);
  if (std::abs(first_over_second) > kWorthSayingOrder && signed_rank_probability(order_) < 0.01) {
    result_.notes.push_back(fmt::format(
        "the first run of a pair takes {:.3f} times as long as the second: the order, which was drawn, matters here",
        std::exp(first_over_second)));
  }
  if (result_.spent_s > 1.5 * request_.budget_s && sequence.pairs() <= PairedSequence::kFewestPairs) {
    result_.notes.push_back(
        fmt::format("{} pairs are the fewest that can tell anything: they took {:.0f} s of a budget of {:g} s",
                    PairedSequence::kFewestPairs, result_.spent_s, request_.budget_s));
  }
}

Result<Comparison> Turns::run() {
  if (Status found = find_programs(); !found) return found.error();
  result_.time = request_.time;
  result_.error_ratio = request_.error_ratio;
  result_.threshold_ratio = request_.threshold_ratio;
  double pair_s = 0;
  if (Status warm = warm_up(pair_s); !warm) return warm.error();
  const double left_s = std::max(0.0, request_.budget_s - spent_s());
  const double most = std::min(left_s / std::max(pair_s, 1e-6), static_cast<double>(kMostPairs));
  PairedSequence sequence(request_.error_ratio, static_cast<int64_t>(most));
  result_.most_pairs = sequence.looks().back();
  while (!is_clear()) {
    const auto went_on = run_pair(sequence);
    if (!went_on) return went_on.error();
    result_.interrupted = !*went_on;
    const bool late = spent_s() > request_.budget_s && sequence.pairs() >= PairedSequence::kFewestPairs;
    const bool last = sequence.is_full() || result_.interrupted || late;
    if (last || sequence.is_look()) take(sequence.look(last));
    report(sequence);
    if (last) break;
  }
  if (result_.interrupted) result_.notes.emplace_back("interrupted: by the pairs until then");
  finish(sequence);
  return std::move(result_);
}

Result<MetricValues> count(const std::vector<std::string>& command, const CompareRequest& request) {
  CollectRequest collect;
  collect.command = command;
  collect.mix_only = true;
  collect.needs_counts = true;
  collect.pass_output = false;
  collect.must_succeed = !request.accept_failure;
  collect.input_descriptor = -1;
  collect.limit_s = request.limit_s;
  const auto profile = profile_command(
      collect, request.progress ? request.progress : [](const std::string&) {});
  if (!profile) return profile.error();
  if (!profile->ok() && !request.accept_failure) {
    return Error{"program-failed", "it failed under the instrumenter: " + printable(join(command, " ")), "",
                 "commands that succeed"};
  }
  return profile->metrics;
}

// Only counts: no time, no ratio of two, nothing of the machine.
bool is_count_of_work(const std::string& metric) {
  return metric.ends_with("_count") &&
         (metric == "instructions_count" || metric == "loads_count" || metric == "stores_count" ||
          metric == "branches_count" || metric.starts_with("op_"));
}

CountRow row_of(const std::string& metric, const std::array<std::vector<MetricValues>, 2>& runs) {
  CountRow row;
  row.metric = metric;
  for (size_t i = 0; i < 2; ++i) {
    double sum = 0, low = std::numeric_limits<double>::infinity(), high = 0;
    for (const MetricValues& values : runs[i]) {
      const auto found = values.find(metric);
      const double value = found == values.end() ? 0 : found->second;
      sum += value;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    (i == 0 ? row.a : row.b) = sum / static_cast<double>(runs[i].size());
    if (low > 0) row.repeats_within = std::max(row.repeats_within, std::log(high / low));
  }
  row.ratio = row.a > 0 ? row.b / row.a : std::numeric_limits<double>::infinity();
  const double apart = row.a > 0 && row.b > 0 ? std::abs(std::log(row.ratio)) : std::numeric_limits<double>::infinity();
  row.differs = (row.a > 0 || row.b > 0) && apart > std::max(kSameCount, kBeyondRepeats * row.repeats_within);
  return row;
}

Status add_counts(const CompareRequest& request, Comparison& result) {
  std::array<std::vector<MetricValues>, 2> runs;
  for (int round = 0; round < request.counted_runs; ++round) {
    for (size_t i = 0; i < 2; ++i) {
      auto counted = count(request.commands[i], request);
      if (!counted) {
        Error error = counted.error();
        error.message.insert(0, std::string(kNames[i]) + ": ");
        return error;
      }
      runs[i].push_back(std::move(*counted));
    }
  }
  const CountRow instructions = row_of("instructions_count", runs);
  result.counts_differ = instructions.differs;
  std::vector<CountRow> others;
  MetricValues all = runs[0].front();
  all.insert(runs[1].front().begin(), runs[1].front().end());
  for (const auto& [metric, value] : all) {
    if (!is_count_of_work(metric) || metric == "instructions_count") continue;
    CountRow row = row_of(metric, runs);
    if (row.differs && std::max(row.a, row.b) > kFewestCounted * instructions.a) others.push_back(std::move(row));
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const CountRow& a, const CountRow& b) { return std::abs(a.b - a.a) > std::abs(b.b - b.a); });
  if (others.size() > kCountsShown) others.resize(kCountsShown);
  result.counts = {instructions};
  result.counts.insert(result.counts.end(), others.begin(), others.end());
  return {};
}

}  // namespace

Result<Comparison> compare_in_turns(const CompareRequest& request) {
  auto result = Turns(request).run();
  if (!result || result->interrupted || request.counted_runs < 1) return result;
  if (Status counted = add_counts(request, *result); !counted) {
    // What was timed stands without them.
    if (counted.error().kind == ErrorKind::kInterrupted) result->interrupted = true;
    result->notes.push_back("no counts: " + counted.error().message);
  }
  return result;
}

Result<Comparison> compare_counts(const CompareRequest& request) {
  Comparison result;
  result.error_ratio = request.error_ratio;
  result.threshold_ratio = request.threshold_ratio;
  CompareRequest counted = request;
  counted.counted_runs = std::max(1, request.counted_runs);
  if (Status status = add_counts(counted, result); !status) return status.error();
  const CountRow& instructions = result.counts.front();
  if (!(instructions.a > 0 && instructions.b > 0))
    return Error{"no-counts", "no instruction was counted", "", "programs that the instrumenter can run"};
  const double reach = std::max(kSameCount, kBeyondRepeats * instructions.repeats_within);
  result.ratio = instructions.ratio;
  result.lower = instructions.ratio * std::exp(-reach);
  result.upper = instructions.ratio * std::exp(reach);
  result.significant = instructions.differs;
  const double threshold = 1 + request.threshold_ratio;
  if (!result.significant) {
    result.verdict = CompareVerdict::kNoDifference;
  } else if (result.upper < 1) {
    result.verdict = CompareVerdict::kFaster;
  } else if (result.lower > threshold) {
    result.verdict = CompareVerdict::kSlower;
  } else {
    result.verdict = result.upper <= threshold ? CompareVerdict::kBelowThreshold : CompareVerdict::kUnclear;
  }
  if (counted.counted_runs < 2) result.notes.emplace_back("one run of each: how far counts repeat is not known");
  return result;
}

std::string name_of(CompareVerdict verdict) {
  switch (verdict) {
    case CompareVerdict::kSlower:
      return "slower";
    case CompareVerdict::kFaster:
      return "faster";
    case CompareVerdict::kNoDifference:
      return "no difference";
    case CompareVerdict::kBelowThreshold:
      return "below the threshold";
    case CompareVerdict::kUnclear:
      break;
  }
  return "unclear";
}

}  // namespace perfcast
