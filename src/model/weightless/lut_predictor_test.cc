#include "model/weightless/lut_predictor.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "model/bundle/tensor_map.h"
#include "model/fit/standardised_inputs.h"
#include "model/test_world.h"

namespace perfcast {
namespace {

using testing_world::additive_world;

LutPredictor small_lut_predictor() {
  LutPredictor predictor;
  EXPECT_TRUE(predictor.configure({{"luts", {16}}, {"epochs", 5}, {"networks", 2}}, "test"));
  return predictor;
}

TEST(LutPredictor, TakesItsSettings) {
  LutPredictor predictor;
  const Json settings = {{"schema", "perfcast.dwn/1"},
                         {"networks", 3},
                         {"encoding", "gaussian"},
                         {"levels", 5},
                         {"luts", {64, 32}},
                         {"arity", 2},
                         {"learn_mapping", false},
                         {"epochs", 7},
                         {"batch", 9},
                         {"learning_rate", 0.5},
                         {"decay_epochs", 2},
                         {"table_decay", 0.25},
                         {"order_decay", 0.125}};
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
  EXPECT_EQ(message({{"lutz", 1}}), "there is no setting 'lutz'");
  EXPECT_EQ(message({{"epochs", -1}}), "'epochs' can't be -1");
  EXPECT_EQ(message({{"epochs", 0}}), "no epochs");
  EXPECT_EQ(message({{"arity", 0}}), "a table that reads 0 bits (arity)");
  EXPECT_EQ(message({{"luts", Json::array()}}), "'luts' can't be []");
  EXPECT_EQ(message({{"networks", 0}}), "'networks' can't be 0");
  EXPECT_EQ(message({{"networks", 65}}), "'networks' can't be 65");
  EXPECT_EQ(message({{"learning_rate", 2}}), "a learning_rate of 2.");
  EXPECT_EQ(message({{"encoding", "log"}}), "there is no encoding 'log'");
  EXPECT_EQ(message({{"learn_mapping", "yes"}}), "'learn_mapping' can't be \"yes\"");
  EXPECT_EQ(message({{"epochs", 3}, {"batch", 0}}), "a batch of no row");
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
}  // namespace perfcast
