#pragma once
// Measured times as scores take them, and how far measurements agree with themselves.

#include <Eigen/Core>
#include <cstdint>

#include "program/corpus/corpus.h"
#include "program/evaluate/scores.h"

namespace perfcast::program {

// [P x J] log seconds per unit of work; NaN: not measured.
Eigen::MatrixXd log_times(const TrainingTable& table);

// Half of each platform's servers (of published means: their results, PlatformTime::drawn_halves) against the other
// half. `reference`: column or -1.
ScoreInput noise_floor(const TrainingTable& table, int64_t reference);

}  // namespace perfcast::program
