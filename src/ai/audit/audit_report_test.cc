#include "ai/audit/audit_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace perfcast::ai {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<ClaimAudit> two_audits() {
  ClaimAudit bad, good;
  bad.id = "bad";
  bad.what = "5 ms on x";
  bad.verdict = AuditVerdict::kImpossible;
  bad.add({"above-peak-flops", AuditVerdict::kImpossible, "too much", "less", {{"ratio", 1.5}}});
  bad.bound_checked = true;
  good.id = "good";
  good.made = {"all is well"};
  good.not_made = {"this"};
  good.unused = {"that"};
  return {bad, good};
}

TEST(AuditReport, SaysReasonsAndWhatMendsThem) {
  const std::string text = audit_text(two_audits(), false);
  EXPECT_THAT(text, HasSubstr("2 claims: 1 impossible, 1 possible"));
  EXPECT_THAT(text, HasSubstr("above-peak-flops (impossible): too much\n    mend: less"));
  EXPECT_THAT(text, Not(HasSubstr("all is well")));
  EXPECT_THAT(text, HasSubstr("good: possible; no limit of a device could be checked\n  not checked: that\n"));
  EXPECT_THAT(audit_text(two_audits(), true),
              HasSubstr("holds: all is well\n  not checked: this\n  not checked: that\n"));
}

TEST(AuditReport, JsonHasTheSchema) {
  const Json json = audit_json(two_audits(), "a brochure");
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_EQ(json["schema"], "perfcast.audit/1");
  EXPECT_EQ(json["counts"]["impossible"], 1);
  EXPECT_EQ(json["claims"][0]["reasons"][0]["numbers"]["ratio"], 1.5);
  EXPECT_EQ(json["claims"][1]["verdict"], "possible");
  EXPECT_EQ(json["claims"][1]["not_made"], Json({"this", "that"}));
}

TEST(AuditReport, OfASetCountsAndListsTheBad) {
  PublishedResults results;
  results.division = "closed";
  const std::string text = results_text(results, two_audits());
  EXPECT_THAT(text, HasSubstr("2 results of the division closed: 1 impossible, 1 possible"));
  EXPECT_THAT(text, HasSubstr("of 1 with a device and a model whose bounds are known: 100.00% impossible"));
  EXPECT_THAT(text, Not(HasSubstr("\ngood:")));
  EXPECT_EQ(results_json(results, two_audits(), "r.csv")["claims"].size(), 1u);
}

}  // namespace
}  // namespace perfcast::ai
