#include "fleet/slurm/advice.h"

#include <gmock/gmock.h>

#include "base/json.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PartitionForecast partition(const std::string& name, double rpv, std::optional<double> price = {},
                            std::optional<int64_t> cores = {}) {
  return {
      {name, "CPU of " + name, price, cores}, PlatformForecast{"CPU of " + name, rpv, rpv / 2, rpv * 2, rpv * 10}, ""};
}

std::vector<std::string> chosen(const std::vector<PartitionForecast>& partitions, const AdviceSettings& settings = {},
                                const JobScript& job = {}) {
  const auto advice = advise(job, "p", partitions, settings);
  EXPECT_TRUE(advice.ok()) << advice.error().message;
  return advice ? advice->chosen : std::vector<std::string>();
}

TEST(AdviceTest, ChoosesTheFastestAndAllThatTieWithIt) {
  EXPECT_THAT(chosen({partition("a", 1.2), partition("b", 0.8), partition("c", 1.0)}), ElementsAre("b"));
  EXPECT_THAT(chosen({partition("a", 0.815), partition("b", 0.8), partition("c", 0.8161)}), ElementsAre("b", "a"));
  EXPECT_THAT(chosen({partition("a", 0.8), partition("b", 0.8)}, {AdviceSettings::Goal::kTime, 0}),
              ElementsAre("a", "b"));
}

TEST(AdviceTest, ByCost) {
  const AdviceSettings by_cost{AdviceSettings::Goal::kCost, 0.02};
  EXPECT_THAT(chosen({partition("fast", 0.5, 4), partition("slow", 1.0, 1)}, by_cost), ElementsAre("slow"));
  const auto advice = advise({}, "p", {partition("fast", 0.5, 4), partition("slow", 1.0, 1)}, by_cost);
  EXPECT_DOUBLE_EQ(*advice->rows[0].cost, 1.0 * 10 / 3600);
  const auto without = advise({}, "p", {partition("fast", 0.5, 4), partition("slow", 1.0)}, by_cost);
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().code, "missing-price");
}

TEST(AdviceTest, LeavesOutWhatCantBeChosenAndSaysWhy) {
  JobScript job;
  job.cpus_per_task = 16;
  const PartitionForecast unknown{{"u", "Unknown", {}, {}}, std::nullopt, "no such platform"};
  const auto advice = advise(job, "p", {unknown, partition("small", 0.5, {}, 8), partition("big", 1.5, {}, 16)}, {});
  ASSERT_TRUE(advice.ok());
  EXPECT_THAT(advice->chosen, ElementsAre("big"));
  EXPECT_EQ(advice->rows[0].of.partition.name, "big");
  EXPECT_EQ(advice->rows[1].note, "too small: 8 cores a node, a task asks for 16");
  EXPECT_EQ(advice->rows[2].note, "no forecast: no such platform");
  const CacheEntry entry = to_cache_entry(*advice, 7);
  ASSERT_EQ(entry.ranking.size(), 1U);
  EXPECT_EQ(entry.ranking[0].partition, "big");
  EXPECT_THAT(entry.chosen, ElementsAre("big"));
  const auto none = advise(job, "p", {unknown, partition("small", 0.5, {}, 8)}, {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, "no-partition");
  EXPECT_THAT(none.error().message,
              HasSubstr("small: too small: 8 cores a node, a task asks for 16; u: no forecast: no such"));
}

TEST(AdviceTest, TextAndJsonSayTheSame) {
  JobScript job;
  job.source = "job.sh";
  job.partition = "a";
  job.command = {"gzip", "-9"};
  const auto advice = advise(job, "gzip", {partition("a", 1.2), partition("b", 0.8)}, {});
  const std::string text = to_text(*advice);
  EXPECT_THAT(text, HasSubstr("b          CPU of b       0.80  0.40 .. 1.60   8.00 s  chosen"));
  EXPECT_THAT(text, HasSubstr("sbatch --partition=b job.sh\n"));
  EXPECT_THAT(text, HasSubstr("the script names partition a"));
  const Json json = to_json(*advice);
  EXPECT_EQ(json["schema"], "perfcast.slurm-advice/1");
  EXPECT_EQ(json["chosen"], Json::array({"b"}));
  EXPECT_EQ(json["partitions"][0]["rpv"], 0.8);
  EXPECT_EQ(json["partitions"][1]["chosen"], false);
  EXPECT_FALSE(json["partitions"][0].contains("price_per_hour"));
}

TEST(AdviceTest, ProgramKey) {
  JobScript job;
  job.command = {"/opt/bin/solver", "x"};
  EXPECT_EQ(*program_key(job), "solver");
  job.job_name = "night-run";
  EXPECT_EQ(*program_key(job), "night-run");
  job.comment = "perfcast:solver-large";
  EXPECT_EQ(*program_key(job), "solver-large");
  job.comment = "perfcast:a b";
  EXPECT_EQ(program_key(job).error().code, "no-program-name");
  EXPECT_EQ(program_key({}).error().code, "no-program-name");
}

}  // namespace
}  // namespace perfcast::fleet
