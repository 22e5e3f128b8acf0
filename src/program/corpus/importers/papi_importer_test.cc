#include "program/corpus/importers/papi_importer.h"

#include <gmock/gmock.h>

namespace perfcast::program {
namespace {

TEST(PapiImportTest, ReadsThreadsAndRegionsAsArrays) {
  const auto profiles = read_papi(
      R"({"cpu in mhz": "1500", "threads": [
          {"id": "1", "regions": [{"init": {"region_count": "1", "cycles": "10", "PAPI_TOT_INS": "100"}},
                                  {"solve": {"region_count": "2", "cycles": "30", "perf::TASK-CLOCK": "500",
                                             "PAPI_TOT_INS": "900", "PAPI_FP_OPS": {"total": 7, "max": 5}}}]},
          {"id": "2", "regions": [{"solve": {"cycles": "35", "PAPI_TOT_INS": "1000", "PAPI_BR_MSP": "n/a"}}]}]})",
      "out/rank_000000.json");
  ASSERT_TRUE(profiles.ok()) << to_text(profiles.error());
  ASSERT_EQ(profiles->size(), 1u);
  const Profile& profile = (*profiles)[0].profile;
  EXPECT_EQ(profile.program, "rank_000000");
  EXPECT_EQ(profile.metrics.at("hw_instructions_count"), 2000);
  EXPECT_EQ(profile.metrics.at("papi_fp_ops_count"), 7);
  EXPECT_EQ(profile.metrics.at("papi_elapsed_cycles_count"), 40);
  EXPECT_DOUBLE_EQ(profile.metrics.at("hw_task_clock_s"), 500e-9);
  EXPECT_EQ(profile.missing.at("hw_branch_misses_count"), "no finite number");
}

TEST(PapiImportTest, ReadsObjectsByIdAndCountsEnclosedRegionsOnce) {
  const auto profiles = read_papi(
      R"({"papi_version": "7.1.0.0", "cpu_info": "Example 200", "max_cpu_rate_mhz": "2000",
          "event_definitions": {"PAPI_TOT_CYC": {"component": "perf_event", "type": "delta"}},
          "threads": {"0": {"regions": {
            "0": {"name": "main", "parent_region_id": "-1", "cycles": "9", "real_time_nsec": "2000", "PAPI_TOT_CYC": "8"},
            "1": {"name": "inner", "parent_region_id": "0", "cycles": "5", "real_time_nsec": "900",
                  "PAPI_TOT_CYC": "4"}}}}})",
      "x.json");
  ASSERT_TRUE(profiles.ok()) << to_text(profiles.error());
  const Profile& profile = (*profiles)[0].profile;
  EXPECT_EQ(profile.host.name, "Example 200");
  EXPECT_EQ(profile.metrics.at("hw_cycles_count"), 8);
  EXPECT_DOUBLE_EQ(profile.metrics.at("wall_s"), 2000e-9);
}

TEST(PapiImportTest, OtherDocumentsAreErrors) {
  EXPECT_EQ(read_papi("{", "x").error().code, "bad-json");
  EXPECT_EQ(read_papi("[]", "x").error().code, "bad-papi");
  EXPECT_EQ(read_papi(R"({"threads": 3})", "x").error().code, "bad-papi");
  EXPECT_EQ(read_papi(R"({"threads": [3, {"regions": 4}]})", "x").error().code, "no-rows");
}

}  // namespace
}  // namespace perfcast::program
