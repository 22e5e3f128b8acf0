#pragma once
// Conditions on knobs: "bm * bn <= 4096 and (layout == 'rows' or not pack)". Numbers, quoted text, names of knobs, true
// and false (1 and 0); * / % before + -, these before comparisons, then not, and, or. Parsed once into steps on a
// stack: nothing of it is ever handed to another interpreter.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::measure {

enum class ExpressionType { kNumber, kText };

// What a name stands for.
struct ExpressionValue {
  double number = 0;
  std::string_view text;  // of knobs that have text
};

class Expression {
 public:
  // What a name is; nullopt: no knob is called so.
  using TypeOf = std::function<std::optional<ExpressionType>(std::string_view name)>;
  // Error "bad-expression" with what was found, and the column in `where`: text in arithmetic, a comparison of text
  // with a number, unknown names, a chain of comparisons, more than 4000 characters or 50 levels.
  static Result<Expression> parse(std::string_view text, const TypeOf& type_of);

  const std::string& text() const { return text_; }
  const std::vector<std::string>& names() const { return names_; }  // each once

  // `value_of(i)`: of names()[i]. What isn't a number (division by 0) makes every comparison false.
  bool holds(const std::function<ExpressionValue(size_t)>& value_of) const;

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
    kNot
  };
  struct Operation {
    Step step = Step::kNumber;
    size_t index = 0;  // of names_ or texts_
    double number = 0;
  };
  std::string text_;
  std::vector<std::string> names_, texts_;
  std::vector<Operation> program_;
};

}  // namespace perfcast::measure
