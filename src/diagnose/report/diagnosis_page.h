#pragma once
// A diagnosis as one HTML file.

#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "figure/page.h"

namespace perfcast {

// The first finding in plain words, where the time goes, the roofline, the timeline, `extra_figures`, all findings with
// what was tried, hot functions, notes; the diagnosis as JSON to download.
std::string diagnosis_page(const Diagnosis& diagnosis, const std::vector<Figure>& extra_figures);

}  // namespace perfcast
