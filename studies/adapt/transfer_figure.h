#pragma once
// Error against the number of measured programs, drawn.

#include <string>
#include <vector>

#include "studies/adapt/transfer_curve.h"

namespace perfcast::program::adapt_study {

// One panel per group of programs, each with a scale of its own: median error of each method over k, as SVG with
// classes of base/figure/page_style.h.
std::string transfer_svg(const std::vector<CurvePoint>& points);
// A page of curves of several sets with their data; a set of one group has one panel.
std::string transfer_page(const std::vector<TransferCurve>& curves);

}  // namespace perfcast::program::adapt_study
