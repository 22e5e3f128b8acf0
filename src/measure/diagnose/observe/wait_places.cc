#include "measure/diagnose/observe/wait_places.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "measure/diagnose/observe/stack_walk.h"

namespace perfcast::measure {
namespace {

constexpr size_t kFewestLooks = 5;

struct StackFrame {
  std::string path;
  const CodePlace* place = nullptr;
};

StackFrame frame_at(const CodeMappings& mappings, uint64_t address, bool is_return, CodeMap& code) {
  for (const CodeMapping& mapping : mappings) {
    if (address <= mapping.start || address >= mapping.end) continue;
    const uint64_t offset = address - mapping.start + mapping.file_offset_bytes;
    if (is_return && !code.follows_call(mapping.path, offset)) return {};
    return {mapping.path, code.place(mapping.path, offset - (is_return ? 1 : 0))};
  }
  return {};
}

struct WaitKey {
  ThreadState state;
  std::string function, source, entry, call;
  auto operator<=>(const WaitKey&) const = default;
};

bool is_lock(const std::string& entry) {
  return entry.find("rwlock") != std::string::npos || entry.find("mutex_lock") != std::string::npos ||
         entry.find("spin_lock") != std::string::npos;
}

// The user's own function nearest to the call, and what it called.
WaitKey wait_key_of(const ThreadWait& wait, const CodeMappings& mappings, CodeMap& code) {
  WaitKey key{wait.state, "", "", "", std::string(wait.call)};
  std::string entry;
  if (const StackFrame top = frame_at(mappings, wait.code, false, code); top.place != nullptr)
    entry = top.place->function;
  for (const uint64_t word : return_addresses(mappings, {wait.code, 0, {}, wait.stack}, code, wait.stack.size())) {
    const StackFrame frame = frame_at(mappings, word, true, code);
    if (frame.place == nullptr) continue;
    const CodePlace& place = *frame.place;
    // Of a program without symbols, its name has to do.
    if (place.function.empty() && !is_runtime_library(frame.path)) {
      key.source = frame.path.substr(frame.path.rfind('/') + 1);
      break;
    }
    if (place.function.empty()) continue;
    if (is_runtime_library(frame.path) || is_system_source(place.source)) {
      entry = place.function;
      continue;
    }
    key.function = place.function;
    if (!place.source.empty())
      key.source = place.source.substr(place.source.rfind('/') + 1) + ":" + std::to_string(place.line);
    break;
  }
  key.entry = short_function_name(entry);
  return key;
}

}  // namespace

std::vector<WaitPlace> wait_places(const ThreadStates& states, CodeMap& code, ThreadTimes& threads,
                                   ThreadTimes& first_thread) {
  struct Sum {
    WaitPlace place;
    std::set<uint64_t> objects;
    std::set<pid_t> threads;
  };
  std::map<WaitKey, Sum> sums;
  static const CodeMappings kNone;
  for (const ThreadWait& wait : states.waits()) {
    const auto mappings = states.mappings().find(wait.process);
    WaitKey key = wait_key_of(wait, mappings == states.mappings().end() ? kNone : mappings->second, code);
    if (key.state == ThreadState::kSignal && is_lock(key.entry)) {
      key.state = ThreadState::kLock;
      for (ThreadTimes* const times : {&threads, wait.is_first_thread ? &first_thread : nullptr}) {
        if (times == nullptr) continue;
        const double moved_s = std::min(wait.s, times->of(ThreadState::kSignal));
        times->s[static_cast<size_t>(ThreadState::kSignal)] -= moved_s;
        times->s[static_cast<size_t>(ThreadState::kLock)] += moved_s;
      }
    }
    Sum& sum = sums[key];
    sum.place.s += wait.s;
    if (wait.is_first_thread) sum.place.first_thread_s += wait.s;
    sum.objects.insert(wait.object);
    sum.threads.insert(wait.thread);
  }
  std::vector<WaitPlace> places;
  for (auto& [key, sum] : sums) {
    WaitPlace place = sum.place;
    place.state = key.state;
    place.function = key.function;
    place.source = key.source;
    place.entry = key.entry;
    place.call = key.call;
    place.objects_count = sum.objects.size();
    place.threads_count = sum.threads.size();
    places.push_back(std::move(place));
  }
  std::stable_sort(places.begin(), places.end(), [](const WaitPlace& a, const WaitPlace& b) { return a.s > b.s; });
  return places;
}

std::vector<ThreadsLook> lone_spans(const std::vector<ThreadsLook>& course, double cpus_count, Lone kind) {
  int32_t most_running = 0, most_threads = 0;
  for (const ThreadsLook& look : course) {
    most_running = std::max(most_running, look.most_in_process);
    most_threads = std::max(most_threads, look.threads);
  }
  const double could = kind == Lone::kSingle ? cpus_count : std::min(cpus_count, static_cast<double>(most_running));
  std::vector<ThreadsLook> spans;
  if (could < 2) return spans;
  const auto is_lone = [&](const ThreadsLook& look) {
    if (look.running < 1 || look.running >= could) return false;
    const bool is_by_first = look.running == 1 && look.is_first;
    if (kind == Lone::kSerial) return is_by_first && look.elsewhere == 0;
    if (kind == Lone::kSingle)
      return look.running == 1 && !look.is_first && look.through > 0 && look.through == look.threads - 1;
    // Threads that ended, or wait for those that run.
    const bool are_through = look.through > 0 && (look.threads < most_threads || look.through > 1);
    return !is_by_first && are_through && look.elsewhere == 0;
  };
  for (size_t i = 0; i < course.size();) {
    size_t end = i;
    while (end < course.size() && is_lone(course[end]) && course[end].runner == course[i].runner) ++end;
    if (end - i >= kFewestLooks)
      spans.insert(spans.end(), course.begin() + static_cast<std::ptrdiff_t>(i),
                   course.begin() + static_cast<std::ptrdiff_t>(end));
    i = std::max(end, i + 1);
  }
  return spans;
}

}  // namespace perfcast::measure
