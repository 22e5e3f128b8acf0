#include "program/corpus/importers/profile_importer.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "program/corpus/quality/table_writer.h"

namespace perfcast::program {
namespace {

class ProfileImportTest : public testing::Test {
 protected:
  ProfileImportTest() {
    std::string pattern = testing::TempDir() + "perfcast-profiles-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~ProfileImportTest() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomically(folder_ + "/" + name, text).ok());
  }

  std::string folder_;
};

Profile profile_of(const std::string& program, int exit_code) {
  Profile result;
  result.program = program;
  result.command = {program};
  result.exit_code = exit_code;
  result.metrics["instructions_count"] = 7;
  return result;
}

TEST_F(ProfileImportTest, ReadsAFolder) {
  write("b.json", perfcast::to_text(to_json(profile_of("stressng.matrix", 0))));
  write("a.json", perfcast::to_text(to_json(profile_of("compress.gzip.9.c", 0))));
  write("c.json", perfcast::to_text(to_json(profile_of("stressng.cpu", 3))));
  write("SOURCE.md", "Counters.\n- License: Apache-2.0\n");
  const auto result = import_profiles(folder_, ProgramCatalogue());
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  const Corpus& corpus = result->corpus;
  ASSERT_EQ(corpus.profiles.size(), 2u);
  EXPECT_EQ(corpus.profiles[0].program, "compress.gzip.9.c");
  EXPECT_EQ(corpus.profiles[0].profile.metrics.at("instructions_count"), 7);
  EXPECT_EQ(corpus.programs[1].family, "matrix");
  EXPECT_EQ(corpus.sources[0].licence, "Apache-2.0");
  ASSERT_EQ(corpus.exclusions.size(), 1u);
  EXPECT_EQ(corpus.exclusions[0].count, 1);
}

TEST_F(ProfileImportTest, FindsTheLicenceBesideTheFolderToo) {
  const auto licence = [&](const std::string& path) {
    const auto result = import_profiles(path, ProgramCatalogue());
    return result ? result->corpus.sources[0].licence : to_text(result.error());
  };
  std::filesystem::create_directories(folder_ + "/of/suite");
  write("of/suite/a.json", perfcast::to_text(to_json(profile_of("stressng.cpu", 0))));
  EXPECT_EQ(licence(folder_ + "/of/suite"), "not stated");
  write("of/SOURCE.md", "- Origin: our own. Licence: CC0-1.0\n");
  EXPECT_EQ(licence(folder_ + "/of/suite"), "CC0-1.0");
  EXPECT_EQ(licence(folder_ + "/of/suite/"), "CC0-1.0");
  write("of/suite/SOURCE.md", "Licence: CC BY 4.0\n");
  EXPECT_EQ(licence(folder_ + "/of/suite"), "CC BY 4.0");
}

TEST_F(ProfileImportTest, ReadsWhatExportWrites) {
  Corpus corpus;
  StoredProfile stored;
  stored.program = "stressng.matrix";
  stored.profile = profile_of("matrix", 0);
  corpus.profiles = {stored};
  ASSERT_TRUE(write_tables(corpus, folder_).ok());
  const auto result = import_profiles(folder_ + "/profiles.jsonl", ProgramCatalogue());
  ASSERT_TRUE(result.ok()) << to_text(result.error());
  ASSERT_EQ(result->corpus.profiles.size(), 1u);
  EXPECT_EQ(result->corpus.profiles[0].program, "stressng.matrix");
  EXPECT_EQ(result->corpus.profiles[0].profile.program, "matrix");
}

TEST_F(ProfileImportTest, SaysWhatIsWrong) {
  EXPECT_EQ(import_profiles(folder_, ProgramCatalogue()).error().code, "file-not-found");
  EXPECT_EQ(import_profiles(folder_ + "/absent.jsonl", ProgramCatalogue()).error().code, "file-not-found");
  write("lines.jsonl", "{\"program\": \"a\", \"profile\": {}}\n");
  EXPECT_EQ(import_profiles(folder_ + "/lines.jsonl", ProgramCatalogue()).error().code, "bad-profile");
  write("bad.json", "{");
  const auto bad = import_profiles(folder_, ProgramCatalogue());
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, "bad-json");
  EXPECT_THAT(bad.error().where, testing::HasSubstr("bad.json"));
}

}  // namespace
}  // namespace perfcast::program
