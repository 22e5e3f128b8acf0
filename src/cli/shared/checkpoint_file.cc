#include "cli/shared/checkpoint_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file.h"

namespace perfcast::cli {
namespace {

constexpr size_t kMostBytes = size_t{8} << 30;
constexpr size_t kSpareBytes = size_t{1} << 16;  // outdated bytes that are never worth a new file

}  // namespace

Result<std::unique_ptr<CheckpointFile>> CheckpointFile::open(const std::string& path, uint32_t run) {
  std::unique_ptr<CheckpointFile> file(new CheckpointFile(path));
  file->state_.run = run;
  std::error_code problem;
  if (!std::filesystem::exists(path, problem) && !problem) return file;
  const auto bytes = read_file(path, kMostBytes);
  if (!bytes) return bytes.error();
  auto state = program::training_checkpoint_from_bytes(*bytes, path);
  if (!state) return state.error();
  if (state->checkpoint.run != run) {
    return Error{"checkpoint-mismatch",
                 "the checkpoint is of another training: its corpus, options, model, settings or seed differ", path,
                 "the command line and corpus that it was begun with; or remove it, and train from the start"};
  }
  file->state_ = std::move(state->checkpoint);
  file->file_bytes_ = state->whole_bytes;
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
  const std::string record = program::checkpoint_record(part, bytes);
  if (bytes.empty()) {
    state_.parts.erase(part);
  } else {
    state_.parts[part] = std::move(bytes);
  }
  size_t current = 0;
  for (const auto& [name, content] : state_.parts) current += name.size() + content.size();
  if (file_bytes_ == 0 || file_bytes_ + record.size() > 2 * current + kSpareBytes) return write_anew();
  return append(record);
}

Status CheckpointFile::write_anew() {
  const std::string all = to_bytes(state_);
  file_bytes_ = 0;
  if (auto status = write_file_atomically(path_, all); !status) return status;
  file_bytes_ = all.size();
  return {};
}

// Behind the last whole record, over whatever a kill left there. Should it fail, the file is written anew next time.
Status CheckpointFile::append(const std::string& record) {
  const auto failed = [this](int descriptor) {
    Error error =
        environment_error("file-error", std::string("could not add to the checkpoint: ") + std::strerror(errno), path_,
                          "a disk with room, and a file that may be written");
    if (descriptor >= 0) close(descriptor);
    file_bytes_ = 0;
    return error;
  };
  const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return failed(descriptor);
  if (ftruncate(descriptor, static_cast<off_t>(file_bytes_)) != 0) return failed(descriptor);
  for (size_t done = 0; done < record.size();) {
    const ssize_t count =
        pwrite(descriptor, record.data() + done, record.size() - done, static_cast<off_t>(file_bytes_ + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(descriptor);
    done += static_cast<size_t>(count);
  }
  if (fdatasync(descriptor) != 0 && errno != EINVAL) return failed(descriptor);
  close(descriptor);
  file_bytes_ += record.size();
  return {};
}

}  // namespace perfcast::cli
