#include "profile/metrics/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Values = std::map<std::string, double, std::less<>>;

std::optional<double> value_of(const std::string& text, const Values& values = {}) {
  const auto formula = Formula::parse(text, "test");
  EXPECT_TRUE(formula) << to_text(formula.error());
  return formula ? formula->evaluate(values) : std::nullopt;
}

Error error_of(const std::string& text) {
  const auto formula = Formula::parse(text, "here");
  EXPECT_FALSE(formula) << text;
  return formula ? Error{} : formula.error();
}

TEST(Formula, Arithmetic) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("8 - 4 - 2"), 2);
  EXPECT_EQ(value_of("16 / 4 / 2"), 2);
  EXPECT_EQ(value_of("-2 * -3"), 6);
  EXPECT_EQ(value_of("2 - -3"), 5);
  EXPECT_EQ(value_of("1.5e3 + 2E-1"), 1500.2);
  EXPECT_EQ(value_of(".5"), 0.5);
}

TEST(Formula, Functions) {
  EXPECT_EQ(value_of("log2(8)"), 3);
  EXPECT_EQ(value_of("max(1, 5, 3)"), 5);
  EXPECT_EQ(value_of("min(4, 2 + 1)"), 3);
  EXPECT_EQ(value_of("sum(1, 2, 3)"), 6);
  EXPECT_EQ(value_of("first(7, 8)"), 7);
}

TEST(Formula, NamesInOrderOfAppearance) {
  const auto formula = Formula::parse("b / (a + b) + max(c, a)", "test");
  ASSERT_TRUE(formula);
  EXPECT_THAT(formula->names(), ElementsAre("b", "a", "c"));
  EXPECT_EQ(formula->evaluate({{"a", 1}, {"b", 3}, {"c", 10}}), 10.75);
}

TEST(Formula, AbsenceSpreads) {
  const Values values = {{"a", 2}};
  EXPECT_EQ(value_of("a + b", values), std::nullopt);
  EXPECT_EQ(value_of("0 * b", values), std::nullopt);
  EXPECT_EQ(value_of("-b", values), std::nullopt);
  EXPECT_EQ(value_of("log2(b)", values), std::nullopt);
  EXPECT_EQ(value_of("max(a, b)", values), std::nullopt);
  EXPECT_EQ(value_of("min(b, a)", values), std::nullopt);
}

TEST(Formula, SumAndFirstSkipWhatIsAbsent) {
  const Values values = {{"a", 2}, {"c", 5}};
  EXPECT_EQ(value_of("sum(a, b, c)", values), 7);
  EXPECT_EQ(value_of("sum(b, c)", values), 5);
  EXPECT_EQ(value_of("sum(b, d)", values), std::nullopt);
  EXPECT_EQ(value_of("first(b, c, a)", values), 5);
  EXPECT_EQ(value_of("first(b, d)", values), std::nullopt);
  EXPECT_EQ(value_of("first(b / a, a / b, c / a)", values), 2.5);
}

TEST(Formula, WhatHasNoValueIsAbsent) {
  EXPECT_EQ(value_of("1 / 0"), std::nullopt);
  EXPECT_EQ(value_of("0 / 0"), std::nullopt);
  EXPECT_EQ(value_of("log2(0)"), std::nullopt);
  EXPECT_EQ(value_of("log2(-1)"), std::nullopt);
  EXPECT_EQ(value_of("1e308 * 1e308"), std::nullopt);
  EXPECT_EQ(value_of("1 + a", {{"a", std::numeric_limits<double>::quiet_NaN()}}), std::nullopt);
  EXPECT_EQ(value_of("0 / 5"), 0);
}

TEST(Formula, MistakesSayWhere) {
  EXPECT_EQ(error_of("a + ").message, "column 5: the formula ends");
  EXPECT_EQ(error_of("a + ").expected, "a metric name, a number, '(' or '-'");
  EXPECT_EQ(error_of("a b").message, "column 3: found 'b'");
  EXPECT_EQ(error_of("a b").expected, "an operator or the end");
  EXPECT_EQ(error_of("(a * 2").message, "column 7: the formula ends");
  EXPECT_EQ(error_of("(a * 2").expected, "')'");
  EXPECT_EQ(error_of("sqrt(a)").message, "column 1: found 'sqrt('");
  EXPECT_EQ(error_of("sqrt(a)").expected, "one of the functions log2, max, min, sum, first");
  EXPECT_EQ(error_of("1 + log2(a, b)").message, "column 5: log2() has 2 operands");
  EXPECT_EQ(error_of("1.2.3").message, "column 1: found '1.2.3'");
  EXPECT_EQ(error_of("1e999").expected, "a finite decimal number");
  EXPECT_EQ(error_of("max()").message, "column 5: found ')'");
  EXPECT_EQ(error_of("Upper").message, "column 1: found 'Upper'");
  EXPECT_EQ(error_of(std::string("a\0b", 3)).message, "column 2: found '?b'");
  EXPECT_EQ(error_of("").code, "bad-formula");
  EXPECT_EQ(error_of("").where, "here");
}

TEST(Formula, DeepAndLongFormulasAreRefused) {
  EXPECT_THAT(error_of(std::string(10000, '(')).message, HasSubstr("10000 characters"));
  EXPECT_THAT(error_of(std::string(8000, '(')).message, HasSubstr("nests deeper than 64 levels"));
  EXPECT_THAT(error_of(std::string(8000, '-')).message, HasSubstr("nests deeper than 64 levels"));
  EXPECT_EQ(value_of(std::string(60, '(') + "1" + std::string(60, ')')), 1);
}

}  // namespace
}  // namespace perfcast
