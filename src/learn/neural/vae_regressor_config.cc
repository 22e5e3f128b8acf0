#include "learn/neural/vae_regressor_config.h"

#include <algorithm>

#include "base/json.h"

namespace perfcast {
namespace {

constexpr int64_t kMostUnits = 65536, kMostLayers = 16, kMostEpochs = 1000000;
constexpr int64_t kLargestBatch = 64, kSmallestBatch = 8, kStepsPerEpoch = 4;

std::string to_text(RateSchedule schedule) { return schedule == RateSchedule::kConstant ? "constant" : "cosine"; }

std::vector<int64_t> sizes_or(JsonReader& in, const std::string& key, std::vector<int64_t> fallback) {
  const Json* array = in.array(key);
  if (array == nullptr) return fallback;
  std::vector<int64_t> sizes;
  for (const Json& size : *array) {
    if (!size.is_number_integer()) {
      in.complain(key, "an entry that is no integer", "whole numbers of units");
      return fallback;
    }
    sizes.push_back(size.get<int64_t>());
  }
  return sizes;
}

}  // namespace

Json to_json(const VaeRegressorConfig& c) {
  return Json{{"seed", c.seed},
              {"batch", c.batch},
              {"validation_share", c.validation_share},
              {"rate_schedule", to_text(c.rate_schedule)},
              {"use_vae", c.use_vae},
              {"latent", c.latent},
              {"hidden", c.hidden},
              {"fixed_sigma", c.fixed_sigma},
              {"kl_schedule", to_text(c.kl_schedule)},
              {"kl_cycles", c.kl_cycles},
              {"kl_ramp", c.kl_ramp},
              {"vae_learning_rate", c.vae_learning_rate},
              {"pretrain", c.pretrain},
              {"pretrain_epochs", c.pretrain_epochs},
              {"vae_epochs", c.vae_epochs},
              {"use_feedback", c.use_feedback},
              {"feedback_weight", c.feedback_weight},
              {"feedback_from", c.feedback_from},
              {"feedback_to", c.feedback_to},
              {"head_hidden", c.head_hidden},
              {"head_reads_inputs", c.head_reads_inputs},
              {"fine_tune_encoder", c.fine_tune_encoder},
              {"sample_latent", c.sample_latent},
              {"head_learning_rate", c.head_learning_rate},
              {"weight_decay", c.weight_decay},
              {"head_epochs", c.head_epochs},
              {"patience", c.patience}};
}

Result<VaeRegressorConfig> vae_regressor_config_from_json(const Json& json, const std::string& source) {
  VaeRegressorConfig c;
  JsonReader in(json, source);
  const Json known = to_json(c);
  if (json.is_object()) {
    std::string names;
    for (const auto& item : known.items()) names += (names.empty() ? "" : ", ") + item.key();
    for (const auto& item : json.items()) {
      if (known.contains(item.key())) continue;
      return Error{"bad-config", "there is no setting '" + item.key() + "'", source + "." + item.key(), names};
    }
  }
  const int64_t seed = in.integer_or("seed", static_cast<int64_t>(c.seed));
  if (seed < 0) in.complain("seed", std::to_string(seed), "0 or more");
  c.seed = static_cast<uint64_t>(seed);
  c.batch = in.integer_or("batch", c.batch);
  c.validation_share = in.number_or("validation_share", c.validation_share);
  const std::string rate = in.string_or("rate_schedule", to_text(c.rate_schedule));
  c.use_vae = in.boolean_or("use_vae", c.use_vae);
  c.latent = in.integer_or("latent", c.latent);
  c.hidden = sizes_or(in, "hidden", c.hidden);
  c.fixed_sigma = in.number_or("fixed_sigma", c.fixed_sigma);
  const std::string kl = in.string_or("kl_schedule", to_text(c.kl_schedule));
  c.kl_cycles = in.integer_or("kl_cycles", c.kl_cycles);
  c.kl_ramp = in.number_or("kl_ramp", c.kl_ramp);
  c.vae_learning_rate = in.number_or("vae_learning_rate", c.vae_learning_rate);
  c.pretrain = in.boolean_or("pretrain", c.pretrain);
  c.pretrain_epochs = in.integer_or("pretrain_epochs", c.pretrain_epochs);
  c.vae_epochs = in.integer_or("vae_epochs", c.vae_epochs);
  c.use_feedback = in.boolean_or("use_feedback", c.use_feedback);
  c.feedback_weight = in.number_or("feedback_weight", c.feedback_weight);
  c.feedback_from = in.integer_or("feedback_from", c.feedback_from);
  c.feedback_to = in.integer_or("feedback_to", c.feedback_to);
  c.head_hidden = sizes_or(in, "head_hidden", c.head_hidden);
  c.head_reads_inputs = in.boolean_or("head_reads_inputs", c.head_reads_inputs);
  c.fine_tune_encoder = in.boolean_or("fine_tune_encoder", c.fine_tune_encoder);
  c.sample_latent = in.boolean_or("sample_latent", c.sample_latent);
  c.head_learning_rate = in.number_or("head_learning_rate", c.head_learning_rate);
  c.weight_decay = in.number_or("weight_decay", c.weight_decay);
  c.head_epochs = in.integer_or("head_epochs", c.head_epochs);
  c.patience = in.integer_or("patience", c.patience);
  if (rate != "constant" && rate != "cosine") in.complain("rate_schedule", "'" + rate + "'", "constant or cosine");
  c.rate_schedule = rate == "constant" ? RateSchedule::kConstant : RateSchedule::kCosine;
  const auto schedule = kl_schedule_from_text(kl);
  if (!schedule) {
    in.complain("kl_schedule", "'" + kl + "'", schedule.error().expected);
  } else {
    c.kl_schedule = *schedule;
  }
  if (auto status = in.finish(); !status) return status.error();
  if (auto status = check(c); !status) return status.error();
  return c;
}

int64_t batch_rows(const VaeRegressorConfig& config, int64_t rows) {
  return config.batch > 0 ? config.batch : std::clamp(rows / kStepsPerEpoch, kSmallestBatch, kLargestBatch);
}

Status check(const VaeRegressorConfig& c) {
  const auto layers = [](const std::vector<int64_t>& sizes) {
    return sizes.size() <= static_cast<size_t>(kMostLayers) &&
           std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size >= 1 && size <= kMostUnits; });
  };
  const auto epochs = [](int64_t n) { return n >= 0 && n <= kMostEpochs; };
  const auto rate = [](double value) { return value > 0 && value <= 1; };
  const struct {
    bool fits;
    const char *setting, *expected;
  } rules[] = {
      {c.batch >= 0 && c.batch <= kMostEpochs, "batch", "1 to 1000000 rows, or 0 (by the number of rows)"},
      {c.validation_share == -1 || (c.validation_share >= 0 && c.validation_share <= 0.9), "validation_share",
       "0 to 0.9, or -1 (by the families)"},
      {c.latent >= 1 && c.latent <= kMostUnits, "latent", "1 to 65536"},
      {layers(c.hidden), "hidden", "at most 16 layers of 1 to 65536 units"},
      {layers(c.head_hidden), "head_hidden", "at most 16 layers of 1 to 65536 units"},
      {c.fixed_sigma == 0 || (c.fixed_sigma >= 1e-6 && c.fixed_sigma <= 1e6), "fixed_sigma",
       "0 (calibrated), or 1e-6 to 1e6"},
      {c.kl_cycles >= 1 && c.kl_cycles <= kMostEpochs, "kl_cycles", "1 to 1000000"},
      {c.kl_ramp > 0 && c.kl_ramp <= 1, "kl_ramp", "above 0, at most 1"},
      {rate(c.vae_learning_rate), "vae_learning_rate", "above 0, at most 1"},
      {rate(c.head_learning_rate), "head_learning_rate", "above 0, at most 1"},
      {c.weight_decay >= 0 && c.weight_decay <= 100, "weight_decay", "0 to 100"},
      {c.feedback_weight >= 0 && c.feedback_weight <= 1e6, "feedback_weight", "0 to 1e6"},
      {c.feedback_from >= -1 && c.feedback_from <= kMostEpochs, "feedback_from", "-1 (the middle), or an epoch"},
      {c.feedback_to >= -1 && c.feedback_to <= kMostEpochs, "feedback_to", "-1 (the end), or an epoch"},
      {epochs(c.pretrain_epochs), "pretrain_epochs", "0 to 1000000"},
      {epochs(c.vae_epochs), "vae_epochs", "0 to 1000000"},
      {epochs(c.head_epochs), "head_epochs", "0 to 1000000"},
      {c.patience >= 1 && c.patience <= kMostEpochs, "patience", "1 to 1000000"},
  };
  for (const auto& rule : rules) {
    if (!rule.fits) {
      return Error{"bad-config", std::string("the value of '") + rule.setting + "' can't be", rule.setting,
                   rule.expected};
    }
  }
  return {};
}

}  // namespace perfcast
