#include "fleet/simulate/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/random.h"
#include "base/statistics.h"
#include "fleet/jobs/summary.h"
#include "fleet/simulate/queueing.h"
#include "fleet/testing/small_schedule.h"
#include "fleet/testing/small_world.h"

namespace perfcast::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Outcome run(const Cluster& cluster, const Workload& workload, Policy policy, SimulationOptions options = {}) {
  options.record_segments = true;
  auto outcome = simulate(cluster, workload, policy, options);
  if (!outcome) {
    ADD_FAILURE() << to_text(outcome.error());
    return {};
  }
  return *outcome;
}

std::vector<double> starts(const Outcome& outcome) {
  std::vector<double> result;
  for (const JobResult& job : outcome.jobs) result.push_back(job.start_s);
  return result;
}
std::vector<int32_t> groups(const Outcome& outcome) {
  std::vector<int32_t> result;
  for (const JobResult& job : outcome.jobs) result.push_back(job.group);
  return result;
}

// One node of two cores; the second job needs both.
WorkloadMaker three_jobs(double third_s) {
  WorkloadMaker maker({"A"});
  maker.job(0, 1, {10}).limit_s = 10;
  maker.job(0, 2, {5}).limit_s = 5;
  maker.job(0, 1, {third_s}).limit_s = third_s;
  return maker;
}

TEST(Fcfs, NobodyOvertakes) {
  EXPECT_THAT(starts(run({{nodes("A", 1, 2)}, ""}, three_jobs(3).workload(), Policy::kFcfs)), ElementsAre(0, 10, 15));
}

TEST(Easy, AShortJobFillsTheGap) {
  EXPECT_THAT(starts(run({{nodes("A", 1, 2)}, ""}, three_jobs(3).workload(), Policy::kEasy)), ElementsAre(0, 10, 0));
  EXPECT_THAT(starts(run({{nodes("A", 1, 2)}, ""}, three_jobs(10).workload(), Policy::kEasy)), ElementsAre(0, 10, 0));
}

TEST(Easy, ALongJobMustNotPutTheReservationOff) {
  EXPECT_THAT(starts(run({{nodes("A", 1, 2)}, ""}, three_jobs(11).workload(), Policy::kEasy)), ElementsAre(0, 10, 15));
}

TEST(Easy, ALongJobMayTakeWhatTheReservationLeaves) {
  // 4 nodes of one core. At 10 s the first job's two come free; the head needs 3 of 4, one is to spare.
  WorkloadMaker maker({"A"});
  for (const auto& [cores, seconds] : {std::pair{2, 10.0}, {3, 5.0}, {1, 100.0}, {1, 100.0}}) {
    JobRequest& job = maker.job(0, cores, {seconds});
    job.limit_s = seconds;
    job.spread = true;
  }
  const Cluster cluster{{nodes("A", 4, 1)}, ""};
  EXPECT_THAT(starts(run(cluster, maker.workload(), Policy::kEasy)), ElementsAre(0, 10, 0, 15));
}

TEST(Easy, AnArrivalIsHeldAgainstTheSameReservation) {
  WorkloadMaker maker({"A"});
  maker.job(0, 1, {10}).limit_s = 10;
  maker.job(1, 2, {5}).limit_s = 5;
  maker.job(2, 1, {8}).limit_s = 8;  // ends with the first at 10
  maker.job(3, 1, {8}).limit_s = 8;  // would end at 11
  EXPECT_THAT(starts(run({{nodes("A", 1, 2)}, ""}, maker.workload(), Policy::kEasy)), ElementsAre(0, 10, 2, 15));
}

TEST(Easy, TheForecastBeatsAPaddedLimit) {
  WorkloadMaker maker = three_jobs(3);
  for (JobRequest& job : maker.workload().jobs) job.limit_s = 100;
  const Cluster cluster{{nodes("A", 1, 2)}, ""};
  EXPECT_THAT(starts(run(cluster, maker.workload(), Policy::kEasy)), ElementsAre(0, 10, 0));  // 100 against 100
  maker.workload().jobs[2].limit_s = 101;
  EXPECT_THAT(starts(run(cluster, maker.workload(), Policy::kEasy)), ElementsAre(0, 10, 15));
  EXPECT_THAT(starts(run(cluster, maker.workload(), Policy::kEasyForecast)), ElementsAre(0, 10, 0));
}

TEST(Easy, BackfillingUnderOtherPoliciesKnowsNoMoreThanTheLimits) {
  WorkloadMaker maker = three_jobs(3);
  for (JobRequest& job : maker.workload().jobs) job.limit_s = 100;
  maker.workload().jobs[2].limit_s = 101;
  SimulationOptions options;
  options.backfill = true;
  const Cluster cluster{{nodes("A", 1, 2)}, ""};
  for (const Policy policy : {Policy::kFcfs, Policy::kRandom, Policy::kRoundRobin, Policy::kFastestFirst}) {
    EXPECT_THAT(starts(run(cluster, maker.workload(), policy, options)), ElementsAre(0, 10, 15)) << info(policy).name;
  }
  for (JobRequest& job : maker.workload().jobs) job.limit_s = kUnknown;
  maker.workload().forecast_s.clear();
  EXPECT_EQ(simulate(cluster, maker.workload(), Policy::kFcfs, options).error().code, "no-forecast");
}

TEST(Easy, AnOutrunForecastHoldsNothingUpForEver) {
  WorkloadMaker maker({"A"});
  maker.job(0, 1, {100}, {5});
  maker.job(0, 2, {5});
  maker.job(0, 1, {3});
  EXPECT_THAT(starts(run({{nodes("A", 1, 2)}, ""}, maker.workload(), Policy::kEasyForecast)), ElementsAre(0, 100, 0));
}

TEST(ShortestFirst, GoesByTheForecast) {
  WorkloadMaker maker({"A"});
  maker.job(0, 1, {2});
  maker.job(1, 1, {9}, {1});  // thought to be the shortest
  maker.job(1, 1, {3});
  maker.job(1, 1, {2});
  EXPECT_THAT(starts(run({{nodes("A", 1, 1)}, ""}, maker.workload(), Policy::kShortestFirst)),
              ElementsAre(0, 2, 13, 11));
}

TEST(MinimumCompletion, WaitsForTheFastPlatformWhereThatPays) {
  WorkloadMaker maker({"A", "B"});
  for (int i = 0; i < 3; ++i) maker.job(0, 1, {2, 3});
  const Outcome outcome = run({{nodes("A", 1, 1), nodes("B", 1, 1)}, ""}, maker.workload(), Policy::kMinimumCompletion);
  EXPECT_THAT(groups(outcome), ElementsAre(0, 1, 0));
  EXPECT_THAT(starts(outcome), ElementsAre(0, 0, 2));
}

TEST(MinimumCompletion, OracleKnowsBetterThanTheForecast) {
  WorkloadMaker maker({"A", "B"});
  maker.job(0, 1, {10, 4}, {3, 5});
  const Cluster cluster{{nodes("A", 1, 1), nodes("B", 1, 1)}, ""};
  EXPECT_THAT(groups(run(cluster, maker.workload(), Policy::kMinimumCompletion)), ElementsAre(0));
  EXPECT_THAT(groups(run(cluster, maker.workload(), Policy::kOracle)), ElementsAre(1));
}

TEST(MinimumCompletion, SafeGoesByTheUpperEnd) {
  WorkloadMaker maker({"A", "B"});
  maker.job(0, 1, {2, 3});
  maker.workload().upper_s = {5, 3.5};
  const Cluster cluster{{nodes("A", 1, 1), nodes("B", 1, 1)}, ""};
  EXPECT_THAT(groups(run(cluster, maker.workload(), Policy::kMinimumCompletion)), ElementsAre(0));
  EXPECT_THAT(groups(run(cluster, maker.workload(), Policy::kMinimumCompletionSafe)), ElementsAre(1));
}

TEST(MinimumCompletion, EnergyAndCostWeighIn) {
  WorkloadMaker maker({"A", "B"});
  maker.job(0, 1, {2, 3});
  Cluster cluster{{nodes("A", 1, 1), nodes("B", 1, 1)}, ""};
  cluster.groups[0].busy_w_per_node = 300;
  cluster.groups[1].busy_w_per_node = 100;  // 600 J against 300 J; sqrt(2 x 600) > sqrt(3 x 300)
  for (NodeGroup& group : cluster.groups) group.idle_w_per_node = 0;
  cluster.groups[0].price_per_node_hour = 1;
  cluster.groups[1].price_per_node_hour = 0.9;  // 2 against 2.7
  EXPECT_THAT(groups(run(cluster, maker.workload(), Policy::kMinimumCompletionEnergy)), ElementsAre(1));
  EXPECT_THAT(groups(run(cluster, maker.workload(), Policy::kMinimumCompletionCost)), ElementsAre(0));
  SimulationOptions options;
  options.weight = 0;
  EXPECT_THAT(groups(run(cluster, maker.workload(), Policy::kMinimumCompletionEnergy, options)), ElementsAre(0));
}

TEST(MinimumCompletion, OnlyWhatAJobAddsIsItsEnergy) {
  WorkloadMaker maker({"A", "B"});
  maker.job(0, 1, {2, 2});
  Cluster cluster{{nodes("A", 1, 1), nodes("B", 1, 1)}, ""};
  cluster.groups[0].idle_w_per_node = 90;
  cluster.groups[0].busy_w_per_node = 300;  // adds 210 W
  cluster.groups[1].idle_w_per_node = 10;
  cluster.groups[1].busy_w_per_node = 290;  // adds 280 W
  SimulationOptions options;
  options.weight = 1;
  EXPECT_THAT(groups(run(cluster, maker.workload(), Policy::kMinimumCompletionEnergy, options)), ElementsAre(0));
  maker.workload().energy_joules = {1000, 10};  // the jobs' own figures come first
  EXPECT_THAT(groups(run(cluster, maker.workload(), Policy::kMinimumCompletionEnergy, options)), ElementsAre(1));
}

TEST(MinimumCompletion, KnowsThatLimitsKill) {
  // Both run on A, which the first leaves at its limit of 10 s, not after the 1000 s that it would need.
  WorkloadMaker maker({"A", "B"});
  maker.job(0, 1, {1000, 2000}).limit_s = 10;
  maker.job(20, 1, {5, 100});
  const Cluster cluster{{nodes("A", 1, 1), nodes("B", 1, 1)}, ""};
  for (const Policy policy : {Policy::kMinimumCompletion, Policy::kOracle}) {
    const Outcome outcome = run(cluster, maker.workload(), policy);
    EXPECT_THAT(groups(outcome), ElementsAre(0, 0));
    EXPECT_THAT(starts(outcome), ElementsAre(0, 20));
  }
  SimulationOptions options;
  options.kill_at_limit = false;
  EXPECT_THAT(groups(run(cluster, maker.workload(), Policy::kOracle, options)), ElementsAre(0, 1));
}

TEST(MinimumCompletion, SeesTheCoresAndMemoryThatOthersHold) {
  Cluster cluster{{nodes("A", 1, 8), nodes("B", 1, 8)}, ""};
  cluster.groups[0].gpus_per_node = 1;
  WorkloadMaker on_gpu({"A", "B"});
  on_gpu.job(0, 8, {1000, kUnknown}).gpus = 1;  // holds all cores of A as well
  on_gpu.job(1, 8, {10, 20});
  EXPECT_THAT(groups(run(cluster, on_gpu.workload(), Policy::kOracle)), ElementsAre(0, 1));
  for (NodeGroup& group : cluster.groups) group.memory_bytes_per_node = 100;
  WorkloadMaker large({"A", "B"});
  large.job(0, 1, {100, kUnknown}).memory_bytes = 90;
  large.job(1, 1, {10, 20}).memory_bytes = 90;
  large.job(1, 1, {10, 20}).memory_bytes = 10;
  EXPECT_THAT(groups(run(cluster, large.workload(), Policy::kOracle)), ElementsAre(0, 1, 0));
}

TEST(MinimumCompletion, KnowsThatNobodyOvertakes) {
  // A's queue: a job for both cores waits until 100 s; one for a single core could only go behind it.
  WorkloadMaker maker({"A", "B"});
  maker.job(0, 1, {100, kUnknown});
  maker.job(1, 2, {10, kUnknown});
  maker.job(2, 1, {10, 50});
  const Cluster cluster{{nodes("A", 1, 2), nodes("B", 1, 2)}, ""};
  EXPECT_THAT(groups(run(cluster, maker.workload(), Policy::kOracle)), ElementsAre(0, 0, 1));
}

TEST(MinimumCompletion, ATieGoesToAllBestPlatforms) {
  WorkloadMaker maker({"A", "B"});
  maker.job(0, 1, {20, kUnknown}, {10, kUnknown});  // later than thought
  maker.job(0, 1, {kUnknown, 10});
  maker.job(1, 1, {5, 5});  // thought to start at 10 on either
  const Outcome outcome = run({{nodes("A", 1, 1), nodes("B", 1, 1)}, ""}, maker.workload(), Policy::kMinimumCompletion);
  EXPECT_THAT(groups(outcome), ElementsAre(0, 1, 1));
  EXPECT_THAT(starts(outcome), ElementsAre(0, 0, 10));
}

TEST(FastestFirst, TakesTheFastestFreeOne) {
  WorkloadMaker maker({"A", "B", "C"});
  for (int i = 0; i < 4; ++i) maker.job(0, 1, {3, 1, 2});
  const Cluster cluster{{nodes("A", 1, 1), nodes("B", 1, 1), nodes("C", 1, 1)}, ""};
  const Outcome outcome = run(cluster, maker.workload(), Policy::kFastestFirst);
  EXPECT_THAT(groups(outcome), ElementsAre(1, 2, 0, 1));
  EXPECT_THAT(starts(outcome), ElementsAre(0, 0, 0, 1));
}

TEST(RoundRobin, GoesInProportionToTheGroups) {
  WorkloadMaker maker({"A", "B"});
  for (int i = 0; i < 6; ++i) maker.job(0, 1, {1, 1});
  const Outcome outcome = run({{nodes("A", 1, 4), nodes("B", 1, 2)}, ""}, maker.workload(), Policy::kRoundRobin);
  EXPECT_THAT(groups(outcome), ElementsAre(0, 1, 0, 0, 1, 0));
}

TEST(RandomPolicy, DrawsInProportionAndBySeed) {
  WorkloadMaker maker({"A", "B"});
  for (int i = 0; i < 3000; ++i) maker.job(0, 1, {1, 1});
  const Cluster cluster{{nodes("A", 1, 4), nodes("B", 1, 2)}, ""};
  const auto drawn = groups(run(cluster, maker.workload(), Policy::kRandom));
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin(), drawn.end(), 0)), 2000, 110);  // 4 standard deviations
  EXPECT_EQ(drawn, groups(run(cluster, maker.workload(), Policy::kRandom)));
  SimulationOptions other;
  other.seed = 2;
  EXPECT_NE(drawn, groups(run(cluster, maker.workload(), Policy::kRandom, other)));
}

TEST(Jobs, LimitsKillUnlessToldOtherwise) {
  WorkloadMaker maker({"A"});
  maker.job(0, 1, {10}).limit_s = 4;
  const Cluster cluster{{nodes("A", 1, 1)}, ""};
  const JobResult killed = run(cluster, maker.workload(), Policy::kFcfs).jobs[0];
  EXPECT_EQ(killed.state, JobState::kKilled);
  EXPECT_EQ(killed.end_s, 4);
  SimulationOptions options;
  options.kill_at_limit = false;
  EXPECT_EQ(run(cluster, maker.workload(), Policy::kFcfs, options).jobs[0].end_s, 10);
}

TEST(Jobs, FollowersComeAfterTheirThinkTime) {
  WorkloadMaker maker({"A"});
  maker.job(0, 1, {10});
  JobRequest& second = maker.job(2, 1, {1});
  second.after = 0;
  second.think_s = 5;
  maker.job(3, 8, {1});  // fits nowhere
  maker.job(4, 1, {1}).after = 2;
  const Outcome outcome = run({{nodes("A", 2, 1)}, ""}, maker.workload(), Policy::kFcfs);
  EXPECT_EQ(outcome.jobs[1].ready_s, 15);
  EXPECT_EQ(outcome.jobs[1].start_s, 15);
  EXPECT_EQ(outcome.jobs[2].state, JobState::kImpossible);
  EXPECT_EQ(outcome.jobs[3].start_s, 4);  // what waited for the impossible one goes on
  EXPECT_THAT(outcome.notes, ElementsAre(HasSubstr("1 job fit no node")));
}

TEST(Jobs, CancelledOnesLeaveTheQueue) {
  WorkloadMaker maker({"A"});
  maker.job(0, 1, {10});
  maker.job(1, 2, {5}).cancelled_s = 4;
  maker.job(2, 1, {3});
  const Outcome outcome = run({{nodes("A", 1, 2)}, ""}, maker.workload(), Policy::kFcfs);
  EXPECT_EQ(outcome.jobs[1].state, JobState::kCancelled);
  EXPECT_TRUE(std::isnan(outcome.jobs[1].start_s));
  EXPECT_EQ(outcome.jobs[2].start_s, 4);  // as soon as the one in front has gone
}

TEST(Jobs, MemoryAndGpusLimitToo) {
  WorkloadMaker maker({"A"});
  for (int i = 0; i < 2; ++i) maker.job(0, 1, {10}).memory_bytes = 60;
  for (int i = 0; i < 2; ++i) maker.job(0, 1, {10}).gpus = 1;
  Cluster cluster{{nodes("A", 1, 8)}, ""};
  cluster.groups[0].memory_bytes_per_node = 100;
  cluster.groups[0].gpus_per_node = 1;
  EXPECT_THAT(starts(run(cluster, maker.workload(), Policy::kFcfs)), ElementsAre(0, 10, 10, 20));
}

TEST(Jobs, WithoutSpreadAllCoresAreOnOneNode) {
  WorkloadMaker maker({"A"});
  maker.job(0, 2, {10});
  maker.job(0, 3, {10});
  maker.job(0, 3, {10}).spread = true;
  // 2 + 2 cores are left on two nodes after the first: the second job needs a whole node's three.
  EXPECT_THAT(starts(run({{nodes("A", 2, 3)}, ""}, maker.workload(), Policy::kFcfs)), ElementsAre(0, 0, 10));
  WorkloadMaker again({"A"});
  again.job(0, 2, {10});
  again.job(0, 2, {10});
  again.job(0, 2, {10}).spread = true;
  EXPECT_THAT(starts(run({{nodes("A", 2, 3)}, ""}, again.workload(), Policy::kFcfs)), ElementsAre(0, 0, 0));
}

// No core, GPU or byte is used twice, no job is lost, and run times are what they must be.
void check_conservation(const Cluster& cluster, const Workload& workload, const Outcome& outcome,
                        const std::string& where) {
  std::map<int32_t, const Segment*> segment_of;
  struct Change {
    double at_s;
    int sign;
    NodePart part;
    double memory_bytes;
  };
  std::map<std::pair<int32_t, int32_t>, std::vector<Change>> nodes_used;
  for (const Segment& segment : outcome.segments) {
    EXPECT_TRUE(segment_of.emplace(segment.job, &segment).second) << where;
    const JobRequest& request = workload.jobs[static_cast<size_t>(segment.job)];
    int32_t cores = 0;
    int32_t gpus = 0;
    for (uint32_t i = 0; i < segment.parts; ++i) {
      const NodePart& part = outcome.parts[segment.first_part + i];
      cores += part.cores;
      gpus += part.gpus;
      if (segment.end_s == segment.start_s) continue;
      const double share = request.gpus > 0 && request.spread ? static_cast<double>(part.gpus) / request.gpus
                                                              : static_cast<double>(part.cores) / request.cores;
      const double memory = std::isnan(request.memory_bytes) ? 0 : request.memory_bytes * share;
      auto& changes = nodes_used[{segment.group, part.node}];
      changes.push_back({segment.start_s, +1, part, memory});
      changes.push_back({segment.end_s, -1, part, memory});
    }
    EXPECT_GE(cores, request.cores) << where;
    EXPECT_EQ(gpus, request.gpus) << where;
    EXPECT_TRUE(request.spread || segment.parts == 1) << where;
  }
  for (auto& [node, changes] : nodes_used) {
    std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
      return a.at_s < b.at_s || (a.at_s == b.at_s && a.sign < b.sign);
    });
    const NodeGroup& group = cluster.groups[static_cast<size_t>(node.first)];
    int64_t cores = 0;
    int64_t gpus = 0;
    double memory = 0;
    for (const Change& change : changes) {
      cores += int64_t{change.sign} * change.part.cores;
      gpus += int64_t{change.sign} * change.part.gpus;
      memory += change.sign * change.memory_bytes;
      EXPECT_LE(cores, group.cores_per_node) << where;
      EXPECT_LE(gpus, group.gpus_per_node) << where;
      EXPECT_FALSE(memory > group.memory_bytes_per_node * (1 + 1e-9)) << where;
    }
    EXPECT_EQ(cores, 0) << where;
  }
  for (size_t i = 0; i < workload.size(); ++i) {
    const JobResult& result = outcome.jobs[i];
    const JobRequest& request = workload.jobs[i];
    const bool ran = result.state == JobState::kDone || result.state == JobState::kKilled;
    EXPECT_EQ(ran, segment_of.contains(static_cast<int32_t>(i))) << where;
    EXPECT_EQ(ran, !std::isnan(result.start_s)) << where;
    EXPECT_GE(result.ready_s, request.arrival_s) << where;
    if (!ran) continue;
    const double time_s = workload.times(i)[static_cast<size_t>(result.group)];
    EXPECT_GE(result.start_s, result.ready_s) << where;
    EXPECT_EQ(result.state == JobState::kKilled, time_s > request.limit_s) << where;
    EXPECT_EQ(result.run_s, result.state == JobState::kKilled ? request.limit_s : time_s) << where;
    EXPECT_FALSE(result.start_s > request.cancelled_s) << where;
    if (request.after != kNoIndex) {
      const JobResult& before = outcome.jobs[static_cast<size_t>(request.after)];
      if (!std::isnan(before.end_s)) {
        EXPECT_GE(result.ready_s, before.end_s + request.think_s) << where;
      }
    }
  }
}

TEST(Property, NothingIsLostOrUsedTwice) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const auto [cluster, workload] = random_world(seed, 150);
    for (const PolicyInfo& policy : policies()) {
      if (policy.preempts) continue;
      for (const bool backfill : {false, true}) {
        SimulationOptions options;
        options.seed = seed;
        options.backfill = backfill;
        const std::string where =
            std::string(policy.name) + (backfill ? " with backfilling" : "") + ", seed " + std::to_string(seed);
        const Outcome outcome = run(cluster, workload, policy.policy, options);
        ASSERT_EQ(outcome.jobs.size(), workload.size()) << where;
        check_conservation(cluster, workload, outcome, where);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// EASY's promise: with exact estimates the head of the queue starts no later than it would without backfilling, so the
// first job that had to wait does so no longer than under fcfs.
TEST(Property, BackfillingNeverDelaysTheFirstThatWaits) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    WorkloadMaker maker({"A"});
    const bool spread = seed % 2 == 0;
    for (int i = 0; i < 40; ++i) {
      JobRequest& job = maker.job(i * 0.1, 1 + static_cast<int32_t>(random.below(4)), {random.uniform(1, 30)});
      job.spread = spread;
    }
    const Cluster cluster{{nodes("A", spread ? 6 : 3, spread ? 1 : 4)}, ""};
    const Outcome plain = run(cluster, maker.workload(), Policy::kFcfs);
    const Outcome easy = run(cluster, maker.workload(), Policy::kEasyForecast);
    for (size_t i = 0; i < plain.jobs.size(); ++i) {
      if (plain.jobs[i].start_s == plain.jobs[i].ready_s) continue;
      EXPECT_LE(easy.jobs[i].start_s, plain.jobs[i].start_s) << "seed " << seed << ", job " << i;
      break;
    }
  }
}

// Mean wait of many jobs and the standard error of it, from the means of batches.
std::pair<double, double> mean_wait(const Outcome& outcome) {
  const size_t warm_up = outcome.jobs.size() / 10;
  const size_t batches = 50;
  const size_t size = (outcome.jobs.size() - warm_up) / batches;
  std::vector<double> means;
  for (size_t batch = 0; batch < batches; ++batch) {
    double sum = 0;
    for (size_t i = 0; i < size; ++i) {
      const JobResult& job = outcome.jobs[warm_up + batch * size + i];
      sum += job.start_s - job.ready_s;
    }
    means.push_back(sum / static_cast<double>(size));
  }
  return {mean(means), standard_deviation(means) / std::sqrt(static_cast<double>(batches))};
}

Workload queue_of(int jobs, double arrivals_per_s, uint64_t seed, double (*service)(Random&)) {
  Random random(seed);
  WorkloadMaker maker({"A"});
  double now_s = 0;
  for (int i = 0; i < jobs; ++i) {
    now_s -= std::log(1 - random.uniform()) / arrivals_per_s;
    maker.job(now_s, 1, {service(random)});
  }
  return maker.workload();
}

double exponential(Random& random) { return -std::log(1 - random.uniform()); }

TEST(Theory, WaitsOfMm1AndMmc) {
  for (const auto& [servers, load] : {std::pair{1, 0.5}, {1, 0.8}, {4, 0.8}, {20, 0.9}}) {
    const Workload workload = queue_of(200000, servers * load, 7, exponential);
    SimulationOptions options;
    const auto outcome = simulate({{nodes("A", 1, servers)}, ""}, workload, Policy::kFcfs, options);
    ASSERT_TRUE(outcome);
    const auto [wait_s, error_s] = mean_wait(*outcome);
    EXPECT_NEAR(wait_s, mean_wait_mmc_s(servers, servers * load, 1), 3.5 * error_s)
        << servers << " servers at " << load;
    EXPECT_LT(error_s, 0.1 * mean_wait_mmc_s(servers, servers * load, 1));  // else the line above says nothing
  }
}

// The formula of Pollaczek and Khinchine, scv: variance / mean^2 of the service time.
TEST(Theory, WaitsOfMg1) {
  const auto constant = [](Random&) { return 1.0; };
  const auto two_sizes = [](Random& random) { return random.uniform() < 0.9 ? 0.5 : 5.5; };  // mean 1, scv 2.25
  for (const auto& [service, scv] : {std::pair<double (*)(Random&), double>{constant, 0}, {two_sizes, 2.25}}) {
    const auto outcome = simulate({{nodes("A", 1, 1)}, ""}, queue_of(200000, 0.7, 11, service), Policy::kFcfs, {});
    ASSERT_TRUE(outcome);
    const auto [wait_s, error_s] = mean_wait(*outcome);
    const double load = 0.7;
    EXPECT_NEAR(wait_s, load * (1 + scv) / (2 * (1 - load)), 3.5 * error_s);
    EXPECT_LT(error_s, 0.1 * wait_s);
  }
}

// Schedules of the simulator itself: with segments and from results alone the same, nothing above what is there.
TEST(Summarise, SimulatedSchedulesAddUp) {
  Random random(5);
  const Cluster cluster = small_cluster();
  Workload workload;
  workload.platforms = {"slow", "fast"};
  for (int i = 0; i < 300; ++i) {
    JobRequest request;
    request.id = i;
    request.arrival_s = 8.0 * i;
    request.cores = static_cast<int32_t>(1 + random.below(4));
    request.limit_s = 120;
    workload.jobs.push_back(request);
    const double time = 150 * random.uniform();
    workload.time_s.insert(workload.time_s.end(), {time, 0.5 * time});
  }
  workload.forecast_s = workload.lower_s = workload.upper_s = workload.time_s;
  for (const PolicyInfo& policy : policies()) {
    if (policy.preempts) continue;
    SimulationOptions options;
    options.record_segments = true;
    auto outcome = simulate(cluster, workload, policy.policy, options);
    ASSERT_TRUE(outcome) << policy.name << to_text(outcome.error());
    const ScheduleSummary s = summarise(cluster, workload, *outcome);
    double total = s.unused_energy_joules;
    for (const JobEnergy& job : job_energies(cluster, workload, *outcome)) total += job.total_joules();
    EXPECT_NEAR(total, s.energy_joules, 1e-9 * total) << policy.name;
    EXPECT_EQ(s.done + s.killed + s.cancelled + s.impossible, 300) << policy.name;
    EXPECT_GT(s.unused_energy_joules, 0) << policy.name;
    for (const GroupSummary& group : s.groups) EXPECT_LE(group.core_utilisation, 1) << policy.name;
    outcome->segments.clear();
    const ScheduleSummary alone = summarise(cluster, workload, *outcome);
    EXPECT_NEAR(alone.energy_joules, s.energy_joules, 1e-6 * total) << policy.name;
    EXPECT_NEAR(alone.utilisation, s.utilisation, 1e-9) << policy.name;
  }
}

TEST(BadInput, IsNamed) {
  const Cluster cluster{{nodes("A", 1, 1)}, ""};
  WorkloadMaker maker({"A"});
  maker.job(0, 1, {1});
  maker.job(1, 1, {1});
  const auto code = [&](const Cluster& machines, const Workload& workload, Policy policy = Policy::kFcfs,
                        SimulationOptions options = {}) {
    const auto outcome = simulate(machines, workload, policy, options);
    return outcome ? std::string("ok") : outcome.error().code;
  };
  EXPECT_EQ(code({{nodes("A", 0, 1)}, ""}, maker.workload()), "no-nodes");
  EXPECT_EQ(code({{nodes("A", 1, 1), nodes("A", 1, 1)}, ""}, maker.workload()), "bad-cluster");
  EXPECT_EQ(code({{nodes("B", 1, 1)}, ""}, maker.workload()), "missing-platform");
  EXPECT_EQ(code(cluster, maker.workload(), Policy::kMinimumCompletionEnergy), "no-power");
  EXPECT_EQ(code(cluster, maker.workload(), Policy::kMinimumCompletionCost), "no-price");
  EXPECT_EQ(code(cluster, maker.workload(), Policy::kMinimumCompletionSafe), "no-interval");
  EXPECT_EQ(code(cluster, {}), "bad-workload");
  SimulationOptions weight;
  weight.weight = 2;
  EXPECT_EQ(code(cluster, maker.workload(), Policy::kFcfs, weight), "bad-option");

  Workload without = maker.workload();
  without.forecast_s.clear();
  EXPECT_EQ(code(cluster, without, Policy::kShortestFirst), "no-forecast");
  EXPECT_EQ(code(cluster, without), "ok");

  Workload unsorted = maker.workload();
  std::swap(unsorted.jobs[0], unsorted.jobs[1]);
  EXPECT_EQ(code(cluster, unsorted), "bad-workload");
  EXPECT_EQ(sort_by_arrival(unsorted), 1u);
  EXPECT_EQ(code(cluster, unsorted), "ok");

  Workload cyclic = maker.workload();
  cyclic.jobs[0].after = 1;
  cyclic.jobs[1].after = 0;
  const auto outcome = simulate(cluster, cyclic, Policy::kFcfs, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, "cyclic-dependency");
  EXPECT_THAT(outcome.error().message, HasSubstr("1, 2"));

  for (const auto& spoil : std::vector<std::function<void(Workload&)>>{
           [](Workload& w) { w.jobs[0].arrival_s = -1; }, [](Workload& w) { w.time_s[1] = -1; },
           [](Workload& w) { w.time_s[1] = INFINITY; }, [](Workload& w) { w.time_s.pop_back(); },
           [](Workload& w) { w.jobs[0].cores = 0; }, [](Workload& w) { w.jobs[0].after = 7; },
           [](Workload& w) { w.forecast_s[0] = 0; }, [](Workload& w) { w.jobs[1].priority = 0; }}) {
    Workload bad = maker.workload();
    spoil(bad);
    EXPECT_EQ(code(cluster, bad), "bad-workload");
  }
}

}  // namespace
}  // namespace perfcast::fleet
