#include "ai/results/accelerator_names.h"

#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

std::vector<DeviceFacts> devices() {
  DeviceFacts a100;
  a100.name = "NVIDIA A100-SXM4-80GB";
  a100.aliases = {"a100-sxm-80gb"};
  a100.generation = "ampere";
  a100.vendor = "NVIDIA";
  a100.memory_bytes = 80.0 * 1073741824;
  return {a100};
}

PublishedResult with(const std::string& accelerator) {
  PublishedResult result;
  result.accelerator = accelerator;
  result.accelerators_per_node = 4;
  result.nodes = 2;
  result.host_cpu = "Xeon";
  result.host_cpus_per_node = 2;
  return result;
}

TEST(AcceleratorNames, AreOneSpelling) {
  EXPECT_EQ(catalogue_name("NVIDIA H100-SXM-80GB"), "h100");
  EXPECT_EQ(catalogue_name("NVIDIA H100-SXM-80GB-02"), "h100");
  EXPECT_EQ(catalogue_name("NVIDIA A100-SXM4-80GB CTS"), "a100-sxm-80gb");
  EXPECT_EQ(catalogue_name("NVIDIA A10-24Q"), "a10");
  EXPECT_EQ(catalogue_name("TPU-trillium"), "tpu-v6e");
  EXPECT_EQ(catalogue_name("NVIDIA H100-NVL-94GB"), "h100-nvl");
  EXPECT_EQ(catalogue_name("NVIDIA Orin NX"), "orin-nx");
  EXPECT_EQ(catalogue_name("NVIDIA Jetson AGX Orin 64G"), "agx-orin");
  EXPECT_EQ(catalogue_name("RBLN ATOM"), "RBLN ATOM");
  EXPECT_EQ(catalogue_name("N/A"), "");
}

TEST(AcceleratorNames, LeadToFacts) {
  const auto known = devices();
  const ResultAccelerator whole = result_accelerator(with("NVIDIA A100-SXM-80GB"), known);
  EXPECT_EQ(whole.name, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(whole.generation, "ampere");
  EXPECT_EQ(whole.facts, &known[0]);
  EXPECT_EQ(whole.count, 8);
  const ResultAccelerator unknown = result_accelerator(with("RBLN ATOM"), known);
  EXPECT_EQ(unknown.name, "RBLN ATOM");
  EXPECT_EQ(unknown.generation, "RBLN ATOM");
  EXPECT_EQ(unknown.facts, nullptr);
}

TEST(AcceleratorNames, KnowRelativesThatTheCatalogueDoesNotHave) {
  const auto of = [](const char* name) { return result_accelerator(with(name), {}); };
  EXPECT_EQ(of("NVIDIA H100-80C").generation, "hopper");
  EXPECT_EQ(of("QUALCOMM Cloud AI 100 DM.2e").generation, "cloud-ai-100");
  EXPECT_EQ(of("QUALCOMM Cloud AI 100 DM.2e").vendor, "Qualcomm");
  EXPECT_EQ(of("RBLN ATOM").generation, "RBLN ATOM");
}

TEST(AcceleratorNames, TellASliceFromTheWhole) {
  const auto known = devices();
  const ResultAccelerator slice = result_accelerator(with("NVIDIA A100-SXM-80GB (1x1g.10gb MIG)"), known);
  EXPECT_EQ(slice.name, "NVIDIA A100-SXM4-80GB 1g.10gb");
  EXPECT_EQ(slice.whole, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(slice.count, 1);
  EXPECT_DOUBLE_EQ(slice.compute_share, 1.0 / 7);
  EXPECT_DOUBLE_EQ(slice.memory_share, 1.0 / 8);
}

TEST(AcceleratorNames, AreThoseOfTheCpuWhereThereIsNone) {
  const ResultAccelerator cpu = result_accelerator(with("-"), devices());
  EXPECT_EQ(cpu.name, "Xeon");
  EXPECT_TRUE(cpu.is_cpu);
  EXPECT_EQ(cpu.count, 4);  // sockets
}

}  // namespace
}  // namespace perfcast::ai
