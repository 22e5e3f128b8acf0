#include "program/corpus/importers/aiwc_importer.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "program/corpus/importers/test_exclusions.h"
#include "program/corpus/splits.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

AiwcText small() {
  AiwcText text;
  text.features_csv =
      "application,size,kernel,opcode,granularity,workitems,mystery\n"
      "fft,tiny,fftKernel1,7,0.5,128,1\nfft,tiny,fftKernel2,8,0.25,128,1\nlud,large,lud_diagonal,7,0.5,,1\n";
  text.runtimes_csv =
      "application,size,kernel,device,n,kernel_time_us_median,kernel_time_us_p10,kernel_time_us_p90\n"
      "fft,tiny,fftKernel1,gtx1,40,20.5,20,21\nfft,tiny,fftKernel1,i9,40,100,90,110\n"
      "fft,tiny,fftKernel2,gtx1,40,20.4,20,21\nfft,tiny,fftKernel2,i9,40,104,90,110\n"
      "fft,tiny,fftKernel1,phi,40,1000,900,1100\nfft,tiny,fftKernel2,phi,40,1000,900,1100\n"
      "lud,large,lud_diagonal,gtx1,40,20.5,10,21\nlud,large,lud_diagonal,i9,40,0,0,0\n";
  text.devices_csv =
      "device,name,vendor,type,series,core_count,core_kind,clock_min_mhz,clock_max_mhz,clock_turbo_mhz,l1_kib,l2_kib,"
      "l3_kib,tdp_w,launch\n"
      "gtx1,GTX 1,Nvidia,GPU,Pascal,2560,CUDA cores,1607,1733,,48,2048,,180,2016Q2\n"
      "i9,Core i9,Intel,CPU,Skylake,8,hyperthreads,800,4000,4300,32,256,8192,91,2015Q3\n"
      "phi,Xeon Phi,Intel,MIC,KNL,256,hardware threads,1300,1500,,32,1024,,215,2016Q2\n";
  return text;
}

TEST(AiwcImportTest, DevicesBecomePlatformsWithFacts) {
  const auto result = import_aiwc(small());
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  const auto& platforms = result->corpus.platforms;
  ASSERT_EQ(platforms.size(), 3u);
  EXPECT_EQ(platforms[0].id, "nvidia-gtx-1");
  EXPECT_EQ(platforms[0].name, "GTX 1");
  EXPECT_EQ(platforms[0].kind, "gpu");
  EXPECT_EQ(platforms[0].arch, "pascal");
  EXPECT_THAT(platforms[0].facts,
              UnorderedElementsAre(Pair("core_count", 2560), Pair("min_hz", 1607e6), Pair("max_hz", 1733e6),
                                   Pair("l1d_bytes", 48 * 1024), Pair("l2_bytes", 2048 * 1024),
                                   Pair("thermal_design_watts", 180)));
  EXPECT_EQ(platforms[1].kind, "cpu");
  EXPECT_EQ(platforms[1].facts.at("turbo_hz"), 4300e6);
  EXPECT_EQ(platforms[2].kind, "accelerator");
}

TEST(AiwcImportTest, OneProfileForEachKernelAndSize) {
  const auto result = import_aiwc(small());
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  const Corpus& corpus = result->corpus;
  ASSERT_EQ(corpus.programs.size(), 3u);
  EXPECT_EQ(corpus.programs[2].id, "aiwc.lud.lud_diagonal.=large");
  EXPECT_EQ(program_key(corpus.programs[2].id), "aiwc.lud.lud_diagonal");
  EXPECT_EQ(corpus.programs[2].family, "lud");
  EXPECT_EQ(corpus.programs[2].group, "opencl-kernel");
  ASSERT_EQ(corpus.profiles.size(), 3u);
  const Profile& profile = corpus.profiles[1].profile;
  EXPECT_EQ(profile.host.name, "");
  EXPECT_TRUE(profile.ok());
  EXPECT_THAT(profile.metrics,
              UnorderedElementsAre(Pair("aiwc_unique_opcodes_count", 8), Pair("aiwc_granularity_ratio", 0.25),
                                   Pair("aiwc_workitems_count", 128)));
  EXPECT_EQ(corpus.profiles[2].profile.missing.at("aiwc_workitems_count"), "blank: not measured");
  ASSERT_EQ(corpus.runs.size(), 7u);
  EXPECT_EQ(corpus.runs[1].platform, "intel-core-i9");
  EXPECT_DOUBLE_EQ(corpus.runs[0].time_s, 20.5e-6);
  EXPECT_EQ(excluded(*result, "run time", "zero"), 1);
  EXPECT_EQ(excluded(*result, "column", "not a feature: mystery"), 1);
  EXPECT_EQ(excluded(*result, "run time", "kept, but unsteady"), 1);
}

TEST(AiwcImportTest, KernelsTimedTogetherCountOnce) {
  const auto result = import_aiwc(small());
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->corpus.programs[0].excluded, "");
  EXPECT_THAT(result->corpus.programs[1].excluded, HasSubstr("are those of aiwc.fft.fftkernel1.=tiny"));
  EXPECT_EQ(result->corpus.programs[2].excluded, "");  // one equal time of another application means nothing
  EXPECT_EQ(excluded(*result, "program", "timed together"), 1);
  // One device on which they differ by more is enough.
  AiwcText text = small();
  text.runtimes_csv.replace(text.runtimes_csv.find("phi,40,1000"), 11, "phi,40,1060");
  EXPECT_EQ(import_aiwc(text)->corpus.programs[1].excluded, "");
}

TEST(AiwcImportTest, WhatDoesNotFitIsCounted) {
  AiwcText text = small();
  text.features_csv += "fft,tiny,fftKernel1,9,9,9,9\n,tiny,k,1,1,1,1\n";
  text.runtimes_csv +=
      "fft,tiny,fftKernel1,gtx1,40,1,1,1\nfft,tiny,fftKernel1,gone,40,1,1,1\nnw,tiny,k,gtx1,40,1,1,1\n"
      "lud,large,lud_diagonal,phi,40,inf,1,1\n,,,phi,40,1,1,1\n";
  text.devices_csv += "gtx2,GTX 1,Nvidia,GPU,Pascal,1,c,1,1,,1,1,,1,x\n";
  const auto result = import_aiwc(text);
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  EXPECT_EQ(result->corpus.runs.size(), 7u);
  EXPECT_EQ(excluded(*result, "device", ""), 1);
  EXPECT_EQ(excluded(*result, "row of features", "a second row"), 1);
  EXPECT_EQ(excluded(*result, "row of features", "without"), 1);
  EXPECT_EQ(excluded(*result, "run time", "a second one"), 1);
  EXPECT_EQ(excluded(*result, "run time", "of a device"), 1);
  EXPECT_EQ(excluded(*result, "run time", "of a kernel and size"), 1);
  EXPECT_EQ(excluded(*result, "run time", "no finite number"), 1);
  EXPECT_EQ(excluded(*result, "run time", "without"), 1);
}

TEST(AiwcImportTest, BadTablesAreErrors) {
  AiwcText text = small();
  text.runtimes_csv = "application,size,kernel,device\n";
  EXPECT_EQ(import_aiwc(text).error().code, "missing-column");
  text = small();
  text.devices_csv = "device\n";
  EXPECT_EQ(import_aiwc(text).error().code, "no-rows");
  EXPECT_EQ(import_aiwc_folder("/nonexistent", ProgramCatalogue()).error().code, "file-not-found");
}

TEST(AiwcSharedDataTest, HasTheCountsThatItsNoteSays) {
  const std::string folder = std::string(PERFCAST_SHARED_DATA) + "/aiwc";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no public data set at " << folder;
  const auto result = import_aiwc_folder(folder, ProgramCatalogue());
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  const Corpus& corpus = result->corpus;
  EXPECT_EQ(corpus.platforms.size(), 15u);
  for (const Platform& platform : corpus.platforms)
    EXPECT_TRUE(platform.facts.contains("memory_bytes_per_s")) << platform.id;
  EXPECT_EQ(corpus.runs.size(), corpus.programs.size() * 15);
  EXPECT_EQ(corpus.profiles.size(), corpus.programs.size());
  for (const StoredProfile& stored : corpus.profiles) ASSERT_EQ(stored.profile.metrics.size(), 31u);
  std::set<std::string> keys;
  for (const Program& program : corpus.programs) {
    keys.insert(program_key(program.id));
    EXPECT_EQ(program.excluded.empty(), program.family != "fft" || program.id.find("radix16") != std::string::npos)
        << program.id;
  }
  EXPECT_EQ(excluded(*result, "program", "timed together"), 4);
  EXPECT_LT(keys.size(), corpus.programs.size() / 2);
}

}  // namespace
}  // namespace perfcast::program
