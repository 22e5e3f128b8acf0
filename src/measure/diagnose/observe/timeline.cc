#include "measure/diagnose/observe/timeline.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "profile/collect/native/cpu_sampler.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostPhases = 24;
constexpr double kShortestPhase = 0.02;  // of the run
constexpr double kShortestInterval_s = 0.02, kSamplesOfInterval = 20;
constexpr double kBusyInterval = 0.2;  // of a CPU: of less, what is waited for names the phase

size_t index_of(double time_s, double step_s, size_t count) {
  const double at = std::max(0.0, time_s / step_s);
  return std::min(count - 1, static_cast<size_t>(std::min(at, static_cast<double>(count))));
}

// Adds a span's seconds to the intervals that it lies in.
void spread(double start_s, double end_s, double interval_s, std::vector<double>& to) {
  if (to.empty() || !(end_s > start_s)) return;
  for (size_t i = index_of(start_s, interval_s, to.size()); i < to.size(); ++i) {
    const double from = interval_s * static_cast<double>(i), until = from + interval_s;
    if (from >= end_s) break;
    to[i] += std::max(0.0, std::min(end_s, until) - std::max(start_s, from));
  }
}

using ThreadKey = std::pair<pid_t, pid_t>;  // process, thread

struct ThreadInputs {
  std::vector<size_t> samples;
  std::vector<const ThreadStateSpan*> states;
  double start_s = 0, end_s = 0, cpu_s = 0;
};

class TimelineBuilder {
 public:
  explicit TimelineBuilder(const TimelineInputs& inputs) : in_(inputs) {}
  RunTimeline build();

 private:
  double time_of(size_t sample) const {
    const uint64_t time_ns = in_.samples.samples[sample].time_ns;
    const double s = time_ns > in_.start_ns ? 1e-9 * static_cast<double>(time_ns - in_.start_ns) : 0;
    return std::min(s, in_.wall_s);
  }
  void add_intervals();
  void add_threads();
  ThreadTrack track_of(const ThreadKey& key, const ThreadInputs& thread, double cell_s) const;
  void add_phases();
  std::string label_of(size_t interval) const;

  const TimelineInputs& in_;
  RunTimeline result_;
};

void TimelineBuilder::add_intervals() {
  // Of fewer samples, or looks, an interval's shares are chance.
  const double shortest_s = std::max(kShortestInterval_s, kSamplesOfInterval * in_.samples.period_s);
  const auto count = static_cast<size_t>(
      std::clamp(std::floor(in_.wall_s / shortest_s), 1.0, static_cast<double>(RunTimeline::kMostIntervals)));
  result_.interval_s = in_.wall_s / static_cast<double>(count);
  std::map<int32_t, TimelineRow> rows;
  std::map<int32_t, double> totals;
  for (size_t i = 0; i < in_.samples.samples.size(); ++i) {
    if (!in_.samples.samples[i].in_kernel) totals[in_.function_of_sample[i]] += 1;
  }
  totals.erase(TimelineRow::kOtherCode);
  std::vector<std::pair<double, int32_t>> order;
  order.reserve(totals.size());
  for (const auto& [function, samples] : totals) order.emplace_back(-samples, function);
  std::sort(order.begin(), order.end());
  if (order.size() > RunTimeline::kMostRows) order.resize(RunTimeline::kMostRows);
  std::map<int32_t, size_t> row_of;
  for (const auto& [samples, function] : order) {
    row_of[function] = result_.cpu.size();
    result_.cpu.push_back({function, std::vector<double>(count)});
  }
  const size_t other = result_.cpu.size(), kernel = other + 1;
  result_.cpu.push_back({TimelineRow::kOtherCode, std::vector<double>(count)});
  result_.cpu.push_back({TimelineRow::kKernelCode, std::vector<double>(count)});
  for (size_t i = 0; i < in_.samples.samples.size(); ++i) {
    const auto known = row_of.find(in_.function_of_sample[i]);
    const size_t row = in_.samples.samples[i].in_kernel ? kernel : known == row_of.end() ? other : known->second;
    result_.cpu[row].cpu_s[index_of(time_of(i), result_.interval_s, count)] += in_.sample_s;
  }
  for (auto& state : result_.state_s) state.assign(count, 0);
  result_.threads_count.assign(count, 0);
  for (const ThreadStateSpan& span : in_.states) {
    const double end_s = std::min(span.end_s, in_.wall_s);
    spread(span.start_s, end_s, result_.interval_s, result_.state_s.at(static_cast<size_t>(span.state)));
    spread(span.start_s, end_s, result_.interval_s, result_.threads_count);
  }
  for (double& threads : result_.threads_count) threads /= result_.interval_s;
}

// Time is cut into cells; each is what most of its samples say, or else what a look at the thread said.
ThreadTrack TimelineBuilder::track_of(const ThreadKey& key, const ThreadInputs& thread, double cell_s) const {
  ThreadTrack track;
  track.process = key.first;
  track.thread = key.second;
  track.cpu_s = thread.cpu_s;
  if (const auto name = in_.samples.programs.find(key.first); name != in_.samples.programs.end())
    track.program = name->second;
  const auto first = static_cast<size_t>(thread.start_s / cell_s);
  const size_t last = static_cast<size_t>(thread.end_s / cell_s) + 1;
  size_t sample = 0, state = 0;
  for (size_t cell = first; cell < last; ++cell) {
    const double from = cell_s * static_cast<double>(cell), until = std::min(from + cell_s, thread.end_s);
    if (!(until > from)) break;
    std::map<std::pair<bool, int32_t>, int> seen;
    while (sample < thread.samples.size() && time_of(thread.samples[sample]) < from + cell_s) {
      const size_t number = thread.samples[sample++];
      ++seen[{in_.samples.samples[number].in_kernel, in_.function_of_sample[number]}];
    }
    ThreadSpan span{std::max(from, thread.start_s), until, ThreadSpan::Doing::kUserCode, -1, ThreadState::kOther, {}};
    if (!seen.empty()) {
      const auto most =
          std::max_element(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      span.doing = most->first.first ? ThreadSpan::Doing::kKernel : ThreadSpan::Doing::kUserCode;
      span.function = most->first.second;
    } else {
      const double middle_s = (from + until) / 2;
      while (state < thread.states.size() && thread.states[state]->end_s < middle_s) ++state;
      if (state == thread.states.size() || thread.states[state]->start_s > middle_s) continue;
      const ThreadStateSpan& look = *thread.states[state];
      span.doing = look.state == ThreadState::kRunning ? ThreadSpan::Doing::kReady : ThreadSpan::Doing::kWaiting;
      span.state = look.state;
      span.call = look.call;
    }
    ThreadSpan* const before = track.spans.empty() ? nullptr : &track.spans.back();
    const bool follows = before != nullptr && before->end_s >= span.start_s - 1e-9;
    if (follows && before->doing == span.doing && before->function == span.function && before->state == span.state &&
        before->call == span.call) {
      before->end_s = span.end_s;
    } else {
      track.spans.push_back(span);
    }
  }
  return track;
}

void TimelineBuilder::add_threads() {
  std::map<ThreadKey, ThreadInputs> threads;
  const auto widen = [](ThreadInputs& thread, double start_s, double end_s) {
    if (thread.samples.empty() && thread.states.empty()) thread.start_s = start_s;
    thread.start_s = std::min(thread.start_s, start_s);
    thread.end_s = std::max(thread.end_s, end_s);
  };
  for (size_t i = 0; i < in_.samples.samples.size(); ++i) {
    const CpuSample& sample = in_.samples.samples[i];
    ThreadInputs& thread = threads[{sample.process, sample.thread}];
    const double end_s = time_of(i);
    widen(thread, std::max(0.0, end_s - in_.samples.period_s), end_s);
    thread.samples.push_back(i);
    thread.cpu_s += in_.sample_s;
  }
  for (const ThreadStateSpan& span : in_.states) {
    ThreadInputs& thread = threads[{span.process, span.thread}];
    widen(thread, span.start_s, std::min(span.end_s, in_.wall_s));
    thread.states.push_back(&span);
  }
  std::vector<std::pair<double, ThreadKey>> order;
  order.reserve(threads.size());
  for (const auto& [key, thread] : threads) order.emplace_back(-(thread.cpu_s + thread.end_s - thread.start_s), key);
  std::sort(order.begin(), order.end());
  if (order.size() > RunTimeline::kMostThreads) {
    result_.threads_left_out_count = order.size() - RunTimeline::kMostThreads;
    order.resize(RunTimeline::kMostThreads);
  }
  if (order.empty()) return;
  const size_t cells = std::min<size_t>(2000, RunTimeline::kMostSpans / order.size());
  const double cell_s = std::max(3 * in_.samples.period_s, in_.wall_s / static_cast<double>(cells));
  result_.threads.reserve(order.size());
  for (const auto& [rank, key] : order) result_.threads.push_back(track_of(key, threads[key], cell_s));
  std::erase_if(result_.threads, [](const ThreadTrack& track) { return track.spans.empty(); });
  std::stable_sort(result_.threads.begin(), result_.threads.end(), [](const ThreadTrack& a, const ThreadTrack& b) {
    return std::pair(a.spans.front().start_s, a.thread) < std::pair(b.spans.front().start_s, b.thread);
  });
}

std::string TimelineBuilder::label_of(size_t interval) const {
  double most = 0, all = 0;
  std::string label;
  for (const TimelineRow& row : result_.cpu) {
    all += row.cpu_s[interval];
    if (row.cpu_s[interval] <= most) continue;
    most = row.cpu_s[interval];
    if (row.function == TimelineRow::kOtherCode) label = "other code";
    if (row.function == TimelineRow::kKernelCode) label = "the kernel";
    if (row.function >= 0) label = in_.function_names[static_cast<size_t>(row.function)];
  }
  if (all > kBusyInterval * result_.interval_s) return label;
  double waits = 0;
  label = "running";
  for (size_t state = 1; state < kThreadStates; ++state) {
    if (result_.state_s.at(state)[interval] <= waits) continue;
    waits = result_.state_s.at(state)[interval];
    label = "waiting: ";
    label += thread_state_text(static_cast<ThreadState>(state));
  }
  return label;
}

// The shortest goes into the longer of its neighbours until all are long enough and few.
void TimelineBuilder::add_phases() {
  std::vector<RunPhase>& phases = result_.phases;
  for (size_t i = 0; i < result_.intervals_count(); ++i) {
    const double from = result_.interval_s * static_cast<double>(i), until = from + result_.interval_s;
    std::string label = label_of(i);
    if (!phases.empty() && phases.back().name == label) {
      phases.back().end_s = until;
    } else {
      phases.push_back({from, until, std::move(label)});
    }
  }
  const auto length_s = [](const RunPhase& phase) { return phase.end_s - phase.start_s; };
  while (phases.size() > 1) {
    const auto shortest = std::min_element(
        phases.begin(), phases.end(), [&](const RunPhase& a, const RunPhase& b) { return length_s(a) < length_s(b); });
    if (length_s(*shortest) >= kShortestPhase * in_.wall_s && phases.size() <= kMostPhases) break;
    const auto at = static_cast<size_t>(shortest - phases.begin());
    const bool to_next = at == 0 || (at + 1 < phases.size() && length_s(phases[at + 1]) > length_s(phases[at - 1]));
    if (to_next) phases[at + 1].start_s = phases[at].start_s;
    if (!to_next) phases[at - 1].end_s = phases[at].end_s;
    phases.erase(shortest);
    for (size_t i = 1; i < phases.size();) {
      if (phases[i].name != phases[i - 1].name) {
        ++i;
        continue;
      }
      phases[i - 1].end_s = phases[i].end_s;
      phases.erase(phases.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

RunTimeline TimelineBuilder::build() {
  if (!(in_.wall_s > 0) || (in_.samples.samples.empty() && in_.states.empty())) return {};
  result_.length_s = in_.wall_s;
  add_intervals();
  add_threads();
  add_phases();
  return std::move(result_);
}

}  // namespace

RunTimeline make_timeline(const TimelineInputs& inputs) { return TimelineBuilder(inputs).build(); }

}  // namespace perfcast::measure
