// Caches, branches and lines: counts of the instrumented run, times what this core's design says each costs.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "corpus/machine/core_design.h"
#include "diagnose/find/rules.h"
#include "diagnose/roofline/memory_traffic.h"

namespace perfcast {
namespace {

constexpr double kLeastModelledShare = 0.08;
constexpr double kMostModelledShare = 0.9;

std::string hottest(const Observation& seen, bool loads) {
  const HotFunction* best = nullptr;
  double most = 0;
  for (const HotFunction& function : seen.functions) {
    const double share = function.cpu_share * (loads ? std::max(0.01, function.load_share) : 1);
    if (function.role != CodeRole::kOwn || share <= most) continue;
    most = share;
    best = &function;
  }
  if (best == nullptr) return "";
  return best->in_words();
}

// What the model of this core says of one bound, as a share of the program's cycles.
double bound_of(const Evidence& evidence, const char* bound) {
  if (evidence.profile == nullptr || evidence.design == nullptr) return 0;
  const auto bounds = evidence.profile->core_bounds.find(evidence.design->name);
  if (bounds == evidence.profile->core_bounds.end()) return 0;
  const auto share = bounds->second.find(bound);
  return share == bounds->second.end() ? 0 : share->second;
}

void add_caches(const Evidence& evidence, std::vector<Finding>& findings) {
  const auto cycles = evidence.user_cycles();
  if (!cycles) return;
  const CoreDesign& design = *evidence.design;
  const auto random_misses = [&](double bytes) {
    const std::string size = nearest_simulated_cache(bytes);
    return evidence.count("miss_" + size + "_random_count").value_or(0) +
           evidence.count("miss_" + size + "_store_random_count").value_or(0);
  };
  // Only misses that no prefetcher foresees: lines that come in order are on their way before they are asked for.
  const bool has_l3 = design.l3_bytes > 0;
  const double l1 = random_misses(design.l1d_bytes), l2 = random_misses(design.l2_bytes),
               l3 = has_l3 ? random_misses(design.l3_bytes) : l2;
  const double walks =
      evidence.count(design.tlb_entries >= 2048 ? "stlb_2048_miss_count" : "stlb_1536_miss_count").value_or(0);
  const double stalled = std::max(0.0, l1 - l2) * design.l2_cycles + std::max(0.0, l2 - l3) * design.l3_cycles +
                         l3 * design.memory_cycles() + walks * design.page_walk_cycles;
  // Many are under way at once; how many of their cycles are waited for, the model of the core knows.
  const double modelled =
      bound_of(evidence, "L2") + bound_of(evidence, "L3") + bound_of(evidence, "memory") + bound_of(evidence, "TLB");
  // A core hides some of it, more in the model than here: what the program took beyond all that the model puts down to
  // other things may be memory's, too.
  const auto model_cycles = evidence.count(core_cycles_metric(design.name));
  const double beyond = model_cycles ? 1 - *model_cycles * (1 - modelled) / *cycles : 0;
  // Libraries that copy or multiply know how to walk memory: what they wait for is found under their own name.
  const double own = evidence.seen.samples_count > 0 ? evidence.seen.share_of(CodeRole::kOwn) : 1;
  const double share = own * std::min({kMostModelledShare, std::max(modelled, beyond), stalled / *cycles});
  if (share < kLeastModelledShare) return;
  Finding finding;
  finding.cause = "cache-misses";
  finding.basis = FindingBasis::kModelled;
  finding.gain_ratio = 0.8 * share * evidence.user_ratio();
  finding.title = fmt::format("{} of the cycles wait for memory beyond the first-level cache", in_percent(share));
  if (const std::string at = hottest(evidence.seen, true); !at.empty())
    finding.evidence.push_back("most likely in " + at);
  finding.evidence.push_back(
      fmt::format("misses out of order beyond {}: {}, beyond {}: {}, beyond {}: {}; pages beyond the TLB: {}",
                  human_bytes(design.l1d_bytes), human_number(l1), human_bytes(design.l2_bytes), human_number(l2),
                  human_bytes(has_l3 ? design.l3_bytes : design.l2_bytes), human_number(l3), human_number(walks)));
  finding.evidence.push_back(fmt::format("the model of {}: L2 {}, L3 {}, memory {}, TLB {}", design.name,
                                         in_percent(bound_of(evidence, "L2")), in_percent(bound_of(evidence, "L3")),
                                         in_percent(bound_of(evidence, "memory")),
                                         in_percent(bound_of(evidence, "TLB"))));
  finding.advice =
      "walk memory in its order (rows before columns), in blocks that fit the cache; keep together what is used "
      "together";
  finding.if_wrong = "code that is harder to read";
  finding.proof = "perf stat -e cache-misses where there are counters; the time of a smaller problem, per item";
  finding.experiments.push_back({"large pages for malloc", {{"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"}}, {}, {}});
  findings.push_back(std::move(finding));
}

void add_branches(const Evidence& evidence, std::vector<Finding>& findings) {
  const auto cycles = evidence.user_cycles(), misses = evidence.count("tage_misses_count"),
             branches = evidence.count("branches_count");
  if (!cycles || !misses || !branches || *branches <= 0) return;
  const double lost = *misses * evidence.design->mispredict_cycles / *cycles;
  const double share = std::min({kMostModelledShare, lost});
  if (share < kLeastModelledShare) return;
  Finding finding;
  finding.cause = "branch-misses";
  finding.basis = FindingBasis::kModelled;
  finding.gain_ratio = 0.8 * share * evidence.user_ratio();
  finding.title =
      fmt::format("{} of the cycles are lost to branches that go another way than foreseen", in_percent(share));
  if (const std::string at = hottest(evidence.seen, false); !at.empty())
    finding.evidence.push_back("most likely in " + at);
  finding.evidence.push_back(fmt::format("{:.1f}% of {} branches by a TAGE predictor, {} cycles each on {}",
                                         100 * *misses / *branches, human_number(*branches),
                                         evidence.design->mispredict_cycles, evidence.design->name));
  finding.advice = "compute without a branch (a select, a table, arithmetic), or sort the data first";
  finding.if_wrong = "work that a branch would have saved";
  finding.proof = "the loop's time on sorted data; perf stat -e branch-misses where there are counters";
  findings.push_back(std::move(finding));
}

void add_crossings(const Evidence& evidence, std::vector<Finding>& findings) {
  const auto loads = evidence.count("line_crossing_loads_count"), stores = evidence.count("line_crossing_stores_count"),
             accesses = evidence.count("memory_accesses_count");
  const auto cycles = evidence.user_cycles();
  if (!loads || !stores || !accesses || !cycles || *accesses <= 0) return;
  const double crossing = *loads + *stores;
  // A second access for each load, of two that a cycle has room for; a store takes two turns, one after the other.
  const double share = std::min(kMostModelledShare, (0.7 * *loads + 3 * *stores) / *cycles);
  if (share < kLeastModelledShare || crossing < 0.02 * *accesses) return;
  Finding finding;
  finding.cause = "unaligned-access";
  finding.basis = FindingBasis::kModelled;
  finding.gain_ratio = 0.8 * share * evidence.user_ratio();
  finding.title = in_percent(crossing / *accesses) + " of the loads and stores cross from one cache line into the next";
  if (const std::string at = hottest(evidence.seen, true); !at.empty())
    finding.evidence.push_back("most likely in " + at);
  finding.evidence.push_back(fmt::format("{} loads, {} stores", human_number(*loads), human_number(*stores)));
  finding.advice = "align records and buffers (alignas(64), aligned_alloc); no packed structures in hot loops";
  finding.if_wrong = "memory for what fills records up";
  finding.proof = "the loop's time with aligned records";
  findings.push_back(std::move(finding));
}

}  // namespace

void find_in_counts(const Evidence& evidence, std::vector<Finding>& findings) {
  add_caches(evidence, findings);
  add_branches(evidence, findings);
  add_crossings(evidence, findings);
}

}  // namespace perfcast
