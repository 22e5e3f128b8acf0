#pragma once
// Where a model errs most: its scores by family, its worst entry by program.

#include <string>
#include <vector>

#include "program/corpus/corpus.h"
#include "program/evaluate/evaluation.h"
#include "program/evaluate/scores.h"

namespace perfcast::program {

// Worst first, by mean absolute error of relative times; what has no entry is left out. `input`: rows and columns of
// the table.
std::vector<FamilyRow> families_worst_first(const std::string& model, const TrainingTable& table,
                                            const ScoreInput& input);
std::vector<ProgramRow> programs_worst_first(const std::string& model, const TrainingTable& table,
                                             const ScoreInput& input);

}  // namespace perfcast::program
