#include "machine/facts/instance_facts.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

TEST(InstanceFacts, SharedAndBurstableTypesAreKnownByTheirNames) {
  EXPECT_EQ(cpu_share_of("aws", "t3a.small"), CpuShare::kBurstable);
  EXPECT_EQ(cpu_share_of("aws", "trn1.2xlarge"), CpuShare::kOwn);
  EXPECT_EQ(cpu_share_of("azure", "Standard_B2ms"), CpuShare::kBurstable);
  EXPECT_EQ(cpu_share_of("azure", "Standard_D2s_v5"), CpuShare::kOwn);
  EXPECT_EQ(cpu_share_of("gcp", "e2-medium"), CpuShare::kBurstable);
  EXPECT_EQ(cpu_share_of("gcp", "e2-standard-4"), CpuShare::kOwn);
  EXPECT_EQ(cpu_share_of("hcloud", "cpx31"), CpuShare::kShared);
  EXPECT_EQ(cpu_share_of("hcloud", "ccx13"), CpuShare::kOwn);
  EXPECT_EQ(cpu_share_of("vultr", "vc2-1c-1gb"), CpuShare::kShared);
  EXPECT_EQ(cpu_share_of("vultr", "voc-c-2c-4gb-50s-amd"), CpuShare::kOwn);
  EXPECT_EQ(cpu_share_of("alicloud", "ecs.e-c1m2.large"), CpuShare::kShared);
  EXPECT_EQ(cpu_share_of("alicloud", "ecs.ebmc6.26xlarge"), CpuShare::kOwn);
  // Of a list that doesn't say whose.
  EXPECT_EQ(cpu_share_of("", "t2.micro"), CpuShare::kBurstable);
  EXPECT_EQ(cpu_share_of("", "cx22"), CpuShare::kOwn);
  EXPECT_STREQ(name_of(CpuShare::kBurstable), "burstable");
}

TEST(InstanceFacts, MemoryOfFamiliesWhoseGuestsDontTell) {
  EXPECT_EQ(published_memory_gib("aws", "m9g.xlarge", 4), 16);
  EXPECT_EQ(published_memory_gib("aws", "is4gen.medium", 1), 6);
  EXPECT_EQ(published_memory_gib("aws", "hpc7g.4xlarge", 16), 128);
  EXPECT_EQ(published_memory_gib("aws", "t4g.nano", 2), 0.5);
  EXPECT_EQ(published_memory_gib("aws", "a1.metal", 16), 32);
  EXPECT_EQ(published_memory_gib("azure", "Standard_F32ams_v7", 32), 256);
  EXPECT_EQ(published_memory_gib("aws", "m9g.xlarge", 0), std::nullopt);
  EXPECT_EQ(published_memory_gib("aws", "c7i.large", 2), std::nullopt);  // guests tell
  EXPECT_EQ(published_memory_gib("gcp", "m6g.large", 2), std::nullopt);
}

}  // namespace
}  // namespace perfcast
