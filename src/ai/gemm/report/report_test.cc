#include "ai/gemm/report/report.h"

#include <gmock/gmock.h>

#include "base/figure/testing/markup.h"
#include "base/json.h"

namespace perfcast::ai::gemm {
namespace {

using testing::HasSubstr;
using testing::Not;

GemmResult example() {
  GemmResult result;
  result.cpu = "Example <CPU>";
  result.cores = 2;
  result.isas = {"avx2"};
  result.peaks = {{"avx2", "cpu", Precision::kFp32, 1, 100, 0.01},
                  {"avx2", "cpu", Precision::kFp32, 2, 190, 0.1},
                  {"sse2", "cpu", Precision::kFp32, 2, 180, kUnknown},
                  {"avx2", "cpu", Precision::kFp32, 3, 250, 0.1}};  // more threads than cores
  result.bandwidths = {{1, 10, 1e9}, {2, 15, 1e9}};
  RungResult naive;
  naive.name = "naive-o1";
  naive.title = "naive ijk, -O1";
  naive.shape = {1000, 1000, 1000};
  naive.median_s = 2;
  naive.low_s = naive.high_s = 2;
  naive.samples = 1;
  naive.gflops = naive.best_gflops = 1;
  naive.peak_share = 0.01;
  naive.speedup = 1;
  naive.correct = true;
  RungResult numpy = naive;
  numpy.name = numpy.title = "numpy";
  numpy.threads = 2;
  numpy.median_s = 0.01234;
  numpy.spread = 0.2;
  numpy.samples = 7;
  numpy.gflops = 162.07;
  numpy.peak_share = 0.853;
  numpy.speedup = 162.07;
  RungResult wrong = naive;
  wrong.name = wrong.title = "broken";
  wrong.correct = false;
  wrong.median_s = wrong.low_s = wrong.high_s = wrong.spread = wrong.gflops = wrong.best_gflops = kUnknown;
  wrong.peak_share = wrong.speedup = kUnknown;
  wrong.samples = 0;
  result.rungs = {naive, numpy, wrong};
  result.skipped = {{"blis", "libblis.so.4 is not installed", {1000, 1000, 1000}, 1}};
  result.advice = {{"set X=1", "environment", {1000, 1000, 1000}, 100, 190, 1.9, "", "Eigen"}};
  result.warnings = {"it was loud"};
  result.noise.load_average = 0.25;
  return result;
}

TEST(Report, TextHasNoMoreDigitsThanTheSpreadLeaves) {
  const std::string text = to_text(example());
  EXPECT_THAT(text, HasSubstr("12 ms"));  // 20% apart: two digits
  EXPECT_THAT(text, Not(HasSubstr("12.3 ms")));
  EXPECT_THAT(text, HasSubstr("2.0 s    ?"));  // one sample: no spread is known
  EXPECT_THAT(text, HasSubstr("180   ?"));
  EXPECT_THAT(text, HasSubstr("WRONG RESULT, not timed"));
  EXPECT_THAT(text, HasSubstr("blis, 1000, 1 thread: libblis.so.4 is not installed"));
  EXPECT_THAT(text, HasSubstr("Eigen takes 20.0 ms; a faster option exists: set X=1, measured 1.9x"));
  EXPECT_THAT(text, HasSubstr("warning: it was loud"));
  GemmResult expected = example();
  expected.advice[0].is_measured = false;
  EXPECT_THAT(to_text(expected), HasSubstr("a faster option exists: set X=1, expected 1.9x"));
  EXPECT_THAT(text, HasSubstr("load average 0.25"));
  // The slides' speed-up of NumPy beside ours, for who asks.
  EXPECT_THAT(text, Not(HasSubstr("1729x")));
  EXPECT_THAT(to_text(example(), true), HasSubstr("1729x"));
}

TEST(Report, BeginsWithTheFastestAndAdvisesOnWhatIsInstalledFirst) {
  GemmResult result = example();
  result.advice = {{"swap loops", "flags", {1000, 1000, 1000}, 1, 10, 10, "", "naive"},
                   {"apt install x", "library", {1000, 1000, 1000}, 10, 100, 10, "", "NumPy"}};
  result.skipped.push_back({"blis", "libblis.so.4 is not installed", {1000, 1000, 1000}, 2});
  const std::string text = to_text(result);
  EXPECT_THAT(text, testing::StartsWith("fastest in fp32: numpy, 2 threads: 12 ms, 160 GFLOP/s, 85% of the peak that "
                                        "these cores reach here\n"));
  EXPECT_LT(text.find("NumPy takes"), text.find("naive takes"));
  EXPECT_THAT(text, HasSubstr("  blis, 1000, 1 and 2 threads: libblis.so.4 is not installed\n"));
  result.rungs.pop_back();
  result.rungs.back().precision = Precision::kBf16;  // one line for each number format
  EXPECT_THAT(to_text(result), testing::StartsWith("fastest in fp32: naive ijk, -O1, 1 thread: 2.0 s, 1.0 GFLOP/s"));
  EXPECT_THAT(to_text(result), HasSubstr("fastest in bf16: numpy"));
}

TEST(Report, JsonLeavesOutWhatIsUnknown) {
  const Json json = to_json(example());
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_EQ(json["peak_gflops"]["fp32"]["per_core"], 100);
  EXPECT_EQ(json["peak_gflops"]["fp32"]["total"], 190);
  EXPECT_EQ(json["peak_gflops"]["fp32"]["total_threads"], 2);
  EXPECT_FALSE(json["peak_gflops"].contains("int8"));
  for (const char* field : {"name", "device", "precision", "m", "n", "k", "threads", "median_s", "gflops", "peak_share",
                            "speedup", "correct", "note"}) {
    EXPECT_TRUE(json["rungs"][1].contains(field)) << field;
  }
  EXPECT_EQ(json["rungs"][2]["correct"], false);
  EXPECT_FALSE(json["rungs"][2].contains("gflops"));
  EXPECT_FALSE(json["rungs"][2].contains("median_s"));
  EXPECT_EQ(json["skipped"][0]["reason"], "libblis.so.4 is not installed");
  EXPECT_EQ(json["advice"][0]["gain"], 1.9);
  EXPECT_FALSE(json["noise"].contains("steal_ratio"));
  EXPECT_FALSE(json["rungs"][0].contains("spread_ratio"));  // one sample
  EXPECT_EQ(json["rungs"][1]["spread_ratio"], 0.2);
  EXPECT_EQ(json["peak_gflops"]["fp32"]["loops"][0]["spread_ratio"], 0.01);
  EXPECT_FALSE(json["peak_gflops"]["fp32"]["loops"][2].contains("spread_ratio"));
}

TEST(Report, PictureIsSoundAndNamesEveryRung) {
  const auto picture = roofline_svg(example());
  ASSERT_TRUE(picture);
  EXPECT_THAT(*picture, HasSubstr("numpy, 2 threads: 162"));
  EXPECT_THAT(*picture, HasSubstr("Example &lt;CPU&gt;"));
  EXPECT_THAT(*picture, Not(HasSubstr("broken")));
  EXPECT_THAT(*picture, Not(HasSubstr("nan")));
  EXPECT_EQ(unbalanced(*picture), "");
  GemmResult unread = example();
  unread.bandwidths.clear();
  EXPECT_EQ(roofline_svg(unread).error().code, "no-bandwidth");
}

TEST(Report, ListNamesAllRungs) {
  EXPECT_THAT(rung_list_text(), HasSubstr("register-block"));
  EXPECT_EQ(rung_list_json()["rungs"][0]["name"], "naive-o1");
}

}  // namespace
}  // namespace perfcast::ai::gemm
