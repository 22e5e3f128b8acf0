#pragma once
// From the forecasts of a repetition to what scores take: measured and forecast on one scale, without what is no
// sample.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "program/corpus/splits.h"
#include "program/evaluate/fold_forecast.h"
#include "program/evaluate/repetition.h"
#include "program/evaluate/scores.h"

namespace perfcast::program {

// Of folds that leave platforms out. `log_times`: [P x J] measured, NaN where absent. `forecast`: each tested column
// relative to the row's mean over the platforms that its fold knew, as forecast_platforms() has it. Against that mean,
// another one for each fold, differences between columns are too large: J / (J - 1) of the true ones where one of J
// platforms is left out. Here both sides are relative to the row's mean over all its measured platforms: of measured
// times; and as the fold sees it, measured where it knew the platform, forecast where not. So nothing that was measured
// on a tested platform enters its forecast, right forecasts equal the truth, and equal ones stay equal. Families are
// left empty.
ScoreInput on_one_scale(const Eigen::MatrixXd& log_times, const std::vector<Fold>& folds, const FoldForecast& forecast);

// Takes the entries that counted as measured out of the truth, and says how many a complete row has without them.
void leave_out_measured(const Repetition& repetition, int64_t reference, ScoreInput& input);

ScoreInput rows_of(const ScoreInput& input, const std::vector<int64_t>& rows);

}  // namespace perfcast::program
