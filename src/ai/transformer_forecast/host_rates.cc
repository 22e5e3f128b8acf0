#include "ai/transformer_forecast/host_rates.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string_view>

#include "ai/transformer/thread_team.h"
#include "ai/transformer_forecast/step_times.h"
#include "base/statistics.h"
#include "machine/ceiling/aligned_array.h"
#include "machine/ceiling/cpu_isa.h"
#include "machine/ceiling/free_memory.h"
#include "machine/ceiling/peak_loops.h"
#include "machine/ceiling/read_loops.h"
#include "machine/facts/caches.h"

namespace perfcast::ai {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kReadFor_s = 0.02, kComputeFor_s = 0.01;
constexpr double kMostOfMemory = 0.25;

// Passes over the first `bytes` of an array, cut into pieces as a product's panels are.
double read_rate(ThreadTeam& team, const AlignedArray<uint64_t>& array, double bytes) {
  const auto& loop = read_loops().front();
  constexpr int64_t kPieceWords = 64 * kReadStep;  // 64 KiB
  const int64_t pieces = static_cast<int64_t>(bytes) / static_cast<int64_t>(kPieceWords * sizeof(uint64_t));
  std::atomic<uint64_t> all = 0;
  const auto pass = [&] {
    team.run(pieces, [&](int64_t piece, int) {
      const uint64_t sum = loop.run(array.data() + piece * kPieceWords, kPieceWords, 1);
      if (sum != 0) all.fetch_xor(sum, std::memory_order_relaxed);
    });
  };
  pass();
  std::vector<double> rates;
  const StepClock clock = clock_for(team.threads());
  const double begin_s = seconds_now(clock), cost_s = clock_cost_s(clock);
  while (seconds_now(clock) - begin_s < kReadFor_s || rates.size() < 3) {
    const double start_s = seconds_now(clock);
    pass();
    const double passed_s = seconds_now(clock) - start_s - cost_s;
    rates.push_back(static_cast<double>(pieces * kPieceWords) * sizeof(uint64_t) / passed_s);
    if (rates.size() >= 1000) break;
  }
  return median(std::move(rates));
}

// The widest loop of a format; not-a-number where this CPU has none.
double peak_rate(ThreadTeam& team, std::string_view format) {
  for (const PeakLoop& loop : peak_loops()) {
    if (loop.format != format || loop.lanes == 0) continue;
    std::atomic<float> sink = 0;
    const StepClock clock = clock_for(team.threads());
    const auto run = [&](int64_t passes) {
      const double start_s = seconds_now(clock);
      team.run(team.threads(), [&](int64_t, int) { sink = loop.run(passes); });
      return static_cast<double>(passes) * loop.operations * team.threads() / (seconds_now(clock) - start_s);
    };
    int64_t passes = 1000;
    while (loop.operations * static_cast<double>(passes) * team.threads() / run(passes) < kComputeFor_s) passes *= 2;
    return std::max({run(passes), run(passes), run(passes)});
  }
  return kUnknown;
}

}  // namespace

double HostRates::read_bytes_per_s(double footprint_bytes) const {
  if (read.empty()) return kUnknown;
  if (footprint_bytes <= read.front().first) return read.front().second;
  for (size_t i = 1; i < read.size(); ++i) {
    if (footprint_bytes > read[i].first) continue;
    const auto& [from, slow] = read[i - 1];
    const auto& [to, rate] = read[i];
    const double share = std::log(footprint_bytes / from) / std::log(to / from);
    return std::exp((1 - share) * std::log(slow) + share * std::log(rate));
  }
  return read.back().second;
}

HostRateMeasurement::HostRateMeasurement(int threads, double most_bytes) : threads_(threads) {
  const double most = std::min(most_bytes, kMostOfMemory * free_memory_bytes());
  for (const double size_mib : {1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256, 512}) {
    if (size_mib * kMiB <= most || sizes_.empty()) sizes_.push_back(size_mib * kMiB);
  }
  rates_.resize(sizes_.size());
}

void HostRateMeasurement::run_round() {
  ThreadTeam team(threads_);
  AlignedArray<uint64_t> array(static_cast<size_t>(sizes_.back()) / sizeof(uint64_t));
  for (size_t i = 0; i < array.size(); ++i) array[i] = i * 0x9E3779B97F4A7C15U;
  for (size_t i = 0; i < sizes_.size(); ++i) rates_[i].push_back(read_rate(team, array, sizes_[i]));
  fp32_.push_back(peak_rate(team, "fp32"));
  int8_.push_back(peak_rate(team, "int8"));
}

HostRates HostRateMeasurement::facts() const {
  HostRates facts;
  facts.cpu = cpu_title();
  facts.l2_bytes = caches_of_this_processor().l2_bytes.value_or(facts.l2_bytes);
  facts.threads = threads_;
  if (fp32_.empty()) return facts;
  facts.read.reserve(sizes_.size());
  for (size_t i = 0; i < sizes_.size(); ++i) facts.read.emplace_back(sizes_[i], median(rates_[i]));
  facts.fp32_flops_per_s = *std::max_element(fp32_.begin(), fp32_.end());
  facts.int8_ops_per_s = *std::max_element(int8_.begin(), int8_.end());
  return facts;
}

}  // namespace perfcast::ai
