#include "measure/diagnose/report/diagnosis_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/figure/testing/markup.h"
#include "base/json.h"
#include "measure/diagnose/report/diagnosis_report.h"
#include "measure/diagnose/report/report_words.h"
#include "measure/diagnose/report/testing/small_diagnosis.h"

namespace perfcast::measure {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(DiagnosisPage, LeadsWithTheFirstFinding) {
  const std::string html = diagnosis_page(full_diagnosis(), {});
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, HasSubstr("<title>Why prog is slow here</title>"));
  EXPECT_THAT(html,
              HasSubstr("<p class=\"lead\">allocation: 30% of the CPU time is allocating &amp; freeing memory. To "
                        "be gained: 20% of the time, proven (10% .. 30%): the allocator jemalloc. What would help: "
                        "reuse.</p>"));
  EXPECT_THAT(html, Not(HasSubstr("too small to be shown")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("./prog &lt;x&gt;"));
}

TEST(DiagnosisPage, HasEveryPart) {
  Figure extra{"bloat", "What of the code ran", "a map", {"<svg id=\"bloat-map\"></svg>\n"}, "a,b\n"};
  const std::string html = diagnosis_page(full_diagnosis(), {extra});
  for (const char* part :
       {"id=\"time\"", "id=\"roofline\"", "id=\"timeline\"", "id=\"bloat\"", "id=\"findings\"", "id=\"functions\"",
        "id=\"notes\"", "id=\"time-bars\"", "id=\"roofline-points\"", "id=\"timeline-course\"", "id=\"tried-1\""})
    EXPECT_THAT(html, HasSubstr(part));
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, HasSubstr("a note of the roofline"));
  EXPECT_THAT(html, HasSubstr("multiply&lt;float&gt;(float const*)"));
  EXPECT_THAT(html, HasSubstr("it is not installed"));
  EXPECT_THAT(html, HasSubstr("prog.cc:12"));
  EXPECT_THAT(html,
              HasSubstr("reaches 2 of 64 GFLOP/s (fp32); 0.25 flops a byte: reading from memory would allow 2.5"));
  EXPECT_THAT(html, HasSubstr("download=\"perfcast-diagnosis.json\" href=\"data:application/json,%7B"));
}

TEST(DiagnosisPage, SaysWhatIsMissing) {
  Diagnosis diagnosis = full_diagnosis();
  diagnosis.findings.clear();
  diagnosis.notes.clear();
  diagnosis.roofline.reset();
  diagnosis.bounds.clear();
  diagnosis.seen.timeline = {};
  diagnosis.seen.functions.clear();
  diagnosis.seen.no_samples = "the kernel lets nobody sample";
  const std::string html = diagnosis_page(diagnosis, {});
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, HasSubstr("Nothing that is known to be slow was found."));
  EXPECT_THAT(html, HasSubstr("No roofline: what functions compute takes an instrumented run, and there was none."));
  EXPECT_THAT(html, HasSubstr("No timeline: the run was too short to be looked at."));
  EXPECT_THAT(html, HasSubstr("No function was seen: the kernel lets nobody sample"));
  EXPECT_THAT(html, Not(HasSubstr("id=\"notes\"")));
}

TEST(DiagnosisJson, HasRooflineAndTimeline) {
  const Json json = diagnosis_json(full_diagnosis());
  EXPECT_EQ(json["roofline"]["ceilings"]["compute"][0]["isa"], "avx2");
  EXPECT_EQ(json["roofline"]["ceilings"]["bandwidth"][1]["one_cpu_bytes_per_s"], 10e9);
  const Json& point = json["roofline"]["points"][0];
  EXPECT_EQ(point["function"], "multiply<float>(float const*)");
  EXPECT_EQ(point["allowed_per_s_by_memory"]["L1"], 50e9);
  EXPECT_EQ(point["fp32_flops_count"], 2e9);
  EXPECT_EQ(json["timeline"]["interval_s"], 1);
  EXPECT_EQ(json["timeline"]["cpu"][2]["name"], "the kernel");
  EXPECT_EQ(json["timeline"]["waiting_s_by_what"]["a time to pass"][1], 1);
  EXPECT_EQ(json["timeline"]["phases"][1]["name"], "waiting: a time to pass");
  EXPECT_EQ(json["notes"], Json({"a note", "a note of the roofline"}));
  Diagnosis plain = full_diagnosis();
  plain.roofline.reset();
  plain.seen.timeline = {};
  EXPECT_TRUE(diagnosis_json(plain)["roofline"].is_null());
  EXPECT_TRUE(diagnosis_json(plain)["timeline"].is_null());
}

TEST(ShortFunctionName, LeavesOutWhatSaysLittle) {
  EXPECT_EQ(short_function_name("(anonymous namespace)::multiply(double const*, void (*)(int)) [clone .constprop.0]"),
            "multiply");
  EXPECT_EQ(short_function_name("std::vector<int>::push_back(int const&) const"), "std::vector<..>::push_back");
  EXPECT_EQ(short_function_name("std::map<int, a<b> > std::make<int>(std::pair<int, int>&&)"), "std::make<..>");
  EXPECT_EQ(short_function_name("operator<< <char>(std::ostream&, char)"), "operator<< <..>");
  EXPECT_EQ(short_function_name("bool operator< <int>(a<int> const&)"), "operator< <..>");
  EXPECT_EQ(short_function_name("__pthread_mutex_lock@GLIBC_2.2.5"), "__pthread_mutex_lock");
  EXPECT_EQ(short_function_name("main"), "main");
  EXPECT_EQ(short_function_name("f::operator()"), "f::operator()");
  EXPECT_EQ(short_function_name("in libc.so.6"), "in libc.so.6");
  EXPECT_EQ(short_function_name("odd [clone"), "odd [clone");
  EXPECT_EQ(short_function_name("()"), "()");
}

// Written again and again, the page of a diagnosis is the same.
TEST(DiagnosisPage, IsDeterministic) {
  EXPECT_EQ(diagnosis_page(full_diagnosis(), {}), diagnosis_page(full_diagnosis(), {}));
}

}  // namespace
}  // namespace perfcast::measure
