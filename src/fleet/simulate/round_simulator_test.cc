#include "fleet/simulate/round_simulator.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/random.h"
#include "base/unknown.h"
#include "fleet/traces/gavel_trace.h"

namespace perfcast::fleet {
namespace {

Cluster gpu_cluster(const std::vector<std::pair<std::string, int64_t>>& groups) {
  Cluster cluster;
  for (const auto& [platform, nodes] : groups) {
    cluster.groups.emplace_back();
    cluster.groups.back().platform = platform;
    cluster.groups.back().nodes = nodes;
    cluster.groups.back().cores_per_node = 0;
    cluster.groups.back().gpus_per_node = 1;
  }
  return cluster;
}

struct Row {
  double arrival_s;
  std::vector<double> time_s;
};

Workload gpu_jobs(std::vector<std::string> platforms, const std::vector<Row>& rows) {
  Workload workload;
  workload.platforms = std::move(platforms);
  for (const Row& row : rows) {
    JobRequest job;
    job.id = static_cast<int64_t>(workload.size());
    job.arrival_s = row.arrival_s;
    job.cores = 0;
    job.gpus = 1;
    job.spread = true;
    workload.jobs.push_back(job);
    workload.time_s.insert(workload.time_s.end(), row.time_s.begin(), row.time_s.end());
  }
  return workload;
}

Outcome simulated(const Cluster& cluster, const Workload& workload, Policy policy, RoundOptions options = {}) {
  options.segments = true;
  const auto outcome = simulate_rounds(cluster, workload, policy, options);
  EXPECT_TRUE(outcome) << to_text(outcome.error());
  return outcome ? *outcome : Outcome();
}

TEST(Rounds, FifoByHand) {
  // One slow and one fast GPU, 100 s rounds. The first job takes the fast one (listed first) for 250 s, the second the
  // slow one for 400 s. The third comes at 10 s and gets the fast one from the round at 300 s on, 50 s of it.
  const Cluster cluster = gpu_cluster({{"fast", 1}, {"slow", 1}});
  const Workload workload = gpu_jobs({"slow", "fast"}, {{0, {500, 250}}, {0, {400, 200}}, {10, {100, 50}}});
  RoundOptions options;
  options.round_s = 100;
  const Outcome outcome = simulated(cluster, workload, Policy::kFifo, options);
  EXPECT_EQ(outcome.policy, "fifo");
  EXPECT_EQ(outcome.preemptions, 0);
  EXPECT_EQ(outcome.jobs[0].end_s, 250);
  EXPECT_EQ(outcome.jobs[1].end_s, 400);
  EXPECT_EQ(outcome.jobs[2].ready_s, 10);
  EXPECT_EQ(outcome.jobs[2].start_s, 300);
  EXPECT_EQ(outcome.jobs[2].end_s, 350);
  ASSERT_EQ(outcome.segments.size(), 3u) << "rounds in a row are one segment";
  EXPECT_EQ(outcome.segments[0].end_s, 250);
  EXPECT_EQ(outcome.segments[2].group, 0);
}

TEST(Rounds, MaxMinTakesTurns) {
  // Two jobs of 200 s on one GPU: rounds a b a b.
  const Workload workload = gpu_jobs({"x"}, {{0, {200}}, {0, {200}}});
  RoundOptions options;
  options.round_s = 100;
  for (const Policy policy : {Policy::kMaxMin, Policy::kMaxMinAware}) {
    const Outcome outcome = simulated(gpu_cluster({{"x", 1}}), workload, policy, options);
    EXPECT_EQ(outcome.jobs[0].end_s, 300);
    EXPECT_EQ(outcome.jobs[1].end_s, 400);
    EXPECT_EQ(outcome.jobs[0].run_s, 200);
    EXPECT_EQ(outcome.preemptions, 2);
    EXPECT_EQ(outcome.segments.size(), 4u);
  }
}

TEST(Rounds, AgnosticTimeIsSplitByTheClusterAwareTimeIsNot) {
  // One job, a GPU of each type, 10 times as fast on the second: half of the time on each against all on the second.
  const Cluster cluster = gpu_cluster({{"slow", 1}, {"fast", 1}});
  const Workload workload = gpu_jobs({"slow", "fast"}, {{0, {10000, 1000}}});
  RoundOptions options;
  options.round_s = 100;
  const Outcome split = simulated(cluster, workload, Policy::kMaxMin, options);
  // Pairs of rounds do 0.11 of the work: 9 pairs do 0.99, then 100 s on the slow one the rest.
  EXPECT_NEAR(split.jobs[0].end_s, 1900, 1e-6);
  EXPECT_NEAR(simulated(cluster, workload, Policy::kMaxMinAware, options).jobs[0].end_s, 1000, 1e-6);
}

TEST(Rounds, MakespanOnTwoGroups) {
  // The long job belongs on the fast GPU although the short one comes first.
  const Cluster cluster = gpu_cluster({{"fast", 1}, {"slow", 1}});
  const Workload workload = gpu_jobs({"fast", "slow"}, {{0, {100, 200}}, {0, {500, 1500}}});
  RoundOptions options;
  options.round_s = 10;
  const Outcome aware = simulated(cluster, workload, Policy::kMakespanAware, options);
  EXPECT_NEAR(std::max(aware.jobs[0].end_s, aware.jobs[1].end_s), 500, 10);
  const Outcome fifo = simulated(cluster, workload, Policy::kFifo, options);
  EXPECT_NEAR(std::max(fifo.jobs[0].end_s, fifo.jobs[1].end_s), 1500, 1e-6);
}

TEST(Rounds, AwarePoliciesBelieveTheForecastAndJobsRunByTheTruth) {
  const Cluster cluster = gpu_cluster({{"a", 1}, {"b", 1}});
  Workload workload = gpu_jobs({"a", "b"}, {{0, {1000, 3000}}});
  workload.forecast_s = {2000, 500};  // wrong way round
  EXPECT_EQ(simulated(cluster, workload, Policy::kMaxMinAware).jobs[0].end_s, 3000);
  workload.forecast_s = {kUnknown, kUnknown};
  const auto none = simulate_rounds(cluster, workload, Policy::kMaxMinAware);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "no-forecast");
  EXPECT_TRUE(simulate_rounds(cluster, workload, Policy::kMaxMin)) << "agnostic policies need none";
  workload.jobs[0].limit_s = 4000;
  EXPECT_TRUE(simulate_rounds(cluster, workload, Policy::kMaxMinAware)) << "the limit stands for it";
}

TEST(Rounds, LimitsCancellationsDependenciesAndJobsThatFitNowhere) {
  Workload workload = gpu_jobs({"x"}, {{0, {1000}}, {0, {1000}}, {0, {50}}, {0, {kUnknown}}, {0, {50}}, {0, {10}}});
  workload.jobs[0].limit_s = 250;      // killed in the third round
  workload.jobs[1].cancelled_s = 120;  // waits for the GPU until then
  workload.jobs[2].after = 0;
  workload.jobs[2].think_s = 1000;
  workload.jobs[4].gpus = 2;  // the cluster has one
  workload.jobs[5].after = 3;
  workload.jobs[5].think_s = 5000;
  RoundOptions options;
  options.round_s = 100;
  const Outcome outcome = simulated(gpu_cluster({{"x", 1}}), workload, Policy::kFifo, options);
  EXPECT_EQ(outcome.jobs[0].state, JobState::kKilled);
  EXPECT_EQ(outcome.jobs[0].end_s, 250);
  EXPECT_EQ(outcome.jobs[0].run_s, 250);
  EXPECT_EQ(outcome.jobs[1].state, JobState::kCancelled);
  EXPECT_TRUE(std::isnan(outcome.jobs[1].end_s));
  EXPECT_TRUE(std::isnan(outcome.jobs[1].start_s));
  EXPECT_EQ(outcome.jobs[2].ready_s, 1250);
  EXPECT_EQ(outcome.jobs[2].start_s, 1250) << "an idle cluster skips to the next arrival";
  EXPECT_EQ(outcome.jobs[3].state, JobState::kImpossible);
  EXPECT_EQ(outcome.jobs[4].state, JobState::kImpossible);
  EXPECT_THAT(outcome.notes, testing::ElementsAre(testing::HasSubstr("2 jobs fit no node")));
  EXPECT_EQ(outcome.jobs[5].state, JobState::kDone) << "its predecessor's end counts, however it ended";
  EXPECT_EQ(outcome.jobs[5].start_s, 5000);
}

TEST(Rounds, JobsThatMayNotSpreadFitOneNode) {
  Workload workload = gpu_jobs({"x"}, {{0, {10}}, {0, {10}}});
  workload.jobs[0].gpus = workload.jobs[1].gpus = 2;
  workload.jobs[1].spread = false;
  const Outcome outcome = simulated(gpu_cluster({{"x", 2}}), workload, Policy::kFifo);
  EXPECT_EQ(outcome.jobs[0].state, JobState::kDone);
  EXPECT_EQ(outcome.jobs[1].state, JobState::kImpossible);
}

TEST(Rounds, Errors) {
  const Workload workload = gpu_jobs({"x"}, {{0, {1000}}});
  const auto code = [&](const Cluster& cluster, RoundOptions options) {
    const auto outcome = simulate_rounds(cluster, workload, Policy::kFifo, options);
    return outcome ? std::string("none") : outcome.error().code;
  };
  RoundOptions options;
  EXPECT_EQ(code(gpu_cluster({{"y", 1}}), options), "missing-platform");
  EXPECT_EQ(code(gpu_cluster({{"x", 0}}), options), "no-nodes");
  options.most_rounds = 2;
  EXPECT_EQ(code(gpu_cluster({{"x", 1}}), options), "too-many-rounds");
  options.round_s = 0;
  EXPECT_EQ(code(gpu_cluster({{"x", 1}}), options), "bad-usage");
}

// Invented clusters and jobs, cores and GPUs, all policies: no job is lost, no capacity exceeded at any time, no job in
// two places at once, the work of a done job adds up, and the same input gives the same outcome.
TEST(Rounds, Conservation) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    Cluster cluster = gpu_cluster({{"a", 2 + static_cast<int64_t>(random.below(3))}, {"b", 3}});
    for (NodeGroup& group : cluster.groups) group.cores_per_node = 4;
    std::vector<Row> rows;
    double now_s = 0;
    for (size_t i = 0; i < 60; ++i) {
      now_s += random.below(5) == 0 ? random.uniform(0, 20000) : 50;
      const double time = std::exp(random.uniform(3, 8));
      rows.push_back({now_s, {time, random.below(4) == 0 ? kUnknown : time * random.uniform(0.3, 3)}});
    }
    Workload workload = gpu_jobs({"a", "b"}, rows);
    for (size_t i = 0; i < workload.size(); ++i) {
      JobRequest& job = workload.jobs[i];
      if (random.below(2) == 0) std::swap(job.cores, job.gpus);
      (job.gpus > 0 ? job.gpus : job.cores) = static_cast<int32_t>(1 + random.below(3));
      job.priority = random.uniform(0.5, 2);
      job.spread = random.below(3) > 0;
      if (random.below(8) == 0) job.limit_s = workload.times(i)[0] / 2;
      if (random.below(8) == 0) job.cancelled_s = job.arrival_s + 1000;
      if (i > 0 && random.below(8) == 0) job.after = static_cast<int32_t>(random.below(i));
    }
    for (const PolicyInfo& info : policies()) {
      if (!info.preempts) continue;
      RoundOptions options;
      options.round_s = 200;
      const Outcome outcome = simulated(cluster, workload, info.policy, options);
      const Outcome again = simulated(cluster, workload, info.policy, options);
      ASSERT_EQ(outcome.jobs.size(), workload.size());
      std::vector<double> work(workload.size(), 0.0), run_s(workload.size(), 0.0), last_s(workload.size(), 0.0);
      std::map<double, std::vector<int64_t>> changes;  // by time: [group x (cores, GPUs)]
      for (const Segment& segment : outcome.segments) {
        const auto i = static_cast<size_t>(segment.job), g = static_cast<size_t>(segment.group);
        EXPECT_GE(segment.start_s, std::max(last_s[i], outcome.jobs[i].ready_s));
        last_s[i] = segment.end_s;
        work[i] += (segment.end_s - segment.start_s) / workload.times(i)[g];
        run_s[i] += segment.end_s - segment.start_s;
        const JobRequest& job = workload.jobs[i];
        for (const auto& [at, sign] : {std::pair(segment.start_s, 1), std::pair(segment.end_s, -1)}) {
          auto& change = changes.try_emplace(at, std::vector<int64_t>(4, 0)).first->second;
          change[2 * g + (job.gpus > 0 ? 1 : 0)] += sign * int64_t{job.gpus > 0 ? job.gpus : job.cores};
        }
      }
      std::vector<int64_t> used(4, 0);
      for (const auto& [at, change] : changes) {
        for (size_t r = 0; r < 4; ++r) used[r] += change[r];
        for (size_t g = 0; g < 2; ++g) {
          EXPECT_LE(used[2 * g], cluster.groups[g].cores()) << info.name << " seed " << seed << " at " << at;
          EXPECT_LE(used[2 * g + 1], cluster.groups[g].gpus()) << info.name << " seed " << seed << " at " << at;
        }
      }
      for (size_t i = 0; i < workload.size(); ++i) {
        const JobResult& result = outcome.jobs[i];
        EXPECT_NEAR(result.run_s, run_s[i], 1e-6);
        EXPECT_EQ(result.run_s, again.jobs[i].run_s);
        if (result.state == JobState::kDone) {
          EXPECT_NEAR(work[i], 1, 1e-9) << info.name << " seed " << seed << " job " << i;
          EXPECT_EQ(result.end_s, last_s[i]);
          EXPECT_EQ(result.end_s, again.jobs[i].end_s);
        }
        if (result.state == JobState::kKilled) {
          EXPECT_NEAR(result.run_s, workload.jobs[i].limit_s, 1e-6);
          EXPECT_LT(work[i], 1);
        }
        if (result.state == JobState::kCancelled || result.state == JobState::kImpossible) {
          EXPECT_EQ(run_s[i], 0);
        }
      }
    }
  }
}

TEST(Rounds, MeasuredJobsEndAndTheRestMayNot) {
  const Workload workload = gpu_jobs({"x"}, {{0, {100}}, {0, {1e9}}});
  RoundOptions options;
  options.measured_jobs = 1;
  const Outcome outcome = simulated(gpu_cluster({{"x", 1}}), workload, Policy::kFifo, options);
  EXPECT_EQ(outcome.jobs[0].end_s, 100);
  EXPECT_TRUE(std::isnan(outcome.jobs[1].end_s));
}

// The direction of Gavel's result on its own throughputs, with fewer jobs than perfcast_gavel_reproduction takes.
TEST(Rounds, AwarePoliciesWinOnGavelsTrace) {
  const std::filesystem::path folder = std::filesystem::path(PERFCAST_SHARED_DATA) / "gavel";
  const auto csv = read_file((folder / "simulation_throughputs_isolated.csv").string());
  if (!csv) GTEST_SKIP() << "no folder gavel in " << PERFCAST_SHARED_DATA;
  const auto table = parse_gavel_throughputs(*csv, "isolated");
  ASSERT_TRUE(table) << to_text(table.error());
  const auto workload = generate_gavel_trace(*table, {900, 4.4, 0, "v100"});
  ASSERT_TRUE(workload) << to_text(workload.error());
  const Cluster cluster = gpu_cluster({{"v100", 36}, {"p100", 36}, {"k80", 36}});
  RoundOptions options;
  options.measured_jobs = 400;
  const auto mean_h = [&](Policy policy) {
    const auto outcome = simulate_rounds(cluster, *workload, policy, options);
    EXPECT_TRUE(outcome) << to_text(outcome.error());
    double sum_s = 0;
    for (size_t i = 0; outcome && i < 400; ++i) sum_s += outcome->jobs[i].end_s - workload->jobs[i].arrival_s;
    return sum_s / 400 / 3600;
  };
  EXPECT_LT(mean_h(Policy::kFifoAware), 0.9 * mean_h(Policy::kFifo));
  EXPECT_LT(mean_h(Policy::kMaxMinAware), 0.9 * mean_h(Policy::kMaxMin));
}

}  // namespace
}  // namespace perfcast::fleet
