#include "program/model/neural/vae_predictor.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/random.h"
#include "learn/neural/vae_regressor.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {
namespace {

constexpr double kHeldOutFamilies = 0.15;        // to stop the head by
constexpr int64_t kFewestFamiliesToHoldOut = 8;  // with fewer, a family would be too much of all

struct Ablation {
  const char* family;
  void (*leave_out)(VaeRegressorConfig& config);
};
constexpr Ablation kAblations[] = {
    {"vae-dnn", [](VaeRegressorConfig&) {}},
    {"vae-dnn-no-feedback", [](VaeRegressorConfig& config) { config.use_feedback = false; }},
    {"vae-dnn-fixed-sigma", [](VaeRegressorConfig& config) { config.fixed_sigma = 1; }},
    {"vae-dnn-no-schedule", [](VaeRegressorConfig& config) { config.kl_schedule = KlSchedule::kNone; }},
    {"vae-dnn-no-pretraining", [](VaeRegressorConfig& config) { config.pretrain = false; }},
};

// For profiles as they are: a few dozen to some thousand rows.
VaeRegressorConfig default_config() {
  VaeRegressorConfig config;
  config.batch = 0;
  config.validation_share = -1;
  config.fine_tune_encoder = true;
  config.head_learning_rate = 1e-3;
  return config;
}

void leave_out(const std::string& family, VaeRegressorConfig& config) {
  for (const Ablation& ablation : kAblations) {
    if (family == ablation.family) ablation.leave_out(config);
  }
}

// Rows of whole families for early stopping, so that the head stops where unseen programs are forecast best.
std::vector<int64_t> held_out_rows(const Targets& targets, double share, uint64_t seed) {
  if (targets.families < kFewestFamiliesToHoldOut || share == 0) return {};
  if (share < 0) share = kHeldOutFamilies;
  std::vector<int64_t> families(static_cast<size_t>(targets.families));
  for (size_t f = 0; f < families.size(); ++f) families[f] = static_cast<int64_t>(f);
  Random random(seed ^ 0x5EED);
  random.shuffle(families);
  families.resize(static_cast<size_t>(std::ceil(share * static_cast<double>(targets.families))));
  std::vector<int64_t> rows;
  for (size_t p = 0; p < targets.family.size(); ++p) {
    if (std::find(families.begin(), families.end(), targets.family[p]) != families.end()) {
      rows.push_back(static_cast<int64_t>(p));
    }
  }
  return rows;
}

// The first stage of the paper trains on the CPU platforms' profiles alone. Elsewhere the first vendor's take their
// place: those of the kind, or else the vendor, that the first platform of the table has.
std::vector<bool> first_stage(const TrainingTable& table) {
  std::vector<std::string> first;
  const bool any_cpu = std::any_of(table.platforms.begin(), table.platforms.end(),
                                   [](const Platform& platform) { return platform.kind == "cpu"; });
  const Platform& lead = table.platforms.front();
  for (const Platform& platform : table.platforms) {
    const bool same_line = platform.arch == lead.arch && platform.vendor == lead.vendor;
    if (any_cpu ? platform.kind == "cpu" : same_line) first.push_back(platform.name);
  }
  std::vector<bool> chosen;
  for (const Profile& profile : table.profiles) {
    chosen.push_back(std::find(first.begin(), first.end(), profile.host.name) != first.end());
  }
  return chosen;
}

}  // namespace

VaePredictor::VaePredictor(std::string family) : VaePredictor(std::move(family), default_config()) {}

VaePredictor::VaePredictor(std::string family, const VaeRegressorConfig& config)
    : family_(std::move(family)), config_(config) {
  leave_out(family_, config_);
}

Json VaePredictor::settings() const {
  Json json = {{"schema", kVaeConfigSchema}};
  json.update(to_json(config_));
  return json;
}

Status VaePredictor::configure(const Json& settings, const std::string& source) {
  Json merged = to_json(config_);
  if (!settings.is_object()) {
    return Error{"bad-config", "settings are no JSON object", source, "what perfcast train --print-config prints"};
  }
  if (const Json schema = settings.value("schema", Json(kVaeConfigSchema)); schema != kVaeConfigSchema) {
    return Error{"bad-config", "settings of another schema: " + schema.dump(), source, kVaeConfigSchema};
  }
  for (const auto& item : settings.items()) {
    if (!item.value().is_null()) merged[item.key()] = item.value();
  }
  merged.erase("schema");
  auto config = vae_regressor_config_from_json(merged, source);
  if (!config) return config.error();
  config_ = *config;
  leave_out(family_, config_);
  return {};
}

Status VaePredictor::fit(const TrainingTable& table, const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  inputs_ = StandardisedInputs::fit(table, targets->weights);
  const auto profiles = profiles_of(table);
  VaeTrainingData data;
  data.x = inputs_.rows(profiles).cast<float>();
  data.mask = inputs_.present(profiles).cast<float>();
  data.y = targets->log_rpv.cast<float>();
  data.weights = (targets->weights.asDiagonal() * targets->present).cast<float>();
  data.first_stage = first_stage(table);
  data.validation_rows = held_out_rows(*targets, config_.validation_share, options.seed);

  VaeRegressorConfig config = config_;
  config.seed = options.seed;
  const bool any_first = std::find(data.first_stage.begin(), data.first_stage.end(), true) != data.first_stage.end();
  config.pretrain = config.pretrain && any_first;
  VaeTrainingHooks hooks;
  hooks.threads = options.threads;
  if (options.progress) {
    hooks.progress = [&](const VaeProgress& progress) { options.progress(family_ + " " + to_text(progress)); };
  }
  if (options.checkpoint != nullptr) {
    hooks.resume = options.checkpoint->load(options.part);
    hooks.save = [&](const std::string& bytes) { return options.checkpoint->save(options.part, bytes); };
  }
  const auto regressor = VaeRegressor::train(data, config, hooks);
  if (!regressor) return regressor.error();
  network_ = PackedVaeRegressor(*regressor);
  return {};
}

Eigen::MatrixXd VaePredictor::predict(const std::vector<const Profile*>& profiles) const {
  const RowMatrixF rows = inputs_.rows(profiles).cast<float>();
  const RowMatrixF mask = inputs_.present(profiles).cast<float>();
  Eigen::MatrixXd result(rows.rows(), outputs());
  std::vector<float> output(static_cast<size_t>(outputs()));
  const auto columns = static_cast<size_t>(rows.cols());
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    network_.predict({rows.data() + r * rows.cols(), columns}, {mask.data() + r * rows.cols(), columns}, output);
    for (Eigen::Index j = 0; j < result.cols(); ++j) result(r, j) = static_cast<double>(output[static_cast<size_t>(j)]);
  }
  result.colwise() -= result.rowwise().mean().eval();
  return result;
}

Result<FeatureAttribution> VaePredictor::attribute_features(const AttributionRequest& request) const {
  const std::vector<const Profile*> both = {request.profile, request.reference};
  const Eigen::MatrixXd rows = inputs_.rows(both).cast<float>().cast<double>(), mask = inputs_.present(both);
  Eigen::MatrixXd inputs(2, rows.cols() + mask.cols());
  inputs << rows.cwiseProduct(mask), mask;
  return attribution_of(*this, request, AttributionMethod::kIntegratedGradients, inputs_.chosen().names(),
                        centred_over_platforms(network_.attribute_columns(inputs.row(0), inputs.row(1))));
}

void VaePredictor::save(TensorMap& tensors) const {
  inputs_.save(tensors);
  TensorMap network;
  network_.save(network);
  tensors.put_within("network", network);
}

Status VaePredictor::load(const TensorMap& tensors) {
  if (Status status = inputs_.load(tensors); !status) return status;
  if (Status status = network_.load(tensors.within("network")); !status) return status;
  if (network_.columns() != inputs_.columns()) {
    return Error{"bad-bundle", "the network reads another number of features than there are", "network",
                 "a bundle written by perfcast train"};
  }
  return {};
}

}  // namespace perfcast::program
