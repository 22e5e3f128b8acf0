#include "program/corpus/importers/table_importer.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>

#include "base/file.h"
#include "program/corpus/importers/test_exclusions.h"
#include "program/corpus/splits.h"
#include "program/corpus/store/store.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kLong = R"({"schema": "perfcast.table/1", "name": "My Lab", "csv": "x.csv",
  "program": ["suite", "app"], "input": ["size", "mode"], "platform": "machine",
  "time": {"column": "runtime", "unit": "ms"}, "energy": {"column": "joule", "unit": "mJ"},
  "counters": [{"column": "L1 misses", "unit": "count"}, {"column": "busy", "metric": "cpu_use_ratio", "unit": "percent"},
               {"column": "hw_*", "unit": "count"}],
  "platforms": {"Box A": {"kind": "gpu", "vendor": "ACME", "facts": {"core_count": 8}}}})";
constexpr const char* kLongHeader = "suite,app,size,mode,machine,runtime,joule,L1 misses,busy,hw_cycles_count,hw_x\n";

constexpr const char* kWide = R"({"schema": "perfcast.table/1", "name": "wide", "csv": "x.csv", "program": "app",
  "family": "kind", "times": {"columns": "t_*_us", "unit": "us"},
  "energies": {"columns": {"fast": "e1"}, "unit": "Wh"}, "counters": [{"column": "ops", "unit": "count"}]})";

Result<Import> import_mapped(const std::string& mapping, const std::string& csv) {
  const auto parsed = parse_table_mapping(mapping, "map.json");
  if (!parsed) return parsed.error();
  return import_table(*parsed, csv, "x.csv");
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

TEST(TableImportTest, LongTableHasAProfileForEachRow) {
  const auto result =
      import_mapped(kLong, std::string(kLongHeader) + "npb,CG,64,fast,Box A,20,500,10,50,7,8\n" +
                               "npb,CG,64,fast,Box B,30,,20,100,9,10\n" + "npb,CG,0.5,slow,Box B,30,1,20,100,9,10\n");
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  const Corpus& corpus = result->corpus;
  EXPECT_EQ(corpus.sources[0].id, "my-lab");
  EXPECT_EQ(corpus.sources[0].licence, "not stated");
  ASSERT_EQ(corpus.programs.size(), 2u);
  EXPECT_EQ(corpus.programs[0].id, "my-lab.npb.cg.64.=fast");
  EXPECT_EQ(corpus.programs[1].id, "my-lab.npb.cg.=0p5.=slow");
  EXPECT_EQ(program_key(corpus.programs[0].id), program_key(corpus.programs[1].id));
  EXPECT_EQ(corpus.programs[0].family, "npb");
  EXPECT_EQ(corpus.programs[0].group, "user");
  ASSERT_EQ(corpus.platforms.size(), 2u);
  EXPECT_EQ(corpus.platforms[0].id, "my-lab-box-a");
  EXPECT_EQ(corpus.platforms[0].name, "Box A");
  EXPECT_EQ(corpus.platforms[0].kind, "gpu");
  EXPECT_THAT(corpus.platforms[0].facts, UnorderedElementsAre(Pair("core_count", 8)));
  ASSERT_EQ(corpus.runs.size(), 3u);
  const auto& run = corpus.runs[0].platform == "my-lab-box-a" ? corpus.runs[0] : corpus.runs[1];
  EXPECT_DOUBLE_EQ(run.time_s, 0.02);
  for (const auto& each : corpus.runs) {
    if (each.platform == "my-lab-box-a") {
      EXPECT_DOUBLE_EQ(*each.energy_joules, 0.5);
    }
  }
  ASSERT_EQ(corpus.profiles.size(), 3u);
  EXPECT_EQ(corpus.profiles[0].profile.host.name, "Box A");
  EXPECT_THAT(corpus.profiles[0].profile.metrics,
              UnorderedElementsAre(Pair("table_l1_misses_count", 10), Pair("cpu_use_ratio", 0.5),
                                   Pair("hw_cycles_count", 7), Pair("table_hw_x_count", 8)));
  EXPECT_EQ(excluded(*result, "energy", "blank"), 1);
}

TEST(TableImportTest, NamesMayBeOfAnyScript) {
  const auto result = import_mapped(
      R"({"schema": "perfcast.table/1", "name": "lab", "csv": "x.csv", "program": "app", "platform": "machine",
          "time": {"column": "t", "unit": "s"}})",
      "app,machine,t\nGr\u00f6\u00dfe,\u041c\u0430\u0448\u0438\u043d\u0430,1\n\u65e5\u672c,"
      "\u041c\u0430\u0448\u0438\u043d\u0430,2\n"
      "\u65e5\u672c,Box \u65e5,3\n");
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  const Corpus& corpus = result->corpus;
  ASSERT_EQ(corpus.programs.size(), 2u);
  EXPECT_EQ(corpus.programs[0].id, "lab.gr\u00f6\u00dfe");
  EXPECT_EQ(corpus.programs[1].id, "lab.\u65e5\u672c");
  ASSERT_EQ(corpus.platforms.size(), 2u);
  EXPECT_EQ(corpus.platforms[0].id, "lab-\u041c\u0430\u0448\u0438\u043d\u0430");
  EXPECT_EQ(corpus.platforms[1].id, "lab-box-\u65e5");
  EXPECT_EQ(corpus.runs.size(), 3u);
}

TEST(TableImportTest, WideTableHasATimeColumnForEachPlatform) {
  const auto result =
      import_mapped(kWide, "kind,app,t_fast_us,t_slow_us,e1,ops\nsort,quick,10,20,1,5\nsort,heap,12,,,\n");
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  const Corpus& corpus = result->corpus;
  ASSERT_EQ(corpus.programs.size(), 2u);
  EXPECT_EQ(corpus.programs[1].id, "wide.heap");
  EXPECT_EQ(corpus.programs[1].family, "sort");
  ASSERT_EQ(corpus.runs.size(), 3u);
  for (const auto& run : corpus.runs) {
    if (run.program != "wide.quick") continue;
    EXPECT_DOUBLE_EQ(run.time_s, run.platform == "wide-fast" ? 10e-6 : 20e-6);
    EXPECT_EQ(run.energy_joules.has_value(), run.platform == "wide-fast");
    if (run.energy_joules) {
      EXPECT_EQ(*run.energy_joules, 3600);
    }
  }
  ASSERT_EQ(corpus.profiles.size(), 2u);
  EXPECT_EQ(corpus.profiles[0].profile.host.name, "");
  EXPECT_EQ(corpus.profiles[1].profile.missing.at("table_ops_count"), "blank: not measured");
  EXPECT_EQ(excluded(*result, "time", "blank"), 1);
  EXPECT_EQ(excluded(*result, "counter", "blank"), 1);
  const auto on_slow = import_mapped(with(kWide, "\"family\"", "\"counters_platform\": \"slow\", \"family\""),
                                     "kind,app,t_fast_us,t_slow_us,e1,ops\nsort,quick,10,20,1,5\n");
  ASSERT_TRUE(on_slow.ok()) << to_text(on_slow.error());
  EXPECT_EQ(on_slow->corpus.profiles[0].profile.host.name, "slow");
}

TEST(TableImportTest, TimesThatAreNoneAreCounted) {
  const std::string rows =
      "s,a,1,m,A,0,1,1,1,1,1\ns,b,1,m,A,-2,1,1,1,1,1\ns,c,1,m,A,NaN,1,1,1,1,1\ns,d,1,m,A,-inf,1,1,1,1,1\n"
      "s,e,1,m,A,,1,1,1,1,1\ns,,1,m,A,1,1,1,1,1,1\ns,f,1,m,,1,1,1,1,1,1\ns,g,1,m,A,5,0,-1,1,nan,1\n";
  const auto result = import_mapped(with(kLong, "\"Box A\"", "\"A\""), kLongHeader + rows);
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  EXPECT_EQ(result->corpus.runs.size(), 1u);
  EXPECT_EQ(excluded(*result, "time", "zero"), 1);
  EXPECT_EQ(excluded(*result, "time", "negative"), 1);
  EXPECT_EQ(excluded(*result, "time", "not finite"), 2);
  EXPECT_EQ(excluded(*result, "time", "blank"), 1);
  EXPECT_EQ(excluded(*result, "row", "without a program or a platform"), 2);
  EXPECT_EQ(excluded(*result, "energy", "zero"), 1);
  EXPECT_EQ(excluded(*result, "counter", "negative"), 1);
  EXPECT_EQ(excluded(*result, "counter", "no finite number"), 1);
}

TEST(TableImportTest, MistakesInTheTableAreNamedWithTheirLine) {
  const std::string mapping = with(kLong, "\"Box A\"", "\"A\"");
  const std::string first = kLongHeader + std::string("s,a,1,m,A,5,1,1,1,1,1\n");
  auto result = import_mapped(mapping, first + "s,b,1,m,A,5 ms,1,1,1,1,1\n");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "bad-number");
  EXPECT_EQ(result.error().where, "x.csv:3");
  result = import_mapped(mapping, first + "s,b,1,m,A,5,1,1,high,1,1\n");
  EXPECT_EQ(result.error().code, "bad-number");
  result = import_mapped(mapping, first + "s,a,1,m,A,6,1,1,1,1,1\n");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "duplicate-key");
  EXPECT_EQ(result.error().where, "x.csv:3");
  EXPECT_THAT(result.error().message, HasSubstr("the first is x.csv:2"));
  result = import_mapped(mapping, first + "s,a,1,m,(a),6,1,1,1,1,1\n");
  EXPECT_EQ(result.error().code, "duplicate-key");
  result = import_mapped(kLong, first);
  EXPECT_EQ(result.error().code, "unknown-platform");
  EXPECT_EQ(result.error().kind, ErrorKind::kData);  // the mapping file is wrong, not the command line
  EXPECT_EQ(import_mapped(mapping, kLongHeader).error().code, "no-rows");
}

// A new row to be forecast: counters, and no time anywhere.
TEST(TableImportTest, RowsWithoutTimesAreProfiles) {
  const auto result = import_mapped(
      R"({"schema": "perfcast.table/1", "name": "new", "csv": "x.csv", "program": "app", "platform": "machine",
          "time": {"column": "t", "unit": "s"}, "counters": [{"column": "ops", "unit": "count"}]})",
      "app,machine,t,ops\na,A,,5000\n");
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_TRUE(result->corpus.runs.empty());
  ASSERT_EQ(result->corpus.profiles.size(), 1U);
  EXPECT_EQ(result->corpus.profiles[0].profile.metrics.at("table_ops_count"), 5000);
  EXPECT_THAT(result->report.notes, testing::Contains(HasSubstr("can be forecast, and not learned from")));
  const auto without = import_mapped(
      R"({"schema": "perfcast.table/1", "name": "new", "csv": "x.csv", "program": "app", "platform": "machine",
          "time": {"column": "t", "unit": "s"}})",
      "app,machine,t\na,A,\n");
  EXPECT_EQ(without.error().code, "no-rows");
}

TEST(TableImportTest, RepeatsAreFoldedOnRequest) {
  const auto result = import_mapped(
      with(with(kLong, "\"Box A\"", "\"A\""), "\"input\"", "\"repeats\": \"median\", \"input\""),
      kLongHeader + std::string("s,a,1,m,A,5,1,1,1,1,1\ns,a,1,m,A,7,3,2,1,1,1\ns,a,1,m,A,90,5,3,1,1,1\n"));
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  ASSERT_EQ(result->corpus.runs.size(), 1u);
  EXPECT_DOUBLE_EQ(result->corpus.runs[0].time_s, 7e-3);
  EXPECT_DOUBLE_EQ(*result->corpus.runs[0].energy_joules, 3e-3);
  ASSERT_EQ(result->corpus.profiles.size(), 1u);
  EXPECT_EQ(result->corpus.profiles[0].profile.metrics.at("table_l1_misses_count"), 1);
  EXPECT_EQ(excluded(*result, "time", "folded"), 2);
}

TEST(TableImportTest, AMissingColumnListsThoseThatAre) {
  auto result = import_mapped(with(kLong, "runtime", "run_time"), kLongHeader);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "missing-column");
  EXPECT_THAT(result.error().message, HasSubstr("'run_time', which the mapping's time names"));
  EXPECT_THAT(result.error().expected, HasSubstr("one of: suite, app, size, mode, machine, runtime, joule"));
  result = import_mapped(with(kLong, "hw_*", "papi_*"), kLongHeader);
  EXPECT_THAT(result.error().message, HasSubstr("no column matches 'papi_*', which the mapping's counters[2].column"));
}

TEST(TableImportTest, EveryMistakeOfTheMappingIsNamed) {
  const auto result = parse_table_mapping(
      R"({"schema": "perfcast.table/1", "name": "-", "csv": "x", "program": [], "platform": "p", "family": 7,
          "time": {"column": "t", "unit": "h"}, "times": {"columns": "t*", "unit": "s"}, "imput": "x",
          "counters": [{"column": "*x*"}, {"column": "c", "metric": "c_kilo", "unit": "count"},
                       {"column": "d", "metric": "d_s", "unit": "count"}]})",
      "map.json");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "bad-mapping");
  for (const char* part :
       {"map.json.name: found", "map.json.program: found []", "map.json.family: found 7",
        "map.json.time.unit: found \"h\", expected one of s, ms, us, ns", "either platform and time, or times",
        "map.json.imput: found an unknown key, expected one of input, ", "counters[0].unit: found nothing",
        "pattern with one '*'", "counters[1].metric: found \"c_kilo\"", "counters[2].unit: found \"count\""}) {
    EXPECT_THAT(result.error().message, HasSubstr(part));
  }
  EXPECT_EQ(parse_table_mapping("[]", "m").error().code, "bad-mapping");
  EXPECT_EQ(parse_table_mapping("{", "m").error().code, "bad-json");
  EXPECT_EQ(parse_table_mapping(R"({"schema": "perfcast.table/2"})", "m").error().code, "future-version");
}

TEST(TableImportTest, ReadsTheTableBesideTheMappingIntoACorpus) {
  std::string folder = testing::TempDir() + "perfcast-table-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  ASSERT_TRUE(write_file_atomically(folder + "/map.json", kWide).ok());
  EXPECT_EQ(import_table_path(folder + "/map.json", ProgramCatalogue()).error().code, "file-not-found");
  ASSERT_TRUE(write_file_atomically(folder + "/x.csv", "kind,app,t_a_us,t_b_us,e1,ops\nk,p,1,2,3,4\n").ok());
  const auto result = import_table_path(folder + "/map.json", ProgramCatalogue());
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  auto store = CorpusStore::open(":memory:");
  ASSERT_TRUE(store.ok());
  ASSERT_TRUE((*store)->replace_sources(result->corpus).ok());
  EXPECT_EQ((*store)->load()->runs.size(), 2u);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace perfcast::program
