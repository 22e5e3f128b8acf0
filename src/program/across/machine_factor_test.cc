#include "program/across/machine_factor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>

#include "base/unknown.h"
#include "program/corpus/server_levels.h"
#include "program/evaluate/testing/synthetic_corpus.h"
#include "program/model/bundle/train_bundle.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;

// Three CPU models; four families of applications, one of them of two programs, and a stressor.
Bundle small_bundle() {
  Bundle bundle;
  for (const char* name : {"AMD EPYC 7763 64-Core Processor", "Neoverse-N1", "Intel(R) Xeon(R) Gold 6248"}) {
    Platform platform;
    platform.name = name;
    platform.id = slug(name);
    bundle.platforms.push_back(platform);
  }
  const auto add = [&bundle](const char* id, const char* family, const char* group) {
    Program program;
    program.id = id;
    program.family = family;
    program.group = group;
    bundle.programs.push_back(program);
  };
  add("a1", "a", "application");
  add("a2", "a", "application");
  add("b", "b", "application");
  add("c", "c", "application");
  add("d", "d", "application");
  add("s", "s", "stressor");
  bundle.training_log_rpv.resize(6, 3);
  bundle.training_log_rpv << 0, 0.1, 0.3,  // a1
      0, 0.3, 0.3,                         // a2
      0, 0.4, 0.2,                         // b
      0, 0.2, 0.1,                         // c
      0, kUnknown, 0.2,                    // d
      0, 5, 5;                             // s
  return bundle;
}

void add_server(Bundle& bundle, const char* vendor, const char* name, size_t platform, double log_ratio,
                double deviation) {
  Server server;
  server.vendor = vendor;
  server.name = name;
  server.platform = bundle.platforms[platform].id;
  server.facts[kServerTimeRatio] = std::exp(log_ratio);
  server.facts[kServerDeviation] = deviation;
  bundle.servers.push_back(server);
}

std::array<NamedMachine, 2> machines_of(const Bundle& bundle, const char* a, const char* b) {
  return {*machine_called(bundle, a, "--host-a"), *machine_called(bundle, b, "--host-b")};
}

TEST(MachineFactor, OfAGroupIsTheMeanOverFamilies) {
  const Bundle bundle = small_bundle();
  const auto factor = factor_of_group(bundle, machines_of(bundle, "AMD EPYC 7763", "Neoverse-N1"), "application");
  ASSERT_TRUE(factor) << to_text(factor.error());
  EXPECT_EQ(factor->families, 3);
  EXPECT_NEAR(factor->log_ratio, (0.2 + 0.4 + 0.2) / 3, 1e-12);
  // Of the pair (.2, .4, .2): .0133; over all pairs, the median of that, of (.3, .2, .1, .2): .00667 and of
  // (.1, -.2, -.1): .0233.
  const double own = 0.04 / 3, usual = 0.04 / 3;
  EXPECT_NEAR(factor->program_variance, (2 * own + kPriorFamilies * usual) / (2 + kPriorFamilies) * (1 + 1.0 / 3),
              1e-12);
  EXPECT_NEAR(factor->machines[0].server_variance, kServerDeviationLog * kServerDeviationLog, 1e-12);
}

TEST(MachineFactor, OfOneCpuModelIsThatOfItsServers) {
  const Bundle bundle = small_bundle();
  const auto factor = factor_of_group(bundle, machines_of(bundle, "Neoverse-N1", "Neoverse-N1"), "application");
  ASSERT_TRUE(factor);
  EXPECT_TRUE(factor->is_same_cpu());
  EXPECT_EQ(factor->basis, "servers");
  EXPECT_EQ(factor->log_ratio, 0);
  EXPECT_EQ(factor->program_variance, 0);
}

TEST(MachineFactor, KindsAndTimesThatAreNotThereAreTold) {
  Bundle bundle = small_bundle();
  const auto machines = machines_of(bundle, "AMD EPYC 7763", "Neoverse-N1");
  const auto other = factor_of_group(bundle, machines, "games");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "unknown-group");
  EXPECT_THAT(other.error().expected, HasSubstr("application, stressor"));
  const auto all = factor_of_group(bundle, machines, "stressor");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->basis, "all");
  EXPECT_EQ(all->families, 4);
  EXPECT_THAT(all->notes, testing::ElementsAre(HasSubstr("too few programs of the kind 'stressor'")));
  bundle.training_log_rpv.col(1).setConstant(kUnknown);
  const auto few = factor_of_group(bundle, machines, "stressor");
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code, "no-times");
}

TEST(MachineFactor, MachinesAreCalledAsPeopleAndMachinesDo) {
  Bundle bundle = small_bundle();
  add_server(bundle, "aws", "m6g.large", 1, 0, 0.1);
  for (const char* text : {"Neoverse-N1", "neoverse-n1", "aws:m6g.large", "aws m6g.large", "m6g.large",
                           "Architecture: aarch64\nModel name: Neoverse-N1\n"}) {
    const auto machine = machine_called(bundle, text, "--host-a");
    ASSERT_TRUE(machine) << text << ": " << to_text(machine.error());
    EXPECT_EQ(machine->cpu, "Neoverse-N1") << text;
  }
  EXPECT_EQ(machine_called(bundle, "Intel Xeon Gold 6248 CPU @ 2.50GHz", "--host-a")->platform, 2U);
  const auto unknown = machine_called(bundle, "Neoverse-N7", "--host-a");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().where, "--host-a");
  EXPECT_THAT(unknown.error().expected, HasSubstr("Neoverse-N1"));
  EXPECT_EQ(machine_called(bundle, "no\nCPU here", "--host-a").error().code, "unknown-host");
  HostFacts host;
  host.name = "AMD EPYC 9999";
  host.vendor = "AuthenticAMD";
  EXPECT_EQ(machine_of(bundle, host, "r.json").error().code, "unknown-host");
  Bundle described = bundle;
  described.platforms[0].arch = host.arch = "x86_64";
  described.platforms[0].vendor = "AMD";
  const auto near = machine_of(described, host, "r.json");
  ASSERT_FALSE(near);
  EXPECT_THAT(near.error().expected, HasSubstr("the nearest is AMD EPYC 7763"));
}

TEST(MachineFactor, ServersOfASeriesLieApart) {
  Bundle bundle = small_bundle();
  add_server(bundle, "aws", "c6g.large", 1, 0.1, 0.1);
  add_server(bundle, "aws", "c6g.xlarge", 1, 0.1, 0.1);
  add_server(bundle, "aws", "m6g.large", 1, -0.1, 0.1);
  add_server(bundle, "aws", "m6g.xlarge", 1, -0.1, 0.1);
  const auto by_cpu = machine_called(bundle, "Neoverse-N1", "--host-a");
  const auto by_type = machine_called(bundle, "c6g.large", "--host-a");
  ASSERT_TRUE(by_cpu && by_type);
  EXPECT_EQ(by_cpu->server_level, 0);
  EXPECT_NEAR(by_type->server_level, 0.1 * 2 / 3, 1e-12);
  const double usual = 0.04 / 3;
  EXPECT_NEAR(by_cpu->server_variance, (0.04 + 6 * usual) / (3 + 6) * (1 + 1.0 / 4), 1e-12);
  EXPECT_NEAR(by_type->server_variance, (4 * std::pow(0.1 / 3, 2) + 6 * usual) / (3 + 6) * (1 + 1.0 / 4), 1e-12);
}

TEST(MachineFactor, SeriesAreNamesWithoutSizes) {
  EXPECT_EQ(series_of("m5n.xlarge"), "m5n");
  EXPECT_EQ(series_of("m5n.metal"), "m5n.metal");
  EXPECT_EQ(series_of("ecs.c4.2xlarge"), "ecs.c4");
  EXPECT_EQ(series_of("Standard_E64-16ds_v4"), "Standard_E-ds_v4");
  EXPECT_EQ(series_of("n2d-highcpu-8"), "nd-highcpu-");
  EXPECT_EQ(series_of(""), "");
}

// Of a profile: what the bundle forecasts of it, on B against A, with the forecast's own interval.
TEST(MachineFactor, OfAProfileIsItsForecast) {
  const Corpus corpus = synthetic_corpus({});
  const auto table = make_training_table(corpus, {});
  auto trained = train_bundle(*table, {.model = "mean", .coverage = 0.9, .fit = {}});
  ASSERT_TRUE(trained) << trained.error().message;
  const Forecaster forecaster(std::make_shared<const Bundle>(std::move(*trained)));
  const Profile profile = synthetic_profile({}, 11);
  NamedMachine a, b;
  a.platform = 0;
  b.platform = 2;
  const auto there = factor_of_profile(forecaster, {a, b}, profile),
             back = factor_of_profile(forecaster, {b, a}, profile);
  ASSERT_TRUE(there && back);
  const auto forecast = forecaster.forecast(profile, {});
  ASSERT_TRUE(forecast);
  EXPECT_NEAR(there->log_ratio, forecast->log_rpv(2) - forecast->log_rpv(0), 1e-12);
  EXPECT_NEAR(back->log_ratio, -there->log_ratio, 1e-12);
  const Forecast against_a = Forecaster::relative_to(*forecast, 0);
  EXPECT_NEAR(2 * 1.6448536 * std::sqrt(there->program_variance), against_a.upper(2) - against_a.lower(2), 1e-4);
  EXPECT_EQ(there->basis, "profile");
  EXPECT_EQ(there->families, 0);
  // Of one CPU model a profile says nothing.
  const auto same = factor_of_profile(forecaster, {a, a}, profile);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->log_ratio, 0);
  EXPECT_EQ(same->basis, "servers");
}

}  // namespace
}  // namespace perfcast::program
