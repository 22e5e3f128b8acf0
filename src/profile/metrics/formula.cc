#include "profile/metrics/formula.h"

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr size_t kMaximumLength = 8192;
constexpr int kMaximumDepth = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return c >= 'a' && c <= 'z'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c) || c == '_'; }

}  // namespace

// Recursive descent, one method per level of precedence; the first mistake ends the parse.
class FormulaParser {
 public:
  FormulaParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Result<Formula> parse() {
    if (text_.size() > kMaximumLength) {
      fail(0, "the formula has " + std::to_string(text_.size()) + " characters",
           "at most " + std::to_string(kMaximumLength));
    }
    sum();
    if (peek() != '\0' || at_ < text_.size()) fail(at_, found(), "an operator or the end");
    if (error_) return *error_;
    return std::move(formula_);
  }

 private:
  using Operation = Formula::Operation;

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() && !error_ ? text_[at_] : '\0';
  }

  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  std::string found() const {
    if (at_ >= text_.size()) return "the formula ends";
    return "found '" + printable(text_.substr(at_, 12)) + "'";
  }

  void fail(size_t at, const std::string& what, const std::string& expected) {
    if (error_) return;
    error_ = Error{"bad-formula", "column " + std::to_string(at + 1) + ": " + what, where_, expected};
    at_ = text_.size();
  }

  void emit(Operation operation, size_t operands = 0, double number = 0) {
    formula_.steps_.push_back({operation, number, operands});
  }

  void sum() {
    product();
    while (true) {
      if (take('+')) {
        product();
        emit(Operation::kAdd);
      } else if (take('-')) {
        product();
        emit(Operation::kSubtract);
      } else {
        return;
      }
    }
  }

  void product() {
    factor();
    while (true) {
      if (take('*')) {
        factor();
        emit(Operation::kMultiply);
      } else if (take('/')) {
        factor();
        emit(Operation::kDivide);
      } else {
        return;
      }
    }
  }

  void factor() {
    if (++depth_ > kMaximumDepth) {
      fail(at_, "the formula nests deeper than " + std::to_string(kMaximumDepth) + " levels", "a flatter formula");
    }
    const char next = peek();
    if (take('-')) {
      factor();
      emit(Operation::kNegate);
    } else if (take('(')) {
      sum();
      if (!take(')')) fail(at_, found(), "')'");
    } else if (is_digit(next) || next == '.') {
      number();
    } else if (is_name_start(next)) {
      name_or_call();
    } else {
      fail(at_, found(), "a metric name, a number, '(' or '-'");
    }
    --depth_;
  }

  void number() {
    const size_t start = at_;
    const auto digits = [&] {
      while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    };
    digits();
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      digits();
    }
    const std::string_view digits_text = text_.substr(start, at_ - start);
    if (const auto value = parse_number(digits_text)) {
      emit(Operation::kNumber, 0, *value);
    } else {
      fail(start, "found '" + std::string(digits_text.substr(0, 32)) + "'", "a finite decimal number");
    }
  }

  void name_or_call() {
    const size_t start = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    const std::string name(text_.substr(start, at_ - start));
    if (take('(')) {
      call(name, start);
      return;
    }
    auto& names = formula_.names_;
    const auto known = std::find(names.begin(), names.end(), name);
    emit(Operation::kName, static_cast<size_t>(known - names.begin()));
    if (known == names.end()) names.push_back(name);
  }

  void call(const std::string& name, size_t start) {
    size_t operands = 0;
    do {
      sum();
      ++operands;
    } while (take(','));
    if (!take(')')) fail(at_, found(), "',' or ')'");
    if (name == "log2") {
      if (operands != 1) fail(start, "log2() has " + std::to_string(operands) + " operands", "one operand");
      emit(Operation::kLog2);
    } else if (name == "max") {
      emit(Operation::kMax, operands);
    } else if (name == "min") {
      emit(Operation::kMin, operands);
    } else if (name == "sum") {
      emit(Operation::kSum, operands);
    } else if (name == "first") {
      emit(Operation::kFirst, operands);
    } else {
      fail(start, "found '" + name.substr(0, 64) + "('", "one of the functions log2, max, min, sum, first");
    }
  }

  std::string_view text_;
  const std::string& where_;
  size_t at_ = 0;
  int depth_ = 0;
  std::optional<Error> error_;
  Formula formula_;
};

Result<Formula> Formula::parse(std::string_view text, const std::string& where) {
  return FormulaParser(text, where).parse();
}

namespace {

using Value = std::optional<double>;

Value finite(double value) { return std::isfinite(value) ? Value(value) : std::nullopt; }

template <typename Combine>
Value both(const Value& a, const Value& b, const Combine& combine) {
  return a && b ? finite(combine(*a, *b)) : std::nullopt;
}

}  // namespace

std::optional<double> Formula::evaluate(const std::map<std::string, double, std::less<>>& values) const {
  std::vector<Value> stack;
  const auto pop = [&stack] {
    const Value top = stack.back();
    stack.pop_back();
    return top;
  };
  const auto binary = [&](const auto& combine) {
    const Value right = pop();
    const Value left = pop();
    stack.push_back(both(left, right, combine));
  };
  // Folds the last `count` values from left to right.
  const auto fold = [&](size_t count, const auto& combine) {
    const auto begin = stack.end() - static_cast<std::ptrdiff_t>(count);
    Value result = *begin;
    for (auto value = begin + 1; value != stack.end(); ++value) result = combine(result, *value);
    stack.erase(begin, stack.end());
    stack.push_back(result);
  };
  const auto greater = [](double a, double b) { return std::max(a, b); };
  const auto lesser = [](double a, double b) { return std::min(a, b); };

  for (const Step& step : steps_) {
    switch (step.operation) {
      case Operation::kNumber:
        stack.push_back(step.number);
        break;
      case Operation::kName: {
        const auto found = values.find(names_[step.operands]);
        stack.push_back(found == values.end() ? std::nullopt : finite(found->second));
        break;
      }
      case Operation::kNegate:
        if (stack.back()) stack.back() = -*stack.back();
        break;
      case Operation::kAdd:
        binary([](double a, double b) { return a + b; });
        break;
      case Operation::kSubtract:
        binary([](double a, double b) { return a - b; });
        break;
      case Operation::kMultiply:
        binary([](double a, double b) { return a * b; });
        break;
      case Operation::kDivide:
        binary([](double a, double b) { return b == 0 ? std::nan("") : a / b; });
        break;
      case Operation::kLog2: {
        const Value x = pop();
        stack.push_back(x && *x > 0 ? Value(std::log2(*x)) : std::nullopt);
        break;
      }
      case Operation::kMax:
        fold(step.operands, [&](const Value& a, const Value& b) { return both(a, b, greater); });
        break;
      case Operation::kMin:
        fold(step.operands, [&](const Value& a, const Value& b) { return both(a, b, lesser); });
        break;
      case Operation::kSum:
        fold(step.operands, [](const Value& a, const Value& b) { return a && b ? finite(*a + *b) : a ? a : b; });
        break;
      case Operation::kFirst:
        fold(step.operands, [](const Value& a, const Value& b) { return a ? a : b; });
        break;
    }
  }
  return stack.back();
}

}  // namespace perfcast
