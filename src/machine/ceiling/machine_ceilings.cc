#include "machine/ceiling/machine_ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>

#include "base/text.h"
#include "machine/ceiling/aligned_array.h"
#include "machine/ceiling/cpu_isa.h"
#include "machine/ceiling/free_memory.h"
#include "machine/ceiling/peak_loops.h"
#include "machine/ceiling/read_loops.h"
#include "machine/ceiling/register_block.h"
#include "machine/ceiling/together.h"
#include "machine/facts/caches.h"

namespace perfcast {
namespace {

using CeilingClock = std::chrono::steady_clock;

constexpr double kRun_s = 0.001;  // of one run: shorter than what a scheduler gives a thread at a time
// What begins later is left out: idle machines are done in a third of it. Of our own CPU time: on a busy machine the
// same work takes longer.
constexpr double kBudget_s = 4, kLongest_s = 12;
// The best run counts when it was reached again: so near, so often. Others on the machine slow whole series of runs.
constexpr double kReachedAgain = 0.97;
constexpr size_t kTimesReached = 3;
constexpr int kRepeats = 6, kMostRepeats = 20, kMemoryRepeats = 3, kMostMemoryRepeats = 9;
constexpr int kMostAttempts = 4;            // at what came out implausible
constexpr double kImplausibleRatio = 0.95;  // of what it must at least be
constexpr int64_t kProductSide = 384;
constexpr double kMemoryBytes = 32 << 20, kLeastMemoryBytes = 4 << 20;  // of all CPUs, and of one
constexpr double kMemoryShare = 1.0 / 16;                               // of what is free

// Registers that are wider compute no slower than narrower ones.
bool is_plausible(const ComputeCeiling& ceiling, const std::vector<ComputeCeiling>& all) {
  return std::none_of(all.begin(), all.end(), [&](const ComputeCeiling& other) {
    return other.format == ceiling.format && other.lanes < ceiling.lanes &&
           ceiling.one_cpu_flops_per_s < kImplausibleRatio * other.one_cpu_flops_per_s;
  });
}

// Whether a run of so many passes in one of the threads came out right.
using CheckedRun = std::function<bool(int thread, int64_t passes)>;

// Rates of several runs, until the best was reached again.
class BestRate {
 public:
  void add(double rate) { rates_.push_back(rate); }
  double best() const { return rates_.empty() ? 0 : *std::max_element(rates_.begin(), rates_.end()); }
  bool repeats() const {
    const double near = kReachedAgain * best();
    return static_cast<size_t>(std::count_if(rates_.begin(), rates_.end(), [&](double of) { return of >= near; })) >=
           std::min(kTimesReached, rates_.size());
  }

 private:
  std::vector<double> rates_;
};

// An array with numbers in it, and what reading it must come to.
struct FilledArray {
  AlignedArray<uint64_t> words;
  uint64_t all = 0;
  explicit FilledArray(double bytes) {
    const auto steps = static_cast<size_t>(std::max(1.0, bytes / (kReadStep * sizeof(uint64_t))));
    words = AlignedArray<uint64_t>(steps * kReadStep);
    for (size_t i = 0; i < words.size(); ++i) {
      words[i] = (i + 1) * 0x9E3779B97F4A7C15U;
      all ^= words[i];
    }
  }
  bool is_read_right(int64_t passes) const {
    const uint64_t expected = passes % 2 != 0 ? all : 0;
    return read_loops().front().run(words.data(), words.size(), passes) == expected;
  }
};

class CeilingMeasurement {
 public:
  MachineCeilings run() {
    result_.cpus_count = online_cores();
    measure_compute();
    measure_additions();
    measure_clock();
    measure_caches();
    measure_product();
    measure_memory();
    measure_implausible_again();
    if (!late_.empty())
      result_.notes.push_back("not measured, as the machine is busy and it took too long: " + join(late_, ", "));
    result_.took_s = elapsed_s();
    return std::move(result_);
  }

 private:
  double elapsed_s() const { return std::chrono::duration<double>(CeilingClock::now() - began_).count(); }
  bool has_time() const { return used_s() - used_before_s_ < kBudget_s && elapsed_s() < kLongest_s; }
  static double used_s() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  }
  bool is_late(const std::string& what) {
    if (has_time()) return false;
    late_.push_back(what);
    return true;
  }
  // Work per second of `threads` together, where a pass in one of them does `work`; absent where a result was wrong.
  std::optional<double> rate(const std::string& what, int threads, double work, const CheckedRun& checked_run);
  // Sets both, or says why not; false: neither.
  bool measure(const std::string& what, double work, const CheckedRun& checked_run, double& one_cpu, double& all_cpus);
  void measure_compute();
  bool measure_loop(const PeakLoop& loop, ComputeCeiling& ceiling);
  // What others on the machine slowed for long: it is measured again, and the best counts. Vectors that stay slower
  // than narrower ones are left out, as are caches that stay slower than what lies behind them.
  void measure_implausible_again();
  void measure_additions();
  void measure_clock();
  void measure_caches();
  void measure_level(const std::string& level, double bytes);
  void measure_memory();
  std::optional<double> memory_rate(int threads, std::vector<FilledArray>& arrays);
  void measure_product();

  CeilingClock::time_point began_ = CeilingClock::now();
  double used_before_s_ = used_s();
  MachineCeilings result_;
  std::vector<std::string> late_;  // what there was no time for
};

std::optional<double> CeilingMeasurement::rate(const std::string& what, int threads, double work,
                                               const CheckedRun& checked_run) {
  int64_t passes = 1;
  std::atomic<bool> right = true;
  const auto once = [&](int on) {
    const auto checked = [&](int thread) {
      if (!checked_run(thread, passes)) right = false;
    };
    return seconds_together(on, checked, on > 1 ? ThreadPlaces::kOneToACpu : ThreadPlaces::kAnywhere);
  };
  // By one thread alone: others may have to wait for a CPU. These runs are also what wakes wide units up.
  while (once(1) < kRun_s && passes < int64_t{1} << 40) passes *= 2;
  BestRate rates;
  for (int repeat = 0; repeat < kRepeats || (repeat < kMostRepeats && !rates.repeats()); ++repeat)
    rates.add(work * static_cast<double>(passes) * static_cast<double>(threads) / std::max(1e-9, once(threads)));
  if (right) return rates.best();
  result_.notes.push_back(what + " came out wrong: it is left out");
  return std::nullopt;
}

bool CeilingMeasurement::measure(const std::string& what, double work, const CheckedRun& checked_run, double& one_cpu,
                                 double& all_cpus) {
  if (is_late(what)) return false;
  const auto one = rate(what, 1, work, checked_run);
  if (!one) return false;
  one_cpu = std::max(one_cpu, *one);
  const auto all = result_.cpus_count > 1 ? rate(what, result_.cpus_count, work, checked_run) : one;
  all_cpus = std::max(all_cpus, all.value_or(0));
  return all.has_value();
}

bool CeilingMeasurement::measure_loop(const PeakLoop& loop, ComputeCeiling& ceiling) {
  // Sums of products that are small and positive.
  const auto is_right = [&](int, int64_t passes) {
    const float sum = loop.run(passes);
    return std::isfinite(sum) && sum > 0;
  };
  return measure(fmt::format("arithmetic ({}, {})", loop.isa, loop.format), loop.operations, is_right,
                 ceiling.one_cpu_flops_per_s, ceiling.all_cpus_flops_per_s);
}

void CeilingMeasurement::measure_compute() {
  for (const PeakLoop& loop : peak_loops()) {
    if (!loop.format.starts_with("fp")) continue;
    ComputeCeiling ceiling{loop.isa, loop.format, loop.lanes, 0, 0};
    if (measure_loop(loop, ceiling)) result_.compute.push_back(std::move(ceiling));
  }
  if (result_.compute.empty()) result_.notes.emplace_back("this build has no loops for arithmetic on this processor");
}

void CeilingMeasurement::measure_implausible_again() {
  std::vector<ComputeCeiling>& compute = result_.compute;
  for (int attempt = 0; attempt < kMostAttempts && has_time(); ++attempt) {
    bool again = false;
    for (const PeakLoop& loop : peak_loops()) {
      const auto of_loop = std::find_if(compute.begin(), compute.end(), [&](const ComputeCeiling& of) {
        return of.isa == loop.isa && of.format == loop.format;
      });
      if (of_loop == compute.end() || is_plausible(*of_loop, compute)) continue;
      measure_loop(loop, *of_loop);
      again = true;
    }
    for (size_t i = 0; i + 1 < result_.bandwidth.size(); ++i) {
      BandwidthCeiling& near = result_.bandwidth[i];
      if (near.one_cpu_bytes_per_s >= kImplausibleRatio * result_.bandwidth[i + 1].one_cpu_bytes_per_s) continue;
      measure_level(near.level, near.working_set_bytes);
      again = true;
    }
    if (!again) return;
  }
  for (size_t i = 0; i < compute.size();) {
    if (is_plausible(compute[i], compute)) {
      ++i;
      continue;
    }
    result_.notes.push_back(
        fmt::format("arithmetic ({}, {}) came out slower than narrower registers each time: it is "
                    "left out",
                    compute[i].isa, compute[i].format));
    compute.erase(compute.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (size_t i = 0; i + 1 < result_.bandwidth.size();) {
    if (result_.bandwidth[i].one_cpu_bytes_per_s >= kImplausibleRatio * result_.bandwidth[i + 1].one_cpu_bytes_per_s) {
      ++i;
      continue;
    }
    result_.notes.push_back("reading from " + result_.bandwidth[i].level +
                            " came out slower than from what lies behind it each time: it is left out");
    result_.bandwidth.erase(result_.bandwidth.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void CeilingMeasurement::measure_additions() {
  if (run_additions(1) != kAdditions) return;
  measure(
      "adding whole numbers", kAdditions,
      [](int, int64_t passes) { return run_additions(passes) == kAdditions * passes; }, result_.one_cpu_additions_per_s,
      result_.all_cpus_additions_per_s);
}

void CeilingMeasurement::measure_clock() {
  if (run_addition_chain(1) != kAdditions || is_late("the clock")) return;
  const auto is_right = [](int, int64_t passes) { return run_addition_chain(passes) == kAdditions * passes; };
  result_.clock_hz = rate("the clock", 1, kAdditions, is_right).value_or(0);
}

void CeilingMeasurement::measure_level(const std::string& level, double bytes) {
  std::vector<FilledArray> arrays;
  arrays.reserve(static_cast<size_t>(result_.cpus_count));
  for (int cpu = 0; cpu < result_.cpus_count; ++cpu) arrays.emplace_back(bytes);
  BandwidthCeiling ceiling{level, static_cast<double>(arrays.front().words.size() * sizeof(uint64_t)), 0, 0};
  const auto is_right = [&](int thread, int64_t passes) {
    return arrays[static_cast<size_t>(thread)].is_read_right(passes);
  };
  const auto known = std::find_if(result_.bandwidth.begin(), result_.bandwidth.end(),
                                  [&](const BandwidthCeiling& of) { return of.level == level; });
  if (known != result_.bandwidth.end()) ceiling = *known;
  if (!measure("reading from " + level, ceiling.working_set_bytes, is_right, ceiling.one_cpu_bytes_per_s,
               ceiling.all_cpus_bytes_per_s))
    return;
  if (known != result_.bandwidth.end()) {
    *known = std::move(ceiling);
  } else {
    result_.bandwidth.push_back(std::move(ceiling));
  }
}

// Each array is well inside of its cache, and too large for the one before.
void CeilingMeasurement::measure_caches() {
  const CacheSizes sizes = caches_of_this_processor();
  if (!sizes.l1d_bytes || !sizes.l2_bytes) {
    result_.notes.emplace_back("reading from caches was not measured: the system does not tell their sizes");
    return;
  }
  measure_level("L1", *sizes.l1d_bytes / 2);
  if (*sizes.l2_bytes >= 4 * *sizes.l1d_bytes) measure_level("L2", *sizes.l2_bytes / 2);
  // Shared by CPUs whose number nobody tells: as many as there are here at the most.
  const double l3 = sizes.l3_bytes.value_or(0) / static_cast<double>(2 * result_.cpus_count);
  if (l3 >= 1.5 * *sizes.l2_bytes) measure_level("L3", std::min(l3, 4 * *sizes.l2_bytes));
}

std::optional<double> CeilingMeasurement::memory_rate(int threads, std::vector<FilledArray>& arrays) {
  std::atomic<bool> right = true;
  double bytes = 0;
  BestRate rates;
  const ThreadPlaces places = threads > 1 ? ThreadPlaces::kOneToACpu : ThreadPlaces::kAnywhere;
  for (int thread = 0; thread < threads; ++thread)
    bytes += static_cast<double>(arrays[static_cast<size_t>(thread)].words.size() * sizeof(uint64_t));
  for (int repeat = 0; repeat < kMemoryRepeats || (repeat < kMostMemoryRepeats && !rates.repeats()); ++repeat) {
    const auto drop = [&](int thread) {
      const auto& words = arrays[static_cast<size_t>(thread)].words;
      if (!drop_from_caches(words.data(), words.size())) right = false;
    };
    const auto read = [&](int thread) {
      if (!arrays[static_cast<size_t>(thread)].is_read_right(1)) right = false;
    };
    seconds_together(threads, drop, places);
    rates.add(bytes / std::max(1e-9, seconds_together(threads, read, places)));
  }
  return right ? std::optional(rates.best()) : std::nullopt;
}

// Caches may be larger than what can be read in the time at hand, and shared with others: what is read is taken out of
// them first.
void CeilingMeasurement::measure_memory() {
  if (is_late("reading from memory")) return;
  const double cpus = result_.cpus_count;
  const double wanted = std::max(kMemoryBytes / cpus, kLeastMemoryBytes),
               room = kMemoryShare * free_memory_bytes() / cpus;
  if (room < kLeastMemoryBytes) {
    result_.notes.emplace_back("reading from memory was not measured: there is too little of it free");
    return;
  }
  std::vector<FilledArray> arrays;
  arrays.reserve(static_cast<size_t>(result_.cpus_count));
  for (int cpu = 0; cpu < result_.cpus_count; ++cpu) arrays.emplace_back(std::min(wanted, room));
  BandwidthCeiling ceiling{"memory", static_cast<double>(arrays.front().words.size() * sizeof(uint64_t)), 0, 0};
  const auto one = memory_rate(1, arrays);
  const auto all = result_.cpus_count > 1 && one ? memory_rate(result_.cpus_count, arrays) : one;
  if (!one || !all) {
    result_.notes.emplace_back("reading from memory was not measured: nothing can be taken out of the caches here");
    return;
  }
  ceiling.one_cpu_bytes_per_s = *one;
  ceiling.all_cpus_bytes_per_s = *all;
  result_.bandwidth.push_back(std::move(ceiling));
}

// Small whole numbers: every sum is exact, and some of them are computed another way.
void CeilingMeasurement::measure_product() {
  const RegisterBlock* const block = register_block_here();
  if (block == nullptr || is_late("a product of matrices")) return;
  constexpr size_t kSide = kProductSide;
  AlignedArray<float> a(kSide * kSide), b(kSide * kSide), c(kSide * kSide);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i * 7 % 17) - 8;
    b[i] = static_cast<float>(i * 11 % 13) - 6;
  }
  PackedBlocks packed;
  const auto is_right = [&](int, int64_t passes) {
    for (int64_t pass = 0; pass < passes; ++pass) {
      block_product(*block, kProductSide, kProductSide, kProductSide, a.data(), kProductSide, b.data(), kProductSide,
                    c.data(), kProductSide, packed);
    }
    return true;
  };
  const double work = 2 * std::pow(static_cast<double>(kProductSide), 3);
  const auto found = rate("a product of matrices", 1, work, is_right);
  for (size_t at = 0; at < kSide; at += 31) {
    double sum = 0;
    for (size_t l = 0; l < kSide; ++l) sum += static_cast<double>(a[at * kSide + l]) * b[l * kSide + (kSide - 1 - at)];
    if (c[at * kSide + (kSide - 1 - at)] == static_cast<float>(sum)) continue;
    result_.notes.emplace_back("a product of matrices came out wrong: it is left out");
    return;
  }
  result_.one_cpu_product_flops_per_s = found.value_or(0);
}

}  // namespace

const ComputeCeiling* MachineCeilings::widest(std::string_view format) const {
  for (const ComputeCeiling& ceiling : compute) {
    if (ceiling.format == format) return &ceiling;
  }
  return nullptr;
}

const BandwidthCeiling* MachineCeilings::level(std::string_view name) const {
  for (const BandwidthCeiling& ceiling : bandwidth) {
    if (ceiling.level == name) return &ceiling;
  }
  return nullptr;
}

MachineCeilings measure_machine_ceilings() { return CeilingMeasurement().run(); }

}  // namespace perfcast
