#include "program/corpus/importers/likwid_importer.h"

#include <gmock/gmock.h>

namespace perfcast::program {
namespace {

constexpr const char* kInfo =
    "STRUCT,Info,3,,\nCPU name:,Example(R) CPU @ 2.00GHz,,,\nCPU type:,Example processor,,,\nCPU clock:,2.0 GHz,,,\n";

TEST(LikwidImportTest, ThreadsAddUpAndTheLongestTimeCounts) {
  const auto profiles = read_likwid(std::string("some output of the program\n") + kInfo +
                                        "TABLE,Group 1 Raw,BRANCH,3,\nEvent,Counter,HWThread 0,HWThread 1,\n"
                                        "INSTR_RETIRED_ANY,FIXC0,100,50,\nCPU_CLK_UNHALTED_CORE,FIXC1,200,100,\n"
                                        "BR_INST_RETIRED_ALL_BRANCHES,PMC0,-,-,\nPWR_PKG_ENERGY,PWR0,2.5,0,\n"
                                        "MY_EVENT.X,PMC1,7,-,\n"
                                        "TABLE,Group 1 Raw STAT,BRANCH,1,\nEvent,Counter,Sum,Min,Max\n"
                                        "INSTR_RETIRED_ANY STAT,FIXC0,150,50,100\n"
                                        "TABLE,Group 1 Metric,BRANCH,2,\nMetric,HWThread 0,HWThread 1,,\n"
                                        "Runtime (RDTSC) [s],0.25,0.75,,\nCPI,2,2,,\n",
                                    "bt.A.csv");
  ASSERT_TRUE(profiles.ok()) << to_text(profiles.error());
  ASSERT_EQ(profiles->size(), 1u);
  const Profile& profile = (*profiles)[0].profile;
  EXPECT_EQ((*profiles)[0].program, "bt.a");
  EXPECT_EQ(profile.host.name, "Example(R) CPU @ 2.00GHz");
  EXPECT_EQ(profile.metrics.at("hw_instructions_count"), 150);
  EXPECT_EQ(profile.metrics.at("hw_cycles_count"), 300);
  EXPECT_EQ(profile.metrics.at("likwid_pwr_pkg_energy_joules"), 2.5);
  EXPECT_EQ(profile.metrics.at("likwid_my_event_x_count"), 7);
  EXPECT_EQ(profile.metrics.at("wall_s"), 0.75);
  EXPECT_EQ(profile.missing.at("hw_branches_count"), "not counted");
  EXPECT_TRUE(profile.warnings.empty());
}

TEST(LikwidImportTest, EachRegionIsAProfileAndEachEventCountsOnce) {
  const auto profiles = read_likwid(
      std::string(kInfo) +
          "TABLE,Region main loop,Group 1 Raw,A,2\nRegion Info,HWThread 0\nRDTSC Runtime [s],0.5\ncall count,3\n"
          "Event,Counter,HWThread 0\nRETIRED_INSTRUCTIONS,PMC0,10\n" +
          "TABLE,Region main loop,Group 2 Raw,B,2\nEvent,Counter,HWThread 0\nRETIRED_INSTRUCTIONS,PMC0,11\n"
          "RETIRED_BRANCH_INSTR,PMC1,4\n" +
          "TABLE,Region init,Group 1 Raw,A,2\nEvent,Counter,HWThread 0\nRETIRED_INSTRUCTIONS,PMC0,1\n",
      "x.csv");
  ASSERT_TRUE(profiles.ok()) << to_text(profiles.error());
  ASSERT_EQ(profiles->size(), 2u);
  EXPECT_EQ((*profiles)[0].program, "x.init");
  EXPECT_EQ((*profiles)[1].program, "x.main_loop");
  const Profile& profile = (*profiles)[1].profile;
  EXPECT_EQ(profile.metrics.at("hw_instructions_count"), 10);
  EXPECT_EQ(profile.metrics.at("hw_branches_count"), 4);
  EXPECT_EQ(profile.metrics.at("wall_s"), 0.5);
  ASSERT_EQ(profile.warnings.size(), 1u);
  EXPECT_EQ(profile.warnings[0].code, "multiplexed");
}

TEST(LikwidImportTest, OtherTextIsAnError) {
  EXPECT_EQ(read_likwid("", "x").error().code, "no-rows");
  EXPECT_EQ(read_likwid("TABLE\nTABLE,Group 1 Raw\nINSTR_RETIRED_ANY,FIXC0,-\n", "x").error().code, "no-rows");
}

}  // namespace
}  // namespace perfcast::program
