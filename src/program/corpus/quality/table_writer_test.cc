#include "program/corpus/quality/table_writer.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"

namespace perfcast::program {
namespace {

TEST(TableWriterTest, WritesTablesThatReadBack) {
  Corpus corpus;
  corpus.sources = {{"s", "u", "CC0", "2026", "two\nlines"}};
  Platform platform;
  platform.id = "p";
  platform.name = "Core (Broadwell, no TSX)";
  platform.facts["max_hz"] = 3.1e9;
  platform.flags = {"aes", "avx2"};
  corpus.platforms = {platform};
  corpus.runs = {{"a", "p", "v/s", 1, 0.1, std::nullopt, "s"}, {"a", "p", "v/t", 0, 1.0 / 3, 2.5, "s", 7, 0.25}};
  StoredProfile stored;
  stored.program = "a";
  stored.source = "s";
  stored.profile.program = "a";
  corpus.profiles = {stored, stored};

  std::string folder = testing::TempDir() + "perfcast-tables-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  ASSERT_TRUE(write_tables(corpus, folder + "/deep/er").ok());
  const auto read = [&](const std::string& name) { return *read_file(folder + "/deep/er/" + name); };
  EXPECT_EQ(read("runs.csv"),
            "program,platform,server,threads_count,time_s,energy_joules,source,results_count,spread_ratio\n"
            "a,p,v/s,1,0.1,,s,,\n"
            "a,p,v/t,0,0.3333333333333333,2.5,s,7,0.25\n");
  EXPECT_EQ(read("facts.csv"), "platform,fact,value\np,max_hz,3100000000\n");
  const auto platforms = CsvTable::parse(read("platforms.csv"), "platforms.csv");
  ASSERT_TRUE(platforms.ok());
  EXPECT_EQ(platforms->cell(0, *platforms->column("name")), "Core (Broadwell, no TSX)");
  EXPECT_EQ(platforms->cell(0, *platforms->column("cpu_family")), "");
  const auto sources = CsvTable::parse(read("sources.csv"), "sources.csv");
  ASSERT_TRUE(sources.ok());
  EXPECT_EQ(sources->cell(0, *sources->column("note")), "two\nlines");
  const std::string profiles = read("profiles.jsonl");
  EXPECT_EQ(std::count(profiles.begin(), profiles.end(), '\n'), 2);
  const auto first = parse_json(profiles.substr(0, profiles.find('\n')), "profiles.jsonl");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*first)["profile"]["schema"], kProfileSchema);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace perfcast::program
