#pragma once
// Error against the number of measured programs, drawn.

#include <string>

#include "scenario/adapt_study/transfer_curve.h"

namespace perfcast {

// One panel per group of programs: median error of each method over k, as SVG with classes of figure/page_style.h.
std::string transfer_svg(const TransferCurve& curve);
// A page of it with its data.
std::string transfer_page(const TransferCurve& curve);

}  // namespace perfcast
