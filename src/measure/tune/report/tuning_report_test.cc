#include "measure/tune/report/tuning_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/figure/testing/markup.h"
#include "base/json.h"
#include "measure/tune/report/html_report.h"

namespace perfcast::measure {
namespace {

using testing::HasSubstr;
using testing::Not;

Tuning small() {
  Tuning tuning;
  Knob level, kind;
  level.name = "level";
  level.values = {{"1", 1}, {"9", 9}};
  kind.name = "a<b";
  kind.values = {{"x", std::nullopt}, {"", std::nullopt}};
  tuning.knobs = {level, kind};
  tuning.command = {"xz", "{level}"};
  tuning.source = "t.json";
  tuning.points = 4;
  tuning.points_listed = true;
  tuning.tried = {{{1, 0}, 2.0, 3, TrialState::kDone, ""},
                  {{0, kNotInPlay}, 1.0, 3, TrialState::kDone, ""},
                  {{0, 1}, std::nullopt, 1, TrialState::kFailed, "status 1"}};
  tuning.standard = 0;
  tuning.best = 1;
  tuning.default_value = 2;
  tuning.best_value = 1;
  tuning.gain = 2;
  tuning.lower = 1.9;
  tuning.upper = 2.1;
  tuning.significant = true;
  tuning.pairs = 8;
  tuning.importance = {0.25, 0.75};
  tuning.runs = 23;
  return tuning;
}

TEST(TuningReport, ForPeople) {
  EXPECT_EQ(
      tuning_text(small()),
      "command: xz {level}\nspace: t.json\n3 of 4 settings tried, 1 failed; 23 runs in 0 s (surrogate, seed 1)\n\n"
      "2.000 times as fast as the default (95% interval 1.900 .. 2.100, 8 pairs in turns): 2 s to 1 s\n\n"
      "knob   best  default  importance\n"
      "a<b       -        x       75.0%\n"
      "level     1        9       25.0%\n"
      "\nsettings that can't be used:\n  1 time: status 1\n");
  Tuning unsure = small();
  unsure.significant = false;
  unsure.lower = 0.99;
  EXPECT_THAT(tuning_text(unsure), HasSubstr("no clear gain"));
  unsure.best = 0;
  EXPECT_THAT(tuning_text(unsure), HasSubstr("no setting was found that is better than the default"));
  unsure.tried.resize(1);
  EXPECT_THAT(tuning_text(unsure), HasSubstr("only the default was tried"));
}

TEST(TuningReport, SaysWhatTheGainCosts) {
  const auto line = [](OutputComparison output) {
    Tuning tuning = small();
    tuning.output = output;
    const std::string text = tuning_text(tuning);
    const size_t from = text.find("its output");
    return from == std::string::npos ? "" : text.substr(from, text.find("\n", from) - from);
  };
  EXPECT_EQ(line({4e6, 5e6, false, true}), "its output is larger than the default's: 3.8 MiB to 4.8 MiB (+25.0%)");
  EXPECT_EQ(line({4e6, 3e6, false, true}), "its output is smaller than the default's: 3.8 MiB to 2.9 MiB (-25.0%)");
  EXPECT_EQ(line({4e6, 4e6, false, true}), "its output has the same size as the default's, but other content");
  EXPECT_EQ(line({4e6, 4e6, true, true}), "");
  EXPECT_EQ(line({4e6, 4.001e6, false, false}), "");  // the time of day, say
  EXPECT_THAT(line({4e6, 5e6, false, false}), HasSubstr("; but the default prints something else each time"));
  Tuning tuning = small();
  tuning.output = OutputComparison{4e6, 5e6, false, true};
  EXPECT_EQ(tuning_json(tuning)["output"]["best_bytes"], 5e6);
  tuning.best = tuning.standard;
  tuning.rival = "the next best, level=9, is 0.500 times as good as the default";
  EXPECT_THAT(tuning_text(tuning),
              HasSubstr("no setting was found that is better than the default; the next best, level=9"));
}

TEST(TuningReport, ForMachines) {
  const Json json = tuning_json(small());
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_EQ(json["schema"], "perfcast.tuning/1");
  EXPECT_EQ(json["best"].dump(), R"({"level":1})");
  EXPECT_EQ(json["default"].dump(), R"({"level":9,"a<b":"x"})");
  EXPECT_EQ(json["default_s"], 2);
  EXPECT_EQ(json["best_s"], 1);
  EXPECT_EQ(json["gain"], 2);
  EXPECT_EQ(json["trials"], 3);
  EXPECT_EQ(json["importance"]["a<b"], 0.75);
  EXPECT_FALSE(json["tried"][2].contains("time_s"));
  EXPECT_EQ(json["tried"][2]["state"], "failed");
}

TEST(TuningReport, AsAPage) {
  const std::string html = tuning_html(small());
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, HasSubstr("a&lt;b"));
  EXPECT_THAT(html, Not(HasSubstr("a<b")));
  EXPECT_THAT(html, HasSubstr("class=\"best\""));
  Tuning nothing = small();
  nothing.tried.clear();
  nothing.best = nothing.standard = std::nullopt;
  nothing.importance.clear();
  EXPECT_EQ(unbalanced(tuning_html(nothing)), "");
}

}  // namespace
}  // namespace perfcast::measure
