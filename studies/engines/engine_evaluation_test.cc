#include "studies/engines/engine_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/engine/testing/test_engine.h"

namespace perfcast::ai::engines_study {
namespace {

class NoDevices : public DeviceProvider {
 public:
  Result<std::shared_ptr<const LatencyModel>> find(std::string_view) const override {
    return Error{"unknown-device", "there is none", "", ""};
  }
  std::vector<std::string> names() const override { return {}; }
  Status calibrate(const std::vector<CalibrationRun>&) override { return {}; }
  Status calibrate_kernels(KernelDatabase&) override { return {}; }
};

// Four devices, three models, on two servers each: rows obey the rules' constants; those of one device take `slower`
// times as long.
std::vector<EngineRow> world(double slower = 1) {
  std::vector<EngineRow> rows;
  for (int device = 0; device < 4; ++device) {
    for (int model = 0; model < 3; ++model) {
      for (const char* server : {"a", "b"}) {
        for (const int64_t devices : {1, 2}) {
          EngineRow row;
          row.device_name = "device" + std::to_string(device);
          row.model_name = "model" + std::to_string(model);
          row.server = server + std::to_string(device);
          row.work = engine_test::work();
          row.work.request.tensor_parallel = devices;
          row.work.dense_bytes *= std::pow(4, model);
          row.device = engine_test::device();
          row.device.generation = device < 2 ? "hopper" : "later";
          row.device.memory_bytes_per_s *= 1 + 0.5 * device;
          row.host = engine_test::host();
          const EngineRowForecast exact = forecast_row(vllm_rules(), row);
          const double factor = device == 0 ? slower : 1;
          row.further_s = factor * exact.further_s;
          row.first_s = factor * exact.first_s;
          row.client_token_s = factor * exact.client_token_s;
          rows.push_back(std::move(row));
        }
      }
    }
  }
  weigh_rows(rows);
  return rows;
}

const EngineScore* find(const std::vector<EngineScore>& scores, const char* split, const char* predictor,
                        EngineTarget target, const std::string& part = "all") {
  for (const EngineScore& score : scores) {
    if (score.split == split && score.predictor == predictor && score.target == target && score.part == part) {
      return &score;
    }
  }
  return nullptr;
}

TEST(EngineEvaluation, OfAWorldThatObeysTheForm) {
  const auto evaluation = evaluate_engine(world(), vllm_rules(), NoDevices());
  ASSERT_TRUE(evaluation) << to_text(evaluation.error());
  for (const char* split : {kDeviceOut, kGenerationOut, kModelOut}) {
    for (const EngineTarget target : kEngineTargets) {
      const EngineScore* ours = find(evaluation->scores, split, kOurs, target);
      ASSERT_NE(ours, nullptr);
      EXPECT_EQ(ours->n, 48);
      EXPECT_LT(ours->mean_error, 1e-4) << split;
      const EngineScore* four = find(evaluation->scores, split, kFourConstants, target);
      ASSERT_NE(four, nullptr);
      EXPECT_GT(four->mean_error, 10 * ours->mean_error);
    }
  }
  EXPECT_EQ(find(evaluation->scores, kDeviceOut, kKernels, EngineTarget::kFirstToken), nullptr);
  const EngineScore* floor = find(evaluation->scores, kSameSetting, kFloor, EngineTarget::kFurtherToken);
  ASSERT_NE(floor, nullptr);
  EXPECT_LT(floor->mean_error, 1e-12);  // the servers are equal
  EXPECT_EQ(evaluation->profile.spread.devices, 4);
  EXPECT_EQ(evaluation->profile.models, (std::vector<std::string>{"model0", "model1", "model2"}));
}

TEST(EngineEvaluation, ADeviceOfItsOwnIsMissedByItsFactor) {
  const auto evaluation = evaluate_engine(world(1.1), vllm_rules(), NoDevices());
  ASSERT_TRUE(evaluation);
  const EngineScore* slow = find(evaluation->groups, kDeviceOut, kOurs, EngineTarget::kFurtherToken, "device0");
  ASSERT_NE(slow, nullptr);
  EXPECT_EQ(slow->n, 12);
  EXPECT_NEAR(slow->mean_error, 1 - 1 / 1.1, 1e-4);
  EXPECT_NEAR(slow->bias, 1 / 1.1 - 1, 1e-4);
  EXPECT_EQ(slow->coverage, 0);  // nothing that the others show
  const EngineScore* all = find(evaluation->scores, kDeviceOut, kOurs, EngineTarget::kFurtherToken);
  EXPECT_LT(all->coverage, 0.8);
}

TEST(EngineEvaluation, TheBundleSaysWhatItStandsOn) {
  EngineProfile start = vllm_rules();
  start.basis = EngineBasis::kMeasured;
  const auto evaluation = evaluate_engine(world(), start, NoDevices());
  ASSERT_TRUE(evaluation);
  const EngineBundle bundle = make_engine_bundle(*evaluation, HostLevels());
  EXPECT_EQ(bundle.names(), (std::vector<std::string>{"vllm", "sglang", "tensorrt-llm", "llama.cpp", "none"}));
  EXPECT_EQ(bundle.engines[1].basis, EngineBasis::kWeaklyMeasured);
  EXPECT_EQ(bundle.engines[1].rows, 0);
  EXPECT_EQ(bundle.engines[3].basis, EngineBasis::kPhysics);
  EXPECT_FALSE(bundle.engines[3].overlaps_host);
  EXPECT_EQ(bundle.engines[4].constants.first_fixed_ms, 0);
  EXPECT_EQ(bundle.card.scores.size(), 12U);
  const std::string text = engine_bundle_text(bundle);
  const auto back = parse_engine_bundle(text, "b");
  ASSERT_TRUE(back) << to_text(back.error());
}

TEST(EngineEvaluation, TooFewDevices) {
  std::vector<EngineRow> rows = world();
  rows.resize(24);
  EXPECT_EQ(evaluate_engine(rows, vllm_rules(), NoDevices()).error().code, "too-few-rows");
}

}  // namespace
}  // namespace perfcast::ai::engines_study
