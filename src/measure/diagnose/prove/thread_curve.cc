#include "measure/diagnose/prove/thread_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <numeric>

#include "base/process/process.h"
#include "base/process/program_inspector.h"
#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr int kFewestRounds = 2, kMostRounds = 9;
constexpr int kMostThreads = 1024;

class CurveRuns {
 public:
  explicit CurveRuns(const ThreadCurveRequest& request) : request_(request), random_(request.seed) {}
  Result<ThreadCurve> run();

 private:
  using Clock = std::chrono::steady_clock;
  Status run_round();
  Status run_once(ThreadPoint& point);
  void finish();
  double spent_s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  const ThreadCurveRequest& request_;
  Random random_;
  Clock::time_point began_ = Clock::now();
  std::vector<std::vector<double>> cpu_s_;
  ThreadCurve curve_;
};

Status CurveRuns::run_once(ThreadPoint& point) {
  ProcessRequest process;
  process.arguments = with_threads(request_.command, point.threads);
  if (!has_threads_placeholder(request_.command)) {
    for (const std::string& variable : thread_variables())
      process.environment[variable] = std::to_string(point.threads);
  }
  const auto program = inspect_program(process.arguments);
  if (!program) return program.error();
  process.executable = program->path;
  process.limit_s = request_.limit_s;
  process.around = request_.around;
  process.watch = true;
  const auto outcome = run_process(process);
  if (!outcome) return outcome.error();
  if (outcome->limit_reached) {
    return Error{"limit-reached",
                 fmt::format("with {} threads it takes more than {:.0f} s", point.threads, request_.limit_s),
                 "--threads", "other numbers of threads"};
  }
  if (!outcome->ok()) {
    return Error{"program-failed", fmt::format("the command fails with {} threads", point.threads), "--threads",
                 "other numbers of threads"};
  }
  point.wall_s.push_back(outcome->wall_s);
  point.seen_threads_count = std::max(point.seen_threads_count, static_cast<double>(outcome->threads.value_or(0)));
  cpu_s_.at(static_cast<size_t>(&point - curve_.points.data())).push_back(outcome->cpu_s());
  return {};
}

Status CurveRuns::run_round() {
  std::vector<size_t> order(curve_.points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  random_.shuffle(order);
  for (const size_t i : order) {
    if (request_.progress) request_.progress(fmt::format("running it with {} threads", curve_.points[i].threads));
    if (Status done = run_once(curve_.points[i]); !done) return done;
  }
  return {};
}

void CurveRuns::finish() {
  std::vector<std::pair<int, double>> runs;
  for (size_t i = 0; i < curve_.points.size(); ++i) {
    ThreadPoint& point = curve_.points[i];
    point.median_wall_s = median(point.wall_s);
    point.median_cpu_s = median(cpu_s_[i]);
    const ThreadPoint& first = curve_.points.front();
    point.speed_up_ratio = first.median_wall_s / point.median_wall_s;
    point.efficiency_ratio = point.speed_up_ratio * first.threads / point.threads;
    if (point.threads > request_.cpus_count) continue;
    for (const double wall_s : point.wall_s) runs.emplace_back(point.threads, wall_s);
  }
  const ThreadPoint &fewest = curve_.points.front(), &most = curve_.points.back();
  curve_.is_obeyed = most.seen_threads_count > fewest.seen_threads_count && fewest.seen_threads_count > 0;
  if (curve_.is_obeyed) curve_.serial = fit_serial_share(runs);
}

Result<ThreadCurve> CurveRuns::run() {
  curve_.how = has_threads_placeholder(request_.command) ? std::string(kThreadsPlace) : join(thread_variables(), ", ");
  for (const int threads : request_.threads) {
    curve_.points.emplace_back();
    curve_.points.back().threads = threads;
  }
  cpu_s_.resize(curve_.points.size());
  // What took several CPUs a second takes few threads longer.
  double needed_s = 0;
  for (const ThreadPoint& point : curve_.points)
    needed_s += kFewestRounds * request_.run_s * std::max(1.0, request_.cpus_used / point.threads);
  if (curve_.points.empty() || needed_s > request_.budget_s) {
    return Error{"no-time",
                 fmt::format("no time for {} numbers of threads: {:.0f} s are needed", curve_.points.size(), needed_s),
                 "--threads", "fewer numbers, or a longer --proofs"};
  }
  for (int round = 0; round < kMostRounds; ++round) {
    const double next_s = round > 0 ? spent_s() / round : 0;
    const double until_s = round < kFewestRounds ? spent_s() : spent_s() + next_s;
    if (round > 0 && until_s > request_.budget_s) break;
    if (Status done = run_round(); !done) return done.error();
  }
  finish();
  return std::move(curve_);
}

}  // namespace

Result<std::vector<int>> parse_thread_counts(const std::string& text, int cpus) {
  std::vector<int> counts;
  if (text == "auto") {
    for (int threads = 1; threads < cpus; threads *= 2) counts.push_back(threads);
    counts.push_back(std::max(1, cpus));
    return counts;
  }
  for (const std::string& part : split(text, ',')) {
    const std::string_view number = trim(part);
    int threads = 0;
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), threads);
    if (problem != std::errc() || end != number.data() + number.size() || threads < 1 || threads > kMostThreads) {
      return usage_error("bad-usage", "'" + printable(number) + "' is no number of threads", "--threads",
                         "auto, or whole numbers from 1 to 1024, separated by commas");
    }
    counts.push_back(threads);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

Result<ThreadCurve> measure_thread_curve(const ThreadCurveRequest& request) { return CurveRuns(request).run(); }

}  // namespace perfcast::measure
