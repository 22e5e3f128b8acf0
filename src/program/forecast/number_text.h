#pragma once
// Numbers with a unit, for people.

#include <cctype>
#include <string>
#include <string_view>

#include "base/text.h"

namespace perfcast::program {

// 660, "J" -> "660 J"; 1200, "J" -> "1.2 kJ".
inline std::string in_unit(double value, std::string_view unit) {
  std::string text = human_number(value);
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text.back())) != 0) text += ' ';
  return text.append(unit);
}

}  // namespace perfcast::program
