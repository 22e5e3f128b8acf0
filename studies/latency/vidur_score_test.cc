#include "studies/latency/vidur_score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "ai/latency/model/half_precision_file.h"

namespace perfcast::ai::latency_study {
namespace {

class VidurScores : public testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = std::string(PERFCAST_SHARED_DATA) + "/vidur";
    if (!std::filesystem::exists(folder + "/mlp.csv.gz")) GTEST_SKIP() << "no public data set at " << folder;
    auto layers = read_vidur_layers(folder);
    ASSERT_TRUE(layers) << to_text(layers.error());
    auto all_reduces = read_vidur_all_reduces(folder);
    ASSERT_TRUE(all_reduces) << to_text(all_reduces.error());
    const auto devices = read_device_catalogue(PERFCAST_SOURCE_DIR "/data/devices/devices.json");
    ASSERT_TRUE(devices) << to_text(devices.error());
    layers_ = *std::move(layers);
    all_reduces_ = *std::move(all_reduces);
    devices_ = *devices;
  }

  VidurProfile layers_;
  std::vector<VidurAllReduce> all_reduces_;
  DeviceCatalogue devices_;
};

// Every linear layer of every row, and nothing else: 20091 rows of four.
TEST_F(VidurScores, AllLayersAreRead) {
  EXPECT_EQ(layers_.devices.size(), 3u);
  EXPECT_EQ(layers_.models.size(), 8u);
  EXPECT_EQ(layers_.products.size(), 4u * 20091);
  EXPECT_EQ(layers_.vectors.size(), 5u * 20091 - 783);
}

// Held-out language models, token counts and devices are forecast far better than the roofline does.
TEST_F(VidurScores, HeldOutRowsAreForecast) {
  VidurScoreOptions options;
  options.every = 40;
  const auto reproduction = reproduce_vidur(layers_, all_reduces_, devices_, options);
  ASSERT_TRUE(reproduction) << to_text(reproduction.error());
  EXPECT_EQ(reproduction->bundle.devices.size(), 3u);
  ASSERT_EQ(reproduction->scores.size(), 17u);
  for (const VidurScore& score : reproduction->scores) {
    SCOPED_TRACE(score.work + ", held out " + score.split + ", " + score.device);
    EXPECT_GT(score.rows, 50u);
    const bool products = score.work == "products", held_out_model = score.split == "LLM";
    EXPECT_LT(score.mean_error, (products ? 0.5 : 1) * score.roofline_mean_error);
    EXPECT_LT(score.mean_error, products && held_out_model ? 0.09 : 0.25);
    EXPECT_TRUE(!held_out_model || std::abs(score.coverage_90 - 0.91) < 0.05) << score.coverage_90;
  }
}

TEST_F(VidurScores, TheShippedBundleIsOfThisData) {
  const auto bundle = read_half_precision(PERFCAST_SOURCE_DIR "/data/bundles/half-precision.json");
  ASSERT_TRUE(bundle) << to_text(bundle.error());
  for (size_t device = 0; device < layers_.devices.size(); ++device) {
    const auto facts = find_device(devices_, layers_.devices[device]);
    ASSERT_TRUE(facts);
    const auto model = HalfPrecisionModel::for_device(**facts, *bundle);
    ASSERT_TRUE(model);
    EXPECT_TRUE(model->calibrated());
    double sum = 0, count = 0;
    for (const VidurProduct& row : layers_.products) {
      if (row.device != device) continue;
      const double weights = 2 * row.shape.k * row.shape.n;
      sum += std::abs(model->product(row.shape, MathMode::kHalf, weights).seconds / row.seconds - 1);
      ++count;
    }
    EXPECT_LT(sum / count, 0.078) << layers_.devices[device];
  }
}

TEST(ReproduceVidur, NeedsTwoDevices) { EXPECT_EQ(reproduce_vidur({}, {}, {}).error().code, "bad-vidur"); }

}  // namespace
}  // namespace perfcast::ai::latency_study
