#include "model/neural/vae_checkpoint.h"

#include <zlib.h>

#include <bit>
#include <cstring>

namespace perfcast {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::string_view kMagic = "PCVAECKP";
constexpr uint32_t kVersion = 1;
constexpr uint64_t kMostLayers = 64, kMostUnits = uint64_t{1} << 20;

uint32_t checksum(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

class Writer {
 public:
  template <typename T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void put(const std::vector<DenseLayer>& layers) {
    put(static_cast<uint64_t>(layers.size()));
    for (const DenseLayer& layer : layers) {
      put(static_cast<uint64_t>(layer.weights.rows()));
      put(static_cast<uint64_t>(layer.weights.cols()));
      append(layer.weights.data(), layer.weights.size());
      append(layer.bias.data(), layer.bias.size());
    }
  }
  void put(const AdamState& adam) {
    put(adam.first);
    put(adam.second);
    put(adam.steps);
  }
  std::string& bytes() { return bytes_; }

 private:
  void append(const float* values, Eigen::Index n) {
    bytes_.append(reinterpret_cast<const char*>(values), static_cast<size_t>(n) * sizeof(float));
  }
  std::string bytes_;
};

// After a failure every further read fails, too.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  void get(T& value) {
    take(&value, sizeof(value));
  }
  void get(std::vector<DenseLayer>& layers) {
    uint64_t count = 0;
    get(count);
    if (count > kMostLayers) ok_ = false;
    for (uint64_t i = 0; ok_ && i < count; ++i) {
      uint64_t rows = 0;
      uint64_t cols = 0;
      get(rows);
      get(cols);
      if (rows == 0 || cols == 0 || rows > kMostUnits || cols > kMostUnits ||
          (rows + 1) * cols > bytes_.size() / sizeof(float)) {
        ok_ = false;
        return;
      }
      DenseLayer layer;
      layer.weights.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
      layer.bias.resize(static_cast<Eigen::Index>(cols));
      take(layer.weights.data(), static_cast<size_t>(rows * cols) * sizeof(float));
      take(layer.bias.data(), static_cast<size_t>(cols) * sizeof(float));
      layers.push_back(std::move(layer));
    }
  }
  void get(AdamState& adam) {
    get(adam.first);
    get(adam.second);
    get(adam.steps);
  }
  bool whole() const { return ok_ && bytes_.empty(); }

 private:
  void take(void* to, size_t n) {
    if (!ok_ || n > bytes_.size()) {
      ok_ = false;
      return;
    }
    std::memcpy(to, bytes_.data(), n);
    bytes_.remove_prefix(n);
  }
  std::string_view bytes_;
  bool ok_ = true;
};

// In the order of the file.
template <typename Stream, typename State>
void visit(Stream& stream, State& state, const auto& each) {
  each(stream, state.run);
  each(stream, state.stage);
  each(stream, state.epoch);
  for (auto* network : {&state.encoder, &state.decoder, &state.head}) each(stream, network->layers());
  for (auto* adam : {&state.encoder_adam, &state.decoder_adam, &state.head_adam}) each(stream, *adam);
  for (auto* network : {&state.best_encoder, &state.best_head}) each(stream, network->layers());
  each(stream, state.best_validation);
  each(stream, state.best_epoch);
}

}  // namespace

std::string to_bytes(const VaeTrainingState& state) {
  Writer writer;
  writer.bytes() = kMagic;
  writer.put(kVersion);
  visit(writer, state, [](Writer& out, const auto& value) { out.put(value); });
  writer.put(checksum(writer.bytes()));
  return std::move(writer.bytes());
}

Result<VaeTrainingState> vae_training_state_from_bytes(std::string_view bytes, const std::string& source) {
  const auto bad = [&source](const std::string& message) {
    return Error{"bad-checkpoint", message, source,
                 "a whole checkpoint that this version wrote; or train from the start"};
  };
  constexpr size_t kHead = 12;
  constexpr size_t kTail = 4;
  if (bytes.size() < kHead + kTail || !bytes.starts_with(kMagic)) return bad("this is no training checkpoint");
  uint32_t version = 0;
  std::memcpy(&version, bytes.data() + kMagic.size(), sizeof(version));
  if (version != kVersion) return bad("the checkpoint has version " + std::to_string(version));
  uint32_t sum = 0;
  std::memcpy(&sum, bytes.data() + bytes.size() - kTail, kTail);
  bytes.remove_suffix(kTail);
  if (sum != checksum(bytes)) return bad("the checkpoint is corrupt: its checksum differs");
  bytes.remove_prefix(kHead);
  VaeTrainingState state;
  Reader reader(bytes);
  visit(reader, state, [](Reader& in, auto& value) { in.get(value); });
  if (!reader.whole()) return bad("the checkpoint's parts don't fit its length");
  return state;
}

}  // namespace perfcast
