#include <gtest/gtest.h>

#include "machine/facts/core_design.h"
#include "measure/diagnose/find/testing/busy_program.h"

namespace perfcast::measure {
namespace {

class Counted : public testing::Test {
 protected:
  Counted() {
    seen_.run.exit_code = 0;
    seen_.run.wall_s = 1;
    seen_.run.user_s = 1;
    seen_.role_share[static_cast<size_t>(CodeRole::kOwn)] = 1;
    design_.name = "some";
    design_.clock_hz = 1e9;
    design_.mispredict_cycles = 20;
    design_.l2_cycles = 15;
    design_.l3_cycles = 50;
    design_.memory_ns = 100;
    design_.tlb_miss_cycles = 7;
    design_.l1d_bytes = 32 << 10;
    design_.l2_bytes = 1 << 20;
    design_.l3_bytes = 32 << 20;
    evidence_.design = &design_;
    evidence_.profile = &profile_;
  }
  std::vector<Finding> find() const {
    std::vector<Finding> findings;
    find_in_counts(evidence_, findings);
    return findings;
  }
  Observation seen_;
  Profile profile_;
  CoreDesign design_;
  Evidence evidence_{seen_};
};

// The model takes 0.4 s of the second that it ran for: the rest is put down to what it takes too lightly.
TEST_F(Counted, PutDownWhatTheModelMissesToWhatItTakesLightly) {
  profile_.core_bounds["some"] = {{"mispredicted", 0.3}, {"memory", 0.1}, {"width", 0.6}};
  EXPECT_NEAR(evidence_.held_up_by("mispredicted"), 0.3, 1e-12);
  profile_.metrics[core_cycles_metric("some")] = 4e8;
  EXPECT_NEAR(evidence_.held_up_by("mispredicted"), 0.3 * 0.4 + 0.6 * 0.75, 1e-12);
  EXPECT_NEAR(evidence_.held_up_by("memory"), 0.1 * 0.4 + 0.6 * 0.25, 1e-12);
  EXPECT_EQ(evidence_.held_up_by("divide"), 0);
  profile_.metrics[core_cycles_metric("some")] = 2e9;
  EXPECT_NEAR(evidence_.held_up_by("mispredicted"), 0.3, 1e-12);
}

// Of the first twentieth of the work: what is there, not how much of it.
TEST_F(Counted, GiveNoNumberOfASmallPartOfTheRun) {
  profile_.metrics = {{"branches_count", 1e8}, {"tage_misses_count", 2e7}};
  profile_.partly_seen = PartlySeen{0.05, 0.1};
  seen_.no_hardware = "none here";
  const auto findings = find();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, "branch-misses");
  EXPECT_EQ(findings[0].no_gain, "the instrumented run saw 5% of the work, and a number takes 20%");
  EXPECT_EQ(findings[0].title.find('%'), std::string::npos);
  EXPECT_TRUE(findings[0].evidence.empty());
  EXPECT_FALSE(evidence_.count("branches_count"));
  profile_.partly_seen->seen_ratio = 0.2;
  EXPECT_EQ(find()[0].no_gain, "");
  EXPECT_EQ(evidence_.count("branches_count"), 1e8);
}

TEST_F(Counted, BranchesAreMeasuredWhereThereAreCounters) {
  profile_.metrics = {{"branches_count", 1e8}, {"tage_misses_count", 2e7}};
  seen_.no_hardware = "this processor or virtual machine does not offer the event";
  auto findings = find();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].basis, FindingBasis::kModelled);
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * 0.4, 1e-9);
  EXPECT_EQ(findings[0].evidence.back(), "no hardware counters here: modelled");
  seen_.no_hardware.clear();
  seen_.hardware = {{"hw_branch_misses_count", 1e7}, {"hw_branches_count", 2e8}, {"hw_cycles_count", 1e9}};
  findings = find();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].basis, FindingBasis::kMeasured);
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * 0.2, 1e-9);
  EXPECT_EQ(findings[0].evidence[0], "hardware counters: 10 M of 200 M branches went another way than foreseen (5.0%)");
  // Slots tell all that wrong paths took.
  seen_.hardware["hw_topdown_slots_count"] = 6e9;
  seen_.hardware["hw_topdown_bad_speculation_slots_count"] = 3e9;
  EXPECT_NEAR(find().front().gain_ratio, 0.8 * 0.5, 1e-9);
  // What was measured says that there is nothing, whatever a model thinks.
  seen_.hardware["hw_topdown_bad_speculation_slots_count"] = 1e8;
  EXPECT_TRUE(find().empty());
}

TEST_F(Counted, CachesAreMeasuredWithinWhatWaited) {
  seen_.hardware = {{"hw_cycles_count", 1e9},
                    {"hw_llc_load_misses_count", 5e6},
                    {"hw_l1_dcache_load_misses_count", 1e7},
                    {"hw_dtlb_load_misses_count", 0}};
  // 5e6 times 100 cycles, and as many times 15; nothing says how many of them were under way at once.
  auto findings = find();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, "cache-misses");
  EXPECT_EQ(findings[0].basis, FindingBasis::kModelled);
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * 0.575, 1e-9);
  seen_.hardware["hw_stalled_cycles_backend_count"] = 3e8;
  findings = find();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].basis, FindingBasis::kMeasured);
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * 0.3, 1e-9);
  seen_.hardware["hw_topdown_slots_count"] = 6e9;
  seen_.hardware["hw_topdown_backend_slots_count"] = 6e8;
  EXPECT_NEAR(find().front().gain_ratio, 0.8 * 0.1, 1e-9);
}

// 4 M misses of 100 cycles in a second of 1 G cycles, of which the model knows half.
TEST_F(Counted, CachesHoldUpWhatTheModelKnowsAndAShareOfTheRest) {
  seen_.no_hardware = "none here";
  profile_.metrics = {{core_cycles_metric("some"), 5e8},
                      {"miss_32k_random_count", 4e6},
                      {"miss_1m_random_count", 4e6},
                      {"miss_32m_random_count", 4e6}};
  profile_.core_bounds["some"] = {{"memory", 0.6}, {"width", 0.4}};
  auto findings = find();
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"cache-misses"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * 1.3 * 0.4, 1e-9);
  EXPECT_EQ(findings[0].evidence[1], "the model of some waits for L2 in 0% of its cycles, L3 0%, memory 60%, TLB 0%");
  // Here a load takes twice as long as the design says.
  evidence_.costs.load_of_64_mib_s = 200e-9;
  EXPECT_NEAR(find()[0].gain_ratio, 0.8 * (0.6 * 0.5 + 0.5), 1e-9);
  // Of 36 M lines 32 M come in order.
  profile_.metrics["miss_1m_sequential_count"] = 32e6;
  findings = find();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * (0.3 * 0.5 + 0.5 * 0.3 / 0.6), 1e-9);
  EXPECT_EQ(findings[0].evidence[1],
            "the model of some waits for L2 in 0% of its cycles, L3 0%, memory 60%, TLB 0%; 50% of that is for lines "
            "in order, which can't come sooner");
  seen_.run.user_s = 0.04;
  EXPECT_TRUE(find().empty());
}

TEST_F(Counted, AdviseByTheWayThroughMemory) {
  seen_.no_hardware = "none here";
  seen_.samples_count = 1000;
  profile_.metrics = {{core_cycles_metric("some"), 1e9},
                      {"miss_32k_random_count", 8e6},
                      {"miss_1m_random_count", 8e6},
                      {"miss_32m_random_count", 8e6}};
  profile_.core_bounds["some"] = {{"memory", 0.8}};
  HotFunction function;
  function.cpu_share = 1;
  function.function = "std::_Rb_tree_increment(std::_Rb_tree_node_base*)";
  seen_.functions = {function};
  EXPECT_EQ(find()[0].advice.substr(0, 47), "items side by side, not one by one in nodes: a ");
  // mov rax, [rax]; test rax, rax; jne
  seen_.functions[0].function = "sum(node*)";
  seen_.functions[0].loop.emplace();
  seen_.functions[0].loop->instructions =
      decode_instructions(CodeSet::kX86, std::string_view("\x48\x8b\x00\x48\x85\xc0\x75\xf8", 8), 0x1000);
  EXPECT_EQ(find()[0].advice.substr(0, 49), "items side by side in the order in which they are");
  // add ebx, [rax]; add rax, 8192; cmp rax, rdx; jne
  seen_.functions[0].loop->instructions = decode_instructions(
      CodeSet::kX86, std::string_view("\x03\x18\x48\x05\x00\x20\x00\x00\x48\x39\xd0\x75\xf3", 13), 0x1000);
  EXPECT_EQ(find()[0].advice.substr(0, 24), "walk memory in its order");
  seen_.functions[0].loop.reset();
  EXPECT_EQ(find()[0].advice.substr(0, 13), "smaller items");
}

TEST_F(Counted, CrossingsCostWhereTheirUnitsHaveNoGaps) {
  evidence_.costs.load_s = 0.1e-9;
  evidence_.costs.store_s = 0.2e-9;
  evidence_.costs.crossing_load_s = 0.2e-9;
  evidence_.costs.crossing_store_s = 1e-9;
  profile_.metrics = {{"loads_count", 1e9},
                      {"stores_count", 1e9},
                      {"line_crossing_loads_count", 0},
                      {"line_crossing_stores_count", 7e8}};
  // 0.2 s for the stores and 0.7 s for their crossings, of one second: 90% busy, and nothing hides it.
  auto findings = find();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, "unaligned-access");
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * 0.7, 1e-9);
  // Half as many, in code that does other things meanwhile: 45% busy.
  profile_.metrics["stores_count"] = 5e8;
  profile_.metrics["line_crossing_stores_count"] = 3.5e8;
  EXPECT_TRUE(find().empty());
  // What was not measured here is not assumed.
  profile_.metrics["line_crossing_stores_count"] = 9e8;
  evidence_.costs = {};
  EXPECT_TRUE(find().empty());
}

}  // namespace
}  // namespace perfcast::measure
