#include "fleet/slurm/advice.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "base/text.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

PartitionForecast partition(const std::string& name, double rpv, std::optional<double> price = {},
                            std::optional<int64_t> cores = {}) {
  return {{name, "CPU of " + name, price, cores, {}},
          PlatformForecast{"CPU of " + name, rpv, rpv / 2, rpv * 2, rpv * 10, rpv * 20},
          ""};
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
  EXPECT_THAT(advice->notes, ElementsAre(HasSubstr("whole nodes are charged on fast, slow")));
  const auto without = advise({}, "p", {partition("fast", 0.5, 4), partition("slow", 1.0)}, by_cost);
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().code, "missing-price");
}

TEST(AdviceTest, ChargesWhatTheJobAsksFor) {
  SlurmPartition nodes{"p", "CPU", 1.0, 64, 256e9};
  JobScript job;
  EXPECT_DOUBLE_EQ(nodes_charged(job, nodes), 1.0 / 64);
  job.tasks = 8;
  job.cpus_per_task = 4;
  EXPECT_DOUBLE_EQ(nodes_charged(job, nodes), 0.5);
  job.memory_bytes = 192'000'000'000;  // per node: the larger share counts
  EXPECT_DOUBLE_EQ(nodes_charged(job, nodes), 0.75);
  job.memory_bytes.reset();
  job.memory_bytes_per_core = 7'000'000'000;
  EXPECT_DOUBLE_EQ(nodes_charged(job, nodes), 0.875);
  job.tasks = 40;  // 160 cores: three nodes
  job.memory_bytes_per_core.reset();
  EXPECT_DOUBLE_EQ(nodes_charged(job, nodes), 2.5);
  job.exclusive = true;
  EXPECT_DOUBLE_EQ(nodes_charged(job, nodes), 3);
  job = {};
  job.nodes = 2;
  job.tasks_per_node = 16;
  EXPECT_DOUBLE_EQ(nodes_charged(job, nodes), 0.5);
  job.memory = "0";  // all of each node
  EXPECT_DOUBLE_EQ(nodes_charged(job, nodes), 2);
  nodes.cores.reset();
  EXPECT_DOUBLE_EQ(nodes_charged(job, nodes), 2);

  // 4 of 8 cores of a node at 1 an hour for 10 s; the larger node is cheaper by what is asked for.
  job = {};
  job.cpus_per_task = 4;
  const auto advice =
      advise(job, "p", {partition("small", 1, 1, 8), partition("large", 1, 3, 64)}, {AdviceSettings::Goal::kCost, 0});
  EXPECT_THAT(advice->chosen, ElementsAre("large"));
  EXPECT_DOUBLE_EQ(*advice->rows[0].cost, 3.0 / 16 * 10 / 3600);
  EXPECT_DOUBLE_EQ(*advice->rows[1].cost, 0.5 * 10 / 3600);
  EXPECT_THAT(advice->notes, ElementsAre());
  EXPECT_THAT(to_text(*advice), HasSubstr("0.0625      0.000521  chosen"));
  const auto short_run = advise(job, "p", {partition("p", 0.1, 0.5, 64)}, {});
  EXPECT_THAT(to_text(*short_run), HasSubstr("  0.00000868  chosen"));  // 1 s x 0.5 x 4/64 / 3600
}

TEST(AdviceTest, LimitsTheTimeByTheUpperEnd) {
  JobScript job;
  job.time = "10";
  job.time_limit_s = 600;
  auto advice = advise(job, "p", {partition("a", 40), partition("b", 80)}, {AdviceSettings::Goal::kTime, 1});
  EXPECT_EQ(advice->time_limit_s, 27 * 60);  // 80 x 20 s = 26:40, the longer of both
  EXPECT_THAT(advice->notes,
              ElementsAre(HasSubstr("--time=10 may end the job early: " + human_seconds(1600) + " is the upper")));
  EXPECT_THAT(to_text(*advice), HasSubstr("sbatch --partition=a,b --time=00:27:00 "));
  EXPECT_EQ(to_json(*advice)["time_limit_s"], 1620);
  job.time_limit_s = 1601;  // below the whole minutes, above the upper end
  advice = advise(job, "p", {partition("b", 80)}, {});
  EXPECT_EQ(advice->time_limit_s, 27 * 60);
  EXPECT_THAT(advice->notes, ElementsAre());
  PartitionForecast without = partition("a", 1);
  without.forecast->time_s.reset();
  without.forecast->time_upper_s.reset();
  advice = advise({}, "p", {without}, {});
  EXPECT_EQ(advice->time_limit_s, std::nullopt);
  EXPECT_THAT(to_text(*advice), HasSubstr("sbatch --partition=a "));
  EXPECT_EQ(slurm_time_text(1), "00:01:00");
  EXPECT_EQ(slurm_time_text(60), "00:01:00");
  EXPECT_EQ(slurm_time_text(86'401), "1-00:01:00");
}

TEST(AdviceTest, GivesNoTimeWhereTheJobIsNotTheProfiledRun) {
  JobScript job;
  job.source = "job.sh";
  job.time = "08:00:00";
  job.time_limit_s = 8 * 3600;
  auto advice = advise(job, "p", {partition("a", 1)}, {}, "the script runs x, the profile is of p");
  EXPECT_EQ(advice->time_limit_s, std::nullopt);
  EXPECT_THAT(to_text(*advice), StartsWith("submit with: sbatch --partition=a job.sh\n\n"));
  EXPECT_THAT(advice->notes,
              ElementsAre("the script runs x, the profile is of p: the forecast is of one profiled run, so no --time "
                          "is given here; the script's --time=08:00:00 stays"));
  job = {};
  job.runs_more = "the script runs commands in a loop";
  advice = advise(job, "p", {partition("a", 1)}, {});
  EXPECT_EQ(advice->time_limit_s, std::nullopt);
  EXPECT_THAT(advice->notes, ElementsAre(HasSubstr("in a loop: the forecast is of one profiled run, so no --time is "
                                                   "given here; set --time for the whole job yourself")));
  // One run alone is longer than the script allows.
  job.time = "1";
  job.time_limit_s = 19;
  advice = advise(job, "p", {partition("a", 1)}, {});
  EXPECT_THAT(advice->notes, ElementsAre(HasSubstr("--time=1 stays"), HasSubstr("--time=1 may end the job early")));
}

TEST(AdviceTest, LeavesOutWhatCantBeChosenAndSaysWhy) {
  JobScript job;
  job.cpus_per_task = 16;
  const PartitionForecast unknown{{"u", "Unknown", {}, {}, {}}, std::nullopt, "no such platform"};
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

// --mem is what each node must have: two nodes don't lend each other any.
TEST(AdviceTest, LeavesOutNodesWithTooLittleMemory) {
  constexpr double kGiB = 1 << 30;
  PartitionForecast small = partition("small", 0.5, 1.0, 64), big = partition("big", 1.5, 2.0, 64);
  small.partition.memory_bytes = 256 * kGiB;
  big.partition.memory_bytes = 512 * kGiB;
  JobScript job;
  job.nodes = 2;
  job.memory = "400G";
  job.memory_bytes = int64_t{400} << 30;
  for (const bool exclusive : {false, true}) {
    job.exclusive = exclusive;
    const auto advice = advise(job, "p", {small, big}, {});
    ASSERT_TRUE(advice.ok());
    EXPECT_THAT(advice->chosen, ElementsAre("big"));
    EXPECT_EQ(advice->rows[1].note, "too small: 256 GiB of memory a node, the job asks for 400 GiB");
  }
  const auto none = advise(job, "p", {small}, {});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("small: too small: 256 GiB of memory"));
  job.memory_bytes = int64_t{256} << 30;
  EXPECT_THAT(chosen({small, big}, {}, job), ElementsAre("small"));
  // 48 GiB for each of the 8 cores of a task.
  job = {};
  job.cpus_per_task = 8;
  job.memory_bytes_per_core = int64_t{48} << 30;
  const auto advice = advise(job, "p", {small, big}, {});
  EXPECT_THAT(advice->chosen, ElementsAre("big"));
  EXPECT_EQ(advice->rows[1].note, "too small: 256 GiB of memory a node, a task asks for 384 GiB");
  // What a partition does not state, no job exceeds.
  small.partition.memory_bytes.reset();
  EXPECT_THAT(chosen({small, big}, {}, job), ElementsAre("small"));
}

TEST(AdviceTest, TextAndJsonSayTheSame) {
  JobScript job;
  job.source = "job.sh";
  job.partition = "a";
  job.command = {"gzip", "-9"};
  const auto advice = advise(job, "gzip", {partition("a", 1.2), partition("b", 0.8)}, {});
  const std::string text = to_text(*advice);
  EXPECT_THAT(text, HasSubstr("b          CPU of b       0.80  0.40 .. 1.60   8.00 s  chosen"));
  EXPECT_THAT(text, StartsWith("submit with: sbatch --partition=b --time=00:01:00 job.sh\n\nprogram: gzip"));
  EXPECT_THAT(text, HasSubstr("\n\nnote: the script names partition a: --partition on sbatch's command line "
                              "overrides it\n"));
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
