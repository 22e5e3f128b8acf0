#pragma once
// One small language for conditions and formulas: "bm * bn <= 4096 and (layout == 'rows' or not pack)",
// "first(cycles_ref, cycles) / sum(loads, stores)". It can neither loop nor fail, and nothing of it is ever handed to
// another interpreter.
//
//   values     12, 0.5, 1e-3    'text' or "text"    true, false (1 and 0)    names: [A-Za-z_][A-Za-z0-9_]*
//   operators  * / % before + -, these before == != < <= > >=, then not, and, or; unary -
//   log2(x)    max(x, y, ...)   min(x, y, ...)
//   sum(x, y, ...)     adds the operands that are present; absent only where all are absent
//   first(x, y, ...)   the first operand that is present: a value with its fallbacks
//
// Missing is never zero: what has no value, a zero divisor, log2 of what is not positive and an overflow are absent.
// Absence spreads through arithmetic and functions but for sum() and first(); it makes every comparison false.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

enum class ExpressionType { kNumber, kText };

// What a name stands for. A number that isn't finite is absent.
struct ExpressionValue {
  double number = 0;
  std::string_view text;  // of names that have text
};

class Expression {
 public:
  // What a name is; nullopt: nothing is called so.
  using TypeOf = std::function<std::optional<ExpressionType>(std::string_view name)>;
  // `noun`: what names are of, for messages: "knob". Error "bad-expression" in `where`, whose message begins with the
  // column: text in arithmetic, a comparison of text with a number, unknown names and functions, a chain of
  // comparisons, more than 8192 characters or 64 levels.
  static Result<Expression> parse(std::string_view text, const std::string& where, const std::string& noun,
                                  const TypeOf& type_of);

  const std::string& text() const { return text_; }
  const std::vector<std::string>& names() const { return names_; }  // each once, in order of appearance

  using ValueOf = std::function<ExpressionValue(size_t)>;  // of names()[i]
  double evaluate(const ValueOf& value_of) const;          // NaN where absent
  bool holds(const ValueOf& value_of) const;               // neither 0 nor absent

 private:
  friend class ExpressionParser;
  enum class Step : uint8_t {
    kNumber,
    kText,
    kName,  // push
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kNegate,
    kEqual,
    kUnequal,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kEqualText,
    kUnequalText,
    kAnd,
    kOr,
    kNot,
    kLog2,
    kMax,
    kMin,
    kSum,
    kFirst
  };
  struct Operation {
    Step step = Step::kNumber;
    size_t index = 0;  // of names_ or texts_; functions: how many values they take
    double number = 0;
  };
  std::string text_;
  std::vector<std::string> names_, texts_;
  std::vector<Operation> program_;  // in postfix order
};

}  // namespace perfcast
