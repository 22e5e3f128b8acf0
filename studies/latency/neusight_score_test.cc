#include "studies/latency/neusight_score.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/latency/model/test_gpu.h"

namespace perfcast::ai::latency_study {
namespace {

TracedOperator traced(const std::string& segment, const std::string& op, TracedPart part, double forward_s) {
  TracedOperator one;
  one.segment = segment;
  one.op = op;
  one.parts = {std::move(part)};
  one.label_forward_s = forward_s;
  one.label_backward_s = 2 * forward_s;
  return one;
}

TimedModel small_model(bool training) {
  TimedModel model;
  model.device = "Test_GPU";
  model.model = "net";
  model.training = training;
  model.sequence = 128;
  model.batch = 2;
  model.layers = 3;
  model.seconds = 0.01;
  TracedPart linear;
  linear.kind = TracedPart::Kind::kLinear;
  linear.shape = {1, 256, 64, 192, true};
  TracedPart copy;
  copy.tensors = {1e6, 1e6};
  model.operators = {traced("begin", "contiguous", copy, 1e-4), traced("layer", "Linear", linear, 1e-3),
                     traced("layer", "getitem", copy, 1e-5)};
  return model;
}

TEST(NeusightScore, SumsLayersWithoutLaunches) {
  const GpuModels models = test_models();
  const double stream = 2e6 * 4 / (500e9 * 0.8);
  const double linear = models.product({1, 256, 64, 192, true}).seconds;
  const StepSeconds step = step_seconds(models, small_model(false));
  EXPECT_NEAR(step.forward_s, stream + 3 * linear, 1e-12);  // a view costs nothing
  EXPECT_EQ(step.backward_s, 0);
  EXPECT_NEAR(labelled_seconds(small_model(false)).total(), 1e-4 + 3 * (1e-3 + 1e-5), 1e-12);
}

TEST(NeusightScore, BackwardIsTwoTransposedProducts) {
  const GpuModels models = test_models();
  const double back = models.product({1, 256, 192, 64, true}).seconds +
                      models.product({1, 192, 256, 64, true}).seconds + 3.0 * 64 * 192 * 4 / (500e9 * 0.8);
  EXPECT_NEAR(step_seconds(models, small_model(true)).backward_s, 3 * back, 1e-12);
}

TEST(NeusightScore, ComparesOnTheSameConfigurations) {
  const GpuModels models = test_models();
  const std::vector<TimedModel> timed = {small_model(false), small_model(true)};
  const auto rows = end_to_end(models, timed, "Test_GPU");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_NEAR(rows[0].floor_error(), (1e-4 + 3 * (1e-3 + 1e-5)) / 0.01 - 1, 1e-12);
  std::vector<PublishedPrediction> said = {{"Test_GPU", "m", "net", false, 128, 2, 0.012, 0.01}};
  EXPECT_TRUE(std::isnan(published_error(said, "m", rows)));  // one is missing
  said.push_back({"Test_GPU", "m", "net", true, 128, 2, 0.009, 0.01});
  EXPECT_NEAR(published_error(said, "m", rows), 0.15, 1e-12);
  EXPECT_TRUE(end_to_end(models, timed, "other").empty());
}

TEST(NeusightScore, ErrorsOfOperators) {
  const GpuModels models = test_models();
  std::vector<ProfiledProduct> rows(3);
  const double factors[] = {1, 1.25, 0.5};  // measured against forecast
  for (size_t i = 0; i < 3; ++i) {
    rows[i].shape = {1, 512, 512, 512, true};
    const OperatorTime time = models.product(rows[i].shape);
    rows[i].seconds = (time.seconds + time.launch_seconds) * factors[i];
  }
  const ErrorSummary errors = product_errors(models, rows, true, models.linear.log_error);
  EXPECT_EQ(errors.n, 3u);
  EXPECT_NEAR(errors.mean_abs, (0 + 0.2 + 1) / 3, 1e-12);
  EXPECT_NEAR(errors.bias, 0, 1e-12);
  EXPECT_NEAR(errors.within_90, 1.0 / 3, 1e-12);
  EXPECT_EQ(product_errors(models, rows, false, 0.1).n, 0u);
}

}  // namespace
}  // namespace perfcast::ai::latency_study
