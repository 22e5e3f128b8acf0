#include "learn/neural/vae_regressor.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/json.h"
#include "learn/neural/packed_vae_regressor.h"
#include "learn/neural/test_matrices.h"
#include "learn/neural/vae_checkpoint.h"
#include "learn/tensors/tensor_map.h"

namespace perfcast {
namespace {

using testing_network::random_matrix;

// Three causes, ten columns, two targets; 15% of both absent. Half of the rows are the first stage's.
VaeTrainingData made_data(Eigen::Index rows, uint64_t seed = 1) {
  Random fixed(77);
  const RowMatrixF to_columns = random_matrix(fixed, 3, 10);
  const RowMatrixF to_targets = random_matrix(fixed, 3, 2);
  Random random(seed);
  const RowMatrixF causes = random_matrix(random, rows, 3);
  const auto absent = [&random](Eigen::Index n, Eigen::Index m) {
    return RowMatrixF(RowMatrixF::NullaryExpr(n, m, [&] { return random.uniform() < 0.15 ? 0.0f : 1.0f; }));
  };
  VaeTrainingData data;
  data.x = causes * to_columns + 0.2f * random_matrix(random, rows, 10);
  data.y = (causes.cwiseMax(0.0f) * to_targets).array() * 3 + 7;
  data.mask = absent(rows, 10);
  data.weights = absent(rows, 2);
  for (Eigen::Index r = 0; r < rows; ++r) data.first_stage.push_back(r % 2 == 0);
  return data;
}

VaeRegressorConfig small_config() {
  VaeRegressorConfig config;
  config.batch = 64;
  config.latent = 5;
  config.hidden = {24, 24};
  config.head_hidden = {48, 48};
  config.vae_learning_rate = 3e-3;
  config.head_learning_rate = 3e-3;
  config.pretrain_epochs = 6;
  config.vae_epochs = 12;
  config.head_epochs = 20;
  return config;
}

double mean_square(const RowMatrixF& predicted, const VaeTrainingData& data) {
  return static_cast<double>((predicted - data.y).cwiseAbs2().cwiseProduct(data.weights).sum() / data.weights.sum());
}

double spread(const VaeTrainingData& data) {
  return mean_square(RowMatrixF(data.y.colwise().mean().replicate(data.y.rows(), 1)), data);
}

TEST(VaeRegressor, ForecastsWhatTheCausesSay) {
  VaeRegressorConfig config = small_config();
  config.vae_epochs = 40;
  config.head_epochs = 60;
  const auto regressor = VaeRegressor::train(made_data(1200), config);
  ASSERT_TRUE(regressor);
  const VaeTrainingData fresh = made_data(400, 2);
  const auto predicted = regressor->predict(fresh.x, fresh.mask);
  ASSERT_TRUE(predicted);
  EXPECT_LT(mean_square(*predicted, fresh), 0.2 * spread(fresh));
  EXPECT_EQ(regressor->latent(fresh.x, fresh.mask)->cols(), 5);
  EXPECT_FALSE(regressor->predict(fresh.x.leftCols(9), fresh.mask.leftCols(9)));
}

TEST(VaeRegressor, WhatIsAbsentChangesNothing) {
  const VaeTrainingData data = made_data(200);
  VaeTrainingData other = data;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  other.x = (data.mask.array() > 0).select(data.x, nan);
  other.y = (data.weights.array() > 0).select(data.y, nan);
  const auto a = VaeRegressor::train(data, small_config());
  const auto b = VaeRegressor::train(other, small_config());
  ASSERT_TRUE(a);
  ASSERT_TRUE(b);
  EXPECT_EQ(*a->predict(data.x, data.mask), *b->predict(other.x, other.mask));
  EXPECT_EQ(a->head().layers()[0].weights, b->head().layers()[0].weights);
}

TEST(VaeRegressor, StagesReportTheirLosses) {
  VaeRegressorConfig config = small_config();
  config.feedback_from = 3;
  config.feedback_to = 5;
  config.patience = 1000;
  std::vector<VaeProgress> seen;
  VaeTrainingHooks hooks;
  hooks.progress = [&seen](const VaeProgress& progress) { seen.push_back(progress); };
  ASSERT_TRUE(VaeRegressor::train(made_data(200), config, hooks));
  ASSERT_EQ(seen.size(), 6u + 12u + 20u);
  EXPECT_EQ(seen[0].stage, VaeStage::kPretrain);
  EXPECT_EQ(seen[0].epochs, 6);
  for (size_t epoch = 0; epoch < 12; ++epoch) {
    const VaeProgress& vae = seen[6 + epoch];
    EXPECT_EQ(vae.stage, VaeStage::kVae);
    EXPECT_EQ(vae.epoch, static_cast<int64_t>(epoch) + 1);
    EXPECT_EQ(std::isfinite(vae.regression), epoch == 3 || epoch == 4) << epoch;
    EXPECT_TRUE(std::isfinite(vae.reconstruction) && std::isfinite(vae.kl) && std::isfinite(vae.validation));
    EXPECT_GT(vae.sigma, 0);
  }
  EXPECT_EQ(to_text(seen.back().stage), "head");
  EXPECT_TRUE(std::isnan(seen.back().kl));
  EXPECT_LT(seen.back().regression, seen[18].regression);
}

TEST(VaeRegressor, StopsEarlyAndKeepsTheBest) {
  VaeTrainingData data = made_data(120);
  Random random(4);
  data.y = random_matrix(random, 120, 2);
  VaeRegressorConfig config = small_config();
  config.use_vae = false;
  config.head_epochs = 400;
  config.patience = 5;
  data.validation_rows = {0, 3, 4, 9, 17, 18, 40, 41, 77, 100};
  std::vector<double> validation;
  VaeTrainingHooks hooks;
  hooks.progress = [&validation](const VaeProgress& progress) { validation.push_back(progress.validation); };
  const auto regressor = VaeRegressor::train(data, config, hooks);
  ASSERT_TRUE(regressor);
  const auto best = std::min_element(validation.begin(), validation.end());
  EXPECT_EQ(regressor->head_epochs(), best - validation.begin() + 1);
  EXPECT_EQ(validation.size(), static_cast<size_t>(regressor->head_epochs()) + 6);
  const auto predicted = regressor->predict(data.x, data.mask);
  double error = 0;
  double weight = 0;
  for (const int64_t row : data.validation_rows) {
    for (Eigen::Index j = 0; j < 2; ++j) {
      const auto miss = static_cast<double>(((*predicted)(row, j) - data.y(row, j)) / regressor->target_scale());
      error += static_cast<double>(data.weights(row, j)) * miss * miss;
      weight += static_cast<double>(data.weights(row, j));
    }
  }
  EXPECT_GT(weight, 0);
  const double train_weight = static_cast<double>(data.weights.sum()) - weight;
  EXPECT_NEAR(0.5 * error / 10 / (train_weight / 110), *best, 1e-4);
}

std::string bytes_of(const VaeRegressor& regressor) {
  VaeTrainingState state;
  state.encoder = regressor.vae().encoder();
  state.decoder = regressor.vae().decoder();
  state.head = regressor.head();
  return to_bytes(state);
}

// From any checkpoint on, the same bytes as without a break; and twice the same without one.
TEST(VaeRegressor, ResumedOrNotTheSameBytes) {
  const VaeTrainingData data = made_data(150);
  VaeRegressorConfig config = small_config();
  config.fine_tune_encoder = true;
  config.sample_latent = true;
  config.head_reads_inputs = true;
  config.patience = 4;
  std::vector<std::string> checkpoints;
  VaeTrainingHooks hooks;
  hooks.save_every = 3;
  hooks.save = [&checkpoints](const std::string& bytes) {
    checkpoints.push_back(bytes);
    return Status{};
  };
  const auto whole = VaeRegressor::train(data, config, hooks);
  ASSERT_TRUE(whole);
  const std::string expected = bytes_of(*whole);
  EXPECT_EQ(bytes_of(*VaeRegressor::train(data, config)), expected);
  ASSERT_GE(checkpoints.size(), 7u);
  for (const std::string& checkpoint : checkpoints) {
    const auto resumed = VaeRegressor::train(data, config, {.resume = checkpoint});
    ASSERT_TRUE(resumed) << to_text(resumed.error());
    EXPECT_EQ(bytes_of(*resumed), expected);
    EXPECT_EQ(resumed->head_epochs(), whole->head_epochs());
  }
  VaeRegressorConfig other = config;
  other.seed = 2;
  EXPECT_NE(bytes_of(*VaeRegressor::train(data, other)), expected);
  EXPECT_EQ(VaeRegressor::train(data, other, {.resume = checkpoints[0]}).error().code, "checkpoint-mismatch");
  EXPECT_EQ(VaeRegressor::train(made_data(150, 5), config, {.resume = checkpoints[0]}).error().code,
            "checkpoint-mismatch");
}

TEST(VaeRegressor, AFailedSaveEndsTheTraining) {
  VaeTrainingHooks hooks;
  hooks.save = [](const std::string&) { return Status(Error{"disk-full", "no room", "", ""}); };
  EXPECT_EQ(VaeRegressor::train(made_data(60), small_config(), hooks).error().code, "disk-full");
}

TEST(VaeCheckpoint, RefusesWhatIsCorrupt) {
  VaeTrainingState state;
  state.epoch = 3;
  state.encoder = DenseNetwork({2, 3}, 1);
  state.head = DenseNetwork({3, 4, 1}, 2);
  state.head_adam = {state.head.layers(), state.head.layers(), 5};
  const std::string bytes = to_bytes(state);
  const auto back = vae_training_state_from_bytes(bytes, "x");
  ASSERT_TRUE(back);
  EXPECT_EQ(to_bytes(*back), bytes);
  EXPECT_EQ(back->epoch, 3);
  EXPECT_EQ(back->head_adam.steps, 5);
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_EQ(vae_training_state_from_bytes(bytes.substr(0, n), "x").error().code, "bad-checkpoint");
    std::string changed = bytes;
    changed[n] = static_cast<char>(changed[n] ^ 4);
    EXPECT_EQ(vae_training_state_from_bytes(changed, "x").error().code, "bad-checkpoint") << n;
  }
}

// The targets follow a faint column, fainter than the noise of the others: a VAE leaves it out of the latent (as
// probabilistic PCA would), until the regressor's loss tells it what matters.
TEST(VaeRegressor, FeedbackMakesTheLatentKeepWhatTheTargetsNeed) {
  Random random(8);
  VaeTrainingData data;
  const RowMatrixF loud = random_matrix(random, 600, 1);
  const RowMatrixF faint = random_matrix(random, 600, 1);
  data.x.resize(600, 6);
  const RowMatrixF noise = 0.9f * random_matrix(random, 600, 5);
  data.x << noise.colwise() + 3 * loud.col(0), 0.5f * faint;
  data.mask = RowMatrixF::Ones(600, 6);
  data.y = faint;
  data.weights = RowMatrixF::Ones(600, 1);
  VaeRegressorConfig config = small_config();
  config.latent = 2;
  config.vae_epochs = 80;
  config.head_epochs = 20;
  config.feedback_from = 0;
  config.feedback_weight = 100;
  const auto with = VaeRegressor::train(data, config);
  config.use_feedback = false;
  const auto without = VaeRegressor::train(data, config);
  ASSERT_TRUE(with);
  ASSERT_TRUE(without);
  const double error_with = mean_square(*with->predict(data.x, data.mask), data);
  const double error_without = mean_square(*without->predict(data.x, data.mask), data);
  EXPECT_LT(error_with, 0.5 * error_without) << error_with << " " << error_without;
}

TEST(VaeRegressor, EveryIngredientCanBeLeftOut) {
  const VaeTrainingData data = made_data(150);
  const auto predict = [&data](const VaeRegressorConfig& config) {
    const auto regressor = VaeRegressor::train(data, config);
    return regressor ? *regressor->predict(data.x, data.mask) : RowMatrixF();
  };
  VaeRegressorConfig whole = small_config();
  const RowMatrixF reference = predict(whole);
  std::vector<VaeRegressorConfig> without(7, whole);
  without[0].use_feedback = false;
  without[1].fixed_sigma = 1;
  without[2].kl_schedule = KlSchedule::kNone;
  without[3].pretrain = false;
  without[4].use_vae = false;
  without[5].rate_schedule = RateSchedule::kConstant;
  without[6].validation_share = 0;
  for (size_t i = 0; i < without.size(); ++i) {
    const RowMatrixF other = predict(without[i]);
    ASSERT_EQ(other.rows(), 150) << i;
    EXPECT_TRUE(other.allFinite());
    EXPECT_NE(other, reference) << i;
  }
  VaeTrainingData no_first = data;
  no_first.first_stage.clear();
  EXPECT_EQ(*VaeRegressor::train(no_first, whole)->predict(data.x, data.mask), predict(without[3]));
}

TEST(VaeRegressor, RefusesDataThatCanNotBe) {
  const auto error = [](auto change) {
    VaeTrainingData data = made_data(40);
    change(data);
    const auto result = VaeRegressor::train(data, small_config());
    return result ? std::string("none") : result.error().code + ": " + result.error().where;
  };
  EXPECT_EQ(error([](auto& d) { d.weights(3, 1) = -1; }), "bad-training-data: row 3, column 1");
  EXPECT_EQ(error([](auto& d) { d.weights(3, 1) = 1, d.y(3, 1) = INFINITY; }), "bad-training-data: row 3, column 1");
  EXPECT_EQ(error([](auto& d) { d.mask(2, 0) = 1, d.x(2, 0) = NAN; }), "bad-training-data: row 2, column 0");
  EXPECT_EQ(error([](auto& d) { d.weights.col(1).setZero(); }), "bad-training-data: y");
  EXPECT_EQ(error([](auto& d) { d.y.conservativeResize(39, 2); }), "bad-training-data: y");
  EXPECT_EQ(error([](auto& d) { d.first_stage.pop_back(); }), "bad-training-data: first_stage");
  EXPECT_EQ(error([](auto& d) { d.validation_rows = {40}; }), "bad-training-data: validation_rows");
  EXPECT_EQ(error([](auto& d) { d.x.resize(0, 0), d.mask.resize(0, 0); }), "bad-training-data: x");
  EXPECT_EQ(error([](auto& d) { d.mask.setZero(); }), "none");  // nothing known: the mean is all there is
}

TEST(VaeRegressorConfig, ComesBackFromJson) {
  VaeRegressorConfig config = small_config();
  config.kl_schedule = KlSchedule::kLinear;
  config.rate_schedule = RateSchedule::kConstant;
  config.fixed_sigma = 0.5;
  config.feedback_to = 9;
  const auto back = vae_regressor_config_from_json(to_json(config), "c.json");
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, config);
  EXPECT_EQ(*vae_regressor_config_from_json(Json::object(), "c.json"), VaeRegressorConfig());
  const auto error = [](const char* text) {
    const auto result = vae_regressor_config_from_json(Json::parse(text), "c.json");
    return result ? std::string("none") : result.error().code + ": " + result.error().where;
  };
  EXPECT_EQ(error(R"({"latnet": 3})"), "bad-config: c.json.latnet");
  EXPECT_EQ(error(R"({"latent": 0})"), "bad-config: latent");
  EXPECT_EQ(error(R"({"head_hidden": [16, 0]})"), "bad-config: head_hidden");
  EXPECT_EQ(error(R"({"kl_ramp": 0})"), "bad-config: kl_ramp");
  EXPECT_THAT(error(R"({"hidden": [1.5]})"), ::testing::StartsWith("bad-json-field"));
  EXPECT_THAT(error(R"({"kl_schedule": "round"})"), ::testing::StartsWith("bad-json-field"));
  EXPECT_THAT(error("[]"), ::testing::StartsWith("bad-json-field"));
}

TEST(PackedVaeRegressor, FollowsTheRegressorAndItsFile) {
  const VaeTrainingData data = made_data(200);
  for (const int variant : {0, 1, 2}) {
    VaeRegressorConfig config = small_config();
    config.use_vae = variant != 2;
    config.head_reads_inputs = variant == 1;
    const auto regressor = VaeRegressor::train(data, config);
    ASSERT_TRUE(regressor);
    const PackedVaeRegressor packed(*regressor);
    EXPECT_EQ(packed.columns(), 10);
    ASSERT_EQ(packed.outputs(), 2);
    TensorMap tensors;
    packed.save(tensors);
    PackedVaeRegressor loaded;
    ASSERT_TRUE(loaded.load(tensors).ok());
    const RowMatrixF exact = *regressor->predict(data.x, data.mask);
    double square = 0;
    for (Eigen::Index r = 0; r < 200; ++r) {
      std::vector<float> x(data.x.row(r).begin(), data.x.row(r).end());
      const std::vector<float> mask(data.mask.row(r).begin(), data.mask.row(r).end());
      for (size_t c = 0; c < x.size(); ++c) {
        if (mask[c] == 0) x[c] = NAN;
      }
      std::vector<float> output(2);
      std::vector<float> again(2);
      packed.predict(x, mask, output);
      loaded.predict(x, mask, again);
      EXPECT_EQ(output, again);
      for (size_t j = 0; j < 2; ++j) {
        const auto miss = static_cast<double>(output[j] - exact(r, static_cast<Eigen::Index>(j)));
        square += miss * miss / 400;
      }
    }
    EXPECT_LT(std::sqrt(square), 0.03 * static_cast<double>(regressor->target_scale())) << variant;
    EXPECT_GT(square, 0);
    tensors.put_json("use_vae", variant == 2);
    EXPECT_EQ(loaded.load(tensors).error().code, "bad-bundle");
  }
  EXPECT_FALSE(PackedVaeRegressor().load(TensorMap()).ok());
}

}  // namespace
}  // namespace perfcast
