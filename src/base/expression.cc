#include "base/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/text.h"
#include "base/unknown.h"

namespace perfcast {
namespace {

constexpr size_t kLongest = 8192;
constexpr int kDeepest = 64;

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
bool is_true(double value) { return value < 0 || value > 0; }  // NaN isn't
double finite(double value) { return std::isfinite(value) ? value : kUnknown; }

}  // namespace

// By recursive descent; the first mistake ends it.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::string where, const std::string& noun, const Expression::TypeOf& type_of)
      : text_(text), where_(std::move(where)), noun_(noun), type_of_(type_of) {}

  Result<Expression> run() {
    if (text_.size() > kLongest) fail(fmt::format("{} characters", text_.size()), fmt::format("at most {}", kLongest));
    const Type type = level(0);
    skip_spaces();
    if (ok() && at_ < text_.size()) fail("'" + word() + "' where the end could be", "an operator, or the end");
    if (ok() && type == Type::kText) fail("text where a number is needed", "a comparison, such as name == 'text'");
    if (error_) return *error_;
    result_.text_ = text_;
    return std::move(result_);
  }

 private:
  using Type = ExpressionType;
  using Step = Expression::Step;

  struct Sign {
    const char* text;
    Step step;
    int level;
  };
  static constexpr int kComparisons = 2, kFactors = 5;
  // By how they bind, the loosest first; of those that begin alike the longer first.
  static constexpr Sign kSigns[] = {
      {"or", Step::kOr, 0},        {"and", Step::kAnd, 1},         {"==", Step::kEqual, 2},   {"!=", Step::kUnequal, 2},
      {"<=", Step::kLessEqual, 2}, {">=", Step::kGreaterEqual, 2}, {"<", Step::kLess, 2},     {">", Step::kGreater, 2},
      {"+", Step::kAdd, 3},        {"-", Step::kSubtract, 3},      {"*", Step::kMultiply, 4}, {"/", Step::kDivide, 4},
      {"%", Step::kRemainder, 4}};
  static constexpr std::pair<const char*, Step> kFunctions[] = {
      {"log2", Step::kLog2}, {"max", Step::kMax}, {"min", Step::kMin}, {"sum", Step::kSum}, {"first", Step::kFirst}};

  bool ok() const { return !error_; }
  void fail(const std::string& found, std::string expected) {
    if (error_) return;
    error_ =
        Error{"bad-expression", fmt::format("column {}: {}", at_ + 1, printable(found)), where_, std::move(expected)};
  }
  Type fail_value(const std::string& found) {
    fail(found + " where a value is missing", fmt::format("a {}, a number or quoted text", noun_));
    return Type::kNumber;
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  // What stands here, for a message.
  std::string word() const {
    size_t end = at_;
    while (end < text_.size() && is_name_part(text_[end])) ++end;
    return std::string(text_.substr(at_, std::max<size_t>(end - at_, 1)));
  }
  bool take(std::string_view symbol) {
    skip_spaces();
    if (text_.substr(at_, symbol.size()) != symbol) return false;
    if (is_name_start(symbol[0]) && at_ + symbol.size() < text_.size() && is_name_part(text_[at_ + symbol.size()]))
      return false;
    at_ += symbol.size();
    return true;
  }
  void close() {
    if (ok() && !take(")")) fail((at_ < text_.size() ? "'" + word() + "'" : "the end") + " where ) is missing", ")");
  }
  void push(Step step, size_t index = 0, double number = 0) { result_.program_.push_back({step, index, number}); }
  void need_number(Type type, std::string_view beside) {
    if (ok() && type != Type::kNumber) fail(fmt::format("text beside '{}'", beside), "numbers there");
  }

  const Sign* sign_of(int level) {
    for (const Sign& sign : kSigns) {
      if (sign.level == level && take(sign.text)) return &sign;
    }
    if (level == kComparisons && take("=")) fail("'=' where == would compare", "==");
    return nullptr;
  }

  Type level(int n) {
    if (n == kFactors) return factor();
    if (n == kComparisons && take("not")) {
      const Deeper deeper(*this);
      if (ok()) need_number(level(kComparisons), "not");
      push(Step::kNot);
      return Type::kNumber;
    }
    Type left = level(n + 1);
    const Sign* sign = nullptr;
    while (ok() && (sign = sign_of(n)) != nullptr) {
      if (n != kComparisons) need_number(left, sign->text);
      const Type right = level(n + 1);
      if (n == kComparisons) {
        compare(left, right, sign->step);
      } else {
        need_number(right, sign->text);
        push(sign->step);
      }
      left = Type::kNumber;
    }
    return left;
  }

  void compare(Type left, Type right, Step step) {
    if (!ok()) return;
    const bool equality = step == Step::kEqual || step == Step::kUnequal;
    if (left != right) {
      fail("a comparison of text with a number",
           fmt::format("a {0} that has text beside quoted text, one that has numbers beside numbers", noun_));
    } else if (left == Type::kText && !equality) {
      fail("an order of texts", "== or != between texts");
    }
    push(left == Type::kNumber ? step : step == Step::kEqual ? Step::kEqualText : Step::kUnequalText);
    if (sign_of(kComparisons) != nullptr) fail("a chain of comparisons", "such as a < b and b < c");
  }

  Type factor() {
    const Deeper deeper(*this);
    if (!ok()) return Type::kNumber;
    if (take("-")) {
      need_number(factor(), "-");
      push(Step::kNegate);
      return Type::kNumber;
    }
    if (take("(")) {
      const Type type = level(0);
      close();
      return type;
    }
    skip_spaces();
    if (at_ >= text_.size()) return fail_value("the end");
    const char c = text_[at_];
    if (c == '\'' || c == '"') return quoted(c);
    if (is_digit(c) || c == '.') return number();
    if (is_name_start(c)) return name();
    return fail_value("'" + word() + "'");
  }
  Type quoted(char quote) {
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) {
      fail("text without its second quote", "a quote at its end");
      return Type::kText;
    }
    result_.texts_.emplace_back(text_.substr(at_ + 1, end - at_ - 1));
    push(Step::kText, result_.texts_.size() - 1);
    at_ = end + 1;
    return Type::kText;
  }
  Type number() {
    size_t end = at_;
    while (end < text_.size() &&
           (is_name_part(text_[end]) || text_[end] == '.' ||
            ((text_[end] == '-' || text_[end] == '+') && (text_[end - 1] == 'e' || text_[end - 1] == 'E'))))
      ++end;
    const auto value = parse_number(text_.substr(at_, end - at_));
    if (!value)
      fail("'" + std::string(text_.substr(at_, end - at_)) + "', which is no number", "such as 16, 0.5 or 1e6");
    push(Step::kNumber, 0, value.value_or(0));
    at_ = end;
    return Type::kNumber;
  }
  Type name() {
    const std::string found = word();
    if (found == "and" || found == "or" || found == "not") return fail_value("'" + found + "'");
    const size_t start = at_;
    at_ += found.size();
    if (found == "true" || found == "false") {
      push(Step::kNumber, 0, found == "true" ? 1 : 0);
      return Type::kNumber;
    }
    if (take("(")) return call(found, start);
    const auto type = type_of_(found);
    if (!type) {
      at_ = start;
      fail(fmt::format("'{}', which is no {}", found, noun_), fmt::format("a {} of this file; text in quotes", noun_));
      return Type::kNumber;
    }
    auto& names = result_.names_;
    const auto place = std::find(names.begin(), names.end(), found);
    push(Step::kName, static_cast<size_t>(place - names.begin()));
    if (place == names.end()) names.push_back(found);
    return *type;
  }
  Type call(const std::string& name, size_t start) {
    const auto* const function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                              [&name](const auto& known) { return name == known.first; });
    if (function == std::end(kFunctions)) {
      at_ = start;
      fail("'" + name + "', which is no function", "one of log2, max, min, sum, first");
      return Type::kNumber;
    }
    size_t count = 0;
    do {
      need_number(level(0), name);
      ++count;
    } while (ok() && take(","));
    close();
    if (function->second == Step::kLog2 && count != 1) fail(fmt::format("log2 of {} values", count), "one value");
    push(function->second, count);
    return Type::kNumber;
  }

  struct Deeper {
    explicit Deeper(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDeepest)
        parser_.fail("an expression that nests too deeply", fmt::format("at most {} levels", kDeepest));
    }
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ExpressionParser& parser_;
  };

  std::string_view text_;
  std::string where_;
  const std::string& noun_;
  const Expression::TypeOf& type_of_;
  size_t at_ = 0;
  int depth_ = 0;
  Expression result_;
  std::optional<Error> error_;
};

Result<Expression> Expression::parse(std::string_view text, const std::string& where, const std::string& noun,
                                     const TypeOf& type_of) {
  return ExpressionParser(text, where, noun, type_of).run();
}

double Expression::evaluate(const ValueOf& value_of) const {
  std::vector<ExpressionValue> stack;
  stack.reserve(program_.size());
  using Value = const ExpressionValue&;
  const auto two = [&stack](auto apply) {
    const ExpressionValue right = stack.back();
    stack.pop_back();
    stack.back() = {static_cast<double>(apply(stack.back(), right)), {}};
  };
  // The last `count` values, from left to right.
  const auto fold = [&stack](size_t count, auto apply) {
    const auto first = stack.end() - static_cast<std::ptrdiff_t>(count);
    for (auto value = first + 1; value != stack.end(); ++value) first->number = apply(first->number, value->number);
    stack.erase(first + 1, stack.end());
  };
  const auto is_absent = [](double value) { return std::isnan(value); };
  for (const Operation& operation : program_) {
    switch (operation.step) {
      case Step::kNumber:
        stack.push_back({operation.number, {}});
        break;
      case Step::kText:
        stack.push_back({0, texts_[operation.index]});
        break;
      case Step::kName:
        stack.push_back(value_of(operation.index));
        stack.back().number = finite(stack.back().number);
        break;
      case Step::kAdd:
        two([](Value a, Value b) { return finite(a.number + b.number); });
        break;
      case Step::kSubtract:
        two([](Value a, Value b) { return finite(a.number - b.number); });
        break;
      case Step::kMultiply:
        two([](Value a, Value b) { return finite(a.number * b.number); });
        break;
      case Step::kDivide:
        two([](Value a, Value b) { return b.number == 0 ? kUnknown : finite(a.number / b.number); });
        break;
      case Step::kRemainder:
        two([](Value a, Value b) { return std::fmod(a.number, b.number); });
        break;
      case Step::kNegate:
        stack.back().number = -stack.back().number;
        break;
      case Step::kEqual:
        two([](Value a, Value b) { return a.number == b.number; });
        break;
      case Step::kUnequal:
        two([](Value a, Value b) { return a.number < b.number || a.number > b.number; });
        break;
      case Step::kLess:
        two([](Value a, Value b) { return a.number < b.number; });
        break;
      case Step::kLessEqual:
        two([](Value a, Value b) { return a.number <= b.number; });
        break;
      case Step::kGreater:
        two([](Value a, Value b) { return a.number > b.number; });
        break;
      case Step::kGreaterEqual:
        two([](Value a, Value b) { return a.number >= b.number; });
        break;
      case Step::kEqualText:
        two([](Value a, Value b) { return a.text == b.text; });
        break;
      case Step::kUnequalText:
        two([](Value a, Value b) { return a.text != b.text; });
        break;
      case Step::kAnd:
        two([](Value a, Value b) { return is_true(a.number) && is_true(b.number); });
        break;
      case Step::kOr:
        two([](Value a, Value b) { return is_true(a.number) || is_true(b.number); });
        break;
      case Step::kNot:
        stack.back().number = is_true(stack.back().number) ? 0 : 1;
        break;
      case Step::kLog2:
        stack.back().number = stack.back().number > 0 ? std::log2(stack.back().number) : kUnknown;
        break;
      case Step::kMax:
        fold(operation.index,
             [&](double a, double b) { return is_absent(a) || is_absent(b) ? kUnknown : std::max(a, b); });
        break;
      case Step::kMin:
        fold(operation.index,
             [&](double a, double b) { return is_absent(a) || is_absent(b) ? kUnknown : std::min(a, b); });
        break;
      case Step::kSum:
        fold(operation.index, [&](double a, double b) { return is_absent(a) ? b : is_absent(b) ? a : finite(a + b); });
        break;
      case Step::kFirst:
        fold(operation.index, [&](double a, double b) { return is_absent(a) ? b : a; });
        break;
    }
  }
  return stack.back().number;
}

bool Expression::holds(const ValueOf& value_of) const { return is_true(evaluate(value_of)); }

}  // namespace perfcast
