#include "ai/train_time/sample_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ai/train_time/metric_lines.h"

namespace perfcast::ai {
namespace {

std::vector<double> readings(const std::string& name, uint64_t seed, int64_t epochs) {
  const auto reader = MetricReader::create(sample_training_metric(name), "");
  std::vector<double> values;
  const Status done = run_sample_training(name, seed, epochs, [&](const std::string& line) {
    if (const auto value = reader->read(line)) values.push_back(*value);
  });
  EXPECT_TRUE(done) << to_text(done.error());
  return values;
}

TEST(SampleTraining, LearnsAndPrintsEachEvaluation) {
  const auto accuracy = readings("mlp", 1, 6);
  ASSERT_EQ(accuracy.size(), 6u);
  EXPECT_GT(accuracy.back(), 0.85);
  EXPECT_GT(accuracy.back(), accuracy.front());
  EXPECT_LT(accuracy.back(), 0.985);  // a fiftieth of the labels is wrong
  const auto loss = readings("vae-dnn", 1, 4);
  ASSERT_EQ(loss.size(), 4u);
  EXPECT_LT(loss.back(), loss.front());
}

TEST(SampleTraining, IsDrawnByItsSeed) {
  EXPECT_EQ(readings("mlp", 3, 2), readings("mlp", 3, 2));
  EXPECT_NE(readings("mlp", 3, 2), readings("mlp", 4, 2));
}

TEST(SampleTraining, KnowsItsNames) {
  EXPECT_EQ(run_sample_training("resnet", 1, 1, [](const std::string&) {}).error().code, "bad-usage");
}

}  // namespace
}  // namespace perfcast::ai
