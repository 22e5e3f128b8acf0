#include "measure/tune/space/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr size_t kLongest = 4000;
constexpr int kDeepest = 50;

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_true(double value) { return value < 0 || value > 0; }  // NaN isn't
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

}  // namespace

// By recursive descent; the first mistake ends it.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const Expression::TypeOf& type_of) : text_(text), type_of_(type_of) {}

  Result<Expression> run() {
    if (text_.size() > kLongest) {
      return Error{"bad-expression", fmt::format("the condition has {} characters", text_.size()), "",
                   fmt::format("at most {}", kLongest)};
    }
    const Type type = alternatives();
    skip_spaces();
    if (ok() && at_ < text_.size()) fail("'" + word() + "' where the condition could end", "an operator, or the end");
    if (ok() && type == Type::kText) fail("text where a condition is needed", "a comparison, such as name == 'text'");
    if (error_) return *error_;
    result_.text_ = text_;
    return std::move(result_);
  }

 private:
  using Type = ExpressionType;
  using Step = Expression::Step;

  bool ok() const { return !error_; }
  void fail(const std::string& found, std::string expected) {
    if (error_) return;
    error_ = Error{"bad-expression", printable(found), fmt::format("column {}", at_ + 1), std::move(expected)};
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
  void push(Step step, size_t index = 0, double number = 0) { result_.program_.push_back({step, index, number}); }
  void need_number(Type type, const char* what) {
    if (ok() && type != Type::kNumber) fail(fmt::format("text beside {}", what), "numbers there");
  }

  Type alternatives() {
    Type type = conjunction();
    while (ok() && take("or")) {
      need_number(type, "'or'");
      type = conjunction();
      need_number(type, "'or'");
      push(Step::kOr);
    }
    return type;
  }
  Type conjunction() {
    Type type = negation();
    while (ok() && take("and")) {
      need_number(type, "'and'");
      type = negation();
      need_number(type, "'and'");
      push(Step::kAnd);
    }
    return type;
  }
  Type negation() {
    if (!take("not")) return comparison();
    const Deeper deeper(*this);
    if (!ok()) return Type::kNumber;
    need_number(negation(), "'not'");
    push(Step::kNot);
    return Type::kNumber;
  }
  std::optional<Step> comparison_sign() {
    // The longer ones first.
    for (const auto& [sign, step] : {std::pair{"==", Step::kEqual},
                                     {"!=", Step::kUnequal},
                                     {"<=", Step::kLessEqual},
                                     {">=", Step::kGreaterEqual},
                                     {"<", Step::kLess},
                                     {">", Step::kGreater}}) {
      if (take(sign)) return step;
    }
    if (take("=")) fail("'=' where == would compare", "==");
    return std::nullopt;
  }
  Type comparison() {
    const Type left = sum();
    const auto sign = ok() ? comparison_sign() : std::nullopt;
    if (!sign) return left;
    const Type right = sum();
    if (!ok()) return left;
    if (left != right) {
      fail("a comparison of text with a number",
           "a knob that has text beside quoted text, one that has numbers beside numbers");
    } else if (left == Type::kText && *sign != Step::kEqual && *sign != Step::kUnequal) {
      fail("an order of texts", "== or != between texts");
    }
    push(left == Type::kNumber ? *sign : *sign == Step::kEqual ? Step::kEqualText : Step::kUnequalText);
    if (comparison_sign()) fail("a chain of comparisons", "such as a < b and b < c");
    return Type::kNumber;
  }
  Type sum() {
    Type type = product();
    while (ok()) {
      const Step step = take("+") ? Step::kAdd : take("-") ? Step::kSubtract : Step::kNumber;
      if (step == Step::kNumber) break;
      need_number(type, "'+' or '-'");
      type = product();
      need_number(type, "'+' or '-'");
      push(step);
    }
    return type;
  }
  Type product() {
    Type type = factor();
    while (ok()) {
      const Step step = take("*")   ? Step::kMultiply
                        : take("/") ? Step::kDivide
                        : take("%") ? Step::kRemainder
                                    : Step::kNumber;
      if (step == Step::kNumber) break;
      need_number(type, "'*', '/' or '%'");
      type = factor();
      need_number(type, "'*', '/' or '%'");
      push(step);
    }
    return type;
  }
  Type factor() {
    const Deeper deeper(*this);
    if (!ok()) return Type::kNumber;
    if (take("-")) {
      need_number(factor(), "'-'");
      push(Step::kNegate);
      return Type::kNumber;
    }
    if (take("(")) {
      const Type type = alternatives();
      if (ok() && !take(")"))
        fail(at_ < text_.size() ? "'" + word() + "' where ) is missing" : "the end where ) is missing", ")");
      return type;
    }
    skip_spaces();
    if (at_ >= text_.size()) {
      fail("the end where a value is missing", "a knob, a number or quoted text");
      return Type::kNumber;
    }
    const char c = text_[at_];
    if (c == '\'' || c == '"') return quoted(c);
    if (is_digit(c) || c == '.') return number();
    if (is_name_start(c)) return name();
    fail("'" + word() + "' where a value is missing", "a knob, a number or quoted text");
    return Type::kNumber;
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
    if (!value) {
      fail("'" + std::string(text_.substr(at_, end - at_)) + "', which is no number", "such as 16, 0.5 or 1e6");
      return Type::kNumber;
    }
    push(Step::kNumber, 0, *value);
    at_ = end;
    return Type::kNumber;
  }
  Type name() {
    const std::string found = word();
    for (const char* reserved : {"and", "or", "not"}) {
      if (found != reserved) continue;
      fail("'" + found + "' where a value is missing", "a knob, a number or quoted text");
      return Type::kNumber;
    }
    if (found == "true" || found == "false") {
      push(Step::kNumber, 0, found == "true" ? 1 : 0);
      at_ += found.size();
      return Type::kNumber;
    }
    const auto type = type_of_(found);
    if (!type) {
      fail("'" + found + "', which is no knob", "a knob of this file; text in quotes");
      return Type::kNumber;
    }
    auto& names = result_.names_;
    const auto place = std::find(names.begin(), names.end(), found);
    push(Step::kName, static_cast<size_t>(place - names.begin()), *type == Type::kText ? 1 : 0);
    if (place == names.end()) names.push_back(found);
    at_ += found.size();
    return *type;
  }

  struct Deeper {
    explicit Deeper(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDeepest)
        parser_.fail("a condition that nests too deeply", fmt::format("at most {} levels", kDeepest));
    }
    ~Deeper() { --parser_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ExpressionParser& parser_;
  };

  std::string_view text_;
  const Expression::TypeOf& type_of_;
  size_t at_ = 0;
  int depth_ = 0;
  Expression result_;
  std::optional<Error> error_;
};

Result<Expression> Expression::parse(std::string_view text, const TypeOf& type_of) {
  return ExpressionParser(text, type_of).run();
}

bool Expression::holds(const std::function<ExpressionValue(size_t)>& value_of) const {
  std::vector<ExpressionValue> stack;
  stack.reserve(program_.size());
  const auto two = [&stack](auto apply) {
    const ExpressionValue right = stack.back();
    stack.pop_back();
    stack.back() = {static_cast<double>(apply(stack.back(), right)), {}};
  };
  using Value = const ExpressionValue&;
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
        break;
      case Step::kAdd:
        two([](Value a, Value b) { return a.number + b.number; });
        break;
      case Step::kSubtract:
        two([](Value a, Value b) { return a.number - b.number; });
        break;
      case Step::kMultiply:
        two([](Value a, Value b) { return a.number * b.number; });
        break;
      case Step::kDivide:
        two([](Value a, Value b) { return b.number == 0 ? NAN : a.number / b.number; });
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
    }
  }
  return is_true(stack.back().number);
}

}  // namespace perfcast::measure
