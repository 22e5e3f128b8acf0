#pragma once
// A training that was killed goes on from what it left: the parts of a FitCheckpoint (predictor.h) as a file that grows
// at its end. Its head: "PCFITCKP", uint32 version, uint32 fingerprint of what is trained, CRC-32 of both. Then
// records, each a part's name and bytes behind their uint64 lengths, and their CRC-32: the last record of a name
// counts, one without bytes takes the part away. Little-endian.

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "program/corpus/corpus.h"
#include "program/model/predictor.h"

namespace perfcast::program {

struct TrainingCheckpoint {
  uint32_t run = 0;  // training_fingerprint()
  std::map<std::string, std::string> parts;
};

std::string to_bytes(const TrainingCheckpoint& checkpoint);  // the head and a record for each part
std::string checkpoint_record(std::string_view part, std::string_view bytes);

struct ReadCheckpoint {
  TrainingCheckpoint checkpoint;
  // Bytes up to the end of the last whole record: whoever goes on writes from there. Behind it lies what a kill or a
  // full disk left of a record. 0: a file of version 1, a single frame, to be written anew.
  size_t whole_bytes = 0;
};
// "bad-checkpoint": no whole head, or of a later version. Never reads past the end nor allocates more than the bytes
// hold.
Result<ReadCheckpoint> training_checkpoint_from_bytes(std::string_view bytes, const std::string& source);

// Of all that decides what is computed: the table's rows, inputs, times and platforms, the model, its settings, seed
// and folds. Not of threads.
uint32_t training_fingerprint(const TrainingTable& table, const std::string& model, const FitOptions& options);

// A fit that is over needs no state, only what it forecast: kept under options.part. Absent without a checkpoint or
// where it holds nothing of that shape.
std::optional<Eigen::MatrixXd> kept_forecasts(const FitOptions& options, Eigen::Index rows, Eigen::Index columns);
Status keep_forecasts(const FitOptions& options, const Eigen::MatrixXd& forecasts);

}  // namespace perfcast::program
