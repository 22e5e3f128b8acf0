#include "fleet/policy/share_policies.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/random.h"
#include "base/unknown.h"

namespace perfcast::fleet {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::Ge;
using testing::Pointwise;

// Jobs of one GPU; `seconds` row by row.
ShareProblem gpus(std::vector<double> capacity, std::vector<double> seconds) {
  ShareProblem problem;
  problem.groups = capacity.size();
  problem.cores.assign(capacity.size(), 0.0);
  problem.jobs.resize(seconds.size() / capacity.size());
  problem.gpus = std::move(capacity);
  problem.seconds = std::move(seconds);
  return problem;
}

std::vector<double> shares(Policy policy, const ShareProblem& problem, LeftOver left_over = LeftOver::kWaterFill) {
  const auto found = allocate_shares(policy, left_over, problem);
  EXPECT_TRUE(found) << to_text(found.error());
  return found ? *found : std::vector<double>();
}

TEST(SharePolicies, RefuseOneThatHandsOutNoShares) {
  EXPECT_EQ(allocate_shares(Policy::kFcfs, LeftOver::kSum, gpus({1}, {1})).error().code, "bad-option");
}

TEST(Fifo, TakesTheFirstGroupWithRoomAndStays) {
  ShareProblem problem = gpus({1, 1}, {9, 1, 9, 1, 1, 1});
  EXPECT_THAT(shares(Policy::kFifo, problem), testing::ElementsAre(1, 0, 0, 1, 0, 0));
  problem.jobs[2].running = 0;  // who runs stays, even though another came earlier
  EXPECT_THAT(shares(Policy::kFifo, problem), testing::ElementsAre(0, 1, 0, 0, 1, 0));
}

TEST(Fifo, WhoFindsNoRoomBlocksThoseBehind) {
  ShareProblem problem = gpus({2, 1}, {1, kUnknown, 1, kUnknown, 1, 1});
  problem.jobs[1].units = 2;
  EXPECT_THAT(shares(Policy::kFifo, problem), testing::ElementsAre(1, 0, 0, 0, 0, 0));
}

TEST(FifoFastest, TakesTheBestGroupThatHasRoom) {
  const ShareProblem problem = gpus({1, 2}, {2, 1, 2, 1, 2, 1});
  EXPECT_THAT(shares(Policy::kFifoFastest, problem), testing::ElementsAre(0, 1, 0, 1, 1, 0));
}

TEST(FifoAware, EarlierJobsGoWhereTheyAreFast) {
  // Both are faster on the first group, the second job by far: 2 a + b with (a, b) of (1, .1) or (.9, 1): the second
  // job gets the first group, since little is lost by the first one.
  const ShareProblem close = gpus({1, 1}, {9, 10, 1, 10});
  EXPECT_THAT(shares(Policy::kFifoAware, close), testing::ElementsAre(0, 1, 1, 0));
  // Where the first one would lose half (2 x 0.5 + 1 < 2 + 0.1) it stays.
  const ShareProblem far = gpus({1, 1}, {5, 10, 1, 10});
  EXPECT_THAT(shares(Policy::kFifoAware, far), testing::ElementsAre(1, 0, 0, 1));
}

TEST(FifoAware, LaterJobsOfAKindWait) {
  const ShareProblem problem = gpus({1, 1}, {5, 10, 50, 100, 500, 1000, 5000, 10000});
  const auto found = shares(Policy::kFifoAware, problem);
  EXPECT_THAT(found, testing::ElementsAre(1, 0, 0, 1, 0, 0, 0, 0));
}

TEST(MaxMin, SplitsTimeByCapacityWhateverTheSpeed) {
  // Four jobs on 1 + 2 GPUs: 3/4 of the time each, a third of it on the first group.
  const ShareProblem problem = gpus({1, 2}, {1, 9, 2, 9, 3, 9, 100, 9});
  EXPECT_THAT(shares(Policy::kMaxMin, problem), Pointwise(DoubleNear(1e-9), {.25, .5, .25, .5, .25, .5, .25, .5}));
  // Fewer jobs than GPUs: all the time.
  EXPECT_THAT(shares(Policy::kMaxMin, gpus({1, 3}, {1, 9, 2, 9})), Pointwise(DoubleNear(1e-9), {.25, .75, .25, .75}));
}

TEST(MaxMin, WeightsAndSizes) {
  ShareProblem problem = gpus({2}, {1, 1, 1});
  problem.jobs[0].weight = 2;  // 2x the share of the others: 1, 1/2, 1/2
  EXPECT_THAT(shares(Policy::kMaxMin, problem), Pointwise(DoubleNear(1e-9), {1.0, .5, .5}));
  problem.jobs[0].weight = 1;
  problem.jobs[1].units = 2;  // GPU time is what counts: (x, x/2, x) with x + x + x = 2
  EXPECT_THAT(shares(Policy::kMaxMin, problem), Pointwise(DoubleNear(1e-9), {2.0 / 3, 1.0 / 3, 2.0 / 3}));
}

TEST(MaxMin, JobsThatCannotRunEverywhere) {
  // The first runs on the first group only: it gets all of that, the other the second group.
  EXPECT_THAT(shares(Policy::kMaxMin, gpus({1, 1}, {1, kUnknown, 1, 1})),
              Pointwise(DoubleNear(1e-6), {1.0, 0.0, 0.0, 1.0}));
}

TEST(MaxMinAware, ByHand) {
  // Two jobs, one GPU of the first type and two of the second; speeds (4, 1) and (2, 1); with time split by capacity 2
  // and 4/3. The first job spends x on the first GPU, the second 1 - x: (1 + 3x) / 2 = (2 - x) / (4/3), x = 4/9.
  const ShareProblem problem = gpus({1, 2}, {1, 4, 2, 4});
  for (const LeftOver left_over : {LeftOver::kVertex, LeftOver::kSum, LeftOver::kWaterFill}) {
    EXPECT_THAT(shares(Policy::kMaxMinAware, problem, left_over),
                Pointwise(DoubleNear(1e-6), {4.0 / 9, 5.0 / 9, 5.0 / 9, 4.0 / 9}));
  }
}

TEST(MaxMinAware, TimeThatIsLeftOver) {
  // Plenty of both groups. The first job gains by 4/3 at best, the second by 19/10 on the first group; only
  // water-filling and the sum say that the second is to use it.
  const ShareProblem problem = gpus({2, 2}, {1, 2, 1, 19});
  for (const LeftOver left_over : {LeftOver::kSum, LeftOver::kWaterFill}) {
    EXPECT_THAT(shares(Policy::kMaxMinAware, problem, left_over), Pointwise(DoubleNear(1e-6), {1.0, 0.0, 1.0, 0.0}));
  }
  const auto vertex = shares(Policy::kMaxMinAware, problem, LeftOver::kVertex);
  EXPECT_NEAR((vertex[0] + vertex[1] / 2) / .75, 4.0 / 3, 1e-6);
  EXPECT_GE((vertex[2] + vertex[3] / 19) / (10.0 / 19), 4.0 / 3 - 1e-6);
}

TEST(MaxMinAware, EqualSpeedsAreEqualShares) {
  const auto found = shares(Policy::kMaxMinAware, gpus({1}, {10, 2000, 5}));
  EXPECT_THAT(found, Pointwise(DoubleNear(1e-9), {1.0 / 3, 1.0 / 3, 1.0 / 3}));
}

TEST(MakespanAware, LongestJobsGoFirst) {
  // 10 s and 30 s left on one GPU: shares 1/4 and 3/4 end both at 40 s.
  ShareProblem problem = gpus({1}, {20, 30});
  problem.jobs[0].remaining = 0.5;
  EXPECT_THAT(shares(Policy::kMakespanAware, problem), Pointwise(DoubleNear(1e-6), {.25, .75}));
  // Both are fast on the second group, which the second job needs: x / 12 + (1 - x) / 10 = x / 10 + (1 - x) / 100 with
  // the first job's x on the first group and the second job's x on the second one.
  EXPECT_THAT(shares(Policy::kMakespanAware, gpus({1, 1}, {12, 10, 100, 10})),
              Pointwise(DoubleNear(1e-6), {.84375, .15625, .15625, .84375}));
}

double rho(const ShareProblem& problem, const std::vector<double>& found, size_t m) {
  double speed = 0;
  for (size_t g = 0; g < problem.groups; ++g) {
    speed += found[m * problem.groups + g] / problem.seconds[m * problem.groups + g];
  }
  const ShareJob& job = problem.jobs[m];
  return (job.elapsed_s + job.remaining / speed) / (job.isolated_s + job.remaining / isolated_speeds(problem)[m]);
}

TEST(FinishTimeFair, AShareOfOnesOwnIsSpeedByWeight) {
  ShareProblem problem = gpus({2, 2}, {10, 20, 10, 20, 10, 20, 10, 20});
  EXPECT_THAT(isolated_speeds(problem), Each(testing::DoubleEq(0.5 / 10 + 0.5 / 20)));
  problem.jobs[0].weight = 3;  // half of the weight: all of its time
  EXPECT_DOUBLE_EQ(isolated_speeds(problem)[0], 0.5 / 10 + 0.5 / 20);
  EXPECT_DOUBLE_EQ(isolated_speeds(problem)[1], (0.5 / 10 + 0.5 / 20) * 2 / 3);
}

// Two jobs, each at home on one of two GPUs: at home both take 10 s, in halves of both 2 / (1/10 + 1/40) = 16 s.
TEST(FinishTimeFair, SharingPaysWhereJobsDiffer) {
  const ShareProblem problem = gpus({1, 1}, {10, 40, 40, 10});
  const auto found = shares(Policy::kFinishTimeFair, problem);
  EXPECT_THAT(found, Pointwise(DoubleNear(1e-6), {1.0, 0.0, 0.0, 1.0}));
  EXPECT_NEAR(rho(problem, found, 0), 10.0 / 16, 1e-6);
}

// Who has waited longer gets more; by the end both are as late, by what a share of their own would have been.
TEST(FinishTimeFair, MakesUpForTheTimeWaited) {
  ShareProblem problem = gpus({1}, {10, 10});
  problem.jobs[0].elapsed_s = 5;
  const auto found = shares(Policy::kFinishTimeFair, problem);
  EXPECT_NEAR(rho(problem, found, 0), rho(problem, found, 1), 0.02);
  EXPECT_GT(found[0], found[1]);
  EXPECT_NEAR(found[0] + found[1], 1, 1e-6);
}

TEST(FinishTimeFair, TheWorstRatioIsNoWorseThanUnderAnyOther) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const size_t n = 2 + random.below(12);
    std::vector<double> seconds;
    for (size_t i = 0; i < 2 * n; ++i) seconds.push_back(std::exp(random.uniform(2, 5)));
    ShareProblem problem = gpus({3, 2}, seconds);
    for (ShareJob& job : problem.jobs) {
      job.weight = random.uniform(0.5, 2);
      job.remaining = random.uniform(0.1, 1);
      job.elapsed_s = random.uniform(0, 50);
      job.isolated_s = random.uniform(0, 50);
    }
    const auto worst = [&](Policy policy) {
      const auto found = shares(policy, problem);
      double most = 0;
      for (size_t m = 0; m < n; ++m) most = std::max(most, rho(problem, found, m));
      return most;
    };
    const double fair = worst(Policy::kFinishTimeFair);
    for (const Policy other : {Policy::kMaxMin, Policy::kMaxMinAware, Policy::kMakespanAware}) {
      EXPECT_LE(fair, worst(other) * 1.02) << info(other).name << " seed " << seed;
    }
  }
}

TEST(SharePolicies, CoresAndGpusAreApart) {
  ShareProblem problem = gpus({1}, {1, 1});
  problem.cores = {4};
  problem.jobs[1].resource = Resource::kCores;
  problem.jobs[1].units = 4;
  for (const PolicyInfo& info : policies()) {
    if (!info.preempts) continue;
    EXPECT_THAT(shares(info.policy, problem), Pointwise(DoubleNear(1e-9), {1.0, 1.0})) << info.name;
  }
}

double lowest_gain(const ShareProblem& problem, const std::vector<double>& found) {
  double capacity = 0, lowest = kUnknown;
  for (const double units : problem.gpus) capacity += units;
  for (size_t m = 0; m < problem.jobs.size(); ++m) {
    double equal = 0, speed = 0;
    for (size_t g = 0; g < problem.groups; ++g) {
      equal += problem.gpus[g] / capacity / problem.seconds[m * problem.groups + g];
      speed += found[m * problem.groups + g] / problem.seconds[m * problem.groups + g];
    }
    lowest = std::fmin(lowest, speed / equal);
  }
  return lowest;
}

// However time that is left over is spent, the lowest gain is the same; the split by
// capacity, which gives each job its equal share, is no better.
TEST(MaxMinAware, TheLowestGainIsTheOptimum) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const size_t n = 1 + random.below(20);
    std::vector<double> seconds;
    for (size_t i = 0; i < 3 * n; ++i) seconds.push_back(std::exp(random.uniform(0, 4)));
    const ShareProblem problem = gpus({4, 3, 2}, seconds);
    const double by_capacity = std::min(1.0, 9.0 / static_cast<double>(n));
    const double optimum = lowest_gain(problem, shares(Policy::kMaxMinAware, problem, LeftOver::kVertex));
    EXPECT_GE(optimum, by_capacity - 1e-6) << "seed " << seed;
    EXPECT_NEAR(lowest_gain(problem, shares(Policy::kMaxMin, problem)), by_capacity, 1e-6) << "seed " << seed;
    for (const LeftOver left_over : {LeftOver::kSum, LeftOver::kWaterFill}) {
      const double lowest = lowest_gain(problem, shares(Policy::kMaxMinAware, problem, left_over));
      EXPECT_NEAR(lowest, optimum, 1e-6 * optimum) << "seed " << seed;
    }
  }
}

// What every policy must keep to, on invented problems: shares from 0, at most all of a job's time, at most the
// capacity, none where a job can't run.
TEST(SharePolicies, KeepWithinCapacity) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const size_t groups = 1 + random.below(4), n = 1 + random.below(30);
    std::vector<double> capacity, seconds;
    for (size_t g = 0; g < groups; ++g) capacity.push_back(static_cast<double>(2 + random.below(6)));
    for (size_t i = 0; i < n * groups; ++i) {
      seconds.push_back(i % groups > 0 && random.below(4) == 0 ? kUnknown : std::exp(random.uniform(-5, 15)));
    }
    ShareProblem problem = gpus(capacity, seconds);
    for (ShareJob& job : problem.jobs) {
      job.units = static_cast<double>(1 + random.below(2));
      job.weight = random.uniform(0.5, 2);
      job.remaining = random.uniform(0.01, 1);
    }
    for (const PolicyInfo& info : policies()) {
      if (!info.preempts) continue;
      const auto found = shares(info.policy, problem);
      ASSERT_EQ(found.size(), n * groups);
      EXPECT_THAT(found, Each(Ge(0.0)));
      std::vector<double> used(groups, 0.0);
      for (size_t m = 0; m < n; ++m) {
        double time = 0;
        for (size_t g = 0; g < groups; ++g) {
          const double share = found[m * groups + g];
          time += share;
          used[g] += share * problem.jobs[m].units;
          if (std::isnan(seconds[m * groups + g])) {
            EXPECT_EQ(share, 0) << info.name << " seed " << seed;
          }
        }
        EXPECT_LE(time, 1 + 1e-6) << info.name << " seed " << seed;
        const bool fair = info.policy == Policy::kMaxMin || info.policy == Policy::kMaxMinAware ||
                          info.policy == Policy::kMakespanAware || info.policy == Policy::kFinishTimeFair;
        if (fair) {
          EXPECT_GT(time, 0) << info.name << " starves a job, seed " << seed;
        }
      }
      for (size_t g = 0; g < groups; ++g) EXPECT_LE(used[g], capacity[g] + 1e-5) << info.name << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace perfcast::fleet
