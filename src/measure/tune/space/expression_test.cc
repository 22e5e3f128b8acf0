#include "measure/tune/space/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace perfcast::measure {
namespace {

using testing::HasSubstr;

// bm and bn are numbers, layout is text.
std::optional<ExpressionType> type_of(std::string_view name) {
  if (name == "bm" || name == "bn") return ExpressionType::kNumber;
  if (name == "layout") return ExpressionType::kText;
  return std::nullopt;
}

bool holds(const std::string& text, double bm, double bn = 1, std::string_view layout = "rows") {
  const auto expression = Expression::parse(text, type_of);
  EXPECT_TRUE(expression) << text << ": " << to_text(expression.error());
  if (!expression) return false;
  return expression->holds([&](size_t i) -> ExpressionValue {
    const std::string& name = expression->names()[i];
    return name == "bm" ? ExpressionValue{bm, {}} : name == "bn" ? ExpressionValue{bn, {}} : ExpressionValue{0, layout};
  });
}

std::string problem_of(const std::string& text) {
  const auto expression = Expression::parse(text, type_of);
  EXPECT_FALSE(expression) << text;
  return expression ? "" : expression.error().where + ": " + expression.error().message;
}

TEST(Expression, BindsAsArithmeticDoes) {
  EXPECT_TRUE(holds("bm + 2 * bn == 7", 1, 3));
  EXPECT_TRUE(holds("(bm + 2) * bn == 9", 1, 3));
  EXPECT_TRUE(holds("10 - 4 - 3 == 3", 0));
  EXPECT_TRUE(holds("-bm + 5 == 2", 3));
  EXPECT_TRUE(holds("bm % 8 == 0 and bm / 8 == 2", 16));
  EXPECT_TRUE(holds("bm == 1 or bm == 2 and bn == 9", 1, 0));
  EXPECT_FALSE(holds("(bm == 1 or bm == 2) and bn == 9", 1, 0));
  EXPECT_TRUE(holds("not bm == 2", 1));
  EXPECT_TRUE(holds("bm", 3));
  EXPECT_FALSE(holds("false or bm", 0));
}

TEST(Expression, ComparesTexts) {
  EXPECT_TRUE(holds("layout == 'rows'", 0));
  EXPECT_TRUE(holds("layout != \"columns\" and bm <= 4", 4));
  EXPECT_FALSE(holds("layout == 'row'", 0));
}

TEST(Expression, ADivisionByZeroMeetsNothing) {
  for (const char* sign : {"==", "!=", "<", "<=", ">", ">="}) {
    EXPECT_FALSE(holds(std::string("1 / bm ") + sign + " 1", 0)) << sign;
    EXPECT_FALSE(holds(std::string("1 % bm ") + sign + " 1", 0)) << sign;
  }
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(problem_of("bm <= "), "column 7: the end where a value is missing");
  EXPECT_EQ(problem_of("bm <= bx"), "column 7: 'bx', which is no knob");
  EXPECT_EQ(problem_of("bm = 3"), "column 5: '=' where == would compare");
  EXPECT_THAT(problem_of("1 < bm < 3"), HasSubstr("a chain of comparisons"));
  EXPECT_THAT(problem_of("bm == 'a'"), HasSubstr("a comparison of text with a number"));
  EXPECT_THAT(problem_of("layout < 'a'"), HasSubstr("an order of texts"));
  EXPECT_THAT(problem_of("layout * 2 == 4"), HasSubstr("text beside"));
  EXPECT_THAT(problem_of("layout"), HasSubstr("text where a condition is needed"));
  EXPECT_THAT(problem_of("(bm == 1"), HasSubstr("the end where ) is missing"));
  EXPECT_THAT(problem_of("bm == 1)"), HasSubstr("')' where the condition could end"));
  EXPECT_THAT(problem_of("layout == 'a"), HasSubstr("without its second quote"));
  EXPECT_THAT(problem_of("bm == 1x"), HasSubstr("which is no number"));
  EXPECT_THAT(problem_of(""), HasSubstr("a value is missing"));
  EXPECT_THAT(problem_of(std::string(100, '(') + "1" + std::string(100, ')')), HasSubstr("nests too deeply"));
  EXPECT_THAT(problem_of(std::string(5000, ' ') + "1"), HasSubstr("characters"));
}

}  // namespace
}  // namespace perfcast::measure
