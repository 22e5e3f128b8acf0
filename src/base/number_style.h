#pragma once
// Numbers as people and tools in other countries write them: "1,234.5", "1.234,5", "1 234,5", "1'234.5", "12,34,567".
// What a mark means is decided for a file as a whole, from the numbers that leave no choice:
//   two marks: the last is the decimal mark; a mark that stands twice groups thousands; a mark with other than three
//   digits behind it, or with 0 or more than three digits before it, is a decimal mark.
// "1.234" alone is read as programs write it, with a decimal point. "1,234" alone is ambiguous.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast {

struct NumberStyle {
  char decimal = '.';
  char grouping = 0;  // of thousands: ',', '.', ' ', '\''; 0: none
  bool is_plain() const { return decimal == '.' && grouping == 0; }
};
// "decimal commas, points between thousands".
std::string describe(const NumberStyle& style);

// What "1,234" is, where no other number says so.
enum class ThreeDigits {
  kAmbiguous,
  kGrouped,  // 1234: of a tool that groups thousands and never prints three decimals
};

class NumberEvidence {
 public:
  explicit NumberEvidence(ThreeDigits three_digits = ThreeDigits::kAmbiguous) : three_digits_(three_digits) {}
  // A text that should be a number; what is none is no evidence.
  void see(std::string_view text);
  // Errors, with two of the texts: "mixed-numbers" (decimal points and decimal commas), "ambiguous-numbers" (only such
  // as "1,234", which may be 1234 or 1.234).
  Result<NumberStyle> decide(const std::string& where) const;

 private:
  ThreeDigits three_digits_;
  // The first text that proves it; empty: none.
  std::string point_decimal_, comma_decimal_;      // or that the other mark groups
  std::string point_and_three_, comma_and_three_;  // "1.234", "1,234"
  std::string space_, apostrophe_, groups_comma_, groups_point_;
};

// Whether a text may be a number of any style.
bool looks_like_number(std::string_view text);
// The whole text must be a finite number of this style: groups have three digits (two, as in India, before the last
// three). Blanks around it and a sign, a narrow or no-break space for a blank, a typographic apostrophe or minus are
// fine.
std::optional<double> parse_number(std::string_view text, const NumberStyle& style);
// The same number as programs write it: "1.234,50" -> "1234.50".
std::optional<std::string> plain_number(std::string_view text, const NumberStyle& style);

}  // namespace perfcast
