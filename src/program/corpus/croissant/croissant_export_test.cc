#include "program/corpus/croissant/croissant_export.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "program/corpus/croissant/croissant_check.h"
#include "program/corpus/croissant/croissant_tables.h"
#include "program/corpus/importers/import.h"
#include "program/corpus/importers/profile_importer.h"
#include "program/corpus/importers/table_importer.h"
#include "program/corpus/program_catalogue.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;
using testing::Not;

Corpus example_corpus() {
  Corpus corpus;
  corpus.sources = {
      {"lab", "https://example.org/lab", "CC-BY-4.0", "2026-01-01T00:00:00Z", "two\nlines, and \"quotes\""},
      {"other", "", "CC0-1.0", "", ""}};
  for (const char* name : {"Box, the first", "Box B"}) {
    Platform platform;
    platform.name = name;
    platform.id = slug(name);
    platform.vendor = "AMD";
    platform.arch = "x86_64";
    platform.cpu_family = 25;
    platform.facts = {{"l2_bytes", 524288}, {"max_hz", 3.1e9}};
    platform.source = "lab";
    corpus.platforms.push_back(platform);
  }
  const std::string a = corpus.platforms[0].id, b = corpus.platforms[1].id;
  corpus.servers = {{"cloud", "m1", a, 4, 16, std::nullopt, std::nullopt, "lab", {{"l3_bytes", 1e6}}}};
  for (const char* name : {"sort.quick", "sort.heap", "scan"}) {
    Program program;
    program.id = name;
    program.family = program.id.substr(0, 4);
    program.group = "user";
    program.source = "lab";
    corpus.programs.push_back(program);
    Profile profile;
    profile.program = name;
    profile.host.name = "Box B";
    profile.exit_code = 0;
    profile.metrics = {{"instructions_count", 1e9 + static_cast<double>(program.id.size())},
                       {"loads_count", 1.0 / 3e-8}};
    if (program.id != "scan") profile.metrics["branches_count"] = 7e7;
    if (program.id != "scan") corpus.profiles.push_back({name, profile, "lab"});
  }
  corpus.runs = {{"sort.quick", a, "cloud/m1", 1, 0.1, 3.5, "lab"},
                 {"sort.quick", a, "", 1, 0.2, std::nullopt, "lab"},
                 {"sort.quick", b, "", 1, 1.0 / 3, std::nullopt, "other", 7, 0.25},
                 {"sort.heap", a, "", 1, 0.4, std::nullopt, "lab"},
                 {"scan", b, "", 0, 2, std::nullopt, "lab"}};
  corpus.machine_runs = {{"scan", a, "cloud/m1", 4, 0.5, "lab"}};
  corpus.exclusions = {{"lab", "value", "zero", 3}};
  return corpus;
}

CroissantInfo example_info() {
  CroissantInfo info;
  info.name = "Example set";
  info.license = "https://creativecommons.org/licenses/by/4.0/";
  info.url = "https://example.org/set";
  info.creator = "Example Lab";
  info.date_published = "2026-11-24";
  return info;
}

class CroissantExport : public testing::Test {
 protected:
  void SetUp() override {
    work_ = testing::TempDir() + "perfcast-export-XXXXXX";
    ASSERT_NE(mkdtemp(work_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(work_); }
  std::string read(const std::string& name) const { return *read_file(work_ + "/set/" + name); }
  std::string work_;
};

TEST_F(CroissantExport, KeepsTheRules) {
  ASSERT_TRUE(write_croissant(example_corpus(), example_info(), work_ + "/set/").ok());
  const auto check = check_croissant_folder(work_ + "/set");
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->findings.mistakes(), 0) << to_text(*check, "set");
  EXPECT_EQ(check->findings.advice(), 0) << to_text(*check, "set");
  EXPECT_EQ(check->record_sets, 12);
  EXPECT_EQ(check->files, 14) << "the tables, profiles.jsonl and samples.json";
  EXPECT_EQ(check->read_files, 14);
  const auto json = parse_json(read("croissant.json"), "croissant.json");
  ASSERT_TRUE(json.ok());
  EXPECT_THAT((*json)["description"].get<std::string>(),
              HasSubstr("lab, https://example.org/lab (CC-BY-4.0); other (CC0-1.0)"));
  EXPECT_EQ((*json)["isBasedOn"].size(), 2U);
  EXPECT_THAT((*json)["citeAs"].get<std::string>(), HasSubstr("@misc{example-set, title = {Example set}"));
  // Nothing else is left beside it.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(work_), {}), 1);
}

TEST_F(CroissantExport, EachColumnIsDescribed) {
  for (const PublishedTable& table : published_tables(example_corpus())) {
    const auto csv = CsvTable::parse(table.csv, table.name);
    ASSERT_TRUE(csv.ok()) << table.name;
    std::vector<std::string> described;
    for (const PublishedColumn& column : table.columns) described.push_back(column.name);
    EXPECT_EQ(csv->columns(), described) << table.name;
  }
}

TEST_F(CroissantExport, MissingIsBlank) {
  ASSERT_TRUE(write_croissant(example_corpus(), example_info(), work_ + "/set").ok());
  const auto samples = CsvTable::parse(read("samples.csv"), "samples.csv");
  ASSERT_TRUE(samples.ok());
  EXPECT_EQ(samples->rows(), 2U) << "scan has no profile";
  EXPECT_EQ(samples->cell(1, *samples->column("box-b_time_s")), "") << "sort.heap was not timed there";
  EXPECT_THAT(read("runs.csv"), Not(HasSubstr("nan")));
}

// What was published can be read again: times as medians, counters to the last digit.
TEST_F(CroissantExport, ComesBackByTheTableImporter) {
  const Corpus corpus = example_corpus();
  ASSERT_TRUE(write_croissant(corpus, example_info(), work_ + "/set").ok());
  const auto back = import_table_path(work_ + "/set/samples.json", ProgramCatalogue());
  ASSERT_TRUE(back.ok()) << to_text(back.error());
  TableOptions all;
  all.minimum_coverage = 0;
  const auto before = make_training_table(corpus, all), after = make_training_table(back->corpus, all);
  ASSERT_TRUE(before.ok() && after.ok());
  ASSERT_EQ(after->programs.size(), before->programs.size());
  ASSERT_EQ(after->platforms.size(), before->platforms.size());
  for (size_t p = 0; p < before->programs.size(); ++p) {
    // One segment of an id: its dots go.
    std::string segment = before->programs[p].id;
    std::replace(segment.begin(), segment.end(), '.', '_');
    EXPECT_EQ(after->programs[p].id, "example-set." + segment);
    EXPECT_EQ(after->programs[p].family, before->programs[p].family);
    for (const auto& [name, value] : before->profiles[p].metrics) {
      EXPECT_EQ(after->profiles[p].metrics.at(name), value) << name;
    }
    for (size_t j = 0; j < before->platforms.size(); ++j) {
      EXPECT_EQ(after->platforms[j].name, before->platforms[j].name);
      EXPECT_EQ(after->platforms[j].facts, before->platforms[j].facts);
      ASSERT_EQ(after->at(p, j).has_value(), before->at(p, j).has_value());
      if (!before->at(p, j)) continue;
      EXPECT_NEAR(after->at(p, j)->log_time, before->at(p, j)->log_time, 1e-15);
    }
  }
}

TEST_F(CroissantExport, ProfilesComeBackWhole) {
  const Corpus corpus = example_corpus();
  ASSERT_TRUE(write_croissant(corpus, example_info(), work_ + "/set").ok());
  const auto back = import_profiles(work_ + "/set/profiles.jsonl", ProgramCatalogue());
  ASSERT_TRUE(back.ok()) << to_text(back.error());
  ASSERT_EQ(back->corpus.profiles.size(), corpus.profiles.size());
  for (size_t i = 0; i < corpus.profiles.size(); ++i) {
    EXPECT_EQ(back->corpus.profiles[i].profile, corpus.profiles[i].profile);
  }
}

TEST_F(CroissantExport, NothingIsOverwritten) {
  std::filesystem::create_directory(work_ + "/set");
  ASSERT_TRUE(write_croissant(example_corpus(), example_info(), work_ + "/set").ok()) << "an empty folder is fine";
  EXPECT_EQ(write_croissant(example_corpus(), example_info(), work_ + "/set").error().code, "folder-not-empty");
  ASSERT_TRUE(write_file_atomically(work_ + "/file", "x").ok());
  EXPECT_EQ(write_croissant(example_corpus(), example_info(), work_ + "/file").error().code, "folder-not-empty");
  EXPECT_EQ(*read_file(work_ + "/file"), "x");
}

TEST_F(CroissantExport, AllThatIsMissingAtOnce) {
  CroissantInfo info;
  info.date_published = "soon";
  info.url = "example";
  const Status status = write_croissant(example_corpus(), info, work_ + "/set");
  ASSERT_FALSE(status.ok());
  for (const char* part :
       {"--name is missing", "--license is missing", "--creator is missing", "--url is no URL", "--date"}) {
    EXPECT_THAT(status.error().message, HasSubstr(part));
  }
  EXPECT_FALSE(std::filesystem::exists(work_ + "/set"));
}

TEST_F(CroissantExport, CommonLicence) {
  Corpus corpus = example_corpus();
  EXPECT_EQ(common_licence(corpus), "");
  corpus.sources[1].licence = "CC-BY-4.0";
  EXPECT_EQ(common_licence(corpus), "CC-BY-4.0");
  corpus.sources[1].licence = "";
  EXPECT_EQ(common_licence(corpus), "");
}

TEST_F(CroissantExport, IntoTheWorkingFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(work_);
  const Status written = write_croissant(example_corpus(), example_info(), "set");
  std::filesystem::current_path(before);
  EXPECT_TRUE(written.ok());
  EXPECT_TRUE(std::filesystem::exists(work_ + "/set/croissant.json"));
}

TEST_F(CroissantExport, AnEmptyCorpusToo) {
  ASSERT_TRUE(write_croissant(Corpus(), example_info(), work_ + "/set").ok());
  const auto check = check_croissant_folder(work_ + "/set");
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->findings.mistakes(), 0) << to_text(*check, "set");
}

}  // namespace
}  // namespace perfcast::program
