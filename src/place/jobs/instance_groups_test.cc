#include "place/jobs/instance_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fleet/testing/small_world.h"

namespace perfcast::place {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::vector<Platform> platforms() {
  std::vector<Platform> all(2);
  all[0].id = "epyc";
  all[0].name = "AMD EPYC 7R32";
  all[1].id = "xeon";
  all[1].name = "Xeon 8488C";
  return all;
}

program::Server server_of(const std::string& vendor, const std::string& name, const std::string& platform,
                          double vcpus) {
  program::Server server;
  server.vendor = vendor;
  server.name = name;
  server.platform = platform;
  server.vcpus = vcpus;
  server.memory_gib = 2 * vcpus;
  return server;
}

std::vector<program::Server> servers() {
  return {server_of("aws", "c7i.xlarge", "xeon", 4), server_of("aws", "c5a.large", "epyc", 2),
          server_of("here", "std-2", "epyc", 2), server_of("there", "std-2", "xeon", 2),
          server_of("aws", "c9.large", "newest", 2)};
}

Error error_of(const fleet::NodeGroup& group) {
  fleet::Cluster cluster = {{group}, ""};
  const auto machines = find_machines(cluster, platforms(), servers(), "of the bundle");
  return machines ? Error{} : machines.error();
}

TEST(InstanceGroups, AreKnownByTheNamesThatPredictTakes) {
  fleet::Cluster cluster = {
      {fleet::instances("aws c7i.xlarge"), fleet::instances("C5A.large"), fleet::instances("here/std-2"),
       fleet::nodes("epyc", 1, 7), fleet::instances("Xeon 8488C"), fleet::nodes("7R32", 1, 2)},
      ""};
  const auto machines = find_machines(cluster, platforms(), servers(), "of the bundle");
  ASSERT_TRUE(machines) << to_text(machines.error());
  ASSERT_THAT(*machines, SizeIs(6));
  EXPECT_EQ((*machines)[0].server, 0u);
  EXPECT_EQ((*machines)[0].platform, 1u);
  EXPECT_EQ((*machines)[1].server, 1u);
  EXPECT_EQ((*machines)[2].server, 2u);
  EXPECT_FALSE((*machines)[3].server);
  EXPECT_EQ((*machines)[3].platform, 0u);
  EXPECT_EQ((*machines)[5].platform, 0u);
  EXPECT_EQ(cluster.groups[0].cores_per_node, 4);
  EXPECT_EQ(cluster.groups[0].memory_bytes_per_node, 8.0 * 1024 * 1024 * 1024);
  EXPECT_TRUE(cluster.groups[0].cores_stated);
  EXPECT_EQ(cluster.groups[3].cores_per_node, 7);
  EXPECT_TRUE(std::isnan(cluster.groups[3].memory_bytes_per_node));
  EXPECT_FALSE(cluster.groups[4].cores_stated);  // of a CPU model nobody knows them
}

TEST(InstanceGroups, KeepWhatIsStated) {
  fleet::NodeGroup half = fleet::nodes("aws c7i.xlarge", 1, 2);
  half.memory_bytes_per_node = 5;
  fleet::Cluster cluster = {{half}, ""};
  ASSERT_TRUE(find_machines(cluster, platforms(), servers(), "of the bundle"));
  EXPECT_EQ(cluster.groups[0].cores_per_node, 2);
  EXPECT_EQ(cluster.groups[0].memory_bytes_per_node, 5);
  const Error more = error_of(fleet::nodes("aws c7i.xlarge", 1, 8));
  EXPECT_EQ(more.code, "bad-cluster");
  EXPECT_THAT(more.message, HasSubstr("4 vCPUs"));
}

TEST(InstanceGroups, WhatIsUnknownIsNamedWithWhatIsNear) {
  const Error misspelt = error_of(fleet::instances("c7i.xlrge"));
  EXPECT_EQ(misspelt.code, "missing-platform");
  EXPECT_EQ(misspelt.message, "'c7i.xlrge' is no CPU model or instance type of the bundle");
  EXPECT_THAT(misspelt.expected, HasSubstr("for example aws c7i.xlarge"));
  EXPECT_EQ(error_of(fleet::instances("aws m8g.xlarge")).message,
            "'aws m8g.xlarge' is no CPU model or instance type of the bundle: its CPU is AWS Graviton4, and nobody "
            "measured this type");
  const Error two = error_of(fleet::instances("std-2"));
  EXPECT_EQ(two.code, "ambiguous-platform");
  EXPECT_EQ(two.expected, "one of here std-2 (epyc), there std-2 (xeon); or the CPU model, with its number of cores");
  const Error newest = error_of(fleet::instances("c9.large"));
  EXPECT_EQ(newest.code, "missing-platform");
  EXPECT_THAT(newest.message, HasSubstr("newest, is none of the bundle"));
}

program::PriceList prices(const char* csv) { return *program::PriceList::parse(csv, "prices.csv"); }

TEST(InstanceGroups, TakePricesByTheirNames) {
  fleet::Cluster cluster = {{fleet::instances("c7i.xlarge"), fleet::instances("aws/c5a.large"),
                             fleet::nodes("epyc", 1, 4), fleet::nodes("own box", 1, 4)},
                            "USD"};
  cluster.groups[3].price_per_node_hour = 0.7;
  const std::vector<GroupMachine> machines = {{1, 0}, {0, std::nullopt}, {0, std::nullopt}, {0, std::nullopt}};
  const program::PriceList list = prices("vendor,server,price_usd_per_hour\naws,c7i.xlarge,0.2\naws,c5a.large,0.1\n");
  ASSERT_TRUE(take_prices(list, machines, servers(), cluster));
  EXPECT_EQ(cluster.groups[0].price_per_node_hour, 0.2);
  EXPECT_EQ(cluster.groups[1].price_per_node_hour, 0.1);
  EXPECT_TRUE(std::isnan(cluster.groups[2].price_per_node_hour));
  EXPECT_EQ(cluster.groups[3].price_per_node_hour, 0.7);
  EXPECT_EQ(cluster.currency, "USD");
  EXPECT_EQ(cluster.note, "prices: prices.csv; no price is known for epyc");
}

TEST(InstanceGroups, TwoCurrenciesAreRefusedWhereBothCount) {
  fleet::Cluster cluster = {{fleet::nodes("aws c7i.xlarge", 1, 4), fleet::nodes("own box", 1, 4)}, "EUR"};
  const program::PriceList list = prices("vendor,server,price_usd_per_hour\naws,c7i.xlarge,0.2\n");
  ASSERT_TRUE(take_prices(list, {}, {}, cluster));  // the cluster's own currency is of no price
  EXPECT_EQ(cluster.currency, "USD");
  cluster.currency = "EUR";
  cluster.groups[1].price_per_node_hour = 0.7;
  for (const char* other : {"EUR", ""}) {
    cluster.currency = other;
    const Status mixed = take_prices(list, {}, {}, cluster);
    ASSERT_FALSE(mixed) << other;
    EXPECT_EQ(mixed.error().code, "mixed-currencies");
  }
  // The list has nothing for this cluster, which stays as it is.
  cluster.groups.erase(cluster.groups.begin());
  cluster.currency = "EUR";
  ASSERT_TRUE(take_prices(list, {}, {}, cluster));
  EXPECT_EQ(cluster.currency, "EUR");
  EXPECT_EQ(cluster.groups[0].price_per_node_hour, 0.7);
}

TEST(InstanceGroups, AnImpossibleNumberOfVcpusIsNotKnown) {
  for (const double vcpus : {1e300, 0.5, -4.0}) {
    fleet::Cluster cluster = {{fleet::instances("aws c7i.xlarge")}, ""};
    std::vector<program::Server> odd = servers();
    odd[0].vcpus = vcpus;
    ASSERT_TRUE(find_machines(cluster, platforms(), odd, "of the bundle"));
    EXPECT_FALSE(cluster.groups[0].cores_stated) << vcpus;
  }
}

}  // namespace
}  // namespace perfcast::place
