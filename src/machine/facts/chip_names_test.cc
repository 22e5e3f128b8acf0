#include "machine/facts/chip_names.h"

#include <gmock/gmock.h>

#include "machine/facts/core_design.h"

namespace perfcast {
namespace {

using testing::ElementsAre;

TEST(ChipNames, AreThoseOfTheProviders) {
  EXPECT_EQ(chip_name("Neoverse-N1", "aws"), "AWS Graviton2");
  EXPECT_EQ(chip_name("Neoverse-N1", "azure"), "Ampere Altra");
  EXPECT_EQ(chip_name("Neoverse-N1", "a new one"), "Ampere Altra");
  EXPECT_EQ(chip_name("Neoverse-N1", ""), "");
  EXPECT_EQ(chip_name("Neoverse-N2", "azure"), "Azure Cobalt 100");
  EXPECT_EQ(chip_name("Neoverse-N2", "alicloud"), "Alibaba Yitian 710");
  EXPECT_EQ(chip_name("Neoverse-N2", "gcp"), "");  // none is known
  EXPECT_EQ(chip_name("Neoverse-V1", "aws"), "AWS Graviton3");
  EXPECT_EQ(chip_name("Neoverse-V2", "aws"), "AWS Graviton4");
  EXPECT_EQ(chip_name("Neoverse-V2", "gcp"), "Google Axion");
  EXPECT_EQ(chip_name("AMD EPYC 7763 64-Core Processor", "azure"), "");
}

TEST(ChipNames, OfInstanceTypesByTheirNames) {
  EXPECT_EQ(chip_of_instance_type("aws", "m8g.xlarge"), "AWS Graviton4");
  EXPECT_EQ(chip_of_instance_type("aws", "c7gn.large"), "AWS Graviton3");
  EXPECT_EQ(chip_of_instance_type("aws", "im4gn.large"), "AWS Graviton2");
  EXPECT_EQ(chip_of_instance_type("aws", "m9gd.metal-48xl"), "AWS Graviton5");
  EXPECT_EQ(chip_of_instance_type("aws", "m7i.large"), "");
  EXPECT_EQ(chip_of_instance_type("aws", "m7"), "");
  EXPECT_EQ(chip_of_instance_type("aws", ""), "");
  EXPECT_EQ(chip_of_instance_type("gcp", "c4a-standard-4"), "Google Axion");
  EXPECT_EQ(chip_of_instance_type("gcp", "c4-standard-4"), "");
  EXPECT_EQ(chip_of_instance_type("azure", "Standard_D4pds_v6"), "Azure Cobalt 100");
  EXPECT_EQ(chip_of_instance_type("azure", "Standard_D4ds_v6"), "");
}

TEST(ChipNames, ProvidersByTheirMachinesFirmware) {
  EXPECT_EQ(provider_of_board("Amazon EC2"), "aws");
  EXPECT_EQ(provider_of_board("Microsoft Corporation"), "azure");
  EXPECT_EQ(provider_of_board("Alibaba Cloud"), "alicloud");
  EXPECT_EQ(provider_of_board("QEMU"), "");
  EXPECT_EQ(provider_of_board(""), "");
}

TEST(ChipNames, WiderOnes) {
  EXPECT_EQ(name_at_providers("Intel(R) Xeon(R) Platinum 8280L CPU @ 2.70GHz", {"aws", "newcloud"}),
            "Intel Xeon Platinum 8280L (AWS, newcloud)");
  EXPECT_THAT(wider_names("Intel Xeon Platinum 8280L (AWS, Azure)"),
              ElementsAre("Intel Xeon Platinum 8280L (AWS, Azure)", "Intel Xeon Platinum 8280L"));
  EXPECT_THAT(wider_names("Ampere Altra (Azure)"), ElementsAre("Ampere Altra (Azure)", "Ampere Altra", "Neoverse-N1"));
  // Parentheses of others.
  for (const char* name : {"Intel Xeon Processor (Skylake, IBRS)", "Intel(R) Xeon(R) CPU @ 2.20GHz (family 6 model 85)",
                           "Neoverse-N1", " (AWS)x", "", "()"}) {
    EXPECT_THAT(wider_names(name), ElementsAre(name));
  }
}

TEST(ChipNames, OneCpuOrNot) {
  EXPECT_TRUE(may_be_one_cpu("AWS Graviton2", "neoverse-n1"));
  EXPECT_TRUE(may_be_one_cpu("Neoverse-N1", "Ampere Altra"));
  EXPECT_FALSE(may_be_one_cpu("AWS Graviton2", "Ampere Altra"));
  EXPECT_FALSE(may_be_one_cpu("AWS Graviton2", "Neoverse-N2"));
  EXPECT_TRUE(may_be_one_cpu("Intel(R) Xeon(R) Platinum 8280L CPU @ 2.70GHz", "Intel Xeon Platinum 8280L (Azure)"));
  EXPECT_FALSE(may_be_one_cpu("Intel Xeon Platinum 8280L (AWS)", "Intel Xeon Platinum 8280L (Azure)"));
  EXPECT_FALSE(may_be_one_cpu("Intel(R) Xeon(R) CPU @ 2.20GHz", "Intel(R) Xeon(R) CPU @ 2.00GHz"));
  EXPECT_FALSE(may_be_one_cpu("", ""));
}

TEST(ChipNames, TellTheCoreDesign) {
  const auto design = [](const char* name) { return core_design({name, "ARM", "aarch64", 8, 1, 1}); };
  EXPECT_EQ(design("AWS Graviton2"), "neoverse-n1");
  EXPECT_EQ(design("Ampere Altra (Hetzner)"), "neoverse-n1");
  EXPECT_EQ(design("Alibaba Yitian 710"), "neoverse-n2");
  EXPECT_EQ(design("Google Axion"), "neoverse-v2");
  EXPECT_EQ(design("AWS Graviton"), "cortex-a72");
  EXPECT_EQ(design("AmpereOne"), "unknown");
}

}  // namespace
}  // namespace perfcast
