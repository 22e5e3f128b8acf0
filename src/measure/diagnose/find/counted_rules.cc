// Caches, branches and lines: by the processor's own counters where they can be read, else by counts of the
// instrumented run, times what this core's design, or this machine, says that each costs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/text.h"
#include "machine/facts/core_design.h"
#include "measure/diagnose/find/rules.h"
#include "measure/diagnose/roofline/loop_shape.h"
#include "measure/diagnose/roofline/memory_traffic.h"
#include "profile/core/memory_counts.h"

namespace perfcast::measure {
namespace {

constexpr double kLeastModelledShare = 0.08;
constexpr double kMostModelledShare = 0.9;
constexpr double kForeseen = 8;      // lines in order take one's time out of order
constexpr double kMostLonger = 1.3;  // loads take beside what is measured when the program does not run
constexpr double kMostlyOutOfOrder = 0.8;
// How busy units are: below the one whatever takes them longer is hidden, above the other nothing is.
constexpr double kGapsHide = 0.5, kGapsAreGone = 0.8;

const HotFunction* hottest(const Observation& seen, bool loads) {
  const HotFunction* best = nullptr;
  double most = 0;
  for (const HotFunction& function : seen.functions) {
    const double share = function.cpu_share * (loads ? std::max(0.01, function.load_share) : 1);
    if (function.role != CodeRole::kOwn || share <= most) continue;
    most = share;
    best = &function;
  }
  return best;
}

// "most likely in walk (list.cc:12)"; none where there are no samples.
void add_hottest(const Observation& seen, bool loads, Finding& finding) {
  if (const HotFunction* const at = hottest(seen, loads)) {
    const std::string words = at->own_words();
    finding.evidence.push_back("most likely " + (words.starts_with("in ") ? words : "in " + words));
  }
}

// How a program comes to the addresses that it waits for.
enum class Walk : uint8_t { kUnknown, kNodes, kLinks, kStrides };

// Containers of the standard library that allocate each item on its own.
bool is_of_nodes(const HotFunction& function) {
  for (const std::string* const name : {&function.function, &function.entry}) {
    for (const char* const container : {"_Rb_tree", "_Hashtable", "_List_", "std::map<", "std::set<", "std::list<",
                                        "std::unordered_", "std::__cxx11::list<", "std::multi", "std::forward_list<"}) {
      if (name->find(container) != std::string::npos) return true;
    }
  }
  return false;
}

// An address that is read from where the last one led.
bool follows_links(const HotLoop& loop) {
  return std::any_of(loop.instructions.begin(), loop.instructions.end(), [](const CodeInstruction& of) {
    return of.loaded_bytes == 8 && of.memory.is_there && of.memory.base != kNoRegister &&
           (of.general_writes & 1U << static_cast<unsigned>(of.memory.base)) != 0 && !of.change.is_linear;
  });
}

// Steps of a line of 64 bytes or more: only a part of each line is used before it is gone.
bool has_long_strides(const HotLoop& loop) {
  const LoopShape shape = loop_shape(loop.instructions);
  return std::any_of(shape.accesses.begin(), shape.accesses.end(),
                     [](const LoopAccess& access) { return access.step_bytes && std::abs(*access.step_bytes) >= 64; });
}

Walk walk_of(const HotFunction& function) {
  if (is_of_nodes(function)) return Walk::kNodes;
  if (!function.loop || function.loop->instructions.empty()) return Walk::kUnknown;
  if (follows_links(*function.loop)) return Walk::kLinks;
  return has_long_strides(*function.loop) ? Walk::kStrides : Walk::kUnknown;
}

std::string advice_on(Walk walk) {
  switch (walk) {
    case Walk::kNodes:
      return "items side by side, not one by one in nodes: a sorted std::vector, or a hash table of one block";
    case Walk::kLinks:
      return "items side by side in the order in which they are visited (an array, indices in place of pointers)";
    case Walk::kStrides:
      return "walk memory in its order (swap the loops: rows before columns), or in blocks that fit the cache; rows "
             "whose length is a power of two get some bytes more";
    case Walk::kUnknown:
      break;
  }
  return "smaller items, with what is used together beside each other; sort or group the look-ups by address";
}

// What a cause takes of the cycles, and what says so.
struct Loss {
  double share = 0;
  FindingBasis basis = FindingBasis::kModelled;
  std::vector<std::string> evidence;
};

// Of the pipeline's slots, or the cycles, those that waited for the back end: units, memory.
std::optional<double> measured_waiting(const Evidence& evidence) {
  const auto slots = evidence.measured("hw_topdown_slots_count"),
             waiting = evidence.measured("hw_topdown_backend_slots_count");
  if (slots && waiting && *slots > 0) return *waiting / *slots;
  const auto cycles = evidence.measured("hw_cycles_count"),
             stalled = evidence.measured("hw_stalled_cycles_backend_count");
  if (cycles && stalled && *cycles > 0) return *stalled / *cycles;
  return std::nullopt;
}

std::optional<Loss> measured_by_caches(const Evidence& evidence) {
  const auto cycles = evidence.measured("hw_cycles_count");
  auto memory = evidence.measured("hw_llc_load_misses_count");
  if (!memory) memory = evidence.measured("hw_cache_misses_count");
  if (!cycles || !memory || !(*cycles > 0) || evidence.design == nullptr) return std::nullopt;
  const CoreDesign& design = *evidence.design;
  const double l1 = evidence.measured("hw_l1_dcache_load_misses_count").value_or(*memory);
  const double pages = evidence.measured("hw_dtlb_load_misses_count").value_or(0);
  const double stalled = std::max(0.0, l1 - *memory) * design.l2_cycles + *memory * design.memory_cycles() +
                         pages * design.tlb_miss_cycles;
  // Many misses are under way at once: no more than what waited for anything at all.
  const auto waiting = measured_waiting(evidence);
  Loss loss;
  loss.basis = waiting ? FindingBasis::kMeasured : FindingBasis::kModelled;
  loss.share = std::min({kMostModelledShare, waiting.value_or(1), stalled / *cycles});
  loss.evidence.push_back(fmt::format(
      "hardware counters: {} misses beyond the last cache, {} beyond the first, {} of the data TLB, in {} cycles",
      human_number(*memory), human_number(l1), human_number(pages), human_number(*cycles)));
  if (waiting) loss.evidence.push_back(in_percent(*waiting) + " of them waited for memory or a unit");
  return loss;
}

std::optional<Loss> modelled_by_caches(const Evidence& evidence) {
  const auto cycles = evidence.user_cycles();
  if (!cycles) return std::nullopt;
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
  // A guest, or other load on the caches, makes loads longer than the design says.
  const double l3_cycles = std::max<double>(design.l3_cycles, evidence.costs.load_of_8_mib_s * design.clock_hz),
               memory_cycles =
                   std::max<double>(design.memory_cycles(), evidence.costs.load_of_64_mib_s * design.clock_hz);
  const double stalled = std::max(0.0, l1 - l2) * design.l2_cycles + std::max(0.0, l2 - l3) * l3_cycles +
                         l3 * memory_cycles + walks * design.page_walk_cycles;
  // Many are under way at once; how many of their cycles are waited for, the model of the core knows.
  const double of_l2 = evidence.modelled_bound("L2"), of_l3 = evidence.modelled_bound("L3"),
               of_memory = evidence.modelled_bound("memory"), of_tlb = evidence.modelled_bound("TLB");
  const double modelled = of_l2 + of_l3 + of_memory + of_tlb;
  // Lines that come in order come as fast as memory gives them, however they are asked for: theirs is a part of that,
  // by their number. Cycles beyond the model's are put down in proportion, as those of other causes are; but no more of
  // them than so many misses take here.
  const auto in_order = [&](double bytes) {
    const std::string size = nearest_simulated_cache(bytes);
    return evidence.count("miss_" + size + "_sequential_count").value_or(0) +
           evidence.count("miss_" + size + "_store_sequential_count").value_or(0);
  };
  const double foreseen = in_order(design.l2_bytes) / kForeseen;
  const double out_of_order = modelled > 0 && l2 + foreseen > 0 ? l2 / (l2 + foreseen) : 1;
  Loss loss;
  loss.share =
      std::min({kMostModelledShare, evidence.beyond_model(modelled * out_of_order), kMostLonger * stalled / *cycles});
  loss.evidence.push_back(
      fmt::format("misses out of order beyond {}: {}, beyond {}: {}, beyond {}: {}; pages beyond the TLB: {}",
                  human_bytes(design.l1d_bytes), human_number(l1), human_bytes(design.l2_bytes), human_number(l2),
                  human_bytes(has_l3 ? design.l3_bytes : design.l2_bytes), human_number(l3), human_number(walks)));
  std::string words =
      fmt::format("the model of {} waits for L2 in {} of its cycles, L3 {}, memory {}, TLB {}", design.name,
                  in_percent(of_l2), in_percent(of_l3), in_percent(of_memory), in_percent(of_tlb));
  if (out_of_order < kMostlyOutOfOrder)
    words += fmt::format("; {} of that is for lines in order, which can't come sooner", in_percent(1 - out_of_order));
  loss.evidence.push_back(std::move(words));
  return loss;
}

std::optional<Loss> measured_by_branches(const Evidence& evidence) {
  const auto misses = evidence.measured("hw_branch_misses_count"), branches = evidence.measured("hw_branches_count"),
             cycles = evidence.measured("hw_cycles_count"), slots = evidence.measured("hw_topdown_slots_count"),
             wrong = evidence.measured("hw_topdown_bad_speculation_slots_count");
  Loss loss;
  loss.basis = FindingBasis::kMeasured;
  if (misses && branches && *branches > 0) {
    loss.evidence.push_back(fmt::format("hardware counters: {} of {} branches went another way than foreseen ({:.1f}%)",
                                        human_number(*misses), human_number(*branches), 100 * *misses / *branches));
  }
  if (slots && wrong && *slots > 0) {
    loss.share = *wrong / *slots;
    loss.evidence.push_back(in_percent(loss.share) + " of the pipeline's slots went to wrong paths");
    return loss;
  }
  if (!misses || !cycles || !(*cycles > 0) || evidence.design == nullptr) return std::nullopt;
  loss.share = std::min(kMostModelledShare, *misses * evidence.design->mispredict_cycles / *cycles);
  loss.evidence.push_back(
      fmt::format("each takes {} cycles on {}", evidence.design->mispredict_cycles, evidence.design->name));
  return loss;
}

std::optional<Loss> modelled_by_branches(const Evidence& evidence) {
  const auto cycles = evidence.user_cycles(), misses = evidence.count("tage_misses_count"),
             branches = evidence.count("branches_count");
  if (!cycles || !misses || !branches || *branches <= 0) return std::nullopt;
  Loss loss;
  const double by_penalty = *misses * evidence.design->mispredict_cycles / *cycles;
  // Indirect branches go wrong, too.
  const double of_these = *misses / (*misses + evidence.count("indirect_misses_count").value_or(0) + 1);
  const double by_model = by_penalty >= kMuchMispredicted ? of_these * evidence.held_up_by("mispredicted") : 0;
  loss.share = std::min(kMostModelledShare, std::max(by_penalty, by_model));
  loss.evidence.push_back(fmt::format("{:.1f}% of {} branches by a TAGE predictor, {} cycles each on {}",
                                      100 * *misses / *branches, human_number(*branches),
                                      evidence.design->mispredict_cycles, evidence.design->name));
  return loss;
}

// What was measured stands before what is modelled, also where it says that nothing is lost.
std::optional<Loss> loss_of(const Evidence& evidence, std::optional<Loss> (*measured)(const Evidence&),
                            std::optional<Loss> (*modelled)(const Evidence&)) {
  if (auto loss = measured(evidence)) return loss;
  auto loss = modelled(evidence);
  if (loss && !evidence.seen.no_hardware.empty()) loss->evidence.emplace_back("no hardware counters here: modelled");
  return loss;
}

Finding finding_of(const Evidence& evidence, const Loss& loss, bool by_loads) {
  Finding finding;
  finding.basis = loss.basis;
  finding.gain_ratio = 0.8 * loss.share * evidence.user_ratio();
  add_hottest(evidence.seen, by_loads, finding);
  finding.evidence.insert(finding.evidence.end(), loss.evidence.begin(), loss.evidence.end());
  return finding;
}

void add_caches(const Evidence& evidence, std::vector<Finding>& findings) {
  auto loss = loss_of(evidence, measured_by_caches, modelled_by_caches);
  if (!loss) return;
  // Libraries that copy or multiply know how to walk memory: what they wait for is found under their own name.
  loss->share *= evidence.seen.samples_count > 0 ? evidence.seen.share_of(CodeRole::kOwn) : 1;
  if (loss->share < kLeastModelledShare) return;
  Finding finding = finding_of(evidence, *loss, true);
  finding.cause = "cache-misses";
  finding.title = fmt::format("{} of the cycles wait for memory beyond the first-level cache", in_percent(loss->share));
  const HotFunction* const at = hottest(evidence.seen, true);
  finding.advice = advice_on(at == nullptr ? Walk::kUnknown : walk_of(*at));
  finding.if_wrong = "code that is harder to read";
  finding.proof = "perf stat -e cache-misses where there are counters; the time of a smaller problem, per item";
  finding.experiments.push_back(
      {"large pages for malloc", {{"GLIBC_TUNABLES", evidence.tuned("glibc.malloc.hugetlb=1")}}, {}, {}});
  findings.push_back(std::move(finding));
}

void add_branches(const Evidence& evidence, std::vector<Finding>& findings) {
  const auto loss = loss_of(evidence, measured_by_branches, modelled_by_branches);
  if (!loss || loss->share < kLeastModelledShare) return;
  Finding finding = finding_of(evidence, *loss, false);
  finding.cause = "branch-misses";
  finding.title =
      fmt::format("{} of the cycles are lost to branches that go another way than foreseen", in_percent(loss->share));
  finding.advice = "compute without a branch (a select, a table, arithmetic), or sort the data first";
  finding.if_wrong = "work that a branch would have saved";
  finding.proof = "the loop's time on sorted data; perf stat -e branch-misses where there are counters";
  findings.push_back(std::move(finding));
}

// What crossings take of a kind of access: more time than the others, as measured here, in the units that serve them.
// As long as those have gaps, crossings fill them, and take nothing.
struct CrossingTime {
  double extra_s = 0, busy_ratio = 0;
  double lost_s() const {
    return extra_s * std::clamp((busy_ratio - kGapsHide) / (kGapsAreGone - kGapsHide), 0.0, 1.0);
  }
};

CrossingTime crossing_time(double accesses, double access_s, double crossings, double crossing_s, double user_s) {
  CrossingTime time;
  time.extra_s = std::min(user_s, crossings * crossing_s);
  time.busy_ratio = (accesses * access_s + crossings * crossing_s) / user_s;
  return time;
}

void add_crossings(const Evidence& evidence, std::vector<Finding>& findings) {
  const auto loads = evidence.count("line_crossing_loads_count"), stores = evidence.count("line_crossing_stores_count"),
             all_loads = evidence.count("loads_count"), all_stores = evidence.count("stores_count");
  const double user_s = evidence.seen.run.user_s;
  const MachineCosts& costs = evidence.costs;
  if (!loads || !stores || !all_loads || !all_stores || !(user_s > 0) || !(costs.load_s > 0)) return;
  const double crossing = *loads + *stores, accesses = *all_loads + *all_stores;
  if (!(accesses > 0) || crossing < 0.02 * accesses) return;
  const CrossingTime by_loads = crossing_time(*all_loads, costs.load_s, *loads, costs.crossing_load_s, user_s);
  const CrossingTime by_stores = crossing_time(*all_stores, costs.store_s, *stores, costs.crossing_store_s, user_s);
  // Loads and stores go on beside each other.
  const double share = std::min(kMostModelledShare, std::max(by_loads.lost_s(), by_stores.lost_s()) / user_s);
  if (share < kLeastModelledShare) return;
  Finding finding;
  finding.cause = "unaligned-access";
  finding.basis = FindingBasis::kModelled;
  finding.gain_ratio = 0.8 * share * evidence.user_ratio();
  finding.title = in_percent(crossing / accesses) + " of the loads and stores cross from one cache line into the next";
  add_hottest(evidence.seen, true, finding);
  finding.evidence.push_back(fmt::format(
      "{} loads and {} stores that cross; one takes {:.2f} and {:.2f} ns more here, where nothing hides it",
      human_number(*loads), human_number(*stores), 1e9 * costs.crossing_load_s, 1e9 * costs.crossing_store_s));
  finding.evidence.push_back(fmt::format("all loads keep their units busy for {} of the time, all stores for {}",
                                         in_percent(by_loads.busy_ratio), in_percent(by_stores.busy_ratio)));
  finding.advice = "align records and buffers (alignas(64), aligned_alloc); no packed structures in hot loops";
  finding.if_wrong = "memory for what fills records up";
  finding.proof = "the loop's time with aligned records";
  findings.push_back(std::move(finding));
}

// What the beginning of the run shows is there; how much it costs, all of the run would show.
void find_roughly(const Evidence& evidence, std::vector<Finding>& findings) {
  Evidence rough = evidence;
  rough.takes_rough_counts = true;
  const std::string why = fmt::format("the instrumented run saw {:.2g}% of the work, and a number takes {:.0f}%",
                                      100 * evidence.counted_ratio(), 100 * kLeastSeenWork);
  const auto add = [&](void (*rule)(const Evidence&, std::vector<Finding>&), const char* title) {
    std::vector<Finding> found;
    rule(rough, found);
    for (Finding& finding : found) {
      if (finding.basis != FindingBasis::kMeasured) {
        finding.title = title;
        std::erase_if(finding.evidence, [](const std::string& line) { return !line.starts_with("most likely"); });
        finding.no_gain = why;
      }
      findings.push_back(std::move(finding));
    }
  };
  add(add_caches, "cycles wait for memory beyond the first-level cache");
  add(add_branches, "cycles are lost to branches that go another way than foreseen");
}

}  // namespace

void find_in_counts(const Evidence& evidence, std::vector<Finding>& findings) {
  if (evidence.seen.run.user_s < kShortestRun_s) return;
  if (!evidence.has_enough_counts()) {
    find_roughly(evidence, findings);
    return;
  }
  add_caches(evidence, findings);
  add_branches(evidence, findings);
  add_crossings(evidence, findings);
}

}  // namespace perfcast::measure
