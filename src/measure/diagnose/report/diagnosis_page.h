#pragma once
// A diagnosis as one HTML file.

#include <string>
#include <vector>

#include "base/figure/page.h"
#include "measure/diagnose/diagnosis.h"

namespace perfcast::measure {

// The first finding in plain words, where the time goes, the roofline, the timeline, `extra_figures`, all findings with
// what was tried, hot functions, notes; the diagnosis as JSON to download.
std::string diagnosis_page(const Diagnosis& diagnosis, const std::vector<Figure>& extra_figures);

}  // namespace perfcast::measure
