#pragma once
// A comparison across machines for people, for pull requests and as JSON (perfcast.across/1).

#include <string>

#include "base/json_fwd.h"
#include "measure/compare/comparison_report.h"
#include "program/across/across_comparison.h"

namespace perfcast::program {

// `files`: what A and B are.
std::string across_text(const AcrossComparison& comparison, const measure::CommandTexts& files, bool markdown = false);
Json across_json(const AcrossComparison& comparison, const measure::CommandTexts& files);

}  // namespace perfcast::program
