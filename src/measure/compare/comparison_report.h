#pragma once
// A comparison for people, for pull requests and as JSON (perfcast.comparison/1).

#include <array>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/text.h"
#include "measure/compare/comparison.h"

namespace perfcast::measure {

using CommandTexts = std::array<std::string, 2>;  // A and B, as they were given

// One line: what came out, how sure, from how many pairs.
std::string verdict_line(const Comparison& comparison);
std::string comparison_text(const Comparison& comparison, const CommandTexts& commands, bool markdown = false);
Json comparison_json(const Comparison& comparison, const CommandTexts& commands);

// Rows of a table of counts: metric, A, B, their ratio, what is to be said.
void add_count_rows(const std::vector<CountRow>& counts, TextTable& table);
Json counts_json(const std::vector<CountRow>& counts);

// One run as a line of JSON, for a log that grows.
std::string run_line(const ComparedRun& run);

}  // namespace perfcast::measure
