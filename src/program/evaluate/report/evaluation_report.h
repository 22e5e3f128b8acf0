#pragma once
// An evaluation for people and for machines.

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/report/table.h"
#include "program/evaluate/evaluation.h"

namespace perfcast::program {

inline constexpr const char* kEvaluationSchema = "perfcast.evaluation/1";

// Scores that have no sample are left out of a row. With several seeds a row has `spread`: the standard deviation of
// each score over them. `comparisons` [{a, b, group, metric, difference, lower, upper, significant, units}]: as
// PairedComparison, without lower and upper where there are too few units. `details` adds families and programs, worst
// first.
Json to_json(const Evaluation& evaluation, const std::string& corpus, bool details);
std::string to_text(const Evaluation& evaluation, const std::string& corpus, bool details);

// Every row with all its scores, as they stand in perfcast.evaluation/1.
ReportTable score_table(const std::vector<EvaluationRow>& rows);

}  // namespace perfcast::program
