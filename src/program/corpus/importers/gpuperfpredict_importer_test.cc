#include "program/corpus/importers/gpuperfpredict_importer.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "program/corpus/importers/test_exclusions.h"
#include "program/corpus/splits.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr const char* kHeader =
    "app,kernel,input_size_1,input_size_2,grid_x,grid_y,block_x,block_y,gpu,n_launches,duration_s_mean,"
    "duration_s_min,static.smem,gld_inst_32bit,warps_launched,executed_ipc,global_load_throughput,"
    "shared_memory_efficiency,device_memory_utilization,fp_instructions.single.,fp_instructions.double.,"
    "integer_instructions,control.flow_instructions,load.store_instructions,misc_instructions\n";

std::string row(const std::string& gpu, const std::string& time, const std::string& shared,
                const std::string& key = "lud,lud_Diagonal,256,0,4,2,16,8") {
  return key + "," + gpu + ",3," + time + ",1e-6," + shared + ",640,32,1.5,2.5,40,3,100,50,300,50,400,100\n";
}

Result<Import> import_rows(const std::string& rows) {
  GpuperfpredictText text;
  text.csv = kHeader + rows;
  text.note.licence = "CC BY 4.0";
  text.note.commit = "0123456789012345678901234567890123456789";
  return import_gpuperfpredict(text);
}

TEST(GpuperfpredictImportTest, OneProfileAndOneRunForEachWorkloadAndGpu) {
  const auto result = import_rows(row("GTX-680", "2e-4", "1088") + row("GTX-980", "1e-4", "1.0625"));
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  const Corpus& corpus = result->corpus;
  EXPECT_EQ(corpus.sources[0].id, "gpuperfpredict@0123456");
  ASSERT_EQ(corpus.programs.size(), 1u);
  const Program& program = corpus.programs[0];
  EXPECT_EQ(program.id, "gpuperfpredict.lud.lud_diagonal.256.0.4.2.16.8");
  EXPECT_EQ(program_key(program.id), "gpuperfpredict.lud.lud_diagonal");
  EXPECT_EQ(program.family, "lud.lud_diagonal");
  EXPECT_EQ(program.group, "gpu-kernel");
  ASSERT_EQ(corpus.platforms.size(), 2u);
  EXPECT_EQ(corpus.platforms[1].id, "nvidia-gtx-980");
  EXPECT_EQ(corpus.platforms[1].name, "GTX-980");
  EXPECT_EQ(corpus.platforms[1].kind, "gpu");
  EXPECT_EQ(corpus.platforms[1].arch, "maxwell");
  EXPECT_EQ(corpus.platforms[1].facts.at("sm_count"), 16);
  EXPECT_EQ(corpus.platforms[1].facts.at("l2_bytes"), 2048 * 1024);
  ASSERT_EQ(corpus.runs.size(), 2u);
  EXPECT_EQ(corpus.runs[1].platform, "nvidia-gtx-980");
  EXPECT_EQ(corpus.runs[1].time_s, 1e-4);
  EXPECT_EQ(corpus.runs[1].threads, 1);
  ASSERT_EQ(corpus.profiles.size(), 2u);
  const Profile& profile = corpus.profiles[1].profile;
  EXPECT_TRUE(profile.ok());
  EXPECT_EQ(profile.host.name, corpus.platforms[1].name);
  ASSERT_EQ(profile.collectors.size(), 1u);
  EXPECT_EQ(profile.collectors[0].name, "nvprof");
}

TEST(GpuperfpredictImportTest, MetricsCarryTheirUnits) {
  const auto result = import_rows(row("GTX-680", "2e-4", "1088"));
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  const MetricValues& metrics = result->corpus.profiles[0].profile.metrics;
  EXPECT_EQ(metrics.at("nvprof_kernel_duration_s"), 2e-4);
  EXPECT_EQ(metrics.at("nvprof_ipc_ratio"), 1.5);
  EXPECT_EQ(metrics.at("nvprof_gld_throughput_bytes_per_s"), 2.5e9);
  EXPECT_DOUBLE_EQ(metrics.at("nvprof_shared_efficiency_ratio"), 0.4);
  EXPECT_DOUBLE_EQ(metrics.at("nvprof_dram_utilization_ratio"), 0.3);
  EXPECT_EQ(metrics.at("warp_blocks_count"), 32);
  EXPECT_EQ(metrics.at("nvprof_launches_count"), 3);
  EXPECT_EQ(metrics.at("nvprof_block_y_count"), 8);
  EXPECT_EQ(metrics.at("gpuperfpredict_input_size_1_count"), 256);
  // Table I.
  EXPECT_EQ(metrics.at("instructions_count"), 1000);
  EXPECT_EQ(metrics.at("float_arith_per_instruction_ratio"), 0.15);
  EXPECT_EQ(metrics.at("int_arith_per_instruction_ratio"), 0.3);
  EXPECT_EQ(metrics.at("control_per_instruction_ratio"), 0.05);
  EXPECT_EQ(metrics.at("memory_per_instruction_ratio"), 0.4);
  EXPECT_EQ(metrics.at("program_threads_count"), 4 * 2 * 16 * 8);
  EXPECT_FALSE(metrics.contains("branch_misses_per_branch_ratio"));
  EXPECT_FALSE(metrics.contains("cache_misses_per_hit_ratio"));
  for (const auto& [name, value] : metrics) EXPECT_NE(Catalogue::built_in().find(name), nullptr) << name;
  EXPECT_EQ(excluded(*result, "column", "not a metric: duration_s_min"), 1);
}

TEST(GpuperfpredictImportTest, SharedMemoryInKibIsSetRight) {
  const auto result = import_rows(row("GTX-680", "2e-4", "11872") + row("GTX-980", "1e-4", "11.5938"));
  ASSERT_TRUE(result.ok());
  for (const StoredProfile& stored : result->corpus.profiles) {
    EXPECT_EQ(stored.profile.metrics.at("nvprof_static_shared_memory_bytes"), 11872);
  }
  EXPECT_EQ(excluded(*result, "static shared memory", "given in KiB"), 1);
  // A true difference stays.
  const auto other = import_rows(row("GTX-680", "2e-4", "4096") + row("GTX-980", "1e-4", "2048"));
  EXPECT_EQ(other->corpus.profiles[1].profile.metrics.at("nvprof_static_shared_memory_bytes"), 2048);
  EXPECT_EQ(excluded(*other, "static shared memory", ""), 0);
}

TEST(GpuperfpredictImportTest, WhatIsWrongIsCounted) {
  const auto result = import_rows(
      row("GTX-680", "2e-4", "") + row("GTX-680", "3e-4", "1088") + row("GTX-980", "0", "1088") +
      row("Titan", "-1", "1") + row("Titan", "", "1") + row("Titan", "nan", "1") + row("", "1", "1") +
      row("Titan", "1", "-4", "lud,lud_diagonal,256,0,4,2,16,9") +
      row("Titan", "1", "1", "lud,lud_diagonal,x,0,4,2,16,9") + row("Titan", "1", "1", "lud,,256,0,4,2,16,9"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->corpus.runs.size(), 2u);
  EXPECT_EQ(result->corpus.runs[0].time_s, 2e-4);
  EXPECT_EQ(excluded(*result, "row", "a second row for the same workload and GPU"), 1);
  EXPECT_EQ(excluded(*result, "row", "without a program, a kernel or a GPU"), 2);
  EXPECT_EQ(excluded(*result, "row", "an input size, grid or block"), 1);
  EXPECT_EQ(excluded(*result, "kernel time", "zero"), 1);
  EXPECT_EQ(excluded(*result, "kernel time", "negative"), 1);
  EXPECT_EQ(excluded(*result, "kernel time", "blank"), 1);
  EXPECT_EQ(excluded(*result, "kernel time", "no finite number"), 1);
  EXPECT_EQ(excluded(*result, "counter", "blank"), 1);
  EXPECT_EQ(excluded(*result, "counter", "negative"), 1);
  EXPECT_EQ(excluded(*result, "workload", "kept, but not measured on every GPU"), 2);
  const Profile& profile = result->corpus.profiles[0].profile;
  EXPECT_FALSE(profile.metrics.contains("nvprof_static_shared_memory_bytes"));
  EXPECT_EQ(profile.missing.at("nvprof_static_shared_memory_bytes"), "blank: not measured");
}

TEST(GpuperfpredictImportTest, SaysWhereCountsOfTheProgramDiffer) {
  std::string other = row("GTX-980", "1e-4", "1088");
  other.replace(other.find(",640,"), 5, ",641,");
  const auto result = import_rows(row("GTX-680", "2e-4", "1088") + other);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(excluded(*result, "workload", "kept, but nvprof_gld_inst_32bit_count differs"), 1);
  EXPECT_EQ(excluded(*result, "workload", "kept, but warp_blocks_count differs"), 0);
}

TEST(GpuperfpredictImportTest, BadTablesAreErrors) {
  EXPECT_EQ(import_rows("a,b\n").error().code, "bad-csv");
  EXPECT_EQ(import_rows("").error().code, "no-rows");
  GpuperfpredictText text;
  text.csv = "app,kernel,gpu\n";
  const auto result = import_gpuperfpredict(text);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "missing-column");
  EXPECT_THAT(result.error().message, HasSubstr("duration_s_mean"));
  EXPECT_EQ(import_gpuperfpredict_path("/nonexistent", ProgramCatalogue()).error().code, "file-not-found");
}

TEST(GpuperfpredictSharedDataTest, HasTheCountsThatItsNoteSays) {
  const std::string folder = std::string(PERFCAST_SHARED_DATA) + "/gpuperfpredict";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no public data set at " << folder;
  const auto result = import_gpuperfpredict_path(folder, ProgramCatalogue());
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  const Corpus& corpus = result->corpus;
  EXPECT_EQ(corpus.platforms.size(), 8u);
  EXPECT_EQ(corpus.programs.size(), 1307u);
  EXPECT_EQ(corpus.profiles.size(), 8344u);
  EXPECT_EQ(corpus.runs.size(), 8344u);
  std::set<std::string> families, keys;
  for (const Program& program : corpus.programs) {
    families.insert(program.family);
    keys.insert(program_key(program.id));
  }
  EXPECT_THAT(families, UnorderedElementsAre("lud.lud_perimeter", "lud.lud_diagonal", "heartwall.kernel",
                                             "backprop.bpnn_adjust_weights_cuda", "backprop.bpnn_layerforward_cuda",
                                             "hotspot.calculate_temp"));
  EXPECT_EQ(keys.size(), 6u);
  EXPECT_EQ(excluded(*result, "workload", "kept, but not measured on every GPU"), 1056);
  EXPECT_EQ(excluded(*result, "static shared memory", "given in KiB"), 1250);
  // What the note says of the counts of the program is true: no other workload is named.
  for (const Exclusion& exclusion : corpus.exclusions) {
    EXPECT_THAT(exclusion.reason, testing::Not(HasSubstr("differs between GPUs")));
  }
  for (const StoredProfile& stored : corpus.profiles) {
    ASSERT_EQ(stored.profile.metrics.size(), 82u);
    ASSERT_TRUE(stored.profile.missing.empty());
  }
  for (const Platform& platform : corpus.platforms) EXPECT_EQ(platform.facts.size(), 6u) << platform.name;
}

}  // namespace
}  // namespace perfcast::program
