#include "measure/tune/space/space_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file_with(const std::string& knobs, const std::string& more = "") {
  return R"({"schema": "perfcast.tune/1", "knobs": [)" + knobs + "]" + (more.empty() ? "" : ", " + more) + "}";
}

TuneFile read(const std::string& text) {
  auto file = parse_tune_file(text, "t.json");
  EXPECT_TRUE(file) << to_text(file.error());
  return file ? std::move(*file) : TuneFile();
}

Error error_of(const std::string& text) {
  const auto file = parse_tune_file(text, "t.json");
  EXPECT_FALSE(file);
  return file ? Error() : file.error();
}

std::vector<std::string> texts(const Knob& knob) {
  std::vector<std::string> result;
  for (const KnobValue& value : knob.values) result.push_back(value.text);
  return result;
}

TEST(TuneFile, ReadsRanges) {
  const TuneFile file =
      read(file_with(R"({"name": "a", "from": 1, "to": 4}, {"name": "b", "from": 0, "to": 0.3, "step": 0.1},
    {"name": "c", "from": 4, "to": 64, "scale": "log", "factor": 2, "default": 16}, {"name": "d", "from": 0, "to": 10, "step": 4},
    {"name": "e", "from": 1, "to": 1000000, "scale": "log"})"));
  const auto& knobs = file.space.knobs();
  ASSERT_EQ(knobs.size(), 5u);
  EXPECT_THAT(texts(knobs[0]), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(texts(knobs[1]), ElementsAre("0", "0.1", "0.2", "0.3"));
  EXPECT_THAT(texts(knobs[2]), ElementsAre("4", "8", "16", "32", "64"));
  EXPECT_EQ(knobs[2].default_level, 2);
  EXPECT_THAT(texts(knobs[3]), ElementsAre("0", "4", "8"));
  EXPECT_EQ(knobs[4].values.front().text, "1");
  EXPECT_EQ(knobs[4].values.back().text, "1000000");
  EXPECT_LE(knobs[4].values.size(), 64u);
}

TEST(TuneFile, AKnobIsInPlayWhereItsConditionHolds) {
  const TuneFile file =
      read(file_with(R"({"name": "deep", "values": [1, 2], "when": {"knob": "mode", "in": ["slow", "best"]}},
    {"name": "mode", "values": ["fast", "slow", "best"]}, {"name": "deeper", "values": [1, 2, 3], "when": "deep == 2"})"));
  const auto points = file.space.list(100, 10000);
  EXPECT_TRUE(points.complete);
  EXPECT_EQ(points.settings.size(), 1u + 2 * (1 + 3));
  EXPECT_EQ(file.space.text_of(file.space.default_setting()), "mode=fast");
  EXPECT_EQ(file.space.grid_points(), 18);
}

TEST(TuneFile, ConstraintsLeaveWhatMeetsThem) {
  const TuneFile file =
      read(file_with(R"({"name": "bm", "values": [8, 16, 32]}, {"name": "bn", "values": [8, 16, 32]})",
                     R"("constraints": ["bm * bn <= 256", "bm >= bn"])"));
  std::vector<std::string> found;
  for (const Setting& setting : file.space.list(100, 10000).settings) found.push_back(file.space.text_of(setting));
  EXPECT_THAT(found, ElementsAre("bm=8 bn=8", "bm=16 bn=8", "bm=16 bn=16", "bm=32 bn=8"));
  EXPECT_EQ(file.space.neighbours(file.space.default_setting()).size(), 2u);
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    const auto drawn = file.space.draw(random);
    ASSERT_TRUE(drawn);
    EXPECT_EQ(file.space.broken_constraint(*drawn), nullptr);
  }
}

TEST(TuneFile, SaysWhichConstraintsContradictEachOther) {
  const Error error = error_of(file_with(R"({"name": "a", "values": [1, 2]}, {"name": "b", "values": [1, 2]})",
                                         R"("constraints": ["a <= 2", "a < b", "b < a"])"));
  EXPECT_EQ(error.code, "empty-space");
  EXPECT_EQ(error.kind, ErrorKind::kInfeasible);
  EXPECT_EQ(error.message, "no setting meets these constraints together: 'a < b', 'b < a'");
  const Error alone = error_of(file_with(R"({"name": "a", "values": [1, 2]})", R"("constraints": ["a > 2"])"));
  EXPECT_EQ(alone.message, "no setting meets the constraint 'a > 2'");
}

// 10^20 points: nothing is listed to its end.
TEST(TuneFile, LargeSpacesAreNotListed) {
  std::string knobs;
  for (int i = 0; i < 20; ++i)
    knobs += std::string(i > 0 ? "," : "") + R"({"name": "k)" + std::to_string(i) + R"(", "from": 1, "to": 10})";
  const TuneFile file = read(file_with(knobs, R"("constraints": ["k0 + k19 == 2"])"));
  EXPECT_EQ(file.space.grid_points(), 1e20);
  const auto points = file.space.list(1000, 100000);
  EXPECT_FALSE(points.complete);
  EXPECT_EQ(points.settings.size(), 1000u);
}

TEST(TuneFile, AllMistakesAtOnce) {
  const Error error = error_of(
      file_with(R"({"name": "a-b", "values": [1]}, {"name": "b", "values": []}, {"name": "c", "from": 3, "to": 1},
    {"name": "d", "kind": "thing", "values": [1]}, {"name": "e", "values": [1, 1], "defualt": 1}, {"name": "f", "values": [1, 2], "default": 3})",
                R"("constraints": ["zz > 1"], "objective": {"measure": "printed"}, "limits": {"energy_joules": 3})"));
  EXPECT_EQ(error.code, "bad-tune-file");
  for (const char* part :
       {"t.json.knobs[0].name: found 'a-b'", "t.json.knobs[1].values: found 0 values",
        "t.json.knobs[2].from: found 3 to 1", "t.json.knobs[3].kind: found 'thing'",
        "t.json.knobs[4].values: found '1' twice",
        "t.json.knobs[4].defualt: found an unknown key, expected one of default, ",
        "t.json.knobs[5].default: found '3'", "t.json.constraints[0]: 'zz > 1', column 1: 'zz', which is no knob",
        "t.json.objective.pattern: found nothing", "perfcast has no meter for here"}) {
    EXPECT_THAT(error.message, HasSubstr(part));
  }
}

TEST(TuneFile, AConditionMayNotHangOnItself) {
  const Error error = error_of(file_with(
      R"({"name": "a", "values": [1, 2], "when": "b == 1"}, {"name": "b", "values": [1, 2], "when": "a == 1"})"));
  EXPECT_THAT(error.message, HasSubstr("depends on itself"));
}

TEST(TuneFile, TheDefaultMustBeAllowed) {
  const Error error = error_of(file_with(R"({"name": "a", "values": [1, 2]})", R"("constraints": ["a == 2"])"));
  EXPECT_EQ(error.code, "default-not-allowed");
}

}  // namespace
}  // namespace perfcast::measure
