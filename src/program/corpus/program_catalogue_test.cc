#include "program/corpus/program_catalogue.h"

#include <gmock/gmock.h>

namespace perfcast::program {
namespace {

using testing::HasSubstr;

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
  ASSERT_NE(catalogue->id_of_label("openssl.sha256.16384"), nullptr);
  EXPECT_EQ(*catalogue->id_of_label("openssl.sha256.16384"), "openssl.sha256");
  EXPECT_EQ(catalogue->id_of_label("openssl.sha256"), nullptr);
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

TEST(ProgramCatalogueTest, TheShippedSuiteIsValid) {
  const auto catalogue = ProgramCatalogue::read(PERFCAST_SOURCE_DIR "/data/suites/cloud.json");
  ASSERT_TRUE(catalogue.ok()) << to_text(catalogue.error());
  ASSERT_NE(catalogue->find("compress.gzip.9.c"), nullptr);
  EXPECT_EQ(catalogue->find("compress.gzip.9.c")->family, "gzip");
  EXPECT_EQ(catalogue->find("compress.gzip.9.c")->group, "compressor");
}

}  // namespace
}  // namespace perfcast::program
