#include "measure/diagnose/report/diagnosis_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "measure/diagnose/report/report_words.h"

namespace perfcast::measure {
namespace {

// With its quotes; bytes that are no UTF-8 are replaced.
std::string json_text(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

int64_t trace_us(double s) { return std::llround(std::max(0.0, s) * 1e6); }

class RunTraceWriter {
 public:
  RunTraceWriter(const Observation& seen, const std::vector<std::string>& command)
      : seen_(seen), timeline_(seen.timeline), command_(command) {
    function_names_.reserve(seen.functions.size());
    for (const HotFunction& function : seen.functions) function_names_.push_back(json_text(function.name()));
  }

  std::string write() {
    text_ = fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"command\":{}}},\"traceEvents\":[\n",
                        json_text(join(command_, " ")));
    name_process(kRun, "the run", 0);
    write_phases();
    write_counters();
    for (const ThreadTrack& track : timeline_.threads) write_track(track);
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  static constexpr pid_t kRun = 0;

  void event(const std::string& json) {
    if (!first_) text_ += ",\n";
    first_ = false;
    text_ += json;
  }
  void name_process(pid_t process, const std::string& name, size_t place) {
    event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process, json_text(name)));
    event(
        fmt::format(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})", process, place));
  }
  void name_thread(pid_t process, pid_t thread, const std::string& name) {
    event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", process, thread,
                      json_text(name)));
  }
  void write_span(pid_t process, pid_t thread, const std::string& quoted_name, std::string_view category,
                  double start_s, double end_s, const std::string& args) {
    const int64_t start = trace_us(start_s), end = trace_us(end_s);
    event(fmt::format(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                      quoted_name, category, process, thread, start, std::max<int64_t>(0, end - start), args));
  }
  // One event for each time at which the level changes.
  void write_counter(std::string_view name, const std::vector<double>& values, double interval_s) {
    double written = -1;
    for (size_t i = 0; i < values.size(); ++i) {
      const double value = std::round(1000 * values[i]) / 1000;
      if (value == written) continue;
      written = value;
      event(fmt::format(R"({{"ph":"C","name":"{0}","pid":{1},"tid":0,"ts":{2},"args":{{"{0}":{3}}}}})", name, kRun,
                        trace_us(interval_s * static_cast<double>(i)), value));
    }
  }

  void write_phases() {
    name_thread(kRun, 1, "phases");
    for (const RunPhase& phase : timeline_.phases)
      write_span(kRun, 1, json_text(phase.name), "phase", phase.start_s, phase.end_s, "");
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
        event(fmt::format(R"({{"ph":"C","name":"{0}","pid":{1},"tid":0,"ts":{2},"args":{{"{0}":{3:.3f}}}}})", name,
                          kRun, trace_us(at_s), value));
      }
      at_s += interval.length_s;
    }
  }

  void write_track(const ThreadTrack& track) {
    const std::string program = track.program.empty() ? "process" : track.program;
    if (named_.insert(track.process).second)
      name_process(track.process, fmt::format("{} ({})", program, track.process), named_.size());
    name_thread(track.process, track.thread,
                track.thread == track.process ? "first thread" : fmt::format("thread {}", track.thread));
    for (const ThreadSpan& span : track.spans) {
      std::string name = json_text(doing_in_words(span)), args;
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
        args = "\"where\":" + json_text(seen_.functions[static_cast<size_t>(span.function)].place());
      write_span(track.process, track.thread, name, category, span.start_s, span.end_s, args);
    }
  }

  const Observation& seen_;
  const RunTimeline& timeline_;
  const std::vector<std::string>& command_;
  std::vector<std::string> function_names_;
  std::set<pid_t> named_;
  std::string text_;
  bool first_ = true;
};

}  // namespace

std::string diagnosis_trace(const Observation& seen, const std::vector<std::string>& command) {
  return RunTraceWriter(seen, command).write();
}

}  // namespace perfcast::measure
