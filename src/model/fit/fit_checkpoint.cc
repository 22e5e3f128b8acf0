#include "model/fit/fit_checkpoint.h"

#include <zlib.h>

#include <bit>
#include <cstring>
#include <limits>

#include "base/json.h"

namespace perfcast {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::string_view kMagic = "PCFITCKP";
constexpr uint32_t kVersion = 1;
constexpr const char* kForecasts = "/forecasts";

uint32_t checksum(std::string_view bytes, uint32_t sum = 0) {
  return static_cast<uint32_t>(crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void append_text(std::string& bytes, std::string_view text) {
  append(bytes, static_cast<uint64_t>(text.size()));
  bytes += text;
}

template <typename T>
bool take(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof(value)) return false;
  std::memcpy(&value, bytes.data(), sizeof(value));
  bytes.remove_prefix(sizeof(value));
  return true;
}

bool take_text(std::string_view& bytes, std::string& text) {
  uint64_t size = 0;
  if (!take(bytes, size) || size > bytes.size()) return false;
  text = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

// What a model may read of a platform and of times.
std::string described(const TrainingTable& table) {
  std::string text;
  for (const Platform& platform : table.platforms) {
    for (const std::string& field : {platform.id, platform.name, platform.kind, platform.arch, platform.vendor}) {
      append_text(text, field);
    }
    for (const auto& number : {platform.cpu_family, platform.model, platform.stepping}) {
      append(text, number.value_or(std::numeric_limits<int64_t>::min()));
    }
    for (const auto& [name, value] : platform.facts) {
      append_text(text, name);
      append(text, value);
    }
    for (const std::string& flag : platform.flags) append_text(text, flag);
  }
  for (const auto& time : table.times) {
    append(text, time ? time->log_time : std::numeric_limits<double>::quiet_NaN());
    append(text, time ? time->servers : 0);
  }
  append(text, static_cast<int64_t>(table.inputs.counters));
  append(text, static_cast<int64_t>(table.inputs.source));
  for (const auto& [platform, facts] : table.inputs.facts) {
    append_text(text, platform);
    for (const auto& [name, value] : facts) {
      append_text(text, name);
      append(text, value);
    }
  }
  return text;
}

}  // namespace

std::string to_bytes(const TrainingCheckpoint& checkpoint) {
  std::string bytes(kMagic);
  append(bytes, kVersion);
  append(bytes, checkpoint.run);
  append(bytes, static_cast<uint64_t>(checkpoint.parts.size()));
  for (const auto& [name, content] : checkpoint.parts) {
    append_text(bytes, name);
    append_text(bytes, content);
  }
  append(bytes, checksum(bytes));
  return bytes;
}

Result<TrainingCheckpoint> training_checkpoint_from_bytes(std::string_view bytes, const std::string& source) {
  const auto bad = [&source](const std::string& message) {
    return Error{"bad-checkpoint", message, source,
                 "a checkpoint that perfcast train wrote; or remove it, and train from the start"};
  };
  uint32_t sum = 0, version = 0;
  if (bytes.size() < kMagic.size() + sizeof(version) + sizeof(sum) || !bytes.starts_with(kMagic)) {
    return bad("this is no training checkpoint");
  }
  std::memcpy(&sum, bytes.data() + bytes.size() - sizeof(sum), sizeof(sum));
  bytes.remove_suffix(sizeof(sum));
  const bool whole = sum == checksum(bytes);
  bytes.remove_prefix(kMagic.size());
  if (!take(bytes, version) || version != kVersion) {
    return bad("the checkpoint has version " + std::to_string(version));
  }
  if (!whole) return bad("the checkpoint is corrupt: its checksum differs");
  TrainingCheckpoint checkpoint;
  uint64_t parts = 0;
  bool fits = take(bytes, checkpoint.run) && take(bytes, parts);
  for (; fits && parts > 0; --parts) {
    std::string name, content;
    fits = take_text(bytes, name) && take_text(bytes, content);
    if (fits) checkpoint.parts[name] = std::move(content);
  }
  if (!fits || !bytes.empty()) return bad("the checkpoint's parts don't fit its length");
  return checkpoint;
}

uint32_t training_fingerprint(const TrainingTable& table, const std::string& model, const FitOptions& options) {
  uint32_t sum = checksum(described(table));
  for (size_t p = 0; p < table.programs.size(); ++p) {
    const Program& program = table.programs[p];
    std::string row;
    for (const std::string& field : {program.id, program.family, program.group}) append_text(row, field);
    append_text(row, to_json(table.profiles[p]).dump(-1, ' ', false, Json::error_handler_t::replace));
    sum = checksum(row, sum);
  }
  std::string how;
  append_text(how, model);
  append_text(how, options.settings.dump());
  append(how, options.seed);
  append(how, options.inner_folds);
  return checksum(how, sum);
}

std::optional<Eigen::MatrixXd> kept_forecasts(const FitOptions& options, Eigen::Index rows, Eigen::Index columns) {
  if (options.checkpoint == nullptr) return std::nullopt;
  const std::string bytes = options.checkpoint->load(options.part + kForecasts);
  Eigen::MatrixXd forecasts(rows, columns);
  const size_t size = static_cast<size_t>(forecasts.size()) * sizeof(double);
  if (bytes.empty() || bytes.size() != size) return std::nullopt;
  std::memcpy(forecasts.data(), bytes.data(), size);
  return forecasts;
}

Status keep_forecasts(const FitOptions& options, const Eigen::MatrixXd& forecasts) {
  if (options.checkpoint == nullptr) return {};
  const auto size = static_cast<size_t>(forecasts.size()) * sizeof(double);
  std::string bytes(reinterpret_cast<const char*>(forecasts.data()), size);
  if (auto status = options.checkpoint->save(options.part + kForecasts, std::move(bytes)); !status) return status;
  return options.checkpoint->save(options.part, "");
}

}  // namespace perfcast
