#include "learn/neural/packed_vae_regressor.h"

#include <cstring>

#include "base/json.h"
#include "learn/neural/network_attribution.h"
#include "learn/tensors/tensor_map.h"

namespace perfcast {
namespace {

constexpr int64_t kMostPackedLayers = 64;

Error bad_packed_model(const std::string& message, const std::string& where) {
  return Error{"bad-bundle", message, where, "a bundle written by perfcast train"};
}

Eigen::MatrixXf column(const std::vector<float>& values) {
  return Eigen::Map<const Eigen::VectorXf>(values.data(), static_cast<Eigen::Index>(values.size()));
}

// The log variances have no part in a forecast.
DenseNetwork mean_of(const Vae& vae) {
  DenseNetwork encoder = vae.encoder();
  DenseLayer& last = encoder.layers().back();
  last.weights = RowMatrixF(last.weights.leftCols(vae.latent()));
  last.bias = Eigen::VectorXf(last.bias.head(vae.latent()));
  return encoder;
}

}  // namespace

void save_network(const PackedNetwork& network, TensorMap& tensors) {
  tensors.put_json("layers", network.layers().size());
  for (size_t i = 0; i < network.layers().size(); ++i) {
    const PackedNetwork::Layer& layer = network.layers()[i];
    const std::string number = std::to_string(i);
    const std::vector<int32_t>& words = layer.weights.words;
    tensors.put_bytes("weights" + number,
                      std::string(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(int32_t)));
    tensors.put_float("scales" + number, column(layer.weights.scales));
    tensors.put_float("bias" + number, column(layer.bias));
  }
}

Result<PackedNetwork> load_network(const TensorMap& tensors) {
  const auto layers = tensors.get_json("layers");
  if (!layers) return layers.error();
  if (!layers->is_number_integer() || layers->get<int64_t>() < 1 || layers->get<int64_t>() > kMostPackedLayers) {
    return bad_packed_model("the number of layers is impossible", "layers");
  }
  PackedNetwork network;
  for (int64_t i = 0; i < layers->get<int64_t>(); ++i) {
    const std::string number = std::to_string(i);
    const auto weights = tensors.get_bytes("weights" + number);
    if (!weights) return weights.error();
    const auto scales = tensors.get_float("scales" + number, -1, 1);
    if (!scales) return scales.error();
    const auto bias = tensors.get_float("bias" + number, -1, 1);
    if (!bias) return bias.error();
    PackedNetwork::Layer layer;
    layer.weights.inputs = scales->rows();
    layer.weights.outputs = bias->rows();
    layer.weights.words.resize(weights->size() / sizeof(int32_t));
    std::memcpy(layer.weights.words.data(), weights->data(), layer.weights.words.size() * sizeof(int32_t));
    layer.weights.scales.assign(scales->data(), scales->data() + scales->size());
    layer.bias.assign(bias->data(), bias->data() + bias->size());
    if (auto status = network.append(std::move(layer)); !status) return status.error();
  }
  return network;
}

PackedVaeRegressor::PackedVaeRegressor(const VaeRegressor& regressor)
    : use_vae_(regressor.config().use_vae),
      head_reads_inputs_(use_vae_ && regressor.config().head_reads_inputs),
      head_(regressor.head()),
      mean_(regressor.target_mean().begin(), regressor.target_mean().end()),
      scale_(regressor.target_scale()) {
  if (use_vae_) encoder_ = PackedNetwork(mean_of(regressor.vae()));
  columns_ = (use_vae_ ? encoder_ : head_).inputs() / 2;
}

void PackedVaeRegressor::predict(std::span<const float> x, std::span<const float> mask, std::span<float> output) const {
  thread_local std::vector<float> inputs;
  thread_local std::vector<float> head_inputs;
  const size_t columns = x.size();
  inputs.resize(2 * columns);
  for (size_t c = 0; c < columns; ++c) {
    inputs[c] = mask[c] == 0 ? 0 : x[c];
    inputs[columns + c] = mask[c] == 0 ? 0 : 1;
  }
  if (!use_vae_) {
    head_.predict(inputs, output);
  } else {
    const auto latent = static_cast<size_t>(encoder_.outputs());
    head_inputs.resize(latent);
    encoder_.predict(inputs, head_inputs);
    if (head_reads_inputs_) head_inputs.insert(head_inputs.end(), inputs.begin(), inputs.end());
    head_.predict(head_inputs, output);
  }
  for (size_t j = 0; j < output.size(); ++j) output[j] = mean_[j] + scale_ * output[j];
}

Eigen::MatrixXd PackedVaeRegressor::attribute_columns(const Eigen::RowVectorXd& own,
                                                      const Eigen::RowVectorXd& reference) const {
  const PlainNetwork head = plain_network(head_);
  const PlainNetwork encoder = use_vae_ ? plain_network(encoder_) : PlainNetwork();
  const auto scale = static_cast<double>(scale_);
  const auto read_by_head = [&](const Eigen::RowVectorXd& row) {
    const Eigen::RowVectorXd latent = value_of(encoder, row);
    Eigen::RowVectorXd both(latent.size() + (head_reads_inputs_ ? row.size() : 0));
    both.head(latent.size()) = latent;
    if (head_reads_inputs_) both.tail(row.size()) = row;
    return both;
  };
  const auto slopes = [&](const Eigen::RowVectorXd& from, const Eigen::RowVectorXd& to) -> Eigen::MatrixXd {
    if (!use_vae_) return scale * mean_slopes(head, from, to);
    const Eigen::MatrixXd of_head = scale * mean_slopes(head, read_by_head(from), read_by_head(to));
    Eigen::MatrixXd result = mean_slopes(encoder, from, to) * of_head.topRows(encoder_.outputs());
    if (head_reads_inputs_) result += of_head.bottomRows(from.size());
    return result;
  };
  const Eigen::MatrixXd both = integrated_slopes(slopes, own, reference, kSettledLog);
  return both.topRows(columns_) + both.bottomRows(columns_);
}

void PackedVaeRegressor::save(TensorMap& tensors) const {
  tensors.put_json("use_vae", use_vae_);
  tensors.put_json("head_reads_inputs", head_reads_inputs_);
  tensors.put_float("target_mean", column(mean_));
  tensors.put_float("target_scale", column({scale_}));
  TensorMap part;
  save_network(head_, part);
  tensors.put_within("head", part);
  if (!use_vae_) return;
  TensorMap encoder;
  save_network(encoder_, encoder);
  tensors.put_within("encoder", encoder);
}

Status PackedVaeRegressor::load(const TensorMap& tensors) {
  const auto use_vae = tensors.get_json("use_vae");
  if (!use_vae) return use_vae.error();
  const auto reads_inputs = tensors.get_json("head_reads_inputs");
  if (!reads_inputs) return reads_inputs.error();
  if (!use_vae->is_boolean() || !reads_inputs->is_boolean())
    return bad_packed_model("a switch is neither on nor off", "use_vae");
  auto head = load_network(tensors.within("head"));
  if (!head) return head.error();
  const auto mean = tensors.get_float("target_mean", head->outputs(), 1);
  if (!mean) return mean.error();
  const auto scale = tensors.get_float("target_scale", 1, 1);
  if (!scale) return scale.error();
  PackedVaeRegressor loaded;
  loaded.use_vae_ = use_vae->get<bool>();
  loaded.head_reads_inputs_ = reads_inputs->get<bool>();
  if (loaded.use_vae_) {
    auto encoder = load_network(tensors.within("encoder"));
    if (!encoder) return encoder.error();
    loaded.encoder_ = std::move(*encoder);
    const int64_t extra = loaded.head_reads_inputs_ ? loaded.encoder_.inputs() : 0;
    if (head->inputs() != loaded.encoder_.outputs() + extra)
      return bad_packed_model("encoder and head don't fit", "head");
  }
  loaded.head_ = std::move(*head);
  const int64_t inputs = (loaded.use_vae_ ? loaded.encoder_ : loaded.head_).inputs();
  if (inputs % 2 != 0) return bad_packed_model("the inputs are no pairs of value and mask", "encoder");
  loaded.columns_ = inputs / 2;
  loaded.mean_.assign(mean->data(), mean->data() + mean->size());
  loaded.scale_ = (*scale)(0, 0);
  *this = std::move(loaded);
  return {};
}

}  // namespace perfcast
