#include "measure/diagnose/report/diagnosis_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "base/report/chrome_trace.h"
#include "base/text.h"
#include "measure/diagnose/report/report_words.h"

namespace perfcast::measure {
namespace {

int64_t trace_us(double s) { return std::llround(std::max(0.0, s) * 1e6); }

class RunTraceWriter {
 public:
  RunTraceWriter(const Observation& seen, const std::vector<std::string>& command)
      : seen_(seen),
        timeline_(seen.timeline),
        trace_([this](std::string_view piece) { text_ += piece; }, "command", join(command, " ")) {
    function_names_.reserve(seen.functions.size());
    for (const HotFunction& function : seen.functions) function_names_.push_back(json_quoted(function.name()));
  }

  std::string write() {
    trace_.name_process(kRun, "the run", 0);
    write_phases();
    write_counters();
    for (const ThreadTrack& track : timeline_.threads) write_track(track);
    trace_.end();
    return std::move(text_);
  }

 private:
  static constexpr pid_t kRun = 0;

  void write_span(pid_t process, pid_t thread, const std::string& quoted_name, std::string_view category,
                  const auto& when, const std::string& args) {
    trace_.span({process, thread, quoted_name, category, trace_us(when.start_s), trace_us(when.end_s), args});
  }
  // One event for each time at which the level changes.
  void write_counter(std::string_view name, const std::vector<double>& values, double interval_s) {
    double written = -1;
    for (size_t i = 0; i < values.size(); ++i) {
      const double value = std::round(1000 * values[i]) / 1000;
      if (value == written) continue;
      written = value;
      trace_.counter(kRun, name, trace_us(interval_s * static_cast<double>(i)), value);
    }
  }

  void write_phases() {
    trace_.name_thread(kRun, 1, "phases");
    for (const RunPhase& phase : timeline_.phases) write_span(kRun, 1, json_quoted(phase.name), "phase", phase, "");
  }

  void write_counters() {
    const size_t count = timeline_.intervals_count();
    std::vector<double> user(count), kernel(count), waiting(count);
    for (const TimelineRow& row : timeline_.cpu) {
      std::vector<double>& to = row.function == TimelineRow::kKernelCode ? kernel : user;
      for (size_t i = 0; i < count; ++i) to[i] += row.cpu_s[i] / timeline_.interval_s;
    }
    for (size_t state = 1; state < kThreadStates; ++state) {
      for (size_t i = 0; i < count; ++i) waiting[i] += timeline_.state_s.at(state)[i] / timeline_.interval_s;
    }
    write_counter("CPUs in use: user code", user, timeline_.interval_s);
    write_counter("CPUs in use: the kernel", kernel, timeline_.interval_s);
    write_counter("threads", timeline_.threads_count, timeline_.interval_s);
    write_counter("threads that wait", waiting, timeline_.interval_s);
    // By the looks of the run's course, which is coarser.
    double at_s = 0;
    for (const RunInterval& interval : seen_.run.course) {
      if (!(interval.length_s > 0)) continue;
      for (const auto& [name, value] : {std::pair{"resident memory (MiB)", interval.resident_bytes / (1 << 20)},
                                        std::pair{"page faults a second", interval.minor_faults / interval.length_s}}) {
        trace_.counter(kRun, name, trace_us(at_s), std::round(1000 * value) / 1000);
      }
      at_s += interval.length_s;
    }
  }

  void write_track(const ThreadTrack& track) {
    const std::string program = track.program.empty() ? "process" : track.program;
    if (named_.insert(track.process).second)
      trace_.name_process(track.process, fmt::format("{} ({})", program, track.process),
                          static_cast<int64_t>(named_.size()));
    trace_.name_thread(track.process, track.thread,
                       track.thread == track.process ? "first thread" : fmt::format("thread {}", track.thread));
    for (const ThreadSpan& span : track.spans) {
      std::string name = json_quoted(doing_in_words(span)), args;
      std::string_view category = "waiting";
      if (span.doing == ThreadSpan::Doing::kUserCode) {
        category = "user";
        name = span.function >= 0 ? function_names_[static_cast<size_t>(span.function)] : "\"other code\"";
      }
      if (span.doing == ThreadSpan::Doing::kKernel) {
        category = "kernel";
        if (span.function >= 0) args = "\"for\":" + function_names_[static_cast<size_t>(span.function)];
      }
      if (span.doing == ThreadSpan::Doing::kReady) category = "ready";
      if (!span.call.empty()) args = fmt::format("\"system_call\":\"{}\"", span.call);
      if (span.doing == ThreadSpan::Doing::kUserCode && span.function >= 0)
        args = "\"where\":" + json_quoted(seen_.functions[static_cast<size_t>(span.function)].place());
      write_span(track.process, track.thread, name, category, span, args);
    }
  }

  const Observation& seen_;
  const RunTimeline& timeline_;
  std::vector<std::string> function_names_;
  std::set<pid_t> named_;
  std::string text_;
  ChromeTraceWriter trace_;
};

}  // namespace

std::string diagnosis_trace(const Observation& seen, const std::vector<std::string>& command) {
  return RunTraceWriter(seen, command).write();
}

}  // namespace perfcast::measure
