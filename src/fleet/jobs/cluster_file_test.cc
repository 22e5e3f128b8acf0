#include "fleet/jobs/cluster_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "fleet/testing/cluster_json.h"

namespace perfcast::fleet {
namespace {

using testing::HasSubstr;

TEST(ClusterFile, ReadsEveryFieldAndDefaults) {
  const auto cluster =
      parse_cluster(R"({"schema": "perfcast.cluster/1", "currency": "EUR", "note": "invented", "groups": [
      {"platform": "a", "nodes": 4, "cores_per_node": 48, "gpus_per_node": 2, "memory_bytes_per_node": 1e9,
       "idle_w_per_node": 100, "busy_w_per_node": 300.5, "price_per_node_hour": 1.25},
      {"platform": "b", "nodes": 1}]})",
                    "c.json");
  ASSERT_TRUE(cluster) << to_text(cluster.error());
  EXPECT_EQ(cluster->currency, "EUR");
  EXPECT_EQ(cluster->note, "invented");
  ASSERT_EQ(cluster->groups.size(), 2u);
  EXPECT_EQ(cluster->cores(), 4 * 48 + 1);
  EXPECT_EQ(cluster->gpus(), 8);
  EXPECT_EQ(cluster->groups[0].memory_bytes_per_node, 1e9);
  EXPECT_EQ(cluster->groups[0].idle_w_per_node, 100);
  EXPECT_EQ(cluster->groups[0].busy_w_per_node, 300.5);
  EXPECT_EQ(cluster->groups[0].price_per_node_hour, 1.25);
  EXPECT_EQ(cluster->groups[1].cores_per_node, 1);
  EXPECT_TRUE(std::isnan(cluster->groups[1].idle_w_per_node));

  const std::string text = to_text(to_json(*cluster));
  const auto back = parse_cluster(text, "again");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(to_text(to_json(*back)), text);
  EXPECT_EQ(back->groups[0].busy_w_per_node, 300.5);
}

TEST(ClusterFile, UnknownKeysAreNamedWithNearOnes) {
  const auto cluster = parse_cluster(
      R"({"schema": "perfcast.cluster/1", "groups": [{"platform": "a", "nodes": 1, "core_per_node": 4, "idle_w": 3}]})",
      "c.json");
  ASSERT_FALSE(cluster);
  EXPECT_EQ(cluster.error().code, "bad-json-field");
  EXPECT_THAT(cluster.error().message, HasSubstr("c.json.groups[0].core_per_node"));
  EXPECT_THAT(cluster.error().message, HasSubstr("one of cores_per_node"));
  EXPECT_THAT(cluster.error().message, HasSubstr("idle_w_per_node"));
}

TEST(ClusterFile, RefusesWhatIsNoCluster) {
  const auto code = [](const char* text) {
    const auto cluster = parse_cluster(text, "c.json");
    return cluster ? std::string("ok") : cluster.error().code;
  };
  EXPECT_EQ(code("{"), "bad-json");
  EXPECT_EQ(code("[]"), "bad-json-field");
  EXPECT_EQ(code(R"({"schema": "perfcast.cluster/2", "groups": []})"), "bad-json-field");
  EXPECT_EQ(code(R"({"schema": "perfcast.cluster/1", "groups": []})"), "no-nodes");
  EXPECT_EQ(code(R"({"schema": "perfcast.cluster/1", "groups": [3]})"), "bad-json-field");
  EXPECT_EQ(code(R"({"schema": "perfcast.cluster/1", "groups": [{"platform": "a", "nodes": -1}]})"), "bad-cluster");
  EXPECT_EQ(code(R"({"schema": "perfcast.cluster/1", "groups": [{"platform": "a", "nodes": 1.5}]})"), "bad-json-field");
  EXPECT_EQ(code(R"({"schema": "perfcast.cluster/1", "groups": [{"platform": "a", "nodes": 99999999999999999999}]})"),
            "bad-json-field");
}

TEST(NodeGroupArgument, ReadsNodesCoresAndGpus) {
  const auto group = parse_node_group("AMD EPYC 7R32=4x48");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->platform, "AMD EPYC 7R32");
  EXPECT_EQ(group->nodes, 4);
  EXPECT_EQ(group->cores_per_node, 48);
  EXPECT_EQ(group->gpus_per_node, 0);
  const auto gpus = parse_node_group("a=b=36x0+8");
  ASSERT_TRUE(gpus);
  EXPECT_EQ(gpus->platform, "a=b");
  EXPECT_EQ(gpus->nodes, 36);
  EXPECT_EQ(gpus->cores_per_node, 0);
  EXPECT_EQ(gpus->gpus_per_node, 8);
}

// Cores that nobody stated can be looked up where the group is an instance type.
TEST(NodeGroupArgument, SaysWhetherCoresAreStated) {
  const auto group = parse_node_group("aws c7i.xlarge=4");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->platform, "aws c7i.xlarge");
  EXPECT_EQ(group->nodes, 4);
  EXPECT_FALSE(group->cores_stated);
  EXPECT_TRUE(parse_node_group("a=4x1")->cores_stated);
  const auto cluster = parse_cluster(
      R"({"schema": "perfcast.cluster/1", "groups": [{"platform": "a", "nodes": 1}, {"platform": "b", "nodes": 1, "cores_per_node": 1}]})",
      "c.json");
  ASSERT_TRUE(cluster);
  EXPECT_FALSE(cluster->groups[0].cores_stated);
  EXPECT_EQ(cluster->groups[0].cores_per_node, 1);
  EXPECT_TRUE(cluster->groups[1].cores_stated);
}

TEST(NodeGroupArgument, RefusesAnythingElse) {
  for (const char* text : {"", "=", "a", "a=", "=4x4", "=4", "a=-4", "a=x", "a=4x", "a=x4", "a=-4x4", "a=4x4x4",
                           "a=4x4+", "a=4+4x4", "a=1e3x4", "a=4x99999999999999999999", "a= 4x4"}) {
    const auto group = parse_node_group(text);
    ASSERT_FALSE(group) << text;
    EXPECT_EQ(group.error().code, "bad-cluster");
  }
  EXPECT_EQ(parse_node_groups({"a=1x1", "a=2x1"}).error().code, "bad-cluster");
  EXPECT_EQ(parse_node_groups({"a=0x1"}).error().code, "no-nodes");
  EXPECT_EQ(parse_node_groups({"a=1x2", "b=3x4"})->cores(), 14);
}

}  // namespace
}  // namespace perfcast::fleet
