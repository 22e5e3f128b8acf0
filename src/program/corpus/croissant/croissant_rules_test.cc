#include "program/corpus/croissant/croissant_rules.h"

#include <gmock/gmock.h>

#include "base/json.h"

namespace perfcast::program {
namespace {

TEST(CroissantRules, Forms) {
  EXPECT_TRUE(is_url("https://example.org/a"));
  EXPECT_FALSE(is_url("example.org"));
  EXPECT_FALSE(is_url("https://"));
  EXPECT_FALSE(is_url("https://a b"));
  EXPECT_TRUE(is_iso_date("2026-11-24"));
  EXPECT_TRUE(is_iso_date("2024-02-29"));
  EXPECT_TRUE(is_iso_date("2026-11-24T10:00:00Z"));
  for (const char* wrong :
       {"2023-02-29", "2026-13-01", "2026-1-1", "24.11.2026", "", "2026-11-24x", "2026-11-24T99:00"}) {
    EXPECT_FALSE(is_iso_date(wrong)) << wrong;
  }
  EXPECT_TRUE(is_version("1.0.12"));
  for (const char* wrong : {"1.0", "1..0", "v1.0.0", "1.0.0.0"}) EXPECT_FALSE(is_version(wrong)) << wrong;
}

TEST(CroissantRules, PropertiesByAnyName) {
  const auto json = parse_json(
      R"({"cr:recordSet": 1, "http://purl.org/dc/terms/conformsTo": "v", "@type": ["x", "sc:Dataset"], "name": null})",
      "x");
  ASSERT_TRUE(json.ok());
  ASSERT_NE(property(*json, "recordSet"), nullptr);
  EXPECT_EQ(text_of_property(*json, "conformsTo"), "v");
  EXPECT_EQ(property(*json, "name"), nullptr);
  EXPECT_TRUE(is_of_type(*json, "Dataset"));
  EXPECT_FALSE(is_of_type(*json, "FileObject"));
  EXPECT_EQ(id_in(Json{{"@id", "a"}}), "a");
  EXPECT_EQ(id_in(Json("a")), "a");
  EXPECT_EQ(id_in(Json(3)), "");
  EXPECT_EQ(values_of(nullptr).size(), 0U);
}

TEST(CroissantRules, FindingsEnd) {
  CroissantFindings findings;
  for (int i = 0; i < 1000; ++i) findings.mistake("x", "y");
  findings.advise("x", "z");
  EXPECT_EQ(findings.mistakes(), 1000);
  EXPECT_EQ(findings.advice(), 1);
  EXPECT_LT(findings.list().size(), 1000U);
}

}  // namespace
}  // namespace perfcast::program
