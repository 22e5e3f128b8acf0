#include "learn/neural/vae_checkpoint.h"

#include "base/bytes.h"

namespace perfcast {
namespace {

constexpr std::string_view kVaeMagic = "PCVAECKP";
constexpr uint32_t kVaeVersion = 1;
constexpr uint64_t kMostLayersRead = 64, kMostUnitsRead = uint64_t{1} << 20;

template <typename T>
void put(ByteWriter& out, T value) {
  out.put(value);
}

void put(ByteWriter& out, const std::vector<DenseLayer>& layers) {
  out.put(static_cast<uint64_t>(layers.size()));
  for (const DenseLayer& layer : layers) {
    out.put(static_cast<uint64_t>(layer.weights.rows()));
    out.put(static_cast<uint64_t>(layer.weights.cols()));
    out.put_raw(layer.weights.data(), static_cast<size_t>(layer.weights.size()) * sizeof(float));
    out.put_raw(layer.bias.data(), static_cast<size_t>(layer.bias.size()) * sizeof(float));
  }
}

void put(ByteWriter& out, const AdamState& adam) {
  put(out, adam.first);
  put(out, adam.second);
  out.put(adam.steps);
}

template <typename T>
void get(ByteReader& in, T& value) {
  in.get(value);
}

void get(ByteReader& in, std::vector<DenseLayer>& layers) {
  uint64_t count = 0;
  in.get(count);
  if (count > kMostLayersRead) in.fail();
  for (uint64_t i = 0; in.ok() && i < count; ++i) {
    uint64_t rows = 0;
    uint64_t cols = 0;
    in.get(rows);
    in.get(cols);
    if (rows == 0 || cols == 0 || rows > kMostUnitsRead || cols > kMostUnitsRead ||
        (rows + 1) * cols > in.left() / sizeof(float)) {
      in.fail();
      return;
    }
    DenseLayer layer;
    layer.weights.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
    layer.bias.resize(static_cast<Eigen::Index>(cols));
    in.get_raw(layer.weights.data(), static_cast<size_t>(rows * cols) * sizeof(float));
    in.get_raw(layer.bias.data(), static_cast<size_t>(cols) * sizeof(float));
    layers.push_back(std::move(layer));
  }
}

void get(ByteReader& in, AdamState& adam) {
  get(in, adam.first);
  get(in, adam.second);
  get(in, adam.steps);
}

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
  ByteWriter out(kVaeMagic);
  out.put(kVaeVersion);
  visit(out, state, [](ByteWriter& to, const auto& value) { put(to, value); });
  return std::move(out).finish();
}

Result<VaeTrainingState> vae_training_state_from_bytes(std::string_view bytes, const std::string& source) {
  const auto bad = [&source](const std::string& message) {
    return Error{"bad-checkpoint", message, source,
                 "a whole checkpoint that this version wrote; or train from the start"};
  };
  const ByteFrame frame = open_frame(bytes, kVaeMagic, kVaeVersion);
  if (frame.state == ByteFrame::State::kOtherMagic) return bad("this is no training checkpoint");
  if (frame.state == ByteFrame::State::kOtherVersion) {
    return bad("the checkpoint has version " + std::to_string(frame.version));
  }
  if (frame.state == ByteFrame::State::kCorrupt) return bad("the checkpoint is corrupt: its checksum differs");
  VaeTrainingState state;
  ByteReader reader(frame.body);
  visit(reader, state, [](ByteReader& in, auto& value) { get(in, value); });
  if (!reader.at_end()) return bad("the checkpoint's parts don't fit its length");
  return state;
}

}  // namespace perfcast
