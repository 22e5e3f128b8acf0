#include "ai/engine/host_level.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"

namespace perfcast::ai {
namespace {

constexpr const char* kServers =
    "vendor,server,arch,cpu_vendor,cpu_model,cpu_family,model,stepping,gpu\n"
    "gcp,a2-highgpu-1g,x86_64,GenuineIntel,Intel(R) Xeon(R) CPU @ 2.20GHz,6,85,7,A100\n"
    "gcp,old,x86_64,GenuineIntel,Intel(R) Xeon(R) CPU @ 2.20GHz,6,79,0,\n"
    "c,small,x86_64,AuthenticAMD,AMD EPYC 9R45,26,2,1,\n"
    "c,large,x86_64,AuthenticAMD,AMD EPYC 9R45,26,2,1,H100\n"
    "c,few,x86_64,AuthenticAMD,AMD EPYC 7763 64-Core Processor,25,1,1,\n";

// Twenty programs of one thread at `rate`, one of all threads that no level sees.
std::string rates(const char* few) {
  std::string header = "vendor,server,stressng.cpu.4", rows[5];
  const char* names[] = {"gcp,a2-highgpu-1g", "gcp,old", "c,small", "c,large", "c,few"};
  const double speeds[] = {100, 80, 150, 200, 130};
  for (int i = 0; i < 5; ++i) rows[i] = std::string(names[i]) + ",1";
  for (int program = 0; program < 20; ++program) {
    header += program == 0 ? ",compress.gzip.5.1.c" : fmt::format(",stressng.p{}.1", program);
    for (int i = 0; i < 5; ++i) {
      rows[i] += i == 4 && program == 0 ? std::string(",") + few : fmt::format(",{}", speeds[i] * (program + 1));
    }
  }
  std::string text = header + "\n";
  for (const std::string& row : rows) text += row + "\n";
  return text;
}

TEST(HostLevels, MediansOfHostsOfAccelerators) {
  const auto levels = HostLevels::from_tables(kServers, rates(""), "servers.csv", "rates.csv");
  ASSERT_TRUE(levels) << to_text(levels.error());
  ASSERT_EQ(levels->levels().size(), 3U);  // one server has 19 programs
  const auto epyc = levels->find("AMD EPYC 9R45");
  ASSERT_TRUE(epyc);
  EXPECT_DOUBLE_EQ(epyc->level, 2);
  EXPECT_TRUE(epyc->known);
  EXPECT_FALSE(epyc->of_kin);
  EXPECT_EQ(epyc->pcie_bytes_per_s, 6.3e10);
  // One name, two designs: the one that carries accelerators.
  const auto cloud = levels->find("Intel Xeon CPU @ 2.20GHz");
  ASSERT_TRUE(cloud);
  EXPECT_DOUBLE_EQ(cloud->level, 1);
  EXPECT_EQ(cloud->pcie_bytes_per_s, 1.575e10);
}

TEST(HostLevels, ShortNamesAndInstanceTypes) {
  const auto levels = HostLevels::from_tables(kServers, rates(""), "servers.csv", "rates.csv");
  ASSERT_TRUE(levels);
  for (const char* name : {"EPYC 9R45", "c large", "large"}) {
    const auto host = levels->find(name);
    ASSERT_TRUE(host) << name;
    EXPECT_EQ(host->cpu, "AMD EPYC 9R45") << name;
    EXPECT_FALSE(host->of_kin) << name;
  }
  const auto one = levels->find("a2-highgpu-1g");
  ASSERT_TRUE(one);
  EXPECT_DOUBLE_EQ(one->level, 1);
  EXPECT_FALSE(levels->find("small"));  // it has no accelerator
}

TEST(HostLevels, KinWhereTheModelIsUnknown) {
  const auto levels = HostLevels::from_tables(kServers, rates("130"), "servers.csv", "rates.csv");
  ASSERT_TRUE(levels);
  const auto turin = levels->find("AMD EPYC 9575F 64-Core Processor");
  ASSERT_TRUE(turin) << to_text(turin.error());
  EXPECT_DOUBLE_EQ(turin->level, 2);
  EXPECT_TRUE(turin->of_kin);
  const auto milan = levels->find("AMD EPYC 7443P 24-Core Processor");
  ASSERT_TRUE(milan) << to_text(milan.error());
  EXPECT_NEAR(milan->level, 1.3, 1e-4);
  EXPECT_TRUE(milan->of_kin);
  const auto none = levels->find("POWER9");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "unknown-cpu");
  EXPECT_NE(none.error().expected.find("9R45"), std::string::npos);
  EXPECT_FALSE(levels->find(""));
}

TEST(HostLevels, JsonAndBack) {
  const auto levels = HostLevels::from_tables(kServers, rates("130"), "servers.csv", "rates.csv");
  ASSERT_TRUE(levels);
  const auto back = HostLevels::from_json(levels->to_json(), "hosts");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->to_json(), levels->to_json());
  EXPECT_EQ(HostLevels::from_json(Json::parse(R"([{"name": "x", "design": "y", "level": 0}])"), "hosts").error().code,
            "bad-json-field");
}

TEST(HostLevels, BadTables) {
  EXPECT_EQ(HostLevels::from_tables("vendor,server\n", rates(""), "s", "r").error().code, "missing-column");
  EXPECT_EQ(HostLevels::from_tables(kServers, "vendor,server,stressng.cpu.1\nc,large,1\n", "s", "r").error().code,
            "no-reference");
}

}  // namespace
}  // namespace perfcast::ai
