#include "fleet/report/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/report/chrome_trace.h"
#include "base/report/trace_lanes.h"
#include "fleet/jobs/stretches.h"

namespace perfcast::fleet {
namespace {

constexpr double kMostMicroseconds = 9e15;  // what a reader that holds numbers as doubles takes exactly

int64_t microseconds(double seconds) {
  return std::llround(std::clamp(seconds * 1e6, -kMostMicroseconds, kMostMicroseconds));
}

std::vector<std::string> quoted(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  result.reserve(names.size());
  for (const std::string& name : names) result.push_back(json_quoted(name));
  return result;
}

class TraceWriter {
 public:
  TraceWriter(const Cluster& cluster, const Workload& workload, const Outcome& outcome, const TextSink& sink)
      : cluster_(cluster),
        workload_(workload),
        outcome_(outcome),
        trace_(sink, "policy", outcome.policy),
        programs_(quoted(workload.programs)),
        owners_(quoted(workload.owners)) {}

  void write() {
    trace_.name_process(kQueueProcess, "waiting jobs", kQueueProcess);
    for (size_t g = 0; g < cluster_.groups.size(); ++g)
      trace_.name_process(process_of(g), cluster_.groups[g].platform, process_of(g));
    write_jobs();
    write_queue();
    write_use();
    trace_.end();
  }

 private:
  static constexpr int64_t kQueueProcess = 1;
  static int64_t process_of(size_t group) { return static_cast<int64_t>(group) + 2; }

  // The thread of a lane: made and named when it is first used. Node kNoIndex: the whole group.
  int64_t thread_of(size_t group, int32_t node, int64_t lane) {
    const auto [at, is_new] = threads_.try_emplace({group, node, lane}, static_cast<int64_t>(threads_.size()) + 1);
    if (is_new) {
      const std::string name = node == kNoIndex ? fmt::format("lane {}", lane)
                               : lane == 0      ? fmt::format("node {}", node)
                                                : fmt::format("node {}, lane {}", node, lane);
      // Lanes of a node stay together however late they come.
      const int64_t sort = (int64_t{node} + 1) * 4096 + static_cast<int64_t>(std::min<size_t>(lane, 4095));
      trace_.name_thread(process_of(group), at->second, name, sort);
    }
    return at->second;
  }

  void write_job(const Segment& segment, int32_t node, int64_t cores, int64_t gpus) {
    const auto job = static_cast<size_t>(segment.job), group = static_cast<size_t>(segment.group);
    const JobRequest& request = workload_.jobs[job];
    const JobResult& result = outcome_.jobs[job];
    const int64_t start = microseconds(segment.start_s), end = microseconds(segment.end_s);
    const int64_t thread = thread_of(group, node, lanes_[{group, node}].take(start, end));
    const std::string name = request.program == kNoIndex ? fmt::format("\"job {}\"", request.id)
                                                         : programs_[static_cast<size_t>(request.program)];
    std::string args =
        fmt::format(R"("job":{},"cores":{},"gpus":{},"state":"{}")", request.id, cores, gpus, to_string(result.state));
    if (request.owner != kNoIndex) args += ",\"owner\":" + owners_[static_cast<size_t>(request.owner)];
    if (const double wait = wait_of(request, result); std::isfinite(wait)) args += fmt::format(",\"wait_s\":{}", wait);
    if (const double forecast = forecast_of(job, group); std::isfinite(forecast)) {
      args += fmt::format(",\"forecast_s\":{}", forecast);
    }
    trace_.span({process_of(group), thread, name, "job", start, end, args});
  }

  double forecast_of(size_t job, size_t group) const {
    if (workload_.forecast_s.empty()) return kUnknown;
    const auto column = std::ranges::find(workload_.platforms, cluster_.groups[group].platform);
    if (column == workload_.platforms.end()) return kUnknown;
    return workload_.forecasts(job)[static_cast<size_t>(column - workload_.platforms.begin())];
  }

  void write_jobs() {
    std::vector<Segment> segments;
    for_each_stretch(outcome_, [&](const Segment& segment, double) {
      if (std::isfinite(segment.start_s) && std::isfinite(segment.end_s)) segments.push_back(segment);
    });
    std::ranges::stable_sort(segments, {}, &Segment::start_s);
    for (const Segment& segment : segments) {
      const JobRequest& job = workload_.jobs[static_cast<size_t>(segment.job)];
      if (segment.parts == 0) write_job(segment, kNoIndex, job.cores, job.gpus);
      for (uint32_t k = 0; k < segment.parts; ++k) {
        const NodePart& part = outcome_.parts[segment.first_part + k];
        write_job(segment, part.node, part.cores, part.gpus);
      }
    }
  }

  // Steps of (time, change), one event per time at which the level changes.
  void write_counter(int64_t process, const char* name, std::vector<std::pair<int64_t, int64_t>> steps) {
    std::ranges::sort(steps);
    int64_t level = 0, written = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      level += steps[i].second;
      if ((i + 1 < steps.size() && steps[i + 1].first == steps[i].first) || level == written) continue;
      written = level;
      trace_.counter(process, name, steps[i].first, static_cast<double>(level));
    }
  }

  void write_queue() {
    std::vector<std::pair<int64_t, int64_t>> steps;
    for (size_t i = 0; i < outcome_.jobs.size(); ++i) {
      const JobResult& result = outcome_.jobs[i];
      if (result.state == JobState::kImpossible) continue;
      const JobRequest& request = workload_.jobs[i];
      steps.emplace_back(microseconds(std::isnan(result.ready_s) ? request.arrival_s : result.ready_s), 1);
      double leaves_s = result.start_s;
      if (std::isnan(leaves_s) && result.state == JobState::kCancelled) leaves_s = request.cancelled_s;
      if (std::isfinite(leaves_s)) steps.emplace_back(std::max(steps.back().first, microseconds(leaves_s)), -1);
    }
    write_counter(kQueueProcess, "waiting", std::move(steps));
  }

  void write_use() {
    std::vector<std::vector<std::pair<int64_t, int64_t>>> cores(cluster_.groups.size()), gpus(cluster_.groups.size());
    for_each_stretch(outcome_, [&](const Segment& segment, double) {
      if (!std::isfinite(segment.start_s) || !std::isfinite(segment.end_s)) return;
      const JobRequest& job = workload_.jobs[static_cast<size_t>(segment.job)];
      const auto group = static_cast<size_t>(segment.group);
      for (const auto& [steps, n] : {std::pair{&cores[group], job.cores}, std::pair{&gpus[group], job.gpus}}) {
        if (n == 0) continue;
        steps->emplace_back(microseconds(segment.start_s), n);
        steps->emplace_back(microseconds(segment.end_s), -n);
      }
    });
    for (size_t g = 0; g < cluster_.groups.size(); ++g) {
      write_counter(process_of(g), "cores in use", std::move(cores[g]));
      write_counter(process_of(g), "GPUs in use", std::move(gpus[g]));
    }
  }

  const Cluster& cluster_;
  const Workload& workload_;
  const Outcome& outcome_;
  ChromeTraceWriter trace_;
  std::vector<std::string> programs_, owners_;
  std::map<std::pair<size_t, int32_t>, TraceLanes> lanes_;
  std::map<std::tuple<size_t, int32_t, int64_t>, int64_t> threads_;
};

}  // namespace

void write_chrome_trace(const Cluster& cluster, const Workload& workload, const Outcome& outcome,
                        const TextSink& sink) {
  TraceWriter(cluster, workload, outcome, sink).write();
}

}  // namespace perfcast::fleet
