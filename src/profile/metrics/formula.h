#pragma once
// Formulas of derived metrics: a small arithmetic language over metric names that can neither loop nor fail.
//
//   names     [a-z][a-z0-9_]*        numbers   12, 0.5, 1e-3        operators   + - * / ( ), unary -
//   log2(x)   max(x, y, ...)   min(x, y, ...)
//   sum(x, y, ...)     adds the operands that are present; absent only where all are absent
//   first(x, y, ...)   the first operand that is present: a metric with its fallbacks
//
// Missing is never zero: an absent name, a zero divisor, log2 of what is not positive and an overflow are absent, and
// absence spreads through every operator but sum() and first().

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast {

class Formula {
 public:
  // Error "bad-formula": message names the column (from 1) and what stands there.
  static Result<Formula> parse(std::string_view text, const std::string& where);

  // The names it reads, each once, in order of appearance.
  const std::vector<std::string>& names() const { return names_; }

  std::optional<double> evaluate(const std::map<std::string, double, std::less<>>& values) const;

 private:
  friend class FormulaParser;
  enum class Operation {
    kNumber,
    kName,
    kNegate,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kLog2,
    kMax,
    kMin,
    kSum,
    kFirst
  };
  struct Step {
    Operation operation;
    double number = 0;    // kNumber
    size_t operands = 0;  // kName: index into names_; functions: how many they take from the stack
  };

  std::vector<Step> steps_;  // in postfix order
  std::vector<std::string> names_;
};

}  // namespace perfcast
