#include "program/evaluate/worst_errors.h"

#include <algorithm>
#include <cmath>

#include "program/evaluate/scored_entries.h"

namespace perfcast::program {

std::vector<FamilyRow> families_worst_first(const std::string& model, const TrainingTable& table,
                                            const ScoreInput& input) {
  std::vector<FamilyRow> result;
  std::vector<std::string> seen;
  for (const Program& program : table.programs) {
    if (std::find(seen.begin(), seen.end(), program.family) != seen.end()) continue;
    seen.push_back(program.family);
    std::vector<int64_t> rows;
    for (size_t p = 0; p < table.programs.size(); ++p) {
      if (table.programs[p].family == program.family) rows.push_back(static_cast<int64_t>(p));
    }
    FamilyRow row{model, program.family, program.group, score(rows_of(input, rows))};
    if (row.scores.n > 0) result.push_back(std::move(row));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const FamilyRow& a, const FamilyRow& b) { return *a.scores.mape > *b.scores.mape; });
  return result;
}

std::vector<ProgramRow> programs_worst_first(const std::string& model, const TrainingTable& table,
                                             const ScoreInput& input) {
  std::vector<ProgramRow> result;
  for (size_t p = 0; p < table.programs.size(); ++p) {
    const Program& program = table.programs[p];
    ProgramRow row{model, program.id, program.family, program.group, 0, 0, "", 0, 0};
    double worst = -1;
    for (int64_t j = 0; j < input.truth.cols(); ++j) {
      const double truth = input.truth(static_cast<int64_t>(p), j),
                   predicted = input.predicted(static_cast<int64_t>(p), j);
      if (std::isnan(truth) || std::isnan(predicted)) continue;
      ++row.n;
      row.mape += std::abs(std::expm1(predicted - truth));
      if (std::abs(predicted - truth) <= worst) continue;
      worst = std::abs(predicted - truth);
      row.worst_platform = table.platforms[static_cast<size_t>(j)].id;
      row.worst_measured_ratio = std::exp(truth);
      row.worst_predicted_ratio = std::exp(predicted);
    }
    if (row.n == 0) continue;
    row.mape /= static_cast<double>(row.n);
    result.push_back(std::move(row));
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const ProgramRow& a, const ProgramRow& b) { return a.mape > b.mape; });
  return result;
}

}  // namespace perfcast::program
