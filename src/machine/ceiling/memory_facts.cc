#include "machine/ceiling/memory_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "base/random.h"
#include "machine/ceiling/cpu_isa.h"
#include "machine/ceiling/free_memory.h"
#include "machine/ceiling/together.h"
#include "machine/ceiling/touch_loops.h"
#include "machine/facts/caches.h"

namespace perfcast {
namespace {

using FactClock = std::chrono::steady_clock;

constexpr double kFactRun_s = 0.002, kFactBudget_s = 8;
constexpr int kFactRepeats = 3, kLatencyRepeats = 4, kMostRounds = 4;
constexpr double kRepeatsWithin = 1.15;  // one reading over another
constexpr double kLeastCpuRatio = 0.8;   // else others had the CPU
constexpr int64_t kFirstSteps = 8192;
constexpr double kMostOfFree = 0.4;
constexpr size_t kPageBytes = 4096, kLineWords = 16;
constexpr int64_t kMostSteps = int64_t{1} << 40;

struct FactSize {
  const char* label;
  double bytes;
};
// Of a core's own caches, and of memory. What lies between is shared, on a rented part of a server with strangers:
// there it says more of them than of the platform.
constexpr std::array<FactSize, 4> kBandwidthSizes = {
    {{"16kib", 16384}, {"256kib", 262144}, {"64mb", 64e6}, {"256mb", 256e6}}};
constexpr std::array<int, 2> kLatencyKib = {32, 512};
constexpr double kOfMemoryBytes = 32e6, kUsualL2Bytes = 1 << 20;

// Of ordinary pages: huge ones are for those who ask for them, which the published measurements did not.
struct PlainArray {
  struct Free {
    void operator()(uint32_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<uint32_t, Free> words;
  size_t size = 0;
  explicit PlainArray(double bytes) {
    const auto steps = static_cast<size_t>(bytes / (kTouchStep * sizeof(uint32_t)));
    size = std::max<size_t>(1, steps) * kTouchStep;
    const size_t whole = (size * sizeof(uint32_t) + kPageBytes - 1) / kPageBytes * kPageBytes;
    words.reset(static_cast<uint32_t*>(std::aligned_alloc(kPageBytes, whole)));
  }
  void fill(uint32_t value) const {
    if (words != nullptr) std::fill_n(words.get(), size, value);
  }
};

// One thread's own: what else runs may take the CPU away.
double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

class FactMeasurement {
 public:
  MemoryFacts run() {
    result_.cpus_count = std::max(1, online_cores());
    // With room for the program beside it; where nobody tells the size, as on most servers.
    const double l2_bytes = caches_of_this_processor().l2_bytes.value_or(kUsualL2Bytes);
    const auto is_own = [&](double bytes) { return 2 * bytes <= l2_bytes; };
    for (const FactSize& size : kBandwidthSizes) {
      if (size.bytes < kOfMemoryBytes && !is_own(size.bytes)) continue;
      for (const char* touch : {"rd", "wr", "rdwr"}) wanted_.push_back(bandwidth_fact(touch, size.label));
    }
    for (const int kib : kLatencyKib) {
      if (is_own(1024.0 * kib)) wanted_.push_back(latency_fact(kib));
    }
    // All of a round lie between two readings of one fact: what disturbs one is over, or seen, at the next.
    for (int round = 0; round < kMostRounds; ++round) {
      for (const FactSize& size : kBandwidthSizes) {
        if ((size.bytes >= kOfMemoryBytes || is_own(size.bytes)) && is_open(size.label)) measure_bandwidth(size);
      }
      for (const int kib : kLatencyKib) {
        if (is_own(1024.0 * kib) && is_open(latency_fact(kib))) measure_latency(kib);
      }
    }
    take_repeated();
    result_.took_s = elapsed_s();
    return std::move(result_);
  }

 private:
  static std::string latency_fact(int kib) { return fmt::format("membench_latency_{}kib_ns", kib); }
  static bool is_bandwidth(const std::string& fact) { return fact.starts_with("bwmem_"); }
  static std::string bandwidth_fact(const char* touch, const char* label) {
    return fmt::format("bwmem_{}_{}_per_vcpu_bytes_per_s", touch, label);
  }
  // `part`: a fact, or the size that its name holds.
  static bool is_of(const std::string& fact, const std::string& part) {
    return fact == part || fact.find("_" + part + "_") != std::string::npos;
  }
  // Whether something of it is still to be read.
  bool is_open(const std::string& part) const {
    bool any = false;
    for (const auto& [fact, readings] : readings_) {
      if (!is_of(fact, part)) continue;
      any = true;
      if (!repeated_fact(readings, is_bandwidth(fact))) return true;
    }
    return !any && !closed_.contains(part);
  }
  void close(const std::string& part, const std::string& note) {
    if (closed_.insert(part).second) result_.notes.push_back(note);
  }
  void take_repeated() {
    for (const auto& [fact, readings] : readings_) {
      if (const auto value = repeated_fact(readings, is_bandwidth(fact))) result_.facts[fact] = *value;
    }
    size_t doubtful = 0;
    for (const std::string& fact : wanted_) {
      if (result_.facts.contains(fact)) continue;
      result_.left_out.push_back(fact);
      doubtful += readings_.contains(fact) ? 1 : 0;
    }
    if (doubtful == 0) return;
    result_.notes.push_back(
        fmt::format("{} of {} facts of caches and memory did not repeat, as on a machine that others use: left out",
                    doubtful, wanted_.size()));
  }

  double elapsed_s() const { return std::chrono::duration<double>(FactClock::now() - began_).count(); }
  bool has_room(const std::string& part, const std::string& what, double bytes) {
    if (elapsed_s() >= kFactBudget_s) {
      const bool any =
          std::any_of(readings_.begin(), readings_.end(), [&](const auto& entry) { return is_of(entry.first, part); });
      if (!any) close(part, what + " was not measured: the machine is busy, and it took too long");
      return false;
    }
    if (bytes <= kMostOfFree * free_memory_bytes()) return true;
    close(part, what + " was not measured: there is too little memory free");
    return false;
  }
  void measure_bandwidth(const FactSize& size);
  void measure_latency(int kib);

  FactClock::time_point began_ = FactClock::now();
  std::map<std::string, std::vector<FactReading>> readings_;
  std::vector<std::string> wanted_;
  std::set<std::string> closed_;  // sizes and facts that can't be read, as a note says
  MemoryFacts result_;
};

void FactMeasurement::measure_bandwidth(const FactSize& size) {
  const int cpus = result_.cpus_count;
  const std::string what = fmt::format("the bandwidth of {}", size.label);
  if (!has_room(size.label, what, size.bytes * cpus)) return;
  std::vector<PlainArray> arrays;
  arrays.reserve(static_cast<size_t>(cpus));
  for (int cpu = 0; cpu < cpus; ++cpu) arrays.emplace_back(size.bytes);
  if (std::any_of(arrays.begin(), arrays.end(), [](const PlainArray& array) { return array.words == nullptr; })) {
    return close(size.label, what + " was not measured: the system gives no memory");
  }
  const ThreadPlaces places = cpus > 1 ? ThreadPlaces::kOneToACpu : ThreadPlaces::kAnywhere;
  // Each where its pages are to be.
  seconds_together(
      cpus, [&](int thread) { arrays[static_cast<size_t>(thread)].fill(1); }, places);
  const auto touched = static_cast<uint32_t>(arrays.front().size / kTouchApart);
  using Touch = std::function<bool(const PlainArray&, int64_t)>;
  const std::array<std::pair<const char*, Touch>, 3> touches = {
      {{"rd",
        [&](const PlainArray& array, int64_t passes) {
          return read_fourths(array.words.get(), array.size, passes) == touched * static_cast<uint32_t>(passes);
        }},
       {"wr",
        [](const PlainArray& array, int64_t passes) {
          write_fourths(array.words.get(), array.size, passes, 1);
          return array.words.get()[array.size - kTouchStep] == 1;
        }},
       {"rdwr", [&](const PlainArray& array, int64_t passes) {
          return read_write_fourths(array.words.get(), array.size, passes, 1) ==
                 touched * static_cast<uint32_t>(passes);
        }}}};
  for (const auto& [name, touch] : touches) {
    std::atomic<bool> right = true;
    int64_t passes = 1;
    std::vector<double> cpu_s(static_cast<size_t>(cpus));
    const auto once = [&, &touch = touch](int threads) {
      return seconds_together(
          threads,
          [&](int thread) {
            const double begin_s = thread_cpu_s();
            if (!touch(arrays[static_cast<size_t>(thread)], passes)) right = false;
            cpu_s[static_cast<size_t>(thread)] = thread_cpu_s() - begin_s;
          },
          threads > 1 ? places : ThreadPlaces::kAnywhere);
    };
    while (once(1) < kFactRun_s && passes < kMostSteps) passes *= 2;
    double best_s = once(cpus);
    // One thread may be done before the others.
    const auto mean_cpu_s = [&] { return std::accumulate(cpu_s.begin(), cpu_s.end(), 0.0) / cpus; };
    double best_cpu_s = mean_cpu_s();
    for (int repeat = 1; repeat < kFactRepeats && elapsed_s() < kFactBudget_s; ++repeat) {
      const double took_s = once(cpus);
      if (took_s >= best_s) continue;
      best_s = took_s;
      best_cpu_s = mean_cpu_s();
    }
    if (!right || !(best_s > 0)) {
      close(
          bandwidth_fact(name, size.label),
          fmt::format("{} ({}) came out wrong, another sum was read than was stored: it is left out; where that comes "
                      "again, have the memory tested",
                      what, name));
      continue;
    }
    const double bytes = static_cast<double>(arrays.front().size * sizeof(uint32_t)) * static_cast<double>(passes);
    readings_[bandwidth_fact(name, size.label)].push_back({bytes / best_s, best_cpu_s / best_s});
  }
}

void FactMeasurement::measure_latency(int kib) {
  const double bytes = 1024.0 * kib;
  const std::string what = fmt::format("the latency of {} KiB", kib);
  if (!has_room(latency_fact(kib), what, bytes)) return;
  const PlainArray array(bytes);
  if (array.words == nullptr) {
    return close(latency_fact(kib), what + " was not measured: the system gives no memory");
  }
  array.fill(0);
  // One cycle through all lines, in a random order.
  std::vector<uint32_t> order(array.size / kLineWords);
  std::iota(order.begin(), order.end(), 0U);
  Random random(1);
  random.shuffle(order);
  for (size_t i = 0; i < order.size(); ++i)
    array.words.get()[order[i] * kLineWords] = order[(i + 1) % order.size()] * static_cast<uint32_t>(kLineWords);
  const auto lines = static_cast<int64_t>(order.size());
  const uint32_t first = order.front() * static_cast<uint32_t>(kLineWords);
  int64_t steps = std::min<int64_t>(lines, kFirstSteps);
  // A whole cycle ends where it began; it also brings the lines as near as they get.
  if (follow_chain(array.words.get(), first, lines) != first) {
    return close(latency_fact(kib), what + " came out wrong: it is left out");
  }
  uint32_t at = first;
  const auto once = [&] {
    const double begin_s = thread_cpu_s();
    at = follow_chain(array.words.get(), at, steps);
    return thread_cpu_s() - begin_s;
  };
  while (once() < kFactRun_s && steps < kMostSteps) steps *= 2;
  double best_s = once();
  for (int repeat = 1; repeat < kLatencyRepeats; ++repeat) best_s = std::min(best_s, once());
  if (at % kLineWords != 0 || !(best_s > 0)) return;
  readings_[latency_fact(kib)].push_back({best_s / static_cast<double>(steps) * 1e9, 1});
}

}  // namespace

std::optional<double> repeated_fact(std::vector<FactReading> readings, bool more_is_better) {
  std::erase_if(readings, [](const FactReading& reading) {
    return !(reading.cpu_ratio >= kLeastCpuRatio) || !(reading.value > 0);
  });
  std::sort(readings.begin(), readings.end(), [&](const FactReading& a, const FactReading& b) {
    return more_is_better ? a.value > b.value : a.value < b.value;
  });
  for (size_t i = 1; i < readings.size(); ++i) {
    const double one = readings[i - 1].value, other = readings[i].value;
    if (std::max(one, other) <= kRepeatsWithin * std::min(one, other)) return one;
  }
  return std::nullopt;
}

MemoryFacts measure_memory_facts() { return FactMeasurement().run(); }

}  // namespace perfcast
