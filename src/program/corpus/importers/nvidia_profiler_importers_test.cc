#include "program/corpus/importers/nvidia_profiler_importers.h"

#include <gmock/gmock.h>

namespace perfcast::program {
namespace {

using testing::HasSubstr;

constexpr const char* kNcu =
    "==PROF== Connected to process 7\n==PROF== Profiling \"axpy\" - 0: 0%....100% - 1 pass\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"Section Name\",\"Metric Name\","
    "\"Metric Unit\",\"Metric Value\"\n"
    "\"0\",\"7\",\"axpy(float*, int)\",\"(256, 1, 1)\",\"(4, 2, "
    "1)\",\"0\",\"S\",\"gpu__time_duration.sum\",\"usecond\","
    "\"2.5\"\n"
    "\"0\",\"7\",\"axpy(float*, int)\",\"(256, 1, 1)\",\"(4, 2, 1)\",\"0\",\"S\",\"smsp__inst_executed.sum\",\"inst\","
    "\"1,024\"\n"
    "\"0\",\"7\",\"axpy(float*, int)\",\"(256, 1, 1)\",\"(4, 2, 1)\",\"0\",\"S\",\"Achieved Occupancy\",\"%\",\"50\"\n"
    "\"0\",\"7\",\"axpy(float*, int)\",\"(256, 1, 1)\",\"(4, 2, 1)\",\"0\",\"S\",\"dram__bytes_read.sum.per_second\","
    "\"Gbyte/second\",\"3\"\n"
    "\"0\",\"7\",\"axpy(float*, int)\",\"(256, 1, 1)\",\"(4, 2, 1)\",\"0\",\"S\",\"lts__t_tag.hits\",\"\",\"n/a\"\n"
    "\"1\",\"7\",\"axpy(float*, int)\",\"(256, 1, 1)\",\"(4, 2, "
    "1)\",\"0\",\"S\",\"gpu__time_duration.sum\",\"msecond\","
    "\"0.0035\"\n"
    "\"2\",\"7\",\"scan\",\"(32, 1, 1)\",\"(1, 1, 1)\",\"0\",\"S\",\"my.own_metric\",\"\",\"3\"\n"
    "==PROF== Disconnected from process 7\n";

TEST(NcuImportTest, EachKernelIsAProfileWithMeansOverItsLaunches) {
  const auto profiles = read_ncu(std::string("# host: Example GPU\n") + kNcu, "app.csv");
  ASSERT_TRUE(profiles.ok()) << to_text(profiles.error());
  ASSERT_EQ(profiles->size(), 2u);
  EXPECT_EQ((*profiles)[0].program, "app.axpy");
  const Profile& profile = (*profiles)[0].profile;
  EXPECT_EQ(profile.host.name, "Example GPU");
  EXPECT_EQ(profile.collectors.at(0).name, "ncu");
  EXPECT_DOUBLE_EQ(profile.metrics.at("nvprof_kernel_duration_s"), 3e-6);
  EXPECT_EQ(profile.metrics.at("nvprof_inst_executed_count"), 1024);
  EXPECT_EQ(profile.metrics.at("nvprof_achieved_occupancy_ratio"), 0.5);
  EXPECT_EQ(profile.metrics.at("nvprof_dram_read_throughput_bytes_per_s"), 3e9);
  EXPECT_EQ(profile.metrics.at("nvprof_launches_count"), 2);
  EXPECT_EQ(profile.metrics.at("nvprof_block_x_count"), 256);
  EXPECT_EQ(profile.metrics.at("nvprof_grid_y_count"), 2);
  EXPECT_EQ(profile.missing.at("ncu_lts_t_tag_hits_count"), "not available: n/a");
  EXPECT_EQ((*profiles)[1].program, "app.scan");
  EXPECT_EQ((*profiles)[1].profile.metrics.at("ncu_my_own_metric_count"), 3);
}

// The same counts in every locale.
TEST(NcuImportTest, ReadsEveryLocaleAlike) {
  struct Locale {
    std::string decimal, grouping;
  };
  for (const Locale& locale : {Locale{".", ","},
                               {",", "."},
                               {",", " "},
                               {",", "\u202f"},
                               {".", "'"},
                               {".", "\u2019"},
                               {",", "\u00a0"},
                               {".", ""},
                               {",", ""}}) {
    const std::string group = locale.grouping;
    const std::string text =
        "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
        "\"0\",\"k\",\"smsp__inst_executed.sum\",\"inst\",\"1" +
        group + "234" + group +
        "567\"\n"
        "\"0\",\"k\",\"gpu__time_duration.sum\",\"usecond\",\"3" +
        group + "136" + locale.decimal +
        "50\"\n"
        "\"0\",\"k\",\"sm__throughput.avg.pct_of_peak_sustained_elapsed\",\"%\",\"85" +
        locale.decimal +
        "90\"\n"
        "\"0\",\"k\",\"launch__registers_per_thread\",\"register/thread\",\"40\"\n";
    const auto profiles = read_ncu(text, "x.csv");
    ASSERT_TRUE(profiles.ok()) << to_text(profiles.error()) << text;
    const Profile& profile = profiles->at(0).profile;
    EXPECT_EQ(profile.metrics.at("nvprof_inst_executed_count"), 1234567) << text;
    EXPECT_DOUBLE_EQ(profile.metrics.at("nvprof_kernel_duration_s"), 3.1365e-3) << text;
    EXPECT_DOUBLE_EQ(profile.metrics.at("ncu_sm_throughput_avg_pct_of_peak_sustained_elapsed_ratio"), 0.859) << text;
    EXPECT_EQ(profile.warnings.size(), locale.decimal == "." && group.empty() ? 0u : 1u);
  }
}

TEST(NcuImportTest, RefusesMixedLocalesAndQuestionsShares) {
  const std::string head = "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  const auto mixed =
      read_ncu(head + "\"0\",\"k\",\"a__b.pct\",\"%\",\"85,90\"\n\"0\",\"k\",\"c__d\",\"\",\"8.5\"\n", "x");
  ASSERT_FALSE(mixed.ok());
  EXPECT_EQ(mixed.error().code, "mixed-numbers");
  const auto high = read_ncu(head + "\"0\",\"k\",\"a__b.pct\",\"%\",\"859\"\n", "x");
  ASSERT_TRUE(high.ok()) << to_text(high.error());
  ASSERT_EQ(high->at(0).profile.warnings.size(), 1u);
  EXPECT_THAT(high->at(0).profile.warnings[0].message, HasSubstr("a__b.pct is 859%, more than all"));
}

TEST(NcuImportTest, ReadsTheRawPage) {
  const auto profiles = read_ncu(
      "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"smsp__inst_executed.sum\"\n"
      "\"\",\"\",\"ns\",\"inst\"\n\"0\",\"k\",\"2,000\",\"10\"\n\"1\",\"k\",\"4,000\",\"N/A\"\n",
      "x.csv");
  ASSERT_TRUE(profiles.ok()) << to_text(profiles.error());
  EXPECT_DOUBLE_EQ((*profiles)[0].profile.metrics.at("nvprof_kernel_duration_s"), 3e-6);
  EXPECT_EQ((*profiles)[0].profile.metrics.at("nvprof_inst_executed_count"), 10);
  EXPECT_EQ((*profiles)[0].profile.metrics.at("nvprof_launches_count"), 2);
}

TEST(NvprofImportTest, ReadsMetricsEventsAndTimes) {
  const auto profiles = read_nvprof(
      "==9== NVPROF is profiling process 9, command: ./x\n==9== Profiling result:\n==9== Event result:\n"
      "\"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Min\",\"Max\",\"Avg\",\"Total\"\n"
      "\"Tesla Z1 (0)\",\"void lud<int>(float*)\",4,\"warps_launched\",8,8,8,32\n\n"
      "==9== Metric result:\n"
      "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\",\"Max\",\"Avg\"\n"
      "\"Tesla Z1 (0)\",\"void lud<int>(float*)\",4,\"gld_efficiency\",\"E\",80.0%,90.0%,85.0%\n"
      "\"Tesla Z1 (0)\",\"void lud<int>(float*)\",4,\"dram_read_throughput\",\"T\",1GB/s,2GB/s,1.5GB/s\n"
      "\"Tesla Z1 (0)\",\"void lud<int>(float*)\",4,\"dram_utilization\",\"U\",\"Low (1)\",\"Mid (4)\",\"Low (2)\"\n"
      "\"Tesla Z1 (0)\",\"void lud<int>(float*)\",4,\"flop_count_sp\",\"F\",0,0,<OVERFLOW>\n"
      "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n,%,ms,,us,us,us,\n"
      "\"GPU activities\",60,1,4,250,200,300,\"void lud<int>(float*)\"\n"
      "\"GPU activities\",40,1,4,250,200,300,\"[CUDA memcpy HtoD]\"\n"
      "\"API calls\",40,1,4,250,200,300,\"cudaMalloc\"\n",
      "app.csv");
  ASSERT_TRUE(profiles.ok()) << to_text(profiles.error());
  ASSERT_EQ(profiles->size(), 1u);
  EXPECT_EQ((*profiles)[0].program, "app.void_lud_int");
  const Profile& profile = (*profiles)[0].profile;
  EXPECT_EQ(profile.host.name, "Tesla Z1");
  EXPECT_EQ(profile.metrics.at("warp_blocks_count"), 8);
  EXPECT_DOUBLE_EQ(profile.metrics.at("nvprof_gld_efficiency_ratio"), 0.85);
  EXPECT_EQ(profile.metrics.at("nvprof_dram_read_throughput_bytes_per_s"), 1.5e9);
  EXPECT_EQ(profile.metrics.at("nvprof_dram_utilization_ratio"), 0.2);
  EXPECT_DOUBLE_EQ(profile.metrics.at("nvprof_kernel_duration_s"), 250e-6);
  EXPECT_EQ(profile.metrics.at("nvprof_launches_count"), 4);
  EXPECT_EQ(profile.missing.at("nvprof_flop_count_sp_count"), "not available: <OVERFLOW>");
}

// What a forecast reads: one profile, a kernel for each function.
TEST(NvprofImportTest, KernelsOfAFileAreOneProfile) {
  const std::string head = "# host: Example GPU\n\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"a__b.sum\"\n";
  const auto kernels = read_ncu(head +
                                    "\"0\",\"k(int)\",\"(64, 2, 1)\",\"(10, 1, 3)\",\"1\"\n"
                                    "\"1\",\"k(float)\",\"(48, 1, 1)\",\"(5, 1, 1)\",\"2\"\n"
                                    "\"2\",\"k(float)\",\"(48, 1, 1)\",\"(5, 1, 1)\",\"4\"\n",
                                "app.csv");
  ASSERT_TRUE(kernels.ok()) << to_text(kernels.error());
  const auto whole = kernels_in_one_profile(*kernels, "app", "app.csv");
  ASSERT_TRUE(whole.ok()) << to_text(whole.error());
  EXPECT_EQ(whole->program, "app");
  EXPECT_EQ(whole->host.name, "Example GPU");
  ASSERT_EQ(whole->kernels.size(), 2u);
  EXPECT_EQ(whole->kernels[0].name, "k");
  EXPECT_EQ(whole->kernels[0].launches_count, 2);  // in the order of the names
  EXPECT_EQ(whole->kernels[1].name, "k.2");
  EXPECT_EQ(whole->kernels[1].launches_count, 1);
  EXPECT_EQ(whole->kernels[1].metrics.at("program_threads_count"), 30 * 128);
  EXPECT_EQ(whole->kernels[0].metrics.at("warp_blocks_count"), 5 * 2);  // 48 threads fill two warps
  EXPECT_FALSE(whole->kernels[0].metrics.contains("instructions_count"));

  auto two = *kernels;
  two[1].profile.host.name = "Other GPU";
  EXPECT_EQ(kernels_in_one_profile(two, "app", "app.csv").error().code, "several-gpus");
  EXPECT_EQ(read_gpu_profile("ncu", "/nowhere/app.csv").error().code, "file-not-found");
}

TEST(NvprofImportTest, OtherTextIsAnError) {
  EXPECT_EQ(read_nvprof("", "x").error().code, "no-rows");
  EXPECT_EQ(read_ncu("==ERROR== no permission\n", "x").error().code, "no-rows");
  const auto result = read_ncu("\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n\"0\",\"k\"\n", "x.csv");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "bad-csv");
  EXPECT_THAT(result.error().where, HasSubstr("x.csv"));
  EXPECT_EQ(read_nvprof("\"Kernel\",\"Metric Name\"\n\"k\",\"m\"\n", "x").error().code, "missing-column");
}

}  // namespace
}  // namespace perfcast::program
