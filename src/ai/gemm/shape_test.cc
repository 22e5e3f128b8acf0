#include "ai/gemm/shape.h"

#include <gmock/gmock.h>

namespace perfcast::ai::gemm {
namespace {

using testing::HasSubstr;

TEST(Shape, ReadsSquaresAndTriples) {
  EXPECT_EQ(*parse_shape("1024", "--n"), (Shape{1024, 1024, 1024}));
  EXPECT_EQ(*parse_shape("1, 4096,11008", "--shape"), (Shape{1, 4096, 11008}));
  EXPECT_EQ(*parse_shape("1048576", "--n"), (Shape{kMaxSide, kMaxSide, kMaxSide}));
}

TEST(Shape, RefusesWhatIsNone) {
  for (const char* text : {"", "0", "-3", "1,2", "1,2,3,4", "12a", "1e3", "1.5", ",,", "0x10", " "}) {
    const auto shape = parse_shape(text, "--shape");
    ASSERT_FALSE(shape) << text;
    EXPECT_EQ(shape.error().code, "bad-usage") << text;
    EXPECT_EQ(shape.error().where, "--shape");
  }
  for (const char* text : {"1048577", "9223372036854775807", "99999999999999999999999"}) {
    EXPECT_THAT(parse_shape(text, "--n").error().message, HasSubstr("too large")) << text;
  }
}

TEST(Shape, CountsOperationsAndBytes) {
  EXPECT_EQ(operations(Shape{2, 3, 5}), 60);
  EXPECT_EQ(compulsory_bytes(Shape{2, 3, 5}, 1, 4), 10 + 15 + 24);
  // The largest that is taken does not overflow: 2^61 operations.
  EXPECT_EQ(operations({kMaxSide, kMaxSide, kMaxSide}), 0x1p61);
  EXPECT_EQ(to_text(Shape{7, 7, 7}), "7");
  EXPECT_EQ(to_text(Shape{1, 7, 7}), "1 x 7 x 7");
}

TEST(Shape, KnowsItsSets) {
  const auto llm = shape_set("llm");
  ASSERT_TRUE(llm);
  EXPECT_EQ(llm->front(), (Shape{512, 4096, 4096}));
  EXPECT_EQ(llm->at(3), (Shape{1, 4096, 4096}));
  EXPECT_THAT(shape_set("lm").error().expected, HasSubstr("llm"));
}

}  // namespace
}  // namespace perfcast::ai::gemm
