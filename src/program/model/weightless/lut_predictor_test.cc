#include "program/model/weightless/lut_predictor.h"

#include <gtest/gtest.h>

#include <map>

#include "base/json.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

using testing_world::additive_world;

LutPredictor small_lut_predictor(const char* training = "gradient") {
  LutPredictor predictor;
  EXPECT_TRUE(predictor.configure({{"training", training},
                                   {"networks", 2},
                                   {"boosted", {{"tables", 20}}},
                                   {"gradient", {{"luts", {16}}, {"epochs", 5}}},
                                   {"best", {{"epochs", 5}, {"tables_of_platform", 4}}}},
                                  "test"));
  return predictor;
}

TEST(LutPredictor, TakesItsSettings) {
  LutPredictor predictor;
  const Json settings = {{"schema", "perfcast.dwn/2"},
                         {"training", "gradient"},
                         {"networks", 3},
                         {"boosted",
                          {{"encoding", "linear"},
                           {"levels", 6},
                           {"tables", 40},
                           {"arity", 5},
                           {"learning_rate", 0.25},
                           {"row_share", 0.5},
                           {"input_share", 0.75},
                           {"ridge", 3.0}}},
                         {"gradient",
                          {{"encoding", "gaussian"},
                           {"levels", 5},
                           {"short_thresholds", true},
                           {"arity", 2},
                           {"learn_mapping", false},
                           {"epochs", 7},
                           {"batch", 9},
                           {"learning_rate", 0.5},
                           {"decay_epochs", 2},
                           {"table_decay", 0.25},
                           {"order_decay", 0.125},
                           {"luts", {64, 32}}}},
                         {"best",
                          {{"encoding", "gaussian"},
                           {"levels", 7},
                           {"short_thresholds", false},
                           {"arity", 3},
                           {"learn_mapping", false},
                           {"epochs", 8},
                           {"batch", 10},
                           {"learning_rate", 0.25},
                           {"decay_epochs", 3},
                           {"table_decay", 0.5},
                           {"order_decay", 0.25},
                           {"most_platforms", 9},
                           {"tables_of_platform", 12}}}};
  ASSERT_TRUE(predictor.configure(settings, "test"));
  EXPECT_EQ(predictor.settings(), settings);
}

TEST(LutPredictor, SaysWhichSettingCanNotBe) {
  const auto message = [](const Json& settings) {
    LutPredictor predictor;
    const Json before = predictor.settings();
    const Status status = predictor.configure(settings, "test");
    EXPECT_EQ(predictor.settings(), before);  // nothing is half taken
    if (status) return std::string();
    EXPECT_EQ(status.error().code, "bad-config");
    EXPECT_EQ(status.error().where, "test");
    return status.error().message;
  };
  const auto says = [&](const Json& settings, const std::string& part) {
    EXPECT_NE(message(settings).find(part), std::string::npos) << message(settings);
  };
  says({{"lutz", 1}}, "lutz");
  says({{"training", "guessing"}}, "guessing");
  says({{"networks", 0}}, "networks");
  says({{"networks", 65}}, "networks");
  says({{"gradient", 3}}, "gradient");
  says({{"gradient", {{"tables", 3}}}}, "test.gradient.tables");
  says({{"gradient", {{"epochs", -1}}}}, "epochs");
  says({{"gradient", {{"arity", 0}}}}, "arity");
  says({{"gradient", {{"arity", 9}}}}, "arity");
  says({{"gradient", {{"luts", Json::array()}}}}, "luts");
  says({{"gradient", {{"learning_rate", 2}}}}, "a learning_rate of 2.");
  says({{"gradient", {{"encoding", "log"}}}}, "there is no encoding 'log'");
  says({{"gradient", {{"learn_mapping", "yes"}}}}, "learn_mapping");
  says({{"boosted", {{"row_share", 0}}}}, "share");
  says({{"best", {{"tables_of_platform", 0}}}}, "tables_of_platform");
}

TEST(LutPredictor, SaysWhichOfFewPlatformsIsBest) {
  const auto world = additive_world({.programs = 40, .platforms = 4, .families = 20});
  LutPredictor predictor;
  ASSERT_TRUE(predictor.fit(world.table, {.seed = 1, .threads = 1}));
  const auto profiles = profiles_of(world.table);
  const Prediction prediction = predictor.predict_with_disagreement(profiles);
  ASSERT_EQ(prediction.best.size(), profiles.size());
  const Eigen::MatrixXd truth = log_rpv(world.table);
  int right = 0;
  for (size_t i = 0; i < profiles.size(); ++i) {
    Eigen::Index best = 0;
    truth.row(static_cast<Eigen::Index>(i)).minCoeff(&best);
    right += prediction.best[i] == best ? 1 : 0;
  }
  EXPECT_GT(right, 32);  // of 40 programs that it was fitted on
  const auto many = additive_world({.programs = 20, .platforms = 20, .families = 10});
  LutPredictor of_many = small_lut_predictor("boosted");
  ASSERT_TRUE(of_many.fit(many.table, {.seed = 1, .threads = 1}));
  EXPECT_TRUE(of_many.predict_with_disagreement(profiles_of(many.table)).best.empty());
}

// A training that was killed after its first network goes on from there.
class KeptParts : public FitCheckpoint {
 public:
  std::string load(const std::string& part) override { return parts[part]; }
  Status save(const std::string& part, std::string bytes) override {
    parts[part] = std::move(bytes);
    saved += parts[part].empty() ? 0 : 1;
    if (stop_after > 0 && saved == stop_after) return Error{"disk-full", "no", "", ""};
    return {};
  }
  std::map<std::string, std::string> parts;
  int saved = 0, stop_after = 0;
};
TEST(LutPredictor, GoesOnFromItsCheckpoint) {
  const auto world = additive_world({.programs = 16, .platforms = 4, .families = 8});
  for (const char* training : {"gradient", "boosted"}) {
    const auto bytes = [&](KeptParts* kept) {
      LutPredictor predictor = small_lut_predictor(training);
      FitOptions options{.seed = 1, .threads = 1};
      options.checkpoint = kept;
      if (!predictor.fit(world.table, options)) return std::string("failed");
      TensorMap tensors;
      predictor.save(tensors);
      return std::string(*tensors.get_bytes("network0")) + std::string(*tensors.get_bytes("network1"));
    };
    KeptParts kept;
    kept.stop_after = 1;
    EXPECT_EQ(bytes(&kept), "failed");
    EXPECT_FALSE(kept.parts["model.network0"].empty());
    kept.stop_after = 0;
    EXPECT_EQ(bytes(&kept), bytes(nullptr));
    EXPECT_EQ(kept.saved, 2);  // the first one was not learnt again
    EXPECT_TRUE(kept.parts["model.network0"].empty());
  }
}

TEST(LutPredictor, RefusesNetworksOfAnotherModel) {
  const auto world = additive_world({.programs = 16, .platforms = 4, .families = 8});
  LutPredictor predictor = small_lut_predictor();
  ASSERT_TRUE(predictor.fit(world.table, {.seed = 1, .threads = 1}));
  const auto error_after = [&](const auto& change) {
    TensorMap tensors;
    predictor.save(tensors);
    change(tensors);
    LutPredictor loaded;
    const Status status = loaded.load(tensors);
    return status ? std::string() : status.error().code + ": " + status.error().message;
  };
  EXPECT_EQ(error_after([](TensorMap&) {}), "");
  EXPECT_EQ(error_after([](TensorMap& of) { of.put_bytes("network1", "nothing"); }),
            "bad-bundle: this is no weightless network");
  EXPECT_EQ(error_after([](TensorMap& of) { of.put_json("networks", 100); }),
            "bad-bundle: the weightless model has no networks, or too many");
  EXPECT_EQ(error_after([](TensorMap& of) { of.put("directions", Eigen::MatrixXd::Ones(7, 4)); }),
            "bad-bundle: the weightless model has other components than it can");
  EXPECT_EQ(error_after([](TensorMap& of) { of.put("directions", Eigen::MatrixXd::Ones(1, 4)); }),
            "bad-bundle: a network has other inputs or outputs than the model");
}

// Networks of one fit are not those of the next seed.
TEST(LutPredictor, DrawsEachSeedAnew) {
  const auto world = additive_world({.programs = 16, .platforms = 4, .families = 8});
  const auto network = [&](uint64_t seed, const char* name) {
    LutPredictor predictor = small_lut_predictor();
    EXPECT_TRUE(predictor.fit(world.table, {.seed = seed, .threads = 1}));
    TensorMap tensors;
    predictor.save(tensors);
    return std::string(*tensors.get_bytes(name));
  };
  EXPECT_NE(network(1, "network1"), network(2, "network0"));
  EXPECT_EQ(network(1, "network1"), network(1, "network1"));
}

}  // namespace
}  // namespace perfcast::program
