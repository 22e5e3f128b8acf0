#include "profile/collect/qemu/phase_series.h"

#include <gtest/gtest.h>

#include "profile/collect/native/code_course.h"

namespace perfcast {
namespace {

const std::string kPhasesHead =
    "perfcast-phases 1\nkeys instructions op_cond_branch loads stores seen_accesses seen_dcache_32k_miss "
    "string_dcache_32k_miss seen_branches seen_branch_miss_tage\n";

TEST(PhaseSeries, ReadsIntervalsAndScalesWhatWasSimulated) {
  const auto series = parse_phase_series(kPhasesHead +
                                             "interval 1000 100 60 40 20 3 2 50 4\ncode 0:3 4:900 511:97\n"
                                             "interval 500 10 60 40 0 0 0 0 0\ncode\nend 1\n",
                                         "x");
  ASSERT_TRUE(series) << to_text(series.error());
  ASSERT_EQ(series->intervals.size(), 2U);
  EXPECT_EQ(series->instructions(1), 500);
  EXPECT_EQ(series->intervals[0].code[2].first, 511);
  const size_t first[] = {0}, second[] = {1}, both[] = {0, 1};
  const MetricValues metrics = interval_metrics(*series, first);
  EXPECT_EQ(metrics.at("instructions_count"), 1000);
  EXPECT_EQ(metrics.at("branches_count"), 100);
  EXPECT_EQ(metrics.at("miss_32k_count"), 3 * 5 + 2);
  EXPECT_EQ(metrics.at("tage_misses_count"), 4 * 2);
  // Nothing was seen of it: absent, not zero.
  EXPECT_FALSE(interval_metrics(*series, second).contains("miss_32k_count"));
  EXPECT_EQ(interval_metrics(*series, both).at("miss_32k_count"), 3 * 10 + 2);
}

TEST(PhaseSeries, RefusesOtherText) {
  const auto code_of = [](const std::string& text) {
    const auto series = parse_phase_series(text, "x");
    return series ? std::string() : series.error().code;
  };
  EXPECT_EQ(code_of(""), "bad-phase-series");
  EXPECT_EQ(code_of("perfcast-phases 2\n"), "future-version");
  EXPECT_EQ(code_of("perfcast-phases 1\nkeys loads\nend 1\n"), "bad-phase-series");
  EXPECT_EQ(code_of("perfcast-phases 1\nkeys instructions instructions\nend 1\n"), "bad-phase-series");
  const std::string head = "perfcast-phases 1\nkeys instructions loads\n";
  EXPECT_EQ(code_of(head + "end 1\n"), "");
  EXPECT_EQ(code_of(head + "end 1"), "bad-phase-series");
  EXPECT_EQ(code_of(head + "end 1\nmore\n"), "bad-phase-series");
  EXPECT_EQ(code_of(head + "interval 5\ncode\nend 1\n"), "bad-phase-series");
  EXPECT_EQ(code_of(head + "interval 5 1 2\ncode\nend 1\n"), "bad-phase-series");
  EXPECT_EQ(code_of(head + "interval 0 1\ncode\nend 1\n"), "bad-phase-series");
  EXPECT_EQ(code_of(head + "interval 5 1\nend 1\n"), "bad-phase-series");
  EXPECT_EQ(code_of(head + "interval 5 1\ncode 4:1 3:2\nend 1\n"), "bad-phase-series");
  EXPECT_EQ(code_of(head + "interval 5 1\ncode 512:1\nend 1\n"), "bad-phase-series");
  EXPECT_EQ(code_of(head + "interval 5 99999999999999999999\ncode\nend 1\n"), "bad-phase-series");
}

TEST(PhaseSeries, PlacesOfCodeAreStable) {
  EXPECT_EQ(code_place("", 100), 0);
  EXPECT_EQ(code_place("/bin/x", 0x1000), code_place("/bin/x", 0x10ff));
  EXPECT_NE(code_place("/bin/x", 0x1000), code_place("/bin/x", 0x1100));
  EXPECT_LT(code_place("/bin/y", 0), kCodePlaces);
}

}  // namespace
}  // namespace perfcast
