#include "learn/weightless/lut_trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace perfcast {
namespace {

struct Data {
  std::vector<float> rows, targets;
  std::vector<uint32_t> labels;
};

// Two spirals' worth of difficulty for bits: the class is the parity of two signs, beside inputs that say nothing.
Data parity(size_t count, uint64_t seed) {
  Random random(seed);
  Data data;
  for (size_t r = 0; r < count; ++r) {
    const double a = random.uniform(-1, 1), b = random.uniform(-1, 1);
    for (const double value : {random.uniform(-1, 1), a, random.uniform(-1, 1), b})
      data.rows.push_back(static_cast<float>(value));
    data.labels.push_back((a > 0) == (b > 0) ? 1 : 0);
    data.targets.push_back(static_cast<float>(3 * a + 100));
    data.targets.push_back(static_cast<float>(a * b));
  }
  return data;
}

LutTrainingOptions small() {
  LutTrainingOptions options;
  options.levels = 15;
  options.luts = {64};
  options.epochs = 40;
  options.batch = 50;
  options.decay_epochs = 15;
  return options;
}

double accuracy(const LutNetwork& network, const Data& data) {
  size_t right = 0;
  for (size_t r = 0; r < data.labels.size(); ++r)
    right += network.best(std::span(data.rows).subspan(4 * r, 4)) == data.labels[r] ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(data.labels.size());
}

TEST(LutTrainer, LearnsAParityThatNoSingleBitTells) {
  const Data seen = parity(600, 1), unseen = parity(600, 2);
  const auto network = train_lut_classifier({seen.rows, 4}, seen.labels, 2, small());
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_GT(accuracy(*network, seen), 0.95);
  EXPECT_GT(accuracy(*network, unseen), 0.9);
}

TEST(LutTrainer, LearnsThroughTwoLayersAndADrawnMapping) {
  const Data seen = parity(600, 1), unseen = parity(600, 2);
  LutTrainingOptions options = small();
  options.luts = {128, 64};
  options.arity = 4;
  const auto deep = train_lut_classifier({seen.rows, 4}, seen.labels, 2, options);
  ASSERT_TRUE(deep) << deep.error().message;
  EXPECT_GT(accuracy(*deep, unseen), 0.8);
  options = small();
  options.learn_mapping = false;
  options.luts = {256};
  const auto drawn = train_lut_classifier({seen.rows, 4}, seen.labels, 2, options);
  ASSERT_TRUE(drawn) << drawn.error().message;
  EXPECT_GT(accuracy(*drawn, unseen), 0.8);
}

TEST(LutTrainer, LearnsNumbersInTheirUnit) {
  const Data seen = parity(800, 3), unseen = parity(400, 4);
  LutTrainingOptions options = small();
  options.luts = {128};
  options.epochs = 60;
  const auto network = train_lut_regressor({seen.rows, 4}, seen.targets, 2, options);
  ASSERT_TRUE(network) << network.error().message;
  double error = 0, spread = 0;
  for (size_t r = 0; r < 400; ++r) {
    const auto values = network->values(std::span(unseen.rows).subspan(4 * r, 4));
    const double target = static_cast<double>(unseen.targets[2 * r]);
    error += (values[0] - target) * (values[0] - target);
    spread += (target - 100) * (target - 100);
  }
  EXPECT_LT(error / spread, 0.1);
}

TEST(LutTrainer, IsTheSameWhateverTheThreads) {
  const Data seen = parity(200, 5);
  LutTrainingOptions options = small();
  options.luts = {96, 64};
  options.epochs = 5;
  options.order_decay = 1e-4;
  options.table_decay = 1e-4;
  const auto one = train_lut_classifier({seen.rows, 4}, seen.labels, 2, options);
  options.threads = 3;
  const auto three = train_lut_classifier({seen.rows, 4}, seen.labels, 2, options);
  EXPECT_EQ(one->to_bytes(), three->to_bytes());
  options.seed = 2;
  const auto other = train_lut_classifier({seen.rows, 4}, seen.labels, 2, options);
  EXPECT_NE(one->to_bytes(), other->to_bytes());
}

TEST(LutTrainer, RowsOfNoWeightTeachNothing) {
  const Data right = parity(300, 6);
  Data both = right;
  std::vector<float> weights(300, 1.0f);
  for (size_t r = 0; r < 300; ++r) {  // the same rows with the wrong class
    both.rows.insert(both.rows.end(), right.rows.begin() + static_cast<std::ptrdiff_t>(4 * r),
                     right.rows.begin() + static_cast<std::ptrdiff_t>(4 * r + 4));
    both.labels.push_back(1 - right.labels[r]);
    weights.push_back(0);
  }
  const auto network = train_lut_classifier({both.rows, 4, weights}, both.labels, 2, small());
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_GT(accuracy(*network, right), 0.95);
}

TEST(LutTrainer, KeepsTheLevelOfTargetsThatHardlyVary) {
  const Data seen = parity(100, 8);
  const std::vector<float> constant(100, 100);
  const auto network = train_lut_regressor({seen.rows, 4}, constant, 1, small());
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_NEAR(network->values(std::span(seen.rows).subspan(0, 4))[0], 100, 1e-3);
}

TEST(LutTrainer, SaysWhatItCanNotDo) {
  const Data data = parity(50, 7);
  const auto error = [&](const auto& change, size_t classes = 2) {
    LutTrainingOptions options = small();
    change(options);
    const auto made = train_lut_classifier({data.rows, 4}, data.labels, classes, options);
    return made ? std::string() : made.error().code + ": " + made.error().message;
  };
  EXPECT_EQ(error([](auto& o) {
              o.levels = 1;
              o.arity = 5;
            }),
            "bad-config: tables that read 5 bits, of an encoding that has 4");
  EXPECT_EQ(error([](auto& o) { o.arity = 7; }), "bad-config: a table that reads 7 bits (arity)");
  EXPECT_EQ(error([](auto& o) { o.luts = {33}; }),
            "bad-config: a last layer whose tables can't be shared out to 2 classes");
  EXPECT_EQ(error([](auto& o) {
              o.luts = {4, 64};
            }),
            "bad-config: a layer of fewer tables than the next one's tables read");
  EXPECT_EQ(error([](auto& o) { o.luts = {65536}; }, 512),
            "bad-config: 65536 tables in the last layer (luts) for 512 outputs");
  EXPECT_EQ(error([](auto&) {}, 1), "bad-input: the classes don't fit the rows");
  const std::vector<float> constant(40, 1);
  EXPECT_EQ(train_lut_regressor({constant, 4}, std::vector<float>(10, 0), 1, small()).error().code, "no-variation");
  EXPECT_EQ(train_lut_regressor({data.rows, 4}, std::vector<float>(10, 0), 1, small()).error().code, "bad-input");
  const std::vector<float> weights(50, 0);
  EXPECT_EQ(train_lut_classifier({data.rows, 4, weights}, data.labels, 2, small()).error().code, "bad-input");
}

}  // namespace
}  // namespace perfcast
