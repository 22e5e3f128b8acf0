#include "measure/phases/phase_costs.h"

#include <cmath>
#include <string_view>

#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::measure {
namespace {

double at_least_0(double value) { return value < 0 ? 0 : value; }  // what isn't known stays so

class Rates {
 public:
  explicit Rates(const MetricValues& metrics) : metrics_(metrics), instructions_(value("instructions_count")) {}
  // Classes of instructions that a collector doesn't tell apart count with others; whatever else is absent isn't known.
  double value(std::string_view name) const {
    const auto found = metrics_.find(std::string(name));
    if (found != metrics_.end()) return found->second;
    return name.starts_with("op_") ? 0 : kUnknown;
  }
  double instructions() const { return instructions_; }
  double of(std::initializer_list<const char*> names) const {
    double sum = 0;
    for (const char* name : names) sum += value(name);
    return sum / instructions_;
  }
  // Misses of one size that the next larger holds.
  double between(const char* smaller, const char* larger) const {
    return at_least_0(value(smaller) - value(larger)) / instructions_;
  }

 private:
  const MetricValues& metrics_;
  double instructions_;
};

bool is_modelled(const std::string& name) { return name.starts_with("core_") && name.ends_with("_cycles_count"); }

// A phase without a window has the modelled cycles of the whole program.
void fill_modelled(const Profile& profile, Eigen::VectorXd& costs) {
  double& modelled = costs(costs.size() - 1);
  if (std::isfinite(modelled)) return;
  const auto all = profile.metrics.find("instructions_count");
  if (all == profile.metrics.end() || !(all->second > 0)) return;
  for (const PhaseKind& kind : profile.phase_kinds->kinds) {
    for (const auto& [name, cycles] : kind.metrics) {
      if (!is_modelled(name)) continue;
      const auto whole = profile.metrics.find(name);
      if (whole != profile.metrics.end()) modelled = whole->second / all->second;
      return;
    }
  }
}

}  // namespace

std::optional<Eigen::VectorXd> phase_costs(const MetricValues& metrics) {
  const Rates rates(metrics);
  if (!(rates.instructions() > 0)) return std::nullopt;
  for (const char* needed : {"miss_32k_count", "miss_32m_count", "tage_misses_count"}) {
    if (std::isnan(rates.value(needed))) return std::nullopt;
  }
  const double l3_random = rates.between("miss_1m_random_count", "miss_32m_random_count");
  const double memory_random = rates.of({"miss_32m_random_count"});
  double modelled = kUnknown;
  for (const auto& [name, cycles] : metrics) {
    if (is_modelled(name)) modelled = cycles / rates.instructions();
  }
  const std::vector<double> costs = {
      1,
      rates.of({"loads_count", "stores_count"}),
      rates.of({"crit_chain_cycles_count"}),
      rates.of({"op_fp_scalar_add_count", "op_fp_scalar_mul_count", "op_fp_fma_scalar_count", "op_x87_simple_count",
                "op_x87_mul_count"}),
      rates.of({"op_int_div_count", "op_fp_scalar_div_count", "op_fp_scalar_sqrt_count", "op_fp_vec_div_count",
                "op_x87_div_count"}) +
          4 * rates.of({"op_x87_transcendental_count"}),
      rates.of({"op_fp_vec_add_count", "op_fp_vec_mul_count", "op_fp_fma_vec_count", "op_fp_vec_other_count",
                "op_vec_int_alu_count", "op_vec_int_mul_count", "op_vec_logic_count", "op_vec_shuffle_count",
                "op_vec_mov_count"}),
      rates.of({"op_cond_branch_count", "op_jump_count"}),
      rates.of({"op_call_count", "op_ret_count", "op_ind_call_count", "op_ind_branch_count"}),
      rates.of({"tage_misses_count"}),
      rates.of({"indirect_misses_count", "return_misses_count"}),
      rates.between("miss_32k_count", "miss_1m_count"),  // L2 hits; then L3's, of streams and at random; then memory
      at_least_0(rates.between("miss_1m_count", "miss_32m_count") - l3_random),
      l3_random,
      at_least_0(rates.of({"miss_32m_count"}) - memory_random),
      memory_random,
      rates.between("tlb_miss_count", "stlb_1536_miss_count"),
      rates.of({"stlb_1536_miss_count"}),
      rates.of({"icache_32k_miss_count"}),
      rates.of({"syscalls_count"}),
      rates.of({"string_loads_count", "string_stores_count"}),
      rates.of({"op_atomic_count", "op_fence_count"}),
      rates.of({"dependent_loads_count", "dependent_loads_self_loop_count"}),
      modelled};
  return Eigen::Map<const Eigen::VectorXd>(costs.data(), static_cast<Eigen::Index>(costs.size()));
}

std::optional<Eigen::VectorXd> kind_costs(const Profile& profile, const MetricValues& metrics) {
  auto costs = phase_costs(metrics);
  if (costs) fill_modelled(profile, *costs);
  return costs;
}

std::optional<Eigen::VectorXd> slice_costs(const Profile& profile, size_t slice) {
  const ProfilePhase& phase = profile.phases[slice];
  if (!profile.phase_kinds || !phase.kind || *phase.kind >= profile.phase_kinds->kinds.size()) return std::nullopt;
  const PhaseKind& kind = profile.phase_kinds->kinds[*phase.kind];
  MetricValues metrics = phase.metrics;
  for (const auto& [name, value] : kind.metrics)
    metrics.emplace(name, value * phase.instructions_count / kind.instructions_count);
  return kind_costs(profile, metrics);
}

std::vector<PhaseExample> phase_examples(const Profile& profile, double least_ratio) {
  std::vector<PhaseExample> examples;
  if (!profile.phase_kinds) return examples;
  double all_s = 0;
  for (const PhaseKind& kind : profile.phase_kinds->kinds) all_s += kind.native_cpu_s.value_or(0);
  for (size_t k = 0; k < profile.phase_kinds->kinds.size(); ++k) {
    const PhaseKind& kind = profile.phase_kinds->kinds[k];
    auto costs = kind_costs(profile, kind.metrics);
    if (!costs || !kind.native_cpu_s || !(*kind.native_cpu_s > 0) || *kind.native_cpu_s < least_ratio * all_s ||
        !(kind.instructions_count > 0))
      continue;
    examples.push_back({profile.program, join(profile.command, " "), k, kind.instructions_count, *kind.native_cpu_s,
                        kind.native_deviation_s, std::move(*costs)});
  }
  return examples;
}

}  // namespace perfcast::measure
