#include "ai/latency/kernels/kernel_bundle_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

using ::testing::HasSubstr;

KernelBundle made() {
  KernelBundle bundle;
  bundle.source = "a test";
  bundle.licence = "none";
  bundle.trained = "by hand";
  KernelEntry& entry = bundle.entry(KernelKind::kDecode, KernelFormat::kFp8);
  entry = {true, usual_kernel_constants(KernelKind::kDecode), {0.2, 0.8, 0.3, 0.1, 0.05, 1.2}};
  DeviceFacts facts;
  facts.generation = "blackwell-ultra";
  facts.units = 148;
  facts.clock_hz = 1.9e9;
  facts.memory_bytes_per_s = 7e12;
  facts.l2_bytes = 1e8;
  facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 2e15;
  KernelDonor donor{"X", "blackwell-ultra", *KernelDevice::of(facts), {}};
  for (const double batch : {1, 16}) {
    for (const double length : {64, 1024}) {
      if (batch == 16 && length == 1024) continue;  // a cell without a measurement
      donor.residuals.add({KernelKind::kDecode, KernelFormat::kFp8, {batch, length, 32, 8, 128, 0}},
                          0.001 * (batch + length));
    }
  }
  donor.residuals.finish();
  bundle.donors.push_back(std::move(donor));
  return bundle;
}

TEST(KernelBundleFile, GivesBackWhatWasWritten) {
  const std::string text = kernel_bundle_text(made());
  const auto bundle = parse_kernel_bundle(text, "k.json");
  ASSERT_TRUE(bundle) << to_text(bundle.error());
  EXPECT_EQ(kernel_bundle_text(*bundle), text);
  const KernelEntry& entry = bundle->entry(KernelKind::kDecode, KernelFormat::kFp8);
  EXPECT_TRUE(entry.known);
  EXPECT_EQ(entry.constants[0], 15000);
  EXPECT_EQ(entry.spread.interval_ratio, 1.2);
  EXPECT_FALSE(bundle->entry(KernelKind::kDecode, KernelFormat::kHalf).known);
  ASSERT_EQ(bundle->donors.size(), 1u);
  EXPECT_EQ(bundle->donors[0].device.generation, "blackwell");
  EXPECT_EQ(bundle->donors[0].device.exponentials_per_cycle, 32);
  EXPECT_EQ(bundle->donors[0].residuals.size(), 3u);
  const auto found =
      bundle->donors[0].residuals.find({KernelKind::kDecode, KernelFormat::kFp8, {16, 64, 32, 8, 128, 0}});
  EXPECT_NEAR(found->log_ratio, 0.08, 1e-6);
}

TEST(KernelBundleFile, RefusesOtherFiles) {
  const auto other = parse_kernel_bundle(R"({"schema": "perfcast.kernels/9"})", "k.json");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "future-version");
  std::string text = kernel_bundle_text(made());
  text.replace(text.find("\"decode\""), 8, "\"decoed\"");
  const auto kind = parse_kernel_bundle(text, "k.json");
  ASSERT_FALSE(kind);
  EXPECT_THAT(to_text(kind.error()), HasSubstr("one of product, prefill, decode, experts"));
  text = kernel_bundle_text(made());
  text.replace(text.find("\"permille\":["), 12, "\"permille\":[1,");
  EXPECT_THAT(to_text(parse_kernel_bundle(text, "k.json").error()), HasSubstr("another number of residuals"));
}

}  // namespace
}  // namespace perfcast::ai
