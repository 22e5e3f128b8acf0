#include "ai/latency/model/gpu_bundle.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/latency/model/test_gpu.h"

namespace perfcast::ai {
namespace {

GpuBundle small_bundle() {
  GpuBundle bundle;
  bundle.card = {"invented"};
  bundle.flops_per_joule_16nm = 45e9;
  bundle.fitted = {test_models(), test_models()};
  bundle.fitted[1].fitted_on = bundle.fitted[1].device.name = "Vectors only";
  bundle.fitted[1].linear = bundle.fitted[1].batched = {};
  bundle.fitted[1].vectors.unary.passes = 2.5;
  return bundle;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(GpuBundle, ReadsBackToTheSameForecasts) {
  const GpuBundle bundle = small_bundle();
  const std::string text = gpu_bundle_text(bundle);
  const auto back = parse_gpu_bundle(text, "b.json");
  ASSERT_TRUE(back) << back.error().message << back.error().where;
  EXPECT_EQ(gpu_bundle_text(*back), text);
  const ProductShape shape{1, 777, 333, 555, true};
  EXPECT_EQ(back->fitted[0].product(shape).seconds, bundle.fitted[0].product(shape).seconds);
  EXPECT_FALSE(back->fitted[1].has_products());
}

TEST(GpuBundle, KeepsTheErrorsOfDevicesLeftOut) {
  GpuBundle bundle = small_bundle();
  // Made before they were stored: assumed for devices that were not measured.
  const auto old = parse_gpu_bundle(gpu_bundle_text(bundle), "b.json");
  ASSERT_TRUE(old);
  EXPECT_TRUE(std::isnan(old->carried.linear));
  DeviceFacts other = test_device();
  other.name = "Elsewhere";
  EXPECT_DOUBLE_EQ(models_of(*old, other)->product_log_error(true), std::hypot(0.1, 0.25));
  EXPECT_DOUBLE_EQ(models_of(*old, test_device())->product_log_error(true), 0.1);

  bundle.carried.linear = 0.4;
  bundle.carried.vector[static_cast<size_t>(VectorKind::kNorm)] = 0.3;
  bundle.calibrated.whole_model = 0.2;
  const std::string text = gpu_bundle_text(bundle);
  const auto back = parse_gpu_bundle(text, "b.json");
  ASSERT_TRUE(back);
  EXPECT_EQ(gpu_bundle_text(*back), text);
  EXPECT_EQ(back->calibrated.whole_model, 0.2);
  EXPECT_EQ(models_of(*back, other)->product_log_error(true), 0.4);
  EXPECT_DOUBLE_EQ(models_of(*back, other)->product_log_error(false), std::hypot(0.1, 0.25));
  EXPECT_EQ(models_of(*back, other)->vector_log_error({VectorKind::kNorm, 8, 8}), 0.3);
  EXPECT_EQ(models_of(*back, test_device())->vector_log_error({VectorKind::kNorm, 8, 8}), 0.05);
  EXPECT_FALSE(parse_gpu_bundle(replaced(text, "\"linear\":0.4", "\"linear\":-1.0"), "b.json"));
  EXPECT_FALSE(parse_gpu_bundle(replaced(text, "\"linear\":0.4", "\"linear\":\"x\""), "b.json"));
}

TEST(GpuBundle, RefusesWhatIsDamaged) {
  const std::string text = gpu_bundle_text(small_bundle());
  EXPECT_FALSE(parse_gpu_bundle(text.substr(0, text.size() / 2), "b.json"));
  EXPECT_FALSE(parse_gpu_bundle(replaced(text, "gpu-latency/1", "gpu-latency/9"), "b.json"));
  EXPECT_FALSE(parse_gpu_bundle(replaced(text, "\"tile_m\":128.0", "\"tile_m\":0.0"), "b.json"));
  EXPECT_FALSE(parse_gpu_bundle(replaced(text, "\"efficiency_ratio\":0.9", "\"efficiency_ratio\":9"), "b.json"));
  EXPECT_FALSE(parse_gpu_bundle(replaced(text, "\"shares\":[[0,1.0]]", "\"shares\":[[5,1.0]]"), "b.json"));
  EXPECT_FALSE(parse_gpu_bundle(replaced(text, "\"units\":50.0", "\"units\":-50.0"), "b.json"));
}

TEST(GpuBundle, ModelsOfMeasuredAndOtherDevices) {
  const GpuBundle bundle = small_bundle();
  const auto own = models_of(bundle, test_device());
  ASSERT_TRUE(own);
  EXPECT_TRUE(own->products_measured);
  DeviceFacts other = test_device();
  other.name = "Vectors only";
  const auto half = models_of(bundle, other);
  ASSERT_TRUE(half);
  EXPECT_FALSE(half->products_measured);
  EXPECT_TRUE(half->vectors_measured);
  EXPECT_EQ(half->products_from, "Test GPU");
  EXPECT_EQ(half->models.vectors.unary.passes, 2.5);
  other.name = "Elsewhere";
  other.aliases = {"Test GPU"};
  EXPECT_TRUE(models_of(bundle, other)->products_measured);
  other.aliases.clear();
  EXPECT_FALSE(models_of(bundle, other)->vectors_measured);
  other.l2_bytes = kUnknown;
  const auto lacking = models_of(bundle, other);
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().code, "missing-fact");
}

}  // namespace
}  // namespace perfcast::ai
