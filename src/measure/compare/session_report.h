#pragma once
// A comparison of two files for people, for pull requests and as JSON (perfcast.session-comparison/1).

#include <string>

#include "base/json_fwd.h"
#include "measure/compare/comparison_report.h"
#include "measure/compare/sessions.h"

namespace perfcast::measure {

// One line: how many are slower, how many faster.
std::string verdict_line(const SessionComparison& comparison);
// `files`: what A and B are.
std::string comparison_text(const SessionComparison& comparison, const CommandTexts& files, bool markdown = false);
Json comparison_json(const SessionComparison& comparison, const CommandTexts& files);

}  // namespace perfcast::measure
