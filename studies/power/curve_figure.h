#pragma once
// Transfer curves as one drawing.

#include <string>
#include <vector>

#include "studies/power/transfer_curves.h"

namespace perfcast::measure::power_study {

struct CurveRule {
  double error = 0;
  std::string text;  // "goal", "every sample known"
};

// A whole SVG file, light and dark.
std::string curve_figure(const std::string& title, const std::vector<TransferCurve>& curves,
                         const std::vector<CurveRule>& rules);

}  // namespace perfcast::measure::power_study
