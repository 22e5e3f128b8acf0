#include "base/number_style.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr size_t kLongestNumber = 60;
constexpr std::pair<std::string_view, std::string_view> kAlike[] = {
    {"\xC2\xA0", " "},      // no-break space
    {"\xE2\x80\xAF", " "},  // narrow no-break space
    {"\xE2\x80\x89", " "},  // thin space
    {"\xE2\x80\x99", "'"},  // right single quotation mark
    {"\xE2\x88\x92", "-"},  // minus
    {"\xA0", " "},          // no-break space of Latin-1
};

bool is_figure(char c) { return c >= '0' && c <= '9'; }

// Digits and marks, and what stands around them.
struct Number {
  std::string sign, digits, exponent;  // "-", "1,234.5", "e+3"
};

std::optional<Number> number_of(std::string_view raw) {
  if (raw.size() > kLongestNumber) return std::nullopt;
  std::string text(raw);
  for (const auto& [other, plain] : kAlike) {
    for (size_t at = text.find(other); at != std::string::npos; at = text.find(other, at + 1)) {
      text.replace(at, other.size(), plain);
    }
  }
  std::string_view rest = trim(text);
  Number number;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    number.sign = rest.front() == '-' ? "-" : "";
    rest.remove_prefix(1);
  }
  const size_t end = std::min(rest.find_first_not_of("0123456789.,' "), rest.size());
  number.digits = std::string(rest.substr(0, end));
  rest.remove_prefix(end);
  if (number.digits.empty() || number.digits.back() == ' ' || number.digits.back() == '\'') return std::nullopt;
  if (number.digits.front() == ' ' || number.digits.front() == '\'') return std::nullopt;
  if (std::none_of(number.digits.begin(), number.digits.end(), is_figure)) return std::nullopt;
  if (!rest.empty()) {
    if (rest.front() != 'e' && rest.front() != 'E') return std::nullopt;
    std::string_view power = rest.substr(1);
    if (!power.empty() && (power.front() == '-' || power.front() == '+')) power.remove_prefix(1);
    if (power.empty() || !std::all_of(power.begin(), power.end(), is_figure)) return std::nullopt;
    number.exponent = std::string(rest);
  }
  return number;
}

// "1,234,567" or "12,34,567" by ','; at least one mark.
bool is_grouped(std::string_view digits, char mark) {
  const std::vector<std::string> groups = split(digits, mark);
  if (groups.size() < 2 || groups.back().size() != 3 || groups.front().empty() || groups.front().size() > 3)
    return false;
  const size_t usual = groups[1].size();
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!std::all_of(groups[i].begin(), groups[i].end(), is_figure)) return false;
    const bool is_inner = i > 0 && i + 1 < groups.size();
    if (is_inner && (groups[i].size() != usual || usual < 2 || usual > 3)) return false;
  }
  return groups.size() == 2 || usual == 3 || groups.front().size() <= 2;
}

}  // namespace

bool looks_like_number(std::string_view text) { return number_of(text).has_value(); }

std::string describe(const NumberStyle& style) {
  std::string text = style.decimal == ',' ? "decimal commas" : "decimal points";
  if (style.grouping == ',') text += ", commas between thousands";
  if (style.grouping == '.') text += ", points between thousands";
  if (style.grouping == ' ') text += ", blanks between thousands";
  if (style.grouping == '\'') text += ", apostrophes between thousands";
  return text;
}

void NumberEvidence::see(std::string_view text) {
  if (text.find_first_of(",.' \xC2\xE2\xA0") == std::string_view::npos) return;
  const auto number = number_of(text);
  if (!number) return;
  const auto keep = [&](std::string& first) {
    if (first.empty()) first = std::string(trim(text));
  };
  std::string digits = number->digits;
  for (const auto& [mark, first] : {std::pair(' ', &space_), std::pair('\'', &apostrophe_)}) {
    if (digits.find(mark) == std::string::npos) continue;
    const size_t end = std::min(digits.find_first_of(".,"), digits.size());
    if (!is_grouped(digits.substr(0, end), mark)) return;
    keep(*first);
    std::erase(digits, mark);
    // Grouped already: what follows is a decimal mark.
    if (end < number->digits.size()) keep(number->digits[end] == ',' ? comma_decimal_ : point_decimal_);
    return;
  }
  const size_t points = static_cast<size_t>(std::count(digits.begin(), digits.end(), '.'));
  const size_t commas = static_cast<size_t>(std::count(digits.begin(), digits.end(), ','));
  if (points + commas == 0) return;
  if (points > 0 && commas > 0) {
    const char last = digits[digits.find_last_of(".,")], other = last == ',' ? '.' : ',';
    if ((last == ',' ? commas : points) > 1 || !is_grouped(digits.substr(0, digits.find(last)), other)) return;
    keep(last == ',' ? comma_decimal_ : point_decimal_);
    keep(other == ',' ? groups_comma_ : groups_point_);
    return;
  }
  const char mark = points > 0 ? '.' : ',';
  if (points + commas > 1) {
    if (!is_grouped(digits, mark)) return;
    keep(mark == ',' ? groups_comma_ : groups_point_);
    keep(mark == ',' ? point_decimal_ : comma_decimal_);
    return;
  }
  const size_t before = digits.find(mark), behind = digits.size() - before - 1;
  const bool is_decimal =
      behind != 3 || before == 0 || before > 3 || digits.front() == '0' || !number->exponent.empty();
  if (is_decimal) {
    keep(mark == ',' ? comma_decimal_ : point_decimal_);
  } else {
    keep(mark == ',' ? comma_and_three_ : point_and_three_);
  }
}

Result<NumberStyle> NumberEvidence::decide(const std::string& where) const {
  constexpr const char* kAdvice = "numbers of one style: run the tool with LC_ALL=C";
  if (!point_decimal_.empty() && !comma_decimal_.empty()) {
    return Error{
        "mixed-numbers",
        "'" + printable(comma_decimal_) + "' has a decimal comma, '" + printable(point_decimal_) + "' a decimal point",
        where, kAdvice};
  }
  NumberStyle style;
  if (!comma_decimal_.empty()) {
    style.decimal = ',';
    if (!groups_point_.empty() || !point_and_three_.empty()) style.grouping = '.';
  } else {
    if (point_decimal_.empty() && !comma_and_three_.empty() && three_digits_ == ThreeDigits::kAmbiguous) {
      return Error{
          "ambiguous-numbers",
          "'" + printable(comma_and_three_) + "' may have a decimal comma or thousands, and no number here says which",
          where, kAdvice};
    }
    if (!groups_comma_.empty() || !comma_and_three_.empty()) style.grouping = ',';
  }
  for (const auto& [mark, first] : {std::pair(' ', &space_), std::pair('\'', &apostrophe_)}) {
    if (first->empty()) continue;
    if (style.grouping != 0) {
      return Error{"mixed-numbers", "'" + printable(*first) + "' groups thousands another way than other numbers",
                   where, kAdvice};
    }
    style.grouping = mark;
  }
  return style;
}

std::optional<double> parse_number(std::string_view text, const NumberStyle& style) {
  if (style.is_plain()) return parse_number(text);
  const auto plain = plain_number(text, style);
  return plain ? parse_number(*plain) : std::nullopt;
}

std::optional<std::string> plain_number(std::string_view text, const NumberStyle& style) {
  const auto number = number_of(text);
  if (!number) return std::nullopt;
  const std::string& digits = number->digits;
  const size_t end = std::min(digits.find(style.decimal), digits.size());
  std::string whole = digits.substr(0, end), fraction = digits.substr(std::min(end + 1, digits.size()));
  if (!std::all_of(fraction.begin(), fraction.end(), is_figure)) return std::nullopt;
  if (style.grouping != 0 && whole.find(style.grouping) != std::string::npos) {
    if (!is_grouped(whole, style.grouping)) return std::nullopt;
    std::erase(whole, style.grouping);
  }
  if (!std::all_of(whole.begin(), whole.end(), is_figure)) return std::nullopt;
  return number->sign + whole + (fraction.empty() ? "" : "." + fraction) + number->exponent;
}

}  // namespace perfcast
