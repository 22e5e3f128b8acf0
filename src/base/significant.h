#pragma once
// Figures for people: rounded to some digits, and not in exponent form, but for what no measurement gives: below 1e-12
// and from 1e15 on.

#include <string>

namespace perfcast {

// 1180 (of 1178 to three digits), 0.0000123, 2.5 (of 2.50); "-" where not finite.
std::string significant(double value, int digits);

}  // namespace perfcast
