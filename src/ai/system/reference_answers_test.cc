#include "ai/system/reference_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

TEST(ReferenceAnswers, JudgesByWhatIsThere) {
  const auto references =
      parse_references("{\"index\": 3, \"data\": \"text\"}\n\n{\"index\": 4, \"data_hex\": \"0A41\"}\n", "r");
  ASSERT_TRUE(references);
  EXPECT_EQ(is_right_answer(*references, 3, " text\n"), true);
  EXPECT_EQ(is_right_answer(*references, 3, "other"), false);
  EXPECT_EQ(is_right_answer(*references, 4, "A"), true);
  EXPECT_EQ(is_right_answer(*references, 5, "text"), std::nullopt);
}

TEST(ReferenceAnswers, NamesTheSamplesThatHaveNone) {
  const auto references = parse_references("{\"index\": 1, \"data\": \"a\"}\n{\"index\": 0, \"data\": \"b\"}", "r");
  ASSERT_TRUE(references);
  EXPECT_TRUE(check_every_sample(*references, 2, "r").ok());
  const Status three = check_every_sample(*references, 3, "r");
  ASSERT_FALSE(three);
  EXPECT_EQ(three.error().where, "r");
  EXPECT_THAT(three.error().message, testing::HasSubstr("1 of 3 samples have no right answer in the file: 2"));
  EXPECT_THAT(check_every_sample(*references, 90, "r").error().message,
              testing::HasSubstr("88 of 90 samples have no right answer in the file: 2, 3, 4, 5, 6, ..."));
}

TEST(ReferenceAnswers, NamesTheLineThatIsNone) {
  for (const char* const line :
       {"3", "{}", "{\"index\": -1, \"data\": \"\"}", "{\"index\": 4294967296, \"data\": \"\"}", "{\"index\": 3}",
        "{\"index\": 3, \"data\": 4}", "{\"index\": 1, \"data\": \"b\"}"}) {
    const auto references = parse_references(std::string("{\"index\": 1, \"data\": \"a\"}\n") + line, "r");
    ASSERT_FALSE(references) << line;
    EXPECT_EQ(references.error().code, "bad-reference");
    EXPECT_EQ(references.error().where, "r:2");
  }
  EXPECT_FALSE(parse_references("", "r"));
  EXPECT_FALSE(parse_references("{\"index\"", "r"));
}

}  // namespace
}  // namespace perfcast::ai
