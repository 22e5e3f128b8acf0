#include "measure/compare/sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/statistics.h"
#include "base/text.h"
#include "measure/compare/counts.h"

namespace perfcast::measure {
namespace {

constexpr double kTrimmed = 0.2;       // at either end
constexpr size_t kFewestTrimmed = 5;   // values
constexpr size_t kFewestInOrder = 10;  // values that say how far one resembles the one before
constexpr double kMostLikeness = 0.9;  // of them
// Of |x|, x normal with a deviation of 1: its median and a high quantile.
constexpr double kMedianOfNormal = 0.67449, kHigh = 0.8, kHighOfNormal = 1.28155;
constexpr double kMedianEfficiency = 0.37;  // what a median of absolute deviations is worth in normal values
constexpr double kManyDegrees = 1e6;
constexpr size_t kFewOthers = 9;      // fewer: a median says little
constexpr size_t kFewestWithout = 4;  // others of which one may be left out
constexpr double kStandsOut = 6;      // times the next one: of five normal values less than one in twenty does
constexpr double kMostOfFew = 2.5;    // of spread_of_most()
constexpr double kFewEfficiency = 0.6, kMostFewValues = 3.6;

const TimedRuns& of_kind(const BenchmarkRuns& benchmark, ComparedTime time) {
  return time == ComparedTime::kWall ? benchmark.wall : benchmark.cpu;
}

// How much larger the squared error of a mean is for runs that resemble those before them (an autoregression of order
// 1).
double stretch_of(const std::vector<double>& values) {
  if (values.size() < kFewestInOrder) return 1;
  const double centre = median(values);
  // Outliers would hide what the others do.
  const double reach = 3 * robust_deviation(values);
  if (!(reach > 0)) return 1;
  double both = 0, own = 0, before = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = std::clamp(values[i] - centre, -reach, reach);
    own += x * x;
    if (i > 0) both += x * before;
    before = x;
  }
  const double likeness = std::clamp(both / own, 0.0, kMostLikeness);
  return (1 + likeness) / (1 - likeness);
}

TrimmedMean location_of(const TimedRuns& runs) {
  if (runs.runs_s.empty()) {
    TrimmedMean summary;
    summary.mean = std::log(runs.mean_s);
    const auto n = static_cast<double>(runs.count);
    summary.squared_error = std::pow(runs.deviation_s / runs.mean_s, 2) / n;
    summary.freedom = n - 1;
    return summary;
  }
  std::vector<double> logs;
  logs.reserve(runs.runs_s.size());
  for (const double run_s : runs.runs_s) logs.push_back(std::log(run_s));
  TrimmedMean location = trimmed_mean(logs);
  location.squared_error *= stretch_of(logs);
  return location;
}

struct Pair {
  const BenchmarkRuns* a = nullptr;
  const BenchmarkRuns* b = nullptr;
};

std::vector<Pair> pairs_of(const ResultFile& a, const ResultFile& b, SessionComparison& result) {
  std::vector<Pair> pairs;
  if (a.benchmarks.size() == 1 && b.benchmarks.size() == 1) {
    pairs.push_back({&a.benchmarks[0], &b.benchmarks[0]});
    if (a.benchmarks[0].name != b.benchmarks[0].name) {
      result.notes.push_back(fmt::format("B has another benchmark: {}", printable(b.benchmarks[0].name)));
    }
    return pairs;
  }
  std::map<std::string, const BenchmarkRuns*> in_b;
  for (const BenchmarkRuns& benchmark : b.benchmarks) in_b[benchmark.name] = &benchmark;
  for (const BenchmarkRuns& benchmark : a.benchmarks) {
    const auto found = in_b.find(benchmark.name);
    if (found == in_b.end()) {
      result.unmatched[0].push_back(benchmark.name);
      continue;
    }
    pairs.push_back({&benchmark, found->second});
    in_b.erase(found);
  }
  for (const BenchmarkRuns& benchmark : b.benchmarks) {
    if (in_b.contains(benchmark.name)) result.unmatched[1].push_back(benchmark.name);
  }
  return pairs;
}

struct Between {
  double deviation = 0, freedom = 0;
  bool is_estimated = false;
};

// From all rows but this one.
Between between_of(const std::vector<double>& log_ratios, size_t row, const std::string& name,
                   const SessionRequest& request) {
  if (const auto own = request.between_of.find(name); own != request.between_of.end())
    return {own->second, kManyDegrees, false};
  if (request.between_sessions) return {*request.between_sessions, kManyDegrees, false};
  if (log_ratios.size() <= kFewestOthers) return {kAssumedBetweenSessions, kManyDegrees, false};
  std::vector<double> others;
  for (size_t i = 0; i < log_ratios.size(); ++i) {
    if (i != row) others.push_back(std::abs(log_ratios[i]));
  }
  const SpreadOfMost spread = spread_of_others(others);
  return {spread.deviation, spread.values, true};
}

void judge(SessionRow& row, const TrimmedMean& a, const TrimmedMean& b, const Between& between,
           const SessionRequest& request, double error_ratio) {
  const double log_ratio = b.mean - a.mean;
  row.ratio = std::exp(log_ratio);
  row.time_s = {std::exp(a.mean), std::exp(b.mean)};
  row.between_sessions = between.deviation;
  row.upper = std::numeric_limits<double>::infinity();
  // One run says nothing of how runs vary; the other benchmarks, with their own runs in them, do.
  const bool is_known = (a.freedom > 0 && b.freedom > 0) || between.is_estimated || request.single_runs_count;
  if (!is_known) return;
  const double session = between.deviation * between.deviation;
  const double squared = a.squared_error + b.squared_error + session;
  if (!std::isfinite(squared)) return;
  if (!(squared > 0)) {
    row.lower = row.upper = row.ratio;
  } else {
    const auto part = [squared](double part_squared, double freedom) {
      return freedom > 0 ? std::pow(part_squared / squared, 2) / freedom : 0;
    };
    const double freedom =
        1 / (part(a.squared_error, a.freedom) + part(b.squared_error, b.freedom) + part(session, between.freedom));
    const double reach =
        student_quantile(1 - error_ratio / 2, std::clamp(freedom, 1.0, kManyDegrees)) * std::sqrt(squared);
    row.lower = std::exp(log_ratio - reach);
    row.upper = std::exp(log_ratio + reach);
  }
  row.verdict = verdict_of(std::log(row.lower), std::log(row.upper), request.threshold_ratio);
}

void add_notes(const ResultFile& a, const ResultFile& b, const SessionRequest& request, SessionComparison& result) {
  for (const ResultFile* file : {&a, &b}) {
    for (const std::string& note : file->notes) result.notes.push_back((file == &a ? "A: " : "B: ") + note);
  }
  if (a.tool != b.tool)
    result.notes.push_back("A's results come from " + a.tool + ", B's from " + b.tool +
                           "; these tools may measure time differently");
  if (request.between_of.empty()) {
    const std::string better = "; if you know better, give --between-sessions 1%";
    result.notes.push_back(fmt::format(
        "the runs of A and B were not in turns. From one session to another, the times of a benchmark differ by "
        "{:.1f}% "
        "(one standard deviation), {}",
        100 * result.rows.front().between_sessions,
        result.is_estimated        ? "as the other benchmarks show" + better
        : request.between_sessions ? "as given"
                                   : "as assumed, because there are fewer than three other benchmarks" + better +
                                         "; perfcast compare \"command A\" \"command B\" runs them in turns"));
  }
  const double shift = std::log(result.median_ratio);
  if (result.is_estimated && result.rows.size() > kFewestOthers && std::abs(shift) > 0.02) {
    result.notes.push_back(
        fmt::format("half of the benchmarks take {:.3f} times as long or {}; from files alone, perfcast can't tell the "
                    "machine from the change",
                    result.median_ratio, shift > 0 ? "more" : "less"));
  }
}

}  // namespace

SpreadOfMost spread_of_most(const std::vector<double>& absolute) {
  return {std::max(median(absolute) / kMedianOfNormal, quantile(absolute, kHigh) / kHighOfNormal),
          kMedianEfficiency * static_cast<double>(absolute.size())};
}

SpreadOfMost spread_of_others(const std::vector<double>& absolute) {
  const SpreadOfMost most = spread_of_most(absolute);
  if (absolute.size() >= kFewOthers) return most;
  // One that stands out of four or more has changed itself: it says nothing of the machine.
  if (absolute.size() >= kFewestWithout) {
    std::vector<double> rest = absolute;
    std::sort(rest.begin(), rest.end());
    if (rest.back() > kStandsOut * rest[rest.size() - 2]) {
      rest.pop_back();
      return spread_of_others(rest);
    }
  }
  const auto n = static_cast<double>(absolute.size());
  double squares = 0;
  for (const double value : absolute) squares += std::pow(std::min(value, kMostOfFew * most.deviation), 2);
  return {std::sqrt(squares / n), std::min(kFewEfficiency * n, kMostFewValues)};
}

TrimmedMean trimmed_mean(std::vector<double> values) {
  TrimmedMean result;
  const size_t n = values.size();
  if (n == 0) return result;
  std::sort(values.begin(), values.end());
  const size_t cut = n >= kFewestTrimmed ? static_cast<size_t>(kTrimmed * static_cast<double>(n)) : 0;
  const size_t kept = n - 2 * cut;
  double sum = 0;
  for (size_t i = cut; i < n - cut; ++i) sum += values[i];
  result.mean = sum / static_cast<double>(kept);
  if (kept < 2) return result;
  // What was cut counts as the nearest that was kept.
  for (size_t i = 0; i < n; ++i) values[i] = std::clamp(values[i], values[cut], values[n - cut - 1]);
  const double deviation = standard_deviation(values);
  result.freedom = static_cast<double>(kept - 1);
  result.squared_error =
      deviation * deviation * static_cast<double>(n - 1) / (static_cast<double>(kept) * result.freedom);
  return result;
}

bool SessionComparison::any(CompareVerdict verdict) const {
  return std::any_of(rows.begin(), rows.end(), [&](const SessionRow& row) { return row.verdict == verdict; });
}

Status add_profile_facts(const Profile& a, const Profile& b, SessionComparison& comparison) {
  if (a.host.name != b.host.name) {
    comparison.notes.push_back(fmt::format("A was taken on {}, B on {}: their times differ by the machines, too",
                                           printable(a.host.name), printable(b.host.name)));
  }
  CompareRequest request;
  request.counted_runs = 1;
  for (const auto& [side, profile] : {std::pair{size_t{0}, &a}, {size_t{1}, &b}}) {
    auto counts = counts_of(*profile, side == 0 ? "A" : "B");
    if (!counts) {
      comparison.notes.push_back((side == 0 ? "A: " : "B: ") + counts.error().message);
      return {};
    }
    if (!counts->partly.empty()) comparison.notes.push_back("counts are of a part of the work: " + counts->partly);
    request.recorded[side] = std::move(*counts);
  }
  auto counted = count_both(request);
  if (!counted) return counted.error();
  comparison.counts = std::move(counted->rows);
  return {};
}

Result<SessionComparison> compare_sessions(const ResultFile& a, const ResultFile& b, const SessionRequest& request) {
  SessionComparison result;
  result.time = request.time;
  result.error_ratio = request.error_ratio;
  result.threshold_ratio = request.threshold_ratio;
  std::vector<Pair> pairs = pairs_of(a, b, result);
  if (pairs.empty()) {
    return Error{"no-results", "no benchmark is in both files", a.path + ", " + b.path,
                 "files of the same benchmarks, or of one benchmark each"};
  }
  const size_t matched = pairs.size();
  std::erase_if(pairs, [&](const Pair& pair) {
    return !of_kind(*pair.a, request.time).is_known() || !of_kind(*pair.b, request.time).is_known();
  });
  if (pairs.empty()) {
    return Error{"no-results", "no benchmark has CPU times in both files", a.path + ", " + b.path,
                 "--measure wall; CPU time of runs is in Google Benchmark's files and in profiles"};
  }
  if (pairs.size() < matched)
    result.notes.push_back(fmt::format("{} without this kind of time are left out", matched - pairs.size()));
  std::vector<TrimmedMean> a_means, b_means;
  std::vector<double> log_ratios;
  for (const Pair& pair : pairs) {
    a_means.push_back(location_of(of_kind(*pair.a, request.time)));
    b_means.push_back(location_of(of_kind(*pair.b, request.time)));
    log_ratios.push_back(b_means.back().mean - a_means.back().mean);
  }
  const double error_ratio = request.error_ratio / static_cast<double>(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    SessionRow row;
    row.name = pairs[i].a->name;
    row.runs = {of_kind(*pairs[i].a, request.time).runs(), of_kind(*pairs[i].b, request.time).runs()};
    const Between between = between_of(log_ratios, i, row.name, request);
    result.is_estimated = between.is_estimated;
    judge(row, a_means[i], b_means[i], between, request, error_ratio);
    result.rows.push_back(std::move(row));
  }
  result.median_ratio = std::exp(median(log_ratios));
  add_notes(a, b, request, result);
  return result;
}

}  // namespace perfcast::measure
