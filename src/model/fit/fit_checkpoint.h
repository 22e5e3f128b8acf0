#pragma once
// A training that was killed goes on from what it left: the parts of a FitCheckpoint (predictor.h) as one string of
// bytes, "PCFITCKP", uint32 version, uint32 fingerprint of what is trained, uint64 number of parts, each part's name
// and bytes behind their uint64 lengths, CRC-32 of all before it. Little-endian.

#include <Eigen/Dense>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "corpus/corpus.h"
#include "model/predictor.h"

namespace perfcast {

struct TrainingCheckpoint {
  uint32_t run = 0;  // training_fingerprint()
  std::map<std::string, std::string> parts;
};

std::string to_bytes(const TrainingCheckpoint& checkpoint);
// "bad-checkpoint": corrupt, truncated, or of another version. Never reads past the end nor allocates more than the
// bytes hold.
Result<TrainingCheckpoint> training_checkpoint_from_bytes(std::string_view bytes, const std::string& source);

// Of all that decides what is computed: the table's rows, inputs, times and platforms, the model, its settings, seed
// and folds. Not of threads.
uint32_t training_fingerprint(const TrainingTable& table, const std::string& model, const FitOptions& options);

// A fit that is over needs no state, only what it forecast: kept under options.part. Absent without a checkpoint or
// where it holds nothing of that shape.
std::optional<Eigen::MatrixXd> kept_forecasts(const FitOptions& options, Eigen::Index rows, Eigen::Index columns);
Status keep_forecasts(const FitOptions& options, const Eigen::MatrixXd& forecasts);

}  // namespace perfcast
