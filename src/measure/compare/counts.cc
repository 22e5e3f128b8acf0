#include "measure/compare/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "profile/collect/collector.h"

namespace perfcast::measure {
namespace {

constexpr double kSameCount = 1e-4;      // counters closer than this are the same
constexpr double kBeyondRepeats = 3;     // times as far apart as runs of one command
constexpr double kFewestCounted = 1e-4;  // of the instructions: what a counter must be to be shown
constexpr size_t kCountsShown = 12;
constexpr double kSlowerWhileCounted = 100;  // what a limit of one run leaves an instrumented one
// Of a profile, which counts once: what programs of one thread and of several are taken to repeat within.
constexpr double kAssumedRepeats = 1e-3, kAssumedRepeatsOfThreads = 1e-2;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr const char* kNames[] = {"A", "B"};

bool is_partial(const ProfileWarning& warning) {
  return warning.code == "exec-not-followed" || warning.code == "partial-counts" ||
         warning.code == "several-architectures" || warning.code == "stopped-early" || warning.code == "partly-seen";
}

std::string partly_by(const std::vector<ProfileWarning>& warnings) {
  std::string partly;
  for (const ProfileWarning& warning : warnings) {
    if (is_partial(warning)) partly = warning.message;
  }
  return partly;
}

// `limit_s`: 0: none.
Result<WorkCounts> count(const std::vector<std::string>& command, const CompareRequest& request, double limit_s) {
  CollectRequest collect;
  collect.command = command;
  collect.mix_only = true;
  collect.needs_counts = true;
  collect.pass_output = false;
  collect.must_succeed = !request.accept_failure;
  collect.input_descriptor = -1;
  collect.around = request.around;
  collect.limit_s = kSlowerWhileCounted * request.limit_s;  // 0: none
  if (limit_s > 0) collect.limit_s = collect.limit_s > 0 ? std::min(collect.limit_s, limit_s) : limit_s;
  const auto profile = profile_command(
      collect, request.progress ? request.progress : [](const std::string&) {});
  if (!profile) return profile.error();
  if (!profile->metrics.contains("instructions_count")) {
    Error error{"no-counts", "no instruction was counted", "", "a program that the instrumenter can run"};
    for (const ProfileWarning& warning : profile->warnings) {
      error.message = warning.message;
      if (!warning.advice.empty()) error.expected = warning.advice;
    }
    return error;
  }
  if (!profile->ok() && !request.accept_failure) {
    return Error{"program-failed", "it failed under the instrumenter", "", "a command that succeeds there, too"};
  }
  return WorkCounts{profile->metrics, partly_by(profile->warnings)};
}

// Only counts: no time, no ratio of two, nothing of the machine.
bool is_count_of_work(const std::string& metric) {
  return metric.ends_with("_count") &&
         (metric == "instructions_count" || metric == "loads_count" || metric == "stores_count" ||
          metric == "branches_count" || metric.starts_with("op_"));
}

using CountedRuns = std::array<std::vector<MetricValues>, 2>;

// Nothing where a run lacks the metric: that is not 0.
std::optional<CountRow> row_of(const std::string& metric, const CountedRuns& runs, double assumed_repeats) {
  CountRow row;
  row.metric = metric;
  row.repeats_within = assumed_repeats;
  for (size_t i = 0; i < 2; ++i) {
    double sum = 0, low = kInfinite, high = 0;
    for (const MetricValues& values : runs[i]) {
      const auto found = values.find(metric);
      if (found == values.end()) return std::nullopt;
      sum += found->second;
      low = std::min(low, found->second);
      high = std::max(high, found->second);
    }
    (i == 0 ? row.a : row.b) = sum / static_cast<double>(runs[i].size());
    if (high > low) row.repeats_within = std::max(row.repeats_within, low > 0 ? std::log(high / low) : kInfinite);
  }
  if (!(row.a > 0) && !(row.b > 0)) return std::nullopt;
  row.ratio = row.a > 0 ? row.b / row.a : kInfinite;
  const double apart = row.a > 0 && row.b > 0 ? std::abs(std::log(row.ratio)) : kInfinite;
  const bool known = assumed_repeats > 0 || std::max(runs[0].size(), runs[1].size()) > 1;
  row.differs = known && apart > count_reach(row);
  return row;
}

// Of what counts work in all of the runs.
MetricValues means_of(const std::vector<MetricValues>& runs) {
  MetricValues means;
  for (const auto& [metric, value] : runs.front()) {
    if (!is_count_of_work(metric)) continue;
    double sum = 0;
    bool in_all = true;
    for (const MetricValues& values : runs) {
      const auto found = values.find(metric);
      in_all = in_all && found != values.end();
      if (in_all) sum += found->second;
    }
    if (in_all) means[metric] = sum / static_cast<double>(runs.size());
  }
  return means;
}

// The limit of all counted runs, handed to each.
class CountClock {
 public:
  CountClock(const CompareRequest& request, double limit_s)
      : limit_s_(limit_s), runs_(2.0 * request.counted_runs), began_(Clock::now()) {}

  // The first, of which nobody knows how long it takes, gets its part and a half. 0: none.
  double run_limit_s(bool is_first) const {
    return limit_s_ > 0 ? std::max(kShortestLimit, is_first ? 1.5 * limit_s_ / runs_ : limit_s_ - spent_s()) : 0;
  }
  // After so many runs: whether those that are left fit.
  Status check_rest(size_t made) const {
    const double all_s = spent_s() / static_cast<double>(made) * runs_;
    if (!(limit_s_ > 0) || static_cast<double>(made) >= runs_ || all_s <= 1.2 * limit_s_) return {};
    return Error{"limit-reached", fmt::format("they would take some {:.0f} s", all_s), "", "a longer time limit"};
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kShortestLimit = 0.05;
  double spent_s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  double limit_s_, runs_;
  Clock::time_point began_;
};

double assumed_repeats_of(const CompareRequest& request) {
  double assumed = 0;
  for (const auto& recorded : request.recorded) assumed = std::max(assumed, recorded ? recorded->repeats_within : 0);
  return assumed;
}

}  // namespace

double count_reach(const CountRow& row) { return std::max(kSameCount, kBeyondRepeats * row.repeats_within); }

Result<CountedBoth> count_both(const CompareRequest& request, double limit_s) {
  CountedBoth both;
  const CountClock clock(request, limit_s);
  CountedRuns runs;
  const double assumed_repeats = assumed_repeats_of(request);
  for (int round = 0; round < request.counted_runs; ++round) {
    for (size_t i = 0; i < 2; ++i) {
      if (request.recorded[i] && round > 0) continue;
      auto counted = request.recorded[i] ? Result<WorkCounts>(*request.recorded[i])
                                         : count(request.commands[i], request, clock.run_limit_s(runs[0].empty()));
      if (!counted) {
        Error error = counted.error();
        error.message.insert(0, std::string(kNames[i]) + ": ");
        return error;
      }
      if (!counted->partly.empty()) both.partly = std::string(kNames[i]) + ": " + counted->partly;
      runs[i].push_back(std::move(counted->counts));
      if (Status fits = clock.check_rest(runs[0].size() + runs[1].size()); !fits) return fits.error();
    }
  }
  const auto instructions = row_of("instructions_count", runs, assumed_repeats);
  if (!instructions) return Error{"no-counts", "no instruction was counted", "", "programs that do something"};
  for (size_t i = 0; i < 2; ++i) both.counts[i] = means_of(runs[i]);
  std::vector<CountRow>& others = both.rows;
  for (const auto& [metric, value] : runs[0].front()) {
    if (!is_count_of_work(metric) || metric == "instructions_count") continue;
    auto row = row_of(metric, runs, assumed_repeats);
    if (row && row->differs && std::max(row->a, row->b) > kFewestCounted * instructions->a)
      others.push_back(std::move(*row));
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const CountRow& a, const CountRow& b) { return std::abs(a.b - a.a) > std::abs(b.b - b.a); });
  if (others.size() > kCountsShown) others.resize(kCountsShown);
  others.insert(others.begin(), *instructions);
  return both;
}

Result<WorkCounts> counts_of(const Profile& profile, const std::string& source) {
  if (!profile.metrics.contains("instructions_count")) {
    const auto why = profile.missing.find("instructions_count");
    return Error{"no-counts", "the profile has no counts" + (why == profile.missing.end() ? "" : ": " + why->second),
                 source, "a profile with instruction counts"};
  }
  WorkCounts counted{profile.metrics, partly_by(profile.warnings)};
  const auto threads = profile.metrics.find("threads_peak_count");
  const bool is_alone = threads != profile.metrics.end() && threads->second <= 1;
  counted.repeats_within = is_alone ? kAssumedRepeats : kAssumedRepeatsOfThreads;
  return counted;
}

Result<Comparison> compare_counts(const CompareRequest& request) {
  CompareRequest counted = request;
  counted.counted_runs = std::max(1, request.counted_runs);
  auto both = count_both(counted, request.budget_s);
  if (!both) return both.error();
  if (!both->partly.empty()) {
    return Error{"partial-counts", "counts are of a part of the work: " + both->partly, "",
                 "the command that does the work, or times (without --measure instructions)"};
  }
  Comparison result;
  result.threshold_ratio = request.threshold_ratio;
  result.notes = request.notes;
  for (const auto& recorded : request.recorded) result.runs += recorded ? 1 : int64_t{counted.counted_runs};
  result.counts = std::move(both->rows);
  result.all_counts = std::move(both->counts);
  const CountRow& instructions = result.counts.front();
  const bool is_recorded = request.recorded[0] || request.recorded[1];
  const bool repeats_known = is_recorded || counted.counted_runs > 1;
  const double reach = repeats_known ? count_reach(instructions) : kInfinite;
  const double log_ratio = std::log(instructions.ratio);
  result.ratio = instructions.ratio;
  result.lower = std::exp(log_ratio - reach);
  result.upper = std::exp(log_ratio + reach);
  result.significant = result.counts_differ = instructions.differs;
  result.verdict = verdict_of(log_ratio - reach, log_ratio + reach, request.threshold_ratio);
  if (!repeats_known)
    result.notes.emplace_back("one run of each: how far counts repeat is not known, so nothing is sure");
  if (is_recorded) {
    result.notes.push_back(
        fmt::format("counts of a file are of another time: that they would repeat within {:g}% now is assumed",
                    100 * assumed_repeats_of(request)));
  }
  return result;
}

}  // namespace perfcast::measure
