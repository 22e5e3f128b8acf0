#include "measure/tune/space/knob_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts_of(const Knob& knob) {
  std::vector<std::string> texts;
  for (const KnobValue& value : knob.values) texts.push_back(value.text);
  return texts;
}

Knob knob_of(const std::string& word, const std::vector<std::string>& command = {"x"}) {
  const auto file = knobs_as_space({word, "other=1,2"}, command);
  EXPECT_TRUE(file) << word << ": " << to_text(file.error());
  return file ? file->space.knobs().front() : Knob();
}

TEST(KnobWords, ValuesAndRanges) {
  EXPECT_THAT(texts_of(knob_of("level=1..4")), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(texts_of(knob_of("level=1..9..3")), ElementsAre("1", "4", "7"));
  EXPECT_THAT(texts_of(knob_of("share=0.5..1..0.25")), ElementsAre("0.5", "0.75", "1"));
  EXPECT_THAT(texts_of(knob_of("level=-2..1")), ElementsAre("-2", "-1", "0", "1"));
  EXPECT_THAT(texts_of(knob_of("size=64,128,0.50,1e3,a=b")), ElementsAre("64", "128", "0.50", "1e3", "a=b"));
  EXPECT_THAT(texts_of(knob_of("path=../a,../b")), ElementsAre("../a", "../b"));
  EXPECT_EQ(knob_of("level=1..9").default_level, 0);
  EXPECT_EQ(knob_of("level=1..9@6").default_level, 5);
  EXPECT_EQ(knob_of("mode=fast,slow@slow").default_level, 1);
}

TEST(KnobWords, KindsFollowFromTheNameTheValuesAndTheCommand) {
  EXPECT_EQ(knob_of("threads=1,2").kind, KnobKind::kThreads);
  EXPECT_EQ(knob_of("threads=auto,2").kind, KnobKind::kParameter);
  EXPECT_EQ(knob_of("opt=-O2,-O3").kind, KnobKind::kFlag);
  EXPECT_EQ(knob_of("verbose=,-v").kind, KnobKind::kFlag);
  EXPECT_EQ(knob_of("level=-1,1").kind, KnobKind::kParameter);
  EXPECT_EQ(knob_of("MALLOC_ARENA_MAX=1,2").kind, KnobKind::kEnvironment);
  EXPECT_EQ(knob_of("N=1,2", {"x", "-n{N}"}).kind, KnobKind::kParameter);
}

TEST(KnobWords, MistakesNameTheWord) {
  const auto message = [](std::vector<std::string> words) {
    const auto file = knobs_as_space(words, {"x"});
    return file ? "" : file.error().message + " | " + file.error().expected;
  };
  EXPECT_THAT(message({"level"}), HasSubstr("'level' is no knob | NAME=VALUES, such as level=1..9"));
  EXPECT_THAT(message({"=1"}), HasSubstr("'=1' is no knob"));
  EXPECT_THAT(message({"a b=1,2"}), HasSubstr("--knob a b=1,2.name: found 'a b'"));
  EXPECT_THAT(message({"n=9..1"}), HasSubstr("--knob n=9..1.from: found 9 to 1"));
  EXPECT_THAT(message({"n=1,1"}), HasSubstr("'1' twice"));
  EXPECT_THAT(message({"n=1,2@3"}), HasSubstr("default: found '3'"));
  EXPECT_THAT(message({"n=1,2", "n=3,4"}), HasSubstr("a second knob 'n'"));
}

}  // namespace
}  // namespace perfcast::measure
