#include "program/corpus/importers/sparecores_importer.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "program/corpus/importers/sparecores_columns.h"
#include "program/corpus/importers/test_exclusions.h"

namespace perfcast::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using Use = SparecoresColumn::Use;

constexpr const char* kServers =
    "vendor,server,arch,cpu_vendor,cpu_model,cpu_family,model,stepping,vcpus,threads_per_core,cores_per_socket,sockets,"
    "cpu_max_mhz,dmi_max_speed,dmi_cur_speed,bogomips,l1d,l3,mem_gib,mem_type,mem_speed,f_avx2,f_sha\n"
    "aws,m1x.small,x86_64,AuthenticAMD,AMD EPYC 7763 64-Core "
    "Processor,25.0,1,1,2,2,1.0,1,,3525000000,2450000000,4890.0,"
    "65536 (2 instances),33554432 (1 instance),8.0,DDR4,3200000000,1,1\n"
    "aws,m1x.large,x86_64,AuthenticAMD,AMD EPYC 7763 64-Core "
    "Processor,25.0,1,1,4,2,2.0,1,3500.0,Unknown,Unknown,4890.0,"
    "131072 (4 instances),33554432 (1 instance),16.0,Unknown,,1,0\n"
    "aws,t3.micro,x86_64,AuthenticAMD,AMD EPYC 7763 64-Core Processor,25.0,1,1,2,2,1.0,1,,,,,,,1.0,,,1,1\n"
    "gcp,n1-a,x86_64,GenuineIntel,Intel(R) Xeon(R) CPU @ 2.20GHz,6.0,79,0,2,2,1.0,1,,,,4400.0,,,,,,1,0\n"
    "gcp,n1-b,x86_64,GenuineIntel,Intel(R) Xeon(R) CPU @ 2.20GHz,6.0,85,7,2,2,1.0,1,,,,4400.0,,,,,,1,0\n"
    "gcp,n1-b,x86_64,GenuineIntel,Intel(R) Xeon(R) CPU @ 2.20GHz,6.0,85,7,2,2,1.0,1,,,,4400.0,,,,,,1,0\n"
    "aws,t4g.nano,aarch64,ARM,Neoverse-N1,,1,r3p1,2,1,2.0,1,,,,243.75,,,0.5,,,,\n";

constexpr const char* kRates =
    "vendor,server,stressng.matrix.1,stressng.matrix.N,compress.gzip.9.1.c,compress.gzip.9.N.c,openssl.sha256.16384,"
    "redis.SET.t1.p1.rps,bwmem.rd.16.00MB,membench.lat_ns.64KB,llm.x.tg1.tps,mystery\n"
    "aws,m1x.small,100,190,1e7,2e7,4e9,50000,20000,2.5,3,1\n"
    "aws,m1x.large,200,700,2e7,8e7,8e9,,60000,,3,1\n"
    "aws,t3.micro,10,10,1e6,1e6,1e9,,,,,\n"
    "gcp,n1-a,50,0,0,,,,,,,\n"
    "gcp,n1-b,40,,abc,,,,,,,\n"
    "gcp,n1-b,41,,-3,,,,,,,\n"
    "aws,t4g.nano,80,80,,,,,,,,\n"
    "azure,unknown,1,1,1,1,1,1,1,1,1,1\n";

constexpr const char* kSuite = R"({"schema": "perfcast.suite/1", "name": "cloud", "programs": [
    {"id": "stressng.matrix", "label": "stressng.matrix.1", "family": "matrix", "group": "user",
     "work_unit": "operation"},
    {"id": "openssl.sha256", "label": "openssl.sha256.16384", "family": "sha2", "group": "crypto",
     "work_unit": "byte"}]})";

Import import_servers(const std::string& servers = kServers, const std::string& rates = kRates) {
  SparecoresText text;
  text.servers_csv = servers;
  text.benchmarks_csv = rates;
  text.note.commit = "0123456789012345678901234567890123456789";
  auto result = import_sparecores(text, *ProgramCatalogue::parse(kSuite, "suite"));
  EXPECT_TRUE(result.ok()) << to_text(result.error());
  return *result;
}

std::optional<double> time_of(const Corpus& corpus, const std::string& program, const std::string& server) {
  for (const auto& run : corpus.runs) {
    if (run.program == program && run.server == server) return run.time_s;
  }
  return std::nullopt;
}

TEST(SparecoresImportTest, TurnsRatesIntoTimes) {
  const Corpus corpus = import_servers().corpus;
  EXPECT_DOUBLE_EQ(*time_of(corpus, "stressng.matrix", "aws/m1x.small"), 0.01);
  EXPECT_DOUBLE_EQ(*time_of(corpus, "compress.gzip.9.c", "aws/m1x.large"), 5e-8);
  EXPECT_DOUBLE_EQ(*time_of(corpus, "openssl.sha256", "aws/m1x.large"), 4 / 8e9);  // CPU seconds: four vCPUs
  EXPECT_DOUBLE_EQ(*time_of(corpus, "redis.SET.p1", "aws/m1x.small"), 2e-5);
  EXPECT_EQ(time_of(corpus, "redis.SET.p1", "aws/m1x.large"), std::nullopt);  // blank is absent
  for (const auto& run : corpus.runs) {
    EXPECT_EQ(run.threads, run.program == "openssl.sha256" ? 0 : 1);
    EXPECT_EQ(run.source, "sparecores@0123456");
  }
}

TEST(SparecoresImportTest, WholeMachinesRunACopyOnEachVcpuOrCore) {
  const Corpus corpus = import_servers().corpus;
  std::map<std::string, std::pair<double, double>> runs;  // copies, time
  for (const MachineRun& run : corpus.machine_runs) runs[run.program + " " + run.server] = {run.copies, run.time_s};
  using Copies = std::pair<double, double>;
  EXPECT_EQ(runs.at("stressng.matrix aws/m1x.large"), Copies(4, 4.0 / 700));
  EXPECT_EQ(runs.at("compress.gzip.9.c aws/m1x.large"), Copies(2, 2 / 8e7));  // two cores
  EXPECT_EQ(runs.at("stressng.matrix aws/t4g.nano"), Copies(2, 2.0 / 80));
  EXPECT_FALSE(runs.contains("stressng.matrix aws/t3.micro"));  // left out
  EXPECT_FALSE(runs.contains("stressng.matrix gcp/n1-a"));      // zero
  EXPECT_EQ(runs.size(), 5u);
  for (const Server& server : corpus.servers) {
    if (server.name != "m1x.large") continue;
    const std::map<std::string, double> facts = {
        {"l1d_bytes", 32768}, {"l3_bytes", 33554432}, {"l3_instances_count", 1}};
    for (const auto& [name, value] : facts) EXPECT_EQ(server.facts.at(name), value) << name;
  }
}

// lz4's threads inside of one copy, as the benchmark had it before there was a gzip of all cores.
TEST(SparecoresImportTest, LeavesOutAllCoresOfTheOlderMeaning) {
  const std::string rates =
      "vendor,server,stressng.matrix.1,stressng.matrix.N,compress.lz4.1.1.c,compress.lz4.1.N.c,"
      "compress.gzip.1.N.c\n"
      "aws,m1x.small,100,190,1e7,2e7,\naws,m1x.large,200,700,2e7,8e7,1\n";
  const Corpus corpus = import_servers(kServers, rates).corpus;
  std::vector<std::string> found;
  for (const MachineRun& run : corpus.machine_runs) found.push_back(run.program + " " + run.server);
  EXPECT_THAT(found, UnorderedElementsAre("stressng.matrix aws/m1x.small", "stressng.matrix aws/m1x.large",
                                          "compress.lz4.1.c aws/m1x.large"));
}

TEST(SparecoresImportTest, MakesOnePlatformPerCpuModel) {
  const Corpus corpus = import_servers().corpus;
  std::vector<std::string> ids, names;
  for (const Platform& platform : corpus.platforms) {
    ids.push_back(platform.id);
    names.push_back(platform.name);
  }
  EXPECT_THAT(ids, ElementsAre("amd-epyc-7763-64-core-processor", "aws-graviton2", "intel-xeon-cpu-2-20ghz-f6-m79",
                               "intel-xeon-cpu-2-20ghz-f6-m85"));
  EXPECT_THAT(names, ElementsAre("AMD EPYC 7763 64-Core Processor", "AWS Graviton2",
                                 "Intel(R) Xeon(R) CPU @ 2.20GHz (family 6 model 79)",
                                 "Intel(R) Xeon(R) CPU @ 2.20GHz (family 6 model 85)"));
  const Platform& epyc = corpus.platforms[0];
  EXPECT_EQ(epyc.vendor, "AMD");
  EXPECT_EQ(epyc.arch, "x86_64");
  EXPECT_EQ(epyc.cpu_family, 25);
  EXPECT_EQ(epyc.stepping, 1);
  EXPECT_EQ(corpus.platforms[1].cpu_family, std::nullopt);
  EXPECT_EQ(corpus.platforms[1].vendor, "ARM");
}

// One core in chips of two makers; one CPU, of which one provider's machines are a tenth slower by their scores.
TEST(SparecoresImportTest, NamesMachinesByChipAndProvider) {
  SparecoresText text;
  text.servers_csv = "vendor,server,arch,cpu_vendor,cpu_model,vcpus\n";
  text.scores_csv = "vendor,server,A.1,B.1,C.1,D.1,E.1\n";
  text.benchmarks_csv = "vendor,server,stressng.matrix.1\n";
  const auto add = [&](const std::string& server, const std::string& cpu, int score) {
    text.servers_csv += server + "," + cpu + ",4\n";
    const std::string number = std::to_string(score);
    text.scores_csv += server + "," + number + "," + number + "," + number + "," + number + "," + number + "\n";
    text.benchmarks_csv += server + ",100\n";
  };
  const std::string arm = "aarch64,ARM,Neoverse-N1",
                    xeon = "x86_64,GenuineIntel,Intel(R) Xeon(R) Platinum 8280L CPU @ 2.70GHz";
  add("aws,m6g.large", arm, 1000);
  add("azure,Standard_D2ps_v5", arm, 1010);
  add("aws,u-6tb1", xeon, 900);
  add("aws,u-9tb1", xeon, 901);
  add("azure,M208", xeon, 1000);
  add("azure,M416", xeon, 1001);
  const auto result = import_sparecores(text, ProgramCatalogue());
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  std::map<std::string, std::string> platform_of;
  for (const Server& server : result->corpus.servers) platform_of[server.name] = server.platform;
  const std::map<std::string, std::string> expected = {{"m6g.large", "aws-graviton2"},
                                                       {"Standard_D2ps_v5", "ampere-altra"},
                                                       {"u-6tb1", "intel-xeon-platinum-8280l-aws"},
                                                       {"u-9tb1", "intel-xeon-platinum-8280l-aws"},
                                                       {"M208", "intel-xeon-platinum-8280l-azure"},
                                                       {"M416", "intel-xeon-platinum-8280l-azure"}};
  EXPECT_EQ(platform_of, expected);
  EXPECT_EQ(result->corpus.find_platform("intel-xeon-platinum-8280l-azure")->name, "Intel Xeon Platinum 8280L (Azure)");
  EXPECT_THAT(
      result->report.notes,
      ElementsAre("Intel(R) Xeon(R) Platinum 8280L CPU @ 2.70GHz is 2 platforms, by provider: (AWS), (Azure); the "
                  "first two are 11% apart, their own servers 0%"));
}

TEST(SparecoresImportTest, GathersFactsOverTheServersKept) {
  const Corpus corpus = import_servers().corpus;
  const auto& facts = corpus.platforms[0].facts;
  EXPECT_EQ(facts.at("l1d_bytes"), 32768);
  EXPECT_EQ(facts.at("l3_bytes"), 33554432);
  EXPECT_EQ(facts.at("max_hz"), 3.5125e9);  // median of 3.525 and 3.5 GHz
  EXPECT_EQ(facts.at("current_hz"), 2.45e9);
  EXPECT_EQ(facts.at("tsc_hz"), 2.445e9);
  EXPECT_EQ(facts.at("memory_ddr_generation_count"), 4);
  EXPECT_EQ(facts.at("bwmem_rd_16mb_per_vcpu_bytes_per_s"), 1.25e10);  // of 20000/2 and 60000/4 MB/s
  EXPECT_EQ(facts.at("membench_latency_64kib_ns"), 2.5);
  EXPECT_EQ(facts.count("l2_bytes"), 0u);
  EXPECT_THAT(corpus.platforms[0].flags, ElementsAre("avx2"));  // sha on one of two
  EXPECT_EQ(corpus.platforms[2].facts.at("nominal_hz"), 2.2e9);
  EXPECT_EQ(corpus.platforms[1].facts.count("tsc_hz"), 0u);  // BogoMIPS mean something else on Arm
}

TEST(SparecoresImportTest, CountsWhatItLeavesOut) {
  const Import result = import_servers();
  const Corpus& corpus = result.corpus;
  EXPECT_EQ(excluded(corpus, "server", "shared or credit-limited"), 1);  // t3.micro; t4g.nano has no better peer
  EXPECT_EQ(excluded(corpus, "server", "named twice"), 1);
  EXPECT_EQ(excluded(corpus, "row of rates", "a second row"), 1);
  EXPECT_EQ(excluded(corpus, "row of rates", "its server is not"), 1);
  EXPECT_EQ(excluded(corpus, "rate of one worker", "zero"), 1);
  EXPECT_EQ(excluded(corpus, "rate of one worker", "no finite number"), 1);
  EXPECT_EQ(excluded(corpus, "rate of one worker", "of a server that was left out"), 3);
  EXPECT_EQ(excluded(corpus, "rate of all workers", "of a server that was left out"), 2);
  EXPECT_EQ(excluded(corpus, "rate of all workers", "zero"), 1);
  EXPECT_EQ(excluded(corpus, "column", "tokens/s"), 1);
  EXPECT_EQ(excluded(corpus, "column", "no rule knows"), 1);
  EXPECT_EQ(result.report.servers_read_count, 7);
  EXPECT_EQ(result.report.servers_kept_count, 5);
  EXPECT_EQ(corpus.servers.size(), 6u);  // also those without runs carry their CPU
  ASSERT_EQ(result.report.dropped_servers.size(), 1u);
  EXPECT_EQ(result.report.dropped_servers[0].server, "aws/t3.micro");
}

// A program has one time on a server, and a server one figure of each kind.
TEST(SparecoresImportTest, OfColumnsWithOneMeaningTheFirstStays) {
  const std::string rates =
      "vendor,server,redis.SET.t1.p1.rps,redis.SET.t01.p1.rps,redis.SET.t2.p1.rps,compress.gzip.null.1.c,"
      "compress.gzip.1.c,compress.gzip.null.N.c,compress.gzip.N.c,membench.lat_ns.64KB,membench.lat_ns.064KB\n"
      "aws,m1x.small,50000,40000,30000,1e7,2e7,4e7,5e7,2.5,3.5\n";
  const Import result = import_servers(kServers, rates);
  const Corpus& corpus = result.corpus;
  EXPECT_EQ(excluded(corpus, "column", "means the same as another"), 4);
  EXPECT_EQ(result.report.columns_used_count, 5);
  std::map<std::string, double> times;
  for (const auto& run : corpus.runs) {
    EXPECT_TRUE(times.emplace(run.program + " " + std::to_string(run.threads), run.time_s).second) << run.program;
  }
  EXPECT_EQ(times, (std::map<std::string, double>{
                       {"compress.gzip.c 1", 1 / 1e7}, {"redis.SET.p1 1", 1 / 5e4}, {"redis.SET.p1 2", 1 / 3e4}}));
  ASSERT_EQ(corpus.machine_runs.size(), 1u);
  EXPECT_EQ(corpus.machine_runs[0].time_s, 1 / 4e7);
  const auto small = std::find_if(corpus.platforms.begin(), corpus.platforms.end(), [](const Platform& platform) {
    return platform.facts.contains("membench_latency_64kib_ns");
  });
  ASSERT_NE(small, corpus.platforms.end());
  EXPECT_EQ(small->facts.at("membench_latency_64kib_ns"), 2.5);
}

TEST(SparecoresImportTest, DescribesProgramsBySuiteOrName) {
  const Import result = import_servers();
  const Corpus& corpus = result.corpus;
  EXPECT_EQ(corpus.find_program("openssl.sha256")->family, "sha2");
  EXPECT_EQ(corpus.find_program("stressng.matrix")->work_unit, "operation");
  EXPECT_EQ(corpus.find_program("compress.gzip.9.c")->family, "gzip");
  EXPECT_EQ(corpus.find_program("compress.gzip.9.c")->group, "unknown");
  EXPECT_THAT(result.report.unknown_programs, UnorderedElementsAre("compress.gzip.9.c", "redis.SET.p1"));
}

constexpr const char* kScores =
    "vendor,server,Navigation.1,Navigation.N,Object Detection.1,Object Detection.N\n"
    "aws,m1x.small,1000,1800,500,\n"
    "aws,m1x.large,1250,4000,0,1000\n"
    "aws,t3.micro,400,700,,\n"
    "gcp,n1-a,800,1600,,\n"
    "aws,gone,1,1,1,1\n";

// Navigation has two programs of the suite, Object Detection none.
TEST(SparecoresImportTest, ScoresAreTimesOfApplications) {
  SparecoresText text;
  text.servers_csv = kServers;
  text.benchmarks_csv = kRates;
  text.scores_csv = kScores;
  text.scores_note.commit = "0123456789012345678901234567890123456789";
  const auto result =
      import_sparecores(text, *ProgramCatalogue::parse(R"({"schema": "perfcast.suite/1", "name": "apps", "programs": [
          {"id": "apps.gb-a", "label": "geekbench6.Navigation", "family": "paths", "group": "application"},
          {"id": "apps.gb-b", "label": "geekbench6.Navigation", "family": "paths", "group": "application"}]})",
                                                       "suite"));
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  const Corpus& corpus = result->corpus;
  ASSERT_EQ(corpus.sources.size(), 2u);
  EXPECT_EQ(corpus.sources[1].id, "geekbench6@0123456");
  std::map<std::string, double> times;
  for (const auto& run : corpus.runs) {
    if (run.source != "geekbench6@0123456") continue;
    EXPECT_EQ(run.threads, 1);
    times[run.program + " " + run.server] = run.time_s;
  }
  const std::map<std::string, double> expected = {{"apps.gb-a aws/m1x.small", 1e-3},
                                                  {"apps.gb-b aws/m1x.small", 1e-3},
                                                  {"apps.gb-a aws/m1x.large", 1 / 1250.0},
                                                  {"apps.gb-b aws/m1x.large", 1 / 1250.0},
                                                  {"apps.gb-a gcp/n1-a", 1 / 800.0},
                                                  {"apps.gb-b gcp/n1-a", 1 / 800.0},
                                                  {"geekbench6.object-detection aws/m1x.small", 1 / 500.0}};
  EXPECT_EQ(times, expected);
  std::map<std::string, std::pair<double, double>> full;  // copies, time
  for (const auto& run : corpus.machine_runs) {
    if (run.source == "geekbench6@0123456") full[run.program + " " + run.server] = {run.copies, run.time_s};
  }
  EXPECT_EQ(full.size(), 7u);
  EXPECT_EQ(full.at("apps.gb-b aws/m1x.large"), std::pair(4.0, 4 / 4000.0));
  EXPECT_EQ(full.at("geekbench6.object-detection aws/m1x.large"), std::pair(4.0, 4 / 1000.0));
  const Program* detection = corpus.find_program("geekbench6.object-detection");
  ASSERT_NE(detection, nullptr);
  EXPECT_EQ(detection->group, "matrix");
  EXPECT_EQ(detection->family, "object-detection");
  EXPECT_EQ(corpus.find_program("apps.gb-b")->family, "paths");
  EXPECT_EQ(excluded(corpus, "server with scores", "shared or credit-limited"), 1);
  EXPECT_EQ(excluded(corpus, "score of one core", "zero"), 1);
  EXPECT_EQ(excluded(corpus, "score of one core", "of a server that was left out"), 1);
  EXPECT_EQ(excluded(corpus, "row of rates", "its server is not"), 2);
  EXPECT_EQ(excluded(corpus, "rate of one worker", "of a server that was left out"), 3);  // as without scores
}

TEST(SparecoresImportTest, ReportsErrorsWithTheirPlace) {
  SparecoresText text;
  text.servers_csv = kServers;
  text.benchmarks_csv = "vendor,stressng.matrix.1\naws,1\n";
  const auto no_server = import_sparecores(text, ProgramCatalogue());
  ASSERT_FALSE(no_server.ok());
  EXPECT_EQ(no_server.error().code, "missing-column");
  EXPECT_EQ(no_server.error().where, "benchmarks_wide.csv:1");
  text.benchmarks_csv = "vendor,server,stressng.matrix.1\naws,a,1\naws,b\n";
  const auto short_row = import_sparecores(text, ProgramCatalogue());
  ASSERT_FALSE(short_row.ok());
  EXPECT_EQ(short_row.error().code, "bad-csv");
  EXPECT_EQ(short_row.error().where, "benchmarks_wide.csv:3");
}

TEST(SparecoresImportTest, ReadsAFolderWithItsNote) {
  std::string folder = testing::TempDir() + "perfcast-sparecores-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  ASSERT_TRUE(write_file_atomically(folder + "/servers.csv", kServers).ok());
  const auto incomplete = import_sparecores_folder(folder, ProgramCatalogue());
  ASSERT_FALSE(incomplete.ok());
  EXPECT_EQ(incomplete.error().code, "file-not-found");
  EXPECT_THAT(incomplete.error().where, HasSubstr("benchmarks_wide.csv"));
  ASSERT_TRUE(write_file_atomically(folder + "/benchmarks_wide.csv", kRates).ok());
  ASSERT_TRUE(write_file_atomically(folder + "/SOURCE.md",
                                    "repository  commit abcdef0123456789012345678901234567890123\n- read: 2026-03-04 x")
                  .ok());
  const auto result = import_sparecores_folder(folder, ProgramCatalogue());
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  EXPECT_EQ(result->corpus.sources[0].id, "sparecores@abcdef0");
  EXPECT_EQ(result->corpus.sources[0].retrieved_utc, "2026-03-04");
  EXPECT_EQ(result->corpus.sources[0].licence, "CC BY-SA 4.0");
  EXPECT_EQ(result->corpus.sources.size(), 1u);
  EXPECT_TRUE(result->report.notes.empty());
  ASSERT_TRUE(write_file_atomically(folder + "/scores.csv", kScores).ok());
  const auto scored = import_sparecores_folder(folder, ProgramCatalogue());
  ASSERT_TRUE(scored.ok()) << to_text(scored.error());
  EXPECT_EQ(scored->corpus.sources[1].id, "geekbench6@abcdef0");
  EXPECT_THAT(scored->report.notes, ElementsAre("Geekbench scores: " + folder + "/scores.csv"));
  EXPECT_EQ(scored->corpus.find_program("geekbench6.navigation")->group, "application");
  EXPECT_EQ(scored->report.unknown_programs, result->report.unknown_programs);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(import_sparecores_folder(folder, ProgramCatalogue()).error().code, "file-not-found");
}

TEST(SparecoresImportTest, NamesThatDifferInCaseAloneGetIdsOfTheirOwn) {
  const Corpus corpus = import_servers(
                            "vendor,server,arch,cpu_model\nv,a,x86_64,INTEL(R) XEON(R) PLATINUM 8559C\n"
                            "v,b,x86_64,Intel(R) Xeon(R) Platinum 8559C\nv,c,x86_64,\n",
                            "vendor,server,stressng.matrix.1\nv,a,1\nv,b,2\nv,c,3\n")
                            .corpus;
  std::vector<std::string> ids;
  ids.reserve(corpus.platforms.size());
  for (const Platform& platform : corpus.platforms) ids.push_back(platform.id);
  EXPECT_THAT(ids, UnorderedElementsAre("intel-xeon-platinum-8559c", "intel-xeon-platinum-8559c-caps", "unnamed-cpu"));
}

TEST(SparecoresColumnsTest, ClassifiesEachKind) {
  const auto program = [](const char* name) {
    const SparecoresColumn column = classify_sparecores_column(name);
    return column.use == Use::kRun ? column.program + "/" + std::to_string(column.threads) : column.reason;
  };
  EXPECT_EQ(program("stressng.cpu-sched.1"), "stressng.cpu-sched/1");
  EXPECT_EQ(program("stressngfull.cpu.1"), "stressngfull.cpu/1");
  EXPECT_EQ(program("compress.lz4.6.b65536.1.d"), "compress.lz4.6.b65536.d/1");
  EXPECT_EQ(program("compress.bzip3.null.b1048576.1.c"), "compress.bzip3.b1048576.c/1");
  EXPECT_EQ(program("compress.new.algorithm.1.c"), "compress.new.algorithm.c/1");
  EXPECT_EQ(program("openssl.blake2b512.16384"), "openssl.blake2b512.16384/0");
  EXPECT_EQ(program("redis.GET.t2.p16.rps"), "redis.GET.p16/2");
  EXPECT_EQ(program("static_web.16k.best_rps"), "static_web.16k/0");
  const SparecoresColumn workers = classify_sparecores_column("stressng.cpu-sched.N");
  EXPECT_EQ(workers.use, Use::kMachineRun);
  EXPECT_EQ(workers.program, "stressng.cpu-sched");
  EXPECT_EQ(workers.label, "stressng.cpu-sched.1");
  EXPECT_FALSE(workers.per_core);
  const SparecoresColumn cores = classify_sparecores_column("geekbench6.HTML5 Browser.N");
  EXPECT_EQ(cores.use, Use::kMachineRun);
  EXPECT_EQ(cores.label, "geekbench6.HTML5 Browser");
  EXPECT_EQ(cores.group, "application");
  EXPECT_FALSE(cores.per_core);
  EXPECT_EQ(classify_sparecores_column("geekbench6.Object Detection.1").group, "matrix");
  const SparecoresColumn copies = classify_sparecores_column("compress.bzip3.null.b1048576.N.d");
  EXPECT_EQ(copies.program, "compress.bzip3.b1048576.d");
  EXPECT_TRUE(copies.per_core);
  EXPECT_EQ(program("geekbench6.HTML5 Browser.1"), "geekbench6.html5-browser/1");
  EXPECT_EQ(program("geekbench6.Score.1"), "a score over all workloads");
  EXPECT_THAT(program("passmark.x"), HasSubstr("closed benchmark"));
  for (const char* odd :
       {"", ".", "stressng.1", "stressng.cpu.2", "compress.1.c", "compress.gzip.9.2.c", "redis.GET.tx.p1.rps",
        "geekbench6.x", "geekbench6.x.2", "geekbench6. .1", "redis.GET.t0.p1.rps", "bwmem.rd.MB", "bwmem.rd.-1MB",
        "membench.lat_ns.0KB", "membench.lat.64KB"}) {
    EXPECT_EQ(program(odd), "no rule knows this column") << odd;
  }
  const SparecoresColumn fact = classify_sparecores_column("bwmem.wr.0.016384MB");
  EXPECT_EQ(fact.use, Use::kFact);
  EXPECT_EQ(fact.fact, "bwmem_wr_16kib_per_vcpu_bytes_per_s");
  EXPECT_TRUE(fact.per_vcpu);
}

TEST(SparecoresNamesTest, KnowsNamesThatHideTheModel) {
  for (const char* hidden : {"Intel(R) Xeon(R) Platinum", "GENUINE INTEL(R) 0000", "Intel(R) Xeon(R) CPU @ 2.20GHz",
                             "Intel(R) Xeon(R) Processor", "", "AMD EPYC-Milan Processor",
                             "Intel Core Processor (Broadwell, no TSX, IBRS)"}) {
    EXPECT_TRUE(hides_cpu_model(hidden)) << hidden;
  }
  for (const char* told : {"AMD EPYC 7763 64-Core Processor", "Neoverse-N1", "Intel(R) Xeon(R) Platinum 8369B",
                           "Intel(R) Xeon(R) 6973P-C", "Cortex-A72"}) {
    EXPECT_FALSE(hides_cpu_model(told)) << told;
  }
}

TEST(SparecoresRealDataTest, ImportsTheWholeSet) {
  const std::string folder = std::string(PERFCAST_SHARED_DATA) + "/sparecores";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the public data set is not at " << folder;
  const auto catalogue = ProgramCatalogue::read({PERFCAST_SOURCE_DIR "/data/suites/cloud.json"});
  ASSERT_TRUE(catalogue.ok()) << to_text(catalogue.error());
  const auto result = import_sparecores_folder(folder, *catalogue);
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  const Corpus& corpus = result->corpus;
  EXPECT_GE(corpus.platforms.size(), 100u);
  EXPECT_LE(corpus.platforms.size(), 130u);
  std::set<std::string> names, ids;
  for (const Platform& platform : corpus.platforms) {
    EXPECT_TRUE(names.insert(platform.name).second) << platform.name;
    EXPECT_TRUE(ids.insert(platform.id).second) << platform.id;
  }
  const Platform* milan = corpus.find_platform("amd-epyc-7763-64-core-processor");
  ASSERT_NE(milan, nullptr);
  EXPECT_EQ(milan->facts.at("l2_bytes"), 524288);
  EXPECT_GT(corpus.runs.size(), 200000u);
  EXPECT_GT(result->report.servers_kept_count, 2000);
  EXPECT_LT(result->report.servers_kept_count, result->report.servers_read_count);
  EXPECT_TRUE(result->report.unknown_programs.empty()) << testing::PrintToString(result->report.unknown_programs);
}

}  // namespace
}  // namespace perfcast::program
