#pragma once
// Where a model errs most: its scores by family, its worst entry by program.

#include <string>
#include <vector>

#include "corpus/corpus.h"
#include "evaluate/evaluation.h"
#include "evaluate/scores.h"

namespace perfcast {

// Worst first, by mean absolute error of relative times; what has no entry is left out. `input`: rows and columns of
// the table.
std::vector<FamilyRow> families_worst_first(const std::string& model, const TrainingTable& table,
                                            const ScoreInput& input);
std::vector<ProgramRow> programs_worst_first(const std::string& model, const TrainingTable& table,
                                             const ScoreInput& input);

}  // namespace perfcast
