#include "fleet/report/error_sweep_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "fleet/testing/small_sweep.h"

namespace perfcast::fleet {
namespace {

using testing::HasSubstr;

TEST(ErrorSweepReport, SaysItInWordsAndJson) {
  const std::string text = to_text(small_sweep());
  EXPECT_THAT(text, HasSubstr("  mct pays up to 62% error (against fcfs)\n"));
  EXPECT_THAT(text, HasSubstr("  mct pays at every error up to 100% (against random)\n"));
  EXPECT_THAT(text, HasSubstr("policy      0%     50%    100%\n"));
  const Json json = to_json(small_sweep());
  EXPECT_EQ(json["break_even"][0]["verdict"], "crosses");
  EXPECT_DOUBLE_EQ(json["break_even"][0]["error_ratio"].get<double>(), 0.625);
  EXPECT_FALSE(json["break_even"][1].contains("error_ratio"));
  EXPECT_EQ(to_text(ErrorSweep{}), "");
}

TEST(ErrorSweepReport, LeavesOutWhatIsNotKnown) {
  ErrorSweep sweep;
  sweep.points = {{0, "mct", 1, 10, 1}, {0.2, "mct", 1, 7, kUnknown}};
  EXPECT_TRUE(to_json(sweep)["points"][0].contains("mean_completion_s"));
  EXPECT_FALSE(to_json(sweep)["points"][1].contains("mean_completion_s"));
}

}  // namespace
}  // namespace perfcast::fleet
