#include "base/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Values = std::map<std::string, double, std::less<>>;

// bm and bn, a to d are numbers, layout is text.
std::optional<ExpressionType> type_of(std::string_view name) {
  if (name == "bm" || name == "bn" || name.size() == 1) return ExpressionType::kNumber;
  if (name == "layout") return ExpressionType::kText;
  return std::nullopt;
}

std::optional<double> value_of(const std::string& text, const Values& values = {}) {
  const auto formula = Expression::parse(text, "test", "metric", type_of);
  EXPECT_TRUE(formula) << text << ": " << to_text(formula.error());
  if (!formula) return std::nullopt;
  const double value = formula->evaluate([&](size_t i) -> ExpressionValue {
    const auto found = values.find(formula->names()[i]);
    return {found == values.end() ? NAN : found->second, {}};
  });
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

bool holds(const std::string& text, double bm, double bn = 1, std::string_view layout = "rows") {
  const auto expression = Expression::parse(text, "test", "knob", type_of);
  EXPECT_TRUE(expression) << text << ": " << to_text(expression.error());
  if (!expression) return false;
  return expression->holds([&](size_t i) -> ExpressionValue {
    const std::string& name = expression->names()[i];
    return name == "bm" ? ExpressionValue{bm, {}} : name == "bn" ? ExpressionValue{bn, {}} : ExpressionValue{0, layout};
  });
}

std::string problem_of(const std::string& text) {
  const auto expression = Expression::parse(text, "test", "knob", type_of);
  EXPECT_FALSE(expression) << text;
  return expression ? "" : expression.error().message;
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
  EXPECT_THAT(problem_of("layout"), HasSubstr("text where a number is needed"));
  EXPECT_THAT(problem_of("(bm == 1"), HasSubstr("the end where ) is missing"));
  EXPECT_THAT(problem_of("bm == 1)"), HasSubstr("')' where the end could be"));
  EXPECT_THAT(problem_of("layout == 'a"), HasSubstr("without its second quote"));
  EXPECT_THAT(problem_of("bm == 1x"), HasSubstr("which is no number"));
  EXPECT_THAT(problem_of(""), HasSubstr("a value is missing"));
}

TEST(Expression, Arithmetic) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("8 - 4 - 2"), 2);
  EXPECT_EQ(value_of("16 / 4 / 2"), 2);
  EXPECT_EQ(value_of("-2 * -3"), 6);
  EXPECT_EQ(value_of("2 - -3"), 5);
  EXPECT_EQ(value_of("1.5e3 + 2E-1"), 1500.2);
  EXPECT_EQ(value_of(".5"), 0.5);
}

TEST(Expression, Functions) {
  EXPECT_EQ(value_of("log2(8)"), 3);
  EXPECT_EQ(value_of("max(1, 5, 3)"), 5);
  EXPECT_EQ(value_of("min(4, 2 + 1)"), 3);
  EXPECT_EQ(value_of("sum(1, 2, 3)"), 6);
  EXPECT_EQ(value_of("first(7, 8)"), 7);
}

TEST(Expression, NamesInOrderOfAppearance) {
  const auto formula = Expression::parse("b / (a + b) + max(c, a)", "test", "metric", type_of);
  ASSERT_TRUE(formula);
  EXPECT_THAT(formula->names(), ElementsAre("b", "a", "c"));
  EXPECT_EQ(value_of("b / (a + b) + max(c, a)", {{"a", 1}, {"b", 3}, {"c", 10}}), 10.75);
}

TEST(Expression, AbsenceSpreads) {
  const Values values = {{"a", 2}};
  EXPECT_EQ(value_of("a + b", values), std::nullopt);
  EXPECT_EQ(value_of("0 * b", values), std::nullopt);
  EXPECT_EQ(value_of("-b", values), std::nullopt);
  EXPECT_EQ(value_of("log2(b)", values), std::nullopt);
  EXPECT_EQ(value_of("max(a, b)", values), std::nullopt);
  EXPECT_EQ(value_of("min(b, a)", values), std::nullopt);
}

TEST(Expression, SumAndFirstSkipWhatIsAbsent) {
  const Values values = {{"a", 2}, {"c", 5}};
  EXPECT_EQ(value_of("sum(a, b, c)", values), 7);
  EXPECT_EQ(value_of("sum(b, c)", values), 5);
  EXPECT_EQ(value_of("sum(b, d)", values), std::nullopt);
  EXPECT_EQ(value_of("first(b, c, a)", values), 5);
  EXPECT_EQ(value_of("first(b, d)", values), std::nullopt);
  EXPECT_EQ(value_of("first(b / a, a / b, c / a)", values), 2.5);
}

TEST(Expression, WhatHasNoValueIsAbsent) {
  EXPECT_EQ(value_of("1 / 0"), std::nullopt);
  EXPECT_EQ(value_of("0 / 0"), std::nullopt);
  EXPECT_EQ(value_of("log2(0)"), std::nullopt);
  EXPECT_EQ(value_of("log2(-1)"), std::nullopt);
  EXPECT_EQ(value_of("1e308 * 1e308"), std::nullopt);
  EXPECT_EQ(value_of("1 + a", {{"a", std::numeric_limits<double>::quiet_NaN()}}), std::nullopt);
  EXPECT_EQ(value_of("0 / 5"), 0);
}

TEST(Expression, MistakesOfFormulasSayWhere) {
  EXPECT_EQ(problem_of("a + "), "column 5: the end where a value is missing");
  EXPECT_EQ(problem_of("a b"), "column 3: 'b' where the end could be");
  EXPECT_EQ(problem_of("(a * 2"), "column 7: the end where ) is missing");
  EXPECT_EQ(problem_of("sqrt(a)"), "column 1: 'sqrt', which is no function");
  EXPECT_THAT(problem_of("1 + log2(a, b)"), HasSubstr("log2 of 2 values"));
  EXPECT_EQ(problem_of("1.2.3"), "column 1: '1.2.3', which is no number");
  EXPECT_EQ(problem_of("1e999"), "column 1: '1e999', which is no number");
  EXPECT_EQ(problem_of("max()"), "column 5: ')' where a value is missing");
  EXPECT_EQ(problem_of(std::string("a\0b", 3)), "column 2: '?' where the end could be");
  const auto empty = Expression::parse("", "here", "metric", type_of);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, "bad-expression");
  EXPECT_EQ(empty.error().where, "here");
  EXPECT_EQ(empty.error().expected, "a metric, a number or quoted text");
}

TEST(Expression, WhatIsDeepOrLongIsRefused) {
  EXPECT_THAT(problem_of(std::string(10000, '(')), HasSubstr("10000 characters"));
  EXPECT_THAT(problem_of(std::string(8000, '(')), HasSubstr("nests too deeply"));
  EXPECT_THAT(problem_of(std::string(8000, '-')), HasSubstr("nests too deeply"));
  EXPECT_EQ(value_of(std::string(60, '(') + "1" + std::string(60, ')')), 1);
}

}  // namespace
}  // namespace perfcast
