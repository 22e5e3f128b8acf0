#include "program/corpus/importers/openbenchmarking_importer.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "program/corpus/importers/openbenchmarking_cpus.h"
#include "program/corpus/importers/sparecores_importer.h"
#include "program/corpus/importers/test_exclusions.h"
#include "program/corpus/store/store.h"

namespace perfcast::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTestTable =
    "test,title,version,config,app_version,unit,match_err\n"
    "pts-encode-mp3,LAME,1.0,x,3.1,Seconds,5.7\n"
    "pts-caffe,Caffe,1.0,x,1,Milli-Seconds,5.2\n"
    "pts-crafty,Crafty,1.0,x,1,Nodes Per Second,5.3\n"
    "system-inkscape,Inkscape,1.0,x,1,Encode Time - Seconds,20\n";

constexpr const char* kCpuTable =
    "cpu,vendor_id,cpu_family,model,stepping,sockets,cores_per_socket,threads_per_core,max_mhz,bogomips,l1d,l2,l3,avx2,"
    "avx512f\n"
    "AMD EPYC 7763 64-Core,AuthenticAMD,25.0,1.0,1.0,1.0,64.0,2.0,3529.052,4890.52,32.0,512.0,32768.0,1.0,0.0\n"
    "2 x AMD EPYC 7763 64-Core,AuthenticAMD,25.0,1.0,1.0,2.0,64.0,2.0,2450.0,4890.52,4000.0,64000.0,512000.0,1.0,0.0\n"
    "Intel Xeon Gold 6138,,,,,,,,,,,,,,\n"
    "Intel Xeon E5-2680 v3,GenuineIntel,6.0,85.0,4.0,4.0,1.0,1.0,,4988.44,32.0,4096.0,,0.0,0.0\n"
    "Intel Xeon E5-2630 v3,GenuineIntel,6.0,63.0,2.0,1.0,8.0,2.0,3200.0,4799.9,32.0,256.0,20480.0,0.0,0.0\n";

const std::string kResultsHeader = "test,cpu,perf_mean,perf_sd,n_results,higher_is_better\n";

OpenbenchmarkingText texts(const std::string& results, const std::string& tests = kTestTable) {
  return {tests, kResultsHeader + results, kCpuTable, "ob", {}};
}

Import import_results(const std::string& results, const std::string& tests = kTestTable,
                      const ProgramCatalogue& catalogue = {}) {
  auto result = import_openbenchmarking(texts(results, tests), catalogue);
  EXPECT_TRUE(result.ok()) << to_text(result.error());
  return result.ok() ? std::move(*result) : Import();
}

TEST(Openbenchmarking, RunsAreTimesOfAUnitOfWork) {
  const Import result = import_results(
      "pts-encode-mp3,AMD EPYC 7763 64-Core,8.5,0.17,5,0\n"
      "pts-caffe,AMD EPYC 7763 64-Core,250,,3,0\n"
      "pts-crafty,AMD EPYC 7763 64-Core,2000,100,7,1\n"
      "system-inkscape,AMD EPYC 7763 64-Core,20,0,4,0\n");
  const auto& runs = result.corpus.runs;
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[0].program, "apps.encode-mp3");
  EXPECT_EQ(runs[0].platform, "amd-epyc-7763-64-core-processor");
  EXPECT_EQ(runs[0].server, "openbenchmarking/1-socket");
  EXPECT_EQ(runs[0].threads, 1);
  EXPECT_EQ(runs[0].time_s, 8.5);
  EXPECT_EQ(runs[0].results_count, 5);
  EXPECT_DOUBLE_EQ(*runs[0].spread_ratio, 0.02);
  EXPECT_EQ(runs[1].time_s, 0.25);
  EXPECT_EQ(runs[1].spread_ratio, std::nullopt);
  EXPECT_EQ(runs[2].time_s, 1.0 / 2000);
  EXPECT_DOUBLE_EQ(*runs[2].spread_ratio, 0.05);
  EXPECT_EQ(runs[3].program, "apps.inkscape");
  EXPECT_EQ(runs[3].time_s, 20);
  EXPECT_EQ(runs[3].spread_ratio, 0);
  EXPECT_EQ(excluded(result, "result", "kept, but without a deviation"), 1);
  EXPECT_EQ(excluded(result, "test", "kept, but its configuration"), 1);
  const Program* crafty = result.corpus.find_program("apps.crafty");
  ASSERT_NE(crafty, nullptr);
  EXPECT_EQ(crafty->family, "crafty");
  EXPECT_EQ(crafty->group, "application");
  EXPECT_EQ(crafty->suite, "apps");
  EXPECT_EQ(crafty->work_unit, "Nodes");
}

TEST(Openbenchmarking, ASuiteNamesProgramsByTheirTests) {
  const auto catalogue = ProgramCatalogue::parse(R"({"schema": "perfcast.suite/1", "name": "apps", "programs": [
      {"id": "apps.lame", "label": "pts-encode-mp3", "family": "lame", "group": "application"},
      {"id": "apps.lame-twice", "label": "pts-encode-mp3", "family": "lame", "group": "application"},
      {"id": "apps.crafty", "family": "chess", "group": "application", "work_unit": "node"}]})",
                                                 "apps.json");
  ASSERT_TRUE(catalogue.ok());
  const Import result = import_results(
      "pts-encode-mp3,AMD EPYC 7763 64-Core,8.5,0.17,5,0\n"
      "pts-crafty,AMD EPYC 7763 64-Core,2000,100,7,1\n",
      kTestTable, *catalogue);
  ASSERT_NE(result.corpus.find_program("apps.lame"), nullptr);
  EXPECT_EQ(result.corpus.find_program("apps.lame")->family, "lame");
  EXPECT_EQ(result.corpus.find_program("apps.lame")->work_unit, "run");
  ASSERT_EQ(result.corpus.runs.size(), 3u);  // the first is of both programs
  EXPECT_EQ(result.corpus.runs[1].program, "apps.lame-twice");
  EXPECT_EQ(result.corpus.runs[1].time_s, 8.5);
  EXPECT_EQ(result.corpus.find_program("apps.lame-twice")->family, "lame");
  EXPECT_EQ(result.corpus.find_program("apps.crafty")->family, "chess");
  EXPECT_EQ(result.corpus.find_program("apps.crafty")->work_unit, "node");
}

TEST(Openbenchmarking, SocketsAreHostsOfOneCpuModel) {
  const Import result = import_results(
      "pts-encode-mp3,AMD EPYC 7763 64-Core,8,0.2,5,0\n"
      "pts-encode-mp3,2 x AMD EPYC 7763 64-Core,9,0.2,3,0\n"
      "pts-encode-mp3,2 x Intel Xeon Platinum 8124M,12,0.2,3,0\n"
      "pts-encode-mp3,Intel Core i9-9900K,6,0.2,3,0\n");
  ASSERT_EQ(result.corpus.platforms.size(), 3u);
  EXPECT_EQ(result.corpus.runs[1].platform, result.corpus.runs[0].platform);
  EXPECT_EQ(result.corpus.runs[1].server, "openbenchmarking/2-socket");
  // The id that the processor's own name has in every source.
  EXPECT_EQ(result.corpus.runs[2].platform, "intel-xeon-platinum-8124m-cpu-3-00ghz");
  EXPECT_EQ(result.corpus.find_platform("intel-xeon-platinum-8124m-cpu-3-00ghz")->segment, "server");
  EXPECT_EQ(result.corpus.find_platform("intel-core-i9-9900k")->segment, "desktop");
  EXPECT_EQ(excluded(result, "host", "kept, but without facts"), 2);
  EXPECT_EQ(parse_host_name("2 x A").sockets, 2);
  EXPECT_EQ(parse_host_name("2 xA").cpu, "2 xA");
  EXPECT_EQ(parse_host_name("0 x A").cpu, "0 x A");
  EXPECT_EQ(parse_host_name("").cpu, "");
}

TEST(Openbenchmarking, FactsAreMendedOrLeftOut) {
  const Import result = import_results(
      "pts-encode-mp3,AMD EPYC 7763 64-Core,8,0.2,5,0\npts-encode-mp3,Intel Xeon Gold 6138,8,0.2,5,0\n"
      "pts-encode-mp3,Intel Xeon E5-2680 v3,8,0.2,5,0\npts-encode-mp3,Intel Xeon E5-2630 v3,8,0.2,5,0\n");
  const Platform& epyc = *result.corpus.find_platform("amd-epyc-7763-64-core-processor");
  EXPECT_EQ(epyc.name, "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(epyc.vendor, "AMD");
  EXPECT_EQ(epyc.cpu_family, 25);
  EXPECT_EQ(epyc.facts.at("core_count"), 64);
  EXPECT_EQ(epyc.facts.at("l1d_bytes"), 32768);  // 4000 of the other host are 4 MiB over 128 cores
  EXPECT_EQ(epyc.facts.at("l2_bytes"), 524288);
  EXPECT_EQ(epyc.facts.at("l3_bytes"), 33554432);
  EXPECT_EQ(epyc.facts.at("max_hz"), 3529.052e6);  // the other host's is its base clock
  EXPECT_THAT(epyc.flags, ElementsAre("aes", "avx2", "sha"));
  // Nothing but its name.
  const Platform& gold = *result.corpus.find_platform("intel-xeon-gold-6138");
  EXPECT_EQ(gold.model, 85);
  EXPECT_TRUE(gold.facts.empty());
  EXPECT_THAT(gold.flags, ElementsAre("aes", "avx2", "avx512f"));
  // A virtual machine that shows another processor.
  const Platform& masked = *result.corpus.find_platform("intel-xeon-e5-2680-v3");
  EXPECT_EQ(masked.model, 63);
  EXPECT_TRUE(masked.facts.empty());
  EXPECT_EQ(excluded(result, "host", "its facts are those of another processor"), 1);
  // Its line of flags was missing.
  EXPECT_THAT(result.corpus.find_platform("intel-xeon-e5-2630-v3")->flags, ElementsAre("aes", "avx2"));
}

TEST(Openbenchmarking, CachesListedAsSums) {
  // 24 cores: 768 KiB, 12 MiB, 128 MiB.
  const CacheSizes zen = caches_of_one({768, 12000, 128000, 24, 2, true, 32});
  EXPECT_EQ(zen.l1d_bytes, 32 * 1024);
  EXPECT_EQ(zen.l2_bytes, 512 * 1024);
  EXPECT_EQ(zen.l3_bytes, std::nullopt);
  // 40 cores: 1.9 MiB, 50 MiB, 60 MiB.
  const CacheSizes lake = caches_of_one({1.9, 50000, 60000, 40, 1, false, 48});
  EXPECT_EQ(lake.l1d_bytes, 48 * 1024);
  EXPECT_EQ(lake.l2_bytes, 1280 * 1024);
  EXPECT_EQ(lake.l3_bytes, 60 * 1024.0 * 1024);
  const CacheSizes four = caches_of_one({128, 1000, 6000, 4, 1, false, 48});
  EXPECT_EQ(four.l1d_bytes, 32 * 1024);
  EXPECT_EQ(four.l2_bytes, 256 * 1024);
  // Two modules of 16 KiB and 2 MiB each: 32 is a size that one may have, 4000 is none.
  const CacheSizes modules = caches_of_one({32, 4000, std::nullopt, 2, 1, true, 32});
  EXPECT_EQ(modules.l1d_bytes, 16 * 1024);
  EXPECT_EQ(modules.l2_bytes, 2048 * 1024.0);
  // Six cores of which the host tells one.
  EXPECT_EQ(caches_of_one({192, 3000, 32000, 1, 1, true, 32}).l1d_bytes, std::nullopt);
  const CacheSizes one = caches_of_one({32, 256, 20480, 8, 1, false, 48});
  EXPECT_EQ(one.l3_bytes, 20480 * 1024.0);
  EXPECT_EQ(caches_of_one({768, 12000, 128000, 0, 0, true, 32}), CacheSizes());
  EXPECT_EQ(caches_of_one({}), CacheSizes());
}

TEST(Openbenchmarking, BadRowsAreLeftOutAndCounted) {
  const Import result = import_results(
      "pts-encode-mp3,AMD EPYC 7763 64-Core,8,0.2,5,0\n"
      "pts-encode-mp3,AMD EPYC 7763 64-Core,9,0.2,5,0\n"
      "pts-encode-mp3,Intel Core i1,0,0.2,5,0\n"
      "pts-encode-mp3,Intel Core i2,-1,0.2,5,0\n"
      "pts-encode-mp3,Intel Core i3,nan,0.2,5,0\n"
      "pts-encode-mp3,Intel Core i4,,0.2,5,0\n"
      "pts-encode-mp3,Intel Core i5,1,0.2,5,maybe\n"
      "pts-encode-mp3,Intel Core i6,1,-0.2,5,0\n"
      "pts-encode-mp3,Intel Core i7,1,0.2,2.5,0\n"
      "pts-encode-mp3,Intel Core i8,1e300,0.2,5,0\n"
      "pts-encode-mp3,,1,0.2,5,0\n"
      "pts-encode-mp3,Intel Core \xff,1,0.2,5,0\n"
      "pts-encode-mp3,Intel 0000,1,0.2,5,0\n"
      "pts-encode-mp3,///,1,0.2,5,0\n"
      ",Intel Core i9,1,0.2,5,0\n"
      "pts-unheard,Intel Core i9,1,0.2,5,0\n");
  EXPECT_EQ(excluded(result, "result", "a second one for the same test"), 1);
  EXPECT_EQ(excluded(result, "result", "zero"), 1);
  EXPECT_EQ(excluded(result, "result", "negative"), 1);
  EXPECT_EQ(excluded(result, "result", "no finite number"), 1);
  EXPECT_EQ(excluded(result, "result", "blank"), 1);
  EXPECT_EQ(excluded(result, "result", "it does not say whether"), 1);
  EXPECT_EQ(excluded(result, "result", "kept, but its deviation is no number"), 1);
  EXPECT_EQ(excluded(result, "result", "kept as one"), 1);
  EXPECT_EQ(excluded(result, "result", "without a CPU"), 1);
  EXPECT_EQ(excluded(result, "result", "the name of its CPU is no UTF-8"), 1);
  EXPECT_EQ(excluded(result, "result", "the name of its CPU hides"), 2);
  EXPECT_EQ(excluded(result, "result", "without a test"), 1);
  EXPECT_EQ(excluded(result, "result", "of a test that tests.csv lacks"), 1);
  EXPECT_EQ(excluded(result, "test", "caffe: no result"), 0);
  EXPECT_EQ(excluded(result, "test", "pts-caffe: no result says"), 1);
  ASSERT_EQ(result.corpus.runs.size(), 4u);  // the first, i6, i7, i8
  EXPECT_EQ(result.corpus.runs[0].time_s, 8);
  EXPECT_EQ(result.corpus.runs[2].results_count, 1);
}

TEST(Openbenchmarking, TestsWithoutAMeaningAreLeftOutByName) {
  const std::string tests =
      "test,unit\nok,Seconds\nno-unit,\nodd,Parsecs\nfast,Seconds\nmixed,Seconds\nok,Seconds\npts-ok,Seconds\n\xff,s\n";
  const Import result = import_results(
      "ok,A1,1,,3,0\nno-unit,A1,1,,3,0\nodd,A1,1,,3,0\nfast,A1,1,,3,1\nmixed,A1,1,,3,1\nmixed,A2,1,,3,0\npts-ok,A1,1,,"
      "3,0\n",
      tests);
  EXPECT_EQ(excluded(result, "test", "no-unit: its unit is not stated"), 1);
  EXPECT_EQ(excluded(result, "test", "odd: smaller is better, but its unit is no time: 'Parsecs'"), 1);
  EXPECT_EQ(excluded(result, "test", "fast: larger is better, but its unit is a time"), 1);
  EXPECT_EQ(excluded(result, "test", "mixed: its results disagree"), 1);
  EXPECT_EQ(excluded(result, "test", "named twice"), 1);
  EXPECT_EQ(excluded(result, "test", "its name or unit is no UTF-8"), 1);
  EXPECT_EQ(excluded(result, "result", "of a test that was left out"), 5);
  // "ok" and "pts-ok" are two programs.
  EXPECT_NE(result.corpus.find_program("apps.ok"), nullptr);
  EXPECT_NE(result.corpus.find_program("apps.pts-ok"), nullptr);

  const auto nothing = import_openbenchmarking(texts("odd,A1,1,,3,0\n", "test,unit\nodd,Parsecs\n"), {});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code, "no-rows");
  EXPECT_THAT(nothing.error().message, HasSubstr("odd: smaller is better"));
}

TEST(Openbenchmarking, MissingColumnsAndFilesAreNamed) {
  OpenbenchmarkingText text = texts("");
  text.results_csv = "test,cpu,perf_mean,perf_sd,n_results\n";
  EXPECT_EQ(import_openbenchmarking(text, {}).error().code, "missing-column");
  text = texts("");
  text.tests_csv = "test\n";
  EXPECT_THAT(to_text(import_openbenchmarking(text, {}).error()), HasSubstr("ob/tests.csv"));
  text = texts("");
  text.cpus_csv = "name\n";
  EXPECT_THAT(to_text(import_openbenchmarking(text, {}).error()), HasSubstr("ob/cpus.csv"));

  std::string folder = testing::TempDir() + "perfcast-ob-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_EQ(import_openbenchmarking_folder(folder, {}).error().code, "file-not-found");
  ASSERT_TRUE(write_file_atomically(folder + "/tests.csv", kTestTable).ok());
  ASSERT_TRUE(write_file_atomically(folder + "/cpus.csv", kCpuTable).ok());
  const auto lacking = import_openbenchmarking_folder(folder, {});
  ASSERT_FALSE(lacking.ok());
  EXPECT_EQ(lacking.error().where, folder + "/results.csv");
  ASSERT_TRUE(
      write_file_atomically(folder + "/results.csv", kResultsHeader + "pts-crafty,AMD EPYC 7763 64-Core,1,1,1,1\n")
          .ok());
  ASSERT_TRUE(write_file_atomically(folder + "/SOURCE.md", "commit 0123456789012345678901234567890123456789\n").ok());
  const auto result = import_openbenchmarking_folder(folder, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->corpus.sources[0].id, "openbenchmarking@0123456");
  EXPECT_EQ(result->corpus.sources[0].licence, "none stated: credit OpenBenchmarking.org and its users");
  std::filesystem::remove_all(folder);
}

// The same silicon in both sources is one platform, whichever was imported first; the cloud describes it.
TEST(Openbenchmarking, JoinsThePlatformsOfSpareCores) {
  SparecoresText cloud;
  cloud.servers_csv =
      "vendor,server,arch,cpu_vendor,cpu_model,cpu_family,model,l3\n"
      "aws,a,x86_64,AuthenticAMD,AMD EPYC 7763 64-Core Processor,25,1,16777216 (1 instance)\n"
      "aws,b,x86_64,GenuineIntel,Intel(R) Xeon(R) Platinum 8124M CPU @ 3.00GHz,6,85,\n";
  cloud.benchmarks_csv = "vendor,server,stressng.matrix.1\naws,a,2\naws,b,1\n";
  const auto rented = import_sparecores(cloud, {});
  ASSERT_TRUE(rented.ok());
  const Import owned = import_results(
      "pts-encode-mp3,AMD EPYC 7763 64-Core,8,0.2,5,0\npts-encode-mp3,Intel Xeon Platinum 8124M,8,0.2,5,0\n");
  for (const bool cloud_first : {false, true}) {
    auto store = CorpusStore::open(":memory:");
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE((*store)->replace_sources(cloud_first ? rented->corpus : owned.corpus).ok());
    ASSERT_TRUE((*store)->replace_sources(cloud_first ? owned.corpus : rented->corpus).ok());
    const auto both = (*store)->load();
    ASSERT_TRUE(both.ok());
    ASSERT_EQ(both->platforms.size(), 2u);
    EXPECT_EQ(both->platforms[0].segment, "cloud");
    EXPECT_EQ(both->platforms[0].source, "sparecores");
    EXPECT_EQ(both->platforms[0].facts.at("l3_bytes"), 16777216);
    EXPECT_EQ(both->platforms[0].facts.at("core_count"), 64);
    EXPECT_EQ(both->platforms[0].facts.at("provider_aws_ratio"), 1);
    EXPECT_EQ(both->runs.size(), 4u);
  }
}

}  // namespace
}  // namespace perfcast::program
