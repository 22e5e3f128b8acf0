#include "profile/suite/suite.h"

#include <gmock/gmock.h>

#include <cctype>
#include <map>
#include <set>

#include "base/csv.h"
#include "base/file.h"

namespace perfcast {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string suite_with(const std::string& programs) {
  return R"({"schema": "perfcast.suite/1", "name": "s", "groups": [{"id": "user", "text": "u"}],
             "rules": [{"id": "no-work", "text": "n"}], "programs": [)" +
         programs + "]}";
}

const std::string kSort = R"({"id": "sort", "family": "sort", "group": "user", "work_unit": "operation",
  "run": {"tool": "stress-ng", "stressor": "heapsort", "operations": 4, "native_operations": 15}})";

TEST(Suite, ReadsAProgram) {
  const auto suite = parse_suite(suite_with(kSort), "s.json");
  ASSERT_TRUE(suite.ok()) << to_text(suite.error());
  ASSERT_EQ(suite->programs.size(), 1u);
  const SuiteProgram& program = suite->programs[0];
  EXPECT_EQ(program.program.suite, "s");
  EXPECT_EQ(program.run.stressor, "heapsort");
  EXPECT_EQ(program.run.operations, 4);
  EXPECT_EQ(program.run.native_operations, 15);
  EXPECT_EQ(suite->find("sort"), &program);
  EXPECT_EQ(suite->find("sorter"), nullptr);
}

TEST(Suite, SaysAllThatIsWrongWithARun) {
  const auto suite = parse_suite(suite_with(R"({"id": "x", "family": "x", "group": "user", "work_unit": "byte",
    "run": {"tool": "harness", "mode": "compres", "algorithm": "gzip", "repeats": 0, "native_repeats": 2}})"),
                                 "s.json");
  ASSERT_FALSE(suite.ok());
  const std::string text = to_text(suite.error());
  EXPECT_THAT(text, AllOf(HasSubstr("s.json.programs[0].run"), HasSubstr("compres"), HasSubstr("openssl"),
                          HasSubstr("repeats"), HasSubstr("a whole number above 0")));
}

TEST(Suite, RefusesUnknownGroupsRulesAndSecondIds) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kSort;
    text.replace(text.find(from), from.size(), to);
    return to_text(parse_suite(suite_with(text), "s").error());
  };
  EXPECT_THAT(with("\"user\"", "\"users\""), AllOf(HasSubstr("'users'"), HasSubstr("one of user")));
  EXPECT_THAT(with("\"run\"", "\"excluded\": \"dull\", \"run\""), AllOf(HasSubstr("'dull'"), HasSubstr("no-work")));
  EXPECT_THAT(to_text(parse_suite(suite_with(kSort + "," + kSort), "s").error()), HasSubstr("'sort' again"));
  EXPECT_EQ(
      parse_suite(R"({"schema": "perfcast.suite/2", "name": "s", "groups": [], "programs": []})", "s").error().code,
      "future-version");
}

TEST(Suite, ErrorsSayWhatAFileHolds) {
  const auto text_of = [](const std::string& json) { return to_text(parse_suite(json, "s.json").error()); };
  EXPECT_THAT(text_of("{}"),
              AllOf(HasSubstr("schema"), HasSubstr(R"("schema": "perfcast.suite/1")"),
                    HasSubstr(R"("groups": [{"id": "application", "text")"), HasSubstr("docs/collect.md")));
  EXPECT_THAT(text_of(R"({"schema": "mine", "name": "s", "groups": [], "programs": []})"),
              HasSubstr(R"("schema": "perfcast.suite/1")"));
  EXPECT_THAT(text_of(R"({"schema": "perfcast.suite/1", "name": "s", "groups": ["user"], "programs": []})"),
              AllOf(HasSubstr("s.json.groups[0]"), HasSubstr(R"({"id": "application", "text": "what they are"})")));
  // No list of nothing.
  EXPECT_THAT(
      text_of(R"({"schema": "perfcast.suite/1", "name": "s", "groups": [], "programs": [)" + kSort + "]}"),
      HasSubstr(R"(an id of the file's groups, which has none: "groups": [{"id": "user", "text": "what it means"}])"));
}

TEST(Suite, ReadsACommandWithItsPreparation) {
  const auto with = [](const std::string& prepare) {
    return parse_suite(suite_with(R"({"id": "x", "family": "x", "group": "user", "work_unit": "run",
      "run": {"tool": "command", "needs": ["/usr/include/zlib.h"], "packages": ["gcc", "zlib1g-dev"],
              "command": ["{work}/x"], "prepare": )" +
                                  prepare + "}}"),
                       "s.json");
  };
  const auto suite = with(R"([["cc", "{suite}/x.c"], ["strip", "{work}/x"]])");
  ASSERT_TRUE(suite.ok()) << to_text(suite.error());
  const SuiteRun& run = suite->programs[0].run;
  EXPECT_EQ(run.input_bytes, 0);
  EXPECT_THAT(run.prepare, ElementsAre(ElementsAre("cc", "{suite}/x.c"), ElementsAre("strip", "{work}/x")));
  EXPECT_THAT(run.needs, ElementsAre("/usr/include/zlib.h"));
  EXPECT_THAT(run.packages, ElementsAre("gcc", "zlib1g-dev"));

  const auto one = with(R"(["cc", "x.c"])");
  ASSERT_TRUE(one.ok()) << to_text(one.error());
  EXPECT_THAT(one->programs[0].run.prepare, ElementsAre(ElementsAre("cc", "x.c")));
  for (const char* wrong : {R"([["cc"], "x.c"])", R"([["cc"], []])", R"([["cc", 3]])", R"("cc x.c")"}) {
    EXPECT_THAT(to_text(with(wrong).error()), HasSubstr("s.json.programs[0].run.prepare")) << wrong;
  }
}

TEST(Suite, MatchesPatterns) {
  EXPECT_TRUE(matches_pattern("compress.*", "compress.gzip.9.c"));
  EXPECT_TRUE(matches_pattern("*.gzip.?.c", "compress.gzip.9.c"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("stressng.cpu", "stressng.cpu"));
  EXPECT_FALSE(matches_pattern("stressng.cpu", "stressng.cpu-sched"));
  EXPECT_FALSE(matches_pattern("*.d", "compress.gzip.9.c"));
  EXPECT_FALSE(matches_pattern("?", ""));
  EXPECT_FALSE(matches_pattern("*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

class ShippedSuite : public testing::Test {
 protected:
  static const Suite& suite() {
    static const Suite kSuite = [] {
      auto read = read_suite(PERFCAST_SOURCE_DIR "/data/suites/cloud.json");
      EXPECT_TRUE(read.ok()) << to_text(read.error());
      return read.ok() ? *read : Suite();
    }();
    return kSuite;
  }
};

TEST_F(ShippedSuite, StatesARuleWithEvidenceForEachExclusion) {
  std::set<std::string> excluded;
  for (const SuiteProgram& entry : suite().programs) {
    if (entry.program.excluded.empty()) continue;
    excluded.insert(entry.program.id);
    EXPECT_FALSE(entry.evidence.empty()) << entry.program.id;
  }
  for (const char* name : {"stressng.stream", "stressng.l1cache", "stressng.cache", "stressng.memrate",
                           "stressng.cachehammer", "stressng.cacheline", "stressng.vm", "stressng.nop"}) {
    EXPECT_THAT(excluded, Contains(name));
  }
}

// "geekbench6.Photo Library" belongs to gb-photo-library, and to variants such as gb-photo-library-mozjpeg.
std::string name_of_workload(std::string label) {
  label = "gb-" + label.substr(label.find('.') + 1);
  for (char& c : label) c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return label;
}

// A family stands on one side of a split: all levels, directions and block sizes of one program belong together.
TEST_F(ShippedSuite, KeepsLevelsAndDirectionsInOneFamily) {
  for (const SuiteProgram& entry : suite().programs) {
    if (entry.program.group == "compressor") {
      EXPECT_THAT(entry.program.id, testing::StartsWith("compress." + entry.program.family + ".")) << entry.program.id;
    }
  }
  EXPECT_EQ(suite().find("stressng.fork")->program.family, suite().find("stressng.vfork")->program.family);
  EXPECT_EQ(suite().find("stressngfull.cpu")->program.family, suite().find("stressng.cpu")->program.family);
}

TEST_F(ShippedSuite, KnowsEveryLabelOfOneThread) {
  const std::string path = PERFCAST_SHARED_DATA "/sparecores/columns.csv";
  const auto text = read_file(path);
  if (!text) GTEST_SKIP() << "no labels at " << path;
  const auto table = CsvTable::parse(*text, path);
  ASSERT_TRUE(table.ok());
  std::set<std::string> labels;
  for (const SuiteProgram& entry : suite().programs) labels.insert(entry.label);
  for (size_t row = 0; row < table->rows(); ++row) {
    const std::string name(table->cell(row, 0));
    const bool stressor = name.starts_with("stressng") && name.ends_with(".1");
    const bool compressor = name.starts_with("compress.") && (name.ends_with(".1.c") || name.ends_with(".1.d"));
    if (stressor || compressor || name.starts_with("openssl.")) {
      EXPECT_THAT(labels, Contains(name));
    }
  }
}

TEST(ApplicationSuite, SaysWhatDiffersFromEachTest) {
  const auto suite = read_suite(PERFCAST_SOURCE_DIR "/data/suites/apps.json");
  ASSERT_TRUE(suite.ok()) << to_text(suite.error());
  EXPECT_EQ(suite->folder, PERFCAST_SOURCE_DIR "/data/suites/apps");
  EXPECT_GE(suite->programs.size(), 25u);
  std::set<std::string> tests;
  std::set<std::string> workloads;
  const std::string path = PERFCAST_SHARED_DATA "/openbenchmarking/tests.csv";
  if (const auto text = read_file(path)) {
    const auto table = CsvTable::parse(*text, path);
    ASSERT_TRUE(table.ok());
    for (size_t row = 0; row < table->rows(); ++row) tests.insert(std::string(table->cell(row, 0)));
  }
  for (const SuiteProgram& entry : suite->programs) {
    const std::string name = entry.program.id.substr(entry.program.id.find('.') + 1);
    if (entry.label.starts_with("geekbench6.")) {
      EXPECT_THAT(name, testing::StartsWith(name_of_workload(entry.label)));
      EXPECT_EQ(entry.program.family, name_of_workload(entry.label)) << entry.program.id;
      workloads.insert(entry.label);
    } else {
      EXPECT_THAT(entry.label, testing::AnyOf("pts-" + name, "system-" + name));
      if (!tests.empty()) {
        EXPECT_THAT(tests, Contains(entry.label));
      }
    }
    EXPECT_FALSE(entry.note.empty()) << entry.program.id;
    EXPECT_FALSE(entry.run.packages.empty()) << entry.program.id;
  }
  EXPECT_EQ(workloads.size(), 11u);
}

}  // namespace
}  // namespace perfcast
