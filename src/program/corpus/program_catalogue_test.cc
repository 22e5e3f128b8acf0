#include "program/corpus/program_catalogue.h"

#include <gmock/gmock.h>

#include "base/file.h"

namespace perfcast::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSmallSuite = R"({"schema": "perfcast.suite/1", "name": "cloud",
  "rules": [{"id": "machine-sized", "text": "..."}],
  "programs": [
    {"id": "stressng.stream", "label": "stressng.stream.1", "family": "stream", "group": "user",
     "work_unit": "operation", "excluded": "machine-sized", "evidence": "arrays follow the cache"},
    {"id": "openssl.sha256", "label": "openssl.sha256.16384", "family": "sha2", "group": "crypto"}]})";

TEST(ProgramCatalogueTest, ReadsEntries) {
  const auto catalogue = ProgramCatalogue::parse(kSmallSuite, "s.json");
  ASSERT_TRUE(catalogue.ok());
  EXPECT_EQ(catalogue->size(), 2u);
  const Program stream = catalogue->describe("stressng.stream", "here");
  EXPECT_EQ(stream.family, "stream");
  EXPECT_EQ(stream.group, "user");
  EXPECT_EQ(stream.suite, "cloud");
  EXPECT_EQ(stream.work_unit, "operation");
  EXPECT_EQ(stream.excluded, "machine-sized: arrays follow the cache");
  EXPECT_EQ(stream.source, "here");
  EXPECT_THAT(catalogue->ids_of_label("openssl.sha256.16384"), ElementsAre("openssl.sha256"));
  EXPECT_THAT(catalogue->ids_of_label("openssl.sha256"), IsEmpty());
}

TEST(ProgramCatalogueTest, ProgramsOfOneLabelAreOfOneFamily) {
  const auto parse = [](const std::string& family) {
    return ProgramCatalogue::parse(R"({"schema": "perfcast.suite/1", "name": "x", "programs": [
        {"id": "b", "label": "l", "family": "f", "group": "g"}, {"id": "a", "label": "l", "family": ")" +
                                       family + R"(", "group": "g"}]})",
                                   "s.json");
  };
  EXPECT_THAT(parse("f")->ids_of_label("l"), ElementsAre("a", "b"));
  const auto two = parse("e");
  ASSERT_FALSE(two.ok());
  EXPECT_THAT(two.error().message, HasSubstr("programs with the label 'l' are of two families"));
}

TEST(ProgramCatalogueTest, SuitesMakeOneCatalogue) {
  const std::string first = testing::TempDir() + "first-suite.json", second = testing::TempDir() + "second-suite.json";
  ASSERT_TRUE(write_file_atomically(first, kSmallSuite).ok());
  ASSERT_TRUE(write_file_atomically(second, R"({"schema": "perfcast.suite/1", "name": "apps", "programs": [
      {"id": "apps.hash", "label": "openssl.sha256.16384", "family": "sha2", "group": "application"}]})")
                  .ok());
  const auto both = ProgramCatalogue::read({first, second});
  ASSERT_TRUE(both.ok()) << to_text(both.error());
  EXPECT_EQ(both->size(), 3u);
  EXPECT_EQ(both->find("apps.hash")->suite, "apps");
  EXPECT_THAT(both->ids_of_label("openssl.sha256.16384"), ElementsAre("apps.hash", "openssl.sha256"));
  const auto twice = ProgramCatalogue::read({first, first});
  ASSERT_FALSE(twice.ok());
  EXPECT_THAT(twice.error().message, HasSubstr("is named twice"));
}

TEST(ProgramCatalogueTest, DerivesWhatItDoesNotKnow) {
  const Program redis = ProgramCatalogue().describe("redis.SET.p1", "here");
  EXPECT_EQ(redis.id, "redis.SET.p1");
  EXPECT_EQ(redis.family, "redis");
  EXPECT_EQ(redis.group, "unknown");
  EXPECT_EQ(redis.excluded, "");
  EXPECT_EQ(family_of("compress.gzip.9.c"), "gzip");
  EXPECT_EQ(family_of("stressng.matrix-3d"), "matrix-3d");
  EXPECT_EQ(family_of("stressngfull.cpu"), "cpu");
  EXPECT_EQ(family_of("static_web.16k"), "static_web");
  EXPECT_EQ(family_of("compress"), "compress");
  EXPECT_EQ(family_of(""), "");
}

TEST(ProgramCatalogueTest, SaysWhatIsWrong) {
  const auto code = [](const char* text) { return ProgramCatalogue::parse(text, "s.json").error(); };
  EXPECT_EQ(code("{").code, "bad-json");
  EXPECT_EQ(code("{}").code, "bad-json-field");
  EXPECT_EQ(code(R"({"schema": "perfcast.suite/2", "name": "x", "programs": []})").code, "future-version");
  const Error rule = code(R"({"schema": "perfcast.suite/1", "name": "x", "rules": [{"id": "r"}],
                              "programs": [{"id": "a", "group": "g", "excluded": "q"}]})");
  EXPECT_THAT(rule.message, HasSubstr("s.json.programs[0].excluded: found 'q', expected one of the rules r"));
  const Error twice = code(R"({"schema": "perfcast.suite/1", "name": "x",
                               "programs": [{"id": "a", "group": "g"}, {"id": "a", "group": "g"}]})");
  EXPECT_THAT(twice.message, HasSubstr("'a' is named twice"));
}

TEST(ProgramCatalogueTest, TheShippedSuitesAreValid) {
  const auto catalogue = ProgramCatalogue::read(
      {PERFCAST_SOURCE_DIR "/data/suites/cloud.json", PERFCAST_SOURCE_DIR "/data/suites/apps.json"});
  ASSERT_TRUE(catalogue.ok()) << to_text(catalogue.error());
  ASSERT_NE(catalogue->find("compress.gzip.9.c"), nullptr);
  EXPECT_EQ(catalogue->find("compress.gzip.9.c")->family, "gzip");
  EXPECT_EQ(catalogue->find("compress.gzip.9.c")->group, "compressor");
}

}  // namespace
}  // namespace perfcast::program
