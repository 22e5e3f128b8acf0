#include "program/across/across_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/statistics.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

using measure::BenchmarkRuns;
using measure::ComparedTime;
using measure::CompareVerdict;
using measure::ResultFile;
using measure::TimedRuns;

constexpr double kManyDegrees = 1e6;
constexpr double kMedianError = 1.2533;  // standard error of a median over that of a mean, of normal values
constexpr size_t kNamesShown = 3;
constexpr double kPriorOthers = 1, kPriorFreedom = 12;

double normal_quantile(double error_ratio) { return student_quantile(1 - error_ratio / 2, kManyDegrees); }

double log_time(const TimedRuns& runs) {
  if (runs.runs_s.empty()) return std::log(runs.mean_s);
  std::vector<double> logs;
  logs.reserve(runs.runs_s.size());
  for (const double run_s : runs.runs_s) logs.push_back(std::log(run_s));
  return measure::trimmed_mean(std::move(logs)).mean;
}

TimedRuns& runs_of(BenchmarkRuns& benchmark, ComparedTime time) {
  return time == ComparedTime::kWall ? benchmark.wall : benchmark.cpu;
}

void scale(TimedRuns& runs, double factor) {
  for (double& run_s : runs.runs_s) run_s *= factor;
  runs.mean_s *= factor;
  runs.deviation_s *= factor;
}

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + static_cast<ptrdiff_t>(std::min(kNamesShown, names.size())));
  for (std::string& name : shown) name = printable(name);
  std::string text = join(shown, ", ");
  if (names.size() > kNamesShown) text += fmt::format(" and {} more", names.size() - kNamesShown);
  return text;
}

class Across {
 public:
  explicit Across(const AcrossRequest& request) : request_(request), a_(request.a), b_(request.b) {
    result_.factor = request.factor;
    result_.time = request.session.time;
    result_.error_ratio = request.session.error_ratio;
    result_.threshold_ratio = request.session.threshold_ratio;
  }

  Result<AcrossComparison> compare() {
    name_alike();
    leave_out_busy();
    if (a_.benchmarks.empty() || b_.benchmarks.empty()) {
      return Error{"no-results", busy_.empty() ? "no benchmark is in both files" : busy_,
                   request_.a.path + ", " + request_.b.path, "benchmarks of one thread, with times"};
    }
    if (Status taken = take_expected(); !taken) return taken.error();
    measure::SessionRequest session = request_.session;
    session.single_runs_count = true;
    session.between_sessions = deviation_;
    // A alone, times what is expected: its own scatter is kept.
    auto first = measure::compare_sessions(expected_, b_, session);
    if (!first) return first.error();
    result_.unmatched = first->unmatched;
    take_common(*first);
    if (first->rows.size() > 1) {
      session.error_ratio /= 2;
      hold_against_others(*first, session);
      first = measure::compare_sessions(expected_, b_, session);
      if (!first) return first.error();
    }
    take_rows(*first);
    add_notes();
    return std::move(result_);
  }

 private:
  // Files of one benchmark each are compared whatever its name is.
  void name_alike() {
    if (a_.benchmarks.size() != 1 || b_.benchmarks.size() != 1) return;
    const std::string name = a_.benchmarks[0].name;
    if (b_.benchmarks[0].name != name)
      result_.notes.push_back(fmt::format("B's benchmark is another: {}", printable(b_.benchmarks[0].name)));
    b_.benchmarks[0].name = name;
  }

  void leave_out_busy() {
    if (request_.session.time != ComparedTime::kWall) return;
    std::vector<std::string> names;
    for (const ResultFile* file : {&request_.a, &request_.b}) {
      for (const BenchmarkRuns& benchmark : file->benchmarks) {
        if (benchmark.busy_cpus.value_or(1) <= kMostBusyCpus) continue;
        const std::string name = file->benchmarks.size() == 1 ? a_.benchmarks[0].name : benchmark.name;
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
    if (names.empty()) return;
    for (ResultFile* file : {&a_, &b_}) {
      std::erase_if(file->benchmarks, [&](const BenchmarkRuns& benchmark) {
        return std::find(names.begin(), names.end(), benchmark.name) != names.end();
      });
    }
    busy_ = fmt::format(
        "left out, as they keep several CPUs busy: {}; the factor is of one core, and how many cores a machine has is "
        "not in it: --measure cpu where the file has CPU times",
        listed(names));
    result_.notes.push_back(busy_);
  }

  // Times of A's version on B's machine, and their variance.
  Status take_expected() {
    const MachineFactor& factor = request_.factor;
    const double by_factor =
        factor.program_variance + factor.machines[0].server_variance + factor.machines[1].server_variance;
    double variance = by_factor;
    apart_variance_ = factor.is_same_cpu() ? by_factor / 2 : factor.program_variance;
    expected_ = a_;
    std::map<std::string, std::pair<double, int64_t>> sums;  // of log times by earlier results, by name
    for (const EarlierResult& earlier : request_.earlier) {
      if (earlier.machine.platform != factor.machines[1].platform) {
        return usage_error(
            "bad-usage",
            printable(earlier.file.path) + " is of " + earlier.machine.cpu + ", and B of " + factor.machines[1].cpu,
            "--earlier", "results of A's version on B's CPU model");
      }
      const double level = factor.machines[1].server_level - earlier.machine.server_level;
      const bool is_one = earlier.file.benchmarks.size() == 1 && a_.benchmarks.size() == 1;
      for (BenchmarkRuns benchmark : earlier.file.benchmarks) {
        const TimedRuns& runs = runs_of(benchmark, request_.session.time);
        if (!runs.is_known()) continue;
        auto& [sum, count] = sums[is_one ? a_.benchmarks[0].name : benchmark.name];
        sum += log_time(runs) + level;
        ++count;
      }
    }
    if (!request_.earlier.empty()) {
      std::vector<std::string> missing;
      std::erase_if(expected_.benchmarks, [&](const BenchmarkRuns& benchmark) {
        if (sums.contains(benchmark.name)) return false;
        missing.push_back(benchmark.name);
        return true;
      });
      if (expected_.benchmarks.empty()) {
        return Error{"no-results", "no benchmark of A is in an earlier result", "--earlier",
                     "results of the same benchmarks", ErrorKind::kUsage};
      }
      if (!missing.empty()) result_.notes.push_back("left out, as no earlier result has them: " + listed(missing));
      int64_t fewest = static_cast<int64_t>(request_.earlier.size());
      for (const BenchmarkRuns& benchmark : expected_.benchmarks)
        fewest = std::min(fewest, sums.at(benchmark.name).second);
      const double of_server = factor.machines[1].server_variance;
      const double by_earlier = of_server / static_cast<double>(fewest), by_a = by_factor - of_server;
      const double weight = by_a / (by_a + by_earlier);  // of the earlier results
      for (BenchmarkRuns& benchmark : expected_.benchmarks) {
        const auto& [sum, count] = sums.at(benchmark.name);
        const double by_earlier_log = sum / static_cast<double>(count);
        const double by_a_log = log_time(runs_of(benchmark, request_.session.time)) + factor.log_ratio;
        shifts_[benchmark.name] = factor.log_ratio + weight * (by_earlier_log - by_a_log);
      }
      variance = of_server + by_a * by_earlier / (by_a + by_earlier);
      apart_variance_ = variance / 2;
      result_.earlier = request_.earlier.size();
    }
    for (BenchmarkRuns& benchmark : expected_.benchmarks) {
      const auto own = shifts_.find(benchmark.name);
      const double shift = own == shifts_.end() ? factor.log_ratio : own->second;
      shifts_[benchmark.name] = shift;
      scale(benchmark.wall, std::exp(shift));
      scale(benchmark.cpu, std::exp(shift));
    }
    deviation_ = std::sqrt(variance);
    result_.deviation_log = deviation_;
    return {};
  }

  // What the median benchmark is beside what is expected of it.
  void take_common(const measure::SessionComparison& compared) {
    std::vector<double> left, measured, expected;
    for (const measure::SessionRow& row : compared.rows) {
      left.push_back(std::log(row.ratio));
      expected.push_back(shifts_.at(row.name));
      measured.push_back(std::log(row.ratio) + expected.back());
    }
    result_.ratio = std::exp(median(left));
    result_.measured_ratio = std::exp(median(measured));
    result_.expected_ratio = std::exp(median(expected));
    const double error = left.size() > 1 ? result_.error_ratio / 2 : result_.error_ratio;
    const double own = left.size() > 2 ? kMedianError * robust_deviation(left) / std::sqrt(left.size()) : 0;
    const double reach = normal_quantile(error) * std::hypot(deviation_, own);
    result_.expected_lower = result_.expected_ratio * std::exp(-reach);
    result_.expected_upper = result_.expected_ratio * std::exp(reach);
    if (left.size() == 1) {
      result_.lower = compared.rows.front().lower;
      result_.upper = compared.rows.front().upper;
      result_.verdict = compared.rows.front().verdict;
      return;
    }
    result_.lower = result_.ratio * std::exp(-reach);
    result_.upper = result_.ratio * std::exp(reach);
    result_.verdict = measure::verdict_of(std::log(result_.lower), std::log(result_.upper), result_.threshold_ratio);
  }

  // Each benchmark against what the others have in common: what is judged widens no interval of its own. They differ
  // from that by what programs of the kind do between these machines, which counts as kPriorOthers of them, and by what
  // the others do. Stretched, as Student's t is wider than what compare_sessions() takes for a deviation that is given.
  void hold_against_others(const measure::SessionComparison& compared, measure::SessionRequest& session) {
    const auto n = static_cast<double>(compared.rows.size());
    const double of_one = session.error_ratio / n;
    std::vector<double> all_apart;
    for (const measure::SessionRow& row : compared.rows) {
      std::vector<double> others;
      for (const measure::SessionRow& other : compared.rows) {
        if (&other != &row) others.push_back(std::log(other.ratio));
      }
      const double common = median(others);
      for (double& left : others) left = std::abs(left - common);
      const measure::SpreadOfMost own = measure::spread_of_others(others);
      const double values = own.values * (n - 2) / (n - 1);  // about a middle of their own
      const double deviation = std::sqrt((values * own.deviation * own.deviation + kPriorOthers * apart_variance_) /
                                         (values + kPriorOthers));
      all_apart.push_back(deviation);
      const double share = values / (values + kPriorOthers);
      const double of_prior = (1 - share) * (1 - share) / kPriorFreedom;
      const double freedom = 1 / ((values > 0 ? share * share / values : 0) + of_prior);  // Satterthwaite's
      // The middle of the others is known to so much.
      const double with_middle = std::sqrt(1 + kMedianError * kMedianError / (n - 1));
      session.between_of[row.name] =
          deviation * with_middle * student_quantile(1 - of_one / 2, freedom) / normal_quantile(of_one);
      const auto expected = std::find_if(expected_.benchmarks.begin(), expected_.benchmarks.end(),
                                         [&](const BenchmarkRuns& benchmark) { return benchmark.name == row.name; });
      scale(expected->wall, std::exp(common));
      scale(expected->cpu, std::exp(common));
    }
    result_.apart_log = median(std::move(all_apart));
  }

  void take_rows(const measure::SessionComparison& compared) {
    std::map<std::string, double> a_logs;
    for (BenchmarkRuns& benchmark : a_.benchmarks) {
      const TimedRuns& runs = runs_of(benchmark, request_.session.time);
      if (runs.is_known()) a_logs[benchmark.name] = log_time(runs);
    }
    for (const measure::SessionRow& row : compared.rows) {
      result_.rows.push_back({row.name, std::exp(a_logs.at(row.name)), row.time_s[1], row.time_s[0], row.runs,
                              row.ratio, row.lower, row.upper, row.verdict});
    }
  }

  void add_notes() {
    const MachineFactor& factor = result_.factor;
    for (const ResultFile* file : {&request_.a, &request_.b}) {
      for (const std::string& note : file->notes) result_.notes.push_back((file == &request_.a ? "A: " : "B: ") + note);
    }
    if (request_.a.tool != request_.b.tool)
      result_.notes.push_back("A is of " + request_.a.tool + ", B of " + request_.b.tool +
                              ": they may time differently");
    for (size_t i = 0; i < 2; ++i) {
      if (!factor.machines[i].how.empty())
        result_.notes.push_back(fmt::format("{} is taken for {}: {}", i == 0 ? "A's host" : "B's host",
                                            factor.machines[i].cpu, factor.machines[i].how));
    }
    result_.notes.insert(result_.notes.end(), factor.notes.begin(), factor.notes.end());
    const double servers = std::sqrt(factor.machines[0].server_variance + factor.machines[1].server_variance);
    if (factor.is_same_cpu()) {
      result_.notes.push_back(
          fmt::format("both are of one CPU model, whose servers differ by {:.1f}% from each other (one standard "
                      "deviation); perfcast compare \"command A\" \"command B\" on one of them finds smaller changes",
                      100 * servers));
    } else if (result_.earlier == 0) {
      result_.notes.push_back(
          fmt::format("one standard deviation: {:.1f}% of programs about the factor, {:.1f}% of servers of the CPU "
                      "models; a result of A's version on {} (--earlier) takes most of that away",
                      100 * std::sqrt(factor.program_variance), 100 * servers, factor.machines[1].cpu));
    }
  }

  const AcrossRequest& request_;
  AcrossComparison result_;
  ResultFile a_, b_, expected_;           // expected_: A's, as on B's machine
  std::map<std::string, double> shifts_;  // log of that, by name
  double deviation_ = 0, apart_variance_ = 0;
  std::string busy_;
};

}  // namespace

bool AcrossComparison::any(CompareVerdict wanted) const {
  return verdict == wanted ||
         std::any_of(rows.begin(), rows.end(), [&](const AcrossRow& row) { return row.verdict == wanted; });
}

CompareVerdict AcrossComparison::overall() const {
  for (const CompareVerdict wanted : {CompareVerdict::kSlower, CompareVerdict::kFaster, CompareVerdict::kUnclear}) {
    if (any(wanted)) return wanted;
  }
  return verdict;
}

Result<AcrossComparison> compare_across(const AcrossRequest& request) { return Across(request).compare(); }

}  // namespace perfcast::program
