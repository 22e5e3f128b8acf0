// perfcast_load_bench [ROUNDS]: what the load generator itself costs.
//
//   saturated   the null system behind the server scenario, arrivals faster than it can issue: queries/s
//   lateness    10,000 queries/s for two seconds, in turns with a bare loop that spins until the same times and does
//               nothing then: how much later than due each is, and the ratio of their tails
//
// Medians over the rounds; every round is printed.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ai/load/latency_numbers.h"
#include "ai/load/load_generator.h"
#include "ai/load/load_summary.h"
#include "ai/load/query_order.h"
#include "ai/system/null_system.h"
#include "base/statistics.h"

namespace perfcast::ai {
namespace {

constexpr double kLatenessRate = 10000;

LoadSettings bench_settings(double rate, double seconds_s) {
  LoadSettings settings;
  settings.scenario = LoadScenario::kServer;
  settings.target_qps = rate;
  settings.min_duration_s = seconds_s;
  return settings;
}

std::vector<int64_t> due_times(const LoadSettings& settings) {
  QueryOrder order(settings, sample_sets(settings).front());
  std::vector<uint32_t> samples;
  std::vector<int64_t> times;
  int64_t due_ns = 0;
  while (order.next(samples, due_ns)) times.push_back(due_ns);
  return times;
}

double thread_cpu_s() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

LatencySummary bare_loop(const std::vector<int64_t>& due_ns) {
  std::vector<int64_t> lateness(due_ns.size());
  const int64_t start_ns = steady_ns();
  for (size_t i = 0; i < due_ns.size(); ++i) {
    int64_t now_ns = 0;
    do {
      now_ns = steady_ns() - start_ns;
    } while (now_ns < due_ns[i]);
    lateness[i] = now_ns - due_ns[i];
  }
  return summarise(std::move(lateness));
}

struct Tail {
  std::vector<double> p50, p99, p999;
  void add(const char* name, const LatencySummary& times) {
    std::printf("  %-15s p50 %6lld ns  p99 %8lld ns  p99.9 %8lld ns  max %10lld ns\n", name,
                static_cast<long long>(times.p50), static_cast<long long>(times.p99),
                static_cast<long long>(times.p999), static_cast<long long>(times.max));
    std::fflush(stdout);
    p50.push_back(static_cast<double>(times.p50));
    p99.push_back(static_cast<double>(times.p99));
    p999.push_back(static_cast<double>(times.p999));
  }
};

int bench(int rounds) {
  NullSystem system;
  std::vector<double> rates, cpu_rates;
  std::printf("null system, server scenario, saturated:\n");
  for (int round = 0; round < rounds; ++round) {
    const double before_s = thread_cpu_s();
    const auto result = run_load(bench_settings(2e7, 0.25), system);
    const double cpu_s = thread_cpu_s() - before_s;
    if (!result || !result->faults.empty() || result->unanswered() != 0) return 1;
    rates.push_back(summarise(*result).queries_per_s);
    cpu_rates.push_back(static_cast<double>(result->queries) / cpu_s);
    std::printf("  %.2f M queries/s; %.2f M per second of the issuing thread's CPU time\n", rates.back() / 1e6,
                cpu_rates.back() / 1e6);
    std::fflush(stdout);
  }
  Tail generator, bare;
  const LoadSettings settings = bench_settings(kLatenessRate, 2);
  const std::vector<int64_t> times = due_times(settings);
  std::printf("lateness at %.0f queries/s:\n", kLatenessRate);
  for (int round = 0; round < rounds; ++round) {
    const auto result = run_load(settings, system);
    if (!result || !result->faults.empty()) return 1;
    generator.add("load generator", summarise(*result).lateness);
    bare.add("bare loop", bare_loop(times));
  }
  std::printf(
      "medians: %.2f M queries/s (%.2f M per CPU second); lateness p99 %.2f us (bare loop %.2f us), p99.9 %.2f us "
      "(bare loop %.2f us, %.2fx)\n",
      median(rates) / 1e6, median(cpu_rates) / 1e6, median(generator.p99) / 1e3, median(bare.p99) / 1e3,
      median(generator.p999) / 1e3, median(bare.p999) / 1e3, median(generator.p999) / median(bare.p999));
  return 0;
}

}  // namespace
}  // namespace perfcast::ai

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 7;
  return perfcast::ai::bench(std::max(rounds, 1));
}
