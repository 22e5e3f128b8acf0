#include "program/corpus/importers/server_screening.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/unknown.h"

namespace perfcast::program {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr size_t kPrograms = 8;

// Rates that follow the platform's own pattern; `shift` moves all of them, in log.
ScreenedServer server(const std::string& vendor, const std::string& name, size_t platform, double shift,
                      const std::string& generation = "g") {
  ScreenedServer result{vendor, name, platform, generation, {}};
  result.log_rates.reserve(kPrograms);
  for (size_t i = 0; i < kPrograms; ++i) {
    result.log_rates.push_back(shift + (platform == 0 ? 1.0 : 0.4) * std::sin(static_cast<double>(i)));
  }
  return result;
}

std::vector<std::string> reasons(const std::vector<ScreenedServer>& servers) {
  std::vector<std::string> result;
  for (const Screening& screening : screen_servers(servers, std::vector<bool>(kPrograms, true))) {
    result.push_back(screening.reason);
  }
  return result;
}

TEST(ServerScreeningTest, KeepsAlikeServers) {
  EXPECT_THAT(reasons({server("v", "a", 0, 0.00), server("v", "b", 0, 0.01), server("v", "c", 0, -0.01)}), Each(""));
  EXPECT_TRUE(screen_servers({}, {}).empty());
}

TEST(ServerScreeningTest, DropsSlowServersWhereThereAreThree) {
  EXPECT_THAT(reasons({server("v", "a", 0, 0), server("v", "b", 0, 0.01), server("v", "c", 0, std::log(0.8))}),
              ElementsAre("", "", kSlowServer));
  EXPECT_THAT(reasons({server("v", "a", 0, 0), server("v", "c", 0, std::log(0.5))}), Each(""));
  const auto screenings =
      screen_servers({server("v", "a", 0, 0), server("v", "b", 0, 0.01), server("v", "c", 0, std::log(0.8))},
                     std::vector<bool>(kPrograms, true));
  EXPECT_NEAR(screenings[2].rate_ratio, 0.8, 1e-9);
}

TEST(ServerScreeningTest, DropsSharedCoresOnlyWhereOthersRemain) {
  EXPECT_THAT(reasons({server("aws", "t3.large", 0, 0), server("aws", "m5.large", 0, 0.01),
                       server("aws", "t4g.large", 1, 0), server("aws", "t4g.small", 1, 0.01)}),
              ElementsAre(kSharedCores, "", "", ""));
}

TEST(ServerScreeningTest, DropsUnmeasuredAndDuplicates) {
  ScreenedServer empty = server("v", "e", 0, 0);
  empty.log_rates.assign(kPrograms, kUnknown);
  ScreenedServer partial = server("v", "p", 0, 0);
  partial.log_rates[3] = kUnknown;
  EXPECT_THAT(
      reasons({server("v", "a", 0, 0), server("v", "b", 0, 0), empty, partial, partial, server("v", "a", 1, 0)}),
      ElementsAre("", kDuplicateServer, kNotMeasured, "", kDuplicateServer, ""));
}

TEST(ServerScreeningTest, DropsServersThatAreAnotherCpu) {
  std::vector<ScreenedServer> servers;
  for (int i = 0; i < 4; ++i) {
    servers.push_back(server("v", "a" + std::to_string(i), 0, 0.001 * i, "old"));
    servers.push_back(server("v", "b" + std::to_string(i), 1, 0.001 * i, "new"));
  }
  ScreenedServer mislabelled = server("v", "x", 1, 0.3, "new");
  mislabelled.platform = 0;
  mislabelled.generation = "old";
  servers.push_back(mislabelled);
  std::vector<std::string> expected(servers.size());
  expected.back() = kOtherCpu;
  EXPECT_EQ(reasons(servers), expected);
  // Within one generation CPUs look alike: no verdict.
  for (ScreenedServer& one : servers) one.generation = "same";
  EXPECT_THAT(reasons(servers), Each(""));
}

TEST(ServerScreeningTest, KnowsTheVendorsNames) {
  for (const auto& [vendor, name] : {std::pair("aws", "t3a.nano"),
                                     {"gcp", "e2-medium"},
                                     {"azure", "Standard_B2s"},
                                     {"azure", "Standard_A4_v2"},
                                     {"alicloud", "ecs.t6-c1m1.large"},
                                     {"hcloud", "cpx11"},
                                     {"vultr", "vc2-1c-1gb"},
                                     {"ovh", "d2-4"}}) {
    EXPECT_TRUE(shares_cores(vendor, name)) << vendor << "/" << name;
  }
  for (const auto& [vendor, name] : {std::pair("aws", "m5.large"),
                                     {"gcp", "n2-standard-2"},
                                     {"azure", "Standard_D2s_v5"},
                                     {"azure", "Standard_AX"},
                                     {"alicloud", "ecs.c8y.large"},
                                     {"hcloud", "ccx13"},
                                     {"nobody", "t3.nano"}}) {
    EXPECT_FALSE(shares_cores(vendor, name)) << vendor << "/" << name;
  }
}

}  // namespace
}  // namespace perfcast::program
