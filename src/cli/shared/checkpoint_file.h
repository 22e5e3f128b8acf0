#pragma once
// The file that `perfcast train --checkpoint` keeps a training in. Each state that a fit leaves is added at its end;
// once most of the file is outdated, it is written anew, atomically, so that it stays within about twice of what it
// holds.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "program/model/fit/fit_checkpoint.h"

namespace perfcast::cli {

class CheckpointFile : public program::FitCheckpoint {
 public:
  // Takes up what the file holds; where there is none, the training starts anew. `run`: training_fingerprint().
  // "bad-checkpoint", "checkpoint-mismatch" (of another training), or what reading it failed with.
  static Result<std::unique_ptr<CheckpointFile>> open(const std::string& path, uint32_t run);

  bool resumed() const { return resumed_; }
  std::string load(const std::string& part) override;
  Status save(const std::string& part, std::string bytes) override;

 private:
  explicit CheckpointFile(std::string path) : path_(std::move(path)) {}

  Status append(const std::string& record);
  Status write_anew();

  std::string path_;
  bool resumed_ = false;
  size_t file_bytes_ = 0;  // whole records' end; 0: the file must be written anew before anything is added
  std::mutex lock_;
  program::TrainingCheckpoint state_;
};

}  // namespace perfcast::cli
