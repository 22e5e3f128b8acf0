#include "cli/checkpoint_file.h"

#include <filesystem>

#include "base/file.h"

namespace perfcast {
namespace {

constexpr size_t kMostBytes = size_t{4} << 30;

}  // namespace

Result<std::unique_ptr<CheckpointFile>> CheckpointFile::open(const std::string& path, uint32_t run) {
  std::unique_ptr<CheckpointFile> file(new CheckpointFile(path));
  file->state_.run = run;
  std::error_code problem;
  if (!std::filesystem::exists(path, problem) && !problem) return file;
  const auto bytes = read_file(path, kMostBytes);
  if (!bytes) return bytes.error();
  auto state = training_checkpoint_from_bytes(*bytes, path);
  if (!state) return state.error();
  if (state->run != run) {
    return Error{"checkpoint-mismatch",
                 "the checkpoint is of another training: its corpus, options, model, settings or seed differ", path,
                 "the command line and corpus that it was begun with; or remove it, and train from the start"};
  }
  file->state_ = std::move(*state);
  file->resumed_ = true;
  return file;
}

std::string CheckpointFile::load(const std::string& part) {
  const std::lock_guard guard(lock_);
  const auto found = state_.parts.find(part);
  return found == state_.parts.end() ? std::string() : found->second;
}

Status CheckpointFile::save(const std::string& part, std::string bytes) {
  const std::lock_guard guard(lock_);
  if (bytes.empty()) {
    state_.parts.erase(part);  // written with the next part: until then the file holds more than is needed
    return {};
  }
  state_.parts[part] = std::move(bytes);
  return write_file_atomically(path_, to_bytes(state_));
}

}  // namespace perfcast
