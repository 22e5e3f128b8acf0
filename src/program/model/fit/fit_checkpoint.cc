#include "program/model/fit/fit_checkpoint.h"

#include <cstring>
#include <limits>

#include "base/bytes.h"
#include "base/json.h"
#include "base/unknown.h"

namespace perfcast::program {
namespace {

constexpr std::string_view kFitMagic = "PCFITCKP";
constexpr uint32_t kFitVersion = 2;
constexpr uint32_t kOneFrameVersion = 1;
constexpr size_t kFitHead = kFitMagic.size() + 3 * sizeof(uint32_t);
constexpr const char* kForecasts = "/forecasts";

// What a model may read of a platform and of times.
std::string described(const TrainingTable& table) {
  ByteWriter out;
  for (const Platform& platform : table.platforms) {
    for (const std::string& field : {platform.id, platform.name, platform.kind, platform.arch, platform.vendor}) {
      out.put_text(field);
    }
    for (const auto& number : {platform.cpu_family, platform.model, platform.stepping}) {
      out.put(number.value_or(std::numeric_limits<int64_t>::min()));
    }
    for (const auto& [name, value] : platform.facts) {
      out.put_text(name);
      out.put(value);
    }
    for (const std::string& flag : platform.flags) out.put_text(flag);
  }
  for (const auto& time : table.times) {
    out.put(time ? time->log_time : kUnknown);
    out.put(time ? time->servers : 0);
  }
  out.put(static_cast<int64_t>(table.inputs.counters));
  out.put(static_cast<int64_t>(table.inputs.source));
  for (const auto& [platform, facts] : table.inputs.facts) {
    out.put_text(platform);
    for (const auto& [name, value] : facts) {
      out.put_text(name);
      out.put(value);
    }
  }
  return out.bytes();
}

// Version 1: uint64 number of parts, the parts, one checksum behind all.
bool read_one_frame(std::string_view body, TrainingCheckpoint& checkpoint) {
  ByteReader in(body);
  uint64_t parts = 0;
  in.get(checkpoint.run);
  in.get(parts);
  for (; in.ok() && parts > 0; --parts) {
    std::string name, content;
    // An empty part is none, as in records.
    if (in.get_text(name) && in.get_text(content) && !content.empty()) checkpoint.parts[name] = std::move(content);
  }
  return in.at_end();
}

}  // namespace

std::string checkpoint_record(std::string_view part, std::string_view bytes) {
  ByteWriter out;
  out.put_text(part);
  out.put_text(bytes);
  return std::move(out).finish();
}

std::string to_bytes(const TrainingCheckpoint& checkpoint) {
  ByteWriter head(kFitMagic);
  head.put(kFitVersion);
  head.put(checkpoint.run);
  std::string bytes = std::move(head).finish();
  for (const auto& [name, content] : checkpoint.parts) bytes += checkpoint_record(name, content);
  return bytes;
}

Result<ReadCheckpoint> training_checkpoint_from_bytes(std::string_view bytes, const std::string& source) {
  const auto bad = [&source](const std::string& message) {
    return Error{"bad-checkpoint", message, source,
                 "a checkpoint that perfcast train wrote; or remove it, and train from the start"};
  };
  ReadCheckpoint read;
  if (const ByteFrame old = open_frame(bytes, kFitMagic, kOneFrameVersion);
      old.state != ByteFrame::State::kOtherVersion && old.state != ByteFrame::State::kOtherMagic) {
    if (old.state == ByteFrame::State::kCorrupt) return bad("the checkpoint is corrupt: its checksum differs");
    if (!read_one_frame(old.body, read.checkpoint)) return bad("the checkpoint's parts don't fit its length");
    return read;
  }
  const ByteFrame head = open_frame(bytes.substr(0, kFitHead), kFitMagic, kFitVersion);
  if (head.state == ByteFrame::State::kOtherMagic) return bad("this is no training checkpoint");
  if (head.state == ByteFrame::State::kOtherVersion) {
    return bad("the checkpoint has version " + std::to_string(head.version));
  }
  if (head.state == ByteFrame::State::kCorrupt)
    return bad("the checkpoint is corrupt: the checksum of its head differs");
  // A file may end within its head and have a checksum that is right.
  if (!ByteReader(head.body).get(read.checkpoint.run)) return bad("the checkpoint ends within its head");
  read.whole_bytes = kFitHead;
  while (true) {
    const std::string_view rest = bytes.substr(read.whole_bytes);
    ByteReader in(rest);
    std::string name, content;
    uint32_t sum = 0;
    in.get_text(name);
    in.get_text(content);
    const size_t size = rest.size() - in.left();
    if (!in.get(sum) || sum != crc32_of(rest.substr(0, size))) return read;
    read.whole_bytes += size + sizeof(sum);
    if (content.empty()) {
      read.checkpoint.parts.erase(name);
    } else {
      read.checkpoint.parts[name] = std::move(content);
    }
  }
}

uint32_t training_fingerprint(const TrainingTable& table, const std::string& model, const FitOptions& options) {
  uint32_t sum = crc32_of(described(table));
  for (size_t p = 0; p < table.programs.size(); ++p) {
    const Program& program = table.programs[p];
    ByteWriter row;
    for (const std::string& field : {program.id, program.family, program.group}) row.put_text(field);
    row.put_text(to_json(table.profiles[p]).dump(-1, ' ', false, Json::error_handler_t::replace));
    sum = crc32_of(row.bytes(), sum);
  }
  ByteWriter how;
  how.put_text(model);
  how.put_text((options.settings ? *options.settings : Json()).dump());
  how.put(options.seed);
  how.put(options.inner_folds);
  return crc32_of(how.bytes(), sum);
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

}  // namespace perfcast::program
