#include "profile/core/memory_counts.h"

#include <algorithm>
#include <cmath>

#include "profile/core/simulate.h"

namespace perfcast {
namespace {

constexpr double kAgreeFactor = 1.5, kAgreeShare = 0.05;

struct SimulatedCache {
  const char* name;
  double bytes;
};
constexpr SimulatedCache kSimulatedCaches[] = {{"32k", 32 << 10},   {"48k", 48 << 10},   {"64k", 64 << 10},
                                               {"256k", 256 << 10}, {"512k", 512 << 10}, {"1m", 1 << 20},
                                               {"2m", 2 << 20},     {"4m", 4 << 20},     {"8m", 8 << 20},
                                               {"16m", 16 << 20},   {"32m", 32 << 20},   {"64m", 64 << 20}};

std::optional<double> value_of(const MetricValues& counts, const std::string& metric) {
  const auto found = counts.find(metric);
  return found == counts.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> random_reads(const MetricValues& counts, const CoreDesign& design) {
  const double last = design.l3_bytes > 0 ? design.l3_bytes : design.l2_bytes;
  if (!(last > 0)) return std::nullopt;
  return value_of(counts, "miss_" + nearest_simulated_cache(last) + "_random_count");
}

}  // namespace

std::string nearest_simulated_cache(double bytes) {
  const auto* best = std::min_element(
      std::begin(kSimulatedCaches), std::end(kSimulatedCaches), [&](const SimulatedCache& a, const SimulatedCache& b) {
        return std::abs(std::log(a.bytes / bytes)) < std::abs(std::log(b.bytes / bytes));
      });
  return best->name;
}

MetricValues memory_counts(const MetricValues& counters) {
  MetricValues kept;
  const auto keep = [&](const std::string& metric) {
    if (const auto value = value_of(counters, metric)) kept[metric] = *value;
  };
  keep("instructions_count");
  for (const SimulatedCache& cache : kSimulatedCaches) keep(std::string("miss_") + cache.name + "_random_count");
  return kept;
}

std::optional<double> random_reads_of_memory(const MetricValues& counts, const CoreDesign& design) {
  const auto reads = random_reads(counts, design), instructions = value_of(counts, "instructions_count");
  if (!reads || !instructions || !(*instructions > 0)) return std::nullopt;
  return 1000 * *reads / *instructions;
}

std::optional<double> least_memory_cycles(const MetricValues& counts, const CoreDesign& design) {
  const auto reads = random_reads(counts, design);
  if (!reads || design.misses <= 0) return std::nullopt;
  return *reads * design.memory_cycles() / design.misses;
}

bool raise_memory(const MetricValues& counts, const CoreDesign& design, double& cycles, CoreBoundRatios& ratios) {
  const auto least = least_memory_cycles(counts, design);
  if (!least || !(cycles > 0)) return false;
  // Walks to the page of such a read are waited for with it.
  const std::string memory(core_bound_name(CoreBound::kMemory)), pages(core_bound_name(CoreBound::kTlb));
  const auto share = [&](const std::string& bound) {
    const auto found = ratios.find(bound);
    return found == ratios.end() ? 0 : found->second;
  };
  const double modelled = cycles * (share(memory) + share(pages));
  const double more = *least - modelled;
  if (*least <= kAgreeFactor * modelled || more < kAgreeShare * (cycles + more)) return false;
  const double raised = cycles + more;
  const double of_memory = (cycles * share(memory) + more) / raised;
  for (auto& [bound, ratio] : ratios) ratio *= cycles / raised;
  ratios[memory] = of_memory;
  cycles = raised;
  return true;
}

}  // namespace perfcast
