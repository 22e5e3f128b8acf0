#include "program/corpus/importers/perf_stat_importer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>

#include "base/file.h"
#include "program/corpus/store/store.h"

namespace perfcast::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Profile read(const std::string& text, const std::string& path = "runs/My App.csv") {
  const auto profiles = read_perf_stat(text, path);
  EXPECT_TRUE(profiles.ok()) << to_text(profiles.error());
  if (!profiles) return {};
  EXPECT_EQ(profiles->size(), 1u);
  return (*profiles)[0].profile;
}

TEST(PerfStatImportTest, ReadsSeparatedOutput) {
  const Profile profile = read(
      "# started on Mon Nov  9 10:00:00 2026\n\n"
      "1204.50,msec,task-clock:u,1204500000,100.00,0.998,CPUs utilized\n"
      "4000,,instructions:u,1204500000,75.00,0.50,insn per cycle\n"
      ",,,,,2.00,stalled cycles per insn\n"
      "8000,,cycles,1204500000,100.00,,\n"
      "<not supported>,,LLC-loads,0,100.00,,\n"
      "<not counted>,,branch-misses:u,0,0.00,,\n"
      "12,,cpu/event=0x3c,umask=0x1/,1204500000,100.00,,\n"
      "7,,cycles:k,1204500000,100.00,,\n"
      "3.5,Joules,power/energy-pkg/,1204500000,100.00,,\n"
      "1500000000,ns,duration_time,1500000000,100.00,,\n");
  EXPECT_EQ(profile.program, "my_app");
  EXPECT_TRUE(profile.ok());
  EXPECT_EQ(profile.collectors.at(0).name, "perf");
  EXPECT_DOUBLE_EQ(profile.metrics.at("hw_task_clock_s"), 1.2045);
  EXPECT_EQ(profile.metrics.at("hw_instructions_count"), 4000);
  EXPECT_EQ(profile.metrics.at("hw_cycles_count"), 8000);
  EXPECT_EQ(profile.metrics.at("hw_instructions_per_cycle_ratio"), 0.5);
  EXPECT_EQ(profile.metrics.at("perf_cycles_k_count"), 7);
  EXPECT_EQ(profile.metrics.at("perf_cpu_event_0x3c_umask_0x1_count"), 12);
  EXPECT_EQ(profile.metrics.at("perf_power_energy_pkg_joules"), 3.5);
  EXPECT_EQ(profile.metrics.at("wall_s"), 1.5);
  EXPECT_EQ(profile.missing.at("hw_llc_loads_count"), "not supported");
  EXPECT_EQ(profile.missing.at("hw_branch_misses_count"), "not counted");
  EXPECT_FALSE(profile.metrics.contains("hw_llc_loads_count"));
  ASSERT_EQ(profile.warnings.size(), 1u);
  EXPECT_EQ(profile.warnings[0].code, "multiplexed");
  EXPECT_THAT(profile.warnings[0].message, HasSubstr("instructions:u for 75"));
}

TEST(PerfStatImportTest, IntervalsCpusAndPmusAddUp) {
  EXPECT_EQ(read("1.001;10;;cycles;5;100.00;;\n2.002;30;;cycles;5;100.00;;\n").metrics.at("hw_cycles_count"), 40);
  EXPECT_EQ(read("CPU0,10,,cycles,5,100.00,,\nCPU1,20,,cycles,5,100.00,,\n").metrics.at("hw_cycles_count"), 30);
  EXPECT_EQ(read("S0|8|10||cycles|5|100.00||\nS1|8|25||cycles|5|100.00||\n").metrics.at("hw_cycles_count"), 35);
  const Profile hybrid = read("<not counted>,,cpu_atom/cycles/,0,0.00,,\n31,,cpu_core/cycles/,5,100.00,,\n");
  EXPECT_EQ(hybrid.metrics.at("hw_cycles_count"), 31);
  EXPECT_TRUE(hybrid.missing.empty());
}

TEST(PerfStatImportTest, ReadsJsonLines) {
  const Profile profile = read(
      "# program: my-lab.npb.cg.64\n# host: Example 200\n"
      "{\"counter-value\" : \"12.500000\", \"unit\" : \"msec\", \"event\" : \"task-clock\", \"event-runtime\" : 125, "
      "\"pcnt-running\" : 100.00, \"metric-value\" : \"0.9\", \"metric-unit\" : \"CPUs utilized\"}\n"
      "{\"counter-value\" : \"600.000000\", \"unit\" : \"\", \"event\" : \"page-faults\", \"pcnt-running\" : 100.00}\n"
      "{\"counter-value\" : \"<not supported>\", \"unit\" : \"\", \"event\" : \"cycles\", \"pcnt-running\" : 0.00}\n"
      "{\"counter-value\" : \"9\", \"unit\" : \"\", \"event\" : \"mem_load_retired.l3_miss\", \"pcnt-running\" : "
      "33.3}\n"
      "{\"metric-value\" : \"1.0\", \"metric-unit\" : \"MB/s\"}\n");
  EXPECT_EQ(profile.program, "my-lab.npb.cg.64");
  EXPECT_EQ(profile.host.name, "Example 200");
  EXPECT_DOUBLE_EQ(profile.metrics.at("hw_task_clock_s"), 0.0125);
  EXPECT_EQ(profile.metrics.at("hw_page_faults_count"), 600);
  EXPECT_EQ(profile.metrics.at("perf_mem_load_retired_l3_miss_count"), 9);
  EXPECT_EQ(profile.missing.at("hw_cycles_count"), "not supported");
  EXPECT_EQ(profile.warnings.size(), 1u);
}

// One count of a run, as perf knows it before it is written.
struct Counted {
  const char* event;
  const char* unit;
  int64_t hundredths;  // of a real number; a whole one otherwise
  bool is_real;
  int running_hundredths;  // percent
};
const std::vector<Counted> kCounted = {
    {"task-clock", "msec", 41287, true, 10000},        {"cycles", "", 1376827291, false, 7508},
    {"instructions:u", "", 2011741096, false, 10000},  {"cpu/event=0x3c,umask=0x1/", "", 1234, false, 10000},
    {"power/energy-pkg/", "Joules", 350, true, 10000}, {"page-faults", "", 1530, false, 9980}};

std::string real(int64_t hundredths, char decimal) {
  std::string cents = std::to_string(hundredths % 100);
  if (cents.size() < 2) cents = "0" + cents;
  return std::to_string(hundredths / 100) + decimal + cents;
}

// Every combination of separator, locale and optional fields is read as the same counts.
TEST(PerfStatImportTest, ReadsEveryFormAlike) {
  for (const char separator : {',', ';', '\t', '|', '@'}) {
    for (const char decimal : {'.', ','}) {
      for (int options = 0; options < 64; ++options) {
        const bool has_time = (options & 1) != 0, has_place = (options & 2) != 0, has_count = (options & 4) != 0,
                   has_variance = (options & 8) != 0, has_cgroup = (options & 16) != 0,
                   has_metric = (options & 32) != 0;
        std::string text = "# started on Tue Jun  1 09:00:00 2021\n\n";
        for (const Counted& counted : kCounted) {
          std::vector<std::string> fields;
          if (has_time) fields.push_back(std::string("     1") + decimal + "001030289");
          if (has_place) fields.push_back(has_count ? "S0-D0" : "CPU0");
          if (has_place && has_count) fields.push_back("8");
          fields.push_back(counted.is_real ? real(counted.hundredths, decimal) : std::to_string(counted.hundredths));
          fields.push_back(counted.unit);
          fields.push_back(counted.event);
          if (has_cgroup) fields.push_back("system.slice/web.service");
          if (has_variance) fields.push_back(real(42, decimal) + "%");
          fields.push_back("412870123");
          fields.push_back(real(counted.running_hundredths, decimal));
          if (has_metric) {
            fields.push_back(std::string("3") + decimal + "335");
            fields.push_back("GHz");
          }
          for (size_t i = 0; i < fields.size(); ++i) text += (i == 0 ? "" : std::string(1, separator)) + fields[i];
          text += options % 3 == 0 ? "\r\n" : "\n";
        }
        const Profile profile = read(text);
        ASSERT_EQ(profile.metrics.size(), 9u) << text;  // two are derived
        EXPECT_DOUBLE_EQ(profile.metrics.at("hw_task_clock_s"), 0.41287) << text;
        EXPECT_EQ(profile.metrics.at("hw_cycles_count"), 1376827291) << text;
        EXPECT_EQ(profile.metrics.at("hw_instructions_count"), 2011741096) << text;
        EXPECT_DOUBLE_EQ(profile.metrics.at("perf_power_energy_pkg_joules"), 3.5) << text;
        EXPECT_EQ(profile.metrics.at("hw_page_faults_count"), 1530) << text;
        ASSERT_GE(profile.warnings.size(), 2u) << text;
        EXPECT_THAT(profile.warnings[0].message, HasSubstr("cycles for 75.1%")) << text;
        EXPECT_THAT(profile.warnings[1].message, HasSubstr("page-faults for 99.8%")) << text;
      }
    }
  }
}

TEST(PerfStatImportTest, TheFormIsThatOfAllLines) {
  // The first line alone could be of commas.
  EXPECT_DOUBLE_EQ(
      read("412,87;msec;task-clock;5;100,00;0,998;CPUs utilized\n7;;cycles;5;100,00;;\n").metrics.at("hw_task_clock_s"),
      0.41287);
  EXPECT_EQ(read("7,,cycles,5,100,00,3,335,GHz\n").warnings.at(0).message,
            "the file was read as having decimal commas");
}

TEST(PerfStatImportTest, CgroupsAreProfilesOfTheirOwn) {
  const auto profiles = read_perf_stat(
      "13,,cycles,system.slice/web.service,5,62.50,3.3,GHz\n20,,instructions,system.slice/web.service,5,62.50,,\n"
      "9,,cycles,system.slice/db.service,5,62.50,3.3,GHz\n4,,instructions,system.slice/db.service,5,62.50,,\n",
      "svc.csv");
  ASSERT_TRUE(profiles.ok()) << to_text(profiles.error());
  ASSERT_EQ(profiles->size(), 2u);
  EXPECT_EQ((*profiles)[0].program, "svc.system_slice_db_service");
  EXPECT_EQ((*profiles)[0].profile.metrics.at("hw_cycles_count"), 9);
  EXPECT_EQ((*profiles)[1].program, "svc.system_slice_web_service");
  EXPECT_EQ((*profiles)[1].profile.metrics.at("hw_instructions_count"), 20);
  EXPECT_EQ((*profiles)[1].profile.warnings.size(), 2u);
}

TEST(PerfStatImportTest, ASummaryStandsForItsIntervals) {
  EXPECT_EQ(read("     1.001,10,,cycles,5,100.00,,\n     2.001,30,,cycles,5,100.00,,\n         summary,40,,cycles,9,"
                 "100.00,,\n")
                .metrics.at("hw_cycles_count"),
            40);
  // As perf wrote it at first, and with --no-csv-summary.
  EXPECT_EQ(read("1.001;10;;cycles;5;100.00;;\n2.001;30;;cycles;5;100.00;;\n40;;cycles;9;100.00;;\n")
                .metrics.at("hw_cycles_count"),
            40);
  EXPECT_EQ(read("{\"interval\" : 1.001, \"counter-value\" : \"10.0\", \"event\" : \"cycles\"}\n"
                 "{\"counter-value\" : \"25.0\", \"event\" : \"cycles\"}\n")
                .metrics.at("hw_cycles_count"),
            25);
}

TEST(PerfStatImportTest, KindsOfCoresCountByTheirShareOfTheTime) {
  // The program ran 60% of its time on fast cores, 40% on slow ones; perf scaled both to all of its time.
  const Profile moved = read("1000,,cpu_core/cycles/,60,60.00,,\n500,,cpu_atom/cycles/,40,40.00,,\n");
  EXPECT_DOUBLE_EQ(moved.metrics.at("hw_cycles_count"), 800);
  ASSERT_EQ(moved.warnings.size(), 1u);
  EXPECT_EQ(moved.warnings[0].code, "hybrid-cores");
  // Counters were shared among events as well: half of the time on each kind is unseen.
  const Profile shared = read("1000,,cpu_core/cycles/,30,30.00,,\n500,,cpu_atom/cycles/,20,20.00,,\n");
  EXPECT_DOUBLE_EQ(shared.metrics.at("hw_cycles_count"), 800);
  EXPECT_EQ(shared.warnings[0].code, "multiplexed");
  // All CPUs of the machine: both kinds counted all of the time.
  EXPECT_EQ(
      read("1000,,cpu_core/cycles/,60,100.00,,\n500,,cpu_atom/cycles/,60,100.00,,\n").metrics.at("hw_cycles_count"),
      1500);
}

TEST(PerfStatImportTest, ReadsJsonOfOtherLocales) {
  const Profile profile = read(
      "{\"counter-value\" : \"412,870000\", \"unit\" : \"msec\", \"event\" : \"task-clock\", \"event-runtime\" : "
      "412870123, \"pcnt-running\" : 100,00, \"metric-value\" : \"0,998\", \"metric-unit\" : \"CPUs utilized\"}\n"
      "{\"counter-value\" : \"2011741096,000000\", \"event\" : \"instructions\", \"pcnt-running\" : 75,08}\n");
  EXPECT_DOUBLE_EQ(profile.metrics.at("hw_task_clock_s"), 0.41287);
  EXPECT_EQ(profile.metrics.at("hw_instructions_count"), 2011741096);
  EXPECT_THAT(profile.warnings.at(0).message, HasSubstr("instructions for 75.1%"));
}

// What perf prints for people, in every locale.
TEST(PerfStatImportTest, ReadsReportsForPeople) {
  struct Locale {
    const char *decimal, *grouping;
  };
  for (const Locale& locale :
       {Locale{".", ","}, {",", "."}, {",", "\u202f"}, {",", "\u00a0"}, {".", "'"}, {",", " "}, {".", ""}}) {
    for (const bool repeated : {false, true}) {
      const std::string point = locale.decimal;
      const std::string text = fmt::format(
          "# started on Tue Jun  1 09:00:00 2021\n\n\n Performance counter stats for './solver -n 8':\n\n"
          "            412{p}87 msec task-clock                #    0{p}998 CPUs utilized{s}\n"
          "     1{g}376{g}827{g}291      cycles                    #    3{p}335 GHz{s}                      "
          "(75{p}08%)\n"
          "     2{g}011{g}741{g}096      instructions:u            #    1{p}46  insn per cycle\n"
          "   <not supported>      LLC-loads\n\n"
          "       0{p}413658212 seconds time elapsed\n\n       0{p}410000000 seconds user\n",
          fmt::arg("p", point), fmt::arg("g", locale.grouping),
          fmt::arg("s", repeated ? "   ( +-  0" + point + "42% )" : std::string()));
      const Profile profile = read(text);
      EXPECT_DOUBLE_EQ(profile.metrics.at("hw_task_clock_s"), 0.41287) << text;
      EXPECT_EQ(profile.metrics.at("hw_cycles_count"), 1376827291) << text;
      EXPECT_EQ(profile.metrics.at("hw_instructions_count"), 2011741096) << text;
      EXPECT_DOUBLE_EQ(profile.metrics.at("wall_s"), 0.413658212) << text;
      EXPECT_EQ(profile.missing.at("hw_llc_loads_count"), "not supported");
      EXPECT_THAT(profile.warnings.at(0).message, HasSubstr("cycles for 75.1%"));
    }
  }
  EXPECT_EQ(read_perf_stat(" Performance counter stats for 'x':\n 1.001 2,300 cycles task more\n", "x").error().where,
            "x:2");
  // Of -I: a time and a count.
  EXPECT_EQ(read_perf_stat(" Performance counter stats for 'x':\n 1.001036  2,300  cycles\n", "x").error().code,
            "bad-perf-stat");
}

TEST(PerfStatImportTest, ADamagedNumberOfAReportStopsTheImport) {
  for (const char* line : {"6x,234      instructions", "x6,234      instructions", "nan      instructions",
                           "abc msec task-clock", "6,2E34      instructions:u", "6.25      instructions"}) {
    const auto result = read_perf_stat(
        std::string(" Performance counter stats for 'x':\n\n  7,001      cycles\n  ") + line + "\n", "x");
    ASSERT_FALSE(result.ok()) << line;
    EXPECT_EQ(result.error().code, "bad-perf-stat") << line;
    EXPECT_EQ(result.error().where, "x:4") << line;
  }
  // Sentences of perf are no counters.
  EXPECT_EQ(read(" Performance counter stats for 'x':\n\n  7,001      cycles\n"
                 "             TopdownL1 (cpu_core)       #     21.4 %  tma_backend_bound\n"
                 "                                        #     40.2 %  tma_retiring      (75.08%)\n\n"
                 "Some events weren't counted. Try disabling the NMI watchdog:\n"
                 "\techo 0 > /proc/sys/kernel/nmi_watchdog\n\tperf stat ...\n")
                .metrics.at("hw_cycles_count"),
            7001);
}

TEST(PerfStatImportTest, ReadsReportsOfRepeatedRuns) {
  const Profile profile = read(
      " Performance counter stats for 'sort big' (3 runs):\n\n"
      "            821.37 msec task-clock                #    0.992 CPUs utilized            ( +-  8.31% )\n"
      "     2,011,741,096      cycles                    #    2.449 GHz                      ( +-  1.20% )  (75.08%)\n"
      "                61      page-faults                                                   ( +-  1.64% )\n\n"
      "# Table of individual measurements:\n           0.7600 (-0.0676) ##\n           0.8952 (+0.0676) ##\n\n"
      "# Final result:\n"
      "            0.8276 +- 0.0683 seconds time elapsed  ( +-  8.26% )\n");
  EXPECT_DOUBLE_EQ(profile.metrics.at("hw_task_clock_s"), 0.82137);
  EXPECT_EQ(profile.metrics.at("hw_cycles_count"), 2011741096);
  EXPECT_EQ(profile.metrics.at("hw_page_faults_count"), 61);
  EXPECT_DOUBLE_EQ(profile.metrics.at("wall_s"), 0.8276);
  for (const auto& [name, value] : profile.metrics) EXPECT_FALSE(name.starts_with("perf_")) << name;
  EXPECT_THAT(profile.warnings.at(0).message, HasSubstr("cycles for 75.1%"));
}

TEST(PerfStatImportTest, ReadsReportsOfIntervals) {
  const std::string lines =
      "#           time             counts unit events\n"
      "     0.100236240             100.25 msec task-clock                #    1.003 CPUs utilized\n"
      "     0.100236240              1,003      page-faults\n"
      "     0.100236240      <not supported>      LLC-loads\n"
      "#           time             counts unit events\n"
      "     0.200487110             100.50 msec task-clock                #    1.003 CPUs utilized\n"
      "     0.200487110                  7      page-faults\n"
      "     0.200487110      <not supported>      LLC-loads\n";
  const Profile profile = read(lines);
  EXPECT_DOUBLE_EQ(profile.metrics.at("hw_task_clock_s"), 0.20075);
  EXPECT_EQ(profile.metrics.at("hw_page_faults_count"), 1010);
  EXPECT_EQ(profile.missing.at("hw_llc_loads_count"), "not supported");
  EXPECT_FALSE(profile.metrics.contains("wall_s"));
  // --summary: the sum stands for them.
  const Profile summary = read(lines +
                               "\n Performance counter stats for 'x':\n\n             1,011      page-faults\n\n"
                               "       0.213658212 seconds time elapsed\n");
  EXPECT_EQ(summary.metrics.at("hw_page_faults_count"), 1011);
  EXPECT_DOUBLE_EQ(summary.metrics.at("wall_s"), 0.213658212);
  EXPECT_EQ(read_perf_stat(lines + "     0.300000001      1x,003      page-faults\n", "x").error().where, "x:9");
  // Of -A.
  EXPECT_EQ(
      read_perf_stat("#           time CPU             counts unit events\n     0.1 CPU0     5      cycles\n", "x")
          .error()
          .where,
      "x:2");
}

TEST(PerfStatImportTest, OtherTextIsAnErrorWithItsLine) {
  auto result = read_perf_stat("10,,cycles,5,100.00,,\nhello\n", "x.csv");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "bad-perf-stat");
  EXPECT_EQ(result.error().where, "x.csv:2");
  EXPECT_EQ(read_perf_stat("{\"event\": }\n", "x").error().code, "bad-json");
  EXPECT_EQ(read_perf_stat("[1]\n", "x").error().code, "bad-perf-stat");
  const auto foreign = read_perf_stat("{\n  \"schema\": \"x/1\"\n}\n", "x.json");
  EXPECT_EQ(foreign.error().code, "bad-perf-stat");
  EXPECT_EQ(foreign.error().where, "x.json");
  EXPECT_EQ(read_perf_stat("", "x").error().code, "no-rows");
  EXPECT_EQ(read_perf_stat("<not supported>,,cycles,0,0.00,,\n", "x").error().code, "no-rows");
}

TEST(PerfStatImportTest, AFolderGivesAProfileForEachFile) {
  std::string folder = testing::TempDir() + "perfcast-perf-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  EXPECT_EQ(import_perf_stat(folder, ProgramCatalogue()).error().code, "file-not-found");
  ASSERT_TRUE(write_file_atomically(folder + "/a.csv", "10,,cycles,5,100.00,,\n<not counted>,,branches,5,0,,\n").ok());
  ASSERT_TRUE(write_file_atomically(folder + "/b.csv", "20,,cycles,5,100.00,,\n").ok());
  ASSERT_TRUE(write_file_atomically(folder + "/c.csv", "# program: a\n30,,cycles,5,100.00,,\n").ok());
  const auto result = import_perf_stat(folder, ProgramCatalogue());
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  ASSERT_EQ(result->corpus.profiles.size(), 2u);
  EXPECT_EQ(result->corpus.profiles[0].profile.metrics.at("hw_cycles_count"), 10);
  EXPECT_THAT(result->report.unknown_programs, ElementsAre("a", "b"));
  ASSERT_EQ(result->corpus.exclusions.size(), 2u);
  EXPECT_EQ(result->corpus.exclusions[0].reason, "not counted");
  EXPECT_THAT(result->corpus.exclusions[1].reason, HasSubstr("a second one of the same program and host"));
  auto store = CorpusStore::open(":memory:");
  ASSERT_TRUE((*store)->replace_sources(result->corpus).ok());
  EXPECT_EQ((*store)->load()->profiles.size(), 2u);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace perfcast::program
